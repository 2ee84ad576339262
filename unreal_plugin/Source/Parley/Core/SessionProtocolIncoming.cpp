// What a session makes of what comes: each message is judged, numbered, and handed to whom it is for.
#include "Core/SessionProtocol.h"

#include "Core/Numbers.h"

#include <utility>

namespace Parley
{

namespace SessionProtocolIncomingLocal
{

// A Hello that came to nothing may be heard so much later.
constexpr double GhostS = 60.0;

std::shared_ptr<const Fault> OfGoodbye(ErrorCode Code, std::string_view Name, std::string Text)
{
    return std::make_shared<const Fault>(Fault::OfWire(Code, Name, std::move(Text)));
}

} // namespace SessionProtocolIncomingLocal

void SessionProtocol::Take(double Now)
{
    LastHeard = Now;
    Fault Why;
    if (!Incoming.Judge(Why))
    {
        End(SessionEnd::Malformed, std::make_shared<const Fault>(std::move(Why)));
        return;
    }
    const std::uint64_t Seq = Incoming.Seq();
    if (Seq != 0 && Order.Has(Seq))
    {
        return;
    }
    std::unique_ptr<Message> Said;
    if (!Incoming.Interpret(*Shared.Options.Codec, Said, Why))
    {
        End(SessionEnd::Malformed, std::make_shared<const Fault>(std::move(Why)));
        return;
    }
    if (Seq != 0 && !IsNext(Said.get()))
    {
        return;
    }
    if (IsAboutThisLink(Now, Said.get()))
    {
        return;
    }
    if (Said != nullptr && Said->Kind() == MessageKind::Reply)
    {
        Settle(std::move(Said));
        return;
    }
    if (Said != nullptr && Said->Kind() != MessageKind::Push)
    {
        // A request: nothing that a client could do.
        Said.reset();
    }
    const Messages::Goodbye* Goodbye = As<Messages::Goodbye>(Said.get());
    const bool IsGoodbye = Goodbye != nullptr;
    const Messages::GoodbyeReason Reason = IsGoodbye ? Goodbye->Reason : Messages::GoodbyeReason::Expired;
    if (Said != nullptr || Seq != 0)
    {
        // What only newer clients understand has come all the same.
        Shared.Arrived.Add(Arrive(std::move(Said)));
    }
    if (IsGoodbye)
    {
        TakeGoodbye(Reason);
    }
}

// Whether a numbered message is the next one; a hole has the session taken up again.
bool SessionProtocol::IsNext(const Message* Said)
{
    const Messages::Gap* Gap = As<Messages::Gap>(Said);
    const std::uint64_t First = Gap != nullptr ? Gap->FromSeq : Incoming.Seq();
    const std::uint64_t Due = Order.Received() + 1;
    switch (Order.Take(First, Incoming.Seq(), Incoming.Bytes()))
    {
        case Delivery::Verdict::Hole:
            Connection->Break("frame " + Numbers::Of(First) + " came where " + Numbers::Of(Due) + " was due");
            return false;
        case Delivery::Verdict::Loss:
        {
            std::unique_ptr<Messages::Gap> Lost = std::make_unique<Messages::Gap>();
            Lost->FromSeq = Due;
            Lost->ToSeq = First - 1;
            Lost->Reason = Messages::GapReason::Dropped;
            Arrival Told;
            Told.Said = std::move(Lost);
            Told.Seq = First - 1;
            Shared.Arrived.Add(std::move(Told));
            break;
        }
        case Delivery::Verdict::Next:
            break;
    }
    HasProgressed = true;
    return true;
}

// Deals with what is not about the session but about who speaks on this connection.
bool SessionProtocol::IsAboutThisLink(double Now, const Message* Said)
{
    if (Incoming.Seq() != 0 || Said == nullptr)
    {
        return false;
    }
    if (As<Messages::Pong>(Said) != nullptr)
    {
        HasProgressed = true;
        return true;
    }
    const bool IsAnswer = Stage == Phase::Greeting && Incoming.RequestId() == HelloId;
    if (const Messages::SessionReady* Ready = As<Messages::SessionReady>(Said))
    {
        if (IsAnswer)
        {
            Welcome(Now, *Ready);
        }
        return true;
    }
    const Messages::Error* Error = As<Messages::Error>(Said);
    if (Error != nullptr && IsAnswer)
    {
        Refuse(*Error);
        return true;
    }
    if (WasReady && IsNotKnown(Now, Said))
    {
        Connection->Break("the sidecar takes this connection for a stranger's");
        return true;
    }
    return false;
}

void SessionProtocol::Refuse(const Messages::Error& Said)
{
    std::shared_ptr<const Fault> Why = std::make_shared<const Fault>(Fault::From(Said));
    const SessionEnd Ended = Why->Code == ErrorCode::SessionExpired ? SessionEnd::Expired
        : Why->Code == ErrorCode::ShuttingDown                      ? SessionEnd::Shutdown
                                                                    : SessionEnd::Refused;
    End(Ended, std::move(Why));
}

// Whether the session may be taken up again, though the sidecar does not know this connection (any more): a Hello of this
// session itself that came late may have taken it from here.
bool SessionProtocol::IsNotKnown(double Now, const Message* Said)
{
    if (const Messages::Error* Error = As<Messages::Error>(Said))
    {
        return static_cast<ErrorCode>(Error->Code) == ErrorCode::SessionNotReady;
    }
    const Messages::Goodbye* Goodbye = As<Messages::Goodbye>(Said);
    if (Goodbye == nullptr || Goodbye->Reason != Messages::GoodbyeReason::Replaced)
    {
        return false;
    }
    while (!Ghosts.empty() && Now - Ghosts.front() > SessionProtocolIncomingLocal::GhostS)
    {
        Ghosts.pop_front();
    }
    if (Ghosts.empty())
    {
        return false;
    }
    Ghosts.pop_front();
    return true;
}

void SessionProtocol::Settle(std::unique_ptr<Message> Said)
{
    const std::uint64_t Id = Incoming.RequestId();
    if (Id != 0 && Id == ByeId)
    {
        End(SessionEnd::Bye, nullptr);
        return;
    }
    Arrival Told = Arrive(std::move(Said));
    Told.Answers = Shared.Requests.Answer(Id);
    const Messages::Error* Error = As<Messages::Error>(Told.Said.get());
    if (Error != nullptr && Told.Answers != nullptr)
    {
        Told.Why = std::make_shared<const Fault>(Fault::From(*Error));
    }
    Shared.Arrived.Add(std::move(Told));
}

Arrival SessionProtocol::Arrive(std::unique_ptr<Message> Said)
{
    Arrival Told;
    Told.Said = std::move(Said);
    Told.Payload = Incoming.TakePayload();
    Told.RequestId = Incoming.RequestId();
    Told.Seq = Incoming.Seq();
    Told.Bytes = Incoming.Bytes();
    return Told;
}

void SessionProtocol::TakeGoodbye(Messages::GoodbyeReason Reason)
{
    namespace Here = SessionProtocolIncomingLocal;
    const std::string Said = "the sidecar said Goodbye: " + std::string(WordOf(Reason));
    switch (Reason)
    {
        case Messages::GoodbyeReason::Shutdown:
            End(SessionEnd::Shutdown, Here::OfGoodbye(ErrorCode::ShuttingDown, "ShuttingDown", Said));
            break;
        case Messages::GoodbyeReason::Replaced:
            End(SessionEnd::Replaced,
                Here::OfGoodbye(
                    ErrorCode::SessionExpired, "SessionExpired", Said + "; another client has taken this session up"));
            break;
        case Messages::GoodbyeReason::Bye:
        case Messages::GoodbyeReason::Expired:
            End(SessionEnd::Expired, Here::OfGoodbye(ErrorCode::SessionExpired, "SessionExpired", Said));
            break;
    }
}

} // namespace Parley
