// SProgressBar.
// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Slate/Widgets/Notifications/SProgressBar?application_version=5.0
#pragma once

#include "Widgets/DeclarativeSyntaxSupport.h"

// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Slate/Widgets/Notifications/SProgressBar/SetPercent?application_version=5.1
// (Percent is a TAttribute<TOptional<float>>)
class SProgressBar : public SWidget
{
public:
    SLATE_BEGIN_ARGS(SProgressBar) {}
        SLATE_ATTRIBUTE(TOptional<float>, Percent)
    SLATE_END_ARGS()
    void Construct(const FArguments&) {}
};
