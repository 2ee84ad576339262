// Kinds of properties, and the event of a change.
// Source: NotYetGames/DlgSystem Source/DlgSystem/NYReflectionHelper.h, MothCocoon/FlowGraph Source/Flow/Private/Nodes/FlowNode.cpp
// (PostEditChangeProperty)
#pragma once

#include "UObject/Class.h"
#include "UObject/Object.h"

// Source: NotYetGames/DlgSystem Source/DlgSystem/IO/DlgConfigWriter.cpp
template <class T>
class TFieldIterator
{
public:
    explicit TFieldIterator(const UStruct* Struct)
        : All(Struct->StubAllProperties())
    {
    }
    explicit operator bool() const { return At < All.Num(); }
    TFieldIterator& operator++()
    {
        ++At;
        return *this;
    }
    T* operator*() const { return static_cast<T*>(All[At]); }
    T* operator->() const { return static_cast<T*>(All[At]); }

private:
    TArray<FProperty*> All;
    int32 At = 0;
};

// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Private/VoxelInstancedStructDetailsWrapper.cpp
namespace EPropertyChangeType
{
typedef uint32 Type;
const Type Unspecified = 1 << 0;
const Type ArrayAdd = 1 << 1;
const Type ArrayRemove = 1 << 2;
const Type ArrayClear = 1 << 3;
const Type ValueSet = 1 << 4;
const Type Duplicate = 1 << 5;
const Type Interactive = 1 << 6;
const Type Redirected = 1 << 7;
const Type ToggleEditable = 1 << 8;
const Type ArrayMove = 1 << 9;
} // namespace EPropertyChangeType

// Source: MothCocoon/FlowGraph Source/Flow/Private/Nodes/FlowNode.cpp (PropertyChangedEvent.Property)
struct FPropertyChangedEvent
{
    FPropertyChangedEvent(FProperty* InProperty, EPropertyChangeType::Type InChangeType = EPropertyChangeType::Unspecified,
        TArrayView<const UObject* const> = TArrayView<const UObject* const>())
        : Property(InProperty)
        , MemberProperty(InProperty)
        , ChangeType(InChangeType)
    {
    }
    FName GetPropertyName() const { return Property == nullptr ? FName() : Property->GetFName(); }
    FName GetMemberPropertyName() const { return MemberProperty == nullptr ? FName() : MemberProperty->GetFName(); }
    FProperty* Property;
    FProperty* MemberProperty;
    EPropertyChangeType::Type ChangeType;
};

template <class T>
T* FindFProperty(const UStruct* Owner, FName Name)
{
    return static_cast<T*>(Owner->FindPropertyByName(Name));
}

// As in the engine: does not compile where there is no such member.
#define GET_MEMBER_NAME_CHECKED(ClassName, MemberName) ((void)sizeof(&ClassName::MemberName), FName(TEXT(#MemberName)))
#define GET_MEMBER_NAME_STRING_CHECKED(ClassName, MemberName) ((void)sizeof(&ClassName::MemberName), TEXT(#MemberName))
