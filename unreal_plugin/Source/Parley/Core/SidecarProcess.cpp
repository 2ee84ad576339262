// How a sidecar is started, heard, watched and ended.
#include "Core/SidecarProcess.h"

#include "Core/ChildProcess.h"
#include "Core/ExitWords.h"
#include "Core/Numbers.h"
#include "Core/Platform.h"
#include "Core/Threads.h"
#include "Core/Utf8.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <limits>
#include <mutex>
#include <utility>

namespace Parley
{

namespace SidecarProcessLocal
{

constexpr int LookMs = 50;
constexpr int WaitMs = 100;
constexpr std::int64_t AfterKillMs = 3000;
constexpr int LastWordsMs = 1000;
constexpr std::int64_t StandstillMs = 200;
constexpr std::size_t LastLines = 20;
/// A line that is longer is cut: nobody reads it, and it must not fill the memory.
constexpr std::size_t LongestLine = 1024 * 1024;
constexpr std::size_t LongestLastLine = 4096;
constexpr std::int64_t Never = (std::numeric_limits<std::int64_t>::max)();

std::string Number(int Code)
{
    return Code == 0 ? "" : " (exit code " + Numbers::Of(Code) + ")";
}

bool HoldsZero(const std::string& Text)
{
    return Text.find('\0') != std::string::npos;
}

} // namespace SidecarProcessLocal

/// What the threads share. Threading: all of it under Gate, but for what never changes.
struct SidecarProcess::Inside : std::enable_shared_from_this<Inside>
{
    Inside(SidecarOptions HowTo, std::shared_ptr<const JsonCodec> Reader, LogSink Sink)
        : Options(std::move(HowTo)), Codec(std::move(Reader)), Log(std::move(Sink))
    {
    }

    // ---- the thread that starts it and waits ----

    void Run();
    void Launch(const ChildStart& What);
    bool WaitUntilReady(ChildProcess& Child);
    /// `HasReaders`: two threads read what it writes.
    void Watch(ChildProcess& Child, bool WasReady, bool HasReaders);
    void KillLaunched(int StartedPid);
    void End(std::optional<int> How, std::string Reason, bool ForGood);
    std::string Words();

    // ---- what it writes ----

    void BeginReading(const char* Name, std::shared_ptr<ChildOutput> Output, bool IsErrors);
    void ReadLines(ChildOutput& Output, const std::function<void(std::string_view)>& Take);
    void TakeOutput(std::string_view Line);
    void TakeErrors(std::string_view Line);
    void TakeReady(std::optional<ReadyLine> Found);

