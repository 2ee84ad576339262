// FName: compared without regard to case.
// Source: MothCocoon/FlowGraph Source/Flow/Private/FlowAsset.cpp, NotYetGames/DlgSystem Source/DlgSystem/DlgMemory.cpp
#pragma once

#include "Containers/UnrealString.h"

// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgDialogue.cpp (its value NAME_None)
enum EName
{
    NAME_None = 0,
};

// Source: unrealcv/unrealcv Source/UnrealCV/Private/Commands/AliasHandler.cpp (FNAME_Find)
enum EFindName
{
    FNAME_Find,
    FNAME_Add,
};

// Source: MothCocoon/FlowGraph Source/Flow/Private/FlowAsset.cpp
class FName
{
public:
    FName() = default;
    FName(EName) {}
    FName(const TCHAR* Name)
        : FName(FString(Name))
    {
    }
    FName(const ANSICHAR* Name)
        : FName(FString(Name))
    {
    }
    explicit FName(const FString& Name)
        : Text(Name == TEXT("None") ? FString() : Name)
    {
    }
    FName(const TCHAR* Name, EFindName)
        : FName(FString(Name))
    {
    }
    FString ToString() const { return Text.IsEmpty() ? FString(TEXT("None")) : Text; }
    void ToString(FString& Out) const { Out = ToString(); }
    bool IsNone() const { return Text.IsEmpty(); }
    bool IsValid() const { return true; }
    bool LexicalLess(const FName& Other) const { return Text < Other.Text; }
    int32 Compare(const FName& Other) const { return Text.Compare(Other.Text, ESearchCase::IgnoreCase); }
    bool FastLess(const FName& Other) const { return Text < Other.Text; }
    bool operator==(const FName& Other) const { return Text == Other.Text; }
    bool operator!=(const FName& Other) const { return Text != Other.Text; }
    friend bool operator==(const FName& A, const TCHAR* B) { return A == FName(B); }
    friend bool operator==(const FName& A, EName) { return A.IsNone(); }
    friend bool operator!=(const FName& A, EName) { return !A.IsNone(); }
    friend uint32 GetTypeHash(const FName& Name) { return GetTypeHash(Name.Text); }

private:
    FString Text;
};

inline FString LexToString(const FName& Name)
{
    return Name.ToString();
}
