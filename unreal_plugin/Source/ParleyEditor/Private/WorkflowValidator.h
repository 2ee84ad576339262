// Data Validation of workflow assets: the sidecar's findings where it has seen them, else what can be seen at first sight.
#pragma once

#include "CoreMinimal.h"
#include "EditorValidatorBase.h"
#include "Misc/EngineVersionComparison.h"
#include "Templates/Function.h"

#include "WorkflowValidator.generated.h"

class UParleyWorkflow;

/** Says what is wrong with a workflow when assets are validated, saved or submitted. */
UCLASS()
class UParleyWorkflowValidator : public UEditorValidatorBase
{
    GENERATED_BODY()

public:
#if UE_VERSION_OLDER_THAN(5, 4, 0)
    virtual bool CanValidateAsset_Implementation(UObject* InAsset) const override;
    virtual EDataValidationResult ValidateLoadedAsset_Implementation(UObject* InAsset, TArray<FText>& ValidationErrors) override;
#else
    virtual bool CanValidateAsset_Implementation(
        const FAssetData& InAssetData, UObject* InObject, FDataValidationContext& InContext) const override;
    virtual EDataValidationResult ValidateLoadedAsset_Implementation(
        const FAssetData& InAssetData, UObject* InAsset, FDataValidationContext& Context) override;
#endif

    /// What is wrong with a workflow; whether the sidecar said so.
    static bool Check(UParleyWorkflow& Workflow, TArray<FText>& Errors, TArray<FText>& Warnings);

private:
    EDataValidationResult Tell(UObject* Asset, TFunctionRef<void(const FText&)> Fail);
};
