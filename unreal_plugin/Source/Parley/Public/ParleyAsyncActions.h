// Blueprint nodes that wait: each fires exactly one of its ends, also when the actor or the game goes.
#pragma once

#include "CoreMinimal.h"
#include "Kismet/BlueprintAsyncActionBase.h"
#include "ParleyTypes.h"

#include "ParleyAsyncActions.generated.h"

class UParleyAgentComponent;
class UParleySubsystem;
class UParleyWorkflow;

DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyActionFailed, const FParleyFault&, Fault);
DECLARE_DYNAMIC_MULTICAST_DELEGATE(FParleyActionDone);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyActionTurn, const FParleyTurnComplete&, Turn);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyActionText, const FString&, Dialog);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyActionParams, const FParleyParams&, Params);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyActionProgress, const FParleyProgress&, Progress);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyActionModels, const TArray<FParleyModelInfo>&, Models);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyActionStatus, const FParleyStatus&, Status);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyActionProblems, const TArray<FParleyProblem>&, Problems);

/** What all of them have in common: the one end. */
UCLASS(Abstract)
class PARLEY_API UParleyAction : public UBlueprintAsyncActionBase
{
    GENERATED_BODY()

public:
    /** It failed: the fault says what and what to do. */
    UPROPERTY(BlueprintAssignable)
    FParleyActionFailed OnFailed;

    virtual void Activate() override;

protected:
    /// Begin what is waited for.
    virtual void Begin(UParleySubsystem& Game);

    /// The one end: true for the first who asks.
    bool End();
    bool HasEnded() const
    {
        return bHasEnded;
    }

    /// The one end as a failure, unless there was an end.
    void Fail(const FParleyFault& Fault);
    /// As Fail; null: the sidecar answered something else than it was asked for.
    void FailOr(const FParleyFault* Fault);

    TWeakObjectPtr<const UObject> World;
    TWeakObjectPtr<UParleyAgentComponent> Agent;
    /// Without an agent there is nothing to do.
    bool bNeedsAgent = false;

private:
    void Forget();

    TWeakObjectPtr<UParleySubsystem> Game;
    FDelegateHandle EndingHandle;
    bool bHasEnded = false;
};

/** Says a line and waits for the end of its turn. */
UCLASS()
class PARLEY_API UParleySayAction : public UParleyAction
{
    GENERATED_BODY()

public:
    /** The turn is over, whatever its status. */
    UPROPERTY(BlueprintAssignable)
    FParleyActionTurn OnTurnComplete;

    /** Say a line and wait for the end of its turn. What is answered meanwhile comes in the agent's On Answer. */
    UFUNCTION(BlueprintCallable, Category = "Parley", meta = (BlueprintInternalUseOnly = "true", DisplayName = "Say and Wait"))
    static UParleySayAction* SayAndWait(UParleyAgentComponent* Agent, const FString& Line);

protected:
    virtual void Begin(UParleySubsystem& Game) override;

private:
    FString Line;
};

/** Waits for the dialog as a text. */
UCLASS()
class PARLEY_API UParleySaveDialogAction : public UParleyAction
{
    GENERATED_BODY()

public:
    /** The dialog is there, for a save game. */
    UPROPERTY(BlueprintAssignable)
    FParleyActionText OnSaved;

    /** Get the dialog as a text for a save game. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Dialog", meta = (BlueprintInternalUseOnly = "true", DisplayName = "Save Dialog"))
    static UParleySaveDialogAction* SaveDialog(UParleyAgentComponent* Agent);

protected:
    virtual void Begin(UParleySubsystem& Game) override;
};

/** Puts a saved dialog in the place of the dialog, and waits until it is there. */
UCLASS()
class PARLEY_API UParleyLoadDialogAction : public UParleyAction
{
    GENERATED_BODY()

public:
    /** The dialog is loaded. */
    UPROPERTY(BlueprintAssignable)
    FParleyActionDone OnLoaded;

    /** Put a saved dialog, or its short form, in the place of the dialog. Needs an agent that is not busy. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Dialog", meta = (BlueprintInternalUseOnly = "true", DisplayName = "Load Dialog and Wait"))
    static UParleyLoadDialogAction* LoadDialogAndWait(UParleyAgentComponent* Agent, const FString& Dialog);

protected:
    virtual void Begin(UParleySubsystem& Game) override;

private:
    FString Dialog;
};

/** Waits for the parameters of a node. */
UCLASS()
class PARLEY_API UParleyGetParamsAction : public UParleyAction
{
    GENERATED_BODY()

public:
    /** The parameters, as JSON objects. */
    UPROPERTY(BlueprintAssignable)
    FParleyActionParams OnGot;

