// TUniquePtr.
// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Public/Cesium3DTileset.h, getnamo/Llama-Unreal
// Source/LlamaCore/Private/LlamaNative.cpp
#pragma once

#include "HAL/Platform.h"

#include <memory>

// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Public/Cesium3DTileset.h
template <typename T>
class TUniquePtr
{
public:
    TUniquePtr() = default;
    TUniquePtr(std::nullptr_t) {}
    explicit TUniquePtr(T* Object)
        : Held(Object)
    {
    }
    template <typename O, typename = std::enable_if_t<std::is_convertible_v<O*, T*>>>
    TUniquePtr(TUniquePtr<O>&& Other)
        : Held(Other.Release())
    {
    }
    TUniquePtr(TUniquePtr&&) noexcept = default;
    TUniquePtr& operator=(TUniquePtr&&) noexcept = default;
    TUniquePtr& operator=(std::nullptr_t)
    {
        Held.reset();
        return *this;
    }
    T* Get() const { return Held.get(); }
    T* Release() { return Held.release(); }
    void Reset(T* Object = nullptr) { Held.reset(Object); }
    bool IsValid() const { return Held != nullptr; }
    explicit operator bool() const { return IsValid(); }
    T& operator*() const { return *Held; }
    T* operator->() const { return Held.get(); }
    bool operator==(std::nullptr_t) const { return Held == nullptr; }
    bool operator!=(std::nullptr_t) const { return Held != nullptr; }

private:
    std::unique_ptr<T> Held;
};

template <typename T, typename... A>
TUniquePtr<T> MakeUnique(A&&... Arguments)
{
    return TUniquePtr<T>(new T(std::forward<A>(Arguments)...));
}
