// UObject and what it is made with.
// Source: MothCocoon/FlowGraph Source/Flow/Public/Nodes/FlowNode.h, NotYetGames/DlgSystem Source/DlgSystem/DlgDialogue.h
#pragma once

#include "UObject/ObjectMacros.h"
#include "UObject/ObjectPtr.h"
#include "UObject/WeakObjectPtrTemplates.h"

class FArchive;
class FObjectPreSaveContext;
class FDataValidationContext;
class FReferenceCollector;
class UWorld;
class UScriptStruct;
class UFunction;
struct FPropertyChangedEvent;
struct FPropertyChangedChainEvent;
struct FFrame;

// Source: MothCocoon/FlowGraph Source/Flow/Private/FlowAsset.cpp (Invalid, Valid), MothCocoon/FlowGraph
// Source/Flow/Public/Nodes/FlowNode.h (NotValidated)
enum class EDataValidationResult : uint8
{
    Invalid,
    Valid,
    NotValidated,
};
EDataValidationResult CombineDataValidationResults(EDataValidationResult A, EDataValidationResult B);

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/BlueprintNodes/DialogueK2Node_SwitchDialogueCallbackVariants.h
class FObjectInitializer
{
public:
    COREUOBJECT_API static const FObjectInitializer& Get();
    COREUOBJECT_API UObject* GetObj() const;
    template <class T>
    T* CreateDefaultSubobject(UObject* Outer, FName Name, bool bTransient = false) const;
    template <class T>
    const FObjectInitializer& SetDefaultSubobjectClass(FName) const
    {
        return *this;
    }
};

// Source: MothCocoon/FlowGraph Source/Flow/Private/FlowAsset.cpp
class COREUOBJECT_API UObject
{
public:
    typedef UObject ThisClass;
    static UClass* StaticClass();

    UObject();
    UObject(const FObjectInitializer&)
        : UObject()
    {
    }
    UObject(const UObject&) = delete;
    UObject& operator=(const UObject&) = delete;
    virtual ~UObject();

    UClass* GetClass() const { return ClassPrivate; }
    UObject* GetOuter() const { return OuterPrivate; }
    FString GetName() const { return NamePrivate.ToString(); }
    FName GetFName() const { return NamePrivate; }
    FString GetPathName(const UObject* StopOuter = nullptr) const;
    FString GetFullName(const UObject* StopOuter = nullptr) const;
    UPackage* GetPackage() const;
    UPackage* GetOutermost() const { return GetPackage(); }
    UObject* GetTypedOuter(UClass* Target) const;
    template <typename T>
    T* GetTypedOuter() const
    {
        return static_cast<T*>(GetTypedOuter(T::StaticClass()));
    }
    bool IsInOuter(const UObject* Some) const;
    bool IsIn(const UObject* Some) const { return IsInOuter(Some); }
    template <class T>
    bool IsA() const
    {
        return IsA(T::StaticClass());
    }
    bool IsA(const UClass* Some) const;
    template <class T>
    bool Implements() const
    {
        return ImplementsInterface(T::StaticClass());
    }
    bool ImplementsInterface(const UClass* Interface) const;

    EObjectFlags GetFlags() const { return ObjectFlags; }
    bool HasAnyFlags(EObjectFlags Some) const { return (ObjectFlags & Some) != RF_NoFlags; }
    bool HasAllFlags(EObjectFlags Some) const { return (ObjectFlags & Some) == Some; }
    void SetFlags(EObjectFlags Some) { ObjectFlags |= Some; }
    void ClearFlags(EObjectFlags Some) { ObjectFlags &= ~Some; }
    bool IsTemplate(EObjectFlags Some = RF_ArchetypeObject | RF_ClassDefaultObject) const;
    bool IsAsset() const;
    bool IsDefaultSubobject() const { return HasAnyFlags(RF_DefaultSubObject); }
    uint32 GetUniqueID() const { return static_cast<uint32>(StubPlace.Index); }
    void AddToRoot();
    void RemoveFromRoot();
    bool IsRooted() const { return bStubRooted; }
    void MarkAsGarbage();
    bool IsUnreachable() const { return false; }
    bool ConditionalBeginDestroy();
    bool IsValidLowLevel() const;

