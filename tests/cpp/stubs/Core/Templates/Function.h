// TFunction, TUniqueFunction, TFunctionRef.
// Source: getnamo/Llama-Unreal Source/LlamaCore/Public/LlamaNative.h (TFunction members and parameters)
#pragma once

#include "Misc/AssertionMacros.h"

#include <functional>
#include <memory>

template <typename FuncType>
class TFunction;
template <typename FuncType>
class TUniqueFunction;
template <typename FuncType>
class TFunctionRef;

// Source: getnamo/Llama-Unreal Source/LlamaCore/Public/LlamaNative.h
template <typename R, typename... A>
class TFunction<R(A...)>
{
public:
    TFunction() = default;
    TFunction(std::nullptr_t) {}
    template <typename F, typename = std::enable_if_t<!std::is_same_v<std::decay_t<F>, TFunction> && std::is_invocable_r_v<R, F&, A...>>>
    TFunction(F&& Callable)
        : Held(std::forward<F>(Callable))
    {
    }
    R operator()(A... Arguments) const
    {
        check(Held != nullptr);
        return Held(static_cast<A&&>(Arguments)...);
    }
    explicit operator bool() const { return static_cast<bool>(Held); }
    bool IsSet() const { return static_cast<bool>(Held); }
    void Reset() { Held = nullptr; }
    bool operator==(std::nullptr_t) const { return !Held; }
    bool operator!=(std::nullptr_t) const { return static_cast<bool>(Held); }

private:
    std::function<R(A...)> Held;
};

// Source: ProjectBorealis/UEGitPlugin Source/GitSourceControl/Private/GitSourceControlProvider.cpp
template <typename R, typename... A>
class TUniqueFunction<R(A...)>
{
    struct FBase
    {
        virtual ~FBase() = default;
        virtual R Call(A... Arguments) = 0;
    };
    template <typename F>
    struct THeld final : FBase
    {
        explicit THeld(F&& InCallable)
            : Callable(std::move(InCallable))
        {
        }
        explicit THeld(const F& InCallable)
            : Callable(InCallable)
        {
        }
        R Call(A... Arguments) override { return Callable(static_cast<A&&>(Arguments)...); }
        F Callable;
    };

public:
    TUniqueFunction() = default;
    TUniqueFunction(std::nullptr_t) {}
    template <typename F, typename = std::enable_if_t<!std::is_same_v<std::decay_t<F>, TUniqueFunction> && std::is_invocable_r_v<R, F&, A...>>>
    TUniqueFunction(F&& Callable)
        : Held(std::make_unique<THeld<std::decay_t<F>>>(std::forward<F>(Callable)))
    {
    }
    R operator()(A... Arguments) const
    {
        check(Held != nullptr);
        return Held->Call(static_cast<A&&>(Arguments)...);
    }
    explicit operator bool() const { return Held != nullptr; }
    bool IsSet() const { return Held != nullptr; }

private:
    std::unique_ptr<FBase> Held;
};

// Source: JonasReich/OpenUnrealUtilities Source/OUURuntime/Public/UMG/UMGUtils.h
template <typename R, typename... A>
class TFunctionRef<R(A...)>
{
public:
    template <typename F, typename = std::enable_if_t<!std::is_same_v<std::decay_t<F>, TFunctionRef>>>
    TFunctionRef(F&& InCallable)
        : Callable(const_cast<void*>(static_cast<const void*>(&InCallable)))
        , Caller([](void* Where, A... Arguments) -> R
              { return (*static_cast<std::remove_reference_t<F>*>(Where))(static_cast<A&&>(Arguments)...); })
    {
    }
    R operator()(A... Arguments) const { return Caller(Callable, static_cast<A&&>(Arguments)...); }

private:
    void* Callable;
    R (*Caller)(void*, A...);
};
