// One conversation of an actor: made, spoken with, taken over where the core changes, and ended with its actor.
#include "ParleyAgentComponent.h"

#include "Core/CoreAgent.h"
#include "Core/ParleyCore.h"
#include "GameFramework/Actor.h"
#include "ParleyJson.h"
#include "ParleySubsystem.h"
#include "ParleyText.h"
#include "ParleyVoiceComponent.h"
#include "ParleyWorkflow.h"

#include <memory>
#include <utility>
#include <vector>

/// What the component keeps out of the engine's sight. Threading: the game's thread.
struct FParleyConversation
{
    /// Somebody who waits for an end, and hears of it once.
    struct FWaiting
    {
        TFunction<void(const FParleyFault*)> Fail;
    };

    std::shared_ptr<Parley::CoreAgent> Agent;
    Parley::HandlerId Answer = 0;
    Parley::HandlerId SoundStarted = 0;
    Parley::HandlerId Sound = 0;
    Parley::HandlerId TurnCompleted = 0;
    Parley::HandlerId ToolCalled = 0;
    Parley::HandlerId NodeHappened = 0;
    Parley::HandlerId Failed = 0;
    Parley::HandlerId Made = 0;
    TArray<std::shared_ptr<Parley::ToolCall>> Calls;
    TArray<TSharedPtr<FWaiting>> Waiting;
    /// It is being ended: what fails by that is no error.
    bool bIsParting = false;

    void Unlisten()
    {
        if (Agent)
        {
            Agent->Answer.Remove(Answer);
            Agent->SoundStarted.Remove(SoundStarted);
            Agent->Sound.Remove(Sound);
            Agent->TurnCompleted.Remove(TurnCompleted);
            Agent->ToolCalled.Remove(ToolCalled);
            Agent->NodeHappened.Remove(NodeHappened);
            Agent->Failed.Remove(Failed);
            Agent->Made.Remove(Made);
        }
    }

    /// `Fail` is called where the conversation ends before whoever is waited for does.
    TSharedPtr<FWaiting> Wait(TFunction<void(const FParleyFault*)> Fail)
    {
        TSharedPtr<FWaiting> One = MakeShared<FWaiting>();
        One->Fail = MoveTemp(Fail);
        Waiting.Add(One);
        return One;
    }

    /// True once: what was waited for is there.
    bool End(const TSharedPtr<FWaiting>& One)
    {
        Waiting.Remove(One);
        const bool bWaited = static_cast<bool>(One->Fail);
        One->Fail = nullptr;
        return bWaited;
    }

    void FailWaiting(const FParleyFault& Fault)
    {
        const TArray<TSharedPtr<FWaiting>> All = MoveTemp(Waiting);
        Waiting.Reset();
        for (const TSharedPtr<FWaiting>& One : All)
        {
            if (One->Fail)
            {
                const TFunction<void(const FParleyFault*)> Fail = MoveTemp(One->Fail);
                One->Fail = nullptr;
                Fail(&Fault);
            }
        }
    }
};

namespace ParleyAgentComponentLocal
{

EParleySayOutcome OutcomeOf(Parley::SayOutcome Outcome)
{
    static_assert(
        static_cast<int>(Parley::SayOutcome::Unavailable) == static_cast<int>(EParleySayOutcome::Unavailable), "the same words");
    return static_cast<EParleySayOutcome>(Outcome);
}

Parley::WhenBusy BusyOf(EParleyWhenBusy Busy)
{
    static_assert(static_cast<int>(Parley::WhenBusy::Refuse) == static_cast<int>(EParleyWhenBusy::Refuse), "the same words");
    return static_cast<Parley::WhenBusy>(Busy);
}

Parley::Json ValuesOf(const TArray<FParleyVariable>& Variables)
{
    Parley::Json Values = Parley::Json::Object();
    for (const FParleyVariable& Variable : Variables)
    {
        Values.Set(Parley::ToUtf8(Variable.Name), Variable.Value.ToCore());
    }
    return Values;
}

bool ObjectOf(const FString& Text, Parley::Json& Out, FParleyFault& Fault)
{
    FString Why;
    if (!Parley::JsonFromText(Text, Out, Why))
    {
        Fault = FParleyFault(Parley::ErrorCode::InvalidValue, TEXT("this is no JSON: ") + Why);
        return false;
    }
    if (!Out.IsObject())
    {
        Fault = FParleyFault(Parley::ErrorCode::InvalidValue, TEXT("parameters are a JSON object, such as {\"temperature\": 0.5}"));
        return false;
    }
    return true;
}

FParleyFault Destroyed()
{
    return FParleyFault(Parley::ErrorCode::AgentDestroyed, TEXT("this agent was destroyed; make another one"));
}

} // namespace ParleyAgentComponentLocal

