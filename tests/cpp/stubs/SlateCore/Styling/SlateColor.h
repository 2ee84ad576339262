// FSlateColor.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Graph/Widgets/SFlowGraphNode.cpp, NotYetGames/DlgSystem
// Source/DlgSystemEditor/Browser/SDlgBrowser.cpp
#pragma once

#include "Types/SlateEnums.h"

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Graph/Widgets/SFlowGraphNode.cpp (FSlateColor::UseForeground())
struct FSlateColor
{
    FSlateColor() = default;
    FSlateColor(const FLinearColor& InColor)
        : Color(InColor)
    {
    }
    static FSlateColor UseForeground()
    {
        FSlateColor Made;
        Made.bForeground = true;
        return Made;
    }
    static FSlateColor UseSubduedForeground() { return UseForeground(); }
    FLinearColor GetSpecifiedColor() const { return Color; }
    bool IsColorSpecified() const { return !bForeground; }
    bool operator==(const FSlateColor& Other) const { return Color == Other.Color && bForeground == Other.bForeground; }

private:
    FLinearColor Color = FLinearColor(1, 0, 1);
    bool bForeground = false;
};
