// One character of the game, whatever becomes of the sidecars that speak for it.
#pragma once

#include "Core/CoreApi.h"
#include "Core/CoreOptions.h"
#include "Core/DialogMirror.h"
#include "Core/Fault.h"
#include "Core/Generated/Messages.h"
#include "Core/Handlers.h"
#include "Core/Json.h"
#include "Core/ToolCall.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace Parley
{

class JsonRead;
class Turn;
struct Ask;
struct CoreInside;

/// How far a character is.
enum class AgentState
{
    /// The sidecar does not have it yet, or not any more; what it is asked waits.
    Making,
    /// It can be spoken to.
    Ready,
    /// The sidecar refused it; see GetTrouble.
    Failed,
    /// Destroy was called.
    Destroyed,
};

/// Names one line that was said, among all lines of all agents; 0 names none.
using LineId = std::uint64_t;

/// A chunk of a voice with its samples, as long as the call that hands it over.
struct PARLEY_CORE_API SoundChunk
{
    const Messages::AudioChunk& Chunk;
    /// As the AudioFormat of the step says they are written; null: there are none.
    const std::uint8_t* Samples;
    std::size_t Bytes;
};

/// Hears the end of one line, whatever its status. Called once, in ParleyCore::Update or in what ended it.
using TurnCallback = std::function<void(const Messages::TurnComplete&)>;

/// Gets a saved dialog as JSON text, or "" and a fault. Called once, in ParleyCore::Update.
using DialogCallback = std::function<void(const std::string&, const Fault*)>;

/// Gets parameters, or null and a fault. Called once, in ParleyCore::Update.
using ParamsCallback = std::function<void(const Messages::Params*, const Fault*)>;

/// An agent that outlives its sidecar. ParleyCore makes it and holds it until Destroy. Every line that Say takes ends
/// with exactly one TurnCompleted, also where the sidecar does not live to tell: then its status is Error, with code
/// 2001. Callbacks come in ParleyCore::Update, and in the call that causes them where Destroy, Cancel or ParleyCore::Stop
/// end something. Nothing here waits. A callback may destroy the agent, stop the core and let go of both.
/// A character whose ParleyCore is gone is as one without a sidecar.
/// Threading: the game's thread only.
class PARLEY_CORE_API CoreAgent final : public std::enable_shared_from_this<CoreAgent>
{
public:
    CoreAgent(const CoreAgent&) = delete;
    CoreAgent& operator=(const CoreAgent&) = delete;
    ~CoreAgent();

    // ---- what it tells; all on the game's thread ----

    /// Text for the player's eyes, as it comes.
    Handlers<const Messages::AnswerText&> Answer;
    /// The end of a turn, once for each line that Say took.
    Handlers<const Messages::TurnComplete&> TurnCompleted;
    /// A model called a tool. Whoever answers later keeps the call.
    Handlers<const std::shared_ptr<ToolCall>&> ToolCalled;
    /// How the sound of one step of the turn that runs is written; its chunks come next.
    Handlers<const Messages::AudioFormat&> SoundStarted;
    /// Sound of the turn that runs. Of one that the game has cancelled nothing more comes.
    Handlers<const SoundChunk&> Sound;
    /// Something that a node did beside speaking, tool calls too.
    Handlers<const Messages::NodeEvent&> NodeHappened;
    /// The sidecar refused to make it.
    Handlers<const Fault&> Failed;
    /// The sidecar has it now; comes again for each sidecar.
    Handlers<CoreAgent&> Made;

    // ---- how it stands ----

    /// Its name within the game.
    const std::string& GetKey() const noexcept { return Key; }
    /// Its name in the sidecar that runs now; empty: it has none.
    const std::string& GetAgentId() const noexcept { return AgentId; }
    /// How far it is.
    AgentState GetState() const noexcept { return State; }
    /// Why it could not be made; null: it could.
    const Fault* GetTrouble() const noexcept { return Trouble ? &*Trouble : nullptr; }
    /// What the compiler remarked when it was made.
    const std::vector<Messages::Problem>& GetWarnings() const noexcept { return Warnings; }
    /// What becomes of a line that is said while a turn runs.
    WhenBusy GetWhenBusy() const noexcept { return Busy; }
    void SetWhenBusy(WhenBusy What) noexcept { Busy = What; }
    /// Whether TurnComplete.Debug is filled.
    bool IsDiagnosed() const noexcept { return EnableDiagnostics; }
    /// Steps of one turn; more end it.
    int GetMaxSteps() const noexcept { return MaxSteps; }
    /// The dialog, mirrored.
    const DialogMirror& GetDialog() const noexcept { return Mirror; }
    /// A line is being answered, or waits to be.
    bool IsBusy() const noexcept { return Current != nullptr || Next != nullptr; }
    /// The turn that runs; 0: none, or it has not begun.
    std::int64_t GetTurnId() const noexcept;
    /// Whether a node of the workflow has a voice, be it one that cannot be loaded.
    bool HasVoice(std::string_view NodeName) const;

    // ---- speaking ----

    /// Say the player's line (UTF-8); an empty one lets the character speak first. `Ended` hears the end of this line
    /// after TurnCompleted does; it is not called where the line was refused (see WhyNotSaid). `Line` names it for
    /// CancelLine.
    SayOutcome Say(std::string Text, TurnCallback Ended = {}, LineId* Line = nullptr);
    /// Why Say just answered Busy or Unavailable, in the words that a developer is shown.
    Fault WhyNotSaid(SayOutcome Outcome) const;
    /// Stop the running turn and forget the line that waits; their TurnCompleted come, with status Cancelled.
    void Cancel();
    /// Cancel this line, whether it runs or waits; nothing happens where it is over.
    void CancelLine(LineId Line);

    // ---- changing ----

    /// Change a variable, for every sidecar to come too. A text, a number, a flag or a list of texts.
    void SetVariable(std::string_view Name, Json Value, DoneCallback Done = {});
    /// Change variables, all or none, for every sidecar to come too. `Values` is an object.
    void SetVariables(Json Values, DoneCallback Done = {});
    /// Change parameters of a node, only those that are named, for every sidecar to come too. `Changes` is an object.
    /// Needs an idle agent.
    void ChangeParams(std::string NodeName, Json Changes, DoneCallback Done = {});
    /// What the next turn will use in a node, and what that was when the agent was made.
    void GetParams(std::string NodeName, ParamsCallback Done);

    // ---- the dialog ----

    /// The dialog as JSON text for a save game. Where no sidecar has the agent just now, it is the dialog as the game
    /// knows it: saving waits for no restart.
    void SaveDialog(DialogCallback Done);
    /// Put a saved dialog, or its short form, in the place of the dialog. Needs an idle agent. A fault leaves the dialog
    /// as it was, or, of one over 4 MiB, with the part that was taken. A line that is said meanwhile waits.
    void LoadDialog(std::string JsonText, DoneCallback Done = {});
    /// Change one turn of the dialog, counted from 0; what is absent stays. Needs an idle agent.
    void EditDialog(
        int Index,
        std::optional<std::string> User,
        std::optional<std::vector<Messages::ShortReply>> Replies,
        DoneCallback Done = {});
    /// Keep the first turns of the dialog and forget the others. Needs an idle agent.
    void TruncateDialog(int Keep, DoneCallback Done = {});

    /// End the character, here and in every sidecar to come. Its turn ends with status Cancelled.
    void Destroy();

private:
    friend struct CoreInside;

    using MakeRequest = std::function<std::unique_ptr<Request>()>;
    using Pieces = std::vector<std::shared_ptr<const Json>>;
    using Documented = std::function<void(DialogCopy, const Fault*)>;

    CoreAgent(const std::shared_ptr<CoreInside>& Owner, AgentOptions Options);

    // CoreAgent.cpp
    void Do(MakeRequest Make, ReplyCallback Done);
    void Do(std::unique_ptr<Ask> What);
    void AskOnce(MakeRequest Make, ReplyCallback Done);
    bool CanBeWritten(const Json& Object, const DoneCallback& Done);
    void Seed(std::shared_ptr<const Pieces> All, std::size_t Which, DoneCallback Done);
    void MirrorNow(DoneCallback Done);
    void MirrorAfter(DoneCallback Done, const Fault* Why);
    void Export(std::shared_ptr<DialogCopy> Found, bool IsOnce, Documented Done);
    void Write(DialogCopy Document, DialogCallback Done);
    void KeepParams(const std::string& NodeName, const Json& Changes);
    Fault WhyUnavailable() const;

    // CoreAgentTurns.cpp
    void Lose(const std::string& Why);
    void StopTurns();
    void FailWaiting(const Fault& Why);
    void DoLater(std::unique_ptr<Ask> What);
    void PutBack(std::vector<std::unique_ptr<Ask>> All);
    void Take(const Push& What, const std::vector<std::uint8_t>& Payload);
    bool IsOfTurn(std::int64_t TurnId) const;
    bool IsHeard(std::int64_t TurnId) const;
    void TellIdle();
    void Send(std::shared_ptr<Turn> What);
    void Refused(const std::shared_ptr<Turn>& What, const Fault* Why);
    void SayQueued();
    void CancelTurn(const std::shared_ptr<Turn>& What);
    void DropQueued();
    void TakeEnd(const Messages::TurnComplete& Complete);
    void Settle(Messages::TurnStatus Status, ErrorCode Code, std::string_view Name, const std::string& Why);
    void Complete(const std::shared_ptr<Turn>& What, const Messages::TurnComplete& How);
    void TakeEvent(const Messages::NodeEvent& Event);
    void TakeSummary(const Messages::NodeEvent& Event);
    void Bring(const std::string& OfAgentId, const std::string& CallId, const std::string& Tool, std::string Result, std::string Error);

    // CoreAgentMaking.cpp
    void Make(std::function<void()> Done);
    bool ShouldBeMade() const { return State != AgentState::Destroyed && (State != AgentState::Failed || WasMade); }
    void Create(std::shared_ptr<const Pieces> All, int Try, std::function<void()> Done);
    void FollowUp(std::shared_ptr<const std::vector<MakeRequest>> Rest, std::size_t Which, int Try, std::function<void()> Done);
    void Settled(std::function<void()> Done);
    void GetReady(const std::function<void()>& Done);
    void Begin(const std::function<void()>& Done);
    void Fail(const Fault* Why, const std::function<void()>& Done);
    bool CanBeKept() const;
    Json ToState(const std::vector<const Ask*>& Asked);
    static std::shared_ptr<CoreAgent> FromState(const std::shared_ptr<CoreInside>& Owner, const JsonRead& From);
    void AskAgain();
    void MirrorAnyway(const Fault* Why);
    void GoOn();
    void KeepAsked(const Request& What);
    void TellCreated(const Fault* Why);

    const std::weak_ptr<CoreInside> Core;
    std::string Key;
    std::string AgentId;
    AgentState State = AgentState::Making;
    std::optional<Fault> Trouble;
    std::vector<Messages::Problem> Warnings;
    WhenBusy Busy;
    bool EnableDiagnostics;
    int MaxSteps;
    DialogMirror Mirror;
    std::shared_ptr<const Json> Workflow;
    Json Variables;
    Json Params = Json::Object();
    std::shared_ptr<const Json> SeedDialog;
    std::vector<std::unique_ptr<Ask>> Later;
    std::shared_ptr<Turn> Current;
    std::shared_ptr<Turn> Next;
    std::vector<std::unique_ptr<Request>> ToAskAgain;
    std::shared_ptr<const std::string> Loading;
    DoneCallback Creating;
    bool IsMirrorStale = false;
    bool WasMade = false;
    int Making = 0;
};

} // namespace Parley
