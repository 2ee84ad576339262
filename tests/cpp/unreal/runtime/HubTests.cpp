// Subsystem and agents in a game's loop, with a real sidecar.
#include "Stage.h"

#include "Core/Generated/Messages.h"
#include "Core/ParleyCore.h"
#include "Core/ParleySession.h"
#include "DialogueCast.h"
#include "Interfaces/IPluginManager.h"
#include "Misc/CoreMisc.h"
#include "ParleyDialogueComponent.h"
#include "ParleyModule.h"
#include "ParleyText.h"
#include "ParleyVoiceComponent.h"
#include "ParleyWorkflow.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

using namespace RuntimeTests;

namespace
{

/// No frame may take so long.
constexpr double LongestMs = 50;

std::string Ms(double Seconds)
{
    char Text[32];
    std::snprintf(Text, sizeof(Text), "%.3f", Seconds * 1000);
    return Text;
}

/// What stops the game stops it each time; a machine that is busy does not three times in a row.
void Timed(const char* What, int Frames, const std::function<void(FGame&)>& Begin)
{
    std::string Fault;
    for (int Round = 0; Round < 3; Round++)
    {
        FGame Game;
        Begin(Game);
        std::vector<double> Took;
        for (int Index = 0; Index < Frames; Index++)
        {
            const double Begun = Clock();
            Game.Frame();
            Took.push_back((Clock() - Begun) * 1000);
            Sleep(0.002);
        }
        const double End = Game.Stop() * 1000;
        std::sort(Took.begin(), Took.end());
        Fault = std::string(What) + ": frames took up to " + Ms(Took.back() / 1000) + " ms, usually up to "
            + Ms(Took[Took.size() * 3 / 4] / 1000) + ", the end " + Ms(End / 1000);
        Print(Fault);
        if (Took.back() < LongestMs && Took[Took.size() * 3 / 4] < 5 && End < 1000)
        {
            return;
        }
    }
    Fail(Fault);
}

} // namespace

PARLEY_TEST(HubTests, TwoAgentsOnOneHub)
{
    Project();
    FGame Game;
    UParleyAgentComponent* Inn = Game.Character("Inn", "inn");
    UParleyAgentComponent* Guard = Game.Character("Guard", "guard");
    UNotes* OfInn = UNotes::Of(Inn);
    UNotes* OfGuard = UNotes::Of(Guard);
    Equal(static_cast<int>(EParleySayOutcome::Queued), static_cast<int>(Inn->TrySay(TEXT("Good evening!"))), "a line before there is a sidecar");
    Guard->Say(TEXT("Open the gate."));
    Game.Until([&] { return OfInn->Turns.Num() >= 1 && OfGuard->Turns.Num() >= 1; }, "both turns are over");
    Text("Welcome, traveller.|Ho there!|The fire cracks.|", OfInn->Said, "the inn");
    Texts("mira|bram|narrator", OfInn->Speakers, "speakers of the inn");
    Text("Halt!|", OfGuard->Said, "the guard");
    That(OfInn->Turns[0].Status == EParleyTurnStatus::Success, "the turn");
    That(OfInn->Frames > 4, "it was streamed");
    Equal(0, OfInn->Errors.Num() + OfGuard->Errors.Num(), "errors");
    Equal(1, OfInn->Readies, "it was ready once");
    int Ended = 0;
    Guard->SayThen(TEXT("Again"), [&Ended](const FParleyTurnComplete* Turn, const FParleyFault* Why)
    {
        That(Turn != nullptr && Why == nullptr && Turn->Status == EParleyTurnStatus::Success, "its turn");
        Ended++;
    });
    Game.Until([&] { return Ended > 0; }, "the callback comes");
    Game.Stop();
    Equal(1, Ended, "once");
}

PARLEY_TEST(HubTests, TheGameGoesOnWhateverTheSidecarDoes)
{
    UParleySettings& Settings = Project();
    const TArray<FString> Real = Settings.EditorCommand;
    Settings.EditorCommand = {Real[0], TEXT("-c"), TEXT("import time; time.sleep(60)")};
    Timed("starting", 60, [](FGame& Game) { Game.Character("A", "slow")->Say(TEXT("Hello")); });
    Settings.bAutoLaunch = false;
    Settings.Endpoint = TEXT("tcp://127.0.0.1:9");
    Timed("absent", 60, [](FGame& Game) { Game.Character("A", "slow")->Say(TEXT("Hello")); });
    Settings.bAutoLaunch = true;
    Settings.Endpoint = FString();
    Settings.EditorCommand = {Parley::ToFString(GivenText("folder")) + TEXT("/no such program")};
    Timed("missing", 60, [](FGame& Game) { Game.Character("A", "slow")->Say(TEXT("Hello")); });
    Settings.EditorCommand = Real;
    int Pid = 0;
    Timed("stopped", 100, [&Pid](FGame& Game)
    {
        UParleyAgentComponent* Agent = Game.Character("A", "slow");
        UNotes* Notes = UNotes::Of(Agent);
        Game.UntilReady();
        Agent->Say(TEXT("Hello"));
        Game.Until([&] { return Notes->Frames > 3; }, "it speaks");
        Pid = Game.Hub().GetSidecarPid();
        Signal("STOP", Pid);
        Agent->Say(TEXT("And again"));
    });
    That(!IsAlive(Pid), "a stopped sidecar is gone too");
}

