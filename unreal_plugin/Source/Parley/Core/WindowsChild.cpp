// A program started with the system calls of Windows.
#if defined(_WIN32)

#include "Core/ChildProcess.h"
#include "Core/CommandLine.h"
#include "Core/Platform.h"
#include "Core/WindowsHeader.h"
#include "Core/WindowsText.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

namespace Parley
{

namespace WindowsChildLocal
{

constexpr DWORD LookMs = 20;
constexpr UINT Killed = 0xFFFFFFFF;

/// A handle that is closed with it.
class Handle
{
public:
    Handle() = default;
    explicit Handle(HANDLE Taken) : Value(Taken) {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    Handle(Handle&& Other) noexcept : Value(std::exchange(Other.Value, nullptr)) {}

    Handle& operator=(Handle&& Other) noexcept
    {
        std::swap(Value, Other.Value);
        return *this;
    }

    ~Handle()
    {
        if (IsThere())
        {
            CloseHandle(Value);
        }
    }

    bool IsThere() const { return Value != nullptr && Value != INVALID_HANDLE_VALUE; }
    HANDLE Get() const { return Value; }

private:
    HANDLE Value = nullptr;
};

/// When a process started; 0: nobody knows.
std::int64_t StartOf(HANDLE Process)
{
    FILETIME Created;
    FILETIME Ended;
    FILETIME Kernel;
    FILETIME User;
    if (!GetProcessTimes(Process, &Created, &Ended, &Kernel, &User))
    {
        return 0;
    }
    return static_cast<std::int64_t>(
        (static_cast<std::uint64_t>(Created.dwHighDateTime) << 32) | Created.dwLowDateTime);
}

/// The reading end of a pipe.
class PipeReader final : public ChildOutput
{
public:
    explicit PipeReader(Handle End) : Pipe(std::move(End)) {}

    std::size_t Read(char* Into, std::size_t Most) override
    {
        // A read that waits could not be ended by others: so it only takes what is there.
        while (!IsClosed.load(std::memory_order_acquire))
        {
            DWORD There = 0;
            if (!PeekNamedPipe(Pipe.Get(), nullptr, 0, nullptr, &There, nullptr))
            {
                return 0;
            }
            if (There == 0)
            {
                Sleep(LookMs);
                continue;
            }
            DWORD Count = 0;
            const DWORD Wanted = (std::min)(There, static_cast<DWORD>((std::min)(Most, std::size_t{1} << 20)));
            return ReadFile(Pipe.Get(), Into, Wanted, &Count, nullptr) ? Count : 0;
        }
        return 0;
    }

    void Close() override { IsClosed.store(true, std::memory_order_release); }

private:
    const Handle Pipe;
    std::atomic<bool> IsClosed{false};
};

class WindowsChild final : public ChildProcess
{
public:
    WindowsChild(DWORD Number, Handle Process_, Handle Job_, Handle Output_, Handle Errors_)
        : TheOutput(std::make_shared<PipeReader>(std::move(Output_))),
          TheErrors(std::make_shared<PipeReader>(std::move(Errors_))), ThePid(static_cast<int>(Number)),
          Process(std::move(Process_)), Job(std::move(Job_))
    {
    }

    WindowsChild(int Number, Handle Process_) : ThePid(Number), Process(std::move(Process_)) {}

    ~WindowsChild() override
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
        DWORD Code = 0;
        const bool HasEnded = WaitForSingleObject(Process.Get(), 0) == WAIT_OBJECT_0;
        return HasEnded && GetExitCodeProcess(Process.Get(), &Code) ? std::optional<int>(static_cast<int>(Code))
                                                                    : std::nullopt;
    }

    bool WaitForExit(int Milliseconds) override
    {
        return WaitForSingleObject(Process.Get(), static_cast<DWORD>((std::max)(0, Milliseconds))) == WAIT_OBJECT_0;
    }

    void Kill() override { TerminateProcess(Process.Get(), Killed); }

