// What a game does when its sidecar dies.
#include "World.h"

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <utility>

namespace Parley::Testing
{

namespace
{

Json With(std::string_view Name, Json Value)
{
    Json Made = Json::Object();
    Made.Set(Name, std::move(Value));
    return Made;
}

bool IsState(const World& Game, CoreState State)
{
    return Game.Core->GetState() == State;
}

void UntilState(World& Game, CoreState State, const std::string& What)
{
    Game.Until([&Game, State] { return IsState(Game, State); }, What);
}

/// Killed in the middle of a turn: all is as before, the turn that was cut ends, the game is told once.
Json Killed()
{
    World Game;
    Game.Ready();
    Messages::ConfigureSession Session;
    Session.StorageFolder = TextOf("storage");
    Session.GameName = "test";
    Game.Core->Configure(Session);
    Game.Core->MakeStorage(Strings("lines", {"One.", "Two."}));
    const std::optional<Fault> Twice = Game.Wait(
        [&Game](DoneCallback Done) { Game.Core->MakeStorage(Strings("lines", {"Three."}), std::move(Done)); },
        "a storage of the same name");
    Equal(Twice.value().Code, ErrorCode::StorageExists, "the fault");
    Game.Core->PinModel("slow");
    const std::unique_ptr<Character> Mira = Game.Make("slow");
    AgentOptions Options;
    Options.SeedDialog = Parsed("[{\"user\": \"Hello.\", \"replies\": [{\"node_name\": \"c\", \"text\": \"Zero.\"}]}]");
    const std::unique_ptr<Character> Canned = Game.Make("canned", Options);
    Equal(Mira->Turn("First?").Status, Success, "the first turn");
    CoreAgent& Agent = *Mira->Agent;
    Agent.SetVariable("level", Json::Integer(7));
    Json Changes = With("system_prompt", Json::String("Mira keeps the inn."));
    Changes.Set("sampling", With("temperature", Json::Real(0.5)));
    Agent.ChangeParams("mira", Changes);
    const std::optional<Fault> Refused = Game.Wait(
        [&Agent](DoneCallback Done)
        { Agent.ChangeParams("mira", With("sampling", With("top_k", Json::Integer(3))), std::move(Done)); },
        "a change");
    Check(!Refused, Shown(Refused));
    const int Pid = Game.Core->GetSidecarPid();
    Agent.Say("Second?");
    Game.Until(
        [&Mira]
        {
            const std::string Said = Mira->Said(2, "mira");
            return std::count(Said.begin(), Said.end(), ' ') > 6;
        },
        "half of the answer");
    Equal(Agent.Say("Third?"), SayOutcome::Queued, "the line that waits");
    Game.Kill();
    UntilState(Game, CoreState::Gone, "the game is told");
    Equal(Canned->Agent->Say("And?"), SayOutcome::Queued, "a line while there is nobody");
    Equal(Parsed(Mira->Save()).Find("interactions")->Items().size(), 2U, "turns that are saved while there is nobody");
    const Watch Pause;
    UntilState(Game, CoreState::Ready, "it is back");
    const double PauseS = Pause.Seconds();
    Check(Game.Core->GetSidecarPid() != Pid, "it is the same process");
    Check(!IsThere(Pid), "the old process is still there");
    const Messages::TurnComplete& Cut = *Mira->Ends[1];
    Equal(Cut.Status, Failure, "the turn that was cut");
    Equal(Cut.Error->Code, static_cast<std::int64_t>(ErrorCode::ShuttingDown), "its code");
    Equal(Cut.Interaction->Outputs[0].Text, Mira->Said(2, "mira"), "what was seen of it");
    Equal(Cut.Interaction->Outputs[0].HistoryName, "Mira", "who said it");
    Game.Until([&] { return Mira->Ends.size() == 3 && Canned->Ends.size() == 1; }, "what waited is answered");
    Equal(Mira->Ends[2]->Status, Success, "the line that waited");
    Equal(Mira->Turns(), "First?/Success Second?/Error Third?/Success", "the dialog");
    Equal(Canned->Turns(), "Hello./Success And?/Success", "the other dialog");
    Check(Canned->Said(Canned->Ends[0]->TurnId, "c") != "Three.", "the storage that was refused is there");
    Equal(Mira->Said(Mira->Ends[2]->TurnId, "note"), "7", "the variable");
    const Json Params = Mira->Params("mira");
    Equal(Params.Find("system_prompt")->AsText(), "Mira keeps the inn.", "a parameter");
    Check(*Params.Find("sampling")->Find("top_k") == Json::Integer(3), "another");
    Check(*Params.Find("sampling")->Find("temperature") == Json::Real(0.5), "a third");
    Mira->CheckMirror();
    Equal(Game.Count("gone"), 1, "how often the game was told that it is gone");
    Equal(Game.Count("back"), 1, "how often the game was told that it is back");
    const auto Place = [&Game](const char* What)
    { return std::find(Game.Events.begin(), Game.Events.end(), What) - Game.Events.begin(); };
    Check(Place("gone") < Place("complete Error"), "the turn ended before the news");
    std::optional<Messages::ModelStatus> Loaded;
    Game.Core->Request(
        std::make_shared<Messages::ListModels>(),
        [&Loaded](std::unique_ptr<Reply> Said, const Fault*)
        {
            for (const Messages::ModelInfo& Model : As<Messages::Models>(Said.get())->Items)
            {
                Loaded = Model.Name == "slow" ? Model.Status : Loaded;
            }
        });
    Game.Until([&Loaded] { return Loaded.has_value(); }, "the models");
    Equal(*Loaded, Messages::ModelStatus::Loaded, "the pinned model");
    Game.End();
    Json Found = With("pause_s", Json::Real(PauseS));
    Found.Set("longest_update_ms", Json::Real(Game.Longest));
    return Found;
}

/// Requests that are asked of a sidecar that is dead already wait for the next one.
Json Idle()
{
    World Game;
    const std::unique_ptr<Character> Mira = Game.Ready().Make("slow");
    Game.Kill();
    Mira->Agent->SetVariable("level", Json::Integer(3));
    const std::optional<Fault> Why = Game.Wait(
        [&Mira](DoneCallback Done)
        { Mira->Agent->ChangeParams("mira", With("history_name", Json::String("M")), std::move(Done)); },
        "a change");
    Check(!Why, Shown(Why));
    const std::unique_ptr<Character> Other = Game.Make("slow");
    Equal(Mira->Turn("Hello?").Status, Success, "the turn");
    Equal(Mira->Said(1, "note"), "3", "the variable");
    Equal(Other->Turn("Hello?").Status, Success, "the turn of the new one");
    Game.End();
    return Json::Object();
}

/// Killed again and again: it is given up in words, and comes back when it is asked for.
Json GivenUp()
{
    World Game;
    CoreOptions Options = Game.Options();
    Options.RestartPausesS = {0.0, 0.05};
    Game.Begin(std::make_unique<ParleyCore>(Options)).Core->Start();
    const std::unique_ptr<Character> Mira = Game.Make("slow");
    UntilState(Game, CoreState::Ready, "it is ready");
    Equal(Mira->Turn("First?").Status, Success, "the turn");
    for (int Time = 0; Time < 3; Time++)
    {
        Game.Kill();
        UntilState(Game, CoreState::Gone, "it is gone");
        UntilState(Game, CoreState::Ready, "it is back");
        Equal(Game.Core->GetRestarts(), Time + 1, "restarts");
    }
    Mira->Agent->Say("Second?");
    Game.Kill();
    UntilState(Game, CoreState::Down, "it is given up");
    Equal(Game.Count("gave up"), 1, "how often the game was told");
    const std::string Trouble = Game.Core->GetTrouble();
    Check(Trouble.find("4 times in a row") != std::string::npos, Trouble);
    Check(Trouble.find("SIGKILL") != std::string::npos, Trouble);
    Equal(Mira->Ends[1]->Status, Failure, "the turn");
    Equal(Mira->Agent->Say("Third?"), SayOutcome::Unavailable, "a line to nobody");
    const std::optional<Fault> Why = Game.Wait(
        [&Mira](DoneCallback Done) { Mira->Agent->SetVariable("level", Json::Integer(3), std::move(Done)); }, "a change");
    Equal(Why.value().Name, "SidecarFailed", "the fault");
    const std::optional<Fault> Made = Game.Wait(
        [&Game](DoneCallback Done)
        {
            AgentOptions New;
            New.Workflow = *Setting("workflows").Find("slow");
            New.Key = "new";
            Game.Core->CreateAgent(New, std::move(Done));
        },
        "another one is made");
    Equal(Made.value().Name, "SidecarFailed", "the fault");
    Game.Core->FindAgent("new")->Destroy();
    Game.Frames(100);
    Equal(Game.Core->GetState(), CoreState::Down, "the state after a while");
    Game.Core->Start();
    UntilState(Game, CoreState::Ready, "it is back when it is asked for");
    Equal(Mira->Turn("Fourth?").Status, Success, "the turn after that");
    Game.End();
    return Json::Object();
}

/// Killed before it is ready: the next one is started, and the game sees but one start.
Json WhileStarting()
{
    World Game;
    Game.Begin();
    const std::unique_ptr<Character> Mira = Game.Add("slow");
    Game.Core->Start();
    Game.Until([&Game] { return Game.Core->GetSidecarPid() != 0; }, "a process is there");
    Game.Kill();
    UntilState(Game, CoreState::Ready, "it is ready");
    Equal(Game.Core->GetRestarts(), 1, "restarts");
    Equal(Game.Count("gone"), 0, "how often the game was told of a loss");
    Equal(Mira->Turn("Hello?").Status, Success, "the turn");
    Game.End();
    return Json::Object();
}

/// The sidecar cannot be had: one sentence says why, at once or after as many tries as there are.
Json Hopeless()
{
    World Game;
    CoreOptions Options = Game.Options();
    const std::vector<double> Usual = Options.RestartPausesS;
    Options.RestartPausesS = {0.0};
    if (HasSetting("pauses"))
    {
        Options.RestartPausesS.clear();
        for (const Json& Pause : Setting("pauses").Items())
        {
            double Seconds = 0.0;
            Check(Pause.ToDouble(Seconds), "no number");
            Options.RestartPausesS.push_back(Seconds);
        }
    }
    Options.Launch->StartTimeoutS = NumberOf("start_timeout_s", Options.Launch->StartTimeoutS);
    Game.Begin(std::make_unique<ParleyCore>(Options));
    const std::unique_ptr<Character> Mira = Game.Add("slow");
    Mira->Agent->Say("Hello?");
    std::optional<Fault> Started;
    Game.Core->Start([&Started](const Fault* Why) { Started = Why == nullptr ? Fault() : *Why; });
    const double Took = Game.Until([&Game] { return IsState(Game, CoreState::Down); }, "it is given up");
    Equal(Started.value().Name, "SidecarFailed", "what became of the start");
    Equal(Mira->Ends.size(), 1U, "ends of the line that waited");
    Equal(Mira->Ends[0]->Error->Name, "SidecarFailed", "how it ended");
    Equal(Game.Count("gone"), 0, "how often the game was told of a loss");
    const std::string Trouble = Game.Core->GetTrouble();
    Game.End();
    Json Found = With("trouble", Json::String(Trouble));
    Found.Set("restarts", Json::Integer(Game.Core->GetRestarts()));
    Found.Set("took_s", Json::Real(Took));
    Found.Set("usual_pauses", Numbers(Usual));
    return Found;
}

/// Killed at any moment, also while it starts and while agents are made: each line ends once, and the dialog is what was
/// seen.
Json Anytime()
{
    std::mt19937 Dice(static_cast<unsigned int>(NumberOf("seed")));
    const auto Throw = [&Dice](int Below) { return static_cast<int>(Dice() % static_cast<unsigned int>(Below)); };
    World Game;
    CoreOptions Options = Game.Options();
    Options.RestartPausesS = {0.0};
    Options.MaxRestarts = (std::numeric_limits<int>::max)();
    Game.Begin(std::make_unique<ParleyCore>(Options));
    std::vector<std::unique_ptr<Character>> All;
    for (int Index = 0; Index < 3; Index++)
    {
        All.push_back(Game.Add("slow"));
    }
    std::vector<std::size_t> Taken(All.size(), 0);
    std::vector<int> Levels(All.size(), 1);
    int Level = 0;
    Game.Core->Start();
    int KilledPid = 0;
    for (int Kill = 0; Kill < static_cast<int>(NumberOf("kills")); Kill++)
    {
        const bool WaitsForAgents = Throw(3) > 0;
        if (WaitsForAgents)
        {
            UntilState(Game, CoreState::Ready, "all is there");
        }
        else
        {
            Game.Until([&Game] { return Game.Core->GetSidecarPid() != 0; }, "a process is there");
        }
        for (int Frame = Throw(WaitsForAgents ? 300 : 150); Frame > 0; Frame--)
        {
            Game.Frame();
            const std::size_t Who = static_cast<std::size_t>(Throw(static_cast<int>(All.size())));
            CoreAgent& Agent = *All[Who]->Agent;
            if (Throw(8) == 0)
            {
                const SayOutcome Outcome =
                    Agent.Say("Line " + std::to_string(Taken[Who]) + " of " + std::to_string(Who));
                Taken[Who] += Outcome == SayOutcome::Sent || Outcome == SayOutcome::Queued ? 1 : 0;
            }
            else if (Throw(20) == 0)
            {
                Agent.SetVariable("level", Json::Integer(++Level));
                Agent.SetVariable("level", Json::Integer(++Level));
                Levels[Who] = Level;
            }
            else if (Throw(60) == 0)
            {
                Agent.Cancel();
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        const int Pid = Game.Core->GetSidecarPid();
        if (Pid != 0 && IsThere(Pid))
        {
            KilledPid = Pid;
            Game.Kill();
        }
    }
    // One that was killed a moment ago still counts as ready until somebody notices.
    Game.Until(
        [&] { return IsState(Game, CoreState::Ready) && Game.Core->GetSidecarPid() != KilledPid; },
        "all is there at last");
    Game.Until(
        [&All] { return std::all_of(All.begin(), All.end(), [](const auto& One) { return !One->Agent->IsBusy(); }); },
        "nothing runs");
    Json Lines = Json::Array();
    for (std::size_t Who = 0; Who < All.size(); Who++)
    {
        Character& One = *All[Who];
        Equal(One.Ends.size(), Taken[Who], "ends of lines");
        std::set<std::string> Said;
        for (const std::shared_ptr<const Messages::Interaction>& Turn : One.Agent->GetDialog().GetInteractions())
        {
            Check(Said.insert(Turn->User).second, "a line is twice in the dialog: " + Turn->User);
        }
        for (const std::unique_ptr<Messages::TurnComplete>& End : One.Ends)
        {
            Check(!End->Interaction || Said.count(End->Interaction->User) == 1, "a turn is not in the dialog");
        }
        One.CheckMirror();
        const std::size_t Before = One.Ends.size();
        Equal(One.Turn("The last one").Status, Success, "the last turn");
        Equal(One.Said(One.Ends[Before]->TurnId, "note"), std::to_string(Levels[Who]), "the variable");
        Lines.Add(Json::Integer(static_cast<std::int64_t>(Taken[Who])));
    }
    std::optional<std::size_t> Found;
    Game.Core->Request(
        std::make_shared<Messages::ListAgents>(),
        [&Found](std::unique_ptr<Reply> Said, const Fault*)
        { Found = As<Messages::Agents>(Said.get())->Items.size(); });
    Game.Until([&Found] { return Found.has_value(); }, "the agents");
    Equal(*Found, All.size(), "agents in the sidecar");
    std::string Told;
    for (const std::string& Event : Game.Events)
    {
        Told += Event == "gone" ? "g" : Event == "back" ? "b" : "";
    }
    Check(
        Told.find("gg") == std::string::npos && Told.find("bb") == std::string::npos && Told.substr(0, 1) != "b"
            && (Told.empty() || Told.back() != 'g'),
        Told);
    Game.End();
    Json Report = With("told", Json::String(Told));
    Report.Set("lines", std::move(Lines));
    Report.Set("longest_update_ms", Json::Real(Game.Longest));
    return Report;
}

/// A sidecar of somebody else ends, and another one comes in its place.
Json Elsewhere()
{
    World Game;
    const std::unique_ptr<Character> Mira = Game.Ready().Make("long");
    Equal(Mira->Turn("First?").Status, Success, "the first turn");
    Mira->Agent->Say("Second?");
    Game.Until([&Mira] { return Mira->HasFrame(2); }, "the answer begins");
    Tell("go");
    Game.Until([&Game] { return Game.Count("link lost") > 0; }, "the connection is lost");
    Game.Until([&Game] { return Game.Count("back") == 1 && IsState(Game, CoreState::Ready); }, "another one is there");
    Equal(Mira->Ends[1]->Status, Failure, "the turn that was cut");
    Equal(Mira->Turn("Third?").Status, Success, "the turn with the next one");
    Equal(Mira->Turns(), "First?/Success Second?/Error Third?/Success", "the dialog");
    Equal(Game.Count("gone"), 1, "how often the game was told");
    Game.End();
    return Json::Object();
}

/// Handlers that do what handlers do: end it all, begin it again, speak, destroy.
Json Handling()
{
    World Game;
    Game.Ready();
    const std::unique_ptr<Character> Mira = Game.Add("slow");
    CoreAgent& Agent = *Mira->Agent;
    Agent.Made.Add([](CoreAgent& Made) { Made.Say("As soon as it is made"); });
    Game.Until([&Mira] { return Mira->Ends.size() == 1; }, "the line of the handler is answered");
    std::vector<SayOutcome> Outcomes;
    HandlerId Again = 0;
    Again = Agent.TurnCompleted.Add(
        [&](const Messages::TurnComplete&)
        {
            Agent.TurnCompleted.Remove(Again);
            Outcomes.push_back(Agent.Say("Behind the one that waits"));
        });
    Agent.Say("One");
    Agent.Say("Two");
    Game.Until([&Mira] { return Mira->Ends.size() == 4; }, "three more turns");
    Equal(Outcomes[0], SayOutcome::Queued, "the line of the second handler");
    const std::string Turns = Mira->Turns();
    const std::string Last = "One/Success Two/Success Behind the one that waits/Success";
    Check(Turns.substr(Turns.size() - Last.size()) == Last, Turns);

    const HandlerId End = Game.Core->Gone.Add([&Game](const std::string&) { Game.Core->Stop(); });
    Agent.Say("Cut");
    Game.Kill();
    UntilState(Game, CoreState::Stopped, "the handler ended it");
    Game.Frames(50);
    Equal(Game.Core->GetState(), CoreState::Stopped, "the state after a while");
    Equal(Game.Core->GetSidecarPid(), 0, "a process");
    Equal(Mira->Ends.size(), 5U, "ends");
    Check(Game.Core->Gone.Remove(End), "the handler was not there");

    Game.Core->Start();
    Game.Until(
        [&] { return IsState(Game, CoreState::Ready) && Mira->Ends.size() == 6; }, "it is there again, and said so");
    Agent.Answer.Add(
        [&Agent](const Messages::AnswerText& Frame)
        {
            if (Frame.TurnId == Agent.GetTurnId())
            {
                Agent.Destroy();
            }
        });
    Agent.Say("The last one");
    Game.Until([&Agent] { return Agent.GetState() == AgentState::Destroyed; }, "the handler destroyed it");
    Equal(Mira->Ends.size(), 7U, "ends");
    Equal(Mira->Ends[6]->Status, Cancelled, "the last end");
    const std::unique_ptr<Character> Other = Game.Make("slow");
    Other->Agent->TurnCompleted.Add([&Game](const Messages::TurnComplete&) { Game.Core->Stop(); });
    Other->Agent->Say("Ends it");
    UntilState(Game, CoreState::Stopped, "the handler of a turn ended it");
    Equal(Other->Ends.size(), 1U, "ends of the other");
    return Json::Object();
}

/// A connection that is cut in the middle of turns: nothing is lost, nothing comes twice.
Json Cut()
{
    World Game;
    const std::unique_ptr<Character> Mira = Game.Ready().Make("slow");
    const int Turns = static_cast<int>(NumberOf("turns"));
    for (int Turn = 1; Turn <= Turns; Turn++)
    {
        const Messages::TurnComplete& End = Mira->Turn("Line " + std::to_string(Turn) + "?");
        Equal(End.Status, Success, "a turn");
        for (const Messages::Output& Output : End.Interaction->Outputs)
        {
            Equal(Mira->Said(End.TurnId, Output.NodeName), Output.Text, "what was said");
        }
    }
    Equal(Mira->Agent->GetDialog().GetInteractions().size(), static_cast<std::size_t>(Turns), "turns");
    Equal(Game.Count("gone"), 0, "how often the sidecar was taken for lost");
    const int Lost = Game.Count("link lost");
    Game.Until([&Game, Lost] { return Game.Count("link back") == Lost; }, "the link is back");
    Game.End();
    return With("lost", Json::Integer(Lost));
}

const Scenario Scenarios[] = {
    {"killed", Killed},     {"idle", Idle},           {"given_up", GivenUp},   {"while_starting", WhileStarting},
    {"hopeless", Hopeless}, {"anytime", Anytime},     {"elsewhere", Elsewhere}, {"handlers", Handling},
    {"cut", Cut},
};

} // namespace

} // namespace Parley::Testing
