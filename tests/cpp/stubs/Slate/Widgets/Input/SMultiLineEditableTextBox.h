// SMultiLineEditableTextBox.
// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Search/SDlgFindInDialogues.cpp, CesiumGS/cesium-unreal
// Source/CesiumEditor/Private/IonLoginPanel.cpp
#pragma once

#include "Fonts/SlateFontInfo.h"
#include "Styling/SlateColor.h"
#include "Types/StubTextDelegates.h"

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumVoxelShaderBuilder.h
class SMultiLineEditableTextBox : public SWidget
{
public:
    SLATE_BEGIN_ARGS(SMultiLineEditableTextBox) {}
        SLATE_ATTRIBUTE(FText, Text)
        SLATE_ATTRIBUTE(FText, HintText)
        SLATE_ATTRIBUTE(FSlateFontInfo, Font)
        SLATE_ATTRIBUTE(bool, IsReadOnly)
        SLATE_ATTRIBUTE(bool, SelectAllTextWhenFocused)
        SLATE_ATTRIBUTE(bool, ClearKeyboardFocusOnCommit)
        SLATE_ATTRIBUTE(bool, RevertTextOnEscape)
        SLATE_ATTRIBUTE(bool, SelectAllTextOnCommit)
        SLATE_ATTRIBUTE(bool, AutoWrapText)
        SLATE_ATTRIBUTE(float, MinDesiredWidth)
        SLATE_EVENT(FOnTextChanged, OnTextChanged)
        SLATE_EVENT(FOnTextCommitted, OnTextCommitted)
    SLATE_END_ARGS()
    void Construct(const FArguments& InArgs) { Shown = InArgs._Text; }
    FText GetText() const { return Shown.Get(); }
    void SetText(const TAttribute<FText>& InText) { Shown = InText; }
    void SetError(const FText& InError) { StubError = InError; }
    /// As a person does: types all of it, and ends so.
    void StubType_(const TCHAR* Text, ETextCommit::Type How)
    {
        if (!IsEnabled() || StubArgs._IsReadOnly.Get(false))
        {
            return;
        }
        const FText Typed = FText::FromString(FString(Text));
        if (!Shown.IsBound())
        {
            Shown = Typed;
        }
        StubArgs._OnTextChanged.ExecuteIfBound(Typed);
        StubArgs._OnTextCommitted.ExecuteIfBound(Typed, How);
    }
    FText StubError;

private:
    TAttribute<FText> Shown;
};
