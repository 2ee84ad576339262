// Delegates that really fire: native, native multicast and dynamic ones.
// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Public/VoxelMinimal/VoxelDelegateHelpers.h (native), MothCocoon/FlowGraph
// Source/Flow/Public/FlowComponent.h (dynamic multicast), BenPyton/ProceduralDungeon
// Source/ProceduralDungeon/Private/Components/RoomObserverComponent.cpp (AddDynamic)
#pragma once

#include "Containers/Array.h"
#include "Templates/Function.h"
#include "Templates/SharedPointer.h"
#include "UObject/NameTypes.h"

// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowAsset.h
class UObject;

namespace StubEngine
{
/// A UObject's place in the table of objects, and which of those that lived there it was.
struct FObjectPlace
{
    int32 Index = -1;
    int32 Serial = 0;
};
COREUOBJECT_API FObjectPlace PlaceOf(const UObject* Object);
/// Null where the object is gone or is garbage.
COREUOBJECT_API UObject* ObjectAt(FObjectPlace Place);
} // namespace StubEngine

// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Public/VoxelMinimal/VoxelDelegateHelpers.h
class FDelegateHandle
{
public:
    // Source: VoxelPlugin/VoxelCore Source/VoxelCore/Public/VoxelMinimal/VoxelDelegateHelpers.h
    enum EGenerateNewHandleType
    {
        GenerateNewHandle
    };
    FDelegateHandle() = default;
    explicit FDelegateHandle(EGenerateNewHandleType)
        : Id(Next())
    {
    }
    bool IsValid() const { return Id != 0; }
    void Reset() { Id = 0; }
    bool operator==(const FDelegateHandle& Other) const { return Id == Other.Id; }
    bool operator!=(const FDelegateHandle& Other) const { return Id != Other.Id; }
    friend uint32 GetTypeHash(const FDelegateHandle& Handle) { return static_cast<uint32>(Handle.Id); }

private:
    CORE_API static uint64 Next();
    uint64 Id = 0;
};

template <typename Signature>
class TDelegate;
template <typename Signature>
class TMulticastDelegate;

// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Public/VoxelMinimal/VoxelDelegateHelpers.h
template <typename R, typename... P>
class TDelegate<R(P...)>
{
public:
    using FDelegate = TDelegate;
    typedef R RetValType;

    TDelegate() = default;
    TDelegate(std::nullptr_t) {}

    template <typename F, typename... V>
    static TDelegate CreateLambda(F&& Callable, V... Payload)
    {
        TDelegate Made;
        Made.BindLambda(std::forward<F>(Callable), Payload...);
        return Made;
    }
    template <typename F, typename... V>
    static TDelegate CreateWeakLambda(const UObject* Object, F&& Callable, V... Payload)
    {
        TDelegate Made;
        Made.BindWeakLambda(Object, std::forward<F>(Callable), Payload...);
        return Made;
    }
    template <typename F, typename... V>
    static TDelegate CreateStatic(F* Function, V... Payload)
    {
        TDelegate Made;
        Made.BindStatic(Function, Payload...);
        return Made;
    }
    template <typename O, typename M, typename... V>
    static TDelegate CreateRaw(O* Object, M Method, V... Payload)
    {
        TDelegate Made;
        Made.BindRaw(Object, Method, Payload...);
        return Made;
    }
    template <typename O, typename M, typename... V>
    static TDelegate CreateUObject(O* Object, M Method, V... Payload)
    {
        TDelegate Made;
        Made.BindUObject(Object, Method, Payload...);
        return Made;
    }
    template <typename O, typename M, typename... V>
    static TDelegate CreateSP(O* Object, M Method, V... Payload)
    {
        TDelegate Made;
        Made.BindSP(Object, Method, Payload...);
        return Made;
    }
    template <typename O, ESPMode Mode, typename M, typename... V>
    static TDelegate CreateSP(const TSharedRef<O, Mode>& Object, M Method, V... Payload)
    {
        TDelegate Made;
        Made.BindSP(Object, Method, Payload...);
        return Made;
    }
    template <typename O, typename F, typename... V>
    static TDelegate CreateSPLambda(O* Object, F&& Callable, V... Payload)
    {
        TDelegate Made;
        Made.BindSPLambda(Object, std::forward<F>(Callable), Payload...);
        return Made;
    }