UParleyAgentComponent::UParleyAgentComponent() : Conversation(MakeShared<FParleyConversation>())
{
    bAutoActivate = true;
    PrimaryComponentTick.bCanEverTick = false;
}

// ---- how it stands ----

Parley::CoreAgent* UParleyAgentComponent::GetAgent() const
{
    return Conversation->Agent.get();
}

bool UParleyAgentComponent::IsBusy() const
{
    return Conversation->Agent && Conversation->Agent->IsBusy();
}

bool UParleyAgentComponent::IsReady() const
{
    return GetState() == EParleyAgentState::Ready;
}

EParleyAgentState UParleyAgentComponent::GetState() const
{
    if (!Conversation->Agent)
    {
        return EParleyAgentState::None;
    }
    switch (Conversation->Agent->GetState())
    {
        case Parley::AgentState::Making:
            return EParleyAgentState::Making;
        case Parley::AgentState::Ready:
            return EParleyAgentState::Ready;
        case Parley::AgentState::Failed:
            return EParleyAgentState::Failed;
        default:
            return EParleyAgentState::None;
    }
}

FString UParleyAgentComponent::GetAgentId() const
{
    return Conversation->Agent ? Parley::ToFString(Conversation->Agent->GetAgentId()) : FString();
}

FParleyFault UParleyAgentComponent::GetTrouble() const
{
    const Parley::Fault* Why = Conversation->Agent ? Conversation->Agent->GetTrouble() : nullptr;
    return Why == nullptr ? Trouble : FParleyFault(*Why);
}

int32 UParleyAgentComponent::GetDialogLength() const
{
    return Conversation->Agent ? static_cast<int32>(Conversation->Agent->GetDialog().GetInteractions().size()) : 0;
}

FString UParleyAgentComponent::GetDialogNow() const
{
    return Conversation->Agent ? Parley::JsonToText(Conversation->Agent->GetDialog().Copy().ToJson()) : FString();
}

// ---- speaking ----

EParleySayOutcome UParleyAgentComponent::Say(const FString& Line)
{
    const EParleySayOutcome Outcome = TrySay(Line);
    if (Outcome == EParleySayOutcome::Busy)
    {
        Fail(FParleyFault(
            Parley::ErrorCode::AgentBusy,
            TEXT("'") + GetPlace() + TEXT("' is being spoken to already; wait for On Turn Complete or Cancel")));
    }
    else if (Outcome == EParleySayOutcome::Unavailable && !(CanSpeak() && IsTold()))
    {
        Fail(WhyUnavailable());
    }
    return Outcome;
}

EParleySayOutcome UParleyAgentComponent::TrySay(const FString& Line)
{
    if (!CanSpeak() || !Bind())
    {
        return EParleySayOutcome::Unavailable;
    }
    const EParleySayOutcome Outcome = ParleyAgentComponentLocal::OutcomeOf(Conversation->Agent->Say(Parley::ToUtf8(Line)));
    if (Outcome == EParleySayOutcome::Sent || Outcome == EParleySayOutcome::Queued)
    {
        TellSaid(Line);
    }
    return Outcome;
}

