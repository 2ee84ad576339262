// Between one sidecar and the next: who begins anew as it ends, whom nobody can answer any more, what is left running.
#include "World.h"

#include "Core/LogQueue.h"
#include "Core/SidecarProcess.h"
#include "Core/Threads.h"

#include <atomic>
#include <csignal>
#include <unistd.h>
#include <utility>

namespace Parley::Testing
{

namespace
{

void UntilState(World& Game, CoreState State, const std::string& What)
{
    Game.Until([&Game, State] { return Game.Core->GetState() == State; }, What);
}

/// What an agent was asked before it was destroyed is answered, whatever becomes of the sidecar.
void Leave(World& Game, const std::function<void()>& EndSidecar, const std::string& How)
{
    const std::shared_ptr<CoreAgent> Agent = Game.Make("slow")->Agent;
    int Answers = 0;
    std::optional<Fault> Found;
    Agent->SetVariable(
        "level",
        Json::Integer(3),
        [&](const Fault* Why)
        {
            Answers++;
            Found = Why == nullptr ? std::nullopt : std::optional<Fault>(*Why);
        });
    Game.Frames(3);
    Equal(Answers, 0, "answers before it is destroyed");
    Agent->Destroy();
    EndSidecar();
    Game.Until([&Answers] { return Answers > 0; }, "it is answered, " + How);
    UntilState(Game, CoreState::Ready, "there is another one");
    Game.Frames(10);
    Equal(Answers, 1, "answers");
    Equal(Found.value_or(Fault()).Code, ErrorCode::AgentDestroyed, "the answer, " + How);
    Game.End();
}

Json LeftByAClosedSession()
{
    World Game;
    Leave(
        Game.Ready(),
        [&Game] { Game.Core->Request(std::make_shared<Messages::ListModels>()); },
        "as the session expires");
    return Json::Object();
}

Json LeftByAKilledSidecar()
{
    World Game;
    Game.Ready();
    const std::unique_ptr<Character> Other = Game.Make("slow");
    SendSignal(SIGSTOP, Game.Core->GetSidecarPid());
    // It is never made, and yet destroyed.
    bool IsToldOfMaking = false;
    AgentOptions Options;
    Options.Workflow = *Setting("workflows").Find("slow");
    const std::shared_ptr<CoreAgent> Unmade =
        Game.Core->CreateAgent(Options, [&IsToldOfMaking](const Fault*) { IsToldOfMaking = true; });
    int Answers = 0;
    std::optional<Fault> Found;
    Other->Agent->SetVariable(
        "level",
        Json::Integer(3),
        [&](const Fault* Why)
        {
            Answers++;
            Found = Why == nullptr ? std::nullopt : std::optional<Fault>(*Why);
        });
    Game.Frames(5);
    Other->Agent->Destroy();
    Unmade->Destroy();
    Check(IsToldOfMaking, "whoever waits for an agent that is destroyed is not told");
    Game.Kill();
    UntilState(Game, CoreState::Gone, "it is gone");
    UntilState(Game, CoreState::Ready, "there is another one");
    Equal(Answers, 1, "answers");
    Equal(Found.value_or(Fault()).Code, ErrorCode::AgentDestroyed, "the answer");
    Game.End();
    return Json::Object();
}

/// A handler of the end begins anew at once: what it asks belongs to the new beginning.
Json BeginsAnew()
{
    World Game;
    Game.Begin();
    CoreState When = CoreState::Stopped;
    int Beginnings = 0;
    std::vector<std::string> Told;
    const auto Heard = [&Told](const std::string& What, const Fault* Why)
    { Told.push_back(What + (Why == nullptr ? " well" : " " + Why->Shown())); };
    Game.Core->StateChanged.Add(
        [&](CoreState State)
        {
            if (State != When || Beginnings > 0)
            {
                return;
            }
            Beginnings++;
            Check(Game.Core->SetWhere(Game.Launch(), "", "", ""), "it is not down");
            Game.Core->Start([&Heard](const Fault* Why) { Heard("started", Why); });
            Game.Core->Request(
                std::make_shared<Messages::ListModels>(),
                [&Heard](std::unique_ptr<Reply>, const Fault* Why) { Heard("asked", Why); });
        });

    Game.Core->Start();
    UntilState(Game, CoreState::Ready, "the first one is there");
    int Ends = 0;
    Game.Core->Stop([&Ends] { Ends++; });
    Game.Until([&Told] { return Told.size() == 2; }, "what was asked as it stopped");
    Equal(Ends, 1, "ends of the first one");
    Equal(Told[0], "started well", "the beginning as it stopped");
    Equal(Told[1], "asked well", "what was asked as it stopped");

    // One that cannot be started is down.
    Told.clear();
    When = CoreState::Down;
    Beginnings = 0;
    Check(Game.Core->StopAndWait(10000), "it does not end");
    SidecarOptions Missing = Game.Launch();
    Missing.Executable = "/is/not/there";
    Check(Game.Core->SetWhere(Missing, "", "", ""), "it is not stopped");
    Game.Core->Start([&Heard](const Fault* Why) { Heard("missing", Why); });
    Game.Until([&Told] { return Told.size() == 3; }, "what was asked as it was given up");
    Check(Told[0].find("missing SidecarFailed") == 0, Told[0]);
    Equal(Told[1], "started well", "the beginning as it was given up");
    Equal(Told[2], "asked well", "what was asked as it was given up");
    Equal(Game.Core->GetState(), CoreState::Ready, "the state");
    Game.End();
    return Json::Object();
}

/// After Detach nothing is called any more, not even what was posted for the same frame.
Json DetachesInACallback()
{
    World Game;
    Game.Ready();
    const int Pid = Game.Core->GetSidecarPid();
    std::string State;
    bool IsCalled = false;
    const std::shared_ptr<int> Token = std::make_shared<int>(0);
    Game.Core->Post([&] { State = Game.Core->Detach(); });
    Game.Core->Post([&IsCalled, Token] { IsCalled = true; });
    Game.Core->InBackground([] {}, [&IsCalled, Token] { IsCalled = true; });
    Game.Frames(20);
    Check(!State.empty(), "it did not detach");
    Check(!IsCalled, "a callback came after Detach");
    Check(Threads::WaitForAll(5000), "a thread goes on");
    Equal(Token.use_count(), 1, "who holds on to what the game handed over");
    Game.Core = nullptr;
    Check(IsThere(Pid), "the sidecar is gone");
    const std::unique_ptr<World> Next = World::Again(State);
    UntilState(*Next, CoreState::Ready, "it goes on");
    Equal(Next->Core->GetSidecarPid(), Pid, "the sidecar");
    Next->End();
    return Json::Object();
}

/// Whoever waited for the threads may unload their code: they do not even have last steps to take.
Json ThreadsEnd()
{
    static std::atomic<int> Ended{0};
    struct LastStep
    {
        ~LastStep()
        {
            if (IsUsed)
            {
                std::this_thread::sleep_for(std::chrono::milliseconds(100));
                Ended++;
            }
        }

        bool IsUsed = false;
    };
    for (int Count = 0; Count < 4; Count++)
    {
        Threads::Begin(
            "parley test",
            []
            {
                static thread_local LastStep Step;
                Step.IsUsed = true;
            });
    }
    Check(Threads::WaitForAll(5000), "they do not end");
    Equal(Ended.load(), 4, "threads that were waited for to their end");
    return Json::Object();
}

/// Long lines that nobody takes do not fill the memory.
Json LongLines()
{
    LogQueue Lines;
    const std::string Long(1024 * 1024, 'x');
    for (int Count = 0; Count < 100; Count++)
    {
        Lines.Say(LogLevel::Info, Long);
    }
    std::size_t Bytes = 0;
    bool IsSaid = false;
    Lines.Run(
        [&](LogLevel, std::string_view Text)
        {
            Bytes += Text.size();
            IsSaid = IsSaid || Text.find("log lines were left out") != std::string_view::npos;
        });
    Check(Bytes < 5 * Long.size(), "it kept " + std::to_string(Bytes) + " bytes");
    Check(IsSaid, "it does not say that something is left out");
    return Json::Object();
}

/// A sidecar in a container names itself by a number that is another process's here; be it the game's.
Json NamesTheGame()
{
    World Game;
    SidecarOptions Options = Game.Launch();
    Options.OwnerPid = -1;
    std::vector<std::string> Said;
    SidecarProcess Process(Options, Codec, {});
    Process.Start();
    Game.Until([&Process] { return Process.GetState() == SidecarState::Ended; }, "it ends");
    Equal(Process.GetReady().value_or(ReadyLine()).Pid, static_cast<int>(getpid()), "whom it names");
    Process.Stop(0);
    Check(Process.WaitUntilEnded(5000), "it does not end");
    // Its last words are shown, and no more of them than anybody reads.
    SidecarOptions Loud = Options;
    Loud.Arguments = {"-c", "import os\nfor _ in range(30): os.write(2, b'x' * 900_000 + b'\\n')\nos._exit(9)"};
    SidecarProcess Other(Loud, Codec, {});
    Other.Start();
    Game.Until([&Other] { return Other.GetState() == SidecarState::Ended; }, "the loud one ends");
    Check(Other.GetWhy().size() < 100000, "its last words are of " + std::to_string(Other.GetWhy().size()) + " bytes");
    return Json::Object();
}

const Scenario Scenarios[] = {
    {"left_closed", LeftByAClosedSession}, {"left_killed", LeftByAKilledSidecar}, {"anew", BeginsAnew},
    {"detach_inside", DetachesInACallback}, {"threads_end", ThreadsEnd},          {"long_lines", LongLines},
    {"names_the_game", NamesTheGame},
};

} // namespace

} // namespace Parley::Testing
