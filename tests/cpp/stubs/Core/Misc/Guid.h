// FGuid.
// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowAsset.h, NotYetGames/DlgSystem Source/DlgSystem/DlgDialogue.h
#pragma once

#include "Containers/UnrealString.h"
#include "Templates/TypeHash.h"

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Search/DlgSearchUtilities.cpp
enum class EGuidFormats : uint8
{
    Digits,
    DigitsWithHyphens,
    DigitsWithHyphensLower,
};

// Source: MothCocoon/FlowGraph Source/Flow/Private/FlowAsset.cpp (FGuid::NewGuid(), IsValid, ToString)
struct FGuid
{
    uint32 A = 0, B = 0, C = 0, D = 0;
    CORE_API static FGuid NewGuid();
    bool IsValid() const { return (A | B | C | D) != 0; }
    void Invalidate() { A = B = C = D = 0; }
    FString ToString(EGuidFormats = EGuidFormats::Digits) const { return FString::Printf(TEXT("%08X%08X%08X%08X"), A, B, C, D); }
    friend bool operator==(const FGuid& X, const FGuid& Y) { return X.A == Y.A && X.B == Y.B && X.C == Y.C && X.D == Y.D; }
    friend bool operator!=(const FGuid& X, const FGuid& Y) { return !(X == Y); }
    friend uint32 GetTypeHash(const FGuid& X) { return X.A ^ X.B ^ X.C ^ X.D; }
};
