// A place in a panel. (The engine has one class of slots a panel; here they share one.)
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/IonLoginPanel.cpp (SVerticalBox::Slot().AutoHeight().Padding(…)[…])
#pragma once

#include "Widgets/DeclarativeSyntaxSupport.h"

namespace StubEngine
{
/// What a place holds.
struct FSlotData
{
    TSharedPtr<SWidget> Widget;
    bool bAuto = false;
    float Fill = 1;
    EHorizontalAlignment Horizontal = HAlign_Fill;
    EVerticalAlignment Vertical = VAlign_Fill;
};
} // namespace StubEngine

// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Public/SVoxelSegmentedControl.h
template <typename Self>
class TSlotBase
{
public:
    TSlotBase()
        : Data(MakeShared<StubEngine::FSlotData>())
    {
    }
    Self& operator[](const TSharedRef<SWidget>& Child)
    {
        Data->Widget = Child;
        if (Owner != nullptr)
        {
            Owner->StubChildren[At] = Child;
        }
        return static_cast<Self&>(*this);
    }
    Self& Padding(const TAttribute<FMargin>&) { return static_cast<Self&>(*this); }
    Self& Padding(float) { return static_cast<Self&>(*this); }
    Self& Padding(float, float) { return static_cast<Self&>(*this); }
    Self& Padding(float, float, float, float) { return static_cast<Self&>(*this); }
    Self& HAlign(EHorizontalAlignment Alignment)
    {
        Data->Horizontal = Alignment;
        return static_cast<Self&>(*this);
    }
    Self& VAlign(EVerticalAlignment Alignment)
    {
        Data->Vertical = Alignment;
        return static_cast<Self&>(*this);
    }
    TSharedRef<StubEngine::FSlotData> Data;
    SWidget* Owner = nullptr;
    int32 At = 0;
};
