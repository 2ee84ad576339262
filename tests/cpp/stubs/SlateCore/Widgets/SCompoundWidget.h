// SCompoundWidget.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Public/Utils/SLevelEditorFlow.h
#pragma once

#include "Widgets/SlotBase.h"

// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Private/ScreenCreditsWidget.cpp
class SCompoundWidget : public SWidget
{
protected:
    // The slot of ChildSlot, see MothCocoon/FlowGraph Source/FlowEditor/Private/Utils/SLevelEditorFlow.cpp.
    class FStubChildSlot : public TSlotBase<FStubChildSlot>
    {
    };
    SCompoundWidget()
    {
        StubChildren.Add(nullptr);
        ChildSlot.Owner = this;
    }
    FStubChildSlot ChildSlot;
};