PARLEY_TEST(HubTests, AFrameWithNothingToDoAllocatesNothing)
{
    Project();
    FGame Game;
    UParleyAgentComponent* Agent = Game.Character("Inn", "inn");
    UParleyDialogueComponent* View = Game.Add<UParleyDialogueComponent>(Agent->GetOwner());
    Game.Add<UParleyVoiceComponent>(Agent->GetOwner());
    UNotes* Notes = UNotes::Of(Agent);
    Agent->Say(TEXT("Good evening!"));
    Game.Until([&] { return Notes->Turns.Num() >= 1; }, "the turn is over");
    View->SkipToEnd();
    for (int Index = 0; Index < 50; Index++)
    {
        Game.Frame();
        Sleep(0.002);
    }
    const std::uint64_t Before = Allocations();
    for (int Index = 0; Index < 1000; Index++)
    {
        Game.Frame();
    }
    const std::uint64_t Count = Allocations() - Before;
    Equal(0, static_cast<std::int64_t>(Count), "allocations of a thousand frames");
    const std::uint64_t Control = Allocations();
    const FString Long(TEXT("a text that is longer than what a string keeps within itself"));
    That(Allocations() > Control && Long.Len() > 0, "allocations are counted");
}

PARLEY_TEST(HubTests, DrainingTakesNoTime)
{
    const UParleySettings& Settings = Project();
    FGame Game;
    UParleyAgentComponent* Agent = Game.Character("Talker", "long");
    UNotes* Notes = UNotes::Of(Agent);
    Game.UntilReady();
    double Best = 1e9;
    double Idle = 1e9;
    for (int Round = 0; Round < 3; Round++)
    {
        const int Had = Notes->Turns.Num();
        Agent->Say(TEXT("Talk"));
        Parley::ParleyCore& Core = *Game.Hub().GetCore();
        // What came waits on the session's own thread until the game asks for it.
        const double Patience = Clock();
        while (Core.GetSession()->GetWaiting() < 210)
        {
            That(Clock() - Patience < 20, "frames do not come");
            Sleep(0.001);
        }
        const int Before = Notes->Frames;
        double Begun = Clock();
        Core.Update(1000);
        const double Took = Clock() - Begun;
        const int Frames = Notes->Frames - Before;
        if (Frames >= 200)
        {
            Best = (std::min)(Best, Took * 200 / Frames);
        }
        Game.Until([&] { return Notes->Turns.Num() > Had; }, "the turn is over");
        Begun = Clock();
        for (int Index = 0; Index < 1000; Index++)
        {
            Core.Update(Settings.GetBudgetMs());
        }
        Idle = (std::min)(Idle, (Clock() - Begun) / 1000);
    }
    Print("200 frames: " + Ms(Best) + " ms; an empty drain: " + Ms(Idle * 1000) + " us");
    // A sanitizer makes it several times as slow.
    const Parley::Json* Limit = Given().Find("drain_ms");
    double Most = 1.0;
    That(Limit == nullptr || Limit->ToDouble(Most), "a limit");
    That(Best * 1000 < Most, "200 frames took " + Ms(Best) + " ms");
}

PARLEY_TEST(HubTests, TheSidecarsLogIsInTheEngines)
{
    UParleySettings& Settings = Project();
    for (const EParleyLogLevel Level : {EParleyLogLevel::Warning, EParleyLogLevel::Info})
    {
        Settings.LogLevel = Level;
        Clean();
        FGame Game;
        Game.Hub().StartSidecar();
        Game.UntilReady();
        Game.Stop();
        That((CountLog(ELogVerbosity::Log, " INFO ") > 0) == (Level == EParleyLogLevel::Info), "lines of the sidecar");
    }
}

