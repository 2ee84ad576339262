// Where a session stands, behind a lock.
#include "Core/SessionRecord.h"

#include <utility>

namespace Parley
{

SessionEnd SessionRecord::End() const
{
    const std::lock_guard<std::mutex> Lock(Gate);
    return TheEnd;
}

std::shared_ptr<const Fault> SessionRecord::Why() const
{
    const std::lock_guard<std::mutex> Lock(Gate);
    return TheFault;
}

std::shared_ptr<const Messages::SessionReady> SessionRecord::Ready() const
{
    const std::lock_guard<std::mutex> Lock(Gate);
    return TheReady;
}

void SessionRecord::Open(SessionState State, std::shared_ptr<const Messages::SessionReady> Said)
{
    const std::lock_guard<std::mutex> Lock(Gate);
    TheReady = std::move(Said);
    TheState.store(State, std::memory_order_release);
}

void SessionRecord::Lose()
{
    const std::lock_guard<std::mutex> Lock(Gate);
    TheState.store(SessionState::Lost, std::memory_order_release);
}

void SessionRecord::Close(SessionEnd End, std::shared_ptr<const Fault> Why)
{
    const std::lock_guard<std::mutex> Lock(Gate);
    TheEnd = End;
    TheFault = std::move(Why);
    // Last: who sees Closed finds the reason.
    TheState.store(SessionState::Closed, std::memory_order_release);
}

} // namespace Parley