void UParleyAgentComponent::SayThen(const FString& Line, FTurnCallback Ended)
{
    if (!CanSpeak() || !Bind())
    {
        const FParleyFault Why = WhyUnavailable();
        Ended(nullptr, &Why);
        return;
    }
    // Its end comes in any case: an agent that is destroyed ends its turns.
    const std::shared_ptr<Parley::CoreAgent> Agent = Conversation->Agent;
    const Parley::SayOutcome Outcome = Agent->Say(
        Parley::ToUtf8(Line),
        [Ended](const Parley::Messages::TurnComplete& Complete)
        {
            const FParleyTurnComplete Turn(Complete);
            Ended(&Turn, nullptr);
        });
    if (Outcome == Parley::SayOutcome::Sent || Outcome == Parley::SayOutcome::Queued)
    {
        TellSaid(Line);
        return;
    }
    const FParleyFault Why(Agent->WhyNotSaid(Outcome));
    Ended(nullptr, &Why);
}

void UParleyAgentComponent::TellSaid(const FString& Line)
{
    const TWeakObjectPtr<UParleyAgentComponent> Weak(this);
    Said.Broadcast(Line);
    if (Weak.IsValid())
    {
        OnSaid.Broadcast(Line);
    }
}

void UParleyAgentComponent::Cancel()
{
    if (const std::shared_ptr<Parley::CoreAgent> Agent = Conversation->Agent)
    {
        // First: nothing of the turn comes any more when whoever hears of the silence looks.
        const TWeakObjectPtr<UParleyAgentComponent> Weak(this);
        Agent->Cancel();
        if (Weak.IsValid())
        {
            StopVoices();
        }
    }
}

void UParleyAgentComponent::CancelThen(TFunction<void()> Ended)
{
    Cancel();
    if (!IsBusy())
    {
        Ended();
        return;
    }
    Cancelling.Add(MoveTemp(Ended));
}

void UParleyAgentComponent::SetWhenBusy(EParleyWhenBusy InWhenBusy)
{
    WhenBusy = InWhenBusy;
    if (Conversation->Agent)
    {
        Conversation->Agent->SetWhenBusy(ParleyAgentComponentLocal::BusyOf(InWhenBusy));
    }
}

bool UParleyAgentComponent::AnswerToolCall(const FString& CallId, const FString& Result)
{
    return AnswerCall(CallId, Result, false);
}

bool UParleyAgentComponent::FailToolCall(const FString& CallId, const FString& Reason)
{
    return AnswerCall(CallId, Reason, true);
}

bool UParleyAgentComponent::AnswerCall(const FString& CallId, const FString& Text, bool bIsFailure)
{
    const std::string Id = Parley::ToUtf8(CallId);
    for (int32 Index = 0; Index < Conversation->Calls.Num(); Index++)
    {
        const std::shared_ptr<Parley::ToolCall> Call = Conversation->Calls[Index];
        if (Call->GetCallId() != Id)
        {
            continue;
        }
        Conversation->Calls.RemoveAt(Index);
        if (bIsFailure)
        {
            Call->Fail(Parley::ToUtf8(Text));
        }
        else
        {
            Call->Reply(Parley::ToUtf8(Text));
        }
        return true;
    }
    return false;
}

// ---- changing ----

void UParleyAgentComponent::SetVariable(const FString& Name, const FParleyValue& Value)
{
    SetVariables({FParleyVariable(Name, Value)});
}

void UParleyAgentComponent::SetVariables(const TArray<FParleyVariable>& Values)
{
    if (!Conversation->Agent)
    {
        // They are among what the agent is made with.
        for (const FParleyVariable& Value : Values)
        {
            FParleyVariable* Known = Variables.FindByPredicate(
                [&Value](const FParleyVariable& One) { return One.Name.Equals(Value.Name, ESearchCase::CaseSensitive); });
            if (Known != nullptr)
            {
                Known->Value = Value.Value;
            }
            else
            {
                Variables.Add(Value);
            }
        }
        return;
    }
    SetVariablesThen(Values, FailIf());
}

