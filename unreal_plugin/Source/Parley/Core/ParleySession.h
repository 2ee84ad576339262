// One session with a sidecar: what the game talks to.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Fault.h"
#include "Core/IFrameSink.h"
#include "Core/Message.h"
#include "Core/PendingRequests.h"
#include "Core/SessionOptions.h"
#include "Core/SessionState.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace Parley
{

class SessionThread;
struct SessionShared;

/// A session that survives broken connections: every frame comes once and in order, every request is answered once.
/// Nothing here waits, but for Stop, which takes under a second.
///
/// Threading: a thread of its own owns the socket. Send, what Get… returns and Stop may be used from any thread; Drain
/// belongs to one, the game's, on which it calls everybody back.
class PARLEY_CORE_API ParleySession
{
public:
    /// Seconds for `Send`: a minute, or half an hour for what loads, fetches or builds.
    static constexpr double UsualTimeout = 0.0;
    /// Seconds for `Send`: as long as the session lasts.
    static constexpr double NoTimeout = -1.0;

    /// Begins a session, or takes one up again where the options have a ResumeKey. Does not wait: what becomes of it comes
    /// out of Drain. Null: ZeroMQ's library or a key cannot be used, as the fault says.
    static std::unique_ptr<ParleySession> Connect(SessionOptions Options, Fault& Why);

    /// Stops, without Bye. What still waits is told to nobody.
    ~ParleySession();
    ParleySession(const ParleySession&) = delete;
    ParleySession& operator=(const ParleySession&) = delete;

    /// Where it stands now; what Drain tells of it may lie behind.
    SessionState GetState() const noexcept;
    /// Why it is over.
    SessionEnd GetEnd() const;
    /// What went wrong, where it is over; null: nothing.
    std::shared_ptr<const Fault> GetFault() const;
    /// Where the sidecar is.
    const std::string& GetEndpoint() const noexcept;
    /// What the sidecar said at the last Hello; null before that.
    std::shared_ptr<const Messages::SessionReady> GetReady() const;
    /// Secret; with it another object takes this session up again. Empty until Hello was answered.
    std::string GetSessionKey() const;
    /// The number of the last frame that Drain handed on: what an object that goes on from here needs.
    std::uint64_t GetLastSeq() const noexcept;
    /// The highest request_id that was used; SessionOptions of an object that goes on want it.
    std::uint64_t GetLastRequestId() const noexcept;
    /// How many things wait for Drain.
    std::size_t GetWaiting() const noexcept;

    /// Sends a request, as soon as there is somebody to send it to; it is written to JSON on the session's thread. `Done`
    /// gets the reply or what went wrong, one of the two, from Drain; it may be empty. `TimeoutS`: seconds to wait for the
    /// reply, UsualTimeout or NoTimeout; they begin with the session's first Ready. Whoever keeps what it returns may give
    /// the reply up.
    std::shared_ptr<PendingRequest> Send(
        std::unique_ptr<Request> Said, double TimeoutS = UsualTimeout, ReplyHandler Done = {});

    /// As the other one, of a message by value.
    template <class T, class = std::enable_if_t<std::is_base_of_v<Request, T>>>
    std::shared_ptr<PendingRequest> Send(T Said, double TimeoutS = UsualTimeout, ReplyHandler Done = {})
    {
        return Send(std::unique_ptr<Request>(std::make_unique<T>(std::move(Said))), TimeoutS, std::move(Done));
    }

    /// Hands on what came, in order, until nothing is left or the time is over; at least one thing. Returns how many it
    /// handed on. Allocates nothing where nothing came. Once the session is over, one more Drain tells those whose requests
    /// are still open. Inside itself it does nothing. Whoever is called may Stop the session, but not destroy it.
    /// `Sink`: hears of it; for the callbacks of requests nobody is called but their makers. `BudgetMs`: milliseconds after
    /// which nothing more is begun.
    int Drain(IFrameSink& Sink, double BudgetMs);

    /// Ends the session here. Without `SayBye` the sidecar keeps it for a while, and another object can take it up again with
    /// SessionKey, LastSeq and LastRequestId; drain before you read those. With it, the sidecar forgets it. Takes under a
    /// second, whatever the sidecar does. Idempotent.
    void Stop(bool SayBye = false);

private:
    explicit ParleySession(std::shared_ptr<SessionShared> Data);

    std::shared_ptr<SessionShared> Shared;
    std::shared_ptr<SessionThread> Thread;
    bool IsDraining = false;
};

} // namespace Parley
