// What the session says, and what becomes of the sidecar.
#include "Core/CoreInside.h"
#include "Core/Numbers.h"
#include "Core/ParleySession.h"
#include "Core/Undertaker.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace Parley
{

namespace ParleyCoreLifeLocal
{

constexpr double UnboundedMs = 1e9;

/// Whose it is; empty: no agent's.
std::string_view AgentIdOf(const Push& What)
{
    switch (What.Id())
    {
        case MessageId::AnswerText:
            return static_cast<const Messages::AnswerText&>(What).AgentId;
        case MessageId::AudioChunk:
            return static_cast<const Messages::AudioChunk&>(What).AgentId;
        case MessageId::AudioFormat:
            return static_cast<const Messages::AudioFormat&>(What).AgentId;
        case MessageId::NodeEvent:
            return static_cast<const Messages::NodeEvent&>(What).AgentId;
        case MessageId::TurnComplete:
            return static_cast<const Messages::TurnComplete&>(What).AgentId;
        default:
            return {};
    }
}

} // namespace ParleyCoreLifeLocal

void CoreInside::OnPush(std::unique_ptr<Push> Said, std::vector<std::uint8_t> Payload, std::uint64_t)
{
    if (Life.GetSession() == nullptr)
    {
        // Whoever was called before ended all this; what the session still had is nobody's.
        return;
    }
    const Push& What = *Said;
    const auto Found = ById.find(ParleyCoreLifeLocal::AgentIdOf(What));
    if (Found != ById.end() && !Found->first.empty())
    {
        const std::shared_ptr<CoreAgent> Agent = Found->second;
        Agent->Take(What, Payload);
    }
    const Messages::Gap* Gap = As<Messages::Gap>(&What);
    if (Gap != nullptr && Gap->Reason == Messages::GapReason::Dropped)
    {
        Say(LogLevel::Warning,
            "frames " + Numbers::Of(Gap->FromSeq) + " to " + Numbers::Of(Gap->ToSeq)
                + " are lost: the sidecar keeps no more");
        LookAround(false);
    }
    Pushed.Raise(What);
}

void CoreInside::OnReply(std::uint64_t, std::unique_ptr<Reply> Said)
{
    if (const Messages::Error* Error = As<Messages::Error>(Said.get()))
    {
        Say(LogLevel::Warning, "the sidecar says: " + Fault::From(*Error).Shown());
    }
}

void CoreInside::OnState(SessionState SessionIs, const Fault*)
{
    if (Life.GetSession() == nullptr)
    {
        return;
    }
    if (SessionIs == SessionState::Lost)
    {
        LinkChanged.Raise(false);
    }
    else if (SessionIs == SessionState::Back)
    {
        LinkChanged.Raise(true);
    }
}

void CoreInside::LookAround(bool IsAfterReload)
{
    std::unique_ptr<Ask> What = std::make_unique<Ask>();
    What->IsOnce = true;
    What->Make = [] { return std::make_unique<Messages::ListAgents>(); };
    What->Done = [Weak = weak_from_this(), IsAfterReload](std::unique_ptr<Reply> Said, const Fault*)
    {
        const std::shared_ptr<CoreInside> Self = Weak.lock();
        const Messages::Agents* Found = As<Messages::Agents>(Said.get());
        if (Self == nullptr || Found == nullptr)
        {
            return;
        }
        for (const Messages::AgentInfo& Info : Found->Items)
        {
            const auto Known = Self->ById.find(Info.AgentId);
            if (Known == Self->ById.end())
            {
                if (IsAfterReload)
                {
                    Self->DestroyUnwanted(Info.AgentId);
                }
            }
            else if (!Info.Busy)
            {
                const std::shared_ptr<CoreAgent> Agent = Known->second;
                Agent->TellIdle();
            }
        }
    };
    Send(std::move(What));
}

// ---- what becomes of the sidecar ----

void CoreInside::OnConnected(bool IsResumed)
{
    if (!IsResumed)
    {
        MakeNext(-1);
        return;
    }
    IsMade = true;
    const int Of = Generation;
    const std::vector<Told> All = std::move(ToTell);
    ToTell.clear();
    for (const Told& One : All)
    {
        AskAnything(One.What, [Tell = One.Tell](std::unique_ptr<Reply>, const Fault* Why) { Tell(Why); });
    }
    SendWaiting();
    for (const std::shared_ptr<CoreAgent>& Agent : std::vector<std::shared_ptr<CoreAgent>>(Agents))
    {
        if (Agent->GetState() == AgentState::Ready)
        {
            Know(Agent);
            Agent->GoOn();
        }
        if (Of != Generation)
        {
            // Whoever heard of it ended all this.
            return;
        }
    }
    LookAround(true);
    MakeAgents();
}

void CoreInside::SendWaiting()
{
    std::vector<std::unique_ptr<Ask>> All = std::move(Waiting);
    Waiting.clear();
    for (std::unique_ptr<Ask>& One : All)
    {
        Send(std::move(One));
    }
}

void CoreInside::OnDrain()
{
    if (const std::shared_ptr<ParleySession> Session = Life.GetSession())
    {
        Session->Drain(*this, ParleyCoreLifeLocal::UnboundedMs);
    }
}

void CoreInside::OnLost(const std::string& Why)
{
    Say(LogLevel::Warning, Why + "; another one is started");
    std::vector<std::unique_ptr<Ask>> WereAsked = ForgetSession();
    if (WasReady && !IsToldGone)
    {
        IsToldGone = true;
        SetState(CoreState::Gone);
        Gone.Raise(Why);
    }
    LoseAgents(std::move(WereAsked), Why);
}

void CoreInside::OnGivenUp(const std::string& Why)
{
    Say(LogLevel::Error, Why);
    Trouble = Why;
    std::vector<std::unique_ptr<Ask>> WereAsked = ForgetSession();
    SetState(CoreState::Down);
    if (WasReady && !IsToldGone)
    {
        IsToldGone = true;
        Gone.Raise(Why);
    }
    LoseAgents(std::move(WereAsked), Why);
    if (Life.IsOn())
    {
        // Whoever heard of it has begun anew: what waits now waits for the next one.
        return;
    }
    FailAll(Faults::Down(Why));
    GaveUp.Raise(Why);
}

void CoreInside::LoseAgents(std::vector<std::unique_ptr<Ask>> WereAsked, const std::string& Why)
{
    std::vector<std::unique_ptr<Ask>> OfNobody;
    std::vector<std::unique_ptr<Ask>> Once;
    for (const std::shared_ptr<CoreAgent>& Agent : Agents)
    {
        std::vector<std::unique_ptr<Ask>> OfThis;
        for (std::unique_ptr<Ask>& One : WereAsked)
        {
            if (One != nullptr && !One->IsOnce && One->Agent == Agent)
            {
                OfThis.push_back(std::move(One));
            }
        }
        Agent->PutBack(std::move(OfThis));
    }
    for (std::unique_ptr<Ask>& One : WereAsked)
    {
        if (One != nullptr && One->IsOnce)
        {
            Once.push_back(std::move(One));
        }
        else if (One != nullptr && One->Agent == nullptr)
        {
            OfNobody.push_back(std::move(One));
        }
    }
    Waiting.insert(
        Waiting.begin(), std::make_move_iterator(OfNobody.begin()), std::make_move_iterator(OfNobody.end()));
    for (const std::shared_ptr<CoreAgent>& Agent : std::vector<std::shared_ptr<CoreAgent>>(Agents))
    {
        Agent->Lose(Why);
    }
    const Fault Lost = Faults::Lost(Why);
    for (const std::unique_ptr<Ask>& One : Once)
    {
        One->Done(nullptr, &Lost);
    }
    for (const std::unique_ptr<Ask>& One : WereAsked)
    {
        if (One != nullptr)
        {
            // Of an agent that was destroyed meanwhile.
            const Fault Destroyed = Faults::Destroyed();
            One->Done(nullptr, &Destroyed);
        }
    }
    if (!Life.IsOn())
    {
        // Whoever heard of the loss ended all this: what was put back now waits for nobody.
        FailAll(Faults::Down(Trouble.empty() ? "the sidecar was stopped" : Trouble));
    }
}

void CoreInside::FailAll(const Fault& Why)
{
    for (const std::shared_ptr<CoreAgent>& Agent : std::vector<std::shared_ptr<CoreAgent>>(Agents))
    {
        Agent->FailWaiting(Why);
    }
    FailWaiting(Why);
}

std::vector<std::unique_ptr<Ask>> CoreInside::ForgetSession()
{
    Generation++;
    IsMade = false;
    AgentsToMake = 0;
    ById.clear();
    std::vector<std::unique_ptr<Ask>> WereAsked = std::move(Asked);
    Asked.clear();
    return WereAsked;
}

void CoreInside::MakeNext(std::ptrdiff_t Index)
{
    if (Index == static_cast<std::ptrdiff_t>(Made.size()))
    {
        IsMade = true;
        // What is left was to be taken back from a session that did not go on: this one never had it.
        Tell(nullptr, nullptr);
        SendWaiting();
        MakeAgents();
        return;
    }
    const KeptRequest Wanted = Index < 0 ? ConfiguredRequest : Made[static_cast<std::size_t>(Index)];
    if (Wanted == nullptr)
    {
        MakeNext(Index + 1);
        return;
    }
    std::unique_ptr<Ask> What = std::make_unique<Ask>();
    What->IsOnce = true;
    What->Make = [Wanted]() -> std::unique_ptr<Request> { return CopyOf(Wanted); };
    What->Done = [Weak = weak_from_this(), Wanted, Index](std::unique_ptr<Reply>, const Fault* Why)
    {
        const std::shared_ptr<CoreInside> Self = Weak.lock();
        if (Self == nullptr || (Why != nullptr && Faults::MeansGone(*Why)))
        {
            return;
        }
        const std::string Name = NameOf(*Wanted);
        const bool IsAwaited = std::any_of(
            Self->ToTell.begin(), Self->ToTell.end(), [&Name](const Told& One) { return NameOf(*One.What) == Name; });
        if (Why != nullptr && !IsAwaited)
        {
            Self->SayRefused(Name, *Why);
        }
        const int Of = Self->Generation;
        Self->Tell(&Name, Why);
        if (Of != Self->Generation)
        {
            // Whoever heard of it ended all this.
            return;
        }
        // What was refused or dropped is not there any more, and the next one has moved up.
        const auto At = std::find(Self->Made.begin(), Self->Made.end(), Wanted);
        const std::ptrdiff_t Count = static_cast<std::ptrdiff_t>(Self->Made.size());
        Self->MakeNext(
            Index < 0 ? 0 : At != Self->Made.end() ? At - Self->Made.begin() + 1 : (std::min)(Index, Count));
    };
    Send(std::move(What));
}

void CoreInside::MakeAgents()
{
    std::vector<std::shared_ptr<CoreAgent>> All;
    for (const std::shared_ptr<CoreAgent>& Agent : Agents)
    {
        if (Agent->ShouldBeMade() && Agent->GetState() != AgentState::Ready)
        {
            All.push_back(Agent);
        }
    }
    AgentsToMake = static_cast<int>(All.size());
    if (All.empty())
    {
        AllMade();
        return;
    }
    for (const std::shared_ptr<CoreAgent>& Agent : All)
    {
        Agent->Make(
            [Weak = weak_from_this(), Of = Generation]
            {
                const std::shared_ptr<CoreInside> Self = Weak.lock();
                if (Self != nullptr && Of == Self->Generation && --Self->AgentsToMake == 0)
                {
                    Self->AllMade();
                }
            });
    }
}

void CoreInside::AllMade()
{
    if (!IsConnected() || State == CoreState::Ready)
    {
        return;
    }
    Life.MarkUp();
    WasReady = true;
    SetState(CoreState::Ready);
    if (IsToldGone)
    {
        IsToldGone = false;
        Say(LogLevel::Warning, "the sidecar is back, with " + Numbers::Of(Agents.size()) + " agents");
        Back.Raise();
    }
}

void CoreInside::LookAtEnd()
{
    if (Undertakers.empty())
    {
        return;
    }
    for (const std::shared_ptr<Undertaker>& One : Undertakers)
    {
        if (!One->IsDone())
        {
            return;
        }
    }
    Undertakers.clear();
    if (State == CoreState::Stopping)
    {
        SetState(CoreState::Stopped);
    }
}

void CoreInside::SetState(CoreState What)
{
    if (State == What)
    {
        return;
    }
    State = What;
    // Whoever waits as a handler begins or ends it anew does not wait for this.
    std::vector<DoneCallback> Started;
    if (What == CoreState::Ready || What == CoreState::Down || What == CoreState::Stopping || What == CoreState::Stopped)
    {
        Started.swap(Starting);
    }
    std::vector<std::function<void()>> Ended;
    if (What != CoreState::Stopping)
    {
        Ended.swap(Ending);
    }
    const Fault Why = Faults::Down(What == CoreState::Down ? Trouble : "the sidecar was stopped");
    StateChanged.Raise(What);
    const bool IsReady = What == CoreState::Ready && State == CoreState::Ready;
    for (const DoneCallback& One : Started)
    {
        One(IsReady ? nullptr : &Why);
    }
    for (const std::function<void()>& One : Ended)
    {
        One();
    }
}

} // namespace Parley
