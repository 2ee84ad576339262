// FSlateIcon.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumEditor.cpp (FSlateIcon(FCesiumEditorModule::GetStyleSetName(), …))
#pragma once

#include "Types/SlateEnums.h"

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumEditor.cpp
struct FSlateIcon
{
    FSlateIcon() = default;
    FSlateIcon(const FName& InStyleSetName, const FName& InStyleName)
        : StyleSetName(InStyleSetName)
        , StyleName(InStyleName)
    {
    }
    FName StyleSetName;
    FName StyleName;
};
