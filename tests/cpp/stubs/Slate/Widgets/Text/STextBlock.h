// STextBlock.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/IonLoginPanel.cpp
#pragma once

#include "Fonts/SlateFontInfo.h"
#include "Styling/SlateColor.h"
#include "Widgets/DeclarativeSyntaxSupport.h"

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/IonLoginPanel.cpp (Text, AutoWrapText, ColorAndOpacity, Font)
class STextBlock : public SWidget
{
public:
    SLATE_BEGIN_ARGS(STextBlock) {}
        SLATE_ATTRIBUTE(FText, Text)
        SLATE_ATTRIBUTE(FSlateFontInfo, Font)
        SLATE_ATTRIBUTE(FSlateColor, ColorAndOpacity)
        SLATE_ATTRIBUTE(bool, AutoWrapText)
        SLATE_ATTRIBUTE(float, WrapTextAt)
    SLATE_END_ARGS()
    void Construct(const FArguments& InArgs) { StubText = InArgs._Text; }
    FText GetText() const { return StubText.Get(); }
    void SetText(const TAttribute<FText>& InText) { StubText = InText; }
    void SetColorAndOpacity(const TAttribute<FSlateColor>& InColor) { StubArgs._ColorAndOpacity = InColor; }

private:
    TAttribute<FText> StubText;
};