    void LetLive() override
    {
        if (Job.IsThere())
        {
            JOBOBJECT_EXTENDED_LIMIT_INFORMATION Limits = {};
            SetInformationJobObject(Job.Get(), JobObjectExtendedLimitInformation, &Limits, sizeof(Limits));
        }
    }

private:
    const std::shared_ptr<PipeReader> TheOutput;
    const std::shared_ptr<PipeReader> TheErrors;
    const int ThePid;
    const Handle Process;
    // With its last handle, which goes with this process however that ends, goes all that is in it.
    const Handle Job;
};

/// A pipe that the child writes to.
bool MakePipe(Handle& Ours, Handle& Theirs)
{
    HANDLE Read = nullptr;
    HANDLE Write = nullptr;
    if (!CreatePipe(&Read, &Write, nullptr, 0))
    {
        return false;
    }
    Ours = Handle(Read);
    Theirs = Handle(Write);
    return SetHandleInformation(Theirs.Get(), HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT) != 0;
}

bool IsBefore(const std::wstring& One, const std::wstring& Other)
{
    return CompareStringOrdinal(
               One.data(), static_cast<int>(One.size()), Other.data(), static_cast<int>(Other.size()), 1)
        == CSTR_LESS_THAN;
}

/// The environment as one text: sorted, each line ended by a zero, another zero at the end.
std::wstring BlockOf(const std::map<std::string, std::optional<std::string>>& More)
{
    const auto IsLess = [](const std::wstring& One, const std::wstring& Other) { return IsBefore(One, Other); };
    std::map<std::wstring, std::wstring, bool (*)(const std::wstring&, const std::wstring&)> All(IsLess);
    for (const std::string& Line : Platform::Variables())
    {
        // The current folders of drives are in names that begin with an equals sign.
        const std::size_t End = Line.find('=', 1);
        if (End != std::string::npos)
        {
            All[WindowsText::Widen(Line.substr(0, End))] = WindowsText::Widen(Line.substr(End + 1));
        }
    }
    for (const auto& Variable : More)
    {
        const std::wstring Name = WindowsText::Widen(Variable.first);
        All.erase(Name);
        if (Variable.second)
        {
            All[Name] = WindowsText::Widen(*Variable.second);
        }
    }
    std::wstring Block;
    for (const auto& Variable : All)
    {
        Block += Variable.first + L'=' + Variable.second;
        Block += L'\0';
    }
    Block += L'\0';
    return Block;
}

/// A job that ends with this process; not there where the system has none to give.
Handle MakeJob()
{
    Handle Job(CreateJobObjectW(nullptr, nullptr));
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION Limits = {};
    Limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
    if (Job.IsThere()
        && !SetInformationJobObject(Job.Get(), JobObjectExtendedLimitInformation, &Limits, sizeof(Limits)))
    {
        return Handle();
    }
    return Job;
}

/// The list of handles that a child gets, and no others.
class HandleList
{
public:
    explicit HandleList(std::vector<HANDLE> Handed) : Handles(std::move(Handed))
    {
        SIZE_T Size = 0;
        InitializeProcThreadAttributeList(nullptr, 1, 0, &Size);
        Room.resize(Size);
        IsMade = InitializeProcThreadAttributeList(Get(), 1, 0, &Size) != 0;
        IsGood = IsMade
            && UpdateProcThreadAttribute(
                   Get(), 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, Handles.data(), Handles.size() * sizeof(HANDLE),
                   nullptr, nullptr)
                != 0;
    }

    HandleList(const HandleList&) = delete;
    HandleList& operator=(const HandleList&) = delete;

    ~HandleList()
    {
        if (IsMade)
        {
            DeleteProcThreadAttributeList(Get());
        }
    }

    LPPROC_THREAD_ATTRIBUTE_LIST Get() { return reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(Room.data()); }

