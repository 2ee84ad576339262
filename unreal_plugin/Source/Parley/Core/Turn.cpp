// How a turn is kept, ended by this side, and taken over a loss of all state.
#include "Core/Turn.h"

#include "Core/JsonRead.h"
#include "Core/Platform.h"

#include <atomic>
#include <utility>
#include <vector>

namespace Parley
{

namespace TurnLocal
{

LineId NextLine()
{
    static std::atomic<LineId> Last{0};
    return ++Last;
}

} // namespace TurnLocal

Turn::Turn(std::string Words) : Line(TurnLocal::NextLine()), Text(std::move(Words))
{
}

void Turn::Take(const Messages::AnswerText& Frame)
{
    TurnId = Frame.TurnId;
    const auto Added = Said.try_emplace(Frame.Step);
    SaidText& Step = Added.first->second;
    if (Added.second)
    {
        Step.NodeName = Frame.NodeName;
    }
    if (!Frame.IsDelta)
    {
        Step.Text.clear();
    }
    Step.Text += Frame.Text;
}

std::string Turn::TextOf(const Json* Node, std::string_view Name)
{
    const Json* Found = Node == nullptr ? nullptr : Node->Find(Name);
    return Found != nullptr && Found->IsString() ? Found->AsText() : std::string();
}

const Json* Turn::NodeOf(const Json& Workflow, std::string_view Name)
{
    const Json* Nodes = Workflow.Find("nodes");
    if (Nodes == nullptr)
    {
        return nullptr;
    }
    for (const Json& Node : Nodes->Items())
    {
        if (TextOf(&Node, "name") == Name)
        {
            return &Node;
        }
    }
    return nullptr;
}

Messages::TurnComplete Turn::End(
    const std::string& AgentId,
    const Json& Workflow,
    Messages::TurnStatus Status,
    ErrorCode Code,
    std::string_view Name,
    const std::string& Why) const
{
    std::vector<Messages::Output> Outputs;
    for (const auto& Step : Said)
    {
        if (Step.second.Text.empty())
        {
            continue;
        }
        const Json* Node = NodeOf(Workflow, Step.second.NodeName);
        Messages::Output Output;
        Output.Step = Step.first;
        Output.NodeName = Step.second.NodeName;
        Output.Slot = TextOf(Node, "output_name");
        if (Output.Slot.empty())
        {
            Output.Slot = Output.NodeName;
        }
        Output.Text = Step.second.Text;
        Output.Send = Messages::Send::Streamed;
        Output.HistoryRole = TextOf(Node, "history_role") == "None" ? Messages::HistoryRole::None
                                                                    : Messages::HistoryRole::Assistant;
        Output.HistoryName = TextOf(Node, "history_name");
        Outputs.push_back(std::move(Output));
    }
    Messages::TurnComplete Complete;
    Complete.AgentId = AgentId;
    Complete.TurnId = TurnId;
    Complete.Status = Status;
    if (Status == Messages::TurnStatus::Error)
    {
        Messages::TurnError& Error = Complete.Error.emplace();
        Error.Code = static_cast<int>(Code);
        Error.Name = std::string(Name);
        Error.Message = Why;
    }
    if (!Outputs.empty())
    {
        Messages::Interaction& Interaction = Complete.Interaction.emplace();
        Interaction.TurnId = TurnId;
        Interaction.User = Text;
        Interaction.Outputs = std::move(Outputs);
        Interaction.Status = Status;
        Interaction.Time = Platform::TimeOfDay();
    }
    return Complete;
}

Json Turn::ToState() const
{
    Json Steps = Json::Array();
    for (const auto& Step : Said)
    {
        Json& Made = Steps.Add(Json::Object());
        Made.Set("step", Json::Integer(Step.first));
        Made.Set("node_name", Json::String(Step.second.NodeName));
        Made.Set("text", Json::String(Step.second.Text));
    }
    Json State = Json::Object();
    State.Set("text", Json::String(Text));
    State.Set("turn_id", Json::Integer(TurnId));
    State.Set("said", std::move(Steps));
    State.Set("is_cancelled", Json::Boolean(IsCancelled));
    State.Set("is_to_be_cancelled", Json::Boolean(IsToBeCancelled));
    return State;
}

std::shared_ptr<Turn> Turn::FromState(const JsonRead& From)
{
    std::string Text;
    if (!From.Object() || !ReadNeeded(From, "text", Text))
    {
        return nullptr;
    }
    std::shared_ptr<Turn> Made = std::make_shared<Turn>(std::move(Text));
    Made->IsTakenOver = true;
    const Json* Steps = From.Get().Find("said");
    if (!ReadNeeded(From, "turn_id", Made->TurnId) || !ReadNeeded(From, "is_cancelled", Made->IsCancelled)
        || !ReadNeeded(From, "is_to_be_cancelled", Made->IsToBeCancelled)
        || (Steps == nullptr && !From.Missing("said")))
    {
        return nullptr;
    }
    const JsonRead All(*Steps, From, "said");
    if (!All.List())
    {
        return nullptr;
    }
    for (std::size_t Index = 0; Index < Steps->Items().size(); Index++)
    {
        const JsonRead One(Steps->Items()[Index], All, Index);
        std::int64_t Step = 0;
        SaidText Words;
        if (!One.Object() || !ReadNeeded(One, "step", Step) || !ReadNeeded(One, "node_name", Words.NodeName)
            || !ReadNeeded(One, "text", Words.Text))
        {
            return nullptr;
        }
        Made->Said[Step] = std::move(Words);
    }
    return Made;
}

} // namespace Parley
