// Wakes a thread that waits for ZeroMQ sockets.
#pragma once

#include "Core/CoreApi.h"
#include "Core/ZmqSocket.h"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>

namespace Parley
{

/// A pair of sockets. Threading: any thread signals; the rest is the waiting thread's.
class PARLEY_CORE_API WakeUp final : private IPartReader
{
public:
    WakeUp() = default;
    /// Closes.
    ~WakeUp() override;
    WakeUp(const WakeUp&) = delete;
    WakeUp& operator=(const WakeUp&) = delete;

    /// One for each context. False: `Why` has libzmq's words.
    bool Open(const ZmqContext& Context, std::string& Why);
    /// What the thread waits for.
    const ZmqSocket& Waits() const noexcept { return Receiver; }
    /// Wakes the thread, or sees to it that it does not go to sleep. Any thread; never waits.
    void Signal();
    /// The thread is awake, and looks after this at all it may have been woken for.
    void Swallow();
    /// Signals go nowhere from now on.
    void Close();

private:
    void Part(const void* Data, std::size_t Size) override;

    std::mutex Gate;
    ZmqSocket Receiver;
    ZmqSocket Sender;
    std::atomic<bool> IsSignalled{false};
    bool IsClosed = false;
};

} // namespace Parley