void UParleyAgentComponent::SetVariablesThen(const TArray<FParleyVariable>& Values, FDoneCallback Done)
{
    if (BindOr(Done))
    {
        Conversation->Agent->SetVariables(ParleyAgentComponentLocal::ValuesOf(Values), Waits(MoveTemp(Done)));
    }
}

void UParleyAgentComponent::ChangeParams(const FString& NodeName, const FString& Changes)
{
    if (BindOrFail())
    {
        ChangeParamsThen(NodeName, Changes, FailIf());
    }
}

void UParleyAgentComponent::ChangeParamsThen(const FString& NodeName, const FString& Changes, FDoneCallback Done)
{
    Parley::Json Object;
    FParleyFault Fault;
    if (!ParleyAgentComponentLocal::ObjectOf(Changes, Object, Fault))
    {
        Done(&Fault);
    }
    else if (BindOr(Done))
    {
        Conversation->Agent->ChangeParams(Parley::ToUtf8(NodeName), std::move(Object), Waits(MoveTemp(Done)));
    }
}

void UParleyAgentComponent::GetParamsThen(const FString& NodeName, FParamsCallback Done)
{
    const FDoneCallback Fails = [Done](const FParleyFault* Why) { Done(nullptr, Why); };
    if (!BindOr(Fails))
    {
        return;
    }
    const TSharedPtr<FParleyConversation::FWaiting> One = Conversation->Wait(Fails);
    Conversation->Agent->GetParams(
        Parley::ToUtf8(NodeName),
        [One, Done, Held = Conversation](const Parley::Messages::Params* Found, const Parley::Fault* Why)
        {
            if (!Held->End(One))
            {
                return;
            }
            if (Found != nullptr)
            {
                const FParleyParams Params(*Found);
                Done(&Params, nullptr);
                return;
            }
            const FParleyFault Fault = Why == nullptr ? FParleyFault() : FParleyFault(*Why);
            Done(nullptr, &Fault);
        });
}

void UParleyAgentComponent::SaveDialogThen(FDialogCallback Done)
{
    const FDoneCallback Fails = [Done](const FParleyFault* Why) { Done(FString(), Why); };
    if (!BindOr(Fails))
    {
        return;
    }
    const TSharedPtr<FParleyConversation::FWaiting> One = Conversation->Wait(Fails);
    Conversation->Agent->SaveDialog(
        [One, Done, Held = Conversation](const std::string& Text, const Parley::Fault* Why)
        {
            if (!Held->End(One))
            {
                return;
            }
            if (Why == nullptr)
            {
                Done(Parley::ToFString(Text), nullptr);
                return;
            }
            const FParleyFault Fault(*Why);
            Done(FString(), &Fault);
        });
}

void UParleyAgentComponent::LoadDialog(const FString& Dialog)
{
    if (BindOrFail())
    {
        LoadDialogThen(Dialog, FailIf());
    }
}

void UParleyAgentComponent::LoadDialogThen(const FString& Dialog, FDoneCallback Done)
{
    if (BindOr(Done))
    {
        Conversation->Agent->LoadDialog(Parley::ToUtf8(Dialog), Waits(MoveTemp(Done)));
    }
}

void UParleyAgentComponent::EditDialogLine(int32 Turn, const FString& Line)
{
    if (BindOrFail())
    {
        Conversation->Agent->EditDialog(Turn, Parley::ToUtf8(Line), std::nullopt, Waits(FailIf()));
    }
}

void UParleyAgentComponent::EditDialogReplies(int32 Turn, const TArray<FParleyShortReply>& Replies)
{
    if (BindOrFail())
    {
        std::vector<Parley::Messages::ShortReply> All;
        for (const FParleyShortReply& Reply : Replies)
        {
            All.push_back(Reply.ToCore());
        }
        Conversation->Agent->EditDialog(Turn, std::nullopt, std::move(All), Waits(FailIf()));
    }
}

