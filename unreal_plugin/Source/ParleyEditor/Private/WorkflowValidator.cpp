// Data Validation of workflow assets: the sidecar's findings where it has seen them, else what can be seen at first sight.
#include "WorkflowValidator.h"

#include "EditorSidecar.h"
#include "WorkflowSession.h"

#include "Core/ParleyCore.h"

#include "HAL/PlatformProcess.h"
#include "HAL/PlatformTime.h"
#include "ParleyText.h"
#include "ParleyWorkflow.h"

namespace Parley::WorkflowValidatorLocal
{

/// Seconds that the sidecar has to answer while the editor stands still.
constexpr double PatienceS = 1.0;

/// Lets a sidecar that is ready look at the workflow; without one nothing happens.
void AskSidecar(FParleyWorkflowSession& Session)
{
    FParleyEditorSidecar* Sidecar = FParleyEditorSidecar::Get();
    const std::shared_ptr<ParleyCore> Core = Sidecar == nullptr ? nullptr : Sidecar->GetRunning();
    if (!Core || Core->GetState() != CoreState::Ready || Session.Model.IsValidated())
    {
        return;
    }
    Session.Validation.AskNow();
    const double Until = FPlatformTime::Seconds() + PatienceS;
    while (Session.Validation.IsAsking() && FPlatformTime::Seconds() < Until)
    {
        if (Core->Update(FParleyEditorSidecar::BudgetMs) == 0)
        {
            FPlatformProcess::Sleep(0.002f);
        }
    }
    Session.Model.Refresh();
}

FText Shown(const Finding& About)
{
    const std::string Where = About.NodeName.empty() ? About.Path : About.NodeName + (About.Field.empty() ? "" : "." + About.Field);
    return FText::FromString(ToFString(Where + ": " + About.Message));
}

} // namespace Parley::WorkflowValidatorLocal

bool UParleyWorkflowValidator::Check(UParleyWorkflow& Workflow, TArray<FText>& Errors, TArray<FText>& Warnings)
{
    const TSharedRef<FParleyWorkflowSession> Session = FParleyWorkflowSession::Of(&Workflow);
    Session->Model.Refresh();
    if (!Session->Model.GetFault().empty())
    {
        Errors.Add(FText::FromString(Parley::ToFString(Session->Model.GetFault())));
        return false;
    }
    Parley::WorkflowValidatorLocal::AskSidecar(*Session);
    for (const Parley::Finding& About : Session->Model.Found().All())
    {
        (About.IsError ? Errors : Warnings).Add(Parley::WorkflowValidatorLocal::Shown(About));
    }
    return Session->Model.IsValidated();
}

EDataValidationResult UParleyWorkflowValidator::Tell(UObject* Asset, TFunctionRef<void(const FText&)> Fail)
{
    UParleyWorkflow* Workflow = Cast<UParleyWorkflow>(Asset);
    if (Workflow == nullptr)
    {
        return EDataValidationResult::NotValidated;
    }
    TArray<FText> Errors;
    TArray<FText> Warnings;
    Check(*Workflow, Errors, Warnings);
    for (const FText& Warning : Warnings)
    {
        AssetWarning(Asset, Warning);
    }
    for (const FText& Each : Errors)
    {
        Fail(Each);
    }
    if (Errors.Num() == 0)
    {
        AssetPasses(Asset);
    }
    return GetValidationResult();
}

#if UE_VERSION_OLDER_THAN(5, 4, 0)

bool UParleyWorkflowValidator::CanValidateAsset_Implementation(UObject* InAsset) const
{
    return Cast<UParleyWorkflow>(InAsset) != nullptr;
}

EDataValidationResult UParleyWorkflowValidator::ValidateLoadedAsset_Implementation(UObject* InAsset, TArray<FText>& ValidationErrors)
{
    return Tell(InAsset, [this, InAsset, &ValidationErrors](const FText& Each) { AssetFails(InAsset, Each, ValidationErrors); });
}

#else

bool UParleyWorkflowValidator::CanValidateAsset_Implementation(const FAssetData&, UObject* InObject, FDataValidationContext&) const
{
    return Cast<UParleyWorkflow>(InObject) != nullptr;
}

EDataValidationResult UParleyWorkflowValidator::ValidateLoadedAsset_Implementation(
    const FAssetData&, UObject* InAsset, FDataValidationContext&)
{
    return Tell(InAsset, [this, InAsset](const FText& Each) { AssetFails(InAsset, Each); });
}

#endif
