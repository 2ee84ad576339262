// The bodies of the stubs of CoreUObject and Engine: the table of objects, undo, collection, components and subsystems.
#include "Components/ActorComponent.h"
#include "Engine/Engine.h"
#include "Engine/GameInstance.h"
#include "GameFramework/Actor.h"
#include "Interfaces/IPluginManager.h"
#include "JsonObjectWrapper.h"
#include "Kismet/BlueprintAsyncActionBase.h"
#include "Serialization/JsonSerializer.h"
#include "Sound/SoundWaveProcedural.h"
#include "StubTransactions.h"
#include "UObject/GCObject.h"
#include "UObject/ObjectSaveContext.h"
#include "UObject/Package.h"
#include "UObject/UnrealType.h"

#include <mutex>
#include <map>
#include <set>
#include <unordered_set>

bool GIsEditor = WITH_EDITOR != 0;
bool GIsPlayInEditorWorld = false;
FSimpleMulticastDelegate& FCoreUObjectDelegates::GetPreGarbageCollectDelegate()
{
    static FSimpleMulticastDelegate Only;
    return Only;
}
FCoreUObjectDelegates::FOnObjectModified FCoreUObjectDelegates::OnObjectModified;
FCoreUObjectDelegates::FOnObjectPropertyChanged FCoreUObjectDelegates::OnObjectPropertyChanged;
UEngine* GEngine = nullptr;

/// Reaches what UObject keeps to itself.
struct FStubObjects
{
    struct FSlot
    {
        UObject* Object = nullptr;
        int32 Serial = 0;
    };
    struct FBeing
    {
        UClass* Class;
        UObject* Outer;
        FName Name;
        EObjectFlags Flags;
        UObject* Made = nullptr;
    };
    std::vector<FSlot> Slots;
    std::vector<FBeing> Being;
    std::vector<UClass*> Classes;
    std::set<FGCObject*> Holders;
    bool bCollecting = false;

    static FStubObjects& Get()
    {
        static auto* Only = new FStubObjects;
        return *Only;
    }
    void Enter(UObject* Object)
    {
        Object->StubPlace.Index = static_cast<int32>(Slots.size());
        Object->StubPlace.Serial = 1;
        Slots.push_back({Object, 1});
        if (!Being.empty() && Being.back().Made == nullptr)
        {
            FBeing& Now = Being.back();
            Now.Made = Object;
            Object->ClassPrivate = Now.Class;
            Object->OuterPrivate = Now.Outer;
            Object->NamePrivate = Now.Name;
            Object->ObjectFlags = Now.Flags;
        }
    }
    void Leave(UObject* Object) { Slots[static_cast<std::size_t>(Object->StubPlace.Index)].Object = nullptr; }
    static void Name(UObject* Object, UClass* Class, FName Called)
    {
        Object->ClassPrivate = Class;
        Object->NamePrivate = Called;
    }
    static void Move(UObject* Object, UObject* Outer) { Object->OuterPrivate = Outer; }
};

