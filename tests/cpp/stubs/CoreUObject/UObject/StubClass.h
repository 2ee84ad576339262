// UClass, UScriptStruct, UEnum and their properties, with as much reflection as tests, undo and the pickers want.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Graph/FlowGraphSchema.cpp (UClass), NotYetGames/DlgSystem
// Source/DlgSystem/NYReflectionHelper.h (FProperty, TFieldIterator, metadata)
#pragma once

#include "UObject/StubProperty.h"
#include "UObject/TopLevelAssetPath.h"

#include <deque>

// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Private/VoxelCoreEditorModule.cpp
class UField : public UObject
{
public:
    typedef UObject Super;
    static UClass* StaticClass() { return UObject::StaticClass(); }
#if WITH_EDITOR
    const FString& GetMetaData(const TCHAR* Key) const
    {
        static const FString Nothing;
        const FString* Found = StubMeta.Find(FString(Key));
        return Found == nullptr ? Nothing : *Found;
    }
    const FString& GetMetaData(const FName& Key) const { return GetMetaData(*Key.ToString()); }
    bool HasMetaData(const TCHAR* Key) const { return StubMeta.Contains(FString(Key)); }
    bool HasMetaData(const FName& Key) const { return HasMetaData(*Key.ToString()); }
    bool GetBoolMetaData(const TCHAR* Key) const
    {
        const FString* Found = StubMeta.Find(FString(Key));
        return Found != nullptr && (Found->IsEmpty() || *Found == TEXT("true"));
    }
    bool GetBoolMetaData(const FName& Key) const { return GetBoolMetaData(*Key.ToString()); }
    FText GetDisplayNameText() const
    {
        return FText::FromString(HasMetaData(TEXT("DisplayName")) ? GetMetaData(TEXT("DisplayName")) : GetName());
    }
    FText GetToolTipText(bool bShortTooltip = false) const { return FText::FromString(GetMetaData(TEXT("ToolTip"))); }
#endif
    TMap<FString, FString> StubMeta;
};

// Source: NotYetGames/DlgSystem Source/DlgSystem/NYReflectionHelper.h
class UStruct : public UField
{
public:
    UStruct* GetSuperStruct() const { return StubSuper; }
    bool IsChildOf(const UStruct* Some) const
    {
        for (const UStruct* One = this; One != nullptr; One = One->StubSuper)
        {
            if (One == Some)
            {
                return true;
            }
        }
        return false;
    }
    FProperty* FindPropertyByName(FName InName) const
    {
        for (const UStruct* One = this; One != nullptr; One = One->StubSuper)
        {
            for (FProperty* Property : One->StubProperties)
            {
                if (Property->GetFName() == InName)
                {
                    return Property;
                }
            }
        }
        return nullptr;
    }
    /// Without the A, U or F that C++ has.
    FString GetPrefixCPP() const { return TEXT("U"); }
    UStruct* StubSuper = nullptr;
    /// Those of this struct alone, in the order of the header.
    TArray<FProperty*> StubProperties;
    COREUOBJECT_API FProperty* StubAdd(const TCHAR* Name, const TCHAR* Type, uint64 Flags, std::size_t Offset,
        const StubEngine::FPropertyOps* Ops, std::initializer_list<std::pair<const TCHAR*, const TCHAR*>> Meta);
    COREUOBJECT_API TArray<FProperty*> StubAllProperties() const;
};

