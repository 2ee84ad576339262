// What a game should not do, and what happens at the wrong moment: the core bears it.
#include "World.h"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <limits>
#include <utility>

namespace Parley::Testing
{

namespace
{

void UntilState(World& Game, CoreState State, const std::string& What)
{
    Game.Until([&Game, State] { return Game.Core->GetState() == State; }, What);
}

double ThreadMs()
{
    timespec Used;
    Check(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &Used) == 0, "no clock");
    return static_cast<double>(Used.tv_sec) * 1e3 + static_cast<double>(Used.tv_nsec) / 1e6;
}

/// Callbacks that run the loop and destroy whom they hear of.
Json Nested()
{
    World Game;
    Game.Ready();
    int Nested = 0;
    bool IsPosted = false;
    Game.Core->Post(
        [&]
        {
            Game.Core->Post([&] { Nested++; });
            Equal(Game.Core->Update(1.0), 0, "frames that an Update within an Update took");
            Game.Core->Post([&] { IsPosted = true; });
        });
    Game.Until([&IsPosted] { return IsPosted; }, "what a callback posted is done");
    Equal(Nested, 1, "how often it was done");

    const std::unique_ptr<Character> Mira = Game.Make("slow");
    Mira->Agent->Answer.Add([&Game](const Messages::AnswerText&) { Game.Core->Update(1000.0); });
    Equal(Mira->Turn("Hello?").Status, Success, "a turn whose handler runs the loop");

    Json Heard = Json::Array();
    for (const std::string Moment : {"Made", "Answer", "NodeHappened", "TurnCompleted", "Ended"})
    {
        const std::unique_ptr<Character> Gone = Game.Add(Moment == "NodeHappened" ? "tools" : "slow");
        const std::shared_ptr<CoreAgent> Agent = Gone->Agent;
        const auto End = [&Heard, &Agent, &Moment](const std::string& Name)
        {
            Heard.Add(Json::String(Name + " for " + Moment));
            if (Name == Moment)
            {
                Agent->Destroy();
            }
        };
        Agent->Made.Add([&End](CoreAgent&) { End("Made"); });
        Agent->Answer.Add([&End](const Messages::AnswerText&) { End("Answer"); });
        Agent->NodeHappened.Add([&End](const Messages::NodeEvent&) { End("NodeHappened"); });
        Agent->TurnCompleted.Add([&End](const Messages::TurnComplete&) { End("TurnCompleted"); });
        const SayOutcome Outcome = Agent->Say("Hello?", [&End](const Messages::TurnComplete&) { End("Ended"); });
        Check(Outcome == SayOutcome::Sent || Outcome == SayOutcome::Queued, Moment);
        Game.Until(
            [&Agent] { return Agent->GetState() == AgentState::Destroyed; }, "it is destroyed in " + Moment);
        Equal(Gone->Ends.size(), 1U, "ends of the line of whoever was destroyed in " + Moment);
        Equal(Gone->Calls.size(), 0U, "calls of whoever was destroyed");
    }
    const std::size_t Frames = Mira->Frames.size();
    Equal(Mira->Turn("Again?").Status, Success, "a turn of another one");
    Check(Mira->Frames.size() > Frames, "nothing came");
    std::optional<std::size_t> Found;
    Game.Core->Request(
        std::make_shared<Messages::ListAgents>(),
        [&Found](std::unique_ptr<Reply> Said, const Fault*) { Found = As<Messages::Agents>(Said.get())->Items.size(); });
    Game.Until([&Found] { return Found.has_value(); }, "the agents");
    Equal(*Found, 1U, "agents that are left");
    Game.End();
    Json Report = Json::Object();
    Report.Set("heard", std::move(Heard));
    return Report;
}

/// What was asked for is what it was then; bytes that are no text and JSON without an end stand in nobody's way.
Json Unwritable()
{
    World Game;
    Game.Begin();
    const std::unique_ptr<Character> Mira = Game.Add("slow");
    std::optional<Fault> Storage;
    bool IsMade = false;
    Messages::CreateStringStorage Lines = Strings("lines", {"One."});
    Game.Core->MakeStorage(
        Lines,
        [&Storage, &IsMade](const Fault* Why)
        {
            IsMade = true;
            Storage = Why == nullptr ? std::nullopt : std::optional<Fault>(*Why);
        });
    Lines.Name = "changed afterwards";
    Lines.Strings->clear();
    Game.Core->Start();
    UntilState(Game, CoreState::Ready, "it is ready");
    Check(IsMade && !Storage, Shown(Storage));
    const std::unique_ptr<Character> Canned = Game.Make("canned");
    Equal(Canned->Turn("Hello?").Status, Success, "a turn with the storage as it was asked for");
    Equal(Canned->Said(1, "c"), "One.", "what it says");
    Equal(Mira->Turn("Broken \xff\xfe bytes").Status, Success, "a turn");
    Equal(Mira->Turns(), "Broken \xef\xbf\xbd\xef\xbf\xbd bytes/Success", "the dialog");
    const std::optional<Fault> Endless = Game.Wait(
        [&Mira](DoneCallback Done)
        {
            Mira->Agent->SetVariable(
                "level", Json::Real(std::numeric_limits<double>::infinity()), std::move(Done));
        },
        "a number without a form");
    Check(Endless.has_value(), "a number without a form was taken");
    Equal(Mira->Turn("And now?").Status, Success, "a turn");
    Equal(Mira->Said(2, "note"), "1", "the variable");
    Game.End();
    return Json::Object();
}

/// A handler of the loss ends it all: whoever still waits for an answer is told so.
Json StopWhenGone()
{
    World Game;
    const std::unique_ptr<Character> Mira = Game.Ready().Make("slow");
    Game.Core->StateChanged.Add(
        [&Game](CoreState State)
        {
            if (State == CoreState::Gone)
            {
                Game.Core->Stop();
            }
        });
    SendSignal(SIGSTOP, Game.Core->GetSidecarPid());
    std::vector<std::string> Faults;
    Mira->Agent->SetVariable(
        "level", Json::Integer(3), [&Faults](const Fault* Why) { Faults.push_back(Why == nullptr ? "" : Why->Name); });
    Game.Core->Request(
        std::make_shared<Messages::ListModels>(),
        [&Faults](std::unique_ptr<Reply>, const Fault* Why) { Faults.push_back(Why == nullptr ? "" : Why->Name); });
    int Ended = 0;
    Mira->Agent->Say("Hello?", [&Ended](const Messages::TurnComplete&) { Ended++; });
    Mira->Agent->Say("Hello again?", [&Ended](const Messages::TurnComplete&) { Ended++; });
    Game.Frames(10);
    Game.Kill();
    UntilState(Game, CoreState::Stopped, "the handler ended it");
    Game.Until([&Faults] { return Faults.size() == 2; }, "both requests are answered");
    Equal(Faults[0], "SidecarFailed", "the first answer");
    Equal(Faults[1], "SidecarFailed", "the second answer");
    Equal(Ended, 2, "who is told of the end of a line");
    Equal(Mira->Ends.size(), 2U, "ends");
    return Json::Object();
}

/// Stopped, started and stopped at once: the end that is waited for is that of both.
Json StopTwice()
{
    World Game;
    Game.Ready();
    const int First = Game.Core->GetSidecarPid();
    SendSignal(SIGSTOP, First);
    Game.Core->Stop();
    Game.Core->Start();
    Game.Until([&Game] { return Game.Core->GetSidecarPid() != 0; }, "another process is there");
    const int Second = Game.Core->GetSidecarPid();
    Check(Game.Core->StopAndWait(10000), "the end does not come");
    Check(!IsThere(First), "the first process is still there");
    Check(!IsThere(Second), "the second process is still there");
    Equal(Game.Core->GetState(), CoreState::Stopped, "the state");
    return Json::Object();
}

/// A session that expires, and a handler that begins anew at once: one session comes of it.
Json Expires()
{
    World Game;
    Game.Begin();
    bool IsFirst = true;
    Game.Core->Gone.Add(
        [&](const std::string&)
        {
            if (IsFirst)
            {
                IsFirst = false;
                Game.Core->Stop();
                Game.Core->Start();
            }
        });
    Game.Core->Start();
    UntilState(Game, CoreState::Ready, "the first session is there");
    Game.Core->Request(std::make_shared<Messages::ListModels>());
    Game.Until([&Game] { return Game.Count("gone") == 1; }, "the session expires");
    UntilState(Game, CoreState::Ready, "another session is there");
    Game.Frames(100);
    Game.Core->StopAndWait(5000);
    return Json::Object();
}

/// A session ends while an agent is made: it is made in the next one.
Json MadeAtLast()
{
    World Game;
    Game.Begin();
    const std::unique_ptr<Character> Mira = Game.Add("slow");
    Game.Core->Start();
    UntilState(Game, CoreState::Ready, "it is ready at last");
    Equal(Mira->Agent->GetState(), AgentState::Ready, "the agent");
    Game.Check(Game.Logged("AnswerText: $."), "the log does not say why");
    Game.Core->StopAndWait(5000);
    return Json::Object();
}

/// Frames of turns that nobody asked for, and ends that come twice: each line still ends once.
Json Strangers()
{
    World Game;
    const std::unique_ptr<Character> Mira = Game.Ready().Make("slow");
    Equal(Mira->Turn("Hello?").TurnId, 1, "the turn that ended");
    Game.Frames(50);
    Equal(Mira->Ends.size(), 1U, "ends");
    Equal(Mira->Said(1, "n"), "right", "what was said");
    Equal(Mira->Frames.size(), 1U, "frames");
    Check(!Mira->Agent->IsBusy(), "it is busy");
    Game.Core->StopAndWait(5000);
    return Json::Object();
}

/// A sidecar that says anything at all: what it says wrong is its own affair.
Json Babble()
{
    World Game;
    Game.Begin();
    std::vector<std::unique_ptr<Character>> All;
    for (int Index = 0; Index < 3; Index++)
    {
        AgentOptions Options;
        Options.Key = std::to_string(Index);
        All.push_back(Game.Add("slow", Options));
    }
    Game.Core->Start();
    int Answers = 0;
    int Asked = 0;
    const Watch Since;
    while (Since.Seconds() < NumberOf("seconds"))
    {
        for (const std::unique_ptr<Character>& One : All)
        {
            CoreAgent& Agent = *One->Agent;
            const DoneCallback Note = [&Answers](const Fault*) { Answers++; };
            Agent.Say("Hello?");
            Agent.SetVariable("level", Json::Integer(3), Note);
            Agent.SaveDialog([&Answers](const std::string&, const Fault*) { Answers++; });
            Agent.TruncateDialog(1, Note);
            Agent.GetParams("mira", [&Answers](const Messages::Params*, const Fault*) { Answers++; });
            Agent.LoadDialog("[]", Note);
            Asked += 5;
        }
        Game.Core->Request(
            std::make_shared<Messages::ListAgents>(), [&Answers](std::unique_ptr<Reply>, const Fault*) { Answers++; });
        Asked++;
        Game.Frames(5);
    }
    Game.Check(Game.Core->IsConnected(), "the session is over");
    Game.Core->Stop();
    Game.Until(
        [&] { return Game.Core->GetState() == CoreState::Stopped && Answers == Asked; }, "all of it is answered");
    Json Report = Json::Object();
    Report.Set("asked", Json::Integer(Asked));
    return Report;
}

/// Lines that are cancelled by their names, whenever and on any thread.
Json Lines()
{
    World Game;
    const std::unique_ptr<Character> Mira = Game.Ready().Make("slow");
    CoreAgent& Agent = *Mira->Agent;
    LineId First = 0;
    Agent.Say("First?", {}, &First);
    Agent.CancelLine(First);
    Game.Until([&Mira] { return Mira->Ends.size() == 1; }, "the turn that was cancelled at once ends");
    Equal(Mira->Ends[0]->Status, Cancelled, "its status");
    LineId Second = 0;
    LineId Third = 0;
    Agent.Say("Second?", {}, &Second);
    Agent.Say("Third?", {}, &Third);
    Check(First != Second && Second != Third, "two lines of one name");
    std::thread([&] { Game.Core->OnGameThread([&Agent, Third] { Agent.CancelLine(Third); }); }).join();
    Equal(Mira->Ends.size(), 1U, "it was cancelled on another thread");
    Game.Until([&Mira] { return Mira->Ends.size() == 2; }, "the one that waited ends");
    Equal(Mira->Ends[1]->Status, Cancelled, "its status");
    Agent.CancelLine(First);
    Agent.CancelLine(0);
    Game.Until([&Mira] { return Mira->Ends.size() == 3; }, "the second ends");
    Equal(Mira->Ends[2]->Status, Success, "its status");
    AgentOptions Options;
    Options.Key = "x";
    Options.Workflow = *Setting("workflows").Find("slow");
    std::optional<Fault> Made;
    Game.Core->CreateAgent(Options, [&Made](const Fault* Why) { Made = Why == nullptr ? Fault() : *Why; });
    Game.Core->FindAgent("x")->Destroy();
    Equal(Made.value().Code, ErrorCode::AgentDestroyed, "the making of whoever is destroyed");
    int Level = 0;
    std::vector<std::thread> All;
    for (int Index = 0; Index < 4; Index++)
    {
        All.emplace_back(
            [&Game, &Level]
            {
                for (int Time = 0; Time < 250; Time++)
                {
                    Game.Core->Post([&Level] { Level++; });
                }
            });
    }
    Game.Until([&Level] { return Level == 1000; }, "what other threads post is done");
    for (std::thread& One : All)
    {
        One.join();
    }
    Equal(Mira->Turn("Fifth?").Status, Success, "the turn after that");
    bool IsLeft = true;
    Agent.SetVariable("level", Json::Integer(5), [&IsLeft](const Fault*) { IsLeft = false; });
    Game.End();
    Check(!IsLeft, "an answer is left behind");
    return Json::Object();
}

/// Two cores in one process know nothing of each other.
Json Two()
{
    World Game;
    World Other;
    const std::unique_ptr<Character> Mira = Game.Ready().Make("wordy");
    const std::unique_ptr<Character> Bram = Other.Ready().Make("wordy");
    Mira->Agent->Say("Hello?");
    Bram->Agent->Say("Hello?");
    Game.Until([&Mira] { return !Mira->Frames.empty(); }, "the first answers");
    Other.Until([&Bram] { return !Bram->Frames.empty(); }, "the second answers");
    Other.End();
    Equal(Bram->Ends[0]->Status, Cancelled, "the turn of the second");
    Game.Until([&Mira] { return Mira->Ends.size() == 1; }, "the first goes on");
    Equal(Mira->Ends[0]->Status, Success, "its turn");
    Other.Core->Start();
    Other.Until([&Bram] { return Bram->Agent->GetState() == AgentState::Ready; }, "the second begins again");
    Game.End();
    Equal(Bram->Turn("Again?").Status, Success, "the second goes on");
    Other.End();
    return Json::Object();
}

/// A long dialog in the mirror, in a state of Detach and in the next sidecar.
Json LongDialog()
{
    const int Count = static_cast<int>(NumberOf("count"));
    Json Turns = Json::Array();
    for (int Index = 0; Index < Count; Index++)
    {
        Json Said = Json::Object();
        Said.Set("node_name", Json::String("mira"));
        Said.Set("text", Json::String(std::string(120, 'y')));
        Json Turn = Json::Object();
        Turn.Set("user", Json::String("Line " + std::to_string(Index) + " »酒場« " + std::string(60, 'x')));
        Turn.Set("replies", Json::Array({Said}));
        Turns.Add(std::move(Turn));
    }
    std::unique_ptr<World> Game = std::make_unique<World>();
    AgentOptions Options;
    Options.Key = "mira";
    Options.SeedDialog = std::move(Turns);
    const std::size_t Expected = static_cast<std::size_t>(Count);
    Equal(
        Game->Ready().Make("slow", std::move(Options))->Agent->GetDialog().GetInteractions().size(), Expected, "turns");
    // What it costs this thread, whatever else the machine does.
    double Before = ThreadMs();
    const std::string State = Game->Core->Detach();
    const double DetachMs = ThreadMs() - Before;
    Before = ThreadMs();
    Game = World::Again(State);
    const double AttachMs = ThreadMs() - Before;
    UntilState(*Game, CoreState::Ready, "it goes on");
    Game->Kill();
    UntilState(*Game, CoreState::Gone, "it is gone");
    const Watch Since;
    UntilState(*Game, CoreState::Ready, "another one has the dialog");
    const double AgainS = Since.Seconds();
    const std::unique_ptr<Character> Mira = Game->Find("mira");
    Equal(Parsed(Mira->Save()).Find("interactions")->Items().size(), Expected, "turns that are saved");
    Game->End();
    Json Report = Json::Object();
    Report.Set("detach_ms", Json::Real(DetachMs));
    Report.Set("attach_ms", Json::Real(AttachMs));
    Report.Set("again_s", Json::Real(AgainS));
    Report.Set("longest_update_ms", Json::Real(Game->Longest));
    return Report;
}

/// The sidecar stands still for a while, in the middle of a turn.
Json StandsStill()
{
    World Game;
    const std::unique_ptr<Character> Mira = Game.Ready().Make("slow");
    Mira->Agent->Say("One.");
    Game.Until([&Mira] { return Mira->Ends.size() == 1; }, "the first turn");
    Mira->Agent->Say("Two.");
    Game.Until([&Mira] { return Mira->HasFrame(2); }, "the second answer begins");
    const int Pid = Game.Core->GetSidecarPid();
    SendSignal(SIGSTOP, Pid);
    const Watch Since;
    const double Seconds = NumberOf("seconds");
    Game.Until([&Since, Seconds] { return Since.Seconds() > Seconds; }, "time goes by", Seconds + 10.0);
    SendSignal(SIGCONT, Pid);
    Game.Until([&Mira] { return Mira->Ends.size() == 2; }, "the turn ends");
    Equal(Mira->Ends[1]->Status, Success, "its status");
    Equal(Mira->Said(2, "mira"), Mira->Ends[1]->Interaction->Outputs[0].Text, "what was said");
    Equal(Game.Core->GetSidecarPid(), Pid, "the process");
    Equal(Game.Count("gone"), 0, "how often it was taken for lost");
    Game.End();
    Json Report = Json::Object();
    Report.Set("lost", Json::Integer(Game.Count("link lost")));
    Report.Set("longest_update_ms", Json::Real(Game.Longest));
    return Report;
}

const Scenario Scenarios[] = {
    {"nested", Nested},
    {"unwritable", Unwritable},
    {"stop_when_gone", StopWhenGone},
    {"stop_twice", StopTwice},
    {"expires", Expires},
    {"made_at_last", MadeAtLast},
    {"strangers", Strangers},
    {"babble", Babble},
    {"lines", Lines},
    {"two", Two},
    {"long_dialog", LongDialog},
    {"stands_still", StandsStill},
};

} // namespace

} // namespace Parley::Testing