    virtual bool Modify(bool bAlwaysMarkDirty = true);
    bool MarkPackageDirty() const;
    virtual bool Rename(const TCHAR* NewName = nullptr, UObject* NewOuter = nullptr, ERenameFlags RenameFlags = REN_None);
    virtual void PostInitProperties() {}
    virtual void PostLoad() {}
    virtual void PostDuplicate(bool bDuplicateForPIE) {}
    virtual void PreSave(FObjectPreSaveContext SaveContext);
    virtual void BeginDestroy();
    virtual void FinishDestroy() {}
    virtual void Serialize(FArchive& Ar) {}
    virtual UWorld* GetWorld() const;
    virtual bool IsNameStableForNetworking() const { return false; }
#if WITH_EDITOR
    virtual void PreEditChange(FProperty* PropertyAboutToChange) {}
    virtual void PostEditChangeProperty(FPropertyChangedEvent& PropertyChangedEvent) {}
    virtual void PostEditChangeChainProperty(FPropertyChangedChainEvent& PropertyChangedEvent) {}
    virtual void PreEditUndo() {}
    virtual void PostEditUndo() {}
    virtual void PostEditImport() {}
    virtual bool CanEditChange(const FProperty* InProperty) const { return true; }
    virtual EDataValidationResult IsDataValid(FDataValidationContext& Context) const { return EDataValidationResult::NotValidated; }
    void PostEditChange();
#endif
    void SaveConfig(uint64 Flags = CPF_Config, const TCHAR* Filename = nullptr);
    void LoadConfig(UClass* ConfigClass = nullptr, const TCHAR* Filename = nullptr);
    void ReloadConfig(UClass* ConfigClass = nullptr, const TCHAR* Filename = nullptr);
    bool TryUpdateDefaultConfigFile(const FString& SpecificFileLocation = FString(), bool bWarnIfFail = true);
    FString GetDefaultConfigFilename() const;

    template <class T>
    T* CreateDefaultSubobject(FName SubobjectName, bool bTransient = false)
    {
        return FObjectInitializer::Get().CreateDefaultSubobject<T>(this, SubobjectName, bTransient);
    }

    /// The address of this object as the interface, for Cast<IThing>; made by the header tool's stand-in.
    virtual void* StubInterface(const UClass* Interface) { return nullptr; }
    StubEngine::FObjectPlace StubPlaceOf() const { return StubPlace; }
    /// What Blueprint would do when a BlueprintImplementableEvent fires: count it by name.
    TMap<FName, int32>& StubEvents() { return StubFired; }
    bool bStubRooted = false;
    bool bStubGarbage = false;

private:
    friend struct FStubObjects;
    UClass* ClassPrivate = nullptr;
    UObject* OuterPrivate = nullptr;
    FName NamePrivate;
    EObjectFlags ObjectFlags = RF_NoFlags;
    StubEngine::FObjectPlace StubPlace;
    TMap<FName, int32> StubFired;
};

inline bool IsValid(const UObject* Test)
{
    return Test != nullptr && StubEngine::ObjectAt(StubEngine::PlaceOf(Test)) != nullptr;
}
template <typename T>
bool IsValid(const TObjectPtr<T>& Test)
{
    return IsValid(static_cast<const UObject*>(Test.Get()));
}
inline bool IsValidChecked(const UObject* Test)
{
    return IsValid(Test);
}
inline FString GetNameSafe(const UObject* Object)
{
    return Object == nullptr ? FString(TEXT("None")) : Object->GetName();
}
inline FString GetPathNameSafe(const UObject* Object)
{
    return Object == nullptr ? FString(TEXT("None")) : Object->GetPathName();
}

/// The body of a class of the engine that has no .generated.h here.
#define STUB_CLASS_BODY(TClass, TSuper) \
public: \
    typedef TSuper Super; \
    typedef TClass ThisClass; \
    TClass() = default; \
    TClass(const FObjectInitializer&) \
        : TSuper() \
    { \
    } \
    static UClass* StaticClass() \
    { \
        static UClass* const Made = ::StubEngine::MakeClass<TClass>(TEXT(#TClass), TSuper::StaticClass()); \
        return Made; \
    }

#include "UObject/StubClass.h"
#include "UObject/StubGlobals.h"
