// IPropertyUtilities.
// Source: dev.epicgames.com/documentation/unreal-engine/API/Editor/PropertyEditor/IPropertyUtilities?application_version=5.4
// (EnqueueDeferredAction, ForceRefresh; IPropertyUtilities/RequestRefresh?application_version=5.3)
#pragma once

#include "CoreMinimal.h"

// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Private/VoxelEditorUtilities.cpp
class IPropertyUtilities
{
public:
    virtual ~IPropertyUtilities() = default;
    void EnqueueDeferredAction(FSimpleDelegate DeferredAction) { StubDeferred.Add(DeferredAction); }
    void ForceRefresh() { ++StubRefreshes; }
    void RequestRefresh() { ++StubRefreshes; }
    /// What the panel does in its next tick.
    void StubRunDeferred()
    {
        const TArray<FSimpleDelegate> Now = StubDeferred;
        StubDeferred.Reset();
        for (const FSimpleDelegate& One : Now)
        {
            One.ExecuteIfBound();
        }
    }
    TArray<FSimpleDelegate> StubDeferred;
    int32 StubRefreshes = 0;
};
