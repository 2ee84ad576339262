// The tavern of the sample talks: with a real sidecar, and mock models in the place of its own.
#include "Stage.h"

#include "Components/AudioComponent.h"
#include "DialogueCast.h"
#include "Engine/Engine.h"
#include "ParleyDialogueComponent.h"
#include "ParleyText.h"
#include "ParleyVoiceComponent.h"
#include "TavernActor.h"

using namespace RuntimeTests;

namespace
{

/// Notes whose line is heard to its end.
class UEars : public UObject
{
    STUB_CLASS_BODY(UEars, UObject)

public:
    void TakeEnd(const FString& Node) { Heard.push_back(Parley::ToUtf8(Node)); }

    std::vector<std::string> Heard;
};

/// The mixer takes a moment's sound.
void Play(UAudioComponent* Source)
{
    if (UParleyVoiceWave* Wave = Source->IsPlaying() ? Cast<UParleyVoiceWave>(Source->Sound.Get()) : nullptr)
    {
        TArray<uint8> Bytes;
        Wave->OnGeneratePCMAudio(Bytes, static_cast<int32>(Wave->GetSampleRateForCurrentPlatform() / 20));
    }
}

} // namespace

PARLEY_TEST(SampleTests, TheTavernTalks)
{
    Project();
    if (GEngine == nullptr)
    {
        GEngine = NewObject<UEngine>();
    }
    FGame Game;
    ATavernActor* Tavern = NewObject<ATavernActor>(Game.World, FName(TEXT("Tavern")));
    Tavern->StubWorld = Game.World;
    Tavern->AddToRoot();
    Tavern->StubBegin();
    UAudioComponent* Source = NewObject<UAudioComponent>(Tavern);
    Source->RegisterComponent();
    Tavern->Voice->Source = Source;
    UEars* Ears = NewObject<UEars>();
    Ears->AddToRoot();
    Tavern->Voice->OnFinished.AddDynamic(Ears, &UEars::TakeEnd);
    const auto IsQuiet = [&]
    {
        Play(Source);
        return Tavern->Dialogue->IsIdle() && !Tavern->Voice->IsSpeaking();
    };
    // Whoever comes after it has the frames look at all components anew.
    Game.Spawn("Guest");
    That(Tavern->Agent->Workflow != nullptr, "the workflow of the storage folder");
    UNotes* Notes = UNotes::Of(Tavern->Agent);
    Game.Until([&] { return IsQuiet() && Notes->Turns.Num() >= 1; }, "the first line is answered and shown", 60.0);
    Texts("mira|bram|narrator", Notes->Speakers, "who speaks");
    Texts("mira|bram|narrator", Ears->Heard, "who is heard");
    Text(
        "[Guest] Good evening. What is there to eat?\n[Mira] There is mutton stew.\n[Bram] There is mutton stew.\n"
        "[Narrator] There is mutton stew.\n",
        Tavern->Dialogue->GetTranscript(),
        "the talk");
    const FString* OfMira = GEngine->StubOnScreen.Find(1);
    const FString* OfNarrator = GEngine->StubOnScreen.Find(3);
    That(OfMira != nullptr && OfNarrator != nullptr, "what is on the screen");
    Text("[Mira] There is mutton stew.", *OfMira, "Mira on the screen");
    Text("There is mutton stew.", *OfNarrator, "a narrator has no name on the screen");
    Tavern->SayLine(TEXT("  "));
    Tavern->SayLine(TEXT("And who plays the lute?"));
    Game.Until([&] { return IsQuiet() && Notes->Turns.Num() >= 2; }, "the second line", 60.0);
    Equal(0, Notes->Errors.Num(), "errors");
    Game.Stop();
}