PARLEY_TEST(HubTests, NothingStartsUntilItIsWanted)
{
    Project();
    FGame Game;
    for (int Index = 0; Index < 20; Index++)
    {
        Game.Frame();
    }
    That(Game.Hub().GetState() == EParleyState::Stopped && Game.Hub().GetSidecarPid() == 0, "nobody wants a sidecar");
    int Heard = 0;
    Game.Hub().Ask(std::make_shared<Parley::Messages::ListModels>(), [&Heard](const Parley::Reply* Reply, const FParleyFault* Why)
    {
        That(Why == nullptr && Parley::As<Parley::Messages::Models>(Reply) != nullptr, "the models");
        Heard++;
    });
    Game.Until([&] { return Heard > 0; }, "what is asked starts it");
    Equal(1, Heard, "an answer");
}

PARLEY_TEST(HubTests, AGameThatConnectedByItselfIsToldOfTheEnd)
{
    UParleySettings& Settings = Project();
    FGame Game;
    UParleySubsystem& Hub = Game.Hub();
    Hub.StartSidecar();
    UHubNotes* Notes = UHubNotes::Of(Hub);
    Hub.StopSidecar();
    Game.Until([&] { return Hub.GetState() == EParleyState::Stopped; }, "it has stopped");
    Settings.EditorCommand.Reset();
    Hub.Connect(Parley::ToFString(GivenText("endpoint")), TEXT("another token"));
    Game.Until([&] { return Notes->Faults.Num() > 0; }, "the game is told");
    Text("SidecarFailed", Notes->Faults[0].Name, "what it is told");
}

PARLEY_TEST(HubTests, WithoutAutoLaunchTheGameConnects)
{
    Project().bAutoLaunch = false;
    FGame Game;
    UParleyAgentComponent* Agent = Game.Character("Note", "note");
    UNotes* Notes = UNotes::Of(Agent);
    Game.Frame();
    That(Game.Hub().GetState() == EParleyState::Stopped, "nothing is started");
    Equal(static_cast<int>(EParleySayOutcome::Queued), static_cast<int>(Agent->TrySay(TEXT("a"))), "a line waits for it");
    Game.Hub().Connect(Parley::ToFString(GivenText("endpoint")), Parley::ToFString(GivenText("token")));
    Game.Until([&] { return Notes->Turns.Num() >= 1; }, "it is answered");
    Text("1|", Notes->Said, "what it says");
    Equal(0, Game.Hub().GetSidecarPid(), "it is somebody else's");
}

PARLEY_TEST(HubTests, BusyAgentsQueueOneLineOrRefuse)
{
    Project();
    FGame Game;
    UParleyAgentComponent* Agent = Game.Character("Slow", "slow");
    UNotes* Notes = UNotes::Of(Agent);
    Game.UntilReady();
    That(Agent->TrySay(TEXT("one")) == EParleySayOutcome::Sent, "the first");
    That(Agent->TrySay(TEXT("two")) == EParleySayOutcome::Queued, "the second");
    That(Agent->TrySay(TEXT("three")) == EParleySayOutcome::Busy, "the third");
    Agent->Say(TEXT("four"));
    Text("AgentBusy", Notes->Errors[0].Name, "the fourth");
    That(Notes->Errors[0].Kind == EParleyErrorCode::AgentBusy && Notes->Errors[0].Code == 3004, "its code");
    That(Parley::ToUtf8(Notes->Errors[0].Message).find("'Slow' is being spoken to already") == 0, "its words");
    int Cancelled = 0;
    Agent->CancelThen([&Cancelled] { Cancelled++; });
    Game.Until([&] { return Cancelled > 0; }, "all is cancelled");
    Equal(2, Notes->Turns.Num(), "turns that ended");
    That(Notes->Turns[1].Status == EParleyTurnStatus::Cancelled, "cancelled");
    Agent->SetWhenBusy(EParleyWhenBusy::Refuse);
    Agent->Say(TEXT("five"));
    That(Agent->TrySay(TEXT("six")) == EParleySayOutcome::Busy, "the sixth");
    Agent->Cancel();
    Game.Until([&] { return Notes->Turns.Num() >= 3; }, "the third turn ends");
}

