// Making, finding, copying and collecting objects.
// Source: MothCocoon/FlowGraph Source/Flow/Private/FlowSubsystem.cpp (NewObject), NotYetGames/DlgSystem
// Source/DlgSystem/DlgManager.cpp (LoadObject, FindObject)
#pragma once

#include "UObject/StubClass.h"

namespace StubEngine
{
/// Makes an object as StaticConstructObject_Internal does.
COREUOBJECT_API UObject* Construct(UClass* Class, UObject* Outer, FName Name, EObjectFlags Flags, UObject* Template);
COREUOBJECT_API UObject* Duplicate(const UObject* Source, UObject* Outer, FName Name);
/// Ends one object now, as the collector would: weak pointers to it are null afterwards.
COREUOBJECT_API void Destroy(UObject* Object);
/// Ends all objects but classes, their defaults and the transient package: between two tests.
COREUOBJECT_API void DestroyAll();
COREUOBJECT_API TArray<UObject*> AllObjects();
COREUOBJECT_API TArray<UClass*> AllClasses();
} // namespace StubEngine

COREUOBJECT_API UPackage* GetTransientPackage();
COREUOBJECT_API UPackage* CreatePackage(const TCHAR* PackageName);
COREUOBJECT_API UObject* StaticFindObject(UClass* Class, UObject* InOuter, const TCHAR* Name, bool bExactClass = false);
COREUOBJECT_API FName MakeUniqueObjectName(UObject* Outer, const UClass* Class, FName BaseName = NAME_None);
/// Objects that are referenced by nobody are gone afterwards. Roots: AddToRoot, RF_Standalone with GARBAGE_COLLECTION_KEEPFLAGS,
/// packages, classes, FGCObject; references: UPROPERTYs.
COREUOBJECT_API void CollectGarbage(EObjectFlags KeepFlags, bool bPerformFullPurge = true);
COREUOBJECT_API bool IsGarbageCollecting();
extern COREUOBJECT_API bool GIsEditor;
extern COREUOBJECT_API bool GIsPlayInEditorWorld;
#define GARBAGE_COLLECTION_KEEPFLAGS (GIsEditor ? RF_Standalone : RF_NoFlags)

template <class T>
T* NewObject(UObject* Outer, const UClass* Class, FName Name = NAME_None, EObjectFlags Flags = RF_NoFlags,
    UObject* Template = nullptr, bool bCopyTransientsFromClassDefaults = false)
{
    check(Class != nullptr && Class->IsChildOf(T::StaticClass()));
    return static_cast<T*>(StubEngine::Construct(const_cast<UClass*>(Class), Outer, Name, Flags, Template));
}
template <class T>
T* NewObject(UObject* Outer = static_cast<UObject*>(nullptr))
{
    return static_cast<T*>(StubEngine::Construct(T::StaticClass(), Outer, NAME_None, RF_NoFlags, nullptr));
}
template <class T>
T* NewObject(UObject* Outer, FName Name, EObjectFlags Flags = RF_NoFlags, UObject* Template = nullptr,
    bool bCopyTransientsFromClassDefaults = false)
{
    return static_cast<T*>(StubEngine::Construct(T::StaticClass(), Outer, Name, Flags, Template));
}
template <class T>
T* DuplicateObject(const T* Source, UObject* Outer, const FName Name = NAME_None)
{
    return Source == nullptr ? nullptr : static_cast<T*>(StubEngine::Duplicate(Source, Outer, Name));
}
template <class T>
T* FindObject(UObject* Outer, const TCHAR* Name, bool bExactClass = false)
{
    return static_cast<T*>(StaticFindObject(T::StaticClass(), Outer, Name, bExactClass));
}
template <class T>
T* LoadObject(UObject* Outer, const TCHAR* Name, const TCHAR* Filename = nullptr, uint32 LoadFlags = LOAD_None)
{
    return static_cast<T*>(StaticFindObject(T::StaticClass(), Outer, Name));
}
template <class T>
const T* GetDefault()
{
    return static_cast<const T*>(T::StaticClass()->GetDefaultObject());
}
template <class T>
T* GetMutableDefault()
{
    return static_cast<T*>(T::StaticClass()->GetDefaultObject());
}

template <class T>
T* FObjectInitializer::CreateDefaultSubobject(UObject* Outer, FName Name, bool) const
{
    return static_cast<T*>(StubEngine::Construct(T::StaticClass(), Outer, Name, RF_DefaultSubObject, nullptr));
}

// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgDialogue.h
class FReferenceCollector
{
public:
    explicit FReferenceCollector(StubEngine::FVisitor InVisitor)
        : Visitor(std::move(InVisitor))
    {
    }
    template <class T>
    void AddReferencedObject(T*& Object, const UObject* = nullptr)
    {
        UObject* Base = Object;
        Visitor(Base);
    }
    template <class T>
    void AddReferencedObject(TObjectPtr<T>& Object, const UObject* = nullptr)
    {
        UObject* Base = Object.Get();
        Visitor(Base);
    }
    template <class T>
    void AddReferencedObjects(TArray<TObjectPtr<T>>& Objects, const UObject* = nullptr)
    {
        for (TObjectPtr<T>& Object : Objects)
        {
            AddReferencedObject(Object);
        }
    }

private:
    StubEngine::FVisitor Visitor;
};

// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgSystemModule.cpp
struct COREUOBJECT_API FCoreUObjectDelegates
{
    static FSimpleMulticastDelegate& GetPreGarbageCollectDelegate();
    DECLARE_MULTICAST_DELEGATE_OneParam(FOnObjectModified, UObject*)
    static FOnObjectModified OnObjectModified;
    DECLARE_MULTICAST_DELEGATE_TwoParams(FOnObjectPropertyChanged, UObject*, FPropertyChangedEvent&)
    static FOnObjectPropertyChanged OnObjectPropertyChanged;
};

#include "Templates/Casts.h"
#include "Templates/SubclassOf.h"