void UParleyAgentComponent::TruncateDialog(int32 Keep)
{
    if (BindOrFail())
    {
        Conversation->Agent->TruncateDialog(Keep, Waits(FailIf()));
    }
}

void UParleyAgentComponent::Remake()
{
    Part();
    Bind();
}

// ---- with the subsystem ----

bool UParleyAgentComponent::Bind()
{
    if (Conversation->Agent)
    {
        return true;
    }
    Trouble = FParleyFault();
    UParleySubsystem* Game = bIsEnding ? nullptr : UParleySubsystem::Get(this);
    Parley::ParleyCore* Core = Game == nullptr ? nullptr : Game->GetCore();
    if (Core == nullptr)
    {
        if (Game != nullptr)
        {
            // It says why, once.
            Game->Join(this);
        }
        return false;
    }
    std::shared_ptr<Parley::CoreAgent> Made = Make(*Core);
    if (!Made)
    {
        return false;
    }
    Conversation->Agent = std::move(Made);
    Listen();
    Joined = Game;
    Game->Join(this);
    return Conversation->Agent != nullptr;
}

std::shared_ptr<Parley::CoreAgent> UParleyAgentComponent::Make(Parley::ParleyCore& Core)
{
    Parley::AgentOptions Options;
    FString Why;
    if (Workflow == nullptr)
    {
        Trouble = FParleyFault(
            Parley::ErrorCode::WorkflowInvalid, TEXT("the Parley Agent on '") + GetPlace() + TEXT("' has no workflow; set one"));
    }
    else if (!Workflow->ToCore(Options.Workflow, Why))
    {
        Trouble = FParleyFault(
            Parley::ErrorCode::WorkflowInvalid, TEXT("the workflow of '") + GetPlace() + TEXT("' cannot be read: ") + Why);
    }
    else if (!StartDialog.TrimStartAndEnd().IsEmpty())
    {
        Parley::Json Dialog;
        if (Parley::JsonFromText(StartDialog, Dialog, Why))
        {
            Options.SeedDialog = std::move(Dialog);
        }
        else
        {
            Trouble = FParleyFault(
                Parley::ErrorCode::InvalidDialog, TEXT("the start dialog of '") + GetPlace() + TEXT("' cannot be read: ") + Why);
        }
    }
    if (Trouble.IsFault())
    {
        const FParleyFault Told = Trouble;
        Fail(Told);
        return nullptr;
    }
    Options.Variables = ParleyAgentComponentLocal::ValuesOf(Variables);
    Options.EnableDiagnostics = bEnableDiagnostics;
    Options.MaxSteps = MaxSteps;
    Options.Busy = ParleyAgentComponentLocal::BusyOf(WhenBusy);
    return Core.CreateAgent(std::move(Options));
}

void UParleyAgentComponent::Listen()
{
    Parley::CoreAgent& Agent = *Conversation->Agent;
    const TWeakObjectPtr<UParleyAgentComponent> Weak(this);
    Conversation->Answer = Agent.Answer.Add(
        [Weak](const Parley::Messages::AnswerText& What)
        {
            if (UParleyAgentComponent* Self = Weak.Get())
            {
                Self->TakeAnswer(What);
            }
        });
    Conversation->SoundStarted = Agent.SoundStarted.Add(
        [Weak](const Parley::Messages::AudioFormat& What)
        {
            if (UParleyAgentComponent* Self = Weak.Get())
            {
                Self->TakeSoundStarted(What);
            }
        });
    Conversation->Sound = Agent.Sound.Add(
        [Weak](const Parley::SoundChunk& What)
        {
            if (UParleyAgentComponent* Self = Weak.Get())
            {
                Self->TakeSound(What);
            }
        });
    Conversation->TurnCompleted = Agent.TurnCompleted.Add(
        [Weak](const Parley::Messages::TurnComplete& What)
        {
            if (UParleyAgentComponent* Self = Weak.Get())
            {
                Self->TakeEnd(What);
            }
        });
    Conversation->ToolCalled = Agent.ToolCalled.Add(
        [Weak](const std::shared_ptr<Parley::ToolCall>& What)
        {
            if (UParleyAgentComponent* Self = Weak.Get())
            {
                Self->TakeToolCall(What);
            }
        });
    Conversation->NodeHappened = Agent.NodeHappened.Add(
        [Weak](const Parley::Messages::NodeEvent& What)
        {
            if (UParleyAgentComponent* Self = Weak.Get())
            {
                Self->OnNodeEvent.Broadcast(FParleyNodeEvent(What));
            }
        });
    Conversation->Failed = Agent.Failed.Add(
        [Weak](const Parley::Fault& Why)
        {
            if (UParleyAgentComponent* Self = Weak.Get())
            {
                Self->Fail(FParleyFault(Why));
            }
        });
    Conversation->Made = Agent.Made.Add(
        [Weak](Parley::CoreAgent&)
        {
            if (UParleyAgentComponent* Self = Weak.Get())
            {
                Self->OnReady.Broadcast();
            }
        });
}