namespace StubEngine
{
FObjectPlace PlaceOf(const UObject* Object)
{
    return Object == nullptr ? FObjectPlace() : Object->StubPlaceOf();
}
UObject* ObjectAt(FObjectPlace Place)
{
    const FStubObjects& All = FStubObjects::Get();
    if (Place.Index < 0)
    {
        return nullptr;
    }
    UObject* Object = All.Slots[static_cast<std::size_t>(Place.Index)].Object;
    return Object == nullptr || Object->bStubGarbage ? nullptr : Object;
}
UClass* RegisterClass(const TCHAR* Name, UClass* Super, EClassFlags Flags, UObject* (*Construct)())
{
    UClass* Made = new UClass;
    FStubObjects::Name(Made, nullptr, FName(Name));
    Made->AddToRoot();
    Made->StubSuper = Super;
    Made->StubClassFlags = Flags;
    Made->StubConstruct = Construct;
    if (Super != nullptr)
    {
        Made->StubClassFlags |= Super->StubClassFlags & (CLASS_EditInlineNew | CLASS_DefaultToInstanced | CLASS_Config);
        Made->StubConfig = Super->StubConfig;
    }
    FStubObjects::Get().Classes.push_back(Made);
    return Made;
}
UScriptStruct* RegisterStruct(const TCHAR* Name, UScriptStruct* Super, std::size_t Size)
{
    UScriptStruct* Made = new UScriptStruct;
    FStubObjects::Name(Made, nullptr, FName(Name));
    Made->AddToRoot();
    Made->StubSuper = Super;
    Made->StubSize = static_cast<int32>(Size);
    return Made;
}
UEnum* RegisterEnum(const TCHAR* Name, std::initializer_list<std::pair<const TCHAR*, int64>> Names,
    std::initializer_list<std::pair<const TCHAR*, const TCHAR*>> Display)
{
    UEnum* Made = new UEnum;
    FStubObjects::Name(Made, nullptr, FName(Name));
    Made->AddToRoot();
    for (const auto& One : Names)
    {
        Made->StubNames.Add(TPair<FString, int64>(FString(One.first), One.second));
    }
    for (const auto& One : Display)
    {
        Made->StubDisplay.Add(FString(One.first), FString(One.second));
    }
    return Made;
}
void VisitStruct(UScriptStruct* Struct, void* Value, const FVisitor& Visitor)
{
    for (FProperty* Property : Struct->StubAllProperties())
    {
        Property->Ops->Visit(Property->StubValue(Value), Visitor);
    }
}
static void VisitObject(UObject* Object, const FVisitor& Visitor)
{
    if (Object->GetClass() == nullptr)
    {
        return;
    }
    for (FProperty* Property : Object->GetClass()->StubAllProperties())
    {
        Property->Ops->Visit(Property->StubValue(Object), Visitor);
    }
}
UObject* Construct(UClass* Class, UObject* Outer, FName Name, EObjectFlags Flags, UObject* Template)
{
    check(!Class->HasAnyClassFlags(CLASS_Abstract));
    check(Class->StubConstruct != nullptr);
    FStubObjects& All = FStubObjects::Get();
    if (Outer == nullptr)
    {
        Outer = GetTransientPackage();
    }
    if (Name.IsNone())
    {
        Name = MakeUniqueObjectName(Outer, Class);
    }
    else if (UObject* Old = StaticFindObject(UObject::StaticClass(), Outer, *Name.ToString()))
    {
        // The engine replaces one of the same class in place and ends the program for one of another.
        check(Old->GetClass() == Class);
        Destroy(Old);
    }
    All.Being.push_back({Class, Outer, Name, Flags});
    UObject* Made = Class->StubConstruct();
    check(All.Being.back().Made == Made);
    All.Being.pop_back();
    if (Template != nullptr)
    {
        for (FProperty* Property : Class->StubAllProperties())
        {
            Property->Ops->Assign(Property->StubValue(Made), Property->StubValue(Template));
        }
    }
    if (!(Flags & RF_ClassDefaultObject))
    {
        Made->PostInitProperties();
    }
    return Made;
}
UObject* Duplicate(const UObject* Source, UObject* Outer, FName Name)
{
    UObject* Original = const_cast<UObject*>(Source);
    const EObjectFlags Kept = Source->GetFlags() & ~(RF_DefaultSubObject | RF_ClassDefaultObject);
    UObject* Made = Construct(Source->GetClass(), Outer, Name, Kept, Original);
    std::map<UObject*, UObject*> Copies{{Original, Made}};
    const FVisitor Replace = [&](UObject*& Object)
    {
        if (Object == nullptr)
        {
            return;
        }
        const auto Found = Copies.find(Object);
        if (Found != Copies.end())
        {
            Object = Found->second;
        }
        else if (Object->IsInOuter(Original))
        {
            // What lies in the object is copied with it.
            UObject* Inner = Construct(Object->GetClass(), Copies[Object->GetOuter()] ? Copies[Object->GetOuter()] : Made,
                NAME_None, Object->GetFlags(), Object);
            Copies[Object] = Inner;
            Object = Inner;
            VisitObject(Inner, Replace);
        }
    };
    VisitObject(Made, Replace);
    Made->PostDuplicate(false);
    return Made;
}
void Destroy(UObject* Object)
{
    if (!Object->HasAnyFlags(RF_BeginDestroyed))
    {
        Object->ConditionalBeginDestroy();
    }
    Object->FinishDestroy();
    delete Object;
}
void DestroyAll()
{
    for (UObject* Object : AllObjects())
    {
        if (!Object->HasAnyFlags(RF_ClassDefaultObject) && Object != GetTransientPackage() && ObjectAt(PlaceOf(Object)) == Object)
        {
            Destroy(Object);
        }
    }
    Transactions() = FTransactions();
}
TArray<UObject*> AllObjects()
{
    TArray<UObject*> Found;
    for (const FStubObjects::FSlot& Slot : FStubObjects::Get().Slots)
    {
        // Classes, structs and enums are objects without a class here.
        if (Slot.Object != nullptr && Slot.Object->GetClass() != nullptr)
        {
            Found.Add(Slot.Object);
        }
    }
    return Found;
}
TArray<UClass*> AllClasses()
{
    TArray<UClass*> Found;
    for (UClass* Class : FStubObjects::Get().Classes)
    {
        Found.Add(Class);
    }
    return Found;
}

FTransactions& Transactions()
{
    static FTransactions Only;
    return Only;
}
static TArray<std::shared_ptr<void>> Save(UObject* Object)
{
    TArray<std::shared_ptr<void>> Values;
    for (FProperty* Property : Object->GetClass()->StubAllProperties())
    {
        Values.Add(Property->Ops->Copy(Property->StubValue(Object)));
    }
    return Values;
}
int32 FTransactions::Begin(const FText& Title)
{
    if (Depth++ == 0)
    {
        Open = FTransaction();
        Open.Title = Title;
        ++Begun;
    }
    Deepest = FMath::Max(Deepest, Depth);
    return Depth - 1;
}
void FTransactions::End()
{
    check(Depth > 0);
    if (--Depth == 0 && !bCancelled)
    {
        // The engine keeps no transaction that changed nothing.
        if (!Open.Records.IsEmpty())
        {
            Done.Add(Open);
            Undone.Reset();
        }
    }
    if (Depth == 0)
    {
        bCancelled = false;
    }
}
void FTransactions::Cancel()
{
    bCancelled = true;
}
void FTransactions::Record(UObject* Object)
{
    const bool bThere =
        Open.Records.ContainsByPredicate([Object](const FRecord& One) { return One.Object.Get() == Object; });
    if (Depth > 0 && !bThere)
    {
        Open.Records.Add({Object, Save(Object)});
    }
}
static void Swap(FTransaction& Transaction)
{
    for (FRecord& Record : Transaction.Records)
    {
        UObject* Object = Record.Object.Get();
        if (Object == nullptr)
        {
            continue;
        }
#if WITH_EDITOR
        Object->PreEditUndo();
#endif
        const TArray<std::shared_ptr<void>> Now = Save(Object);
        const TArray<FProperty*> Properties = Object->GetClass()->StubAllProperties();
        for (int32 Index = 0; Index < Properties.Num(); ++Index)
        {
            Properties[Index]->Ops->Assign(Properties[Index]->StubValue(Object), Record.Before[Index].get());
        }
        Record.Before = Now;
    }
#if WITH_EDITOR
    for (FRecord& Record : Transaction.Records)
    {
        if (UObject* Object = Record.Object.Get())
        {
            Object->PostEditUndo();
        }
    }
#endif
}
bool FTransactions::Undo()
{
    if (Done.IsEmpty() || Depth > 0)
    {
        return false;
    }
    FTransaction Last = Done.Pop();
    StubEngine::Swap(Last);
    Undone.Add(Last);
    for (const TFunction<void(bool)>& One : Listeners)
    {
        One(true);
    }
    return true;
}
bool FTransactions::Redo()
{
    if (Undone.IsEmpty() || Depth > 0)
    {
        return false;
    }
    FTransaction Last = Undone.Pop();
    StubEngine::Swap(Last);
    Done.Add(Last);
    for (const TFunction<void(bool)>& One : Listeners)
    {
        One(false);
    }
    return true;
}
} // namespace StubEngine