    bool IsGood = false;

private:
    std::vector<HANDLE> Handles;
    std::vector<unsigned char> Room;
    bool IsMade = false;
};

} // namespace WindowsChildLocal

std::unique_ptr<ChildProcess> ChildProcess::Start(const ChildStart& What, std::string& Why)
{
    using namespace WindowsChildLocal;
    Handle Output;
    Handle Errors;
    Handle TheirOutput;
    Handle TheirErrors;
    SECURITY_ATTRIBUTES Inherited = {sizeof(SECURITY_ATTRIBUTES), nullptr, 1};
    // It has nothing to read.
    const Handle Input(CreateFileW(
        L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &Inherited, OPEN_EXISTING, 0, nullptr));
    if (!Input.IsThere() || !MakePipe(Output, TheirOutput) || !MakePipe(Errors, TheirErrors))
    {
        Why = "no pipe could be made: " + WindowsText::ErrorText(GetLastError());
        return nullptr;
    }
    HandleList Handed({Input.Get(), TheirOutput.Get(), TheirErrors.Get()});
    if (!Handed.IsGood)
    {
        Why = "the system refuses to prepare a start: " + WindowsText::ErrorText(GetLastError());
        return nullptr;
    }
    STARTUPINFOEXW Startup = {};
    Startup.StartupInfo.cb = sizeof(Startup);
    Startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
    Startup.StartupInfo.hStdInput = Input.Get();
    Startup.StartupInfo.hStdOutput = TheirOutput.Get();
    Startup.StartupInfo.hStdError = TheirErrors.Get();
    Startup.lpAttributeList = Handed.Get();
    std::vector<std::string> Words = {What.Program};
    Words.insert(Words.end(), What.Arguments.begin(), What.Arguments.end());
    std::wstring Line = WindowsText::Widen(CommandLine::JoinForWindows(Words));
    std::wstring Block = BlockOf(What.Environment);
    const std::wstring Program = WindowsText::PathOf(What.Program);
    const std::wstring Folder = WindowsText::Widen(What.Folder);
    PROCESS_INFORMATION Made = {};
    // It does not begin before it is in the job.
    const DWORD Flags =
        CREATE_NO_WINDOW | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT | CREATE_SUSPENDED;
    if (!CreateProcessW(
            Program.c_str(), Line.data(), nullptr, nullptr, 1, Flags, Block.data(),
            Folder.empty() ? nullptr : Folder.c_str(), &Startup.StartupInfo, &Made))
    {
        Why = "the sidecar program could not be started: " + What.Program + ": "
            + WindowsText::ErrorText(GetLastError());
        return nullptr;
    }
    Handle Process(Made.hProcess);
    const Handle Thread(Made.hThread);
    Handle Job = What.EndsWithUs ? MakeJob() : Handle();
    if (Job.IsThere() && !AssignProcessToJobObject(Job.Get(), Process.Get()))
    {
        // It still looks for the owner that it was told of.
        Job = Handle();
    }
    ResumeThread(Thread.Get());
    return std::make_unique<WindowsChild>(
        Made.dwProcessId, std::move(Process), std::move(Job), std::move(Output), std::move(Errors));
}

std::unique_ptr<ChildProcess> ChildProcess::Find(int Pid, std::int64_t Started)
{
    using namespace WindowsChildLocal;
    if (Pid <= 0)
    {
        return nullptr;
    }
    Handle Process(OpenProcess(
        SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_TERMINATE, 0, static_cast<DWORD>(Pid)));
    if (!Process.IsThere() || WaitForSingleObject(Process.Get(), 0) == WAIT_OBJECT_0
        || (Started != 0 && WindowsChildLocal::StartOf(Process.Get()) != Started))
    {
        return nullptr;
    }
    return std::make_unique<WindowsChild>(Pid, std::move(Process));
}

std::int64_t ChildProcess::StartOf(int Pid)
{
    const WindowsChildLocal::Handle Process(
        OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, static_cast<DWORD>((std::max)(0, Pid))));
    return Process.IsThere() ? WindowsChildLocal::StartOf(Process.Get()) : 0;
}

} // namespace Parley

#endif
