// The loop of a session's thread.
#include "Core/SessionThread.h"

#include "Core/Threads.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace Parley
{

namespace SessionThreadLocal
{

using Clock = std::chrono::steady_clock;

constexpr double LongestWaitS = 0.5;
constexpr double BacklogWaitS = 0.05;

// The process stood still, in a debugger or asleep, where a wait took so much longer than it was to.
constexpr double StandstillS = 1.0;

} // namespace SessionThreadLocal

std::shared_ptr<SessionThread> SessionThread::Make(std::shared_ptr<SessionShared> Data, Fault& Why)
{
    std::shared_ptr<SessionThread> Made(new SessionThread(std::move(Data)));
    return Made->Open(Why) ? Made : nullptr;
}

SessionThread::SessionThread(std::shared_ptr<SessionShared> InShared)
    : Shared(std::move(InShared)), Context(Shared->Options.Zmq), Talk(Context, *Shared)
{
}

bool SessionThread::Open(Fault& Why)
{
    std::string Said;
    const std::string& Key = Shared->Options.ServerPublicKey;
    if (!Context.Open(Said))
    {
        Why = Fault::Local(LocalFaults::LibraryFault, std::move(Said));
        return false;
    }
    if (!Key.empty() && !Curve::IsUsable(*Context.Api(), Key, Why))
    {
        return false;
    }
    if (!Waker.Open(Context, Said))
    {
        Why = Fault::Local(LocalFaults::LibraryFault, std::move(Said));
        return false;
    }
    return true;
}

void SessionThread::Start(const std::shared_ptr<SessionThread>& Self)
{
    Threads::Begin("ParleySession", [Self] { Self->Run(); });
}

void SessionThread::Wake()
{
    Waker.Signal();
}

bool SessionThread::Stop(bool SayBye, int TimeoutMs)
{
    Wish Before = Wish::Stay;
    Wanted.compare_exchange_strong(Before, SayBye ? Wish::SayBye : Wish::Leave);
    Waker.Signal();
    if (Runner.load() == std::this_thread::get_id())
    {
        return true;
    }
    const auto Until = SessionThreadLocal::Clock::now() + std::chrono::milliseconds(TimeoutMs);
    std::unique_lock<std::mutex> Lock(Gate);
    return Ending.wait_until(Lock, Until, [this] { return HasEnded; });
}

void SessionThread::Run()
{
    Runner.store(std::this_thread::get_id());
    Serve();
    Talk.End(SessionEnd::Stopped, nullptr);
    Waker.Close();
    Context.Terminate();
    const std::lock_guard<std::mutex> Lock(Gate);
    HasEnded = true;
    Ending.notify_all();
}

void SessionThread::Serve()
{
    namespace Here = SessionThreadLocal;
    ZmqPoll Poll(Context.Api());
    double Now = 0.0;
    bool SaysBye = false;
    Here::Clock::time_point Before = Here::Clock::now();
    while (true)
    {
        const Wish Wished = Wanted.load();
        if (Wished == Wish::Leave)
        {
            Talk.Leave(Now);
        }
        else if (Wished == Wish::SayBye && !SaysBye)
        {
            SaysBye = true;
            Talk.BeginBye(Now);
        }
        Talk.Tick(Now);
        if (Talk.IsOver())
        {
            return;
        }
        double Wait = (std::max)(0.0, (std::min)(Talk.NextDue(Now) - Now, Here::LongestWaitS));
        Poll.Clear();
        Poll.Add(Waker.Waits(), false);
        if (!Talk.AddTo(Poll))
        {
            Wait = (std::min)(Wait, Here::BacklogWaitS);
        }
        std::string Said;
        if (!Poll.Wait(static_cast<long>(std::ceil(Wait * 1000.0)), Said))
        {
            Talk.End(
                SessionEnd::Malformed,
                std::make_shared<const Fault>(Fault::Local(
                    LocalFaults::InternalFault, "a fault inside Parley ended the session: " + Said)));
            return;
        }
        const Here::Clock::time_point After = Here::Clock::now();
        Now += (std::min)(std::chrono::duration<double>(After - Before).count(), Wait + Here::StandstillS);
        Before = After;
        Waker.Swallow();
        Talk.Read(Now);
    }
}

} // namespace Parley
