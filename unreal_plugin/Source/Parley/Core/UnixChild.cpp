// A program started with the system calls of Linux and macOS.
#if !defined(_WIN32)

#include "Core/ChildProcess.h"
#include "Core/Numbers.h"
#include "Core/Platform.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace Parley
{

namespace UnixChildLocal
{

constexpr int LookMs = 20;
constexpr int PollMs = 100;
constexpr int SignalBase = 128;
constexpr int FirstOther = 3;

/// What the system knows of a process; Started 0: nothing.
struct Known
{
    std::int64_t Started = 0;
    bool IsZombie = false;
};

#if defined(__APPLE__)

Known Look(int Pid)
{
    int Name[] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, Pid};
    kinfo_proc Found;
    std::size_t Size = sizeof(Found);
    if (sysctl(Name, 4, &Found, &Size, nullptr, 0) != 0 || Size == 0)
    {
        return {};
    }
    const timeval& Time = Found.kp_proc.p_starttime;
    return {static_cast<std::int64_t>(Time.tv_sec) * 1000000 + Time.tv_usec, Found.kp_proc.p_stat == SZOMB};
}

#else

/// Ticks since the machine started: the time of day is another one once the clock was set.
Known Look(int Pid)
{
    constexpr int StartField = 19;
    const int File = open(("/proc/" + Numbers::Of(Pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
    char Room[1024];
    const ssize_t Count = File < 0 ? -1 : read(File, Room, sizeof(Room));
    if (File >= 0)
    {
        close(File);
    }
    const std::string_view Text(Room, Count < 0 ? 0 : static_cast<std::size_t>(Count));
    // Behind the program's name, which may hold anything.
    std::size_t At = Text.rfind(')');
    if (At == std::string_view::npos || At + 2 >= Text.size())
    {
        return {};
    }
    At += 2;
    const char State = Text[At];
    for (int Field = 0; Field < StartField; Field++)
    {
        At = Text.find(' ', At);
        if (At == std::string_view::npos)
        {
            return {};
        }
        At++;
    }
    const std::size_t End = (std::min)(Text.find(' ', At), Text.size());
    std::int64_t Started = 0;
    return Numbers::Read(Text.substr(At, End - At), Started)
        ? Known{Started, State == 'Z' || State == 'X'}
        : Known();
}

#endif

int CodeOf(int Status)
{
    return WIFSIGNALED(Status) ? SignalBase + WTERMSIG(Status) : WEXITSTATUS(Status);
}

void Close(int& File)
{
    if (File >= 0)
    {
        close(File);
        File = -1;
    }
}

/// Both ends are no file that a program has by itself, and are not handed on to programs.
bool MakePipe(int (&Ends)[2])
{
#if defined(__linux__)
    if (pipe2(Ends, O_CLOEXEC) != 0)
#else
    if (pipe(Ends) != 0)
#endif
    {
        Ends[0] = Ends[1] = -1;
        return false;
    }
    for (int& End : Ends)
    {
        // A game without a console may have 0, 1 and 2 free.
        const int Moved = fcntl(End, F_DUPFD_CLOEXEC, FirstOther);
        Close(End);
        End = Moved;
    }
    if (Ends[0] < 0 || Ends[1] < 0)
    {
        Close(Ends[0]);
        Close(Ends[1]);
        return false;
    }
    return true;
}

std::string NotStarted(const std::string& Program, int Fault)
{
    const std::string Why = Fault == ENOENT ? "it, or what it names as its interpreter, is not there"
        : Fault == ENOEXEC                  ? "it is not a program for this machine"
        : Fault == EACCES                   ? "it may not be run"
                                            : "error " + Numbers::Of(Fault);
    return "the sidecar program could not be started: " + Program + ": " + Why;
}

std::vector<std::string> Merged(const std::map<std::string, std::optional<std::string>>& More)
{
    std::vector<std::string> Lines;
    for (std::string& Line : Platform::Variables())
    {
        if (More.find(Line.substr(0, Line.find('='))) == More.end())
        {
            Lines.push_back(std::move(Line));
        }
    }
    for (const auto& Variable : More)
    {
        if (Variable.second)
        {
            Lines.push_back(Variable.first + "=" + *Variable.second);
        }
    }
    return Lines;
}

/// As C programs have them: a null pointer at the end.
std::vector<char*> PointersTo(std::vector<std::string>& Texts)
{
    std::vector<char*> Pointers;
    for (std::string& Text : Texts)
    {
        Pointers.push_back(Text.data());
    }
    Pointers.push_back(nullptr);
    return Pointers;
}

/// What POSIX 2008 does not have: found where there is one (glibc 2.29 and 2.34, macOS 10.15).
template <class Function>
Function Newer(const char* Name)
{
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, Name));
}

/// Files that others have opened for themselves, and without a thought of programs.
void CloseOthers([[maybe_unused]] posix_spawn_file_actions_t& Actions)
{
#if !defined(__APPLE__)
    using CloseFrom = int (*)(posix_spawn_file_actions_t*, int);
    if (const CloseFrom Found = Newer<CloseFrom>("posix_spawn_file_actions_addclosefrom_np"))
    {
        Found(&Actions, FirstOther);
        return;
    }
    DIR* Listing = opendir("/proc/self/fd");
    if (Listing == nullptr)
    {
        return;
    }
    while (const dirent* Entry = readdir(Listing))
    {
        int File = 0;
        if (Numbers::Read(std::string_view(Entry->d_name), File) && File >= FirstOther)
        {
            const int Flags = fcntl(File, F_GETFD);
            if (Flags >= 0 && (Flags & FD_CLOEXEC) == 0)
            {
                posix_spawn_file_actions_addclose(&Actions, File);
            }
        }
    }
    closedir(Listing);
#endif
}

/// The reading end of a pipe.
class PipeReader final : public ChildOutput
{
public:
    explicit PipeReader(int End) : File(End) {}

    ~PipeReader() override { UnixChildLocal::Close(File); }

    std::size_t Read(char* Into, std::size_t Most) override
    {
        int Source = -1;
        {
            const std::lock_guard<std::mutex> Lock(Gate);
            if (File < 0)
            {
                return 0;
            }
            IsReading = true;
            Source = File;
        }
        std::size_t Count = 0;
        while (!IsClosed.load(std::memory_order_acquire))
        {
            pollfd Entry = {Source, POLLIN, 0};
            if (poll(&Entry, 1, PollMs) <= 0 || Entry.revents == 0)
            {
                continue;
            }
            const ssize_t Found = read(Source, Into, Most);
            if (Found >= 0)
            {
                Count = static_cast<std::size_t>(Found);
                break;
            }
            if (errno != EINTR && errno != EAGAIN)
            {
                break;
            }
        }
        const std::lock_guard<std::mutex> Lock(Gate);
        IsReading = false;
        if (IsClosed.load(std::memory_order_acquire))
        {
            UnixChildLocal::Close(File);
        }
        return Count;
    }

    void Close() override
    {
        const std::lock_guard<std::mutex> Lock(Gate);
        IsClosed.store(true, std::memory_order_release);
        // Whoever reads closes it: its number could be another file's by then.
        if (!IsReading)
        {
            UnixChildLocal::Close(File);
        }
    }

private:
    std::mutex Gate;
    int File;
    bool IsReading = false;
    std::atomic<bool> IsClosed{false};
};

/// A child of this process, or, adopted, of somebody else.
/// Threading: any; ending it and noticing its end exclude each other.
class UnixChild final : public ChildProcess
{
public:
    UnixChild(int Number, int Output_, int Errors_)
        : TheOutput(std::make_shared<PipeReader>(Output_)), TheErrors(std::make_shared<PipeReader>(Errors_)),
          ThePid(Number), Started(0)
    {
    }

    UnixChild(int Number, std::int64_t Since) : ThePid(Number), Started(Since) {}

    ~UnixChild() override
    {
        if (TheOutput != nullptr)
        {
            TheOutput->Close();
            TheErrors->Close();
        }
    }

    int Pid() const override { return ThePid; }
    std::shared_ptr<ChildOutput> Output() const override { return TheOutput; }
    std::shared_ptr<ChildOutput> Errors() const override { return TheErrors; }

    std::optional<int> ExitCode() const override
    {
        const std::lock_guard<std::mutex> Lock(Gate);
        return Code;
    }

    bool WaitForExit(int Milliseconds) override
    {
        for (int Waited = 0; !HasEnded(); Waited += LookMs)
        {
            if (Waited >= Milliseconds)
            {
                return false;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds((std::min)(LookMs, Milliseconds - Waited)));
        }
        return true;
    }

    void Kill() override
    {
        const std::lock_guard<std::mutex> Lock(Gate);
        // Once its end was taken, its number may be somebody else's.
        if (!LookForEnd())
        {
            kill(ThePid, SIGKILL);
        }
    }

    void LetLive() override
    {
        // Nothing here ends it.
    }

    bool HasEnded()
    {
        const std::lock_guard<std::mutex> Lock(Gate);
        return LookForEnd();
    }

private:
    bool LookForEnd()
    {
        if (IsGone)
        {
            return true;
        }
        int Status = 0;
        pid_t Found = -1;
        do
        {
            Found = waitpid(ThePid, &Status, WNOHANG);
        }
        while (Found < 0 && errno == EINTR);
        if (Found == 0)
        {
            return false;
        }
        if (Found == ThePid)
        {
            Code = CodeOf(Status);
            IsGone = true;
            return true;
        }
        if (Started != 0)
        {
            // It is not this process's child: it was started by one that is gone.
            const Known Now = Look(ThePid);
            IsGone = Now.Started != Started || Now.IsZombie;
            return IsGone;
        }
        // Somebody in this process waits for all children, and nobody can say how it ended.
        IsGone = true;
        return true;
    }

    const std::shared_ptr<PipeReader> TheOutput;
    const std::shared_ptr<PipeReader> TheErrors;
    const int ThePid;
    const std::int64_t Started;
    mutable std::mutex Gate;
    std::optional<int> Code;
    bool IsGone = false;
};

/// 0, or why not. `Words` and `Lines` hold no U+0000.
int Spawn(
    const ChildStart& What, std::vector<std::string>& Words, std::vector<std::string>& Lines, int Output, int Errors,
    pid_t& Pid)
{
    posix_spawn_file_actions_t Actions;
    posix_spawnattr_t Attributes;
    if (posix_spawn_file_actions_init(&Actions) != 0)
    {
        return ENOMEM;
    }
    if (posix_spawnattr_init(&Attributes) != 0)
    {
        posix_spawn_file_actions_destroy(&Actions);
        return ENOMEM;
    }
    // It has nothing to read; what the game's own stdin holds is not its business.
    posix_spawn_file_actions_addopen(&Actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&Actions, Output, 1);
    posix_spawn_file_actions_adddup2(&Actions, Errors, 2);
    CloseOthers(Actions);
    int Fault = 0;
    std::string Program = What.Program;
    if (!What.Folder.empty())
    {
        using ChangeFolder = int (*)(posix_spawn_file_actions_t*, const char*);
        if (const ChangeFolder Found = Newer<ChangeFolder>("posix_spawn_file_actions_addchdir_np"))
        {
            Fault = Found(&Actions, What.Folder.c_str());
        }
        else
        {
            Words.insert(Words.begin(), {"sh", "-c", "cd -- \"$0\" && exec \"$@\"", What.Folder});
            Program = "/bin/sh";
        }
    }
    // A thread that was started by others may hold back signals, and a game may do without some.
    sigset_t None;
    sigset_t Usual;
    sigemptyset(&None);
    sigemptyset(&Usual);
    sigaddset(&Usual, SIGPIPE);
    sigaddset(&Usual, SIGCHLD);
    posix_spawnattr_setsigmask(&Attributes, &None);
    posix_spawnattr_setsigdefault(&Attributes, &Usual);
    short Flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
#if defined(__APPLE__)
    Flags = static_cast<short>(Flags | POSIX_SPAWN_CLOEXEC_DEFAULT);
#endif
    posix_spawnattr_setflags(&Attributes, Flags);
    if (Fault == 0)
    {
        const std::vector<char*> Arguments = PointersTo(Words);
        const std::vector<char*> Environment = PointersTo(Lines);
        Fault = posix_spawn(&Pid, Program.c_str(), &Actions, &Attributes, Arguments.data(), Environment.data());
    }
    posix_spawnattr_destroy(&Attributes);
    posix_spawn_file_actions_destroy(&Actions);
    return Fault;
}

} // namespace UnixChildLocal

std::unique_ptr<ChildProcess> ChildProcess::Start(const ChildStart& What, std::string& Why)
{
    std::vector<std::string> Words = {What.Program};
    Words.insert(Words.end(), What.Arguments.begin(), What.Arguments.end());
    std::vector<std::string> Lines = UnixChildLocal::Merged(What.Environment);
    int Output[2];
    int Errors[2];
    if (!UnixChildLocal::MakePipe(Output))
    {
        Why = "no pipe could be made; are too many files open?";
        return nullptr;
    }
    if (!UnixChildLocal::MakePipe(Errors))
    {
        UnixChildLocal::Close(Output[0]);
        UnixChildLocal::Close(Output[1]);
        Why = "no pipe could be made; are too many files open?";
        return nullptr;
    }
    pid_t Pid = 0;
    const int Fault = UnixChildLocal::Spawn(What, Words, Lines, Output[1], Errors[1], Pid);
    UnixChildLocal::Close(Output[1]);
    UnixChildLocal::Close(Errors[1]);
    if (Fault != 0)
    {
        UnixChildLocal::Close(Output[0]);
        UnixChildLocal::Close(Errors[0]);
        Why = UnixChildLocal::NotStarted(What.Program, Fault);
        return nullptr;
    }
    return std::make_unique<UnixChildLocal::UnixChild>(static_cast<int>(Pid), Output[0], Errors[0]);
}

std::unique_ptr<ChildProcess> ChildProcess::Find(int Pid, std::int64_t Started)
{
    if (Pid <= 0)
    {
        return nullptr;
    }
    const UnixChildLocal::Known Now = UnixChildLocal::Look(Pid);
    if (Now.Started == 0 || (Started != 0 && Now.Started != Started))
    {
        return nullptr;
    }
    std::unique_ptr<UnixChildLocal::UnixChild> Found =
        std::make_unique<UnixChildLocal::UnixChild>(Pid, Now.Started);
    return Found->HasEnded() ? nullptr : std::move(Found);
}

std::int64_t ChildProcess::StartOf(int Pid)
{
    return UnixChildLocal::Look(Pid).Started;
}

} // namespace Parley

#endif
