// FSlateFontInfo.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumDegreesMinutesSecondsEditor.cpp
// (.Font(IDetailLayoutBuilder::GetDetailFont()))
#pragma once

#include "Types/SlateEnums.h"

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumDegreesMinutesSecondsEditor.cpp
struct FSlateFontInfo
{
    float Size = 10;
    bool bStubBold = false;
};
