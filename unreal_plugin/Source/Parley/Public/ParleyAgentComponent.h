// A character that talks: the component that goes on its actor.
#pragma once

#include "Components/ActorComponent.h"
#include "CoreMinimal.h"
#include "ParleyTypes.h"
#include "Templates/Function.h"
#include "Templates/SharedPointer.h"
#include "UObject/WeakObjectPtr.h"

#include <functional>
#include <memory>

#include "ParleyAgentComponent.generated.h"

class UParleySubsystem;
class UParleyVoiceComponent;
class UParleyWorkflow;
struct FParleyConversation;

namespace Parley
{
class CoreAgent;
class ParleyCore;
class ToolCall;
struct Fault;
struct SoundChunk;
namespace Messages
{
struct AnswerText;
struct AudioFormat;
struct TurnComplete;
} // namespace Messages
} // namespace Parley

DECLARE_MULTICAST_DELEGATE_OneParam(FParleySaidNative, const FString&);
DECLARE_MULTICAST_DELEGATE_OneParam(FParleyAnsweredNative, const FParleyAnswerText&);
DECLARE_MULTICAST_DELEGATE_OneParam(FParleyTurnNative, const FParleyTurnComplete&);

/**
 * One conversation: a workflow with its dialog and variables. It lives from Begin Play to End Play, whatever becomes of the
 * sidecar meanwhile. Inactive it takes no lines, and what runs is cancelled; the dialog is kept. Every line that was taken
 * ends with one On Turn Complete.
 */
UCLASS(ClassGroup = (Parley), meta = (BlueprintSpawnableComponent, DisplayName = "Parley Agent"))
class PARLEY_API UParleyAgentComponent : public UActorComponent
{
    GENERATED_BODY()

public:
    UParleyAgentComponent();

    // ---- what it is made of ----

    /** Who talks, and how. Set it before the agent begins, or call Remake afterwards. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley")
    TObjectPtr<UParleyWorkflow> Workflow;

    /** Values that take the place of those the workflow declares. After the agent has begun, call Set Variable. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley", meta = (TitleProperty = "Name"))
    TArray<FParleyVariable> Variables;

    /** A saved dialog, or its short form, to begin with. Empty: an empty one. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley", meta = (MultiLine = true))
    FString StartDialog;

    /** What becomes of a line that is said while a turn runs. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, BlueprintSetter = SetWhenBusy, Category = "Parley")
    EParleyWhenBusy WhenBusy = EParleyWhenBusy::QueueOne;

    /** Fill the debug part of On Turn Complete: what each step read, wrote and cost. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley", AdvancedDisplay)
    bool bEnableDiagnostics = false;

    /** Steps of one turn; more end it. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley", AdvancedDisplay, meta = (ClampMin = "1", ClampMax = "1000"))
    int32 MaxSteps = 64;

    // ---- what it tells ----

    /** Speaker (the node's name), what it says with this frame, whether it says nothing more. Texts of one speaker follow each other until then. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyAnswerEvent OnAnswer;

    /** As On Answer, with all that the wire says of it. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyAnswerTextEvent OnAnswerText;

    /** The end of a turn, once for each line that was taken. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyTurnEvent OnTurnComplete;

    /** A model calls a tool of the game: answer with Answer Tool Call or Fail Tool Call. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyToolEvent OnToolCall;

    /** Something that a node did beside speaking. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyNodeEventEvent OnNodeEvent;

    /** Something failed: the message says what and what to do. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyFaultEvent OnError;

    /** The sidecar has it, so a line is answered at once. Comes again for each sidecar. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyEvent OnReady;

    /** The player's line was taken. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyTextEvent OnSaid;

    // ---- how it stands ----

    /** A line is being answered, or waits to be. */
    UFUNCTION(BlueprintPure, Category = "Parley")
    bool IsBusy() const;

    /** The sidecar has it, so a line is answered at once. */
    UFUNCTION(BlueprintPure, Category = "Parley")
    bool IsReady() const;

    /** How far it is. */
    UFUNCTION(BlueprintPure, Category = "Parley")
    EParleyAgentState GetState() const;

    /** Its name in the sidecar that runs now; empty: it has none. */
    UFUNCTION(BlueprintPure, Category = "Parley")
    FString GetAgentId() const;

    /** Why it has no conversation; a fault without a name: it has one. */
    UFUNCTION(BlueprintPure, Category = "Parley")
    FParleyFault GetTrouble() const;

    /** The turns of its dialog. */
    UFUNCTION(BlueprintPure, Category = "Parley|Dialog")
    int32 GetDialogLength() const;

    // ---- speaking ----

    /** Say the player's line; an empty one lets the character speak first. A line that is not taken is an On Error (AgentBusy, or why there is nobody to hear it). */
    UFUNCTION(BlueprintCallable, Category = "Parley")
    EParleySayOutcome Say(const FString& Line);

    /** As Say, but what became of the line is only returned. */
    UFUNCTION(BlueprintCallable, Category = "Parley")
    EParleySayOutcome TrySay(const FString& Line);

    /** Stop the turn that runs and forget the line that waits. Their On Turn Complete come. */
    UFUNCTION(BlueprintCallable, Category = "Parley")
    void Cancel();

    /** What becomes of a line that is said while a turn runs. */
    UFUNCTION(BlueprintCallable, Category = "Parley")
    void SetWhenBusy(EParleyWhenBusy InWhenBusy);