void UParleyAgentComponent::Part()
{
    const std::shared_ptr<Parley::CoreAgent> Agent = Conversation->Agent;
    const TWeakObjectPtr<UParleyAgentComponent> Weak(this);
    const TSharedPtr<FParleyConversation> Held = Conversation;
    if (Agent)
    {
        // Whoever listens still hears the end of the turn.
        Held->bIsParting = true;
        StopVoices();
        Agent->Destroy();
        if (Held->Agent == Agent)
        {
            Held->Unlisten();
            Held->Agent.reset();
            Held->Calls.Reset();
        }
        Held->FailWaiting(ParleyAgentComponentLocal::Destroyed());
        Held->bIsParting = false;
    }
    if (Weak.IsValid())
    {
        EndCancelling();
    }
}

void UParleyAgentComponent::Fail(const FParleyFault& Fault)
{
    OnError.Broadcast(Fault);
}

bool UParleyAgentComponent::CanSpeak() const
{
    return IsActive() && !bIsEnding;
}

bool UParleyAgentComponent::IsTold() const
{
    return !Conversation->Agent && Trouble.IsFault();
}

bool UParleyAgentComponent::BindOrFail()
{
    const bool bIsBound = Bind();
    if (!bIsBound && !IsTold())
    {
        Fail(WhyNobody());
    }
    return bIsBound;
}

bool UParleyAgentComponent::BindOr(const FDoneCallback& Done)
{
    if (Bind())
    {
        return true;
    }
    const FParleyFault Why = Trouble.IsFault() ? Trouble : WhyNobody();
    Done(&Why);
    return false;
}

FParleyFault UParleyAgentComponent::WhyUnavailable() const
{
    if (!CanSpeak())
    {
        return FParleyFault(
            TEXT("AgentDisabled"), TEXT("the Parley Agent on '") + GetPlace() + TEXT("' is not active, or its actor has ended"));
    }
    const FParleyFault Known = GetTrouble();
    return Known.IsFault() ? Known : WhyNobody();
}

FParleyFault UParleyAgentComponent::WhyNobody() const
{
    const UParleySubsystem* Game = UParleySubsystem::Get(this);
    return Game == nullptr ? FParleyFault(TEXT("SidecarFailed"), TEXT("the game is not playing")) : Game->WhyNobody();
}

FString UParleyAgentComponent::GetPlace() const
{
    const AActor* Owner = GetOwner();
    return Owner == nullptr ? GetName() : Owner->GetName();
}

UParleyAgentComponent::FDoneCallback UParleyAgentComponent::FailIf()
{
    return [Weak = TWeakObjectPtr<UParleyAgentComponent>(this)](const FParleyFault* Why)
    {
        UParleyAgentComponent* Self = Weak.Get();
        if (Self != nullptr && Why != nullptr && !Self->Conversation->bIsParting)
        {
            Self->Fail(*Why);
        }
    };
}