FProperty* UStruct::StubAdd(const TCHAR* InName, const TCHAR* Type, uint64 InFlags, std::size_t Offset,
    const StubEngine::FPropertyOps* Ops, std::initializer_list<std::pair<const TCHAR*, const TCHAR*>> Meta)
{
    FProperty* Made = new FProperty;
    Made->Name = FName(InName);
    Made->Type = Type;
    Made->Flags = InFlags;
    Made->Offset = Offset;
    Made->Owner = this;
    Made->Ops = Ops;
    for (const auto& One : Meta)
    {
        Made->Meta.Add(FString(One.first), FString(One.second));
    }
    StubProperties.Add(Made);
    return Made;
}
TArray<FProperty*> UStruct::StubAllProperties() const
{
    TArray<FProperty*> All;
    for (const UStruct* One = this; One != nullptr; One = One->StubSuper)
    {
        All.Append(One->StubProperties);
    }
    return All;
}
UObject* UClass::GetDefaultObject(bool bCreateIfNeeded) const
{
    if (StubDefault == nullptr && bCreateIfNeeded && StubConstruct != nullptr)
    {
        UClass* This = const_cast<UClass*>(this);
        FStubObjects& All = FStubObjects::Get();
        All.Being.push_back({This, GetTransientPackage(), FName(TEXT("Default__") + GetName()), RF_ClassDefaultObject});
        StubDefault = StubConstruct();
        All.Being.pop_back();
        StubDefault->AddToRoot();
        StubDefault->PostInitProperties();
    }
    return StubDefault;
}
UClass* UObject::StaticClass()
{
    static UClass* const Made =
        StubEngine::RegisterClass(TEXT("Object"), nullptr, CLASS_None, [] { return new UObject(); });
    return Made;
}
UObject::UObject()
{
    FStubObjects::Get().Enter(this);
}
UObject::~UObject()
{
    FStubObjects::Get().Leave(this);
}
FString UObject::GetPathName(const UObject* StopOuter) const
{
    if (OuterPrivate == nullptr || OuterPrivate == StopOuter)
    {
        return GetName();
    }
    const bool bInPackage = OuterPrivate->GetOuter() == nullptr;
    return OuterPrivate->GetPathName(StopOuter) + (bInPackage ? TEXT(".") : TEXT(":")) + GetName();
}
FString UObject::GetFullName(const UObject* StopOuter) const
{
    return GetClass()->GetName() + TEXT(" ") + GetPathName(StopOuter);
}
UPackage* UObject::GetPackage() const
{
    const UObject* Top = this;
    while (Top->OuterPrivate != nullptr)
    {
        Top = Top->OuterPrivate;
    }
    return Cast<UPackage>(Top);
}
UObject* UObject::GetTypedOuter(UClass* Target) const
{
    for (UObject* One = OuterPrivate; One != nullptr; One = One->OuterPrivate)
    {
        if (One->IsA(Target))
        {
            return One;
        }
    }
    return nullptr;
}
bool UObject::IsInOuter(const UObject* Some) const
{
    for (const UObject* One = OuterPrivate; One != nullptr; One = One->OuterPrivate)
    {
        if (One == Some)
        {
            return true;
        }
    }
    return false;
}
bool UObject::IsA(const UClass* Some) const
{
    return ClassPrivate != nullptr && ClassPrivate->IsChildOf(Some);
}
bool UObject::ImplementsInterface(const UClass* Interface) const
{
    return ClassPrivate != nullptr && ClassPrivate->ImplementsInterface(Interface);
}
bool UObject::IsTemplate(EObjectFlags Some) const
{
    for (const UObject* One = this; One != nullptr; One = One->OuterPrivate)
    {
        if (One->HasAnyFlags(Some))
        {
            return true;
        }
    }
    return false;
}
bool UObject::IsAsset() const
{
    return OuterPrivate != nullptr && OuterPrivate->GetOuter() == nullptr && HasAnyFlags(RF_Public) && !HasAnyFlags(RF_Transient);
}
void UObject::AddToRoot()
{
    bStubRooted = true;
}
void UObject::RemoveFromRoot()
{
    bStubRooted = false;
}
void UObject::MarkAsGarbage()
{
    bStubGarbage = true;
}
bool UObject::ConditionalBeginDestroy()
{
    if (HasAnyFlags(RF_BeginDestroyed))
    {
        return false;
    }
    SetFlags(RF_BeginDestroyed);
    BeginDestroy();
    return true;
}
void UObject::BeginDestroy() {}
bool UObject::IsValidLowLevel() const
{
    return true;
}
bool UObject::Modify(bool bAlwaysMarkDirty)
{
    bool bSaved = false;
    // As in the engine: what is not transactional is not kept for undo, silently.
    if (GIsEditor && HasAnyFlags(RF_Transactional) && StubEngine::Transactions().Depth > 0)
    {
        StubEngine::Transactions().Record(this);
        bSaved = true;
    }
    else if (StubEngine::Transactions().Depth > 0)
    {
        StubEngine::Transactions().NotTransactional.Add(GetName());
    }
    if (bAlwaysMarkDirty)
    {
        MarkPackageDirty();
    }
    FCoreUObjectDelegates::OnObjectModified.Broadcast(this);
    return bSaved;
}
bool UObject::MarkPackageDirty() const
{
    UPackage* Package = GetPackage();
    if (Package == nullptr || HasAnyFlags(RF_Transient))
    {
        return false;
    }
    Package->SetDirtyFlag(true);
    return true;
}
bool UObject::Rename(const TCHAR* NewName, UObject* NewOuter, ERenameFlags)
{
    if (NewOuter != nullptr)
    {
        FStubObjects::Move(this, NewOuter);
    }
    if (NewName != nullptr)
    {
        NamePrivate = FName(NewName);
    }
    else if (StaticFindObject(UObject::StaticClass(), OuterPrivate, *GetName()) != this)
    {
        NamePrivate = MakeUniqueObjectName(OuterPrivate, ClassPrivate);
    }
    return true;
}
void UObject::PreSave(FObjectPreSaveContext) {}
UWorld* UObject::GetWorld() const
{
    return OuterPrivate == nullptr ? nullptr : OuterPrivate->GetWorld();
}
#if WITH_EDITOR
void UObject::PostEditChange()
{
    FPropertyChangedEvent Event(nullptr);
    PostEditChangeProperty(Event);
}
#endif
void UObject::SaveConfig(uint64, const TCHAR*)
{
    ++StubFired.FindOrAdd(FName(TEXT("SaveConfig")));
}
void UObject::LoadConfig(UClass*, const TCHAR*) {}
void UObject::ReloadConfig(UClass*, const TCHAR*) {}
bool UObject::TryUpdateDefaultConfigFile(const FString&, bool)
{
    ++StubFired.FindOrAdd(FName(TEXT("TryUpdateDefaultConfigFile")));
    return true;
}
FString UObject::GetDefaultConfigFilename() const
{
    return TEXT("Config/Default") + GetClass()->StubConfig + TEXT(".ini");
}
const FObjectInitializer& FObjectInitializer::Get()
{
    static const FObjectInitializer Only;
    return Only;
}
UObject* FObjectInitializer::GetObj() const
{
    return FStubObjects::Get().Being.empty() ? nullptr : FStubObjects::Get().Being.back().Made;
}
EDataValidationResult CombineDataValidationResults(EDataValidationResult A, EDataValidationResult B)
{
    if (A == EDataValidationResult::Invalid || B == EDataValidationResult::Invalid)
    {
        return EDataValidationResult::Invalid;
    }
    return A == EDataValidationResult::Valid || B == EDataValidationResult::Valid ? EDataValidationResult::Valid
                                                                                  : EDataValidationResult::NotValidated;
}
static UPackage* NewPackage(const FString& Name)
{
    FStubObjects& All = FStubObjects::Get();
    All.Being.push_back({UPackage::StaticClass(), nullptr, FName(Name), RF_Public});
    UPackage* Made = new UPackage;
    All.Being.pop_back();
    Made->AddToRoot();
    return Made;
}
UPackage* GetTransientPackage()
{
    static UPackage* const Only = NewPackage(TEXT("/Engine/Transient"));
    return Only;
}
UPackage* CreatePackage(const TCHAR* PackageName)
{
    UPackage* Found = FindObject<UPackage>(nullptr, PackageName);
    return Found == nullptr ? NewPackage(PackageName) : Found;
}
UObject* StaticFindObject(UClass* Class, UObject* InOuter, const TCHAR* Name, bool)
{
    const FString Wanted(Name);
    for (UObject* Object : StubEngine::AllObjects())
    {
        const bool bFits = InOuter == nullptr ? Object->GetPathName() == Wanted : Object->GetOuter() == InOuter && Object->GetName() == Wanted;
        if (bFits && Object->IsA(Class) && !Object->bStubGarbage)
        {
            return Object;
        }
    }
    return nullptr;
}
FName MakeUniqueObjectName(UObject* Outer, const UClass* Class, FName BaseName)
{
    static TMap<FString, int32> Last;
    const FString Base = BaseName.IsNone() ? Class->GetName() : BaseName.ToString();
    for (;;)
    {
        const FString Name = FString::Printf(TEXT("%s_%d"), *Base, Last.FindOrAdd(Base)++);
        if (StaticFindObject(UObject::StaticClass(), Outer, *Name) == nullptr)
        {
            return FName(Name);
        }
    }
}
bool IsGarbageCollecting()
{
    return FStubObjects::Get().bCollecting;
}
void CollectGarbage(EObjectFlags KeepFlags, bool)
{
    FStubObjects& All = FStubObjects::Get();
    FCoreUObjectDelegates::GetPreGarbageCollectDelegate().Broadcast();
    All.bCollecting = true;
    std::unordered_set<UObject*> Reached;
    std::vector<UObject*> Next;
    const StubEngine::FVisitor Reach = [&](UObject*& Object)
    {
        if (Object != nullptr && !Object->bStubGarbage && Reached.insert(Object).second)
        {
            Next.push_back(Object);
        }
    };
    for (UObject* Object : StubEngine::AllObjects())
    {
        if (Object->IsRooted() || Object->HasAnyFlags(KeepFlags) || Object == GEngine)
        {
            Reach(Object);
        }
    }
    for (FGCObject* Holder : All.Holders)
    {
        FReferenceCollector Collector(Reach);
        Holder->AddReferencedObjects(Collector);
    }
    // What undo could bring back is kept, as the engine's buffer does.
    for (const TArray<StubEngine::FTransaction>* List : {&StubEngine::Transactions().Done, &StubEngine::Transactions().Undone})
    {
        for (const StubEngine::FTransaction& One : *List)
        {
            for (const StubEngine::FRecord& Record : One.Records)
            {
                UObject* Object = Record.Object.Get();
                Reach(Object);
                if (Object == nullptr)
                {
                    continue;
                }
                const TArray<FProperty*> Properties = Object->GetClass()->StubAllProperties();
                for (int32 Index = 0; Index < Properties.Num(); ++Index)
                {
                    Properties[Index]->Ops->Visit(Record.Before[Index].get(), Reach);
                }
            }
        }
    }
    while (!Next.empty())
    {
        UObject* Object = Next.back();
        Next.pop_back();
        UObject* Outer = Object->GetOuter();
        Reach(Outer);
        StubEngine::VisitObject(Object, Reach);
        if (Object->IsA(UGameInstance::StaticClass()))
        {
            for (const TObjectPtr<USubsystem>& Subsystem : static_cast<UGameInstance*>(Object)->StubSubsystems)
            {
                UObject* Held = Subsystem.Get();
                Reach(Held);
            }
        }
        if (Object->IsA(AActor::StaticClass()))
        {
            // An actor owns its components.
            for (UObject* Part : StubEngine::AllObjects())
            {
                if (Part->GetOuter() == Object && Part->IsA(UActorComponent::StaticClass()))
                {
                    Reach(Part);
                }
            }
        }
    }
    TArray<UObject*> Gone;
    for (UObject* Object : StubEngine::AllObjects())
    {
        if (Reached.count(Object) == 0)
        {
            Gone.Add(Object);
        }
    }
    for (UObject* Object : Gone)
    {
        Object->bStubGarbage = true; // weak pointers see it before any of them is ended
    }
    for (UObject* Object : Gone)
    {
        Object->ConditionalBeginDestroy();
    }
    for (UObject* Object : Gone)
    {
        StubEngine::Destroy(Object);
    }
    All.bCollecting = false;
}
FGCObject::FGCObject()
{
    FStubObjects::Get().Holders.insert(this);
}
FGCObject::FGCObject(const FGCObject&)
    : FGCObject()
{
}
FGCObject::~FGCObject()
{
    FStubObjects::Get().Holders.erase(this);
}

