// One sidecar process of the game's own, from its start to its exit code.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Json.h"
#include "Core/LogSink.h"
#include "Core/ReadyLine.h"
#include "Core/SidecarOptions.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace Parley
{

/// How far a sidecar process is.
enum class SidecarState
{
    /// Start was not called.
    New,
    /// It is being started.
    Starting,
    /// It listens.
    Ready,
    /// It is gone, or there never was one.
    Ended,
};

/// Starts a sidecar, hears where it listens, forwards what it logs, and notices its end. Nothing here blocks but
/// WaitUntilEnded and, for a moment, Abandon. Deleting it kills what still runs and was not abandoned.
/// Threading: any thread. One thread of its own starts the program and waits for its end, two more read what it writes;
/// the log sink is called on those.
class PARLEY_CORE_API SidecarProcess
{
public:
    /// Starts nothing yet. `Log` hears what the sidecar logs, and may be empty.
    SidecarProcess(SidecarOptions Options, std::shared_ptr<const JsonCodec> Codec, LogSink Log);
    SidecarProcess(const SidecarProcess&) = delete;
    SidecarProcess& operator=(const SidecarProcess&) = delete;
    ~SidecarProcess();

    /// Looks after a sidecar that another object had started and abandoned; null where it is gone. What it logs is not
    /// heard any more.
    static std::unique_ptr<SidecarProcess> Adopt(int Pid, std::int64_t Started, LogSink Log);

    /// How far it is.
    SidecarState GetState() const;
    /// Where it listens; nothing until it does.
    std::optional<ReadyLine> GetReady() const;
    /// The process that was started; 0: none yet.
    int GetPid() const;
    /// When that process started: with its number, what names it for ever. 0: not known.
    std::int64_t GetStarted() const;
    /// How it ended, a signal as 128 and its number; nothing: it has not, or nobody knows.
    std::optional<int> GetExitCode() const;
    /// One sentence on why it ended, and its last lines where it never got ready; empty: it has not.
    std::string GetWhy() const;
    /// It ended in a way in which the same start would end again.
    bool IsForGood() const;

    /// Begin to start it; only the first call counts.
    void Start();
    /// Give it so long to end by itself, then kill it. Returns at once. Whoever has a session asks it to end first, with
    /// Shutdown.
    void Stop(int PatienceMs);
    /// Whether it has ended, after at most so long. Blocks: not for a game's main thread.
    bool WaitUntilEnded(int Milliseconds) const;
    /// Let it run on and look after it no more.
    void Abandon();

private:
    struct Inside;
    explicit SidecarProcess(std::shared_ptr<Inside> Made);

    const std::shared_ptr<Inside> All;
};

} // namespace Parley
