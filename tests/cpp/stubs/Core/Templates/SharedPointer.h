// Shared and weak pointers to what is no UObject.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/FlowEditorModule.cpp, ufna/VaRest
// Source/VaRest/Private/VaRestJsonObject.cpp
#pragma once

#include "HAL/Platform.h"
#include "Misc/AssertionMacros.h"
#include "Templates/UnrealTemplate.h"

#include <memory>

// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Public/VoxelMinimal/VoxelSharedPtr.h
enum class ESPMode : uint8
{
    NotThreadSafe = 0,
    ThreadSafe = 1
};

template <class ObjectType, ESPMode Mode = ESPMode::ThreadSafe>
class TSharedPtr;
template <class ObjectType, ESPMode Mode = ESPMode::ThreadSafe>
class TWeakPtr;
template <class ObjectType, ESPMode Mode = ESPMode::ThreadSafe>
class TSharedFromThis;

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumFeaturesMetadataViewer.cpp
template <class ObjectType, ESPMode Mode = ESPMode::ThreadSafe>
class TSharedRef
{
public:
    using ElementType = ObjectType;

    explicit TSharedRef(std::shared_ptr<ObjectType> InHeld)
        : Held(std::move(InHeld))
    {
        check(Held != nullptr);
    }
    template <class OtherType, typename = std::enable_if_t<std::is_convertible_v<OtherType*, ObjectType*>>>
    TSharedRef(const TSharedRef<OtherType, Mode>& Other)
        : Held(Other.Std())
    {
    }
    ObjectType& Get() const { return *Held; }
    ObjectType& operator*() const { return *Held; }
    ObjectType* operator->() const { return Held.get(); }
    TSharedPtr<ObjectType, Mode> ToSharedPtr() const;
    TWeakPtr<ObjectType, Mode> ToWeakPtr() const;
    bool IsUnique() const { return Held.use_count() == 1; }
    const std::shared_ptr<ObjectType>& Std() const { return Held; }

private:
    std::shared_ptr<ObjectType> Held;
};

// Source: ufna/VaRest Source/VaRest/Private/VaRestJsonObject.cpp (TSharedPtr<FJsonObject>)
template <class ObjectType, ESPMode Mode>
class TSharedPtr
{
public:
    using ElementType = ObjectType;

    TSharedPtr() = default;
    TSharedPtr(std::nullptr_t) {}
    explicit TSharedPtr(std::shared_ptr<ObjectType> InHeld)
        : Held(std::move(InHeld))
    {
    }
    template <class OtherType, typename = std::enable_if_t<std::is_convertible_v<OtherType*, ObjectType*>>>
    explicit TSharedPtr(OtherType* Object);
    template <class OtherType, typename = std::enable_if_t<std::is_convertible_v<OtherType*, ObjectType*>>>
    TSharedPtr(const TSharedPtr<OtherType, Mode>& Other)
        : Held(Other.Std())
    {
    }
    template <class OtherType, typename = std::enable_if_t<std::is_convertible_v<OtherType*, ObjectType*>>>
    TSharedPtr(const TSharedRef<OtherType, Mode>& Other)
        : Held(Other.Std())
    {
    }
    ObjectType* Get() const { return Held.get(); }
    bool IsValid() const { return Held != nullptr; }
    explicit operator bool() const { return IsValid(); }
    ObjectType& operator*() const
    {
        check(IsValid());
        return *Held;
    }
    ObjectType* operator->() const
    {
        check(IsValid());
        return Held.get();
    }
    TSharedRef<ObjectType, Mode> ToSharedRef() const
    {
        check(IsValid());
        return TSharedRef<ObjectType, Mode>(Held);
    }
    void Reset() { Held.reset(); }
    bool IsUnique() const { return Held.use_count() == 1; }
    int32 GetSharedReferenceCount() const { return static_cast<int32>(Held.use_count()); }
    const std::shared_ptr<ObjectType>& Std() const { return Held; }

private:
    std::shared_ptr<ObjectType> Held;
};

// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Public/VoxelMinimal/VoxelSharedPtr.h
template <class ObjectType, ESPMode Mode>
class TWeakPtr
{
public:
    TWeakPtr() = default;
    TWeakPtr(std::nullptr_t) {}
    template <class OtherType, typename = std::enable_if_t<std::is_convertible_v<OtherType*, ObjectType*>>>
    TWeakPtr(const TSharedPtr<OtherType, Mode>& Other)
        : Held(Other.Std())
    {
    }
    template <class OtherType, typename = std::enable_if_t<std::is_convertible_v<OtherType*, ObjectType*>>>
    TWeakPtr(const TSharedRef<OtherType, Mode>& Other)
        : Held(Other.Std())
    {
    }
    template <class OtherType, typename = std::enable_if_t<std::is_convertible_v<OtherType*, ObjectType*>>>
    TWeakPtr(const TWeakPtr<OtherType, Mode>& Other)
        : Held(Other.Std())
    {
    }
    TSharedPtr<ObjectType, Mode> Pin() const { return TSharedPtr<ObjectType, Mode>(Held.lock()); }
    bool IsValid() const { return !Held.expired(); }
    void Reset() { Held.reset(); }
    bool HasSameObject(const void* Other) const { return Held.lock().get() == Other; }
    const std::weak_ptr<ObjectType>& Std() const { return Held; }

private:
    std::weak_ptr<ObjectType> Held;
};

// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Public/VoxelMinimal/VoxelSharedPtr.h
template <class ObjectType, ESPMode Mode>
class TSharedFromThis
{
public:
    TSharedRef<ObjectType, Mode> AsShared() { return TSharedRef<ObjectType, Mode>(StubSelf.lock()); }
    TSharedRef<const ObjectType, Mode> AsShared() const { return TSharedRef<const ObjectType, Mode>(StubSelf.lock()); }
    TWeakPtr<ObjectType, Mode> AsWeak() { return AsShared(); }
    bool DoesSharedInstanceExist() const { return !StubSelf.expired(); }
    /// Called where the first shared pointer is made.
    void StubShared(const std::shared_ptr<ObjectType>& Held) const { StubSelf = Held; }

protected:
    template <class OtherType>
    static TSharedRef<OtherType, Mode> SharedThis(OtherType* This)
    {
        return TSharedRef<OtherType, Mode>(std::static_pointer_cast<OtherType>(This->AsShared().Std()));
    }
    TSharedFromThis() = default;
    TSharedFromThis(const TSharedFromThis&) {}
    TSharedFromThis& operator=(const TSharedFromThis&) { return *this; }
    ~TSharedFromThis() = default;

private:
    mutable std::weak_ptr<ObjectType> StubSelf;
};

namespace StubEngine
{
template <class B, ESPMode Mode, class T>
void TellShared(const TSharedFromThis<B, Mode>* Base, const std::shared_ptr<T>& Held)
{
    Base->StubShared(std::static_pointer_cast<B>(std::const_pointer_cast<std::remove_const_t<T>>(Held)));
}
inline void TellShared(...) {}
} // namespace StubEngine

template <class ObjectType, ESPMode Mode>
template <class OtherType, typename>
TSharedPtr<ObjectType, Mode>::TSharedPtr(OtherType* Object)
{
    std::shared_ptr<OtherType> Made(Object);
    if (Object != nullptr)
    {
        StubEngine::TellShared(Object, Made);
    }
    Held = Made;
}

template <class ObjectType, ESPMode Mode>
TSharedPtr<ObjectType, Mode> TSharedRef<ObjectType, Mode>::ToSharedPtr() const
{
    return TSharedPtr<ObjectType, Mode>(Held);
}
template <class ObjectType, ESPMode Mode>
TWeakPtr<ObjectType, Mode> TSharedRef<ObjectType, Mode>::ToWeakPtr() const
{
    return TWeakPtr<ObjectType, Mode>(*this);
}

