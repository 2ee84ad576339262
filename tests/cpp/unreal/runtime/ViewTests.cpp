// The lines of a talk, and agents without a sidecar: what designers and levels do to them.
#include "Stage.h"

#include "Core/CoreAgent.h"
#include "Core/ParleyCore.h"
#include "ParleyDialogueComponent.h"
#include "ParleyText.h"
#include "ParleyWorkflow.h"

using namespace RuntimeTests;

namespace
{

UParleyAgentComponent* Agent(FGame& Game, const char* Name)
{
    return Game.CharacterOf(Name, UParleyWorkflow::EmptyJson);
}

void Answer(UParleyAgentComponent* Who, int64 Turn, const char* Said, bool bIsFinal)
{
    FParleyAnswerText Frame;
    Frame.TurnId = Turn;
    Frame.Step = 1;
    Frame.NodeName = TEXT("mira");
    Frame.Text = Parley::ToFString(Said);
    Frame.bIsDelta = true;
    Frame.bIsFinal = bIsFinal;
    Who->OnAnsweredNative().Broadcast(Frame);
}

void Show(FGame& Game, UParleyDialogueComponent* View)
{
    for (int Index = 0; Index < 200 && !View->IsIdle(); Index++)
    {
        Game.Frame(0.05);
    }
}

} // namespace

PARLEY_TEST(ViewTests, AViewThatWasOffInTheMiddleOfALineGoesOn)
{
    Alone();
    FGame Game;
    UParleyAgentComponent* Inn = Agent(Game, "Inn");
    UParleyDialogueComponent* View = Game.Add<UParleyDialogueComponent>(Inn->GetOwner());
    Answer(Inn, 1, "Welcome, trav", false);
    Game.Frame(0.05);
    View->Deactivate();
    Answer(Inn, 1, "eller.", true);
    View->Activate();
    Answer(Inn, 2, "What will it be?", true);
    Show(Game, View);
    That(View->IsIdle(), "nothing waits for a line that nobody heard the end of");
    Text("[mira] Welcome, trav\n[mira] What will it be?\n", View->GetTranscript(), "what is shown");
}

PARLEY_TEST(ViewTests, AnAgentThatIsIgnoredOrGoesHoldsNobodyUp)
{
    Alone();
    FGame Game;
    UParleyAgentComponent* Inn = Agent(Game, "Inn");
    UParleyAgentComponent* Guard = Agent(Game, "Guard");
    UParleyDialogueComponent* View = Game.Add<UParleyDialogueComponent>(Game.Spawn("View"));
    View->Listen(Inn);
    View->Listen(Guard);
    View->Listen(nullptr);
    Answer(Inn, 1, "I was go", false);
    Game.Frame(0.05);
    Answer(Guard, 1, "Halt!", true);
    View->Ignore(Inn);
    Show(Game, View);
    Text("[mira] I was go\n[mira] Halt!\n", View->GetTranscript(), "what is shown");
    Answer(Guard, 2, "And the", false);
    Game.Frame(0.05);
    Game.Destroy(Guard->GetOwner());
    CollectGarbage(RF_NoFlags);
    UParleyAgentComponent* Third = Agent(Game, "Third");
    View->Listen(Third);
    Answer(Third, 1, "Hm.", true);
    Show(Game, View);
    That(View->GetTranscript().EndsWith(TEXT("[mira] Hm.\n")), "one that was destroyed: " + Parley::ToUtf8(View->GetTranscript()));
}

PARLEY_TEST(ViewTests, ThePlayersLinesAreShownWhereTheyAreWanted)
{
    Alone();
    FGame Game;
    UParleyAgentComponent* Inn = Agent(Game, "Inn");
    UParleyAgentComponent* Guard = Agent(Game, "Guard");
    UParleyDialogueComponent* View = Game.Add<UParleyDialogueComponent>(Game.Spawn("View"));
    View->Listen(Inn);
    View->Listen(Guard);
    View->bShowPlayer = false;
    That(Inn->TrySay(TEXT("Good evening!")) == EParleySayOutcome::Queued, "a line");
    Equal(0, View->GetLines().Num(), "lines of a player who is not to be shown");
    View->bShowPlayer = true;
    View->PlayerName = TEXT("Anna");
    That(Guard->TrySay(TEXT("Open the gate.")) == EParleySayOutcome::Queued, "another line");
    Show(Game, View);
    Text("[Anna] Open the gate.\n", View->GetTranscript(), "what is shown");
    View->ClearLines();
    Equal(0, View->GetLines().Num(), "all is forgotten");
}

