// The thread that owns a session's sockets.
#pragma once

#include "Core/CoreApi.h"
#include "Core/SessionProtocol.h"
#include "Core/WakeUp.h"
#include "Core/ZmqSocket.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace Parley
{

/// Waits for sockets, time and wake-ups, and lets the protocol do the rest. Threading: Start, Wake and Stop may be called
/// from any thread; all else happens on the thread itself, one of Threads, which keeps this object for as long as it runs.
class PARLEY_CORE_API SessionThread
{
public:
    /// Makes what it needs; null where libzmq or the key cannot be used.
    static std::shared_ptr<SessionThread> Make(std::shared_ptr<SessionShared> Data, Fault& Why);

    SessionThread(const SessionThread&) = delete;
    SessionThread& operator=(const SessionThread&) = delete;

    void Start(const std::shared_ptr<SessionThread>& Self);
    /// Has it look at what was added for it.
    void Wake();
    /// Ends it; waits for that, up to so long. False where it is still busy ending. Idempotent.
    bool Stop(bool SayBye, int TimeoutMs);

private:
    enum class Wish
    {
        Stay,
        Leave,
        SayBye,
    };

    explicit SessionThread(std::shared_ptr<SessionShared> InShared);
    bool Open(Fault& Why);
    void Run();
    void Serve();

    const std::shared_ptr<SessionShared> Shared;
    ZmqContext Context;
    WakeUp Waker;
    SessionProtocol Talk;
    std::atomic<Wish> Wanted{Wish::Stay};

    std::atomic<std::thread::id> Runner{};
    std::mutex Gate;
    std::condition_variable Ending;
    bool HasEnded = false;
};

} // namespace Parley
