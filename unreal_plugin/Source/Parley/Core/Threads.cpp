// How the threads of the core are counted, and seen to their end.
#include "Core/Threads.h"

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#if defined(__linux__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace Parley
{

namespace ThreadsLocal
{

struct Register
{
    std::mutex Gate;
    std::condition_variable IsLess;
    std::list<std::thread> Running;
    /// Their work is done; their last steps, which are code of the core too, may not be.
    std::list<std::thread> Done;
};

Register& All()
{
    // Never destroyed: a thread may end after the objects of static storage are.
    static Register& TheRegister = *new Register;
    return TheRegister;
}

void Call([[maybe_unused]] const char* Name, std::function<void()>& Work)
{
#if defined(__linux__)
    pthread_setname_np(pthread_self(), Name);
#elif defined(__APPLE__)
    pthread_setname_np(Name);
#endif
    Work();
    // What it holds goes before the thread counts as ended.
    Work = nullptr;
}

void Join(std::list<std::thread>& Ended)
{
    for (std::thread& One : Ended)
    {
        One.join();
    }
    Ended.clear();
}

} // namespace ThreadsLocal

void Threads::Begin(const char* Name, std::function<void()> Work)
{
    ThreadsLocal::Register& Known = ThreadsLocal::All();
    std::list<std::thread> Ended;
    {
        const std::lock_guard<std::mutex> Lock(Known.Gate);
        Ended.swap(Known.Done);
        const auto Place = Known.Running.emplace(Known.Running.end());
        *Place = std::thread(
            [Name, Place, What = std::move(Work), &Known]() mutable
            {
                ThreadsLocal::Call(Name, What);
                const std::lock_guard<std::mutex> Ending(Known.Gate);
                Known.Done.splice(Known.Done.end(), Known.Running, Place);
                Known.IsLess.notify_all();
            });
    }
    ThreadsLocal::Join(Ended);
}

bool Threads::WaitForAll(int WaitMs)
{
    ThreadsLocal::Register& Known = ThreadsLocal::All();
    const auto IsOver = [&Known] { return Known.Running.empty(); };
    std::list<std::thread> Ended;
    bool AreAll = true;
    {
        std::unique_lock<std::mutex> Lock(Known.Gate);
        if (WaitMs < 0)
        {
            Known.IsLess.wait(Lock, IsOver);
        }
        else
        {
            // Not wait_for: by some standard libraries that is the clock on the wall, which people set.
            const auto Until = std::chrono::steady_clock::now() + std::chrono::milliseconds(WaitMs);
            AreAll = Known.IsLess.wait_until(Lock, Until, IsOver);
        }
        Ended.swap(Known.Done);
    }
    ThreadsLocal::Join(Ended);
    return AreAll;
}

} // namespace Parley
