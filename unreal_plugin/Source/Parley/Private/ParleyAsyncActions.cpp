// Blueprint nodes that wait: the one end of each.
#include "ParleyAsyncActions.h"

#include "Core/Generated/Messages.h"
#include "Core/Message.h"
#include "Engine/GameInstance.h"
#include "Engine/World.h"
#include "ParleyAgentComponent.h"
#include "ParleySubsystem.h"
#include "ParleyText.h"
#include "ParleyWorkflow.h"

#include <memory>
#include <utility>

void UParleyAction::Activate()
{
    // Whoever is destroyed before its end has none; the game keeps it until then.
    const UObject* Context = Agent.IsValid() ? Agent.Get() : World.Get();
    const UWorld* Where = Context == nullptr ? nullptr : Context->GetWorld();
    if (Where != nullptr && Where->GetGameInstance() != nullptr)
    {
        RegisterWithGameInstance(Where->GetGameInstance());
    }
    UParleySubsystem* Found = UParleySubsystem::Get(Context);
    if (bNeedsAgent && !Agent.IsValid())
    {
        Fail(FParleyFault(Parley::ErrorCode::InvalidAgentId, TEXT("there is no Parley Agent; connect one")));
        return;
    }
    if (Found == nullptr)
    {
        Fail(FParleyFault(TEXT("SidecarFailed"), TEXT("the game is not playing")));
        return;
    }
    Game = Found;
    EndingHandle = Found->OnEnding().AddWeakLambda(
        this, [this] { Fail(FParleyFault(TEXT("SessionClosed"), TEXT("the game has ended"))); });
    Begin(*Found);
}

void UParleyAction::Begin(UParleySubsystem&)
{
}

bool UParleyAction::End()
{
    if (bHasEnded)
    {
        return false;
    }
    bHasEnded = true;
    Forget();
    // Also where the caller's next line throws the graph away: this object stays until the engine collects it.
    SetReadyToDestroy();
    return true;
}

void UParleyAction::Forget()
{
    if (UParleySubsystem* Ended = Game.Get())
    {
        Ended->OnEnding().Remove(EndingHandle);
    }
    Game.Reset();
}

void UParleyAction::Fail(const FParleyFault& Fault)
{
    if (End())
    {
        OnFailed.Broadcast(Fault);
    }
}

void UParleyAction::FailOr(const FParleyFault* Fault)
{
    Fail(Fault != nullptr ? *Fault : FParleyFault(TEXT("InternalFault"), TEXT("the sidecar answered something else")));
}

// ---- of an agent ----

UParleySayAction* UParleySayAction::SayAndWait(UParleyAgentComponent* Agent, const FString& Line)
{
    UParleySayAction* Made = NewObject<UParleySayAction>();
    Made->bNeedsAgent = true;
    Made->Agent = Agent;
    Made->Line = Line;
    return Made;
}

void UParleySayAction::Begin(UParleySubsystem&)
{
    Agent->SayThen(
        Line,
        [Weak = TWeakObjectPtr<UParleySayAction>(this)](const FParleyTurnComplete* Turn, const FParleyFault* Fault)
        {
            UParleySayAction* Self = Weak.Get();
            if (Self != nullptr && Turn == nullptr)
            {
                Self->Fail(*Fault);
            }
            else if (Self != nullptr && Self->End())
            {
                Self->OnTurnComplete.Broadcast(*Turn);
            }
        });
}

UParleySaveDialogAction* UParleySaveDialogAction::SaveDialog(UParleyAgentComponent* Agent)
{
    UParleySaveDialogAction* Made = NewObject<UParleySaveDialogAction>();
    Made->bNeedsAgent = true;
    Made->Agent = Agent;
    return Made;
}

void UParleySaveDialogAction::Begin(UParleySubsystem&)
{
    Agent->SaveDialogThen(
        [Weak = TWeakObjectPtr<UParleySaveDialogAction>(this)](const FString& Dialog, const FParleyFault* Fault)
        {
            UParleySaveDialogAction* Self = Weak.Get();
            if (Self != nullptr && Fault != nullptr)
            {
                Self->Fail(*Fault);
            }
            else if (Self != nullptr && Self->End())
            {
                Self->OnSaved.Broadcast(Dialog);
            }
        });
}