    const SidecarOptions Options;
    const std::shared_ptr<const JsonCodec> Codec;
    const LogSink Log;
    std::mutex Gate;
    std::condition_variable Changed;
    std::shared_ptr<ChildProcess> TheChild;
    SidecarState State = SidecarState::New;
    std::optional<ReadyLine> Ready;
    std::optional<int> Code;
    std::string Why;
    bool IsForGood = false;
    bool IsStopping = false;
    bool IsAbandoned = false;
    bool HasEnded = false;
    std::int64_t KillAt = SidecarProcessLocal::Never;
    int Pid = 0;
    std::int64_t Started = 0;
    std::int64_t LaunchedStarted = 0;
    int Readers = 0;
    std::deque<std::string> LastLines;
};

SidecarProcess::SidecarProcess(SidecarOptions Options, std::shared_ptr<const JsonCodec> Codec, LogSink Log)
    : SidecarProcess(std::make_shared<Inside>(std::move(Options), std::move(Codec), std::move(Log)))
{
}

SidecarProcess::SidecarProcess(std::shared_ptr<Inside> Made) : All(std::move(Made))
{
}

SidecarProcess::~SidecarProcess()
{
    Stop(0);
}

std::unique_ptr<SidecarProcess> SidecarProcess::Adopt(int Pid, std::int64_t Started, LogSink Log)
{
    const std::shared_ptr<ChildProcess> Child = ChildProcess::Find(Pid, Started);
    if (Child == nullptr)
    {
        return nullptr;
    }
    const std::shared_ptr<Inside> Made = std::make_shared<Inside>(SidecarOptions(), nullptr, std::move(Log));
    Made->TheChild = Child;
    Made->Pid = Pid;
    Made->Started = Started;
    Made->State = SidecarState::Ready;
    Threads::Begin("parley sidecar", [Made, Child] { Made->Watch(*Child, true, false); });
    return std::unique_ptr<SidecarProcess>(new SidecarProcess(Made));
}

SidecarState SidecarProcess::GetState() const
{
    const std::lock_guard<std::mutex> Lock(All->Gate);
    return All->State;
}

std::optional<ReadyLine> SidecarProcess::GetReady() const
{
    const std::lock_guard<std::mutex> Lock(All->Gate);
    return All->Ready;
}

int SidecarProcess::GetPid() const
{
    const std::lock_guard<std::mutex> Lock(All->Gate);
    return All->Pid;
}

std::int64_t SidecarProcess::GetStarted() const
{
    const std::lock_guard<std::mutex> Lock(All->Gate);
    return All->Started;
}

std::optional<int> SidecarProcess::GetExitCode() const
{
    const std::lock_guard<std::mutex> Lock(All->Gate);
    return All->Code;
}

std::string SidecarProcess::GetWhy() const
{
    const std::lock_guard<std::mutex> Lock(All->Gate);
    return All->HasEnded ? All->Why : std::string();
}

bool SidecarProcess::IsForGood() const
{
    const std::lock_guard<std::mutex> Lock(All->Gate);
    return All->IsForGood;
}

void SidecarProcess::Start()
{
    {
        const std::lock_guard<std::mutex> Lock(All->Gate);
        if (All->State != SidecarState::New)
        {
            return;
        }
        All->State = SidecarState::Starting;
    }
    Threads::Begin("parley sidecar", [Self = All] { Self->Run(); });
}

void SidecarProcess::Stop(int PatienceMs)
{
    const std::lock_guard<std::mutex> Lock(All->Gate);
    All->IsStopping = true;
    All->KillAt = (std::min)(All->KillAt, Platform::NowMs() + (std::max)(0, PatienceMs));
    if (All->State == SidecarState::New)
    {
        All->State = SidecarState::Ended;
        All->HasEnded = true;
    }
    All->Changed.notify_all();
}

bool SidecarProcess::WaitUntilEnded(int Milliseconds) const
{
    std::unique_lock<std::mutex> Lock(All->Gate);
    const auto IsOver = [this] { return All->HasEnded; };
    if (Milliseconds < 0)
    {
        All->Changed.wait(Lock, IsOver);
        return true;
    }
    const auto Until = std::chrono::steady_clock::now() + std::chrono::milliseconds(Milliseconds);
    return All->Changed.wait_until(Lock, Until, IsOver);
}

void SidecarProcess::Abandon()
{
    std::shared_ptr<ChildProcess> Child;
    {
        const std::lock_guard<std::mutex> Lock(All->Gate);
        All->IsAbandoned = true;
        Child = All->TheChild;
        All->Changed.notify_all();
    }
    if (Child != nullptr)
    {
        Child->LetLive();
        // It must not stand still over a full pipe that nobody reads any more.
        for (const std::shared_ptr<ChildOutput>& Output : {Child->Output(), Child->Errors()})
        {
            if (Output != nullptr)
            {
                Output->Close();
            }
        }
    }
    WaitUntilEnded(2 * SidecarProcessLocal::WaitMs);
}

// ---- the thread that starts it and waits ----

void SidecarProcess::Inside::Run()
{
    ChildStart What;
    std::string Wrong;
    What.Program = Platform::FindProgram(Options.Executable, Wrong);
    if (What.Program.empty())
    {
        End(std::nullopt, Wrong, true);
        return;
    }
    What.Arguments = Options.Arguments;
    const int Owner = Options.OwnerPid == 0 ? Platform::OwnPid() : Options.OwnerPid;
    if (Owner > 0)
    {
        What.Arguments.push_back("--owner-pid");
        What.Arguments.push_back(Numbers::Of(Owner));
    }
    What.EndsWithUs = Owner == Platform::OwnPid();
    if (!Options.ReadyFile.empty())
    {
        What.Arguments.push_back("--ready-file");
        What.Arguments.push_back(Options.ReadyFile);
        // What another sidecar left there would be taken for the word of this one.
        Platform::RemoveFile(Options.ReadyFile);
    }
    What.Environment["PYTHONIOENCODING"] = "utf-8";
    bool IsGood = !SidecarProcessLocal::HoldsZero(Options.WorkingFolder);
    for (const std::string& Argument : What.Arguments)
    {
        IsGood = IsGood && !SidecarProcessLocal::HoldsZero(Argument);
    }
    for (const auto& Variable : Options.Environment)
    {
        What.Environment[Variable.first] = Variable.second;
        IsGood = IsGood && !SidecarProcessLocal::HoldsZero(Variable.first + Variable.second.value_or(""));
    }
    What.Folder = Options.WorkingFolder;
    if (!IsGood)
    {
        End(std::nullopt, "an argument of a program cannot hold the character U+0000", true);
        return;
    }
    Launch(What);
}

void SidecarProcess::Inside::Launch(const ChildStart& What)
{
    bool IsTakenBack = false;
    {
        const std::lock_guard<std::mutex> Lock(Gate);
        IsTakenBack = IsStopping;
    }
    if (IsTakenBack)
    {
        End(std::nullopt, "the sidecar was stopped before it was started", false);
        return;
    }
    std::string Wrong;
    const std::shared_ptr<ChildProcess> Child = ChildProcess::Start(What, Wrong);
    if (Child == nullptr)
    {
        End(std::nullopt, Wrong, true);
        return;
    }
    // Not under the lock: the game's thread looks at the state in every frame.
    const std::int64_t Since = ChildProcess::StartOf(Child->Pid());
    {
        const std::lock_guard<std::mutex> Lock(Gate);
        TheChild = Child;
        Pid = Child->Pid();
        Started = Since;
        Readers = 2;
    }
    BeginReading("parley stdout", Child->Output(), false);
    BeginReading("parley stderr", Child->Errors(), true);
    const bool WasReady = WaitUntilReady(*Child);
    Watch(*Child, WasReady, true);
}

bool SidecarProcess::Inside::WaitUntilReady(ChildProcess& Child)
{
    std::int64_t Waited = 0;
    std::int64_t Before = Platform::NowMs();
    while (true)
    {
        bool IsSilent = false;
        {
            std::unique_lock<std::mutex> Lock(Gate);
            Changed.wait_until(
                Lock,
                std::chrono::steady_clock::now() + std::chrono::milliseconds(SidecarProcessLocal::LookMs),
                [this] { return Ready || IsStopping || IsAbandoned || Readers == 0; });
            if (Ready)
            {
                return true;
            }
            if (IsStopping || IsAbandoned)
            {
                return false;
            }
            IsSilent = Readers == 0;
        }
        // Time in which this process stood still, in a debugger or asleep, does not count: nobody could listen.
        const std::int64_t Now = Platform::NowMs();
        Waited += (std::min)(Now - Before, SidecarProcessLocal::StandstillMs);
        Before = Now;
        if (!Options.ReadyFile.empty())
        {
            TakeReady(ReadyLine::Read(Platform::FirstLineOf(Options.ReadyFile).value_or(""), *Codec));
        }
        // A program that closed both its streams still counts as one that starts.
        if (Child.WaitForExit(IsSilent ? SidecarProcessLocal::LookMs : 0))
        {
            return false;
        }
        if (static_cast<double>(Waited) > Options.StartTimeoutS * 1000.0)
        {
            {
                const std::lock_guard<std::mutex> Lock(Gate);
                Why = "the sidecar was not ready within " + Numbers::Shown(Options.StartTimeoutS) + " s";
            }
            Child.Kill();
            return false;
        }
    }
}

void SidecarProcess::Inside::Watch(ChildProcess& Child, bool WasReady, bool HasReaders)
{
    std::int64_t GiveUpAt = SidecarProcessLocal::Never;
    while (!Child.WaitForExit(SidecarProcessLocal::WaitMs))
    {
        bool IsDue = false;
        const std::int64_t Now = Platform::NowMs();
        {
            const std::lock_guard<std::mutex> Lock(Gate);
            if (IsAbandoned)
            {
                HasEnded = true;
                Changed.notify_all();
                return;
            }
            IsDue = Now >= KillAt;
        }
        if (IsDue && GiveUpAt == SidecarProcessLocal::Never)
        {
            GiveUpAt = Now + SidecarProcessLocal::AfterKillMs;
            Child.Kill();
            KillLaunched(Child.Pid());
        }
        if (Now > GiveUpAt)
        {
            End(std::nullopt, "the sidecar does not end, though it was killed", false);
            return;
        }
    }
    KillLaunched(Child.Pid());
    const std::optional<int> How = Child.ExitCode();
    std::string Reason;
    bool WasStopping = false;
    {
        std::unique_lock<std::mutex> Lock(Gate);
        if (HasReaders)
        {
            // Its last words are still on their way.
            const auto Until =
                std::chrono::steady_clock::now() + std::chrono::milliseconds(SidecarProcessLocal::LastWordsMs);
            Changed.wait_until(Lock, Until, [this] { return Readers == 0; });
        }
        Reason = Why;
        WasStopping = IsStopping;
    }
    bool ForGood = false;
    if (Reason.empty())
    {
        Reason = "the sidecar "
            + (!How            ? "is gone"
                   : WasStopping ? "ended" + SidecarProcessLocal::Number(*How)
                                 : ExitWords::Describe(*How, Platform::IsWindows))
            + (WasReady || WasStopping ? "" : " before it was ready");
        ForGood = !WasReady && How && ExitWords::IsForGood(*How, Platform::IsWindows);
    }
    End(How, WasReady || WasStopping ? Reason : Reason + Words(), ForGood);
}

void SidecarProcess::Inside::KillLaunched(int StartedPid)
{
    // Where a launcher was started, the sidecar is another process and may outlive it.
    int Other = 0;
    std::int64_t Since = 0;
    {
        const std::lock_guard<std::mutex> Lock(Gate);
        Other = Ready ? Ready->Pid : 0;
        Since = LaunchedStarted;
    }
    // Out of a container comes the number of somebody else.
    if (Other == 0 || Other == StartedPid || Other == Platform::OwnPid() || Since == 0)
    {
        return;
    }
    if (const std::unique_ptr<ChildProcess> Launched = ChildProcess::Find(Other, Since))
    {
        Launched->Kill();
    }
}

void SidecarProcess::Inside::End(std::optional<int> How, std::string Reason, bool ForGood)
{
    const std::lock_guard<std::mutex> Lock(Gate);
    Code = How;
    Why = std::move(Reason);
    IsForGood = ForGood;
    State = SidecarState::Ended;
    HasEnded = true;
    // Its files are closed with it.
    TheChild = nullptr;
    Changed.notify_all();
}

std::string SidecarProcess::Inside::Words()
{
    const std::lock_guard<std::mutex> Lock(Gate);
    std::string Text;
    for (const std::string& Line : LastLines)
    {
        Text += Text.empty() ? ":\n" : "\n";
        Text += Line;
    }
    return Text;
}

// ---- what it writes ----

void SidecarProcess::Inside::BeginReading(const char* Name, std::shared_ptr<ChildOutput> Output, bool IsErrors)
{
    Threads::Begin(
        Name,
        [Self = shared_from_this(), Output = std::move(Output), IsErrors]
        {
            Self->ReadLines(
                *Output,
                [&Self, IsErrors](std::string_view Line) { IsErrors ? Self->TakeErrors(Line) : Self->TakeOutput(Line); });
            const std::lock_guard<std::mutex> Lock(Self->Gate);
            Self->Readers--;
            Self->Changed.notify_all();
        });
}

void SidecarProcess::Inside::ReadLines(ChildOutput& Output, const std::function<void(std::string_view)>& Take)
{
    std::string Rest;
    char Piece[4096];
    const auto TakeLine = [&Take](std::string_view Line)
    {
        if (!Line.empty() && Line.back() == '\r')
        {
            Line.remove_suffix(1);
        }
        if (Utf8::IsGood(Line))
        {
            Take(Line);
        }
        else
        {
            Take(Utf8::Mended(Line));
        }
    };
    while (const std::size_t Count = Output.Read(Piece, sizeof(Piece)))
    {
        std::string_view Left(Piece, Count);
        while (!Left.empty())
        {
            const std::size_t End = Left.find('\n');
            Rest += Left.substr(0, End);
            if (End == std::string_view::npos && Rest.size() < SidecarProcessLocal::LongestLine)
            {
                break;
            }
            TakeLine(Rest);
            Rest.clear();
            Left.remove_prefix(End == std::string_view::npos ? Left.size() : End + 1);
        }
    }
    if (!Rest.empty())
    {
        TakeLine(Rest);
    }
}

void SidecarProcess::Inside::TakeOutput(std::string_view Line)
{
    std::optional<ReadyLine> Found = ReadyLine::Read(Line, *Codec);
    if (Found)
    {
        TakeReady(std::move(Found));
    }
    else if (!Line.empty())
    {
        Logs::Say(Log, LogLevel::Info, Line);
    }
}

void SidecarProcess::Inside::TakeReady(std::optional<ReadyLine> Found)
{
    if (!Found)
    {
        return;
    }
    int Own = 0;
    {
        const std::lock_guard<std::mutex> Lock(Gate);
        Own = Pid;
    }
    // Where a launcher was started, the sidecar is another process: this is what names that one for ever.
    const std::int64_t Since = Found->Pid == 0 || Found->Pid == Own ? 0 : ChildProcess::StartOf(Found->Pid);
    const std::lock_guard<std::mutex> Lock(Gate);
    if (!Ready && State == SidecarState::Starting && !IsStopping)
    {
        Ready = std::move(Found);
        LaunchedStarted = Since;
        State = SidecarState::Ready;
    }
    Changed.notify_all();
}

void SidecarProcess::Inside::TakeErrors(std::string_view Line)
{
    if (Line.empty())
    {
        return;
    }
    {
        const std::lock_guard<std::mutex> Lock(Gate);
        if (LastLines.size() == SidecarProcessLocal::LastLines)
        {
            LastLines.pop_front();
        }
        LastLines.emplace_back(Utf8::Cut(Line, SidecarProcessLocal::LongestLastLine));
    }
    Logs::Say(Log, Logs::LevelOf(Line), Line);
}

} // namespace Parley