    /** Get what the next turn will use in a node, and what that was when the agent was made. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Parameters", meta = (BlueprintInternalUseOnly = "true", DisplayName = "Get Params"))
    static UParleyGetParamsAction* GetParams(UParleyAgentComponent* Agent, const FString& NodeName);

protected:
    virtual void Begin(UParleySubsystem& Game) override;

private:
    FString NodeName;
};

/** Changes parameters of a node, and waits until they are. */
UCLASS()
class PARLEY_API UParleyChangeParamsAction : public UParleyAction
{
    GENERATED_BODY()

public:
    /** The next turn uses them. */
    UPROPERTY(BlueprintAssignable)
    FParleyActionDone OnChanged;

    /** Change parameters of a node, only those that are named in Changes, a JSON object. Needs an agent that is not busy. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Parameters", meta = (BlueprintInternalUseOnly = "true", DisplayName = "Change Params and Wait"))
    static UParleyChangeParamsAction* ChangeParamsAndWait(UParleyAgentComponent* Agent, const FString& NodeName, const FString& Changes);

protected:
    virtual void Begin(UParleySubsystem& Game) override;

private:
    FString NodeName;
    FString Changes;
};

/** Changes variables, and waits until they are. */
UCLASS()
class PARLEY_API UParleySetVariablesAction : public UParleyAction
{
    GENERATED_BODY()

public:
    /** The next turn reads them. */
    UPROPERTY(BlueprintAssignable)
    FParleyActionDone OnChanged;

    /** Change variables that the workflow declares, all or none. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Variables", meta = (BlueprintInternalUseOnly = "true", DisplayName = "Set Variables and Wait"))
    static UParleySetVariablesAction* SetVariablesAndWait(UParleyAgentComponent* Agent, const TArray<FParleyVariable>& Values);

protected:
    virtual void Begin(UParleySubsystem& Game) override;

private:
    TArray<FParleyVariable> Values;
};

/** Downloads a model, and waits until it is there. */
UCLASS()
class PARLEY_API UParleyDownloadAction : public UParleyAction
{
    GENERATED_BODY()

public:
    /** The model is there, whole. */
    UPROPERTY(BlueprintAssignable)
    FParleyActionDone OnDownloaded;

    /** How far it is; this one comes as often as there is something to say. */
    UPROPERTY(BlueprintAssignable)
    FParleyActionProgress OnProgress;

    /** Download a model of the catalog. The settings must allow it. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Models", meta = (BlueprintInternalUseOnly = "true", WorldContext = "WorldContext", DisplayName = "Download Model"))
    static UParleyDownloadAction* DownloadModel(const UObject* WorldContext, const FString& Model);

protected:
    virtual void Begin(UParleySubsystem& Game) override;

private:
    UFUNCTION()
    void TakeProgress(const FParleyProgress& Progress);

    FString Model;
};

/** Waits for the catalog of models. */
UCLASS()
class PARLEY_API UParleyListModelsAction : public UParleyAction
{
    GENERATED_BODY()

public:
    /** The models of the catalog, and what there is of them. */
    UPROPERTY(BlueprintAssignable)
    FParleyActionModels OnListed;

    /** List the models of the catalog, and what there is of them. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Models", meta = (BlueprintInternalUseOnly = "true", WorldContext = "WorldContext", DisplayName = "List Models"))
    static UParleyListModelsAction* ListModels(const UObject* WorldContext);

protected:
    virtual void Begin(UParleySubsystem& Game) override;
};

/** Waits for what the sidecar says of itself. */
UCLASS()
class PARLEY_API UParleyGetStatusAction : public UParleyAction
{
    GENERATED_BODY()

public:
    /** The status. */
    UPROPERTY(BlueprintAssignable)
    FParleyActionStatus OnGot;

    /** Get what the sidecar says of itself: sessions, models, errors. */
    UFUNCTION(BlueprintCallable, Category = "Parley", meta = (BlueprintInternalUseOnly = "true", WorldContext = "WorldContext", DisplayName = "Get Sidecar Status"))
    static UParleyGetStatusAction* GetStatus(const UObject* WorldContext);

protected:
    virtual void Begin(UParleySubsystem& Game) override;
};

/** Has the sidecar look at a workflow. */
UCLASS()
class PARLEY_API UParleyValidateAction : public UParleyAction
{
    GENERATED_BODY()

public:
    /** What the sidecar's compiler finds; nothing: all is well. */
    UPROPERTY(BlueprintAssignable)
    FParleyActionProblems OnValidated;

    /** Have the sidecar find what is wrong with a workflow. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Workflow", meta = (BlueprintInternalUseOnly = "true", WorldContext = "WorldContext", DisplayName = "Validate Workflow"))
    static UParleyValidateAction* ValidateWorkflow(const UObject* WorldContext, UParleyWorkflow* Workflow);

protected:
    virtual void Begin(UParleySubsystem& Game) override;

private:
    // Not Workflow: a function of this class has a parameter of that name, and the header tool refuses both.
    UPROPERTY()
    TObjectPtr<UParleyWorkflow> Subject;
};