PARLEY_TEST(HubTests, InactiveAgentsAreSilentAndKeepTheirDialog)
{
    Project();
    FGame Game;
    UParleyAgentComponent* Agent = Game.Character("Slow", "slow");
    UNotes* Notes = UNotes::Of(Agent);
    Game.UntilReady();
    Agent->Say(TEXT("one"));
    Game.Until([&] { return Notes->Frames > 2; }, "it speaks");
    Agent->Deactivate();
    Agent->Activate();
    Game.Frame();
    That(Agent->IsBusy(), "a blink cancels nothing");
    Agent->Deactivate();
    That(Agent->TrySay(TEXT("two")) == EParleySayOutcome::Unavailable, "a line to one that is not there");
    Game.Until([&] { return Notes->Turns.Num() == 1; }, "its turn ends");
    That(Notes->Turns[0].Status == EParleyTurnStatus::Cancelled, "cancelled");
    int Refused = 0;
    Agent->SayThen(TEXT("three"), [&Refused](const FParleyTurnComplete* Turn, const FParleyFault* Why)
    {
        That(Turn == nullptr && Why != nullptr, "refused");
        Text("AgentDisabled", Why->Name, "why");
        Refused++;
    });
    Equal(1, Refused, "at once");
    Agent->Activate();
    FString Saved;
    Agent->SaveDialogThen([&Saved](const FString& Dialog, const FParleyFault* Why)
    {
        That(Why == nullptr, "it is saved");
        Saved = Dialog;
    });
    Game.Until([&] { return !Saved.IsEmpty(); }, "saved");
    That(Saved.Contains(TEXT("\"one\"")), "the dialog is kept");
}

PARLEY_TEST(HubTests, AgentsGoWithTheirActors)
{
    Project();
    FGame Game;
    UParleyAgentComponent* Agent = Game.Character("Slow", "slow");
    Game.Character("Inn", "inn");
    UNotes* Notes = UNotes::Of(Agent);
    Game.UntilReady();
    Agent->Say(TEXT("one"));
    Game.Until([&] { return Notes->Frames > 2; }, "it speaks");
    Game.Destroy(Agent->GetOwner());
    Game.Frame();
    Equal(1, Notes->Turns.Num(), "its turn ended");
    That(Notes->Turns[0].Status == EParleyTurnStatus::Cancelled, "cancelled");
    std::size_t Left = 9;
    Game.Until(
        [&]
        {
            bool bHeard = false;
            Game.Hub().Ask(std::make_shared<Parley::Messages::ListAgents>(), [&](const Parley::Reply* Reply, const FParleyFault*)
            {
                Left = Parley::As<Parley::Messages::Agents>(Reply)->Items.size();
                bHeard = true;
            });
            Game.Until([&] { return bHeard; }, "agents are listed");
            return Left == 1;
        },
        "the sidecar forgets it");
}

PARLEY_TEST(HubTests, WhatIsMissingIsAnError)
{
    UParleySettings& Settings = Project();
    const TArray<FString> Real = Settings.EditorCommand;
    Settings.EditorCommand.Reset();
    Settings.SidecarFolder = TEXT("nothing here");
    {
        FGame Game;
        UParleyAgentComponent* Agent = Game.Character("Inn", "inn");
        UNotes* Notes = UNotes::Of(Agent);
        UHubNotes* OfHub = UHubNotes::Of(Game.Hub());
        Agent->Say(TEXT("Hello"));
        Game.Until([&] { return OfHub->Faults.Num() > 0; }, "the hub says it");
        Text("SidecarMissing", OfHub->Faults[0].Name, "what is missing");
        That(OfHub->Faults[0].Message.Contains(TEXT("nothing here")), "where: " + Parley::ToUtf8(OfHub->Faults[0].Message));
        Text("SidecarMissing", Notes->Errors.Last().Name, "the agent says it too");
        Equal(1, Notes->Turns.Num(), "the line ends");
        Equal(1, Notes->Errors.Num(), "it is said once");
        That(Agent->TrySay(TEXT("Again")) == EParleySayOutcome::Unavailable, "a line with nobody to hear it");
    }
    Settings.EditorCommand = Real;
    FGame Game;
    UParleyAgentComponent* Nobody = Game.Character("No model", "no_model");
    UNotes* OfNobody = UNotes::Of(Nobody);
    UParleyAgentComponent* Empty = NewObject<UParleyAgentComponent>(Game.Spawn("No workflow"));
    UNotes* OfEmpty = UNotes::Of(Empty);
    Empty->RegisterComponent();
    UParleyAgentComponent* Broken = NewObject<UParleyAgentComponent>(Game.Spawn("Broken"));
    Broken->Workflow = Workflow("note");
    Broken->StartDialog = TEXT("[{\"user\":");
    UNotes* OfBroken = UNotes::Of(Broken);
    Broken->RegisterComponent();
    Game.Until([&] { return OfNobody->Errors.Num() > 0; }, "there is no such model");
    That(OfNobody->Errors[0].Message.Contains(TEXT("no-such-model")), "it says which");
    That(OfNobody->Errors[0].Problems.Num() > 0, "the findings come along");
    That(OfEmpty->Errors[0].Message.Contains(TEXT("'No workflow' has no workflow")), "no workflow");
    That(OfBroken->Errors[0].Message.Contains(TEXT("line 1")), "no JSON: " + Parley::ToUtf8(OfBroken->Errors[0].Message));
    Equal(1, OfEmpty->Errors.Num(), "it is said once");
    FString Name;
    Empty->SayThen(TEXT("Hello"), [&Name](const FParleyTurnComplete*, const FParleyFault* Why) { Name = Why->Name; });
    Text("WorkflowInvalid", Name, "and to whoever asks");
    That(Nobody->GetState() == EParleyAgentState::Failed, "it failed");
}