    /** Say what a tool brought, for the model to read. False: there is no such call, or it was answered already. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Tools")
    bool AnswerToolCall(const FString& CallId, const FString& Result);

    /** Say why a tool failed; the model reads that instead. False: there is no such call, or it was answered already. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Tools")
    bool FailToolCall(const FString& CallId, const FString& Reason);

    // ---- changing ----

    /** Change a variable that the workflow declares, for the next turns. A failure is an On Error. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Variables")
    void SetVariable(const FString& Name, const FParleyValue& Value);

    /** Change variables, all or none. A failure is an On Error. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Variables")
    void SetVariables(const TArray<FParleyVariable>& Values);

    /** Change parameters of a node, only those that are named in Changes, a JSON object. Needs an agent that is not busy. A failure is an On Error. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Parameters", meta = (DisplayName = "Change Params"))
    void ChangeParams(const FString& NodeName, const FString& Changes);

    /** Put a saved dialog, or its short form, in the place of the dialog. Needs an agent that is not busy. A failure is an On Error. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Dialog")
    void LoadDialog(const FString& Dialog);

    /** Change what the player said in one turn, counted from 0. Needs an agent that is not busy. A failure is an On Error. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Dialog")
    void EditDialogLine(int32 Turn, const FString& Line);

    /** Change what was answered in one turn, counted from 0. Needs an agent that is not busy. A failure is an On Error. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Dialog")
    void EditDialogReplies(int32 Turn, const TArray<FParleyShortReply>& Replies);

    /** Keep the first turns of the dialog and forget the others. Needs an agent that is not busy. A failure is an On Error. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Dialog")
    void TruncateDialog(int32 Keep);

    /** The dialog as the game knows it, for a save game that must not wait. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Dialog")
    FString GetDialogNow() const;

    /** Begin anew, with the workflow as it is now and an empty dialog. What runs is cancelled. */
    UFUNCTION(BlueprintCallable, Category = "Parley")
    void Remake();

    // ---- for C++; each callback comes once, also when the component goes ----

    using FDoneCallback = TFunction<void(const FParleyFault*)>;
    using FTurnCallback = TFunction<void(const FParleyTurnComplete*, const FParleyFault*)>;
    using FDialogCallback = TFunction<void(const FString&, const FParleyFault*)>;
    using FParamsCallback = TFunction<void(const FParleyParams*, const FParleyFault*)>;

    /// Say the player's line; `Ended` gets its turn, whatever its status, or why the line was not taken.
    void SayThen(const FString& Line, FTurnCallback Ended);
    /// As Cancel; `Ended` is called when nothing runs any more.
    void CancelThen(TFunction<void()> Ended);
    void SetVariablesThen(const TArray<FParleyVariable>& Values, FDoneCallback Done);
    /// `Changes` is a JSON object.
    void ChangeParamsThen(const FString& NodeName, const FString& Changes, FDoneCallback Done);
    void GetParamsThen(const FString& NodeName, FParamsCallback Done);
    /// The dialog as text for a save game.
    void SaveDialogThen(FDialogCallback Done);
    void LoadDialogThen(const FString& Dialog, FDoneCallback Done);

    FParleySaidNative& OnSaidNative()
    {
        return Said;
    }

    FParleyAnsweredNative& OnAnsweredNative()
    {
        return Answered;
    }

    FParleyTurnNative& OnTurnEndedNative()
    {
        return TurnEnded;
    }

    /// The conversation behind it, with all that can be done with one; null: it is not made yet.
    Parley::CoreAgent* GetAgent() const;

    /// Have a conversation. False: there is none; where that is this component's own fault, On Error said why.
    bool Bind();

    /// End the conversation. Whoever listens still hears the end of the turn.
    void Part();

    /// Tell that something failed.
    void Fail(const FParleyFault& Fault);

    void Join(UParleyVoiceComponent* Voice);
    void Leave(UParleyVoiceComponent* Voice);
    /// Whether what a node says may be heard: it has a voice, and there is a component that plays it.
    bool MayBeHeard(const FString& NodeName) const;
    /// How many characters of a step are heard already; -1: it has no sound, or none yet.
    int64 HeardOf(int64 TurnId, int64 Step, const FString& NodeName) const;

    virtual void BeginPlay() override;
    virtual void EndPlay(const EEndPlayReason::Type EndPlayReason) override;
    virtual void OnComponentDestroyed(bool bDestroyingHierarchy) override;
    virtual void Deactivate() override;
    virtual void BeginDestroy() override;

private:
    bool CanSpeak() const;
    bool IsTold() const;
    /// Its place in the world, for messages.
    FString GetPlace() const;
    std::shared_ptr<Parley::CoreAgent> Make(Parley::ParleyCore& Core);
    void Listen();
    void End();
    bool BindOrFail();
    bool BindOr(const FDoneCallback& Done);
    FParleyFault WhyUnavailable() const;
    FParleyFault WhyNobody() const;
    FDoneCallback FailIf();
    std::function<void(const Parley::Fault*)> Waits(FDoneCallback Done);
    bool AnswerCall(const FString& CallId, const FString& Text, bool bIsFailure);
    void TellSaid(const FString& Line);
    void EndCancelling();
    void TakeAnswer(const Parley::Messages::AnswerText& What);
    void TakeEnd(const Parley::Messages::TurnComplete& What);
    void TakeSoundStarted(const Parley::Messages::AudioFormat& What);
    void TakeSound(const Parley::SoundChunk& What);
    UParleyVoiceComponent* VoiceOf(const FString& NodeName) const;
    void StopVoices();
    void TakeToolCall(const std::shared_ptr<Parley::ToolCall>& What);

    FParleySaidNative Said;
    FParleyAnsweredNative Answered;
    FParleyTurnNative TurnEnded;
    TSharedPtr<FParleyConversation> Conversation;
    TWeakObjectPtr<UParleySubsystem> Joined;
    TArray<TWeakObjectPtr<UParleyVoiceComponent>> Voices;
    TArray<TFunction<void()>> Cancelling;
    /// Why no conversation could be begun; told already.
    FParleyFault Trouble;
    bool bIsEnding = false;
};
