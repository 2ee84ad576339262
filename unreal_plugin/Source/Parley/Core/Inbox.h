// What came and waits for the game, in order.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Fault.h"
#include "Core/Message.h"
#include "Core/PendingRequests.h"
#include "Core/SessionState.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace Parley
{

/// One thing for the game: what it is shows in which fields are set.
struct PARLEY_CORE_API Arrival
{
    /// A push or a reply; null: none that this version knows.
    std::unique_ptr<Message> Said;
    /// Part 4 of its frames; empty: none.
    std::vector<std::uint8_t> Payload;
    /// The request it answers; null: nobody waits for it.
    std::shared_ptr<PendingRequest> Answers;
    /// The id of the request it answers; 0: none.
    std::uint64_t RequestId = 0;
    /// Its number in the session; 0: it has none.
    std::uint64_t Seq = 0;
    /// Bytes of its frames.
    std::size_t Bytes = 0;
    /// Why a request failed, or a session is in its new state; null: no reason.
    std::shared_ptr<const Fault> Why;
    /// A new state of the session; empty: not that.
    std::optional<SessionState> State;
};

/// A queue that allocates nothing while it is empty. Threading: the session's thread adds, the game's thread takes.
class PARLEY_CORE_API Inbox
{
public:
    explicit Inbox(std::uint64_t LastSeq) noexcept : TheTakenSeq(LastSeq) {}

    /// How many things wait.
    std::size_t Count() const noexcept { return TheCount.load(std::memory_order_acquire); }
    /// How many bytes wait.
    std::uint64_t WaitingBytes() const noexcept { return TheWaitingBytes.load(std::memory_order_acquire); }
    /// How many bytes were taken since the session began.
    std::uint64_t TakenBytes() const noexcept { return TheTakenBytes.load(std::memory_order_acquire); }
    /// The number of the last frame that the game took.
    std::uint64_t TakenSeq() const noexcept { return TheTakenSeq.load(std::memory_order_acquire); }

    void Add(Arrival Came);
    /// Takes the next; false where there is none.
    bool TryTake(Arrival& Out);

private:
    std::mutex Gate;
    std::deque<Arrival> Arrivals;
    std::atomic<std::size_t> TheCount{0};
    std::atomic<std::uint64_t> TheWaitingBytes{0};
    std::atomic<std::uint64_t> TheTakenBytes{0};
    std::atomic<std::uint64_t> TheTakenSeq;
};

} // namespace Parley