PARLEY_TEST(HubTests, SettingsThatAreNoneAreAnErrorAndMayBeMended)
{
    UParleySettings& Settings = Project();
    const TArray<FString> Real = Settings.EditorCommand;
    Settings.EditorCommand.Reset();
    Settings.SidecarFolder = TEXT("side\u0007car");
    Settings.StorageFolder = TEXT("stor\u0007age");
    FGame Game;
    UParleyAgentComponent* Agent = Game.Character("Note", "note");
    UNotes* Notes = UNotes::Of(Agent);
    UParleySubsystem& Hub = Game.Hub();
    UHubNotes* OfHub = UHubNotes::Of(Hub);
    Agent->Say(TEXT("Hello"));
    Game.Until([&] { return OfHub->Faults.Num() > 0; }, "the hub says it");
    Text("SettingsInvalid", OfHub->Faults[0].Name, "what it is");
    Equal(1, Notes->Turns.Num(), "the line ends");
    Text("SettingsInvalid", Notes->Errors.Last().Name, "the agent says it");
    Equal(1, CountLog(ELogVerbosity::Warning, "Storage Folder"), "so does the log of the other one");
    Settings.EditorCommand = Real;
    Hub.StartSidecar();
    Agent->Say(TEXT("And now?"));
    Game.Until([&] { return Notes->Turns.Num() >= 2; }, "it is answered");
    Text("1|", Notes->Said, "what it says once they are right");
    Hub.StopSidecar();
    Game.Until([&] { return Hub.GetState() == EParleyState::Stopped; }, "it is stopped");
    Agent->Say(TEXT("A line waits"));
    Hub.StartSidecar();
    Game.Until([&] { return Notes->Turns.Num() >= 3; }, "until it is started again");
    Equal(2, Agent->GetDialogLength(), "turns of the dialog");
}

PARLEY_TEST(HubTests, ThirtyCopiesTalkAtOnceAndHalfOfThemGo)
{
    Project();
    FGame Game;
    std::vector<UParleyAgentComponent*> Villagers;
    std::vector<UNotes*> Notes;
    for (int Index = 0; Index < 30; Index++)
    {
        Villagers.push_back(Game.Character("Villager", "note"));
        Notes.push_back(UNotes::Of(Villagers.back()));
        Villagers.back()->SetVariable(TEXT("level"), FParleyValue(Index));
        Villagers.back()->Say(TEXT("Hello"));
    }
    for (int Index = 0; Index < 30; Index += 2)
    {
        Game.Destroy(Villagers[static_cast<std::size_t>(Index)]->GetOwner());
    }
    Game.Until(
        [&] { return std::all_of(Notes.begin(), Notes.end(), [](const UNotes* One) { return One->Turns.Num() == 1; }); },
        "every line ends");
    for (int Index = 0; Index < 30; Index++)
    {
        const UNotes& One = *Notes[static_cast<std::size_t>(Index)];
        Text(Index % 2 == 0 ? "" : (std::to_string(Index) + "|").c_str(), One.Said, "what number " + std::to_string(Index) + " says");
        That(One.Turns[0].Status == (Index % 2 == 0 ? EParleyTurnStatus::Cancelled : EParleyTurnStatus::Success), "its turn");
        Equal(0, One.Errors.Num(), "errors");
    }
}

