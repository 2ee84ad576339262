// SButton.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/IonLoginPanel.cpp
#pragma once

#include "Input/Reply.h"
#include "Widgets/DeclarativeSyntaxSupport.h"

DECLARE_DELEGATE_RetVal(FReply, FOnClicked)

// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Slate/Widgets/Input/SButton/FArguments?application_version=5.0
// (ClickMethod, HAlign), CesiumGS/cesium-unreal Source/CesiumEditor/Private/IonLoginPanel.cpp (OnClicked, Text)
class SButton : public SWidget
{
public:
    SLATE_BEGIN_ARGS(SButton) {}
        SLATE_DEFAULT_SLOT(FArguments, Content)
        SLATE_ARGUMENT(EHorizontalAlignment, HAlign)
        SLATE_ARGUMENT(EVerticalAlignment, VAlign)
        SLATE_ATTRIBUTE(FText, Text)
        SLATE_EVENT(FOnClicked, OnClicked)
        SLATE_ARGUMENT(EButtonClickMethod::Type, ClickMethod)
    SLATE_END_ARGS()
    void Construct(const FArguments& InArgs) { StubChildren.Add(InArgs._Content); }
    /// As a person does: nothing where it is not enabled.
    void StubClick()
    {
        if (IsEnabled() && StubArgs._OnClicked.IsBound())
        {
            StubArgs._OnClicked.Execute();
        }
    }
    FText StubText() const { return StubArgs._Text.Get(); }
};
