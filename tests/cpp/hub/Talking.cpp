// What a game does with a sidecar that lives.
#include "World.h"

#include "Core/ParleySession.h"

#include <algorithm>
#include <utility>

namespace Parley::Testing
{

namespace
{

/// The name of an embedded storage is free again once it is dropped.
void Drop(World& Game)
{
    const auto Make = [&Game]
    {
        return Game.Wait(
            [&Game](DoneCallback Done)
            {
                Messages::CreateEmbeddedStorage Storage;
                Storage.Name = "topics";
                Storage.Strings = std::vector<std::string>{"Stew and ale."};
                Storage.EmbeddingModel = "starter-embed";
                Game.Core->MakeStorage(Storage, std::move(Done));
            },
            "an embedded storage");
    };
    std::optional<Fault> Why = Make();
    Check(!Why, Shown(Why));
    Equal(Make().value().Code, ErrorCode::EmbeddedStorageExists, "the fault of a second one");
    Why = Game.Wait(
        [&Game](DoneCallback Done) { Game.Core->DropEmbeddedStorage("topics", std::move(Done)); }, "it is dropped");
    Check(!Why, Shown(Why));
    Why = Make();
    Check(!Why, "the name is still taken: " + Shown(Why));
}

/// The tavern: several speakers in one turn, streamed, and the dialog mirrored.
Json Tavern()
{
    World Game;
    Game.Begin();
    std::vector<std::string> Told;
    const DoneCallback Note = [&Told](const Fault* Why) { Told.push_back(Why == nullptr ? "" : Why->Shown()); };
    Messages::ConfigureSession Session;
    Session.StorageFolder = TextOf("storage");
    Session.GameName = "test";
    Game.Core->Configure(Session, Note);
    Game.Core->MakeStorage(Strings("../outside", {}), Note);
    const std::unique_ptr<Character> Tavern = Game.Add("tavern");
    Game.Core->Start();
    Game.Until([&Game] { return Game.Core->GetState() == CoreState::Ready; }, "the tavern is open", 120.0);
    Game.Check(Tavern->Agent->GetState() == AgentState::Ready, "it is not ready");
    Equal(Told.size(), 2U, "answers");
    Equal(Told[0], "", "what became of the settings");
    Check(Told[1].find("InvalidStorageName") != std::string::npos, Told[1]);
    Json Turns = Json::Array();
    for (const Json& Line : Setting("lines").Items())
    {
        Equal(Tavern->Agent->Say(Line.AsText()), SayOutcome::Sent, "a line");
        const std::size_t Before = Tavern->Ends.size();
        Game.Until([&Tavern, Before] { return Tavern->Ends.size() > Before; }, "the turn ends", 120.0);
        const Messages::TurnComplete& End = *Tavern->Ends[Before];
        Check(End.Status == Success, End.Error ? End.Error->Message : "");
        Json Speakers = Json::Array();
        std::size_t Most = 0;
        for (const Messages::Output& Output : End.Interaction->Outputs)
        {
            if (Output.Send == Messages::Send::None)
            {
                continue;
            }
            Speakers.Add(Json::String(Output.NodeName));
            Equal(Tavern->Said(End.TurnId, Output.NodeName), Output.Text, "what " + Output.NodeName + " said");
            std::vector<Messages::AnswerText> Frames;
            for (const Messages::AnswerText& Frame : Tavern->Frames)
            {
                if (Frame.TurnId == End.TurnId && Frame.Step == Output.Step)
                {
                    Frames.push_back(Frame);
                }
            }
            const auto Finals = std::count_if(
                Frames.begin(), Frames.end(), [](const Messages::AnswerText& Frame) { return Frame.IsFinal; });
            Equal(Finals, 1, "final frames of " + Output.NodeName);
            Check(Frames.back().IsFinal, "the final frame is not the last");
            Most = (std::max)(Most, Frames.size());
        }
        Json& Turn = Turns.Add(Json::Object());
        Turn.Set("speakers", std::move(Speakers));
        Turn.Set("frames", Json::Integer(static_cast<std::int64_t>(Most)));
    }
    Equal(Tavern->Agent->GetDialog().GetInteractions().size(), Turns.Items().size(), "turns that are mirrored");
    Tavern->CheckMirror();
    Drop(Game);
    Json Found = Json::Object();
    Found.Set("turns", std::move(Turns));
    Found.Set("longest_update_ms", Json::Real(Game.Longest));
    Game.End();
    return Found;
}

/// Cancel: at once, later, and a line that waits.
Json Cancel()
{
    World Game;
    const std::unique_ptr<Character> Mira = Game.Ready().Make("wordy");
    CoreAgent& Agent = *Mira->Agent;
    Equal(Agent.Say("First?"), SayOutcome::Sent, "the first line");
    Agent.Cancel();
    Game.Until([&Mira] { return Mira->Ends.size() == 1; }, "the turn ends");
    Equal(Mira->Ends[0]->Status, Cancelled, "the first end");
    Agent.Say("Second?");
    Equal(Agent.Say("Third?"), SayOutcome::Queued, "the line that waits");
    Equal(Agent.Say("Fourth?"), SayOutcome::Busy, "one line too many");
    Game.Until([&Mira] { return Mira->HasFrame(2); }, "the second answer begins");
    Agent.Cancel();
    Equal(Agent.Say("Fifth?"), SayOutcome::Queued, "a line behind a cancelled turn");
    Game.Until([&Mira] { return Mira->HasFrame(3); }, "the fifth line is answered");
    Check(Agent.IsBusy(), "no turn runs");
    Agent.Cancel();
    Game.Until([&Agent] { return !Agent.IsBusy(); }, "nothing runs");
    Equal(Mira->Ends.size(), 4U, "ends");
    for (const std::unique_ptr<Messages::TurnComplete>& End : Mira->Ends)
    {
        Equal(End->Status, Cancelled, "an end");
    }
    const std::string Turns = Mira->Turns();
    const std::string Last = "Second?/Cancelled Fifth?/Cancelled";
    Check(Turns.size() >= Last.size() && Turns.substr(Turns.size() - Last.size()) == Last, Turns);
    Agent.SetWhenBusy(WhenBusy::Refuse);
    Agent.Say("Sixth?");
    Equal(Agent.Say("Seventh?"), SayOutcome::Busy, "a line that is refused");
    Equal(Agent.WhyNotSaid(SayOutcome::Busy).Code, ErrorCode::AgentBusy, "why");
    Agent.Destroy();
    Equal(Mira->Ends.size(), 5U, "ends with the agent's");
    Equal(Agent.Say("Eighth?"), SayOutcome::Unavailable, "a line to nobody");
    Equal(Agent.WhyNotSaid(SayOutcome::Unavailable).Code, ErrorCode::AgentDestroyed, "why");
    Game.Until([&Game] { return Game.Core->GetSession()->GetWaiting() == 0; }, "all is heard");
    Game.End();
    return Json::Object();
}

/// Calls of a tool: a result, an error, too late, twice, from another thread, and when all is gone.
Json Tools()
{
    World Game;
    const std::unique_ptr<Character> Odo = Game.Ready().Make("tools");
    std::function<void(const std::shared_ptr<ToolCall>&)> Answer = [](const std::shared_ptr<ToolCall>& Call)
    { Call->Reply("open"); };
    Odo->Agent->ToolCalled.Add([&Answer](const std::shared_ptr<ToolCall>& Call) { Answer(Call); });
    const auto Recorded = [&Odo](std::size_t Turn) { return Odo->Ends[Turn]->Interaction->ToolCalls[0]; };
    const Messages::TurnComplete& First = Odo->Turn("Open the door!");
    Equal(Odo->Said(First.TurnId, "says"), "The door: open", "what is said of the result");
    Equal(Odo->Calls[0]->GetTool(), "open_door", "the tool");
    Equal(Odo->Calls[0]->GetNodeName(), "door", "the node");
    Equal(Odo->Calls[0]->GetArguments().Find("door")->AsText(), "cellar", "its argument");
    Check(Odo->Calls[0]->GetAgent() == Odo->Agent, "it is somebody else's");
    Equal(Recorded(0).Result.value_or("none"), "open", "the result that is recorded");

    Answer = [](const std::shared_ptr<ToolCall>& Call) { Call->Fail("it is locked"); };
    Odo->Turn("Open it again!");
    Equal(Recorded(1).Error, "it is locked", "the error that is recorded");

    std::thread Other;
    Answer = [&Other](const std::shared_ptr<ToolCall>& Call)
    { Other = std::thread([Call] { Call->Reply("from afar"); }); };
    Odo->Turn("And again!");
    Other.join();
    Equal(Recorded(2).Result.value_or("none"), "from afar", "the result of another thread");

    Odo->Calls[2]->Reply("twice");
    Answer = [&Odo](const std::shared_ptr<ToolCall>&) { Odo->Agent->Cancel(); };
    Equal(Odo->Turn("Once more!").Status, Cancelled, "the turn that nobody answered");
    Odo->Calls[3]->Reply("too late");
    Answer = [](const std::shared_ptr<ToolCall>& Call) { Call->Reply("fine"); };
    Equal(Odo->Turn("Still there?").Status, Success, "the turn after all that");
    std::shared_ptr<ToolCall> Kept;
    Answer = [&Kept](const std::shared_ptr<ToolCall>& Call) { Kept = Call; };
    Odo->Agent->Say("And never again.");
    Game.Until([&Kept] { return Kept != nullptr; }, "the last call");
    Game.End();
    Odo->Agent->Destroy();
    Game.Core = nullptr;
    std::thread([&Kept] { Kept->Reply("when all is gone"); }).join();
    return Json::Object();
}

Json Change(std::string_view Name, Json Value)
{
    Json Made = Json::Object();
    Made.Set(Name, std::move(Value));
    return Made;
}

/// Variables, parameters, saved dialogs, faults of requests.
Json Changes()
{
    World Game;
    const std::unique_ptr<Character> Mira = Game.Ready().Make("slow");
    CoreAgent& Agent = *Mira->Agent;
    Agent.SetVariable("level", Json::Integer(7));
    std::optional<Fault> Why = Game.Wait(
        [&Agent](DoneCallback Done) { Agent.SetVariables(Change("name", Json::String("x")), std::move(Done)); },
        "no variable");
    Check(Why.has_value(), "a variable that there is not");
    Why = Game.Wait(
        [&Agent](DoneCallback Done) { Agent.SetVariables(Json::Integer(3), std::move(Done)); }, "no variables");
    Equal(Why.value().Code, ErrorCode::InvalidValue, "the fault of what is no object");
    Equal(Mira->Turn("Hello?").Status, Success, "the turn");
    Equal(Mira->Said(1, "note"), "7", "the variable");
    Json Changed = Change("system_prompt", Json::String("Mira keeps the inn."));
    Changed.Set("sampling", Change("top_k", Json::Integer(3)));
    Why = Game.Wait(
        [&Agent, &Changed](DoneCallback Done) { Agent.ChangeParams("mira", Changed, std::move(Done)); }, "a change");
    Check(!Why, Shown(Why));
    Equal(Mira->Params("mira").Find("system_prompt")->AsText(), "Mira keeps the inn.", "the parameter");
    std::optional<Fault> Unknown;
    Agent.GetParams(
        "nobody",
        [&Unknown](const Messages::Params* Found, const Fault* Reason)
        {
            Check(Found == nullptr && Reason != nullptr, "parameters of nobody");
            Unknown = *Reason;
        });
    Game.Until([&Unknown] { return Unknown.has_value(); }, "the parameters of nobody");
    Equal(Unknown->Code, ErrorCode::UnknownNode, "the fault");
    Agent.Say("Busy?");
    Why = Game.Wait(
        [&Agent, &Changed](DoneCallback Done) { Agent.ChangeParams("mira", Changed, std::move(Done)); },
        "a change while busy");
    Equal(Why.value().Code, ErrorCode::AgentBusy, "the fault");
    Agent.Cancel();
    Game.Until([&Agent] { return !Agent.IsBusy(); }, "nothing runs");

    const std::string Saved = Mira->Save();
    const std::unique_ptr<Character> Other = Game.Make("slow");
    const auto Load = [&Game, &Other](const std::string& Text)
    {
        return Game.Wait(
            [&Other, &Text](DoneCallback Done) { Other->Agent->LoadDialog(Text, std::move(Done)); }, "loading");
    };
    Why = Load(Saved);
    Check(!Why, "not loaded: " + Shown(Why));
    Equal(Other->Turns(), Mira->Turns(), "the dialog");
    Equal(Other->Save(), Saved, "the dialog that was loaded");
    Equal(Load("{").value().Code, ErrorCode::InvalidDialog, "the fault");
    Equal(Load("").value().Code, ErrorCode::InvalidDialog, "the fault");
    Equal(Load("{\"interactions\": 3}").value().Code, ErrorCode::InvalidDialog, "the fault");
    Equal(Other->Turns(), Mira->Turns(), "the dialog after that");
    Why = Game.Wait(
        [&Other](DoneCallback Done) { Other->Agent->EditDialog(0, "Good day?", std::nullopt, std::move(Done)); },
        "an edit");
    Check(!Why, Shown(Why));
    Why = Game.Wait(
        [&Other](DoneCallback Done) { Other->Agent->TruncateDialog(1, std::move(Done)); }, "a cut");
    Check(!Why, Shown(Why));
    Equal(Other->Turns(), "Good day?/Success", "the dialog that was changed");

    AgentOptions Options;
    Options.SeedDialog = Parsed("[{\"user\": \"Hi\", \"replies\": [{\"node_name\": \"mira\", \"text\": \"Ho\"}]}]");
    const std::unique_ptr<Character> Seeded = Game.Make("slow", Options);
    Equal(Seeded->Turns(), "Hi/Success", "the dialog that it began with");
    const std::unique_ptr<Character> Broken = Game.Add("broken");
    std::optional<Fault> Failed;
    Broken->Agent->Failed.Add([&Failed](const Fault& Reason) { Failed = Reason; });
    Game.Until([&Broken] { return Broken->Agent->GetState() == AgentState::Failed; }, "the workflow is refused");
    Equal(Broken->Agent->GetTrouble()->Code, ErrorCode::WorkflowInvalid, "the fault");
    Check(!Failed.value().Problems.empty(), "no findings");
    Equal(Broken->Agent->Say("?"), SayOutcome::Unavailable, "a line to it");
    Equal(Broken->Agent->WhyNotSaid(SayOutcome::Unavailable).Code, ErrorCode::WorkflowInvalid, "why");
    Options = {};
    Options.Key = "twice";
    Game.Add("slow", Options);
    Check(Game.Core->CreateAgent(Options) == nullptr, "two of one key");
    Game.End();
    return Json::Object();
}

/// One thing after the other, each begun where the one before ends: all of it goes on on the game's thread.
struct Story : std::enable_shared_from_this<Story>
{
    explicit Story(World& Of) : Game(Of) {}