UParleyLoadDialogAction* UParleyLoadDialogAction::LoadDialogAndWait(UParleyAgentComponent* Agent, const FString& Dialog)
{
    UParleyLoadDialogAction* Made = NewObject<UParleyLoadDialogAction>();
    Made->bNeedsAgent = true;
    Made->Agent = Agent;
    Made->Dialog = Dialog;
    return Made;
}

void UParleyLoadDialogAction::Begin(UParleySubsystem&)
{
    Agent->LoadDialogThen(
        Dialog,
        [Weak = TWeakObjectPtr<UParleyLoadDialogAction>(this)](const FParleyFault* Fault)
        {
            UParleyLoadDialogAction* Self = Weak.Get();
            if (Self != nullptr && Fault != nullptr)
            {
                Self->Fail(*Fault);
            }
            else if (Self != nullptr && Self->End())
            {
                Self->OnLoaded.Broadcast();
            }
        });
}

UParleyGetParamsAction* UParleyGetParamsAction::GetParams(UParleyAgentComponent* Agent, const FString& NodeName)
{
    UParleyGetParamsAction* Made = NewObject<UParleyGetParamsAction>();
    Made->bNeedsAgent = true;
    Made->Agent = Agent;
    Made->NodeName = NodeName;
    return Made;
}

void UParleyGetParamsAction::Begin(UParleySubsystem&)
{
    Agent->GetParamsThen(
        NodeName,
        [Weak = TWeakObjectPtr<UParleyGetParamsAction>(this)](const FParleyParams* Params, const FParleyFault* Fault)
        {
            UParleyGetParamsAction* Self = Weak.Get();
            if (Self != nullptr && Params == nullptr)
            {
                Self->Fail(*Fault);
            }
            else if (Self != nullptr && Self->End())
            {
                Self->OnGot.Broadcast(*Params);
            }
        });
}

UParleyChangeParamsAction* UParleyChangeParamsAction::ChangeParamsAndWait(
    UParleyAgentComponent* Agent, const FString& NodeName, const FString& Changes)
{
    UParleyChangeParamsAction* Made = NewObject<UParleyChangeParamsAction>();
    Made->bNeedsAgent = true;
    Made->Agent = Agent;
    Made->NodeName = NodeName;
    Made->Changes = Changes;
    return Made;
}

void UParleyChangeParamsAction::Begin(UParleySubsystem&)
{
    Agent->ChangeParamsThen(
        NodeName,
        Changes,
        [Weak = TWeakObjectPtr<UParleyChangeParamsAction>(this)](const FParleyFault* Fault)
        {
            UParleyChangeParamsAction* Self = Weak.Get();
            if (Self != nullptr && Fault != nullptr)
            {
                Self->Fail(*Fault);
            }
            else if (Self != nullptr && Self->End())
            {
                Self->OnChanged.Broadcast();
            }
        });
}

UParleySetVariablesAction* UParleySetVariablesAction::SetVariablesAndWait(
    UParleyAgentComponent* Agent, const TArray<FParleyVariable>& Values)
{
    UParleySetVariablesAction* Made = NewObject<UParleySetVariablesAction>();
    Made->bNeedsAgent = true;
    Made->Agent = Agent;
    Made->Values = Values;
    return Made;
}

void UParleySetVariablesAction::Begin(UParleySubsystem&)
{
    Agent->SetVariablesThen(
        Values,
        [Weak = TWeakObjectPtr<UParleySetVariablesAction>(this)](const FParleyFault* Fault)
        {
            UParleySetVariablesAction* Self = Weak.Get();
            if (Self != nullptr && Fault != nullptr)
            {
                Self->Fail(*Fault);
            }
            else if (Self != nullptr && Self->End())
            {
                Self->OnChanged.Broadcast();
            }
        });
}

// ---- of the sidecar ----

UParleyDownloadAction* UParleyDownloadAction::DownloadModel(const UObject* WorldContext, const FString& Model)
{
    UParleyDownloadAction* Made = NewObject<UParleyDownloadAction>();
    Made->World = WorldContext;
    Made->Model = Model;
    return Made;
}

