// What is known of a workflow while panels show it: kept when a panel is drawn anew.
#pragma once

#include "Models/LiveValidation.h"
#include "Models/WorkflowInspectorModel.h"
#include "WorkflowAssetStore.h"

#include "CoreMinimal.h"
#include "Templates/SharedPointer.h"

class UParleyWorkflow;

/// One workflow that is edited. Threading: the game thread.
class FParleyWorkflowSession final
{
public:
    explicit FParleyWorkflowSession(UParleyWorkflow* Asset);
    FParleyWorkflowSession(const FParleyWorkflowSession&) = delete;
    FParleyWorkflowSession& operator=(const FParleyWorkflowSession&) = delete;

    /// The session of an asset, the same for all that ask. The latest ones are kept for the next panel.
    static TSharedRef<FParleyWorkflowSession> Of(UParleyWorkflow* Asset);
    /// Forgets those that are kept.
    static void ForgetAll();

    /// Looks at the asset again, and lets the sidecar do so. `Now`: seconds of any clock that only goes forward.
    void Look(double Now);

    /// Rises whenever there is something else to show.
    int32 GetRevision() const
    {
        return Revision;
    }

    FParleyWorkflowAssetStore Store;
    Parley::Editor::WorkflowInspectorModel Model;
    Parley::Editor::LiveValidation Validation;
    /// Why the last thing that was asked of the panel was not done; empty: it was.
    FString Fault;

private:
    int32 Revision = 0;
};
