// A session's side of the protocol: Hello, heartbeats, numbers, and a connection that breaks.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Delivery.h"
#include "Core/Frames.h"
#include "Core/Inbox.h"
#include "Core/Link.h"
#include "Core/PendingRequests.h"
#include "Core/SessionOptions.h"
#include "Core/SessionRecord.h"
#include "Core/SessionState.h"
#include "Core/ZmqSocket.h"

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace Parley
{

/// What a session's thread and the game's share.
struct PARLEY_CORE_API SessionShared
{
    explicit SessionShared(SessionOptions Given);

    /// Not changed once the session has begun.
    const SessionOptions Options;
    SessionRecord Record;
    PendingRequests Requests;
    Inbox Arrived;
};

/// Decides what to say and what to make of what comes. It owns the link; whoever calls it waits for the sockets. Times are
/// seconds of a clock that stands still while the process does. Threading: the session's thread's.
class PARLEY_CORE_API SessionProtocol
{
public:
    SessionProtocol(const ZmqContext& InContext, SessionShared& InShared);
    SessionProtocol(const SessionProtocol&) = delete;
    SessionProtocol& operator=(const SessionProtocol&) = delete;

    /// The session is over; there is nothing left to wait for.
    bool IsOver() const noexcept { return Stage == Phase::Over; }
    /// Adds what is to be waited for; false where what comes is not, because the game is far behind.
    bool AddTo(ZmqPoll& Poll) const;
    /// The moment at which Tick has something to do even if nothing comes.
    double NextDue(double Now) const;
    /// Does what is due.
    void Tick(double Now);
    /// Reads what has come.
    void Read(double Now);
    /// Says what is still to be said, and ends. The sidecar keeps the session.
    void Leave(double Now);
    /// Says Bye where somebody hears it, and ends once it is answered or a moment is over.
    void BeginBye(double Now);
    /// Ends the session here. `Why` goes to all open requests. Idempotent.
    void End(SessionEnd Ended, std::shared_ptr<const Fault> Why);

private:
    enum class Phase
    {
        /// Waits before the next try.
        Pausing,
        /// Hello is said.
        Greeting,
        Live,
        Over,
    };

    // ---- connections ----
    bool IsBacklogFull() const noexcept;
    void Greet(double Now);
    void GiveUpTry(double Now, const std::string& Why);
    void Welcome(double Now, const Messages::SessionReady& Said);
    void Lose(double Now, const std::string& Why);
    void KeepAlive(double Now);
    double Patience() const noexcept;
    double NextPause() noexcept;

    // ---- requests ----
    void TakeInRequests(double Now);
    void SendRequests();
    void ExpireRequests(double Now);
    std::uint64_t TakeId();
    void TellFault(std::shared_ptr<PendingRequest> Asked, std::shared_ptr<const Fault> Why);
    void TellState(SessionState State, std::shared_ptr<const Fault> Why);

    // ---- what comes ----
    void Take(double Now);
    bool IsNext(const Message* Said);
    bool IsAboutThisLink(double Now, const Message* Said);
    void Refuse(const Messages::Error& Said);
    bool IsNotKnown(double Now, const Message* Said);
    void Settle(std::unique_ptr<Message> Said);
    Arrival Arrive(std::unique_ptr<Message> Said);
    void TakeGoodbye(Messages::GoodbyeReason Reason);

    const ZmqContext& Context;
    SessionShared& Shared;
    InboundMessage Incoming;
    Delivery Order;
    std::vector<PendingRequests::Item> Scratch;

    // When a Hello was given up unanswered: it may still come to the sidecar and take the session from here.
    std::deque<double> Ghosts;

    Phase Stage = Phase::Pausing;
    std::unique_ptr<Link> Connection;
    int Links = 0;
    std::size_t Tries = 0;
    double RetryAt = 0.0;
    double TryUntil = 0.0;
    double GiveUpAt = 0.0;
    // Empty: there is no session yet.
    std::string SessionKey;
    bool WasReady = false;
    bool WasLost = false;
    std::uint64_t HelloId = 0;
    std::uint64_t NextId = 0;
    std::uint64_t ByeId = 0;
    double ByeUntil = std::numeric_limits<double>::infinity();
    double LastHeard = 0.0;
    double HeartbeatS = Protocol::HeartbeatS;
    double NextBeat = 0.0;
    // Something came on this connection that could not have come without the session.
    bool HasProgressed = false;
};

} // namespace Parley