    template <typename F, typename... V>
    void BindLambda(F&& Callable, V... Payload)
    {
        Bind(nullptr, [] { return true; },
            [Callable = std::decay_t<F>(std::forward<F>(Callable)), Payload...](P... Arguments) mutable -> R
            { return Callable(static_cast<P&&>(Arguments)..., Payload...); });
    }
    template <typename F, typename... V>
    void BindWeakLambda(const UObject* Object, F&& Callable, V... Payload)
    {
        const StubEngine::FObjectPlace Place = StubEngine::PlaceOf(Object);
        Bind(Object, [Place] { return StubEngine::ObjectAt(Place) != nullptr; },
            [Callable = std::decay_t<F>(std::forward<F>(Callable)), Payload...](P... Arguments) mutable -> R
            { return Callable(static_cast<P&&>(Arguments)..., Payload...); });
    }
    template <typename F, typename... V>
    void BindStatic(F* Function, V... Payload)
    {
        Bind(nullptr, [] { return true; },
            [Function, Payload...](P... Arguments) mutable -> R { return Function(static_cast<P&&>(Arguments)..., Payload...); });
    }
    template <typename O, typename M, typename... V>
    void BindRaw(O* Object, M Method, V... Payload)
    {
        Bind(Object, [] { return true; },
            [Object, Method, Payload...](P... Arguments) mutable -> R
            { return (Object->*Method)(static_cast<P&&>(Arguments)..., Payload...); });
    }
    template <typename O, typename M, typename... V>
    void BindUObject(O* Object, M Method, V... Payload)
    {
        static_assert(std::is_base_of_v<UObject, std::remove_const_t<O>>, "BindUObject takes a UObject");
        const StubEngine::FObjectPlace Place = StubEngine::PlaceOf(Object);
        Bind(Object, [Place] { return StubEngine::ObjectAt(Place) != nullptr; },
            [Object, Method, Payload...](P... Arguments) mutable -> R
            { return (Object->*Method)(static_cast<P&&>(Arguments)..., Payload...); });
    }
    template <typename O, typename M, typename... V>
    void BindSP(O* Object, M Method, V... Payload)
    {
        BindSP(StaticCastSharedRef<O>(Object->AsShared()), Method, Payload...);
    }
    template <typename O, ESPMode Mode, typename M, typename... V>
    void BindSP(const TSharedRef<O, Mode>& Object, M Method, V... Payload)
    {
        TWeakPtr<O, Mode> Weak = Object;
        O* Raw = &Object.Get();
        Bind(Raw, [Weak] { return Weak.IsValid(); },
            [Weak, Raw, Method, Payload...](P... Arguments) mutable -> R
            {
                const TSharedPtr<O, Mode> Kept = Weak.Pin();
                return (Raw->*Method)(static_cast<P&&>(Arguments)..., Payload...);
            });
    }
    template <typename O, typename F, typename... V>
    void BindSPLambda(O* Object, F&& Callable, V... Payload)
    {
        auto Weak = Object->AsShared().ToWeakPtr();
        Bind(Object, [Weak] { return Weak.IsValid(); },
            [Callable = std::decay_t<F>(std::forward<F>(Callable)), Payload...](P... Arguments) mutable -> R
            { return Callable(static_cast<P&&>(Arguments)..., Payload...); });
    }

