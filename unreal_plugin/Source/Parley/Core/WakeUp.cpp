// One byte through a pair of sockets.
#include "Core/WakeUp.h"

namespace Parley
{

namespace WakeUpLocal
{

constexpr char Endpoint[] = "inproc://parley-wake-up";

} // namespace WakeUpLocal

WakeUp::~WakeUp()
{
    Close();
}

bool WakeUp::Open(const ZmqContext& Context, std::string& Why)
{
    return Receiver.Open(Context, ZmqApi::Pair, Why) && Sender.Open(Context, ZmqApi::Pair, Why)
        && Receiver.Bind(WakeUpLocal::Endpoint, Why) && Sender.Connect(WakeUpLocal::Endpoint, Why);
}

void WakeUp::Signal()
{
    if (IsSignalled.exchange(true, std::memory_order_acq_rel))
    {
        return;
    }
    const std::lock_guard<std::mutex> Lock(Gate);
    if (!IsClosed)
    {
        // Where there is no room the thread has enough to be woken by.
        std::string Why;
        Sender.TrySend("!", false, Why);
    }
}

void WakeUp::Swallow()
{
    bool More = false;
    std::string Why;
    while (Receiver.TryReceive(*this, More, Why) == ZmqResult::Done)
    {
    }
    IsSignalled.exchange(false, std::memory_order_acq_rel);
}

void WakeUp::Close()
{
    {
        const std::lock_guard<std::mutex> Lock(Gate);
        IsClosed = true;
        Sender.Close(0);
    }
    Receiver.Close(0);
}

void WakeUp::Part(const void*, std::size_t)
{
}

} // namespace Parley
