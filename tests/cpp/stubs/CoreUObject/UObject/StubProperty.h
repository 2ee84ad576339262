// FProperty, and what can be done with a value of which only the property is known. (The engine has FProperty in
// UObject/UnrealType.h; Class.h needs it here.)
// Source: NotYetGames/DlgSystem Source/DlgSystem/NYReflectionHelper.h
#pragma once

#include "UObject/ObjectPtr.h"
#include "UObject/WeakObjectPtrTemplates.h"

class UStruct;
class UScriptStruct;
class UEnum;
template <typename T>
UEnum* StaticEnum();

namespace StubEngine
{
struct FPropertyOps;

/// An array as one that does not know its items sees it: for the FScriptArrayHelper of UnrealType.h.
struct FArrayOps
{
    const FPropertyOps* Inner;
    int32 (*Num)(const void* Array);
    void* (*At)(void* Array, int32 Index);
    void (*Insert)(void* Array, int32 Index);
    void (*Remove)(void* Array, int32 Index);
    void (*Swap)(void* Array, int32 A, int32 B);
};

/// What a property's value is.
enum class EKind : uint8
{
    Bool,
    Integer,
    Real,
    String,
    Name,
    Text,
    Enum,
    Struct,
    Object,
    Array,
    Other,
};

using FVisitor = std::function<void(UObject*&)>;

/// What can be done with a value.
struct FPropertyOps
{
    EKind Kind;
    std::size_t Size;
    std::shared_ptr<void> (*Copy)(const void* Value);
    void (*Assign)(void* Value, const void* From);
    void (*Visit)(void* Value, const FVisitor& Visitor);
    bool (*ToText)(const void* Value, FString& Out);
    bool (*FromText)(void* Value, const FString& Text);
    UScriptStruct* (*Struct)();
    UEnum* (*Enum)();
    const FArrayOps* (*Array)();
};

template <typename T>
const FPropertyOps* OpsOf();
COREUOBJECT_API void VisitStruct(UScriptStruct* Struct, void* Value, const FVisitor& Visitor);

template <typename T, typename = void>
struct THasStaticStruct : std::false_type
{
};
template <typename T>
struct THasStaticStruct<T, std::void_t<decltype(T::StaticStruct())>> : std::true_type
{
};
template <typename T>
struct TIsObjectPointer : std::false_type
{
};
template <typename T>
struct TIsObjectPointer<TObjectPtr<T>> : std::true_type
{
    using Class = T;
};
template <typename T>
struct TIsObjectPointer<T*> : std::true_type
{
    using Class = T;
};
template <typename T>
struct TIsArray : std::false_type
{
};
template <typename E, typename A>
struct TIsArray<TArray<E, A>> : std::true_type
{
    using Item = E;
};
template <typename T>
struct TIsMap : std::false_type
{
};
template <typename K, typename V, typename A, typename F>
struct TIsMap<TMap<K, V, A, F>> : std::true_type
{
    using Value = V;
};

template <typename T>
struct TOps
{
    static constexpr EKind KindOf()
    {
        if constexpr (std::is_same_v<T, bool>)
        {
            return EKind::Bool;
        }
        else if constexpr (std::is_enum_v<T>)
        {
            return EKind::Enum;
        }
        else if constexpr (std::is_integral_v<T>)
        {
            return EKind::Integer;
        }
        else if constexpr (std::is_floating_point_v<T>)
        {
            return EKind::Real;
        }
        else if constexpr (std::is_same_v<T, FString>)
        {
            return EKind::String;
        }
        else if constexpr (std::is_same_v<T, FName>)
        {
            return EKind::Name;
        }
        else if constexpr (std::is_same_v<T, FText>)
        {
            return EKind::Text;
        }
        else if constexpr (TIsObjectPointer<T>::value)
        {
            return EKind::Object;
        }
        else if constexpr (TIsArray<T>::value)
        {
            return EKind::Array;
        }
        else if constexpr (THasStaticStruct<T>::value)
        {
            return EKind::Struct;
        }
        else
        {
            return EKind::Other;
        }
    }
    static std::shared_ptr<void> Copy(const void* Value) { return std::make_shared<T>(*static_cast<const T*>(Value)); }
    static void Assign(void* Value, const void* From) { *static_cast<T*>(Value) = *static_cast<const T*>(From); }
    static void Visit(void* Value, const FVisitor& Visitor)
    {
        (void)Value;
        (void)Visitor;
        if constexpr (TIsObjectPointer<T>::value)
        {
            using C = std::remove_const_t<typename TIsObjectPointer<T>::Class>;
            // The class may be declared only; UObject is the first base of all of them.
            T& Pointer = *static_cast<T*>(Value);
            UObject* Object = nullptr;
            if constexpr (std::is_pointer_v<T>)
            {
                Object = reinterpret_cast<UObject*>(const_cast<C*>(Pointer));
            }
            else
            {
                Object = reinterpret_cast<UObject*>(const_cast<C*>(Pointer.Get()));
            }
            UObject* const Before = Object;
            Visitor(Object);
            if (Object != Before)
            {
                Pointer = reinterpret_cast<C*>(Object);
            }
        }
        else if constexpr (TIsArray<T>::value)
        {
            for (auto& Item : *static_cast<T*>(Value))
            {
                OpsOf<typename TIsArray<T>::Item>()->Visit(&Item, Visitor);
            }
        }
        else if constexpr (TIsMap<T>::value)
        {
            for (auto& Pair : *static_cast<T*>(Value))
            {
                OpsOf<typename TIsMap<T>::Value>()->Visit(&Pair.Value, Visitor);
            }
        }
        else if constexpr (THasStaticStruct<T>::value)
        {
            VisitStruct(T::StaticStruct(), Value, Visitor);
        }
    }
    static bool ToText(const void* Value, FString& Out)
    {
        (void)Value;
        const T& Real = *static_cast<const T*>(Value);
        (void)Real;
        if constexpr (std::is_same_v<T, FString>)
        {
            Out = Real;
        }
        else if constexpr (std::is_same_v<T, FName> || std::is_same_v<T, FText>)
        {
            Out = Real.ToString();
        }
        else if constexpr (std::is_same_v<T, bool>)
        {
            Out = Real ? TEXT("True") : TEXT("False");
        }
        else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>)
        {
            Out = LexToString(static_cast<int64>(Real));
        }
        else if constexpr (std::is_floating_point_v<T>)
        {
            Out = FString::SanitizeFloat(static_cast<double>(Real));
        }
        else
        {
            return false;
        }
        return true;
    }
    static bool FromText(void* Value, const FString& Text)
    {
        (void)Text;
        T& Real = *static_cast<T*>(Value);
        (void)Real;
        if constexpr (std::is_same_v<T, FString>)
        {
            Real = Text;
        }
        else if constexpr (std::is_same_v<T, FName>)
        {
            Real = FName(Text);
        }
        else if constexpr (std::is_same_v<T, FText>)
        {
            Real = FText::FromString(Text);
        }
        else if constexpr (std::is_same_v<T, bool>)
        {
            Real = Text.ToBool();
        }
        else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>)
        {
            Real = static_cast<T>(FCString::Atoi64(*Text));
        }
        else if constexpr (std::is_floating_point_v<T>)
        {
            Real = static_cast<T>(FCString::Atod(*Text));
        }
        else
        {
            return false;
        }
        return true;
    }
    static UScriptStruct* Struct()
    {
        if constexpr (THasStaticStruct<T>::value)
        {
            return T::StaticStruct();
        }
        else
        {
            return nullptr;
        }
    }
    static UEnum* Enum()
    {
        if constexpr (std::is_enum_v<T>)
        {
            return StaticEnum<T>();
        }
        else
        {
            return nullptr;
        }
    }
    static const FArrayOps* Array()
    {
        if constexpr (TIsArray<T>::value)
        {
            using E = typename TIsArray<T>::Item;
            static const FArrayOps Made = {OpsOf<E>(), [](const void* A) { return static_cast<const T*>(A)->Num(); },
                [](void* A, int32 Index) { return static_cast<void*>(&(*static_cast<T*>(A))[Index]); },
                [](void* A, int32 Index) { static_cast<T*>(A)->Insert(E(), Index); },
                [](void* A, int32 Index) { static_cast<T*>(A)->RemoveAt(Index); },
                [](void* A, int32 X, int32 Y) { static_cast<T*>(A)->Swap(X, Y); }};
            return &Made;
        }
        else
        {
            return nullptr;
        }
    }
};