    bool IsBound() const { return Call != nullptr && (*Alive)(); }
    bool IsBoundToObject(const void* Object) const { return Call != nullptr && Object == Bound; }
    void Unbind()
    {
        Call.reset();
        Alive.reset();
        Bound = nullptr;
        Handle.Reset();
    }
    R Execute(P... Arguments) const
    {
        check(IsBound());
        const std::shared_ptr<std::function<R(P...)>> Kept = Call;
        return (*Kept)(static_cast<P&&>(Arguments)...);
    }
    bool ExecuteIfBound(P... Arguments) const
    {
        static_assert(std::is_void_v<R>, "ExecuteIfBound is for delegates that return nothing");
        if (!IsBound())
        {
            return false;
        }
        const std::shared_ptr<std::function<R(P...)>> Kept = Call;
        (*Kept)(static_cast<P&&>(Arguments)...);
        return true;
    }
    FDelegateHandle GetHandle() const { return Handle; }

private:
    void Bind(const void* Object, std::function<bool()> InAlive, std::function<R(P...)> InCall)
    {
        Bound = Object;
        Alive = std::make_shared<std::function<bool()>>(std::move(InAlive));
        Call = std::make_shared<std::function<R(P...)>>(std::move(InCall));
        Handle = FDelegateHandle(FDelegateHandle::GenerateNewHandle);
    }

    const void* Bound = nullptr;
    std::shared_ptr<std::function<bool()>> Alive;
    std::shared_ptr<std::function<R(P...)>> Call;
    FDelegateHandle Handle;
};

// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Public/VoxelMinimal/VoxelDelegateHelpers.h
template <typename... P>
class TMulticastDelegate<void(P...)>
{
public:
    using FDelegate = TDelegate<void(P...)>;

    FDelegateHandle Add(const FDelegate& Delegate)
    {
        if (!Delegate.GetHandle().IsValid())
        {
            return FDelegateHandle();
        }
        List.Add(Delegate);
        return Delegate.GetHandle();
    }
    template <typename F, typename... V>
    FDelegateHandle AddLambda(F&& Callable, V... Payload)
    {
        return Add(FDelegate::CreateLambda(std::forward<F>(Callable), Payload...));
    }
    template <typename F, typename... V>
    FDelegateHandle AddWeakLambda(const UObject* Object, F&& Callable, V... Payload)
    {
        return Add(FDelegate::CreateWeakLambda(Object, std::forward<F>(Callable), Payload...));
    }
    template <typename F, typename... V>
    FDelegateHandle AddStatic(F* Function, V... Payload)
    {
        return Add(FDelegate::CreateStatic(Function, Payload...));
    }
    template <typename O, typename M, typename... V>
    FDelegateHandle AddRaw(O* Object, M Method, V... Payload)
    {
        return Add(FDelegate::CreateRaw(Object, Method, Payload...));
    }
    template <typename O, typename M, typename... V>
    FDelegateHandle AddUObject(O* Object, M Method, V... Payload)
    {
        return Add(FDelegate::CreateUObject(Object, Method, Payload...));
    }
    template <typename O, typename M, typename... V>
    FDelegateHandle AddSP(O* Object, M Method, V... Payload)
    {
        return Add(FDelegate::CreateSP(Object, Method, Payload...));
    }
    template <typename O, ESPMode Mode, typename M, typename... V>
    FDelegateHandle AddSP(const TSharedRef<O, Mode>& Object, M Method, V... Payload)
    {
        return Add(FDelegate::CreateSP(Object, Method, Payload...));
    }
    bool Remove(FDelegateHandle Handle)
    {
        return Handle.IsValid() && List.RemoveAll([&Handle](const FDelegate& One) { return One.GetHandle() == Handle; }) > 0;
    }
    int32 RemoveAll(const void* Object)
    {
        return List.RemoveAll([Object](const FDelegate& One) { return One.IsBoundToObject(Object); });
    }
    void Clear() { List.Empty(); }
    bool IsBound() const
    {
        return List.ContainsByPredicate([](const FDelegate& One) { return One.IsBound(); });
    }
    bool IsBoundToObject(const void* Object) const
    {
        return List.ContainsByPredicate([Object](const FDelegate& One) { return One.IsBoundToObject(Object); });
    }
    /// The last that was added is called first, as in the engine, which promises no order.
    void Broadcast(P... Arguments) const
    {
        const TArray<FDelegate> Kept = List;
        for (int32 Index = Kept.Num() - 1; Index >= 0; --Index)
        {
            // One that a call before it removed is not called.
            const FDelegateHandle Handle = Kept[Index].GetHandle();
            if (List.ContainsByPredicate([&Handle](const FDelegate& One) { return One.GetHandle() == Handle; }))
            {
                Kept[Index].ExecuteIfBound(Arguments...);
            }
        }
    }

private:
    TArray<FDelegate> List;
};

// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowSubsystem.h (FSimpleMulticastDelegate)
typedef TDelegate<void()> FSimpleDelegate;
typedef TMulticastDelegate<void()> FSimpleMulticastDelegate;

#define DECLARE_DELEGATE(Name) typedef TDelegate<void()> Name;
#define DECLARE_DELEGATE_OneParam(Name, A) typedef TDelegate<void(A)> Name;
#define DECLARE_DELEGATE_TwoParams(Name, A, B) typedef TDelegate<void(A, B)> Name;
#define DECLARE_DELEGATE_ThreeParams(Name, A, B, C) typedef TDelegate<void(A, B, C)> Name;
#define DECLARE_DELEGATE_FourParams(Name, A, B, C, D) typedef TDelegate<void(A, B, C, D)> Name;
#define DECLARE_DELEGATE_FiveParams(Name, A, B, C, D, E) typedef TDelegate<void(A, B, C, D, E)> Name;
#define DECLARE_DELEGATE_RetVal(R, Name) typedef TDelegate<R()> Name;
#define DECLARE_DELEGATE_RetVal_OneParam(R, Name, A) typedef TDelegate<R(A)> Name;
#define DECLARE_DELEGATE_RetVal_TwoParams(R, Name, A, B) typedef TDelegate<R(A, B)> Name;
#define DECLARE_DELEGATE_RetVal_ThreeParams(R, Name, A, B, C) typedef TDelegate<R(A, B, C)> Name;
#define DECLARE_MULTICAST_DELEGATE(Name) typedef TMulticastDelegate<void()> Name;
#define DECLARE_MULTICAST_DELEGATE_OneParam(Name, A) typedef TMulticastDelegate<void(A)> Name;
#define DECLARE_MULTICAST_DELEGATE_TwoParams(Name, A, B) typedef TMulticastDelegate<void(A, B)> Name;
#define DECLARE_MULTICAST_DELEGATE_ThreeParams(Name, A, B, C) typedef TMulticastDelegate<void(A, B, C)> Name;
#define DECLARE_MULTICAST_DELEGATE_FourParams(Name, A, B, C, D) typedef TMulticastDelegate<void(A, B, C, D)> Name;
#define DECLARE_MULTICAST_DELEGATE_FiveParams(Name, A, B, C, D, E) typedef TMulticastDelegate<void(A, B, C, D, E)> Name;
// An event may be fired by its owner only.
#define DECLARE_EVENT(Owner, Name) \
    class Name : public TMulticastDelegate<void()> \
    { \
        friend class Owner; \
    };
#define DECLARE_EVENT_OneParam(Owner, Name, A) \
    class Name : public TMulticastDelegate<void(A)> \
    { \
        friend class Owner; \
    };

namespace StubEngine
{
/// One binding of a dynamic delegate: an object and one of its UFUNCTIONs by name.
template <typename R, typename... P>
struct TDynamicBinding
{
    FObjectPlace Place;
    FName Function;
    std::function<R(P...)> Call;
};
/// "&UThing::OnAnswer" is "OnAnswer".
inline FName FunctionName(const TCHAR* Written)
{
    const FString Text(Written);
    const int32 At = Text.Find(TEXT("::"), ESearchCase::CaseSensitive, ESearchDir::FromEnd);
    return FName(Text.Mid(At == INDEX_NONE ? 0 : At + 2));
}
} // namespace StubEngine

// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Core/Delegates/TBaseDynamicMulticastDelegate/FDelegate?application_version=5.5
// (the engine's has a policy of threads before these parameters; only the macros write it)
template <typename R, typename... P>
class TBaseDynamicDelegate
{
public:
    template <typename U, typename M>
    void __Internal_BindDynamic(U* Object, M Method, FName Name)
    {
        Binding.Place = StubEngine::PlaceOf(Object);
        Binding.Function = Name;
        Binding.Call = [Object, Method](P... Arguments) -> R { return (Object->*Method)(static_cast<P&&>(Arguments)...); };
    }
    bool IsBound() const { return Binding.Call && StubEngine::ObjectAt(Binding.Place) != nullptr; }
    void Unbind() { Binding = {}; }
    void Clear() { Binding = {}; }
    UObject* GetUObject() const { return StubEngine::ObjectAt(Binding.Place); }
    FName GetFunctionName() const { return Binding.Function; }
    R Execute(P... Arguments) const
    {
        check(IsBound());
        return Binding.Call(static_cast<P&&>(Arguments)...);
    }
    bool ExecuteIfBound(P... Arguments) const
    {
        if (!IsBound())
        {
            return false;
        }
        Binding.Call(static_cast<P&&>(Arguments)...);
        return true;
    }
    bool operator==(const TBaseDynamicDelegate& Other) const
    {
        return Binding.Place.Index == Other.Binding.Place.Index && Binding.Function == Other.Binding.Function;
    }

private:
    StubEngine::TDynamicBinding<R, P...> Binding;
};

// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Core/Delegates/TBaseDynamicMulticastDelegate?application_version=5.5
// (the engine's has a policy of threads and the result's type before these parameters; only the macros write it)
template <typename... P>
class TBaseDynamicMulticastDelegate
{
public:
    template <typename U, typename M>
    void __Internal_AddDynamic(U* Object, M Method, FName Name)
    {
        check(!__Internal_IsAlreadyBound(Object, Method, Name));
        __Internal_AddUniqueDynamic(Object, Method, Name);
    }
    template <typename U, typename M>
    void __Internal_AddUniqueDynamic(U* Object, M Method, FName Name)
    {
        check(Object != nullptr);
        if (!__Internal_IsAlreadyBound(Object, Method, Name))
        {
            List.Add({StubEngine::PlaceOf(Object), Name,
                [Object, Method](P... Arguments) { (Object->*Method)(static_cast<P&&>(Arguments)...); }});
        }
    }
    template <typename U, typename M>
    void __Internal_RemoveDynamic(U* Object, M, FName Name)
    {
        const StubEngine::FObjectPlace Place = StubEngine::PlaceOf(Object);
        List.RemoveAll([&](const FBinding& One) { return Same(One, Place) && One.Function == Name; });
    }
    template <typename U, typename M>
    bool __Internal_IsAlreadyBound(U* Object, M, FName Name) const
    {
        const StubEngine::FObjectPlace Place = StubEngine::PlaceOf(Object);
        return List.ContainsByPredicate([&](const FBinding& One) { return Same(One, Place) && One.Function == Name; });
    }
    void RemoveAll(const UObject* Object)
    {
        const StubEngine::FObjectPlace Place = StubEngine::PlaceOf(Object);
        List.RemoveAll([&](const FBinding& One) { return Same(One, Place); });
    }
    bool IsBound() const
    {
        return List.ContainsByPredicate([](const FBinding& One) { return StubEngine::ObjectAt(One.Place) != nullptr; });
    }
    void Clear() { List.Empty(); }
    void Broadcast(P... Arguments) const
    {
        const TArray<FBinding> Kept = List;
        for (const FBinding& One : Kept)
        {
            if (StubEngine::ObjectAt(One.Place) != nullptr)
            {
                One.Call(Arguments...);
            }
        }
    }

private:
    using FBinding = StubEngine::TDynamicBinding<void, P...>;
    static bool Same(const FBinding& One, StubEngine::FObjectPlace Place)
    {
        return One.Place.Index == Place.Index && One.Place.Serial == Place.Serial;
    }
    TArray<FBinding> List;
};