PARLEY_TEST(HubTests, VariablesParametersAndDialog)
{
    Project();
    FGame Game;
    UParleyAgentComponent* Agent = Game.Character("Note", "note");
    UNotes* Notes = UNotes::Of(Agent);
    Agent->SetVariable(TEXT("level"), FParleyValue(3));
    Agent->Say(TEXT("a"));
    Game.Until([&] { return Notes->Turns.Num() >= 1; }, "the first");
    Agent->SetVariable(TEXT("level"), FParleyValue(4));
    Agent->Say(TEXT("b"));
    Game.Until([&] { return Notes->Turns.Num() >= 2; }, "the second");
    FString Params;
    Agent->GetParamsThen(TEXT("note"), [&Params](const FParleyParams* Found, const FParleyFault*) { Params = Found->Params; });
    Game.Until([&] { return !Params.IsEmpty(); }, "parameters");
    That(Params.Contains(TEXT("{{var.level}}")), "what they are");
    Agent->ChangeParams(TEXT("note"), TEXT("{\"template\": \"L{{var.level}}!\"}"));
    Agent->Say(TEXT("c"));
    Game.Until([&] { return Notes->Turns.Num() >= 3; }, "the third");
    Text("3|4|L4!|", Notes->Said, "what it says");
    Agent->SetVariable(TEXT("no such"), FParleyValue(1));
    Agent->ChangeParams(TEXT("nobody"), TEXT("{}"));
    Agent->ChangeParams(TEXT("note"), TEXT("no JSON"));
    Agent->ChangeParams(TEXT("note"), TEXT("[]"));
    Game.Until([&] { return Notes->Errors.Num() == 4; }, "all four are refused");
    FString Saved;
    Agent->SaveDialogThen([&Saved](const FString& Dialog, const FParleyFault*) { Saved = Dialog; });
    Game.Until([&] { return !Saved.IsEmpty(); }, "saved");
    UParleyAgentComponent* Other = Game.Character("Other", "note");
    bool bIsLoaded = false;
    Other->LoadDialogThen(Saved, [&bIsLoaded](const FParleyFault* Why)
    {
        That(Why == nullptr, "it is loaded");
        bIsLoaded = true;
    });
    Game.Until([&] { return bIsLoaded; }, "loaded");
    Equal(3, Other->GetDialogLength(), "turns");
    That(Other->GetDialogNow().Contains(TEXT("L4!")), "the dialog of the moment");
    Agent->TruncateDialog(2);
    Agent->EditDialogLine(0, TEXT("another line"));
    Game.Until([&] { return Agent->GetDialogLength() == 2 && Agent->GetDialogNow().Contains(TEXT("another line")); }, "edited");
    Agent->LoadDialog(TEXT("no dialog"));
    Game.Until([&] { return Notes->Errors.Num() == 5; }, "no dialog");
    Text("InvalidDialog", Notes->Errors[4].Name, "why");
}

PARLEY_TEST(HubTests, ToolsAreAnsweredWithinTheTurn)
{
    Project();
    FGame Game;
    UParleyAgentComponent* Agent = Game.Character("Door", "tools");
    UNotes* Notes = UNotes::Of(Agent);
    Agent->Say(TEXT("Open the door"));
    Game.Until([&] { return Notes->Tools.Num() > 0; }, "the tool is called");
    Text("open_door", Notes->Tools[0].Tool, "the tool");
    Text("{}", Notes->Tools[0].Arguments, "its arguments");
    Text("door", Notes->Tools[0].NodeName, "the node");
    That(!Agent->AnswerToolCall(TEXT("another"), TEXT("open")), "there is no such call");
    That(Agent->AnswerToolCall(Notes->Tools[0].CallId, TEXT("open")), "an answer");
    That(!Agent->AnswerToolCall(Notes->Tools[0].CallId, TEXT("closed")), "a second one");
    Game.Until([&] { return Notes->Turns.Num() >= 1; }, "the turn ends");
    Text("The door: open|", Notes->Said, "what became of it");
    That(Notes->Events.Num() > 0 && Notes->Events[0].Event == TEXT("tool_call"), "the event");
    Agent->Say(TEXT("Once more"));
    Game.Until([&] { return Notes->Tools.Num() > 1; }, "it is called again");
    That(Agent->FailToolCall(Notes->Tools[1].CallId, TEXT("it is locked")), "a failure is an answer");
    Game.Until([&] { return Notes->Turns.Num() >= 2; }, "the turn ends");
    That(Notes->Said.Contains(TEXT("it is locked")), "the model reads why: " + Parley::ToUtf8(Notes->Said));
    That(!Agent->FailToolCall(Notes->Tools[1].CallId, TEXT("late")), "the turn is over");
}

