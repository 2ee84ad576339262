// The end of a sidecar and of the session with it, which the game does not wait for.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>

namespace Parley
{

class ParleySession;
class SidecarProcess;

/// Gives a sidecar that was told to end the time for it, kills it then, and closes the session.
/// Threading: works on a thread of its own; may be asked from any.
class Undertaker
{
public:
    /// Both may be null.
    static std::shared_ptr<Undertaker> Begin(
        std::shared_ptr<SidecarProcess> Process, std::shared_ptr<ParleySession> Session, int PatienceMs, bool SaysBye);

    bool IsDone();
    /// Negative: however long.
    bool Wait(int Milliseconds);

private:
    std::mutex Gate;
    std::condition_variable Changed;
    bool HasEnded = false;
};

} // namespace Parley
