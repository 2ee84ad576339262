// SExpandableArea.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumFeaturesMetadataViewer.cpp
#pragma once

#include "Widgets/DeclarativeSyntaxSupport.h"

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumFeaturesMetadataViewer.cpp (InitiallyCollapsed, HeaderContent, BodyContent)
class SExpandableArea : public SWidget
{
public:
    SLATE_BEGIN_ARGS(SExpandableArea) {}
        SLATE_NAMED_SLOT(FArguments, HeaderContent)
        SLATE_NAMED_SLOT(FArguments, BodyContent)
        SLATE_ATTRIBUTE(FText, AreaTitle)
        SLATE_ARGUMENT(bool, InitiallyCollapsed)
    SLATE_END_ARGS()
    void Construct(const FArguments& InArgs)
    {
        StubChildren.Add(InArgs._HeaderContent);
        StubChildren.Add(InArgs._BodyContent);
    }
};