PARLEY_TEST(HubTests, FilesAndStoragesOfTheGameAreFound)
{
    Project();
    FGame Game;
    UParleyAgentComponent* Agent = Game.Character("Canned", "canned");
    UNotes* Notes = UNotes::Of(Agent);
    UHubNotes* OfHub = UHubNotes::Of(Game.Hub());
    Agent->Say(TEXT("Hello"));
    Game.Until([&] { return Notes->Turns.Num() >= 1; }, "it is answered");
    Text("From a file.|", Notes->Said, "the line");
    FParleyDone Done;
    Done.BindDynamic(OfHub, &UHubNotes::TakeDone);
    UParleySubsystem& Hub = Game.Hub();
    Hub.MakeStringStorage(TEXT("made"), {TEXT("From the game.")}, {}, FString(), Done);
    Hub.MakeEmbeddedStorage(TEXT("lore"), FString(), {TEXT("The inn is old.")}, TEXT("starter-embed"), Done);
    Hub.PinModel(TEXT("mira"), Done);
    Hub.UnpinModel(TEXT("mira"), Done);
    Hub.Configure(FString(), false, TEXT("A game"), Done);
    Hub.Configure(TEXT("Parley/storage"), false, TEXT("A game"), Done);
    Hub.DropEmbeddedStorage(TEXT("lore"), Done);
    Game.Until([&] { return OfHub->Dones.Num() == 7; }, "all is done");
    for (const FParleyFault& One : OfHub->Dones)
    {
        That(!One.IsFault(), Parley::ToUtf8(One.ToString()));
    }
    UParleyAgentComponent* Other = Game.Character("Made", "made");
    UNotes* OfOther = UNotes::Of(Other);
    Other->Say(TEXT("Hello"));
    Game.Until([&] { return OfOther->Turns.Num() >= 1; }, "it is answered");
    Text("From the game.|", OfOther->Said, "the line");
    UParleyAgentComponent* Again = Game.Character("Again", "canned");
    UNotes* OfAgain = UNotes::Of(Again);
    Again->Say(TEXT("Hello"));
    Game.Until([&] { return OfAgain->Turns.Num() >= 1; }, "it is answered");
    Text("From a file.|", OfAgain->Said, "the folder that the game named, from Content on");
    Hub.DropStringStorage(TEXT("no such"), Done);
    Hub.MakeEmbeddedStorage(TEXT("lore"), TEXT("no JSON"), {}, FString(), Done);
    Hub.DeleteModel(TEXT("no-such-model"), Done);
    Hub.CancelDownload(TEXT("no-such-model"), Done);
    Game.Until([&] { return OfHub->Dones.Num() == 11; }, "all is answered");
    for (int Index = 7; Index < 11; Index++)
    {
        That(OfHub->Dones[Index].IsFault(), "refused: number " + std::to_string(Index));
    }
}

PARLEY_TEST(HubTests, AKilledSidecarIsReplaced)
{
    Project();
    FGame Game;
    UParleyAgentComponent* Agent = Game.Character("Note", "note");
    UNotes* Notes = UNotes::Of(Agent);
    UHubNotes* OfHub = UHubNotes::Of(Game.Hub());
    Agent->Say(TEXT("a"));
    Game.Until([&] { return Notes->Turns.Num() >= 1; }, "the first");
    Signal("KILL", Game.Hub().GetSidecarPid());
    Game.Until([&] { return OfHub->Told.size() >= 4; }, "another sidecar");
    Texts("ready|gone|ready|back", OfHub->Told, "the game is told");
    Equal(1, Game.Hub().GetRestarts(), "restarts");
    Agent->Say(TEXT("b"));
    Game.Until([&] { return Notes->Turns.Num() >= 2; }, "the second");
    Equal(2, Agent->GetDialogLength(), "the dialog goes on");
    Equal(2, Notes->Readies, "it was ready twice");
}

PARLEY_TEST(HubTests, SeveralSpeakersAreShownInTheirOrder)
{
    Project();
    FGame Game;
    UParleyAgentComponent* Agent = Game.Character("Inn", "inn");
    UDialogueCast* Cast = NewObject<UDialogueCast>();
    FDialogueSpeaker Mira;
    Mira.NodeName = TEXT("mira");
    Mira.DisplayName = FText::FromString(TEXT("Mira"));
    Mira.Colour = FLinearColor(1.0f, 1.0f, 0.0f, 1.0f);
    Cast->Speakers.Add(Mira);
    FDialogueSpeaker Narrator;
    Narrator.NodeName = TEXT("narrator");
    Narrator.bIsNarrator = true;
    Cast->Speakers.Add(Narrator);
    UParleyDialogueComponent* View = Game.Add<UParleyDialogueComponent>(Game.Spawn("View"));
    View->Cast = Cast;
    View->Listen(Agent);
    View->CharactersPerSecond = 200.0f;
    View->PlayerName = TEXT("Guest");
    UNotes* Notes = UNotes::Of(Agent);
    Agent->Say(TEXT("Good evening!"));
    Game.Until([&] { return Notes->Turns.Num() >= 1; }, "the turn is over");
    Game.Until([&] { return View->IsIdle(); }, "all is shown");
    Text("[Guest] Good evening!\n[Mira] Welcome, traveller.\n[bram] Ho there!\n[narrator] The fire cracks.\n", View->GetTranscript(), "what is shown");
    const TArray<FParleyLine> Lines = View->GetLines();
    Equal(4, Lines.Num(), "lines");
    That(View->SpeakerOf(Lines[3]).bIsNarrator, "nobody speaks");
    That(View->SpeakerOf(Lines[1]).Colour == Mira.Colour, "Mira's colour");
    Text("bram", View->SpeakerOf(Lines[2]).GetDisplayName().ToString(), "one that the cast does not know");
    That(Lines[0].bIsPlayer && !Lines[1].bIsPlayer && Lines[1].bIsDone, "what a line is");
    View->Deactivate();
    Agent->Say(TEXT("And?"));
    Game.Until([&] { return Notes->Turns.Num() >= 2; }, "the second turn");
    View->Activate();
    Equal(4, View->GetLines().Num(), "a view that is off takes nothing");
}

