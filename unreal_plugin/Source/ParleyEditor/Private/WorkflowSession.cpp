// What is known of a workflow while panels show it: kept when a panel is drawn anew.
#include "WorkflowSession.h"

#include "EditorSidecar.h"

#include "ParleyJson.h"
#include "ParleyWorkflow.h"

namespace Parley::WorkflowSessionLocal
{

constexpr int32 MostKept = 8;

/// The latest last.
TArray<TSharedRef<FParleyWorkflowSession>>& Kept()
{
    static TArray<TSharedRef<FParleyWorkflowSession>> Sessions;
    return Sessions;
}

std::shared_ptr<ParleyCore> RunningCore()
{
    const FParleyEditorSidecar* Sidecar = FParleyEditorSidecar::Get();
    return Sidecar == nullptr ? nullptr : Sidecar->GetRunning();
}

} // namespace Parley::WorkflowSessionLocal

FParleyWorkflowSession::FParleyWorkflowSession(UParleyWorkflow* Asset)
    : Store(Asset), Model(Store, *Parley::EngineCodec()), Validation(Model, &Parley::WorkflowSessionLocal::RunningCore)
{
    Validation.Changed = [this]() { ++Revision; };
}

TSharedRef<FParleyWorkflowSession> FParleyWorkflowSession::Of(UParleyWorkflow* Asset)
{
    TArray<TSharedRef<FParleyWorkflowSession>>& Kept = Parley::WorkflowSessionLocal::Kept();
    for (int32 At = Kept.Num() - 1; At >= 0; --At)
    {
        const UParleyWorkflow* Known = Kept[At]->Store.GetAsset();
        if (Known == Asset)
        {
            const TSharedRef<FParleyWorkflowSession> Found = Kept[At];
            Kept.RemoveAt(At);
            Kept.Add(Found);
            return Found;
        }
        if (Known == nullptr)
        {
            Kept.RemoveAt(At);
        }
    }
    const TSharedRef<FParleyWorkflowSession> Made = MakeShared<FParleyWorkflowSession>(Asset);
    if (Kept.Num() >= Parley::WorkflowSessionLocal::MostKept)
    {
        Kept.RemoveAt(0);
    }
    Kept.Add(Made);
    return Made;
}

void FParleyWorkflowSession::ForgetAll()
{
    Parley::WorkflowSessionLocal::Kept().Empty();
}

void FParleyWorkflowSession::Look(double Now)
{
    if (const FParleyEditorSidecar* Sidecar = FParleyEditorSidecar::Get())
    {
        Model.SetModels(Sidecar->GetModels());
    }
    if (Model.Refresh())
    {
        ++Revision;
    }
    Validation.Tick(Now);
}
