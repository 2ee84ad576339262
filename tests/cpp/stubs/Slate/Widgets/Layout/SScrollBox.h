// SScrollBox.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/IonLoginPanel.cpp (SNew(SScrollBox) + SScrollBox::Slot()),
// CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumFeaturesMetadataViewer.cpp (ClearChildren, AddSlot)
#pragma once

#include "Widgets/SPanel.h"

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/IonLoginPanel.cpp
class SScrollBox : public SPanel
{
public:
    // Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Public/SVoxelSegmentedControl.h
    class FSlot : public TSlotBase<FSlot>
    {
    public:
        typedef FSlot FSlotArguments;
    };
    SLATE_BEGIN_ARGS(SScrollBox) {}
        SLATE_SLOT_ARGUMENT(SScrollBox::FSlot, Slots)
        SLATE_ARGUMENT(EOrientation, Orientation)
    SLATE_END_ARGS()
    static FSlot Slot() { return FSlot(); }
    FSlot AddSlot() { return AddTo<FSlot>(); }
    void Construct(const FArguments& InArgs) { Take(InArgs._Slots); }
    void ScrollToEnd() { ++StubScrolls; }
    int32 StubScrolls = 0;
};
