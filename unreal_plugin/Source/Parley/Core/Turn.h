// What came of a turn, in case that nothing more does.
#pragma once

#include "Core/CoreAgent.h"
#include "Core/Generated/Messages.h"
#include "Core/Json.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace Parley
{

class JsonRead;

/// A line of the player's, from Say to its TurnComplete. Threading: the game's thread only.
class Turn
{
public:
    explicit Turn(std::string Line);

    void Take(const Messages::AnswerText& Frame);
    /// The end of a turn that its sidecar does not tell. What the player had seen of it stays in the dialog.
    Messages::TurnComplete End(
        const std::string& AgentId,
        const Json& Workflow,
        Messages::TurnStatus Status,
        ErrorCode Code,
        std::string_view Name,
        const std::string& Why) const;
    /// A node of a workflow; null: there is none.
    static const Json* NodeOf(const Json& Workflow, std::string_view Name);
    /// What a node says of itself; empty where it does not, or there is none.
    static std::string TextOf(const Json* Node, std::string_view Name);
    Json ToState() const;
    /// Null, and `From` has said why, where it cannot be read.
    static std::shared_ptr<Turn> FromState(const JsonRead& From);

    /// Names it among all lines of all agents.
    const LineId Line;
    /// The player's line.
    const std::string Text;
    /// As the sidecar counts; 0: it has not begun.
    std::int64_t TurnId = 0;
    /// Hears the end; empty: nobody waits.
    TurnCallback Ended;
    /// An object of before had it said; whether the sidecar heard it nobody knows.
    bool IsTakenOver = false;
    /// The game cancelled it: nobody listens any more.
    bool IsCancelled = false;
    /// The game cancelled it while the sidecar could not be told.
    bool IsToBeCancelled = false;

private:
    struct SaidText
    {
        std::string NodeName;
        std::string Text;
    };

    // By steps.
    std::map<std::int64_t, SaidText> Said;
};

} // namespace Parley
