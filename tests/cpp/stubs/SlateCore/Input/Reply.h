// FReply.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/IonLoginPanel.cpp (FReply::Handled())
#pragma once

#include "Types/SlateEnums.h"

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/IonLoginPanel.cpp
class FReply
{
public:
    static FReply Handled() { return FReply(true); }
    static FReply Unhandled() { return FReply(false); }
    bool IsEventHandled() const { return bHandled; }

private:
    explicit FReply(bool bInHandled)
        : bHandled(bInHandled)
    {
    }
    bool bHandled;
};