PARLEY_TEST(HubTests, AListenerMayEndEverything)
{
    Project();
    for (int Round = 0; Round < 4; Round++)
    {
        FGame Game;
        UParleyAgentComponent* Agent = Game.Character("Slow", "slow");
        Game.Add<UParleyDialogueComponent>(Agent->GetOwner());
        UNotes* Notes = UNotes::Of(Agent);
        bool bIsOver = false;
        Notes->OnFirst = [&]
        {
            bIsOver = true;
            switch (Round)
            {
                case 0:
                    Game.Destroy(Agent->GetOwner());
                    break;
                case 1:
                    Game.Hub().StopSidecar();
                    break;
                case 2:
                    Game.Stop();
                    break;
                default:
                    Agent->Remake();
                    break;
            }
        };
        Agent->Say(TEXT("Hello"));
        Game.Until([&] { return bIsOver; }, "it speaks");
        for (int Index = 0; Index < 10 && Round != 2; Index++)
        {
            Game.Frame();
        }
        Equal(1, Notes->Turns.Num(), "its line ended, round " + std::to_string(Round));
    }
}

PARLEY_TEST(HubTests, ACookIsWarnedOfAMissingLibraryAndDoesNotFailOfIt)
{
    UnloadModule();
    IPlugin& Plugin = *IPluginManager::Get().StubPlugins.FindChecked(TEXT("Parley"));
    const FString Folder = Plugin.StubBaseDir;
    Plugin.StubBaseDir = Folder + TEXT("/nowhere");
    for (const bool bIsCook : {true, false})
    {
        StubEngine::LogLines().Reset();
        StubRunningCommandlet() = bIsCook;
        FParleyModule Module;
        Module.StartupModule();
        That(!Module.HasLibrary(), Parley::ToUtf8(Module.GetTrouble()));
        Equal(bIsCook ? 0 : 1, CountLog(ELogVerbosity::Error, "is not in"), Log());
        Equal(bIsCook ? 1 : 0, CountLog(ELogVerbosity::Warning, "is not in"), Log());
        Module.ShutdownModule();
    }
    StubRunningCommandlet() = false;
    Plugin.StubBaseDir = Folder;
}

PARLEY_TEST(HubTests, WithoutItsLibraryEverythingSaysSo)
{
    Project();
    UnloadModule();
    FGame Game;
    UParleyAgentComponent* Agent = NewObject<UParleyAgentComponent>(Game.Spawn("Note"));
    Agent->Workflow = Workflow("note");
    UNotes* Notes = UNotes::Of(Agent);
    UHubNotes* OfHub = UHubNotes::Of(Game.Hub());
    Agent->RegisterComponent();
    Equal(1, OfHub->Faults.Num(), "the hub says it once");
    Text("LibraryMissing", OfHub->Faults[0].Name, "what it is");
    Agent->Say(TEXT("Hello"));
    Equal(1, Notes->Errors.Num(), "an error");
    Text("LibraryMissing", Notes->Errors[0].Name, "the same");
    Game.Frame();
    Game.Hub().Ask(std::make_shared<Parley::Messages::ListModels>(), [](const Parley::Reply*, const FParleyFault* Why)
    {
        That(Why != nullptr, "whoever asks is told");
    });
    That(!Game.Hub().GetTrouble().IsEmpty() && Game.Hub().GetState() == EParleyState::Stopped, "there is no sidecar");
    Game.Hub().Connect(TEXT("tcp://127.0.0.1:9"), FString());
    Game.Hub().StopSidecar();
    Game.Hub().StartSidecar();
    Equal(2, OfHub->Faults.Num(), "whoever starts it is told again");
}
