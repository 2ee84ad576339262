// FColor and FLinearColor.
// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgSystemSettings.h
#pragma once

#include "Containers/UnrealString.h"
#include "Math/UnrealMathUtility.h"

struct FLinearColor;

// Source: JonasReich/OpenUnrealUtilities Source/OUURuntime/Private/GameplayAbilities/Debug/GameplayDebuggerCategory_OUUAbilities.cpp
struct FColor
{
    uint8 B = 0, G = 0, R = 0, A = 0;
    FColor() = default;
    constexpr FColor(uint8 InR, uint8 InG, uint8 InB, uint8 InA = 255)
        : B(InB)
        , G(InG)
        , R(InR)
        , A(InA)
    {
    }
    FLinearColor ReinterpretAsLinear() const;
    CORE_API static FColor FromHex(const FString& Hex);
    FString ToHex() const { return FString::Printf(TEXT("%02X%02X%02X%02X"), R, G, B, A); }
    bool operator==(const FColor& C) const { return B == C.B && G == C.G && R == C.R && A == C.A; }
    bool operator!=(const FColor& C) const { return !(*this == C); }
    CORE_API static const FColor White, Black, Red, Green, Yellow;
};

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Graph/Nodes/FlowGraphNode.cpp (FLinearColor(r, g, b, a))
struct FLinearColor
{
    float R = 0, G = 0, B = 0, A = 0;
    FLinearColor() = default;
    constexpr FLinearColor(float InR, float InG, float InB, float InA = 1.0f)
        : R(InR)
        , G(InG)
        , B(InB)
        , A(InA)
    {
    }
    CORE_API FLinearColor(const FColor& Color);
    CORE_API FColor ToFColor(const bool bSRGB) const;
    bool operator==(const FLinearColor& C) const { return R == C.R && G == C.G && B == C.B && A == C.A; }
    bool operator!=(const FLinearColor& C) const { return !(*this == C); }
    FLinearColor CopyWithNewOpacity(float Opacity) const { return FLinearColor(R, G, B, Opacity); }
    CORE_API static const FLinearColor White, Gray, Black, Transparent, Red, Green, Blue, Yellow;
};
