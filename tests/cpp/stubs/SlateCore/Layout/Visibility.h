// EVisibility.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/IonLoginPanel.cpp
#pragma once

#include "Types/SlateEnums.h"

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/IonLoginPanel.cpp (EVisibility::Collapsed)
struct EVisibility
{
    static const EVisibility Visible, Collapsed, Hidden, HitTestInvisible, SelfHitTestInvisible;
    int Value = 0;
    bool operator==(const EVisibility& Other) const { return Value == Other.Value; }
    bool operator!=(const EVisibility& Other) const { return Value != Other.Value; }
};
inline const EVisibility EVisibility::Visible{0}, EVisibility::Collapsed{1}, EVisibility::Hidden{2}, EVisibility::HitTestInvisible{3},
    EVisibility::SelfHitTestInvisible{4};
