// SPanel: widgets with several children.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumFeaturesMetadataViewer.cpp (ClearChildren of a panel)
#pragma once

#include "Widgets/SlotBase.h"

// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/SlateCore/Widgets/SPanel/Construct?application_version=5.4
// (the class; what it can do here is what the panels of the engine have each for themselves)
class SPanel : public SWidget
{
public:
    int32 NumSlots() const { return StubChildren.Num(); }
    void ClearChildren() { StubChildren.Reset(); }
    int32 RemoveSlot(const TSharedRef<SWidget>& Child)
    {
        const int32 At = StubChildren.IndexOfByPredicate([&Child](const TSharedPtr<SWidget>& One) { return One == Child; });
        if (At != INDEX_NONE)
        {
            StubChildren.RemoveAt(At);
        }
        return At;
    }

protected:
    template <typename S>
    S AddTo()
    {
        S Made;
        Made.Owner = this;
        Made.At = StubChildren.Add(nullptr);
        return Made;
    }
    template <typename S>
    void Take(const TArray<S>& Slots)
    {
        for (const S& Slot : Slots)
        {
            StubChildren.Add(Slot.Data->Widget);
        }
    }
};
