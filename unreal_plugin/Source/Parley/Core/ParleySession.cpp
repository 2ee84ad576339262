// What the game asks of a session, and how it is told.
#include "Core/ParleySession.h"

#include "Core/Generated/Protocol.h"
#include "Core/Inbox.h"
#include "Core/SessionProtocol.h"
#include "Core/SessionThread.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace Parley
{

namespace ParleySessionLocal
{

constexpr int StopMs = 900;

double Seconds(MessageId Id, double TimeoutS)
{
    if (TimeoutS > 0.0)
    {
        return TimeoutS;
    }
    if (TimeoutS < 0.0)
    {
        return std::numeric_limits<double>::infinity();
    }
    const bool IsLong = Id == MessageId::CreateAgent || Id == MessageId::LoadModel || Id == MessageId::DownloadModel
        || Id == MessageId::CreateEmbeddedStorage;
    return IsLong ? Protocol::LongRequestTimeoutS : Protocol::RequestTimeoutS;
}

template <class T>
std::unique_ptr<T> Cast(std::unique_ptr<Message> Said)
{
    return std::unique_ptr<T>(static_cast<T*>(Said.release()));
}

// Whether somebody was told.
bool HandOn(IFrameSink& Sink, Arrival& Came)
{
    if (Came.State.has_value())
    {
        Sink.OnState(*Came.State, Came.Why.get());
        return true;
    }
    if (Came.Answers != nullptr)
    {
        const ReplyHandler Done = std::exchange(Came.Answers->Done, nullptr);
        if (Done)
        {
            Done(Came.Why == nullptr ? Cast<Reply>(std::move(Came.Said)) : nullptr, Came.Why.get());
        }
        return true;
    }
    if (Came.Said == nullptr)
    {
        return false;
    }
    if (Came.Said->Kind() == MessageKind::Push)
    {
        Sink.OnPush(Cast<Push>(std::move(Came.Said)), std::move(Came.Payload), Came.Seq);
    }
    else
    {
        Sink.OnReply(Came.RequestId, Cast<Reply>(std::move(Came.Said)));
    }
    return true;
}

} // namespace ParleySessionLocal

IFrameSink::~IFrameSink() = default;

std::unique_ptr<ParleySession> ParleySession::Connect(SessionOptions Options, Fault& Why)
{
    if (Options.Zmq == nullptr || Options.Codec == nullptr)
    {
        Why = Fault::Local(
            LocalFaults::LibraryMissing,
            Options.Zmq == nullptr ? "the session's options name no ZeroMQ library (Zmq)"
                                   : "the session's options name no reader of JSON (Codec)");
        return nullptr;
    }
    std::shared_ptr<SessionShared> Data = std::make_shared<SessionShared>(std::move(Options));
    std::shared_ptr<SessionThread> Made = SessionThread::Make(Data, Why);
    if (Made == nullptr)
    {
        return nullptr;
    }
    std::unique_ptr<ParleySession> Session(new ParleySession(std::move(Data)));
    Session->Thread = std::move(Made);
    Session->Thread->Start(Session->Thread);
    return Session;
}

ParleySession::ParleySession(std::shared_ptr<SessionShared> Data) : Shared(std::move(Data))
{
}

ParleySession::~ParleySession()
{
    if (Thread == nullptr)
    {
        return;
    }
    Stop();
    // What the game's callbacks hold ends on the game's thread, whoever is the last to hold the queue.
    Arrival Untold;
    while (Shared->Arrived.TryTake(Untold))
    {
        if (Untold.Answers != nullptr)
        {
            Untold.Answers->Done = nullptr;
        }
        Untold = Arrival();
    }
}

SessionState ParleySession::GetState() const noexcept
{
    return Shared->Record.State();
}

SessionEnd ParleySession::GetEnd() const
{
    return Shared->Record.End();
}

std::shared_ptr<const Fault> ParleySession::GetFault() const
{
    return Shared->Record.Why();
}

const std::string& ParleySession::GetEndpoint() const noexcept
{
    return Shared->Options.Endpoint;
}

std::shared_ptr<const Messages::SessionReady> ParleySession::GetReady() const
{
    return Shared->Record.Ready();
}

std::string ParleySession::GetSessionKey() const
{
    const std::shared_ptr<const Messages::SessionReady> Ready = GetReady();
    return Ready != nullptr ? Ready->SessionKey : Shared->Options.ResumeKey;
}

std::uint64_t ParleySession::GetLastSeq() const noexcept
{
    return Shared->Arrived.TakenSeq();
}

std::uint64_t ParleySession::GetLastRequestId() const noexcept
{
    return Shared->Record.LastRequestId;
}

std::size_t ParleySession::GetWaiting() const noexcept
{
    return Shared->Arrived.Count();
}

std::shared_ptr<PendingRequest> ParleySession::Send(std::unique_ptr<Request> Said, double TimeoutS, ReplyHandler Done)
{
    const double Seconds = ParleySessionLocal::Seconds(Said->Id(), TimeoutS);
    std::shared_ptr<PendingRequest> Asked =
        std::make_shared<PendingRequest>(std::move(Said), Seconds, std::move(Done));
    if (Shared->Requests.Add(Asked))
    {
        Thread->Wake();
    }
    else if (Asked->TryFinish())
    {
        Arrival Told;
        Told.Answers = Asked;
        Told.Why = GetFault();
        if (Told.Why == nullptr)
        {
            Told.Why = std::make_shared<const Fault>(
                Fault::Local(LocalFaults::SessionClosed, "the session was ended on this side"));
        }
        Shared->Arrived.Add(std::move(Told));
    }
    return Asked;
}

int ParleySession::Drain(IFrameSink& Sink, double BudgetMs)
{
    if (IsDraining || Shared->Arrived.Count() == 0)
    {
        return 0;
    }
    IsDraining = true;
    const auto Begun = std::chrono::steady_clock::now();
    int Handed = 0;
    Arrival Came;
    do
    {
        if (!Shared->Arrived.TryTake(Came))
        {
            break;
        }
        Handed += ParleySessionLocal::HandOn(Sink, Came) ? 1 : 0;
    } while (std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - Begun).count() < BudgetMs);
    IsDraining = false;
    const SessionRecord& Record = Shared->Record;
    const std::uint64_t Told = Record.AcknowledgedSeq;
    const std::uint64_t ToldBytes = Record.AcknowledgedBytes;
    const std::uint64_t Taken = (std::max)(Told, Shared->Arrived.TakenSeq());
    const std::uint64_t TakenBytes = (std::max)(ToldBytes, Shared->Arrived.TakenBytes());
    // Not by adding: a number may be the last that there is.
    if (Taken - Told >= std::uint64_t{Protocol::AckFrames}
        || TakenBytes - ToldBytes >= std::uint64_t{Protocol::AckBytes})
    {
        Thread->Wake();
    }
    return Handed;
}

void ParleySession::Stop(bool SayBye)
{
    Thread->Stop(SayBye, ParleySessionLocal::StopMs);
}

} // namespace Parley