PARLEY_TEST(ViewTests, AnyNameFormatIsShown)
{
    Alone();
    FGame Game;
    UParleyAgentComponent* Inn = Agent(Game, "Inn");
    UParleyDialogueComponent* View = Game.Add<UParleyDialogueComponent>(Inn->GetOwner());
    Answer(Inn, 1, "Welcome.", true);
    Show(Game, View);
    const char* const Formats[] = {"{0}:", "{1}", "{", "{0", "{0} {0}", ""};
    const char* const Headings[] = {"mira:", "{1}", "{", "{0", "mira mira", ""};
    for (int Index = 0; Index < 6; Index++)
    {
        View->NameFormat = Parley::ToFString(Formats[Index]);
        Text(Headings[Index], View->HeadingOf(View->GetLines()[0]), Formats[Index]);
    }
}

PARLEY_TEST(ViewTests, LinesAppearCharacterByCharacter)
{
    Alone();
    FGame Game;
    UParleyAgentComponent* Inn = Agent(Game, "Inn");
    UParleyDialogueComponent* View = Game.Add<UParleyDialogueComponent>(Inn->GetOwner());
    View->CharactersPerSecond = 10.0f;
    Game.Frame(0.0);
    Answer(Inn, 1, "a\xCC\x81" "bcdefgh", false);
    Game.Frame(0.0);
    FParleyLine Line;
    for (int Index = 0; Index < 3; Index++)
    {
        Game.Frame(0.1);
    }
    That(View->GetCurrentLine(Line) && !Line.bIsFinal, "a line appears");
    That(Line.Shown.Len() >= 2 && Line.Shown.Len() < 8, "some of it: " + Parley::ToUtf8(Line.Shown));
    View->Skip();
    That(View->GetCurrentLine(Line) && Line.Shown == Line.Text, "all that came");
    Answer(Inn, 1, "!", true);
    View->SkipToEnd();
    That(!View->GetCurrentLine(Line) && View->IsIdle(), "all is shown");
    That(View->GetLines()[0].bIsDone, "it is done");
}

PARLEY_TEST(ViewTests, ALineThatIsNotTakenIsAnError)
{
    Alone();
    FGame Game;
    UParleyAgentComponent* Inn = Agent(Game, "Inn");
    UNotes* Notes = UNotes::Of(Inn);
    Inn->Deactivate();
    Inn->Say(TEXT("Hello"));
    Text("AgentDisabled", Notes->Errors[0].Name, "an agent that is not active");
    Inn->Activate();
    That(Inn->TrySay(TEXT("Hello")) == EParleySayOutcome::Queued, "once it is");
    Game.Stop(false);
    Inn->Say(TEXT("Hello"));
    Equal(2, Notes->Errors.Num(), "a game that has ended");
    Inn->ChangeParams(TEXT("mira"), TEXT("{}"));
    Inn->LoadDialog(TEXT("{}"));
    Equal(4, Notes->Errors.Num(), "and all else that cannot be done");
    int Told = 0;
    Inn->SaveDialogThen([&Told](const FString&, const FParleyFault* Why) { Told += Why != nullptr ? 1 : 0; });
    Inn->GetParamsThen(TEXT("mira"), [&Told](const FParleyParams*, const FParleyFault* Why) { Told += Why != nullptr ? 1 : 0; });
    Equal(2, Told, "callbacks say it too");
}

PARLEY_TEST(ViewTests, CopiesOfACharacterAreCharactersOfTheirOwn)
{
    Alone();
    FGame Game;
    std::vector<UParleyAgentComponent*> Villagers;
    for (int Index = 0; Index < 30; Index++)
    {
        Villagers.push_back(Agent(Game, "Villager"));
        Game.Add<UParleyDialogueComponent>(Villagers.back()->GetOwner());
    }
    Game.Frame();
    Equal(30, static_cast<int>(Game.Hub().GetCore()->GetAgents().size()), "conversations");
    for (UParleyAgentComponent* One : Villagers)
    {
        Answer(One, 1, "Hello.", true);
        UParleyDialogueComponent* View = One->GetOwner()->FindComponentByClass<UParleyDialogueComponent>();
        Show(Game, View);
        Text("[mira] Hello.\n", View->GetTranscript(), "each view has its own");
        Game.Destroy(One->GetOwner());
    }
    Game.Frame();
    Equal(0, static_cast<int>(Game.Hub().GetCore()->GetAgents().size()), "none is left behind");
}