    void Begin()
    {
        Game.Core->Start([Self = shared_from_this()](const Fault* Why) { Self->Note("started", Why); });
        AgentOptions Options;
        Options.Workflow = *Setting("workflows").Find("slow");
        Mira = Game.Core->CreateAgent(
            std::move(Options),
            [Self = shared_from_this()](const Fault* Why)
            {
                Self->Note("made", Why);
                Self->Say();
            });
    }

    void Say()
    {
        Mira->Say(
            "Hello?",
            [Self = shared_from_this()](const Messages::TurnComplete& End)
            {
                Equal(End.Status, Success, "the turn");
                Self->Note("said", nullptr);
                Self->Change();
            });
    }

    void Change()
    {
        Mira->SetVariables(Testing::Change("level", Json::Integer(3)), [Self = shared_from_this()](const Fault* Why)
        {
            Self->Note("changed", Why);
            Self->CancelOne();
        });
    }

    void CancelOne()
    {
        LineId Line = 0;
        Equal(
            Mira->Say(
                "A long one?",
                [Self = shared_from_this()](const Messages::TurnComplete& End)
                {
                    Equal(End.Status, Cancelled, "the turn that was cancelled");
                    Self->Note("cancelled", nullptr);
                },
                &Line),
            SayOutcome::Sent, "a line");
        Check(Line != 0, "a line without a name");
        Equal(
            Mira->Say(
                "And then?",
                [Self = shared_from_this()](const Messages::TurnComplete& End)
                {
                    Equal(End.Status, Success, "the turn that waited");
                    Self->Note("answered", nullptr);
                    Self->Save();
                }),
            SayOutcome::Queued, "the second line");
        LineId None = 1;
        Equal(Mira->Say("No.", [](const Messages::TurnComplete&) { Fail("a line that was refused ended"); }, &None),
              SayOutcome::Busy, "the third line");
        Equal(None, 0U, "the name of a line that was refused");
        Other = std::thread(
            [Self = shared_from_this(), Line]
            { Self->Game.Core->OnGameThread([Self, Line] { Self->Mira->CancelLine(Line); }); });
    }

