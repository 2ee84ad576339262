// A call that a model made, and the game's answer to it.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Generated/Messages.h"
#include "Core/Json.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>

namespace Parley
{

class CoreAgent;

/// What a node wants the game to do. Answer once, with Reply or Fail, while the turn waits for it; a late or second
/// answer is harmless, and so is one after the agent or the core is gone.
/// Threading: Reply and Fail may be called from any thread; the rest does not change.
class PARLEY_CORE_API ToolCall
{
public:
    ToolCall(const ToolCall&) = delete;
    ToolCall& operator=(const ToolCall&) = delete;
    ~ToolCall();

    /// Whose turn it is; null where that one is gone. The game's thread only.
    std::shared_ptr<CoreAgent> GetAgent() const { return Agent.lock(); }
    /// The event itself.
    const Messages::NodeEvent& GetSource() const noexcept { return Source; }
    /// Names the call.
    const std::string& GetCallId() const noexcept { return CallId; }
    /// The tool's name, as the workflow has it.
    const std::string& GetTool() const noexcept { return Tool; }
    /// What it is called with; an object.
    const Json& GetArguments() const noexcept { return Arguments; }
    /// The node whose model made the call.
    const std::string& GetNodeName() const noexcept { return Source.NodeName; }

    /// Say what it brought, for the model to read.
    void Reply(std::string Result);
    /// Say why it failed; the model reads that instead.
    void Fail(std::string Error);

private:
    friend class CoreAgent;

    /// Result and error of the first answer; empty error: it went well.
    using Answered = std::function<void(const ToolCall& Call, std::string Result, std::string Error)>;

    ToolCall(std::weak_ptr<CoreAgent> Whose, const Messages::NodeEvent& Event, Answered What);
    void Answer(std::string Result, std::string Error);

    const std::weak_ptr<CoreAgent> Agent;
    const Messages::NodeEvent Source;
    const Answered OnAnswer;
    std::string CallId;
    std::string Tool;
    Json Arguments;
    std::atomic<bool> IsAnswered{false};
};

} // namespace Parley