template <typename T>
const FPropertyOps* OpsOf()
{
    using O = TOps<T>;
    static const FPropertyOps Made = {O::KindOf(), sizeof(T), O::Copy, O::Assign, O::Visit, O::ToText, O::FromText, O::Struct,
        O::Enum, O::Array};
    return &Made;
}
} // namespace StubEngine

// Source: NotYetGames/DlgSystem Source/DlgSystem/NYReflectionHelper.h, MothCocoon/FlowGraph Source/Flow/Private/Nodes/FlowNode.cpp
class FProperty
{
public:
    virtual ~FProperty() = default;
    FString GetName() const { return Name.ToString(); }
    FName GetFName() const { return Name; }
    FString GetNameCPP() const { return Name.ToString(); }
    FString GetCPPType() const { return Type; }
    bool HasAnyPropertyFlags(uint64 Some) const { return (Flags & Some) != 0; }
    void* StubValue(void* Container) const { return static_cast<char*>(Container) + Offset; }
    template <typename T>
    T* ContainerPtrToValuePtr(void* Container, int32 = 0) const
    {
        return static_cast<T*>(StubValue(Container));
    }
    template <typename T>
    const T* ContainerPtrToValuePtr(const void* Container, int32 = 0) const
    {
        return static_cast<const T*>(StubValue(const_cast<void*>(Container)));
    }
    UStruct* GetOwnerStruct() const { return Owner; }
#if WITH_EDITOR
    const FString& GetMetaData(const TCHAR* Key) const
    {
        static const FString Nothing;
        const FString* Found = Meta.Find(FString(Key));
        return Found == nullptr ? Nothing : *Found;
    }
    const FString& GetMetaData(const FName& Key) const { return GetMetaData(*Key.ToString()); }
    const FString* FindMetaData(const TCHAR* Key) const { return Meta.Find(FString(Key)); }
    const FString* FindMetaData(const FName& Key) const { return Meta.Find(Key.ToString()); }
    bool HasMetaData(const TCHAR* Key) const { return Meta.Contains(FString(Key)); }
    bool HasMetaData(const FName& Key) const { return Meta.Contains(Key.ToString()); }
    bool GetBoolMetaData(const TCHAR* Key) const
    {
        const FString* Found = Meta.Find(FString(Key));
        return Found != nullptr && (Found->IsEmpty() || *Found == TEXT("true"));
    }
    float GetFloatMetaData(const TCHAR* Key) const { return FCString::Atof(*GetMetaData(Key)); }
    int32 GetIntMetaData(const TCHAR* Key) const { return FCString::Atoi(*GetMetaData(Key)); }
    FText GetToolTipText(bool bShortTooltip = false) const { return FText::FromString(GetMetaData(TEXT("ToolTip"))); }
    FText GetDisplayNameText() const
    {
        return FText::FromString(HasMetaData(TEXT("DisplayName")) ? GetMetaData(TEXT("DisplayName")) : GetName());
    }
#endif

    FName Name;
    FString Type;
    uint64 Flags = 0;
    std::size_t Offset = 0;
    UStruct* Owner = nullptr;
    const StubEngine::FPropertyOps* Ops = nullptr;
    TMap<FString, FString> Meta;
};