// ---- Engine

AActor* UActorComponent::GetOwner() const
{
    return GetTypedOuter<AActor>();
}
UWorld* UActorComponent::GetWorld() const
{
    return GetOwner() == nullptr ? nullptr : GetOwner()->GetWorld();
}
void UActorComponent::RegisterComponent()
{
    bStubRegistered = true;
    OnRegister();
    if (bAutoActivate && !IsActive())
    {
        Activate(true);
    }
    if (bWantsInitializeComponent)
    {
        InitializeComponent();
    }
    if (GetOwner() != nullptr && GetOwner()->HasActorBegunPlay() && !HasBegunPlay())
    {
        BeginPlay();
    }
}
void UActorComponent::DestroyComponent(bool)
{
    if (HasBegunPlay())
    {
        EndPlay(EEndPlayReason::Destroyed);
    }
    if (bStubRegistered)
    {
        bStubRegistered = false;
        OnUnregister();
    }
    OnComponentDestroyed(false);
    MarkAsGarbage();
}
UGameInstance* AActor::GetGameInstance() const
{
    return GetWorld() == nullptr ? nullptr : GetWorld()->GetGameInstance();
}
static TArray<UActorComponent*> PartsOf(AActor* Actor)
{
    TArray<UActorComponent*> Parts;
    Actor->GetComponents<UActorComponent>(Parts);
    return Parts;
}
void AActor::StubBegin()
{
    for (UActorComponent* Part : PartsOf(this))
    {
        if (!Part->IsRegistered())
        {
            Part->RegisterComponent();
        }
    }
    PostInitializeComponents();
    for (UActorComponent* Part : PartsOf(this))
    {
        if (!Part->HasBegunPlay())
        {
            Part->StubBegin();
        }
    }
    BeginPlay();
}
void AActor::StubEnd(EEndPlayReason::Type Reason)
{
    EndPlay(Reason);
    for (UActorComponent* Part : PartsOf(this))
    {
        if (Part->HasBegunPlay())
        {
            Part->StubEnd(Reason);
        }
    }
}
bool AActor::Destroy(bool, bool)
{
    StubEnd(EEndPlayReason::Destroyed);
    for (UActorComponent* Part : PartsOf(this))
    {
        Part->DestroyComponent();
    }
    MarkAsGarbage();
    return true;
}
UGameInstance* UGameInstanceSubsystem::GetGameInstance() const
{
    return Cast<UGameInstance>(static_cast<const UObject*>(GetOuter()));
}
USubsystem* UGameInstance::StubSubsystem(UClass* Class)
{
    for (const TObjectPtr<USubsystem>& One : StubSubsystems)
    {
        if (One->IsA(Class))
        {
            return One;
        }
    }
    USubsystem* Default = Class->GetDefaultObject<USubsystem>();
    if (bStubShut || Default == nullptr || !Default->ShouldCreateSubsystem(this))
    {
        return nullptr;
    }
    USubsystem* Made = NewObject<USubsystem>(this, Class);
    StubSubsystems.Add(Made);
    FSubsystemCollectionBase Collection;
    Made->Initialize(Collection);
    return Made;
}
void UGameInstance::StubShutdown()
{
    Shutdown();
    bStubShut = true;
    while (!StubSubsystems.IsEmpty())
    {
        USubsystem* Last = StubSubsystems.Pop();
        Last->Deinitialize();
    }
}
void UBlueprintAsyncActionBase::StubRegister(const UObject* WorldContextObject)
{
    UWorld* World = WorldContextObject == nullptr ? nullptr : WorldContextObject->GetWorld();
    RegisterWithGameInstance(World == nullptr ? nullptr : World->GetGameInstance());
}
void UBlueprintAsyncActionBase::RegisterWithGameInstance(UGameInstance* GameInstance)
{
    StubRegisteredWith = GameInstance;
    if (GameInstance != nullptr)
    {
        AddToRoot(); // the game instance holds it until SetReadyToDestroy
    }
}
void USoundWaveProcedural::QueueAudio(const uint8* AudioData, const int32 BufferSize)
{
    check(BufferSize % 2 == 0);
    StubQueued.Append(AudioData, BufferSize);
}
int32 USoundWaveProcedural::GeneratePCMData(uint8* PCMData, const int32 SamplesNeeded)
{
    const int32 Wanted = SamplesNeeded * 2;
    if (StubQueued.Num() < Wanted)
    {
        OnSoundWaveProceduralUnderflow.ExecuteIfBound(this, SamplesNeeded);
    }
    const int32 Many = FMath::Min(Wanted, StubQueued.Num());
    std::memcpy(PCMData, StubQueued.GetData(), static_cast<std::size_t>(Many));
    StubQueued.RemoveAt(0, Many);
    return Many;
}
TArray<uint8> USoundWaveProcedural::StubTake(int32 Samples)
{
    TArray<uint8> Out;
    Out.SetNumZeroed(Samples * 2);
    const int32 Many = GeneratePCMData(Out.GetData(), Samples);
    Out.SetNum(Many);
    return Out;
}
IPluginManager& IPluginManager::Get()
{
    static IPluginManager Only;
    return Only;
}
UScriptStruct* FJsonObjectWrapper::StaticStruct()
{
    static UScriptStruct* const Made = StubEngine::RegisterStruct(TEXT("JsonObjectWrapper"), nullptr, sizeof(FJsonObjectWrapper));
    return Made;
}
bool FJsonObjectWrapper::JsonObjectToString(FString& Str) const
{
    const TSharedRef<TJsonWriter<TCHAR, TPrettyJsonPrintPolicy<TCHAR>>> Writer = TJsonWriterFactory<>::Create(&Str);
    return JsonObject.IsValid() && FJsonSerializer::Serialize(JsonObject.ToSharedRef(), Writer);
}
bool FJsonObjectWrapper::JsonObjectFromString(const FString& Str)
{
    return FJsonSerializer::Deserialize(TJsonReaderFactory<>::Create(Str), JsonObject);
}
