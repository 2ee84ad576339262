// TOptional.
// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Private/Details/VoxelRangeCustomization.cpp
#pragma once

#include "Misc/AssertionMacros.h"
#include "Templates/UnrealTemplate.h"

#include <optional>

// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Private/Details/VoxelRangeCustomization.cpp
template <typename T>
struct TOptional
{
    TOptional() = default;
    TOptional(const T& Value)
        : Held(Value)
    {
    }
    TOptional(T&& Value)
        : Held(static_cast<T&&>(Value))
    {
    }
    TOptional(std::nullopt_t) {}
    bool IsSet() const { return Held.has_value(); }
    explicit operator bool() const { return IsSet(); }
    const T& GetValue() const
    {
        check(IsSet());
        return *Held;
    }
    T& GetValue()
    {
        check(IsSet());
        return *Held;
    }
    const T& Get(const T& Default) const { return Held ? *Held : Default; }
    T* operator->() { return &GetValue(); }
    const T* operator->() const { return &GetValue(); }
    T& operator*() { return GetValue(); }
    const T& operator*() const { return GetValue(); }
    void Reset() { Held.reset(); }
    template <typename... A>
    T& Emplace(A&&... Arguments)
    {
        return Held.emplace(std::forward<A>(Arguments)...);
    }
    bool operator==(const TOptional& Other) const { return Held == Other.Held; }
    bool operator!=(const TOptional& Other) const { return !(*this == Other); }

private:
    std::optional<T> Held;
};