void UParleyDownloadAction::Begin(UParleySubsystem& Asked)
{
    Asked.OnProgress.AddUniqueDynamic(this, &UParleyDownloadAction::TakeProgress);
    std::shared_ptr<Parley::Messages::DownloadModel> Message = std::make_shared<Parley::Messages::DownloadModel>();
    Message->Model = Parley::ToUtf8(Model);
    Asked.Ask(
        std::move(Message),
        [Weak = TWeakObjectPtr<UParleyDownloadAction>(this)](const Parley::Reply*, const FParleyFault* Fault)
        {
            UParleyDownloadAction* Self = Weak.Get();
            if (Self != nullptr && Fault != nullptr)
            {
                Self->Fail(*Fault);
            }
            else if (Self != nullptr && Self->End())
            {
                Self->OnDownloaded.Broadcast();
            }
        });
}

void UParleyDownloadAction::TakeProgress(const FParleyProgress& Progress)
{
    if (!HasEnded() && Progress.Model.Equals(Model, ESearchCase::CaseSensitive))
    {
        OnProgress.Broadcast(Progress);
    }
}

UParleyListModelsAction* UParleyListModelsAction::ListModels(const UObject* WorldContext)
{
    UParleyListModelsAction* Made = NewObject<UParleyListModelsAction>();
    Made->World = WorldContext;
    return Made;
}

void UParleyListModelsAction::Begin(UParleySubsystem& Asked)
{
    Asked.Ask(
        std::make_shared<Parley::Messages::ListModels>(),
        [Weak = TWeakObjectPtr<UParleyListModelsAction>(this)](const Parley::Reply* Reply, const FParleyFault* Fault)
        {
            UParleyListModelsAction* Self = Weak.Get();
            const Parley::Messages::Models* Models = Parley::As<Parley::Messages::Models>(Reply);
            if (Self != nullptr && Models == nullptr)
            {
                Self->FailOr(Fault);
            }
            else if (Self != nullptr && Self->End())
            {
                Self->OnListed.Broadcast(FParleyModels(*Models).Models);
            }
        });
}

UParleyGetStatusAction* UParleyGetStatusAction::GetStatus(const UObject* WorldContext)
{
    UParleyGetStatusAction* Made = NewObject<UParleyGetStatusAction>();
    Made->World = WorldContext;
    return Made;
}

void UParleyGetStatusAction::Begin(UParleySubsystem& Asked)
{
    Asked.Ask(
        std::make_shared<Parley::Messages::GetStatus>(),
        [Weak = TWeakObjectPtr<UParleyGetStatusAction>(this)](const Parley::Reply* Reply, const FParleyFault* Fault)
        {
            UParleyGetStatusAction* Self = Weak.Get();
            const Parley::Messages::Status* Status = Parley::As<Parley::Messages::Status>(Reply);
            if (Self != nullptr && Status == nullptr)
            {
                Self->FailOr(Fault);
            }
            else if (Self != nullptr && Self->End())
            {
                Self->OnGot.Broadcast(FParleyStatus(*Status));
            }
        });
}

UParleyValidateAction* UParleyValidateAction::ValidateWorkflow(const UObject* WorldContext, UParleyWorkflow* Workflow)
{
    UParleyValidateAction* Made = NewObject<UParleyValidateAction>();
    Made->World = WorldContext;
    Made->Subject = Workflow;
    return Made;
}

void UParleyValidateAction::Begin(UParleySubsystem& Asked)
{
    std::shared_ptr<Parley::Messages::ValidateWorkflow> Message = std::make_shared<Parley::Messages::ValidateWorkflow>();
    FString Why = TEXT("there is none");
    if (Subject == nullptr || !Subject->ToCore(Message->Workflow, Why))
    {
        Fail(FParleyFault(Parley::ErrorCode::WorkflowInvalid, TEXT("the workflow cannot be read: ") + Why));
        return;
    }
    Asked.Ask(
        std::move(Message),
        [Weak = TWeakObjectPtr<UParleyValidateAction>(this)](const Parley::Reply* Reply, const FParleyFault* Fault)
        {
            UParleyValidateAction* Self = Weak.Get();
            const Parley::Messages::Validation* Found = Parley::As<Parley::Messages::Validation>(Reply);
            if (Self != nullptr && Found == nullptr)
            {
                Self->FailOr(Fault);
            }
            else if (Self != nullptr && Self->End())
            {
                Self->OnValidated.Broadcast(FParleyValidation(*Found).Problems);
            }
        });
}
