// When to greet, to say Ping, to give up and to try again, and what becomes of requests meanwhile.
#include "Core/SessionProtocol.h"

#include "Core/Numbers.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace Parley
{

namespace SessionProtocolLocal
{

constexpr std::uint64_t MaxBacklogBytes = 32 * 1024 * 1024;
constexpr int ReadBatch = 256;
constexpr double ByeS = 0.4;
constexpr double MinHeartbeatS = 0.02;
constexpr double MaxHeartbeatS = 3600.0;
constexpr double Pauses[] = {0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0};

std::string WhyNotGreeted(const std::string& Why)
{
    if (Why == Link::WasClosed)
    {
        return Why + " before Hello was answered; is it a sidecar that listens there?";
    }
    return !Why.empty() ? Why : "Hello was not answered";
}

std::shared_ptr<const Fault> Local(std::string_view Name, std::string Text)
{
    return std::make_shared<const Fault>(Fault::Local(Name, std::move(Text)));
}

} // namespace SessionProtocolLocal

SessionShared::SessionShared(SessionOptions Given) : Options(std::move(Given)), Arrived(Options.LastSeq)
{
    Record.LastRequestId = Options.LastRequestId;
    Record.AcknowledgedSeq = Options.LastSeq;
}

SessionProtocol::SessionProtocol(const ZmqContext& InContext, SessionShared& InShared)
    : Context(InContext)
    , Shared(InShared)
    , Incoming(InShared.Options.MaxJsonBytes, InShared.Options.MaxPayloadBytes)
    , Order(InShared.Options.LastSeq, !InShared.Options.ResumeKey.empty())
    , GiveUpAt(InShared.Options.ConnectTimeoutS)
    , SessionKey(InShared.Options.ResumeKey)
    , NextId(InShared.Options.LastRequestId + 1)
{
}

bool SessionProtocol::AddTo(ZmqPoll& Poll) const
{
    const bool Reads = !IsBacklogFull();
    if (Connection != nullptr)
    {
        // Behind Bye nothing more is sent.
        Connection->AddTo(Poll, Reads, Stage == Phase::Live && ByeId == 0 && Shared.Requests.HasUnsent());
    }
    return Reads;
}

double SessionProtocol::NextDue(double Now) const
{
    const double Due = (std::min)(ByeUntil, Shared.Requests.NextDeadline());
    if (Stage == Phase::Pausing)
    {
        return (std::min)(Due, RetryAt);
    }
    if (Connection->IsBroken())
    {
        return Now;
    }
    return (std::min)(Due, Stage == Phase::Greeting ? TryUntil : (std::min)(NextBeat, LastHeard + Patience()));
}

void SessionProtocol::Tick(double Now)
{
    switch (Stage)
    {
        case Phase::Pausing:
            if (Now >= RetryAt)
            {
                Greet(Now);
            }
            break;
        case Phase::Greeting:
            if (Connection->IsBroken() || Now >= TryUntil)
            {
                GiveUpTry(Now, SessionProtocolLocal::WhyNotGreeted(Connection->Why()));
            }
            break;
        case Phase::Live:
            KeepAlive(Now);
            break;
        case Phase::Over:
            break;
    }
    if (Stage == Phase::Over)
    {
        return;
    }
    if (Now >= ByeUntil)
    {
        End(SessionEnd::Bye, nullptr);
        return;
    }
    if (WasReady)
    {
        TakeInRequests(Now);
    }
    ExpireRequests(Now);
    if (Stage == Phase::Live)
    {
        SendRequests();
    }
}

void SessionProtocol::Read(double Now)
{
    Link* Reads = Connection.get();
    if (Reads == nullptr || Reads->IsBroken())
    {
        return;
    }
    // Asked first: what came before the end is then sure to be found.
    const bool Ended = Reads->HearsTheEnd();
    int Left = Ended ? (std::numeric_limits<int>::max)() : IsBacklogFull() ? 0 : SessionProtocolLocal::ReadBatch;
    while (Left-- > 0 && !Reads->IsBroken() && Reads->TryReceive(Incoming))
    {
        Take(Now);
        if (Connection.get() != Reads)
        {
            return;
        }
    }
    if (Ended && !Reads->IsBroken())
    {
        Reads->Break(Reads->Why());
    }
}

void SessionProtocol::Leave(double Now)
{
    if (Stage == Phase::Live)
    {
        TakeInRequests(Now);
        SendRequests();
    }
    End(SessionEnd::Stopped, nullptr);
}

void SessionProtocol::BeginBye(double Now)
{
    if (Connection == nullptr || Connection->IsBroken())
    {
        End(SessionEnd::Stopped, nullptr);
        return;
    }
    if (Stage == Phase::Live)
    {
        TakeInRequests(Now);
        SendRequests();
    }
    // Where Hello is not answered yet, Bye follows it on its way.
    ByeId = TakeId();
    ByeUntil = Now + SessionProtocolLocal::ByeS;
    Connection->TrySend(Frames::Encode(*Shared.Options.Codec, Messages::Bye(), ByeId));
}

void SessionProtocol::End(SessionEnd Ended, std::shared_ptr<const Fault> Why)
{
    if (Stage == Phase::Over)
    {
        return;
    }
    Stage = Phase::Over;
    if (Connection != nullptr)
    {
        Connection->Close(Ended == SessionEnd::Stopped || Ended == SessionEnd::Bye ? Link::LingerMs : 0);
        Connection.reset();
    }
    Shared.Record.Close(Ended, Why);
    const std::shared_ptr<const Fault> Reason = Why != nullptr
        ? Why
        : SessionProtocolLocal::Local(LocalFaults::SessionClosed, "the session was ended on this side");
    Scratch.clear();
    Shared.Requests.Close(Scratch);
    for (PendingRequests::Item& Open : Scratch)
    {
        TellFault(std::move(Open), Reason);
    }
    Scratch.clear();
    TellState(SessionState::Closed, std::move(Why));
}

// ---- connections ----

bool SessionProtocol::IsBacklogFull() const noexcept
{
    return Shared.Arrived.WaitingBytes() > SessionProtocolLocal::MaxBacklogBytes;
}

void SessionProtocol::Greet(double Now)
{
    const SessionOptions& Options = Shared.Options;
    const std::size_t Most = 2 * (std::max)(Options.MaxJsonBytes, Options.MaxPayloadBytes);
    std::unique_ptr<Link> Made = std::make_unique<Link>();
    std::string Said;
    if (!Made->Open(Context, Options.Endpoint, Options.ServerPublicKey, Most, ++Links, Said))
    {
        if (WasReady)
        {
            GiveUpTry(Now, Said);
            return;
        }
        End(SessionEnd::NotThere,
            std::make_shared<const Fault>(Fault::OfWire(
                ErrorCode::InvalidValue, "InvalidValue", Said + "; an endpoint looks like tcp://127.0.0.1:5600")));
        return;
    }
    Connection = std::move(Made);
    Messages::Hello Hello;
    Hello.Protocol = Protocol::ProtocolVersion;
    Hello.Client = Options.ClientName;
    Hello.Token = Options.Token;
    if (!SessionKey.empty())
    {
        Hello.Resume = SessionKey;
    }
    if (Order.Received() != 0)
    {
        Hello.LastSeq = Order.Received();
    }
    HelloId = TakeId();
    Stage = Phase::Greeting;
    TryUntil = (std::min)(Now + Options.TryTimeoutS, (std::max)(Now, GiveUpAt));
    Connection->TrySend(Frames::Encode(*Options.Codec, Hello, HelloId));
}

void SessionProtocol::GiveUpTry(double Now, const std::string& Why)
{
    if (Connection != nullptr)
    {
        if (Connection->Why() != Link::NobodyListens)
        {
            Ghosts.push_back(Now);
        }
        // What lingers would come behind what the next connection says.
        Connection->Close(0);
        Connection.reset();
    }
    if (ByeId != 0)
    {
        End(SessionEnd::Stopped, nullptr);
        return;
    }
    const SessionOptions& Options = Shared.Options;
    const double Pause = NextPause();
    if (Now + Pause < GiveUpAt)
    {
        Stage = Phase::Pausing;
        RetryAt = Now + Pause;
    }
    else if (WasReady)
    {
        End(SessionEnd::Lost,
            SessionProtocolLocal::Local(
                LocalFaults::ConnectionLost,
                "the sidecar at " + Options.Endpoint + " has not come back within " + Numbers::Shown(Options.ReconnectS)
                    + " s: " + Why));
    }
    else
    {
        End(SessionEnd::NotThere,
            SessionProtocolLocal::Local(
                LocalFaults::NotThere,
                "no sidecar answered at " + Options.Endpoint + " within " + Numbers::Shown(Options.ConnectTimeoutS)
                    + " s: " + Why));
    }
}

void SessionProtocol::Welcome(double Now, const Messages::SessionReady& Said)
{
    if (Said.Protocol != Protocol::ProtocolVersion)
    {
        End(SessionEnd::Refused,
            std::make_shared<const Fault>(Fault::OfWire(
                ErrorCode::ProtocolMismatch, "ProtocolMismatch",
                "the sidecar speaks protocol " + Numbers::Of(Said.Protocol) + ", not "
                    + Numbers::Of(Protocol::ProtocolVersion) + "; use a plugin and a sidecar of the same release")));
        return;
    }
    const SessionState State = WasReady ? SessionState::Back : SessionState::Ready;
    SessionKey = Said.SessionKey;
    NextId = (std::max)(NextId, Said.LastRequestId + 1);
    HeartbeatS = Said.HeartbeatS > 0.0
        ? (std::max)(
            SessionProtocolLocal::MinHeartbeatS, (std::min)(Said.HeartbeatS, SessionProtocolLocal::MaxHeartbeatS))
        : Protocol::HeartbeatS;
    LastHeard = Now;
    NextBeat = Now + HeartbeatS;
    HasProgressed = false;
    Stage = Phase::Live;
    if (WasReady)
    {
        Shared.Requests.SendAllAgain();
        Logs::Say(
            Shared.Options.Log, LogLevel::Info,
            "the session with the sidecar at " + Shared.Options.Endpoint + " goes on");
    }
    WasReady = true;
    Shared.Record.Open(State, std::make_shared<const Messages::SessionReady>(Said));
    TellState(State, nullptr);
}

void SessionProtocol::Lose(double Now, const std::string& Why)
{
    if (ByeId != 0)
    {
        End(SessionEnd::Bye, nullptr);
        return;
    }
    const SessionOptions& Options = Shared.Options;
    const std::shared_ptr<const Fault> Reason = SessionProtocolLocal::Local(
        LocalFaults::ConnectionLost, "the connection to the sidecar at " + Options.Endpoint + " is lost: " + Why);
    Connection->Close(0);
    Connection.reset();
    if (Options.ReconnectS <= 0.0)
    {
        End(SessionEnd::Lost, Reason);
        return;
    }
    // A sidecar whose first word breaks the connection again and again is not there.
    if (HasProgressed || !WasLost)
    {
        WasLost = true;
        GiveUpAt = Now + Options.ReconnectS;
        Tries = 0;
    }
    Logs::Say(Options.Log, LogLevel::Warning, Reason->Text + "; trying to take the session up again");
    Shared.Record.Lose();
    TellState(SessionState::Lost, Reason);
    Stage = Phase::Pausing;
    RetryAt = Now + NextPause();
}

void SessionProtocol::KeepAlive(double Now)
{
    if (Connection->IsBroken())
    {
        // A copy: it ends with the connection.
        const std::string Why = Connection->Why();
        Lose(Now, Why);
        return;
    }
    if (IsBacklogFull())
    {
        // What came is not read, not missing.
        LastHeard = Now;
    }
    if (Now >= LastHeard + Patience())
    {
        Lose(Now, "nothing came for " + Numbers::Shown(Patience()) + " s");
        return;
    }
    SessionRecord& Record = Shared.Record;
    std::uint64_t Seq = 0;
    std::uint64_t Bytes = 0;
    Order.FindAcknowledgeable(Shared.Arrived, Seq, Bytes);
    if (Seq < Record.AcknowledgedSeq)
    {
        Seq = Record.AcknowledgedSeq;
        Bytes = Record.AcknowledgedBytes;
    }
    // Not by adding: a number may be the last that there is.
    const bool IsMuch = Seq - Record.AcknowledgedSeq >= std::uint64_t{Protocol::AckFrames}
        || Bytes - (std::min)(Bytes, Record.AcknowledgedBytes.load()) >= std::uint64_t{Protocol::AckBytes};
    if (Now >= NextBeat || IsMuch)
    {
        NextBeat = Now + HeartbeatS;
        Record.AcknowledgedSeq = Seq;
        Record.AcknowledgedBytes = Bytes;
        Messages::Ping Ping;
        Ping.LastSeq = Seq;
        Connection->TrySend(Frames::Encode(*Shared.Options.Codec, Ping, 0));
    }
}

double SessionProtocol::Patience() const noexcept
{
    return (std::max)(Shared.Options.SilenceS, 3.0 * HeartbeatS);
}

double SessionProtocol::NextPause() noexcept
{
    return SessionProtocolLocal::Pauses[(std::min)(Tries++, std::size(SessionProtocolLocal::Pauses) - 1)];
}

// ---- requests ----

void SessionProtocol::TakeInRequests(double Now)
{
    while (PendingRequests::Item Asked = Shared.Requests.TakeAdded(Now))
    {
        Fault Why;
        if (Asked->Encode(*Shared.Options.Codec, TakeId(), Shared.Options.MaxJsonBytes, Why))
        {
            Shared.Requests.Open(std::move(Asked));
        }
        else if (Asked->TryFinish())
        {
            TellFault(std::move(Asked), std::make_shared<const Fault>(std::move(Why)));
        }
    }
}

void SessionProtocol::SendRequests()
{
    while (ByeId == 0)
    {
        const PendingRequest* Next = Shared.Requests.NextUnsent();
        if (Next == nullptr || !Connection->TrySend(Next->Parts))
        {
            return;
        }
        Shared.Requests.Sent();
    }
}

void SessionProtocol::ExpireRequests(double Now)
{
    if (Now < Shared.Requests.NextDeadline())
    {
        return;
    }
    Scratch.clear();
    Shared.Requests.Expire(Now, Scratch);
    for (PendingRequests::Item& Late : Scratch)
    {
        std::shared_ptr<const Fault> Why = SessionProtocolLocal::Local(
            LocalFaults::TimedOut,
            Late->TypeName + ": the sidecar did not answer within " + Numbers::Shown(Late->TimeoutS) + " s");
        TellFault(std::move(Late), std::move(Why));
    }
    Scratch.clear();
}

std::uint64_t SessionProtocol::TakeId()
{
    const std::uint64_t Id = NextId++;
    Shared.Record.LastRequestId = Id;
    return Id;
}

void SessionProtocol::TellFault(std::shared_ptr<PendingRequest> Asked, std::shared_ptr<const Fault> Why)
{
    Arrival Told;
    Told.RequestId = Asked->Id;
    Told.Answers = std::move(Asked);
    Told.Why = std::move(Why);
    Shared.Arrived.Add(std::move(Told));
}

void SessionProtocol::TellState(SessionState State, std::shared_ptr<const Fault> Why)
{
    Arrival Told;
    Told.State = State;
    Told.Why = std::move(Why);
    Shared.Arrived.Add(std::move(Told));
}

} // namespace Parley
