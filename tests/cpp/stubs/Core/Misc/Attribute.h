// TAttribute: a value, or where to get it.
// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Public/SVoxelSegmentedControl.h
#pragma once

#include "Delegates/Delegate.h"
#include "Misc/Optional.h"

// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Public/SVoxelSegmentedControl.h
template <typename T>
class TAttribute
{
public:
    typedef TDelegate<T()> FGetter;
    TAttribute() = default;
    template <typename O, typename = std::enable_if_t<std::is_convertible_v<O, T>>>
    TAttribute(const O& InValue)
        : Value(InValue)
        , bSet(true)
    {
    }
    static TAttribute Create(const FGetter& InGetter)
    {
        TAttribute Made;
        Made.Getter = InGetter;
        Made.bSet = true;
        return Made;
    }
    static TAttribute CreateLambda(TFunction<T()> Callable) { return Create(FGetter::CreateLambda(Callable)); }
    template <typename S, typename M>
    static TAttribute CreateSP(S* Object, M Method)
    {
        return Create(FGetter::CreateSP(Object, Method));
    }
    void Bind(const FGetter& InGetter) { *this = Create(InGetter); }
    bool IsSet() const { return bSet; }
    bool IsBound() const { return Getter.IsBound(); }
    T Get() const { return Getter.IsBound() ? Getter.Execute() : Value; }
    T Get(const T& Default) const { return bSet ? Get() : Default; }
    void Set(const T& InValue)
    {
        Value = InValue;
        Getter.Unbind();
        bSet = true;
    }

private:
    T Value{};
    FGetter Getter;
    bool bSet = false;
};
