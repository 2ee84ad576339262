// Workflow files into assets and out of them, by the editor's file dialogs.
#pragma once

#include "CoreMinimal.h"

class FParleyWorkflowSession;
class UParleyWorkflow;

/// Threading: the game thread.
struct FParleyWorkflowFiles
{
    /// What such a file is called, without the point.
    static const TCHAR* const Extension;

    /// Whether a file's name is one of a workflow's.
    static bool IsWorkflow(const FString& Path);

    /// Puts a file's workflow into an asset, as one transaction. False: nothing was chosen, or `Fault` says why not.
    static bool ImportInto(FParleyWorkflowSession& Session, FString& Fault);

    /// The same of a file that is known.
    static bool ImportInto(UParleyWorkflow* Asset, const FString& Path, FString& Fault);

    /// Writes an asset's file where a person says. False: nothing was chosen, or `Fault` says why not.
    static bool Export(const UParleyWorkflow* Asset, FString& Fault);
};