    void Save()
    {
        Other.join();
        Mira->SaveDialog(
            [Self = shared_from_this()](const std::string& Text, const Fault* Why)
            {
                Self->Note("saved", Why);
                Self->Mira->LoadDialog(
                    Text,
                    [Self](const Fault* Reason)
                    {
                        Self->Note("loaded", Reason);
                        Self->Refuse();
                    });
            });
    }

    void Refuse()
    {
        AgentOptions Options;
        Options.Workflow = *Setting("workflows").Find("broken");
        Game.Core->CreateAgent(
            std::move(Options),
            [Self = shared_from_this()](const Fault* Why)
            {
                Check(Why != nullptr && Why->Code == ErrorCode::WorkflowInvalid, "a broken workflow was taken");
                Self->Note("refused", nullptr);
                Self->Ask();
            });
    }

    void Ask()
    {
        Game.Core->Request(
            std::make_shared<Messages::GetStatus>(),
            [Self = shared_from_this()](std::unique_ptr<Reply> Said, const Fault* Why)
            {
                Self->Note("status", Why);
                Check(As<Messages::Status>(Said.get()) != nullptr, "no status");
                Self->Game.Core->Stop(
                    [Self]
                    {
                        Self->Note("stopped", nullptr);
                        Self->IsOver = true;
                    });
            });
    }

    void Note(const std::string& What, const Fault* Why)
    {
        Check(Why == nullptr, What + ": " + (Why == nullptr ? "" : Why->Shown()));
        Game.Event(What);
        Told += (Told.empty() ? "" : " ") + What;
    }

    World& Game;
    std::shared_ptr<CoreAgent> Mira;
    std::thread Other;
    std::string Told;
    bool IsOver = false;
};

Json Callbacks()
{
    World Game;
    Game.Begin();
    const std::shared_ptr<Story> Told = std::make_shared<Story>(Game);
    Told->Begin();
    Game.Until([&Told] { return Told->IsOver; }, "the story ends");
    Equal(
        Told->Told,
        "made started said changed cancelled answered saved loaded refused status stopped",
        "what was told");
    return Json::Object();
}

const Scenario Scenarios[] = {
    {"tavern", Tavern}, {"cancel", Cancel}, {"tools", Tools}, {"changes", Changes}, {"callbacks", Callbacks},
};

} // namespace

} // namespace Parley::Testing
