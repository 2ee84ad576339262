// Requests that are not answered yet: what they said, whom their answer is for, and until when.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Fault.h"
#include "Core/Frames.h"
#include "Core/Message.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace Parley
{

/// Gets the reply, or what went wrong: one of the two, and once. `Why` is gone once it returns.
using ReplyHandler = std::function<void(std::unique_ptr<Reply> Answer, const Fault* Why)>;

/// One request. Threading: it is finished once, by whichever thread comes first; who finishes it has its callback from then
/// on, so that what a game's callback holds is let go on the game's thread.
class PARLEY_CORE_API PendingRequest
{
public:
    /// `TimeoutS`: from the moment it is taken in; infinite: it waits as long as the session lasts. `Done`: may be empty.
    PendingRequest(std::unique_ptr<Request> Said, double TimeoutS, ReplyHandler Done);
    PendingRequest(const PendingRequest&) = delete;
    PendingRequest& operator=(const PendingRequest&) = delete;

    /// Somebody has an answer, or wants none any more.
    bool IsFinished() const noexcept { return Finished.load(std::memory_order_acquire); }
    /// Whether the caller is the one who finishes it.
    bool TryFinish() noexcept { return !Finished.exchange(true, std::memory_order_acq_rel); }
    /// Nobody waits for the reply any more, and nobody is called; the request is not undone. False where it was answered
    /// already, which Drain may still be about to tell. The game's thread.
    bool GiveUp() noexcept;

    /// Makes its frames. False: they are larger than the sidecar takes (5003). The session's thread.
    bool Encode(const JsonCodec& Codec, std::uint64_t TheId, std::size_t MaxJsonBytes, Fault& Why);

    const std::string TypeName;
    const double TimeoutS;
    /// Of whoever finished it.
    ReplyHandler Done;
    /// Of the session's thread: 0 until it is numbered.
    std::uint64_t Id = 0;
    /// Of the session's thread.
    double Deadline = std::numeric_limits<double>::infinity();
    /// Of the session's thread: kept until it is answered, to be said again on another connection.
    Frames::Parts Parts;

private:
    std::unique_ptr<Request> Said;
    std::atomic<bool> Finished{false};
};

/// All open requests of a session, in the order in which they were made. Threading: any thread adds; the rest is the
/// session's thread's.
class PARLEY_CORE_API PendingRequests
{
public:
    using Item = std::shared_ptr<PendingRequest>;

    /// Requests that are numbered and wait to be sent.
    bool HasUnsent() const noexcept { return !Unsent.empty(); }
    /// The moment at which Expire has something to do.
    double NextDeadline() const noexcept { return TheNextDeadline; }

    /// Any thread: takes a request in; false once the session is over.
    bool Add(Item Added);
    /// The next request that was added and is still wanted; null: there is none.
    Item TakeAdded(double Now);
    /// Notes a request that has its number and is to be sent.
    void Open(Item Numbered);
    /// The next to be sent, which stays so until Sent; null: there is none.
    PendingRequest* NextUnsent();
    /// NextUnsent is on its way.
    void Sent();
    /// All that is open is to be sent (again), lowest number first: what the sidecar has had it does not do twice.
    void SendAllAgain();
    /// The request that a reply answers, which is open no more; null: nobody waits for this reply.
    Item Answer(std::uint64_t Id);
    /// Takes out what had to be answered by now, sent or not, and adds it to `Late`.
    void Expire(double Now, std::vector<Item>& Late);
    /// The session is over: takes nothing more, and adds all that is still wanted to `Left`, in order.
    void Close(std::vector<Item>& Left);

private:
    std::mutex Gate;
    std::deque<Item> Added;
    bool Closed = false;

    std::map<std::uint64_t, Item> Opened;
    std::deque<Item> Unsent;
    double TheNextDeadline = std::numeric_limits<double>::infinity();
};

} // namespace Parley