// Comparison of pointers, as the engine has them between both kinds.
template <class A, class B, ESPMode Mode>
bool operator==(const TSharedPtr<A, Mode>& First, const TSharedPtr<B, Mode>& Second)
{
    return First.Get() == Second.Get();
}
template <class A, class B, ESPMode Mode>
bool operator!=(const TSharedPtr<A, Mode>& First, const TSharedPtr<B, Mode>& Second)
{
    return First.Get() != Second.Get();
}
template <class A, class B, ESPMode Mode>
bool operator==(const TSharedRef<A, Mode>& First, const TSharedRef<B, Mode>& Second)
{
    return &First.Get() == &Second.Get();
}
template <class A, class B, ESPMode Mode>
bool operator!=(const TSharedRef<A, Mode>& First, const TSharedRef<B, Mode>& Second)
{
    return &First.Get() != &Second.Get();
}
template <class A, class B, ESPMode Mode>
bool operator==(const TSharedPtr<A, Mode>& First, const TSharedRef<B, Mode>& Second)
{
    return First.Get() == &Second.Get();
}
template <class A, ESPMode Mode>
bool operator==(const TSharedPtr<A, Mode>& First, std::nullptr_t)
{
    return !First.IsValid();
}
template <class A, ESPMode Mode>
bool operator!=(const TSharedPtr<A, Mode>& First, std::nullptr_t)
{
    return First.IsValid();
}
template <class A, ESPMode Mode>
uint32 GetTypeHash(const TSharedPtr<A, Mode>& Pointer)
{
    return static_cast<uint32>(reinterpret_cast<UPTRINT>(Pointer.Get()) >> 4);
}
template <class A, ESPMode Mode>
uint32 GetTypeHash(const TSharedRef<A, Mode>& Pointer)
{
    return static_cast<uint32>(reinterpret_cast<UPTRINT>(&Pointer.Get()) >> 4);
}

template <class ObjectType, ESPMode Mode = ESPMode::ThreadSafe, typename... A>
TSharedRef<ObjectType, Mode> MakeShared(A&&... Arguments)
{
    std::shared_ptr<ObjectType> Made(new ObjectType(std::forward<A>(Arguments)...));
    StubEngine::TellShared(Made.get(), Made);
    return TSharedRef<ObjectType, Mode>(Made);
}

namespace StubEngine
{
template <class ObjectType>
struct TRawPointer
{
    ObjectType* Object;
    template <class T, ESPMode Mode, typename = std::enable_if_t<std::is_convertible_v<ObjectType*, T*>>>
    operator TSharedRef<T, Mode>() const
    {
        return TSharedPtr<T, Mode>(Object).ToSharedRef();
    }
    template <class T, ESPMode Mode, typename = std::enable_if_t<std::is_convertible_v<ObjectType*, T*>>>
    operator TSharedPtr<T, Mode>() const
    {
        return TSharedPtr<T, Mode>(Object);
    }
};
} // namespace StubEngine

template <class ObjectType>
StubEngine::TRawPointer<ObjectType> MakeShareable(ObjectType* Object)
{
    return {Object};
}

template <class To, class From, ESPMode Mode>
TSharedPtr<To, Mode> StaticCastSharedPtr(const TSharedPtr<From, Mode>& Pointer)
{
    return TSharedPtr<To, Mode>(std::static_pointer_cast<To>(Pointer.Std()));
}
template <class To, class From, ESPMode Mode>
TSharedRef<To, Mode> StaticCastSharedRef(const TSharedRef<From, Mode>& Pointer)
{
    return TSharedRef<To, Mode>(std::static_pointer_cast<To>(Pointer.Std()));
}
template <class To, class From, ESPMode Mode>
TSharedRef<To, Mode> ConstCastSharedRef(const TSharedRef<From, Mode>& Pointer)
{
    return TSharedRef<To, Mode>(std::const_pointer_cast<To>(Pointer.Std()));
}
template <class To, class From, ESPMode Mode>
TSharedPtr<To, Mode> ConstCastSharedPtr(const TSharedPtr<From, Mode>& Pointer)
{
    return TSharedPtr<To, Mode>(std::const_pointer_cast<To>(Pointer.Std()));
}