std::function<void(const Parley::Fault*)> UParleyAgentComponent::Waits(FDoneCallback Done)
{
    const TSharedPtr<FParleyConversation::FWaiting> One = Conversation->Wait(Done);
    return [One, Done = MoveTemp(Done), Held = Conversation](const Parley::Fault* Why)
    {
        if (!Held->End(One))
        {
            return;
        }
        if (Why == nullptr)
        {
            Done(nullptr);
            return;
        }
        const FParleyFault Fault(*Why);
        Done(&Fault);
    };
}

// ---- what comes ----

void UParleyAgentComponent::TakeAnswer(const Parley::Messages::AnswerText& What)
{
    const TWeakObjectPtr<UParleyAgentComponent> Weak(this);
    const FParleyAnswerText Answer(What);
    OnAnswer.Broadcast(Answer.NodeName, Answer.Text, Answer.bIsFinal);
    if (Weak.IsValid())
    {
        OnAnswerText.Broadcast(Answer);
    }
    if (Weak.IsValid())
    {
        Answered.Broadcast(Answer);
    }
}

void UParleyAgentComponent::TakeEnd(const Parley::Messages::TurnComplete& What)
{
    const TWeakObjectPtr<UParleyAgentComponent> Weak(this);
    const FParleyTurnComplete Complete(What);
    const TArray<TWeakObjectPtr<UParleyVoiceComponent>> All = Voices;
    for (const TWeakObjectPtr<UParleyVoiceComponent>& One : All)
    {
        UParleyVoiceComponent* Voice = One.Get();
        if (Voice != nullptr && Complete.Status == EParleyTurnStatus::Success)
        {
            Voice->ExpectEnd(Complete.TurnId);
        }
        else if (Voice != nullptr)
        {
            Voice->EndTurn(Complete.TurnId, Complete.Status == EParleyTurnStatus::Cancelled);
        }
    }
    Conversation->Calls.RemoveAll(
        [&What](const std::shared_ptr<Parley::ToolCall>& Call) { return Call->GetSource().TurnId == What.TurnId; });
    // That there is no sidecar any more the subsystem tells every agent, whether a line of its waited or not.
    const UParleySubsystem* Game = Joined.Get();
    if (Complete.bHasError && !(Game != nullptr && Game->GetState() == EParleyState::Down))
    {
        FParleyFault Fault;
        Fault.Code = static_cast<int32>(Complete.Error.Code);
        Fault.Kind = ToParleyErrorCode(Complete.Error.Code);
        Fault.Name = Complete.Error.Name;
        Fault.Message = Complete.Error.Message;
        Fault.AgentId = Complete.AgentId;
        Fail(Fault);
    }
    if (Weak.IsValid())
    {
        OnTurnComplete.Broadcast(Complete);
    }
    if (Weak.IsValid())
    {
        TurnEnded.Broadcast(Complete);
    }
    if (Weak.IsValid() && !IsBusy())
    {
        EndCancelling();
    }
}

void UParleyAgentComponent::EndCancelling()
{
    const TArray<TFunction<void()>> Ended = MoveTemp(Cancelling);
    Cancelling.Reset();
    for (const TFunction<void()>& One : Ended)
    {
        One();
    }
}

void UParleyAgentComponent::TakeToolCall(const std::shared_ptr<Parley::ToolCall>& What)
{
    Conversation->Calls.Add(What);
    FParleyToolCall Call;
    Call.CallId = Parley::ToFString(What->GetCallId());
    Call.Tool = Parley::ToFString(What->GetTool());
    Call.Arguments = Parley::JsonToText(What->GetArguments());
    Call.NodeName = Parley::ToFString(What->GetNodeName());
    Call.TurnId = static_cast<int64>(What->GetSource().TurnId);
    Call.Step = static_cast<int64>(What->GetSource().Step);
    OnToolCall.Broadcast(Call);
}

// ---- voices ----

