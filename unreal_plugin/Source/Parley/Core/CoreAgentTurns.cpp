// The turns of a character: said, seen, cut, ended.
#include "Core/Ask.h"
#include "Core/CoreAgent.h"
#include "Core/CoreInside.h"
#include "Core/JsonRead.h"
#include "Core/ParleySession.h"
#include "Core/Turn.h"

#include <iterator>
#include <utility>

namespace Parley
{

void CoreAgent::Lose(const std::string& Why)
{
    Making++;
    AgentId.clear();
    if (State == AgentState::Ready)
    {
        State = AgentState::Making;
    }
    Settle(
        Messages::TurnStatus::Error,
        ErrorCode::ShuttingDown,
        "ShuttingDown",
        "the sidecar was lost during this turn: " + Why);
}

void CoreAgent::StopTurns()
{
    Making++;
    AgentId.clear();
    if (State == AgentState::Ready)
    {
        State = AgentState::Making;
    }
    Settle(Messages::TurnStatus::Cancelled, ErrorCode::ShuttingDown, "ShuttingDown", "the sidecar was stopped");
    DropQueued();
}

void CoreAgent::FailWaiting(const Fault& Why)
{
    const std::shared_ptr<Turn> Queued = std::move(Next);
    Next = nullptr;
    if (Queued != nullptr)
    {
        Complete(Queued, Queued->End("", *Workflow, Messages::TurnStatus::Error, Why.Code, Why.Name, Why.Text));
    }
    const std::vector<std::unique_ptr<Ask>> All = std::move(Later);
    Later.clear();
    for (const std::unique_ptr<Ask>& One : All)
    {
        One->Done(nullptr, &Why);
    }
    TellCreated(&Why);
}

void CoreAgent::DoLater(std::unique_ptr<Ask> What)
{
    if (State == AgentState::Destroyed || State == AgentState::Failed)
    {
        // No sidecar will have it that could do it.
        const Fault Why = WhyUnavailable();
        What->Done(nullptr, &Why);
        return;
    }
    Later.push_back(std::move(What));
}

void CoreAgent::PutBack(std::vector<std::unique_ptr<Ask>> All)
{
    Later.insert(Later.begin(), std::make_move_iterator(All.begin()), std::make_move_iterator(All.end()));
}

void CoreAgent::Take(const Push& What, const std::vector<std::uint8_t>& Payload)
{
    if (State == AgentState::Destroyed)
    {
        return;
    }
    if (const Messages::AnswerText* Text = As<Messages::AnswerText>(&What))
    {
        if (IsOfTurn(Text->TurnId))
        {
            Current->Take(*Text);
            Answer.Raise(*Text);
        }
    }
    else if (const Messages::TurnComplete* How = As<Messages::TurnComplete>(&What))
    {
        TakeEnd(*How);
    }
    else if (const Messages::NodeEvent* Event = As<Messages::NodeEvent>(&What))
    {
        TakeEvent(*Event);
    }
    else if (const Messages::AudioChunk* Chunk = As<Messages::AudioChunk>(&What))
    {
        if (IsHeard(Chunk->TurnId))
        {
            Sound.Raise(SoundChunk{*Chunk, Payload.empty() ? nullptr : Payload.data(), Payload.size()});
        }
    }
    else if (const Messages::AudioFormat* Format = As<Messages::AudioFormat>(&What))
    {
        if (IsHeard(Format->TurnId))
        {
            SoundStarted.Raise(*Format);
        }
    }
}

bool CoreAgent::IsHeard(std::int64_t TurnId) const
{
    return IsOfTurn(TurnId) && !Current->IsCancelled;
}

bool CoreAgent::IsOfTurn(std::int64_t TurnId) const
{
    // TurnStarted comes before all else of a turn, unless an object of before had it.
    return Current != nullptr && (Current->TurnId == TurnId || (Current->TurnId == 0 && Current->IsTakenOver));
}

void CoreAgent::TellIdle()
{
    const std::shared_ptr<Turn> What = Current;
    if (What != nullptr && What->TurnId == 0 && What->IsTakenOver)
    {
        // The line never came there: the connection was broken when the object of before had it said.
        What->IsTakenOver = false;
        Send(What);
        if (What->IsToBeCancelled)
        {
            CancelTurn(What);
        }
    }
    else if (What != nullptr && What->TurnId > 0)
    {
        Settle(Messages::TurnStatus::Error, ErrorCode::SessionExpired, "SessionExpired", "the turn's end was lost");
        SayQueued();
    }
}

void CoreAgent::Send(std::shared_ptr<Turn> What)
{
    const std::shared_ptr<CoreInside> Inside = Core.lock();
    Current = What;
    std::unique_ptr<Ask> Line = std::make_unique<Ask>();
    Line->Agent = shared_from_this();
    Line->IsOnce = true;
    // A line that is given up here may still be answered there. It waits as long as the session lasts.
    Line->TimeoutS = ParleySession::NoTimeout;
    Line->Make = [Self = shared_from_this(), What]
    {
        std::unique_ptr<Messages::SendMessage> Message = std::make_unique<Messages::SendMessage>();
        Message->AgentId = Self->AgentId;
        Message->Text = What->Text;
        return Message;
    };
    Line->Done = [Self = shared_from_this(), What](std::unique_ptr<Reply> Said, const Fault* Why)
    {
        if (const Messages::TurnStarted* Started = As<Messages::TurnStarted>(Said.get()))
        {
            What->TurnId = Started->TurnId;
        }
        else if (Self->Current == What && (Why == nullptr || !Faults::MeansGone(*Why)))
        {
            // Where the sidecar is gone, Lose says so, to all of its turns alike.
            Self->Refused(What, Why);
        }
    };
    Inside->Send(std::move(Line));
}

void CoreAgent::Refused(const std::shared_ptr<Turn>& What, const Fault* Why)
{
    Current = nullptr;
    const Messages::TurnComplete How = What->End(
        AgentId,
        *Workflow,
        Messages::TurnStatus::Error,
        Why == nullptr ? ErrorCode::None : Why->Code,
        Why == nullptr ? LocalFaults::InternalFault : std::string_view(Why->Name),
        Why == nullptr ? "the sidecar answered with something else" : Why->Text);
    if (How.Interaction)
    {
        Mirror.Add(*How.Interaction);
    }
    SayQueued();
    Complete(What, How);
}

void CoreAgent::SayQueued()
{
    const std::shared_ptr<CoreInside> Inside = Core.lock();
    if (Next == nullptr || Current != nullptr || State != AgentState::Ready || Inside == nullptr
        || !Inside->IsConnected() || Loading != nullptr)
    {
        return;
    }
    std::shared_ptr<Turn> What = std::move(Next);
    Next = nullptr;
    Send(std::move(What));
}

void CoreAgent::CancelTurn(const std::shared_ptr<Turn>& Which)
{
    const std::shared_ptr<CoreInside> Inside = Core.lock();
    const std::shared_ptr<Turn> What = Which;
    if (What == nullptr || Inside == nullptr)
    {
        return;
    }
    if (What == Next)
    {
        DropQueued();
        return;
    }
    What->IsCancelled = true;
    if (What == Current && !Inside->IsConnected())
    {
        What->IsToBeCancelled = true;
    }
    else if (What == Current && State == AgentState::Ready)
    {
        AskOnce(
            [Self = shared_from_this(), TurnId = What->TurnId]
            {
                std::unique_ptr<Messages::CancelTurn> Message = std::make_unique<Messages::CancelTurn>();
                Message->AgentId = Self->AgentId;
                if (TurnId > 0)
                {
                    Message->TurnId = TurnId;
                }
                return Message;
            },
            // A turn that cannot be found any more is over.
            [](std::unique_ptr<Reply>, const Fault*) {});
    }
}

void CoreAgent::DropQueued()
{
    const std::shared_ptr<Turn> Queued = std::move(Next);
    Next = nullptr;
    if (Queued != nullptr)
    {
        Complete(Queued, Queued->End(AgentId, *Workflow, Messages::TurnStatus::Cancelled, ErrorCode::None, "", ""));
    }
}

void CoreAgent::TakeEnd(const Messages::TurnComplete& How)
{
    if (How.Interaction)
    {
        Mirror.Add(*How.Interaction);
    }
    if (!IsOfTurn(How.TurnId))
    {
        // Its line has found its end already, and there is but one for each.
        return;
    }
    const std::shared_ptr<Turn> What = std::move(Current);
    Current = nullptr;
    // The line that waited was said first: what a handler says now comes behind it.
    SayQueued();
    Complete(What, How);
}

void CoreAgent::Settle(
    Messages::TurnStatus Status, ErrorCode Code, std::string_view Name, const std::string& Why)
{
    const std::shared_ptr<Turn> What = std::move(Current);
    Current = nullptr;
    if (What == nullptr)
    {
        return;
    }
    const Messages::TurnComplete How = What->End(AgentId, *Workflow, Status, Code, Name, Why);
    if (How.Interaction)
    {
        Mirror.Add(*How.Interaction);
    }
    Complete(What, How);
}

void CoreAgent::Complete(const std::shared_ptr<Turn>& What, const Messages::TurnComplete& How)
{
    const std::shared_ptr<Turn> Kept = What;
    TurnCompleted.Raise(How);
    if (Kept->Ended)
    {
        const TurnCallback Ended = std::move(Kept->Ended);
        Kept->Ended = nullptr;
        Ended(How);
    }
}

void CoreAgent::TakeEvent(const Messages::NodeEvent& Event)
{
    if (IsOfTurn(Event.TurnId))
    {
        Current->TurnId = Event.TurnId;
    }
    if (Event.Event == "summary_written")
    {
        TakeSummary(Event);
    }
    const std::string Before = AgentId;
    NodeHappened.Raise(Event);
    // Unless a handler has ended it.
    const std::shared_ptr<CoreInside> Inside = Core.lock();
    if (Event.Event != "tool_call" || AgentId != Before || Inside == nullptr)
    {
        return;
    }
    // Whoever answers may do so on any thread, and when all this is gone: it holds nothing but the queue.
    const std::shared_ptr<ToolCall> Call(new ToolCall(
        weak_from_this(),
        Event,
        [Queue = Inside->Queue, Weak = weak_from_this(), Before](
            const ToolCall& Answered, std::string Result, std::string Error)
        {
            Queue->OnGameThread(
                [Weak, Before, CallId = Answered.GetCallId(), Tool = Answered.GetTool(), Result = std::move(Result),
                 Error = std::move(Error)]
                {
                    if (const std::shared_ptr<CoreAgent> Self = Weak.lock())
                    {
                        Self->Bring(Before, CallId, Tool, Result, Error);
                    }
                });
        }));
    ToolCalled.Raise(Call);
}

void CoreAgent::TakeSummary(const Messages::NodeEvent& Event)
{
    Messages::Summary Summary;
    std::string Wrong;
    const JsonRead From(Event.Data, Wrong);
    if (ReadNeeded(From, "text", Summary.Text) && ReadNeeded(From, "covers", Summary.Covers))
    {
        Mirror.SetSummary(std::move(Summary));
    }
    else if (const std::shared_ptr<CoreInside> Inside = Core.lock())
    {
        Inside->Say(LogLevel::Warning, "a summary that cannot be read is left out: " + Wrong);
    }
}

void CoreAgent::Bring(
    const std::string& OfAgentId, const std::string& CallId, const std::string& Tool, std::string Result, std::string Error)
{
    const std::shared_ptr<CoreInside> Inside = Core.lock();
    if (OfAgentId != AgentId || State != AgentState::Ready || Inside == nullptr || !Inside->IsConnected())
    {
        return;
    }
    AskOnce(
        [OfAgentId, CallId, Result = std::move(Result), Error = std::move(Error)]
        {
            std::unique_ptr<Messages::ToolResult> Message = std::make_unique<Messages::ToolResult>();
            Message->AgentId = OfAgentId;
            Message->CallId = CallId;
            Message->Result = Result;
            if (!Error.empty())
            {
                Message->Error = Error;
            }
            return Message;
        },
        [Weak = Core, Tool](std::unique_ptr<Reply>, const Fault* Why)
        {
            const std::shared_ptr<CoreInside> Owner = Weak.lock();
            if (Owner != nullptr && Why != nullptr)
            {
                Owner->Say(LogLevel::Debug, "the result of " + Tool + " came too late: " + Why->Text);
            }
        });
}

} // namespace Parley
