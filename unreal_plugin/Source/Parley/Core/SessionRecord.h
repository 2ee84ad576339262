// What a session's thread tells all others.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Fault.h"
#include "Core/SessionState.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace Parley
{

/// Where a session stands. Threading: the session's thread writes, all others read.
class PARLEY_CORE_API SessionRecord
{
public:
    SessionState State() const noexcept { return TheState.load(std::memory_order_acquire); }
    SessionEnd End() const;
    /// Null: nothing went wrong.
    std::shared_ptr<const Fault> Why() const;
    /// What the sidecar said at the last Hello; null: nothing yet.
    std::shared_ptr<const Messages::SessionReady> Ready() const;

    void Open(SessionState State, std::shared_ptr<const Messages::SessionReady> Said);
    void Lose();
    void Close(SessionEnd End, std::shared_ptr<const Fault> Why);

    std::atomic<std::uint64_t> LastRequestId{0};
    /// What the sidecar was told last.
    std::atomic<std::uint64_t> AcknowledgedSeq{0};
    /// How many bytes of numbered frames had come up to there.
    std::atomic<std::uint64_t> AcknowledgedBytes{0};

private:
    mutable std::mutex Gate;
    std::atomic<SessionState> TheState{SessionState::Connecting};
    SessionEnd TheEnd = SessionEnd::None;
    std::shared_ptr<const Fault> TheFault;
    std::shared_ptr<const Messages::SessionReady> TheReady;
};

} // namespace Parley