void UParleyAgentComponent::Join(UParleyVoiceComponent* Voice)
{
    Voices.AddUnique(Voice);
}

void UParleyAgentComponent::Leave(UParleyVoiceComponent* Voice)
{
    Voices.Remove(Voice);
}

void UParleyAgentComponent::TakeSoundStarted(const Parley::Messages::AudioFormat& What)
{
    if (UParleyVoiceComponent* Voice = VoiceOf(Parley::ToFString(What.NodeName)))
    {
        Voice->Take(What);
    }
}

void UParleyAgentComponent::TakeSound(const Parley::SoundChunk& What)
{
    if (UParleyVoiceComponent* Voice = VoiceOf(Parley::ToFString(What.Chunk.NodeName)))
    {
        Voice->Take(What);
    }
}

UParleyVoiceComponent* UParleyAgentComponent::VoiceOf(const FString& NodeName) const
{
    UParleyVoiceComponent* Anybody = nullptr;
    for (const TWeakObjectPtr<UParleyVoiceComponent>& One : Voices)
    {
        UParleyVoiceComponent* Voice = One.Get();
        if (Voice == nullptr)
        {
            continue;
        }
        if (Voice->Speaker.Equals(NodeName, ESearchCase::CaseSensitive))
        {
            return Voice;
        }
        Anybody = Anybody == nullptr && Voice->Speaker.IsEmpty() ? Voice : Anybody;
    }
    return Anybody;
}

void UParleyAgentComponent::StopVoices()
{
    const TArray<TWeakObjectPtr<UParleyVoiceComponent>> All = Voices;
    for (const TWeakObjectPtr<UParleyVoiceComponent>& One : All)
    {
        if (UParleyVoiceComponent* Voice = One.Get())
        {
            Voice->StopSpeaking();
        }
    }
}

bool UParleyAgentComponent::MayBeHeard(const FString& NodeName) const
{
    return Conversation->Agent && Conversation->Agent->HasVoice(Parley::ToUtf8(NodeName)) && VoiceOf(NodeName) != nullptr;
}

int64 UParleyAgentComponent::HeardOf(int64 TurnId, int64 Step, const FString& NodeName) const
{
    const UParleyVoiceComponent* Voice = VoiceOf(NodeName);
    return Voice == nullptr || !Conversation->Agent ? -1 : Voice->HeardOf(Conversation->Agent->GetAgentId(), TurnId, Step);
}

// ---- with the actor ----

void UParleyAgentComponent::BeginPlay()
{
    Super::BeginPlay();
    bIsEnding = false;
    Bind();
}

void UParleyAgentComponent::EndPlay(const EEndPlayReason::Type EndPlayReason)
{
    End();
    Super::EndPlay(EndPlayReason);
}

void UParleyAgentComponent::OnComponentDestroyed(bool bDestroyingHierarchy)
{
    // Also one that never began to play may have a conversation.
    End();
    Super::OnComponentDestroyed(bDestroyingHierarchy);
}

void UParleyAgentComponent::End()
{
    bIsEnding = true;
    Part();
    if (UParleySubsystem* Game = Joined.Get())
    {
        Game->Leave(this);
    }
    Joined.Reset();
}

void UParleyAgentComponent::Deactivate()
{
    Super::Deactivate();
    UParleySubsystem* Game = Joined.Get();
    if (Game != nullptr && !IsActive())
    {
        Game->Deactivated(this);
    }
}

void UParleyAgentComponent::BeginDestroy()
{
    // Its own events tell nobody any more; who waits for an end of theirs gets it.
    if (Conversation.IsValid() && Conversation->Agent)
    {
        const TSharedPtr<FParleyConversation> Held = Conversation;
        Held->Unlisten();
        const std::shared_ptr<Parley::CoreAgent> Agent = std::move(Held->Agent);
        Held->Agent.reset();
        Agent->Destroy();
        Held->FailWaiting(ParleyAgentComponentLocal::Destroyed());
    }
    Super::BeginDestroy();
}
