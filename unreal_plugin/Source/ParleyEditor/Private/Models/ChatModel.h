// A conversation with a workflow for the test chat, outside of a play session.
#pragma once

#include "ChatLine.h"
#include "TurnInspectorModel.h"

#include "Core/Authoring/Finding.h"
#include "Core/ParleyCore.h"

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace Parley::Editor
{

/// Talks to one workflow through an editor's sidecar. Whoever has the core calls its Update; everything here changes in it.
/// Threading: the game thread.
class ChatModel
{
public:
    /// The name of the conversation within the editor's sidecar.
    static constexpr std::string_view AgentKey = "parley.test-chat";

    /// No conversation yet.
    explicit ChatModel(std::shared_ptr<ParleyCore> InCore);
    ChatModel(const ChatModel&) = delete;
    ChatModel& operator=(const ChatModel&) = delete;
    /// Ends the conversation.
    ~ChatModel();

    /// Something changed that a window shows. May be empty.
    std::function<void()> Changed;

    /// What was said, oldest first.
    const std::deque<ChatLine>& GetLines() const { return Lines; }
    /// The turns that ended, oldest first, for the turn inspector.
    const std::vector<std::shared_ptr<const TurnInspectorModel>>& GetTurns() const { return Turns; }
    /// The workflow's variables and what they are now.
    const std::vector<ChatVariable>& GetVariables() const { return Variables; }
    /// Calls that nobody answered yet.
    const std::vector<ChatToolCall>& GetToolCalls() const { return ToolCalls; }
    /// What the compiler said when the conversation began.
    const std::vector<Finding>& GetFindings() const { return Found; }
    /// Why there is no conversation; empty: there is one, or none was asked for.
    const std::string& GetFault() const { return Fault; }
    /// A line can be said.
    bool CanSay() const;
    /// A line is being answered.
    bool IsBusy() const { return Agent && Agent->IsBusy(); }
    /// There is a conversation.
    bool HasBegun() const { return Agent != nullptr; }
    /// How it stands, in a few words.
    std::string GetStatus() const;
    /// The workflow has been edited since the conversation began.
    bool IsStale(const Json& Now) const;
    const std::shared_ptr<ParleyCore>& GetCore() const { return Core; }

    /// Begins a conversation with a workflow; `KeepsDialog`: goes on with what was said so far.
    void Begin(const Json& With, bool KeepsDialog = false);
    /// Says the player's line. False: it was refused, and the lines say why.
    bool Say(const std::string& Text);
    /// Stops the turn that runs; its end comes with status Cancelled.
    void Cancel();
    /// Changes a variable, for the next turn. What is no value of its type is refused.
    bool SetVariable(std::string_view Name, const std::string& Text);
    /// Keeps what a person types as the result of a tool call.
    void SetResult(std::string_view CallId, std::string Text);
    /// Answers a tool call with its Result, or lets it fail with that.
    void Answer(std::string_view CallId, bool Fails = false);
    /// Ends the conversation; what was said stays to be read.
    void End();

private:
    void Listen();
    void Deafen();
    void OnMade(CoreAgent& Who);
    void OnFailed(const Parley::Fault& Why);
    void OnAnswer(const Messages::AnswerText& What);
    void OnSoundStarted(const Messages::AudioFormat& Format);
    void OnSound(const SoundChunk& Sound);
    void OnTurnCompleted(const Messages::TurnComplete& Turn);
    void OnToolCalled(const std::shared_ptr<ToolCall>& Call);
    void OnNodeHappened(const Messages::NodeEvent& What);
    void OnGone(const std::string& Why);
    void OnGaveUp(const std::string& Why);
    ChatLine* OpenLine(ChatLineKind Kind, std::int64_t TurnId, std::int64_t Step);
    void Close(std::int64_t TurnId);
    void Note(ChatLineKind Kind, std::string Text);
    void Tell();
    void ReadVariables();
    ChatToolCall* FindCall(std::string_view CallId);
    ChatVariable* FindVariable(std::string_view Name);

    std::shared_ptr<ParleyCore> Core;
    std::shared_ptr<CoreAgent> Agent;
    std::shared_ptr<bool> Life = std::make_shared<bool>(true);
    Json Workflow;
    /// What a person set, as long as the workflow declares the variable with that type.
    Json Values = Json::Object();
    std::deque<ChatLine> Lines;
    std::vector<std::shared_ptr<const TurnInspectorModel>> Turns;
    std::vector<ChatVariable> Variables;
    std::vector<ChatToolCall> ToolCalls;
    std::vector<Finding> Found;
    std::string Fault;
    HandlerId OfCore[2] = {0, 0};
    HandlerId OfAgent[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    /// Of the step that speaks: what came, and what a second of it takes.
    std::size_t SoundBytes = 0;
    std::int64_t BytesPerSecond = 1;
};

} // namespace Parley::Editor
