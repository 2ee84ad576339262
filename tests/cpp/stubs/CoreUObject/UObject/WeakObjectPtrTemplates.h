// TWeakObjectPtr.
// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgSystemModule.h
#pragma once

#include "CoreMinimal.h"
#include "UObject/ObjectPtr.h"

// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowSubsystem.h
template <class T = UObject>
struct TWeakObjectPtr
{
    TWeakObjectPtr() = default;
    TWeakObjectPtr(std::nullptr_t) {}
    template <class U, typename = std::enable_if_t<std::is_convertible_v<U*, T*>>>
    TWeakObjectPtr(U* Object)
        : Place(StubEngine::PlaceOf(Object))
        , Held(Object)
    {
    }
    template <class U, typename = std::enable_if_t<std::is_convertible_v<U*, T*>>>
    TWeakObjectPtr(const TObjectPtr<U>& Object)
        : TWeakObjectPtr(Object.Get())
    {
    }
    template <class U, typename = std::enable_if_t<std::is_convertible_v<U*, T*>>>
    TWeakObjectPtr(const TWeakObjectPtr<U>& Other)
        : TWeakObjectPtr(Other.Get())
    {
    }
    T* Get() const { return StubEngine::ObjectAt(Place) == nullptr ? nullptr : Held; }
    bool IsValid() const { return Get() != nullptr; }
    bool IsStale() const { return Held != nullptr && Get() == nullptr; }
    bool IsExplicitlyNull() const { return Held == nullptr; }
    void Reset() { *this = TWeakObjectPtr(); }
    explicit operator bool() const { return IsValid(); }
    T* operator->() const { return Get(); }
    T& operator*() const { return *Get(); }
    bool operator==(const TWeakObjectPtr& Other) const
    {
        return (Place.Index == Other.Place.Index && Place.Serial == Other.Place.Serial) || (!IsValid() && !Other.IsValid());
    }
    bool operator!=(const TWeakObjectPtr& Other) const { return !(*this == Other); }
    friend bool operator==(const TWeakObjectPtr& A, const T* B) { return A.Get() == B; }
    friend bool operator!=(const TWeakObjectPtr& A, const T* B) { return A.Get() != B; }
    friend uint32 GetTypeHash(const TWeakObjectPtr& Pointer) { return static_cast<uint32>(Pointer.Place.Index); }

private:
    StubEngine::FObjectPlace Place;
    T* Held = nullptr;
};
template <class T>
TWeakObjectPtr<T> MakeWeakObjectPtr(T* Object)
{
    return TWeakObjectPtr<T>(Object);
}