#define BindDynamic(Object, Function) __Internal_BindDynamic(Object, Function, StubEngine::FunctionName(TEXT(#Function)))
#define AddDynamic(Object, Function) __Internal_AddDynamic(Object, Function, StubEngine::FunctionName(TEXT(#Function)))
#define AddUniqueDynamic(Object, Function) \
    __Internal_AddUniqueDynamic(Object, Function, StubEngine::FunctionName(TEXT(#Function)))
#define RemoveDynamic(Object, Function) __Internal_RemoveDynamic(Object, Function, StubEngine::FunctionName(TEXT(#Function)))
#define IsAlreadyBound(Object, Function) \
    __Internal_IsAlreadyBound(Object, Function, StubEngine::FunctionName(TEXT(#Function)))

#define BODY_MACRO_COMBINE_INNER(A, B, C, D) A##B##C##D
#define BODY_MACRO_COMBINE(A, B, C, D) BODY_MACRO_COMBINE_INNER(A, B, C, D)
/// As in the engine: does not compile in a header that does not include its .generated.h.
#define STUB_DYNAMIC(Name, Base) \
    BODY_MACRO_COMBINE(CURRENT_FILE_ID, _, __LINE__, _DELEGATE) class Name : public Base \
    { \
    };
#define STUB_CLASS(...) __VA_ARGS__
#define DECLARE_DYNAMIC_MULTICAST_DELEGATE(Name) STUB_DYNAMIC(Name, TBaseDynamicMulticastDelegate<>)
#define DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(Name, A, a) STUB_DYNAMIC(Name, TBaseDynamicMulticastDelegate<A>)
#define DECLARE_DYNAMIC_MULTICAST_DELEGATE_TwoParams(Name, A, a, B, b) \
    STUB_DYNAMIC(Name, STUB_CLASS(TBaseDynamicMulticastDelegate<A, B>))
#define DECLARE_DYNAMIC_MULTICAST_DELEGATE_ThreeParams(Name, A, a, B, b, C, c) \
    STUB_DYNAMIC(Name, STUB_CLASS(TBaseDynamicMulticastDelegate<A, B, C>))
#define DECLARE_DYNAMIC_MULTICAST_DELEGATE_FourParams(Name, A, a, B, b, C, c, D, d) \
    STUB_DYNAMIC(Name, STUB_CLASS(TBaseDynamicMulticastDelegate<A, B, C, D>))
#define DECLARE_DYNAMIC_MULTICAST_DELEGATE_FiveParams(Name, A, a, B, b, C, c, D, d, E, e) \
    STUB_DYNAMIC(Name, STUB_CLASS(TBaseDynamicMulticastDelegate<A, B, C, D, E>))
#define DECLARE_DYNAMIC_MULTICAST_DELEGATE_SixParams(Name, A, a, B, b, C, c, D, d, E, e, F, f) \
    STUB_DYNAMIC(Name, STUB_CLASS(TBaseDynamicMulticastDelegate<A, B, C, D, E, F>))
#define DECLARE_DYNAMIC_DELEGATE(Name) STUB_DYNAMIC(Name, TBaseDynamicDelegate<void>)
#define DECLARE_DYNAMIC_DELEGATE_OneParam(Name, A, a) STUB_DYNAMIC(Name, STUB_CLASS(TBaseDynamicDelegate<void, A>))
#define DECLARE_DYNAMIC_DELEGATE_TwoParams(Name, A, a, B, b) \
    STUB_DYNAMIC(Name, STUB_CLASS(TBaseDynamicDelegate<void, A, B>))
#define DECLARE_DYNAMIC_DELEGATE_ThreeParams(Name, A, a, B, b, C, c) \
    STUB_DYNAMIC(Name, STUB_CLASS(TBaseDynamicDelegate<void, A, B, C>))
#define DECLARE_DYNAMIC_DELEGATE_FourParams(Name, A, a, B, b, C, c, D, d) \
    STUB_DYNAMIC(Name, STUB_CLASS(TBaseDynamicDelegate<void, A, B, C, D>))
#define DECLARE_DYNAMIC_DELEGATE_RetVal(R, Name) STUB_DYNAMIC(Name, TBaseDynamicDelegate<R>)
#define DECLARE_DYNAMIC_DELEGATE_RetVal_OneParam(R, Name, A, a) \
    STUB_DYNAMIC(Name, STUB_CLASS(TBaseDynamicDelegate<R, A>))
