// SVerticalBox and SHorizontalBox.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/IonLoginPanel.cpp, MothCocoon/FlowGraph
// Source/FlowEditor/Private/Utils/SLevelEditorFlow.cpp
#pragma once

#include "Widgets/SPanel.h"

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/IonLoginPanel.cpp
class SBoxPanel : public SPanel
{
};

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/IonLoginPanel.cpp
class SVerticalBox : public SBoxPanel
{
public:
    // Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Public/SVoxelSegmentedControl.h
    class FSlot : public TSlotBase<FSlot>
    {
    public:
        typedef FSlot FSlotArguments;
        FSlot& AutoHeight()
        {
            Data->bAuto = true;
            return *this;
        }
        FSlot& FillHeight(const TAttribute<float>& Fill)
        {
            Data->Fill = Fill.Get();
            return *this;
        }
        FSlot& MaxHeight(const TAttribute<float>&) { return *this; }
    };
    SLATE_BEGIN_ARGS(SVerticalBox) {}
        SLATE_SLOT_ARGUMENT(SVerticalBox::FSlot, Slots)
    SLATE_END_ARGS()
    static FSlot Slot() { return FSlot(); }
    FSlot AddSlot() { return AddTo<FSlot>(); }
    void Construct(const FArguments& InArgs) { Take(InArgs._Slots); }
};

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/IonLoginPanel.cpp
class SHorizontalBox : public SBoxPanel
{
public:
    // Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Public/SVoxelSegmentedControl.h
    class FSlot : public TSlotBase<FSlot>
    {
    public:
        typedef FSlot FSlotArguments;
        FSlot& AutoWidth()
        {
            Data->bAuto = true;
            return *this;
        }
        FSlot& FillWidth(const TAttribute<float>& Fill)
        {
            Data->Fill = Fill.Get();
            return *this;
        }
        FSlot& MaxWidth(const TAttribute<float>&) { return *this; }
    };
    SLATE_BEGIN_ARGS(SHorizontalBox) {}
        SLATE_SLOT_ARGUMENT(SHorizontalBox::FSlot, Slots)
    SLATE_END_ARGS()
    static FSlot Slot() { return FSlot(); }
    FSlot AddSlot() { return AddTo<FSlot>(); }
    void Construct(const FArguments& InArgs) { Take(InArgs._Slots); }
};
