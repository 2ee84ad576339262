// One sidecar after another: started, connected to, lost, started again, given up.
#pragma once

#include "Core/CoreOptions.h"
#include "Core/LogSink.h"

#include <cstdint>
#include <memory>
#include <string>

namespace Parley
{

class ParleySession;
class SidecarProcess;

/// What ParleyCore hears of the sidecars it has, on the game's thread.
class ILifeListener
{
public:
    virtual ~ILifeListener();
    /// A sidecar answers and has nothing yet; or, `IsResumed`, the one of before has all.
    virtual void OnConnected(bool IsResumed) = 0;
    /// Take what has come, without a bound.
    virtual void OnDrain() = 0;
    /// The sidecar, or the session with it, is lost. Another one may come.
    virtual void OnLost(const std::string& Why) = 0;
    /// No other one comes until Start.
    virtual void OnGivenUp(const std::string& Why) = 0;
};

/// Keeps a sidecar and a session with it. Nothing here blocks.
/// Threading: the game's thread only.
class SidecarLife
{
public:
    /// Where a sidecar is.
    struct Place
    {
        std::string Endpoint;
        std::string Token;
        std::string ServerPublicKey;
    };

    /// The options and the listener must outlive it.
    SidecarLife(const CoreOptions& HowTo, ILifeListener& Hears, LogSink Sink);
    SidecarLife(const SidecarLife&) = delete;
    SidecarLife& operator=(const SidecarLife&) = delete;

    /// The session with the sidecar that is there; null: there is none.
    const std::shared_ptr<ParleySession>& GetSession() const noexcept { return Session; }
    /// The process of the sidecar; null: there is none, or it is not ours.
    const std::shared_ptr<SidecarProcess>& GetProcess() const noexcept { return Process; }
    /// Where the sidecar is; empty: nobody knows.
    const Place& GetWhere() const noexcept { return Where; }
    /// How many sidecars in a row were lost and replaced.
    int GetRestarts() const noexcept { return Restarts; }
    /// Start was called, and neither Stop was nor was the sidecar given up.
    bool IsOn() const noexcept { return Now != Phase::Off; }
    /// The session of before is being taken up.
    bool IsResuming() const noexcept { return Resumes; }
    /// Requests can be sent.
    bool IsConnected() const noexcept { return Now == Phase::Connected; }

    void Start();
    /// Take up the session that an earlier object had.
    void Resume(
        Place There,
        std::shared_ptr<SidecarProcess> Found,
        const std::string& SessionKey,
        std::uint64_t LastSeq,
        std::uint64_t LastRequestId,
        int RestartsBefore);
    /// As Start, in the next Step, which says first that the one of before is lost.
    void StartAgain(const std::string& Reason);
    /// All that the sidecar should have is made.
    void MarkUp();
    /// Forget sidecar and session without a word to them; whoever calls has taken them over.
    void LetGo();
    void Step();

private:
    enum class Phase
    {
        /// There is no sidecar.
        Off,
        /// The next one is started in a while.
        Pause,
        /// Its process starts.
        Launching,
        /// Hello is said.
        Connecting,
        /// It answers.
        Connected,
        /// It is lost; what it said last is still taken in.
        Sinking,
    };

    void Launch();
    void StepLaunching();
    void Connect(const std::string& ResumeKey, std::uint64_t LastSeq, std::uint64_t LastRequestId);
    void StepConnected(std::int64_t Time);
    void StepClosed(std::int64_t Time);
    void Sink(const std::string& Reason, std::int64_t UntilMs);
    void StepSinking(std::int64_t Time);
    void Lose(const std::string& Reason, bool IsForGood);
    void CloseSession();
    void EndProcess();

    const CoreOptions& Options;
    ILifeListener& Listener;
    const LogSink Log;
    Phase Now = Phase::Off;
    std::int64_t Until = 0;
    std::int64_t UpSince = 0;
    std::string Why;
    bool Resumes = false;
    int Restarts = 0;
    Place Where;
    std::shared_ptr<ParleySession> Session;
    std::shared_ptr<SidecarProcess> Process;
};

} // namespace Parley
