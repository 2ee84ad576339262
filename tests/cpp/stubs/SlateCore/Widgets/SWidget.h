// SWidget. Nothing is drawn: a test walks StubChildren and calls what the widgets kept.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Public/Graph/Widgets/SFlowPalette.h
#pragma once

#include "Layout/Geometry.h"
#include "Layout/Margin.h"
#include "Layout/Visibility.h"
#include "Misc/Attribute.h"
#include "Styling/SlateColor.h"
#include "Types/SlateEnums.h"

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Graph/Widgets/SFlowGraphNode.cpp
class SWidget : public TSharedFromThis<SWidget>
{
public:
    virtual ~SWidget() = default;
    virtual void Tick(const FGeometry& AllottedGeometry, const double InCurrentTime, const float InDeltaTime) {}
    void SetVisibility(TAttribute<EVisibility> InVisibility) { StubVisibility = InVisibility; }
    EVisibility GetVisibility() const { return StubVisibility.Get(EVisibility::Visible); }
    void SetEnabled(const TAttribute<bool>& InEnabled) { StubEnabled = InEnabled; }
    bool IsEnabled() const { return StubEnabled.Get(true); }
    void SetToolTipText(const TAttribute<FText>& InText) { StubToolTip = InText; }
    void SetCanTick(bool bInCanTick) { bStubCanTick = bInCanTick; }
    bool HasKeyboardFocus() const { return false; }
    /// What it is, as SNew was told.
    FString StubType;
    TArray<TSharedPtr<SWidget>> StubChildren;
    TAttribute<EVisibility> StubVisibility;
    TAttribute<bool> StubEnabled;
    TAttribute<FText> StubToolTip;
    bool bStubCanTick = true;
    /// Every widget below, itself first.
    void StubWalk(const TFunction<void(SWidget&)>& Visit)
    {
        Visit(*this);
        const TArray<TSharedPtr<SWidget>> Kept = StubChildren;
        for (const TSharedPtr<SWidget>& Child : Kept)
        {
            if (Child.IsValid())
            {
                Child->StubWalk(Visit);
            }
        }
    }
    /// All of a kind below, in the order in which they are drawn.
    template <typename W>
    TArray<W*> StubFind(const TCHAR* Type)
    {
        TArray<W*> Found;
        StubWalk(
            [&Found, Type](SWidget& Widget)
            {
                if (Widget.StubType == FString(Type))
                {
                    Found.Add(static_cast<W*>(&Widget));
                }
            });
        return Found;
    }
};