// Source: NotYetGames/DlgSystem Source/DlgSystem/IO/DlgJsonWriter.cpp
class UScriptStruct : public UStruct
{
public:
    int32 GetStructureSize() const { return StubSize; }
    int32 StubSize = 0;
};

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/MetadataInterfaceCommon.h (GetNameStringByValue, GetIndexByValue,
// GetDisplayNameTextByValue), Phyronnaz/VoxelPlugin
// Source/VoxelEditor/Private/Details/VoxelPaintMaterialCustomization.cpp (GetValueByNameString)
class UEnum : public UField
{
public:
    int32 NumEnums() const { return StubNames.Num(); }
    FString GetNameStringByIndex(int32 Index) const { return StubNames.IsValidIndex(Index) ? StubNames[Index].Key : FString(); }
    int64 GetValueByIndex(int32 Index) const { return StubNames[Index].Value; }
    int32 GetIndexByValue(int64 Value) const
    {
        return StubNames.IndexOfByPredicate([Value](const TPair<FString, int64>& One) { return One.Value == Value; });
    }
    FString GetNameStringByValue(int64 Value) const { return GetNameStringByIndex(GetIndexByValue(Value)); }
    int64 GetValueByNameString(const FString& Name) const
    {
        const TPair<FString, int64>* Found =
            StubNames.FindByPredicate([&Name](const TPair<FString, int64>& One) { return One.Key == Name; });
        return Found == nullptr ? INDEX_NONE : Found->Value;
    }
    FText GetDisplayNameTextByIndex(int32 Index) const
    {
        const FString* Shown = StubDisplay.Find(GetNameStringByIndex(Index));
        return FText::FromString(Shown == nullptr ? GetNameStringByIndex(Index) : *Shown);
    }
    FText GetDisplayNameTextByValue(int64 Value) const { return GetDisplayNameTextByIndex(GetIndexByValue(Value)); }
    bool IsValidEnumValue(int64 Value) const { return GetIndexByValue(Value) != INDEX_NONE; }
    template <typename T>
    static FString GetValueAsString(const T Value);

    TArray<TPair<FString, int64>> StubNames;
    TMap<FString, FString> StubDisplay;
};
template <typename T>
UEnum* StaticEnum();
template <typename T>
FString UEnum::GetValueAsString(const T Value)
{
    UEnum* Enum = StaticEnum<T>();
    return Enum->GetName() + TEXT("::") + Enum->GetNameStringByValue(static_cast<int64>(Value));
}

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Graph/FlowGraphSchema.cpp
class UClass : public UStruct
{
public:
    UClass* GetSuperClass() const { return static_cast<UClass*>(StubSuper); }
    bool HasAnyClassFlags(EClassFlags Some) const { return (StubClassFlags & Some) != CLASS_None; }
    EClassFlags GetClassFlags() const { return StubClassFlags; }
    FTopLevelAssetPath GetClassPathName() const { return FTopLevelAssetPath(FName(TEXT("/Script/Stub")), GetFName()); }
    COREUOBJECT_API UObject* GetDefaultObject(bool bCreateIfNeeded = true) const;
    template <class T>
    T* GetDefaultObject() const
    {
        return static_cast<T*>(GetDefaultObject());
    }
    bool ImplementsInterface(const UClass* Interface) const
    {
        for (const UClass* One = this; One != nullptr; One = One->GetSuperClass())
        {
            if (One->StubInterfaces.Contains(const_cast<UClass*>(Interface)))
            {
                return true;
            }
        }
        return false;
    }
    UFunction* FindFunctionByName(FName InName) const { return nullptr; }
    EClassFlags StubClassFlags = CLASS_None;
    TArray<UClass*> StubInterfaces;
    TArray<FName> StubFunctions;
    FString StubConfig;
    UObject* (*StubConstruct)() = nullptr;
    mutable UObject* StubDefault = nullptr;
};

namespace StubEngine
{
COREUOBJECT_API UClass* RegisterClass(const TCHAR* Name, UClass* Super, EClassFlags Flags, UObject* (*Construct)());
COREUOBJECT_API UScriptStruct* RegisterStruct(const TCHAR* Name, UScriptStruct* Super, std::size_t Size);
COREUOBJECT_API UEnum* RegisterEnum(const TCHAR* Name, std::initializer_list<std::pair<const TCHAR*, int64>> Names,
    std::initializer_list<std::pair<const TCHAR*, const TCHAR*>> Display);
template <class T>
UClass* MakeClass(const TCHAR* Name, UClass* Super)
{
    if constexpr (std::is_default_constructible_v<T> && !std::is_abstract_v<T>)
    {
        return RegisterClass(Name + 1, Super, CLASS_None, [] { return static_cast<UObject*>(new T()); });
    }
    else
    {
        return RegisterClass(Name + 1, Super, CLASS_Abstract, nullptr);
    }
}
} // namespace StubEngine
