// One started program: what SidecarProcess needs of it.
#pragma once

#include "Core/CoreApi.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace Parley
{

/// What a program is started with. All text is UTF-8 and holds no U+0000.
struct ChildStart
{
    std::string Program;
    std::vector<std::string> Arguments;
    /// What its environment has beside this process's; nothing takes a variable away.
    std::map<std::string, std::optional<std::string>> Environment;
    /// Empty: where this process runs.
    std::string Folder;
    /// It must not outlive this process, where the system can see to that.
    bool EndsWithUs = false;
};

/// What a program writes.
/// Threading: one thread reads; Close from any, after which that one reads no more, at the latest in a moment.
class ChildOutput
{
public:
    ChildOutput() = default;
    ChildOutput(const ChildOutput&) = delete;
    ChildOutput& operator=(const ChildOutput&) = delete;
    virtual ~ChildOutput();
    /// Waits for something and takes at most so many bytes; 0: no more will come.
    virtual std::size_t Read(char* Into, std::size_t Most) = 0;
    virtual void Close() = 0;
};

/// A program that was started.
/// Threading: any thread.
class ChildProcess
{
public:
    ChildProcess() = default;
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    /// Lets go of it; it runs on where it does.
    virtual ~ChildProcess();

    /// Its number.
    virtual int Pid() const = 0;
    /// What it writes to stdout; null where nobody can read that.
    virtual std::shared_ptr<ChildOutput> Output() const = 0;
    /// What it writes to stderr; null where nobody can read that.
    virtual std::shared_ptr<ChildOutput> Errors() const = 0;
    /// How it ended, a signal as 128 and its number; nothing: it runs, or nobody knows.
    virtual std::optional<int> ExitCode() const = 0;
    /// Whether it has ended, after at most so long.
    virtual bool WaitForExit(int Milliseconds) = 0;
    /// End it at once. Harmless where it has ended.
    virtual void Kill() = 0;
    /// It is to outlive this process, in spite of EndsWithUs.
    virtual void LetLive() = 0;

    /// Starts a program without a shell; it has nothing to read. Null: it could not, and in `Why` words for a developer.
    static std::unique_ptr<ChildProcess> Start(const ChildStart& What, std::string& Why);
    /// The process of that number, where it is the one that started then (0: whenever); null: it is gone.
    static std::unique_ptr<ChildProcess> Find(int Pid, std::int64_t Started);
    /// When a process started, as Find compares it; 0: nobody knows.
    static std::int64_t StartOf(int Pid);
};

} // namespace Parley
