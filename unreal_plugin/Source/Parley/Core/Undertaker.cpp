// How a sidecar and its session are ended without the game.
#include "Core/Undertaker.h"

#include "Core/ParleySession.h"
#include "Core/SidecarProcess.h"
#include "Core/Threads.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace Parley
{

namespace UndertakerLocal
{

constexpr int AfterKillMs = 3000;

} // namespace UndertakerLocal

std::shared_ptr<Undertaker> Undertaker::Begin(
    std::shared_ptr<SidecarProcess> Process, std::shared_ptr<ParleySession> Session, int PatienceMs, bool SaysBye)
{
    std::shared_ptr<Undertaker> Made = std::make_shared<Undertaker>();
    if (Process != nullptr)
    {
        // At once and not on the thread: what has just begun to start must not get ready meanwhile.
        Process->Stop(Session == nullptr ? 0 : PatienceMs);
    }
    Threads::Begin(
        "parley end",
        [Made, Process = std::move(Process), Session = std::move(Session), PatienceMs, SaysBye]() mutable
        {
            if (Process != nullptr)
            {
                const int Most = (std::numeric_limits<int>::max)() - UndertakerLocal::AfterKillMs;
                Process->WaitUntilEnded((std::max)(0, (std::min)(PatienceMs, Most)) + UndertakerLocal::AfterKillMs);
            }
            if (Session != nullptr)
            {
                Session->Stop(SaysBye);
            }
            Session = nullptr;
            Process = nullptr;
            const std::lock_guard<std::mutex> Lock(Made->Gate);
            Made->HasEnded = true;
            Made->Changed.notify_all();
        });
    return Made;
}

bool Undertaker::IsDone()
{
    const std::lock_guard<std::mutex> Lock(Gate);
    return HasEnded;
}

bool Undertaker::Wait(int Milliseconds)
{
    std::unique_lock<std::mutex> Lock(Gate);
    const auto IsOver = [this] { return HasEnded; };
    if (Milliseconds < 0)
    {
        Changed.wait(Lock, IsOver);
        return true;
    }
    return Changed.wait_until(Lock, std::chrono::steady_clock::now() + std::chrono::milliseconds(Milliseconds), IsOver);
}

} // namespace Parley
