// Play after Play in one process of the editor: the sidecar is taken up, or not; and the end in any state.
#include "Stage.h"

#include "Core/ParleyCore.h"
#include "Core/ParleySession.h"
#include "ParleyDialogueComponent.h"
#include "ParleyPlays.h"
#include "ParleyText.h"

#include <filesystem>
#include <iterator>

using namespace RuntimeTests;

namespace
{

int Plays()
{
    std::int64_t Count = 0;
    That(Given().Find("plays")->ToInt64(Count), "a number of plays");
    return static_cast<int>(Count);
}

int Threads()
{
    Sleep(0.2);
    return static_cast<int>(std::distance(
        std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator()));
}

/// Returns the process of its sidecar.
int PlayOnce()
{
    FGame Game;
    UParleyAgentComponent* Agent = Game.Character("Inn", "inn");
    UNotes* Notes = UNotes::Of(Agent);
    UHubNotes* OfHub = UHubNotes::Of(Game.Hub());
    Agent->Say(TEXT("Good evening!"));
    Game.Until([&] { return Notes->Turns.Num() >= 1; }, "it is answered");
    Text("Welcome, traveller.|Ho there!|The fire cracks.|", Notes->Said, "what is said");
    Equal(1, Agent->GetDialogLength(), "the dialog is this play's");
    Texts("ready", OfHub->Told, "the game is told");
    const int Pid = Game.Hub().GetSidecarPid();
    const double Took = Game.Stop(false);
    Print("end " + std::to_string(static_cast<int>(Took * 1000)) + " ms");
    That(Took < 1.0, "the end took too long");
    That(UParleySubsystem::Get(Game.World) == nullptr, "there is no hub outside a play");
    return Pid;
}

void UntilGone(int Pid)
{
    const double Begun = Clock();
    while (Pid != 0 && IsAlive(Pid) && Clock() - Begun < 5)
    {
        Sleep(0.02);
    }
    That(Pid == 0 || !IsAlive(Pid), "the sidecar is gone");
}

} // namespace

PARLEY_TEST(PlayTests, EachPlayHasItsOwnSidecar)
{
    Project();
    int Before = 0;
    for (int Play = 0; Play < Plays(); Play++)
    {
        const int Pid = PlayOnce();
        That(!IsAlive(Pid), "the sidecar is gone");
        Before = Play == 0 ? Threads() : Before;
    }
    That(Threads() <= Before + 1, "threads are left");
}

PARLEY_TEST(PlayTests, TheNextPlayTakesTheSidecarUp)
{
    UParleySettings& Settings = Project();
    Settings.bKeepBetweenPlays = true;
    int First = 0;
    for (int Play = 0; Play < Plays(); Play++)
    {
        const int Pid = PlayOnce();
        First = Play == 0 ? Pid : First;
        Equal(First, Pid, "the sidecar is the same");
        That(IsAlive(Pid), "and goes on");
        Equal(1, Parley::CountKeptPlays(), "plays that are kept");
    }
    // What a play made in the session is not there in the next.
    for (int Play = 0; Play < 2; Play++)
    {
        FGame Game;
        UHubNotes* Notes = UHubNotes::Of(Game.Hub());
        FParleyDone Done;
        Done.BindDynamic(Notes, &UHubNotes::TakeDone);
        Game.Hub().MakeStringStorage(TEXT("made"), {TEXT("One.")}, {}, FString(), Done);
        Game.Hub().PinModel(TEXT("mira"), Done);
        Game.Until([&] { return Notes->Dones.Num() == 2; }, "both are made");
        That(!Notes->Dones[0].IsFault(), "play " + std::to_string(Play) + ": " + Parley::ToUtf8(Notes->Dones[0].ToString()));
        That(!Notes->Dones[1].IsFault(), Parley::ToUtf8(Notes->Dones[1].ToString()));
    }
    // Another way to start it: the old one is not wanted any more.
    Settings.ServeArguments.Add(TEXT("--idle-exit-s"));
    Settings.ServeArguments.Add(TEXT("600"));
    const int Other = PlayOnce();
    That(Other != First, "another sidecar");
    UntilGone(First);
    Parley::EndKeptPlays();
    That(!IsAlive(Other), "the end of the editor ends it");
}

