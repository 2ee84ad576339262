// Starts and stops, and the sidecar as a process.
#include "World.h"

#include "Core/CommandLine.h"
#include "Core/ExitWords.h"
#include "Core/SidecarProcess.h"
#include "Core/Threads.h"

#include <cstdlib>
#include <ctime>
#include <mutex>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PARLEY_COUNTS_ALLOCATIONS 0
#else
#define PARLEY_COUNTS_ALLOCATIONS 1
#endif

namespace Parley::Testing
{

/// Of the thread that looks at it.
thread_local std::size_t Allocations = 0;

namespace
{

/// Frames in which nothing happens, and what they cost.
Json Frames()
{
    constexpr int Count = 20000;
    World Game;
    Game.Ready().Make("slow");
    Game.Frames(200);
    const Watch Since;
    Json Batches = Json::Array();
    for (int Batch = 0; Batch < 5; Batch++)
    {
        // In some of them the sidecar may have something to say for the log.
        const std::size_t Begun = Allocations;
        for (int Frame = 0; Frame < Count; Frame++)
        {
            Game.Core->Update(1.0);
        }
        Batches.Add(Json::Integer(static_cast<std::int64_t>(Allocations - Begun)));
    }
    Json Report = Json::Object();
    Report.Set("counts", Json::Boolean(PARLEY_COUNTS_ALLOCATIONS != 0));
    Report.Set("allocations", std::move(Batches));
    Report.Set("us", Json::Real(Since.Seconds() * 1e6 / (5 * Count)));
    const std::size_t Before = Allocations;
    Game.Core->Post([] {});
    Report.Set("allocations_of_control", Json::Integer(static_cast<std::int64_t>(Allocations - Before)));
    Game.End();
    return Report;
}

/// Play and stop, many times in one process: how long each takes, and what is left behind.
Json Cycles()
{
    std::vector<double> Starts;
    std::vector<double> Stops;
    int Files = 0;
    int Threads_ = 0;
    for (int Cycle = 0; Cycle < static_cast<int>(NumberOf("cycles")); Cycle++)
    {
        World Game;
        const Watch Since;
        Game.Ready();
        Starts.push_back(Since.Ms());
        const std::unique_ptr<Character> Mira = Game.Make("wordy");
        Mira->Agent->Say("A line whose answer nobody waits for");
        Game.Until([&Mira] { return !Mira->Frames.empty(); }, "the answer begins");
        Game.End();
        Equal(Mira->Ends[0]->Status, Cancelled, "the turn that ran");
        Stops.push_back(Game.EndMs);
        if (Cycle == 1)
        {
            Check(Threads::WaitForAll(5000), "a thread does not end");
            Files = CountFiles();
            Threads_ = CountThreads();
        }
    }
    Check(Threads::WaitForAll(5000), "a thread does not end");
    for (int Look = 0; Look < 100 && (CountThreads() > Threads_ || CountFiles() > Files); Look++)
    {
        // The system takes a moment over a thread that has ended.
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    Json Report = Json::Object();
    Report.Set("starts_ms", Numbers(Starts));
    Report.Set("stops_ms", Numbers(Stops));
    Report.Set("files_more", Json::Integer(CountFiles() - Files));
    Report.Set("threads_more", Json::Integer(CountThreads() - Threads_));
    return Report;
}

/// The game stops while the sidecar is starting, and while a model loads.
Json Quitting()
{
    std::vector<double> Stops;
    {
        World Game;
        Game.Begin().Core->Start();
        Game.End();
        Stops.push_back(Game.EndMs);
    }
    {
        World Game;
        Game.Begin().Core->Start();
        Game.Until([&Game] { return Game.Core->GetSidecarPid() != 0; }, "a process is there");
        Game.End();
        Stops.push_back(Game.EndMs);
    }
    World Game;
    Game.Ready();
    const std::unique_ptr<Character> Stuck = Game.Add("stuck");
    Stuck->Agent->Say("Hello?");
    Game.Until([&Game] { return Game.Logged("stuck in loading"); }, "the model loads");
    Game.End();
    Equal(Stuck->Ends[0]->Status, Cancelled, "the line that waited");
    Stops.push_back(Game.EndMs);
    Json Report = Json::Object();
    Report.Set("stops_ms", Numbers(Stops));
    return Report;
}

int PidIn(const std::string& ReadyFile)
{
    std::FILE* File = std::fopen(ReadyFile.c_str(), "rb");
    Check(File != nullptr, "no ready file");
    char Text[4096];
    const std::size_t Count = std::fread(Text, 1, sizeof(Text), File);
    std::fclose(File);
    const std::optional<ReadyLine> Ready = ReadyLine::Read({Text, Count}, *Codec);
    Check(Ready.has_value(), "no ready line in it");
    return Ready->Pid;
}

/// A launcher starts the sidecar and keeps its stdout to itself; killed, it takes the sidecar with it.
Json Launcher()
{
    World Game;
    const std::unique_ptr<Character> Mira = Game.Ready().Make("slow");
    Equal(Mira->Turn("First?").Status, Success, "the turn");
    const int First = PidIn(TextOf("ready_file"));
    Check(First != Game.Core->GetSidecarPid(), "there is no launcher");
    Game.Kill();
    Game.Until([&Game] { return Game.Core->GetState() == CoreState::Gone; }, "it is gone");
    Game.Until([&Game] { return Game.Core->GetState() == CoreState::Ready; }, "another one is there");
    Equal(Mira->Turn("Second?").Status, Success, "the turn with the next one");
    const int Second = PidIn(TextOf("ready_file"));
    Game.End();
    Json Report = Json::Object();
    Report.Set("pids", Numbers({static_cast<double>(First), static_cast<double>(Second)}));
    return Report;
}

/// What a program that is started sees of its arguments and its environment.
Json Arguments()
{
    World Game;
    SidecarOptions Options = Game.Launch();
    Options.OwnerPid = -1;
    std::mutex Gate;
    Json Lines = Json::Array();
    SidecarProcess Process(
        Options,
        Codec,
        [&Gate, &Lines](LogLevel, std::string_view Text)
        {
            const std::lock_guard<std::mutex> Lock(Gate);
            Lines.Add(Json::String(std::string(Text)));
        });
    Process.Start();
    Check(Process.WaitUntilEnded(20000), "it does not end");
    Equal(Process.GetState(), SidecarState::Ended, "the state");
    Json Report = Json::Object();
    const std::lock_guard<std::mutex> Lock(Gate);
    Report.Set("lines", std::move(Lines));
    Report.Set("code", Process.GetExitCode() ? Json::Integer(*Process.GetExitCode()) : Json());
    Report.Set("why", Json::String(Process.GetWhy()));
    Report.Set("pid", Json::Integer(Process.GetPid()));
    return Report;
}

/// Exit codes in words.
Json Words()
{
    Json Report = Json::Object();
    for (const auto& Code : std::vector<std::pair<const char*, std::uint32_t>>{
             {"0", 0},
             {"1", 1},
             {"2", 2},
             {"3", 3},
             {"5", 5},
             {"7F", 127},
             {"84", 132},
             {"89", 137},
             {"8B", 139},
             {"8F", 143},
             {"C000001D", 0xC000001D},
             {"C0000005", 0xC0000005},
             {"C0000135", 0xC0000135},
             {"FFFFFFFF", 0xFFFFFFFF}})
    {
        const int Exit = static_cast<int>(Code.second);
        Json& Both = Report.Set(Code.first, Json::Array());
        Both.Add(Json::String(ExitWords::Describe(Exit, false)));
        Both.Add(Json::String(ExitWords::Describe(Exit, true)));
    }
    std::vector<std::string> All;
    for (const Json& Word : Setting("words").Items())
    {
        All.push_back(Word.AsText());
    }
    Report.Set("windows", Json::String(CommandLine::JoinForWindows(All)));
    return Report;
}

/// Nothing happens for a while: what that costs.
Json Rest()
{
    World Game;
    Game.Ready().Make("slow");
    const std::clock_t Before = std::clock();
    const Watch Since;
    const double Seconds = NumberOf("seconds");
    while (Since.Seconds() < Seconds)
    {
        Game.Core->Update(1.0);
        std::this_thread::sleep_for(std::chrono::milliseconds(16));
    }
    const double Used = 1000.0 * static_cast<double>(std::clock() - Before) / CLOCKS_PER_SEC;
    Game.End();
    Json Report = Json::Object();
    Report.Set("cpu_ms_per_s", Json::Real(Used / Seconds));
    return Report;
}

/// The game is killed in the middle of a turn, by whoever reads this.
Json Abandoned()
{
    World Game;
    const std::unique_ptr<Character> Mira = Game.Ready().Make("long");
    Mira->Agent->Say("Hello?");
    Game.Until([&Mira] { return !Mira->Frames.empty(); }, "the answer begins");
    Tell(std::to_string(Game.Core->GetSidecarPid()));
    Game.Until([] { return false; }, "it is killed");
    return Json::Object();
}

/// The process stands still while a sidecar starts, for longer than that may take.
Json Paused()
{
    World Game;
    SidecarOptions Launch = Game.Launch();
    Launch.OwnerPid = -1;
    Launch.StartTimeoutS = 1.0;
    SidecarProcess Process(Launch, Codec, {});
    Process.Start();
    while (Process.GetPid() == 0)
    {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    Tell("go");
    for (int Look = 0; Look < 1000 && Process.GetState() == SidecarState::Starting; Look++)
    {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    Check(Process.GetState() == SidecarState::Ready, Process.GetWhy());
    Process.Stop(0);
    Check(Process.WaitUntilEnded(5000), "it does not end");
    return Json::Object();
}

const Scenario Scenarios[] = {
    {"frames", Frames}, {"cycles", Cycles}, {"quitting", Quitting}, {"launcher", Launcher},   {"arguments", Arguments},
    {"words", Words},   {"rest", Rest},         {"abandoned", Abandoned}, {"paused", Paused},
};

} // namespace

} // namespace Parley::Testing

#if PARLEY_COUNTS_ALLOCATIONS

void* operator new(std::size_t Size)
{
    Parley::Testing::Allocations++;
    void* Room = std::malloc(Size > 0 ? Size : 1);
    Parley::Testing::Check(Room != nullptr, "no memory");
    return Room;
}

void operator delete(void* Room) noexcept
{
    std::free(Room);
}

void operator delete(void* Room, std::size_t) noexcept
{
    std::free(Room);
}

#endif
