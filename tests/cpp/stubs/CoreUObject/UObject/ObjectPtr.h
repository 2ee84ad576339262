// TObjectPtr.
// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowAsset.h (UPROPERTY() TObjectPtr<…>)
#pragma once

#include "CoreMinimal.h"

// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowAsset.h
template <typename T>
struct TObjectPtr
{
    using ElementType = T;

    TObjectPtr() = default;
    TObjectPtr(std::nullptr_t) {}
    template <typename U, typename = std::enable_if_t<std::is_convertible_v<U*, T*>>>
    TObjectPtr(U* Object)
        : Held(Object)
    {
    }
    template <typename U, typename = std::enable_if_t<std::is_convertible_v<U*, T*>>>
    TObjectPtr(const TObjectPtr<U>& Other)
        : Held(Other.Get())
    {
    }
    T* Get() const { return Held; }
    operator T*() const { return Held; }
    T* operator->() const { return Held; }
    T& operator*() const { return *Held; }
    explicit operator bool() const { return Held != nullptr; }
    bool operator!() const { return Held == nullptr; }
    friend uint32 GetTypeHash(const TObjectPtr& Pointer) { return GetTypeHash(Pointer.Held); }

private:
    T* Held = nullptr;
};
template <typename T, typename U>
bool operator==(const TObjectPtr<T>& A, const TObjectPtr<U>& B)
{
    return A.Get() == B.Get();
}
template <typename T, typename U>
bool operator!=(const TObjectPtr<T>& A, const TObjectPtr<U>& B)
{
    return A.Get() != B.Get();
}
template <typename T, typename U>
bool operator==(const TObjectPtr<T>& A, U* B)
{
    return A.Get() == B;
}
template <typename T, typename U>
bool operator==(U* A, const TObjectPtr<T>& B)
{
    return A == B.Get();
}
template <typename T, typename U>
bool operator!=(const TObjectPtr<T>& A, U* B)
{
    return A.Get() != B;
}
template <typename T, typename U>
bool operator!=(U* A, const TObjectPtr<T>& B)
{
    return A != B.Get();
}
template <typename T>
bool operator==(const TObjectPtr<T>& A, std::nullptr_t)
{
    return A.Get() == nullptr;
}
template <typename T>
bool operator!=(const TObjectPtr<T>& A, std::nullptr_t)
{
    return A.Get() != nullptr;
}
