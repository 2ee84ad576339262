// SBox.
// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Private/ScreenCreditsWidget.cpp
#pragma once

#include "Widgets/DeclarativeSyntaxSupport.h"

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumFeaturesMetadataViewer.cpp
class SBox : public SWidget
{
public:
    SLATE_BEGIN_ARGS(SBox) {}
        SLATE_DEFAULT_SLOT(FArguments, Content)
        SLATE_ARGUMENT(EHorizontalAlignment, HAlign)
        SLATE_ARGUMENT(EVerticalAlignment, VAlign)
        SLATE_ATTRIBUTE(FMargin, Padding)
        SLATE_ATTRIBUTE(float, WidthOverride)
        SLATE_ATTRIBUTE(float, HeightOverride)
        SLATE_ATTRIBUTE(float, MinDesiredWidth)
        SLATE_ATTRIBUTE(float, MinDesiredHeight)
        SLATE_ATTRIBUTE(float, MaxDesiredWidth)
        SLATE_ATTRIBUTE(float, MaxDesiredHeight)
    SLATE_END_ARGS()
    void Construct(const FArguments& InArgs) { StubChildren.Add(InArgs._Content); }
    void SetContent(const TSharedRef<SWidget>& InContent) { StubChildren[0] = InContent; }
};
