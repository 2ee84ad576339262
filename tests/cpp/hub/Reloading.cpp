// What a game does when all of its state is thrown away and made anew: in a play session after another, or in another
// process.
#include "World.h"

#include "Core/Threads.h"

#include <csignal>
#include <utility>

namespace Parley::Testing
{

namespace
{

AgentOptions Called(const std::string& Key)
{
    AgentOptions Options;
    Options.Key = Key;
    return Options;
}

void UntilState(World& Game, CoreState State, const std::string& What)
{
    Game.Until([&Game, State] { return Game.Core->GetState() == State; }, What);
}

/// In the middle of a turn: it goes on, and every word of it comes once.
Json Reload()
{
    std::unique_ptr<World> Game = std::make_unique<World>();
    std::unique_ptr<Character> Mira = Game->Ready().Make("long", Called("mira"));
    Game->Core->MakeStorage(Strings("lines", {"One."}));
    Equal(Mira->Turn("First?").Status, Success, "the first turn");
    const int Pid = Game->Core->GetSidecarPid();
    Mira->Agent->Say("Second?");
    Mira->Agent->Say("Third?");
    std::string Said;
    for (int Time = 0; Time < 3; Time++)
    {
        const std::size_t Before = Mira->Frames.size();
        Game->Until([&Mira, Before] { return Mira->Frames.size() > Before; }, "the answer goes on");
        Mira->Agent->SetVariable("level", Json::Integer(7 + Time));
        const std::string State = Game->Core->Detach();
        Said += Mira->Said(2, "mira");
        Mira = nullptr;
        Game = World::Again(State);
        Mira = Game->Find("mira");
    }
    Game->Until([&Mira] { return Mira->Ends.size() == 2; }, "both turns end");
    Said += Mira->Said(2, "mira");
    Equal(Mira->Ends[0]->Interaction->Outputs[0].Text, Said, "what was said across the reloads");
    Equal(Mira->Turns(), "First?/Success Second?/Success Third?/Success", "the dialog");
    Equal(Mira->Said(Mira->Ends[1]->TurnId, "note"), "9", "the variable");
    Equal(Game->Core->GetSidecarPid(), Pid, "the sidecar");
    Equal(Game->Count("gone"), 0, "how often the game was told of a loss");
    Equal(Game->Core->GetState(), CoreState::Ready, "the state");

    Game->Kill();
    UntilState(*Game, CoreState::Gone, "it is gone");
    UntilState(*Game, CoreState::Ready, "another one is there");
    const std::unique_ptr<Character> Canned = Game->Make("canned");
    Equal(Canned->Turn("Hello?").Status, Success, "a turn with the storage of before");
    Equal(Mira->Turn("Fourth?").Status, Success, "the turn after that");
    Equal(Mira->Said(Mira->Ends[2]->TurnId, "note"), "9", "the variable in the next sidecar");
    Game->End();
    return Json::Object();
}

/// The sidecar dies meanwhile: as after any other loss.
Json Dead()
{
    std::unique_ptr<World> Game = std::make_unique<World>();
    std::unique_ptr<Character> Mira = Game->Ready().Make("long", Called("mira"));
    Equal(Mira->Turn("First?").Status, Success, "the first turn");
    Mira->Agent->Say("Second?");
    Game->Until([&Mira] { return Mira->HasFrame(2); }, "the answer begins");
    const int Pid = Game->Core->GetSidecarPid();
    const std::string State = Game->Core->Detach();
    const std::string Said = Mira->Said(2, "mira");
    Mira = nullptr;
    SendSignal(SIGKILL, Pid);
    Game = World::Again(State);
    Mira = Game->Find("mira");
    Game->Until([&Game] { return Game->Count("back") == 1; }, "another one is there");
    Check(!IsThere(Pid), "the process is still there, if only as a zombie");
    Equal(Game->Count("gone"), 1, "how often the game was told of the loss");
    Equal(Mira->Ends.size(), 1U, "ends");
    Equal(Mira->Ends[0]->Status, Failure, "the turn that was cut");
    const std::string& Seen = Mira->Ends[0]->Interaction->Outputs[0].Text;
    // What it said before it was killed may have come in the meantime.
    Check(Seen.compare(0, Said.size(), Said) == 0, Seen);
    Equal(Mira->Turn("Third?").Status, Success, "the turn after that");
    Equal(Mira->Turns(), "First?/Success Second?/Error Third?/Success", "the dialog");
    Game->End();
    return Json::Object();
}

/// It took longer than the sidecar keeps a session.
Json Expired()
{
    std::unique_ptr<World> Game = std::make_unique<World>();
    std::unique_ptr<Character> Mira = Game->Ready().Make("long", Called("mira"));
    Equal(Mira->Turn("First?").Status, Success, "the first turn");
    const int Pid = Game->Core->GetSidecarPid();
    const std::string State = Game->Core->Detach();
    Mira = nullptr;
    std::this_thread::sleep_for(std::chrono::milliseconds(static_cast<int>(NumberOf("reload_ms"))));
    Game = World::Again(State);
    Mira = Game->Find("mira");
    UntilState(*Game, CoreState::Ready, "all is there again");
    Equal(Game->Core->GetSidecarPid(), Pid, "the sidecar");
    Equal(Game->Count("back"), 1, "how often it was told");
    Equal(Mira->Turn("Second?").Status, Success, "the turn after that");
    Equal(Mira->Turns(), "First?/Success Second?/Success", "the dialog");
    Game->End();
    return Json::Object();
}

/// A second time before the session of the first goes on: still nothing is lost.
Json Twice()
{
    std::unique_ptr<World> Game = std::make_unique<World>();
    std::unique_ptr<Character> Mira = Game->Ready().Make("long", Called("mira"));
    Equal(Mira->Turn("First?").Status, Success, "the first turn");
    const int Pid = Game->Core->GetSidecarPid();
    Mira->Agent->Say("Second?");
    Game->Until([&Mira] { return Mira->HasFrame(2); }, "the answer begins");
    std::string State = Game->Core->Detach();
    std::string Said = Mira->Said(2, "mira");
    Mira = nullptr;
    for (int Time = 0; Time < 3; Time++)
    {
        Game = World::Again(State);
        // Detach hands on what came meanwhile.
        const std::unique_ptr<Character> Passing = Game->Find("mira");
        Passing->Agent->SetVariable("level", Json::Integer(7 + Time));
        Game->Core->MakeStorage(Strings(Time == 2 ? "lines" : "lines " + std::to_string(Time), {"One."}));
        State = Game->Core->Detach();
        Said += Passing->Said(2, "mira");
    }
    Game = World::Again(State);
    Mira = Game->Find("mira");
    Game->Until([&Mira] { return Mira->Ends.size() == 1; }, "the turn ends");
    Equal(Mira->Ends[0]->Interaction->Outputs[0].Text, Said + Mira->Said(2, "mira"), "what was said");
    Equal(Game->Core->GetSidecarPid(), Pid, "the sidecar");
    Equal(Game->Count("gone"), 0, "how often the game was told of a loss");
    Equal(Mira->Turn("Third?").Status, Success, "the turn after that");
    Equal(Mira->Said(3, "note"), "9", "the variable");
    Equal(Game->Make("canned")->Turn("Hello?").Status, Success, "a turn with the storage");
    Game->End();
    return Json::Object();
}

/// What is asked before the session goes on is done as soon as it does.
Json Asking()
{
    std::unique_ptr<World> Game = std::make_unique<World>();
    std::unique_ptr<Character> Mira = Game->Ready().Make("long", Called("mira"));
    Game->Core->MakeStorage(Strings("lines", {"Old."}));
    Equal(Mira->Turn("First?").Status, Success, "the first turn");
    Mira->Agent->Say("Second?");
    Game->Until([&Mira] { return Mira->HasFrame(2); }, "the answer begins");
    const int Pid = Game->Core->GetSidecarPid();
    Mira = nullptr;
    Game = World::Again(std::move(Game));
    Mira = Game->Find("mira");
    std::vector<std::string> Answers;
    const DoneCallback Note = [&Answers](const Fault* Why) { Answers.push_back(Why == nullptr ? "" : Why->Shown()); };
    Mira->Agent->Cancel();
    Mira->Agent->SetVariable("level", Json::Integer(5), Note);
    Messages::ConfigureSession Session;
    Session.StorageFolder = TextOf("storage");
    Game->Core->Configure(Session, Note);
    Game->Core->DropStringStorage("lines", Note);
    Game->Core->MakeStorage(Strings("lines", {"New."}), Note);
    Game->Core->PinModel("slow", Note);
    Game->Core->Request(
        std::make_shared<Messages::ListModels>(),
        [&Note](std::unique_ptr<Reply>, const Fault* Why) { Note(Why); });
    Game->Until([&Answers] { return Answers.size() == 6; }, "all of it is answered");
    for (const std::string& Answer : Answers)
    {
        Equal(Answer, "", "an answer");
    }
    Game->Until([&Mira] { return Mira->Ends.size() == 1; }, "the turn ends");
    Equal(Mira->Ends[0]->Status, Cancelled, "the turn that was cancelled before the session went on");
    Equal(Game->Core->GetSidecarPid(), Pid, "the sidecar");
    const std::unique_ptr<Character> Canned = Game->Make("canned");
    Equal(Canned->Turn("Hello?").Status, Success, "a turn with the storage");
    Equal(Canned->Said(1, "c"), "New.", "what it says");
    Game->End();
    return Json::Object();
}

/// What was asked of an agent that is not made yet is asked again.
Json Making()
{
    std::unique_ptr<World> Game = std::make_unique<World>();
    Game->Begin().Add("slow", Called("early"))->Agent->SetVariable("level", Json::Integer(8));
    Game = World::Again(std::move(Game));
    {
        const std::unique_ptr<Character> Early = Game->Find("early");
        Game->Core->Start();
        Game->Until(
            [&Early] { return Early->Agent->GetState() == AgentState::Ready; },
            "the one of before the start is made");
        Equal(Early->Turn("Hello?").Status, Success, "its turn");
        Equal(Early->Said(1, "note"), "8", "its variable");
        const std::unique_ptr<Character> Mira = Game->Add("slow", Called("mira"));
        Mira->Agent->SetVariable("level", Json::Integer(4));
        Mira->Agent->ChangeParams("mira", Parsed("{\"history_name\": \"M\"}"));
        Mira->Agent->LoadDialog(
            "[{\"user\": \"Before?\", \"replies\": [{\"node_name\": \"mira\", \"text\": \"Aye.\"}]}]");
        Mira->Agent->Say("Hello?");
    }
    Game = World::Again(std::move(Game));
    {
        const std::unique_ptr<Character> Mira = Game->Find("mira");
        Game->Until([&Mira] { return Mira->Ends.size() == 1; }, "the line that waited is answered");
        Game->Until(
            [&Mira] { return Mira->Agent->GetDialog().GetInteractions().size() == 2; }, "the dialog is there");
        Equal(Mira->Said(Mira->Ends[0]->TurnId, "note"), "4", "the variable");
        Equal(Mira->Turns(), "Before?/Success Hello?/Success", "the dialog");
        Equal(Mira->Params("mira").Find("history_name")->AsText(), "M", "a parameter");

        Mira->Agent->LoadDialog("[{\"user\": \"Once?\", \"replies\": []}]");
        Equal(Mira->Agent->Say("And then?"), SayOutcome::Queued, "a line behind a dialog that is being loaded");
        Game->Until([&Mira] { return Mira->Ends.size() == 2; }, "it is answered");
        Equal(Mira->Turns(), "Once?/Success And then?/Success", "the dialog");
        Mira->Agent->LoadDialog("[{\"user\": \"Another?\", \"replies\": []}]");
        Game->Frames(1);
    }
    Game = World::Again(std::move(Game));
    {
        const std::unique_ptr<Character> Mira = Game->Find("mira");
        Game->Until([&Mira] { return Mira->Turns() == "Another?/Success"; }, "the dialog that was being loaded");
        Mira->Agent->TruncateDialog(0);
    }
    Game = World::Again(std::move(Game));
    const std::unique_ptr<Character> Mira = Game->Find("mira");
    Game->Until([&Mira] { return Mira->Turns().empty(); }, "the dialog that was being cut");
    Game->End();
    return Json::Object();
}

/// An agent that could not be made says why afterwards too.
Json Failed()
{
    std::unique_ptr<World> Game = std::make_unique<World>();
    std::string Why;
    std::size_t Problems = 0;
    {
        const std::unique_ptr<Character> Broken = Game->Ready().Add("broken", Called("broken"));
        Game->Until([&Broken] { return Broken->Agent->GetState() == AgentState::Failed; }, "it is refused");
        Why = Broken->Agent->GetTrouble()->Shown();
        Problems = Broken->Agent->GetTrouble()->Problems.size();
        const std::unique_ptr<Character> Mira = Game->Make("slow", Called("mira"));
        Json Deep = Json::Array();
        for (int Level = 0; Level < 200; Level++)
        {
            Json Outer = Json::Array();
            Outer.Add(std::move(Deep));
            Deep = std::move(Outer);
        }
        const std::optional<Fault> Refused = Game->Wait(
            [&Mira, &Deep](DoneCallback Done) { Mira->Agent->SetVariable("level", Deep, std::move(Done)); },
            "a variable that is nested too deeply");
        Equal(Refused.value().Code, ErrorCode::InvalidValue, "the fault");
        AgentOptions Options = Called("deep");
        Options.Workflow.Set("nodes", Deep);
        Game->Core->CreateAgent(Options);
        Equal(Mira->Agent->Say("half a letter: \xf0\x9f"), SayOutcome::Sent, "a line");
    }
    Game = World::Again(std::move(Game));
    const std::shared_ptr<CoreAgent> Agent = Game->Core->FindAgent("broken");
    Equal(Agent->GetState(), AgentState::Failed, "the state");
    Equal(Agent->GetTrouble()->Shown(), Why, "why");
    Equal(Agent->GetTrouble()->Problems.size(), Problems, "the findings");
    const std::optional<Fault> Refused = Game->Wait(
        [&Agent](DoneCallback Done) { Agent->SetVariable("level", Json::Integer(3), std::move(Done)); }, "a change");
    Equal(Refused.value().Code, ErrorCode::WorkflowInvalid, "the fault");
    Equal(Agent->Say("Hello?"), SayOutcome::Unavailable, "a line");
    const std::unique_ptr<Character> Mira = Game->Find("mira");
    Game->Until([&Mira] { return !Mira->Agent->IsBusy(); }, "the turn ends");
    Equal(Mira->Turns(), "half a letter: \xef\xbf\xbd\xef\xbf\xbd/Success", "the dialog");
    Check(Game->Core->FindAgent("deep") == nullptr, "what is nested too deeply is there");
    Game->End();
    return Json::Object();
}

/// It comes while the connection is broken: what never came to the sidecar is said again.
Json Unsent()
{
    std::unique_ptr<World> Game = std::make_unique<World>();
    {
        const std::unique_ptr<Character> Mira = Game->Ready().Make("slow", Called("mira"));
        Tell("go");
        Game->Until([&Game] { return Game->Count("link lost") > 0; }, "the connection is lost");
        Mira->Agent->SetVariable("level", Json::Integer(6));
        Equal(Mira->Agent->Say("First?"), SayOutcome::Sent, "a line");
        Game->Frames(5);
    }
    Game = World::Again(std::move(Game));
    const std::unique_ptr<Character> Mira = Game->Find("mira");
    Game->Until([&Mira] { return Mira->Ends.size() == 1; }, "the turn ends");
    Equal(Mira->Ends[0]->Status, Success, "its status");
    Equal(Mira->Said(1, "note"), "6", "the variable");
    Equal(Mira->Turns(), "First?/Success", "the dialog");
    Equal(Game->Count("gone"), 0, "how often the sidecar was taken for lost");
    Game->End();
    return Json::Object();
}

/// What one part of a story has to pass on to the next.
struct Part
{
    std::string State;
    std::string Said;
    std::string Whole;
    int Pid = 0;
};

Part Play(const std::string& State, bool IsLast)
{
    World Game;
    Part Told;
    std::unique_ptr<Character> Mira;
    if (State.empty())
    {
        Mira = Game.Ready().Make("long", Called("mira"));
        Equal(Mira->Turn("First?").Status, Success, "the first turn");
        Mira->Agent->Say("Second?");
    }
    else
    {
        Fault Why;
        std::unique_ptr<ParleyCore> Made = ParleyCore::Attach(Game.Options(), State, Why);
        Check(Made != nullptr, Why.Shown());
        Game.Begin(std::move(Made));
        Mira = Game.Find("mira");
    }
    Told.Pid = Game.Core->GetSidecarPid();
    if (IsLast)
    {
        Game.Until([&Mira] { return Mira->Ends.size() == 1; }, "the turn ends");
        Told.Said = Mira->Said(2, "mira");
        Told.Whole = Mira->Ends[0]->Interaction->Outputs[0].Text;
        Equal(Game.Count("gone"), 0, "how often the game was told of a loss");
        Game.End();
        return Told;
    }
    const std::size_t Before = Mira->Frames.size();
    Game.Until([&Mira, Before] { return Mira->HasFrame(2) && Mira->Frames.size() > Before + 3; }, "some of the answer");
    Told.State = Game.Core->Detach();
    Told.Said = Mira->Said(2, "mira");
    return Told;
}

/// One play session after another, each on a thread of its own, in the middle of a turn.
Json Sessions()
{
    std::string Said;
    Part Told;
    for (int Round = 0; Round < 3; Round++)
    {
        std::thread([&Told, Round] { Told = Play(Told.State, Round == 2); }).join();
        Said += Told.Said;
        Check(Threads::WaitForAll(5000), "a thread of the core goes on");
    }
    Equal(Told.Whole, Said, "what was said across the sessions");
    Check(!IsThere(Told.Pid), "the process is still there");
    return Json::Object();
}

/// One part of the story, in a process of its own: `before` is what the one before reported.
Json Process()
{
    const Json* Before = Settings.Find("before");
    const Part Told = Play(Before == nullptr ? "" : Before->Find("state")->AsText(), HasSetting("is_last"));
    Json Report = Json::Object();
    Report.Set("state", Json::String(Told.State));
    Report.Set("said", Json::String(Told.Said));
    Report.Set("whole", Json::String(Told.Whole));
    Report.Set("pid", Json::Integer(Told.Pid));
    return Report;
}

/// Texts that are of no Detach, or not whole: each is refused in words, and nothing is left behind.
Json Malformed()
{
    World Game;
    Game.Ready().Make("slow", Called("mira"))->Agent->Say("Hello?");
    const int Pid = Game.Core->GetSidecarPid();
    const Json Good = Parsed(Game.Core->Detach());
    const auto Refused = [&Game](const std::string& Text)
    {
        Fault Why;
        const std::unique_ptr<ParleyCore> Made = ParleyCore::Attach(Game.Options(), Text, Why);
        Check(Made == nullptr, "taken: " + Text.substr(0, 200));
        Equal(Why.Code, ErrorCode::MalformedMessage, "the fault");
        Check(Why.Text.find("no state of Detach") != std::string::npos && Why.Text.size() > 30, Why.Text);
    };
    for (const char* Text : {"", "{", "null", "[]", "{}", "{\"version\": 2}", "{\"version\": \"1\"}", "\xff"})
    {
        Refused(Text);
    }
    std::size_t Tried = 0;
    for (const JsonMember& Field : Good.Members())
    {
        Json Wrong = Good;
        Wrong.Set(Field.Name, Json::Object());
        Refused(Codec->Write(Wrong));
        Tried++;
    }
    for (const JsonMember& Field : Good.Find("agents")->Items()[0].Members())
    {
        Json Wrong = Good;
        Wrong.Find("agents")->Items()[0].Set(Field.Name, Json::Array());
        if (Field.Name != "ask_again")
        {
            Refused(Codec->Write(Wrong));
            Tried++;
        }
    }
    Check(Tried > 20, "too little was tried");
    // It was not touched by any of that.
    Check(IsThere(Pid), "the sidecar is gone");
    std::unique_ptr<World> Next = World::Again(Codec->Write(Good));
    UntilState(*Next, CoreState::Ready, "it goes on");
    Equal(Next->Core->GetSidecarPid(), Pid, "the process");
    Next->End();
    return Json::Object();
}

const Scenario Scenarios[] = {
    {"reload", Reload},        {"reload_dead", Dead},     {"reload_expired", Expired}, {"reload_twice", Twice},
    {"reload_asking", Asking}, {"reload_making", Making}, {"reload_failed", Failed},   {"reload_unsent", Unsent},
    {"sessions", Sessions},    {"process", Process},      {"malformed", Malformed},
};

} // namespace

} // namespace Parley::Testing
