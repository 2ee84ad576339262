// The queue between the session's thread and the game's.
#include "Core/Inbox.h"

#include <utility>

namespace Parley
{

void Inbox::Add(Arrival Came)
{
    const std::lock_guard<std::mutex> Lock(Gate);
    TheWaitingBytes.fetch_add(Came.Bytes, std::memory_order_acq_rel);
    Arrivals.push_back(std::move(Came));
    TheCount.store(Arrivals.size(), std::memory_order_release);
}

bool Inbox::TryTake(Arrival& Out)
{
    if (Count() == 0)
    {
        return false;
    }
    const std::lock_guard<std::mutex> Lock(Gate);
    if (Arrivals.empty())
    {
        return false;
    }
    Out = std::move(Arrivals.front());
    Arrivals.pop_front();
    TheCount.store(Arrivals.size(), std::memory_order_release);
    TheWaitingBytes.fetch_sub(Out.Bytes, std::memory_order_acq_rel);
    if (Out.Seq != 0)
    {
        TheTakenBytes.fetch_add(Out.Bytes, std::memory_order_acq_rel);
        TheTakenSeq.store(Out.Seq, std::memory_order_release);
    }
    return true;
}

} // namespace Parley