PARLEY_TEST(PlayTests, ASidecarThatDiedBetweenPlaysIsReplacedQuietly)
{
    Project().bKeepBetweenPlays = true;
    const int First = PlayOnce();
    Signal("KILL", First);
    const int Second = PlayOnce();
    That(Second != First && IsAlive(Second), "another sidecar");
    // Two games of one process, as with two players' windows: each has its own.
    FGame One;
    FGame Two;
    One.Character("A", "note");
    Two.Character("B", "note");
    One.UntilReady();
    Two.UntilReady();
    That(One.Hub().GetSidecarPid() != Two.Hub().GetSidecarPid(), "each has its own");
    One.Stop();
    Two.Stop();
    Equal(2, Parley::CountKeptPlays(), "both are kept");
}

PARLEY_TEST(PlayTests, StopWhileItStarts)
{
    for (const bool bKeeps : {false, true})
    {
        Project().bKeepBetweenPlays = bKeeps;
        for (int Play = 0; Play < 4; Play++)
        {
            FGame Game;
            Game.Character("Note", "note")->Say(TEXT("a"));
            for (int Frame = 0; Frame < Play * 5; Frame++)
            {
                Game.Frame();
                Sleep(0.02);
            }
            const int Pid = Game.Hub().GetSidecarPid();
            const bool bIsReady = Game.Hub().IsReady();
            That(Game.Stop() < 1.0, "the end took too long");
            if (!bKeeps || !bIsReady)
            {
                Parley::EndKeptPlays();
                UntilGone(Pid);
            }
        }
    }
}

PARLEY_TEST(PlayTests, StopInAnyState)
{
    for (const char* State : {"a turn runs", "a line waits", "killed", "hanging", "stopped", "no sidecar", "no agent"})
    {
        for (const bool bKeeps : {false, true})
        {
            const std::string What(State);
            UParleySettings& Settings = Project();
            Settings.bKeepBetweenPlays = bKeeps;
            if (What == "no sidecar")
            {
                Settings.EditorCommand = {TEXT("no such program")};
            }
            FGame Game;
            UParleyAgentComponent* Agent = Game.Character("Slow", "slow");
            Game.Add<UParleyDialogueComponent>(Agent->GetOwner());
            UNotes* Notes = UNotes::Of(Agent);
            const EParleyState Wanted = What == "no sidecar" ? EParleyState::Down : EParleyState::Ready;
            Game.Until([&] { return Game.Hub().GetState() == Wanted; }, What);
            const int Pid = Game.Hub().GetSidecarPid();
            int Lines = Agent->TrySay(TEXT("one")) == EParleySayOutcome::Sent ? 1 : 0;
            Game.Until([&] { return Lines == 0 || Notes->Frames > 2; }, "it speaks");
            if (What == "a line waits")
            {
                Lines += Agent->TrySay(TEXT("two")) == EParleySayOutcome::Queued ? 1 : 0;
            }
            else if (What == "killed")
            {
                Signal("KILL", Pid);
                Game.Until([&] { return Game.Hub().GetState() == EParleyState::Gone; }, "it is missed");
            }
            else if (What == "hanging")
            {
                Signal("STOP", Pid);
            }
            else if (What == "stopped")
            {
                Game.Hub().StopSidecar();
            }
            else if (What == "no agent")
            {
                Game.Destroy(Agent->GetOwner());
            }
            const double Took = Game.Stop();
            Print(What + ": end " + std::to_string(static_cast<int>(Took * 1000)) + " ms");
            That(Took < 1.0, What + ": the end took too long");
            Equal(Lines, Notes->Turns.Num(), What + ": lines that ended");
            Parley::EndKeptPlays();
            UntilGone(Pid);
        }
    }
}
