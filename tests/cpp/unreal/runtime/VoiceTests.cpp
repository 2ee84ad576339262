// What a sidecar says aloud, from its voice to the mixer: with a real sidecar, and a voice of exact length.
#include "Stage.h"

#include "Components/AudioComponent.h"
#include "Core/CoreAgent.h"
#include "Core/Generated/Messages.h"
#include "DialogueCast.h"
#include "ParleyDialogueComponent.h"
#include "ParleyText.h"
#include "ParleyVoiceComponent.h"

#include <cmath>
#include <cstring>

using namespace RuntimeTests;

namespace
{

constexpr int MockRate = 16000;
/// Samples that the mock voice makes of each character.
constexpr std::int64_t EachCharacter = MockRate * 60 / 1000;
const char* const First = "Sit down by the fire, friend.";
const char* const Second = "The stew is hot today!";

using Samples = std::vector<int>;

/// Notes what a voice says.
class UListener : public UObject
{
    STUB_CLASS_BODY(UListener, UObject)

public:
    void TakeStart(const FString& Node) { Told.push_back("> " + Parley::ToUtf8(Node)); }

    void TakeEnd(const FString& Node)
    {
        Told.push_back("< " + Parley::ToUtf8(Node));
        Ends++;
    }

    void TakeSentence(const FString&, const FString& Sentence)
    {
        Told.push_back(Parley::ToUtf8(Sentence));
        if (OnSentence)
        {
            OnSentence(Sentence);
        }
    }

    void TakeLoudness(const FString&, float Loudness) { Loudest = Loudness > Loudest ? Loudness : Loudest; }

    std::vector<std::string> Told;
    int Ends = 0;
    float Loudest = 0.0f;
    std::function<void(const FString&)> OnSentence;
};

/// A character with one voice, and the mixer that plays it: what came and what was heard, a list for each line.
struct FStage
{
    explicit FStage(FGame& InGame) : Game(InGame)
    {
        Agent = Game.Character("Inn", "spoken");
        Voice = Game.Add<UParleyVoiceComponent>(Agent->GetOwner());
        Source = Game.Add<UAudioComponent>(Agent->GetOwner());
        Voice->Source = Source;
        Voice->SetAgent(Agent);
        Listener = NewObject<UListener>();
        Listener->AddToRoot();
        Voice->OnStarted.AddDynamic(Listener, &UListener::TakeStart);
        Voice->OnFinished.AddDynamic(Listener, &UListener::TakeEnd);
        Voice->OnSentence.AddDynamic(Listener, &UListener::TakeSentence);
        Voice->OnLoudness.AddDynamic(Listener, &UListener::TakeLoudness);
        Notes = UNotes::Of(Agent);
        Game.UntilReady();
        Agent->GetAgent()->SoundStarted.Add([this](const Parley::Messages::AudioFormat&) { Came.emplace_back(); });
        Agent->GetAgent()->Sound.Add(
            [this](const Parley::SoundChunk& Sound)
            {
                for (std::size_t Index = 0; Index + 1 < Sound.Bytes; Index += 2)
                {
                    Came.back().push_back(static_cast<std::int16_t>(Sound.Samples[Index] | (Sound.Samples[Index + 1] << 8)));
                }
            });
    }

    void Until(const std::function<bool()>& IsSo, const char* What)
    {
        Game.Until(
            [&]
            {
                Mix();
                return IsSo();
            },
            What,
            40.0);
    }

    /// The mixer asks for as much as real time goes by.
    void Mix()
    {
        const double Now = Clock();
        Owed = LastMix > 0.0 ? Owed + (Now - LastMix) * MockRate : 0.0;
        LastMix = Now;
        UParleyVoiceWave* Wave = Source->IsPlaying() ? Cast<UParleyVoiceWave>(Source->Sound.Get()) : nullptr;
        const int32 Wanted = static_cast<int32>(Owed);
        Owed -= Wanted;
        if (Wave == nullptr || Wanted == 0)
        {
            return;
        }
        if (Wave != Last)
        {
            Last = Wave;
            Heard.emplace_back();
        }
        TArray<uint8> Bytes;
        Wave->OnGeneratePCMAudio(Bytes, Wanted);
        for (int32 Index = 0; Index < Wanted; Index++)
        {
            float Sample = 0.0f;
            std::memcpy(&Sample, Bytes.GetData() + Index * static_cast<int32>(sizeof(float)), sizeof(float));
            Heard.back().push_back(static_cast<int>(std::lround(Sample * 32768.0f)));
        }
    }

    /// A line is heard as it came, with nothing but silence around it and in its holes.
    void CheckLine(std::size_t HeardAs, std::size_t CameAs, std::int64_t Wanted, const std::string& What)
    {
        That(HeardAs < Heard.size() && CameAs < Came.size(), What + ": it is there");
        Equal(Wanted, static_cast<std::int64_t>(Came[CameAs].size()), What + ": samples that came");
        std::size_t Next = 0;
        for (const int Sample : Heard[HeardAs])
        {
            if (Next < Came[CameAs].size() && Sample == Came[CameAs][Next])
            {
                Next++;
            }
            else
            {
                Equal(0, Sample, What + ": sample " + std::to_string(Next));
            }
        }
        Equal(Wanted, static_cast<std::int64_t>(Next), What + ": samples that are heard");
    }

    FGame& Game;
    UParleyAgentComponent* Agent;
    UParleyVoiceComponent* Voice;
    UAudioComponent* Source;
    UListener* Listener;
    UNotes* Notes;
    std::vector<Samples> Came;
    std::vector<Samples> Heard;
    const UParleyVoiceWave* Last = nullptr;
    double Owed = 0.0;
    double LastMix = 0.0;
};

} // namespace

PARLEY_TEST(VoiceTests, AVoiceIsHeardAsTheSidecarSentIt)
{
    Project();
    FGame Game;
    FStage Stage(Game);
    UParleyDialogueComponent* Dialogue = Game.Add<UParleyDialogueComponent>(Stage.Agent->GetOwner());
    Dialogue->bFollowVoice = true;
    Dialogue->bShowPlayer = false;
    Dialogue->CharactersPerSecond = 0.0f;
    FString Said;
    Stage.Listener->OnSentence = [&](const FString& Sentence)
    {
        // The second line is the same text, said by another.
        That(Stage.Listener->Ends > 0 || Dialogue->GetLines()[0].Shown.Len() <= Said.Len(), "the text is not ahead of the voice");
        Said += Sentence;
    };
    Stage.Agent->Say(TEXT("Tell me."));
    Stage.Until([&] { return Stage.Notes->Turns.Num() == 1 && Stage.Listener->Ends == 2; }, "all is heard");
    const std::string A = std::string(First) + " ";
    const std::string B = std::string("*She nods.* ") + Second;
    Texts(("> mira|" + A + "|" + B + "|< mira|> bram|" + A + "|" + B + "|< bram").c_str(), Stage.Listener->Told, "told");
    Text((A + B).c_str(), Dialogue->GetLines()[0].Shown, "what is shown");
    const std::int64_t Wanted = static_cast<std::int64_t>(std::strlen(First) + std::strlen(Second)) * EachCharacter;
    Stage.CheckLine(0, 0, Wanted, "the first");
    Stage.CheckLine(1, 1, Wanted / 2, "the second, which speaks twice as fast");
    That(Stage.Listener->Loudest > 0.1f && Stage.Listener->Loudest < 0.3f, "loudness of a tone");

    Stage.Listener->OnSentence = nullptr;
    Stage.Listener->Told.clear();
    Stage.Agent->Say(TEXT("Again!"));
    Stage.Until([&] { return !Stage.Voice->GetSentence().IsEmpty(); }, "it speaks again");
    Stage.Agent->Cancel();
    That(!Stage.Voice->IsSpeaking(), "cancelled: silence");
    Stage.Until([&] { return Stage.Notes->Turns.Num() == 2 && !Stage.Agent->IsBusy(); }, "the turn is over");
    Texts(("> mira|" + A + "|< mira").c_str(), Stage.Listener->Told, "told of it");
    const std::size_t Lines = Stage.Heard.size();
    const std::size_t Steps = Stage.Came.size();
    Stage.Agent->Say(TEXT("And now?"));
    Stage.Until([&] { return Stage.Notes->Turns.Num() == 3 && Stage.Listener->Ends == 5; }, "the next turn is heard");
    Stage.CheckLine(Lines, Steps, Wanted, "its own sound");
    Equal(0, CountLog(ELogVerbosity::Warning, ""), "warnings");
    Game.Stop();
}

PARLEY_TEST(VoiceTests, EverySpeakerHasItsVoice)
{
    Project();
    FGame Game;
    UParleyAgentComponent* Agent = Game.Character("Inn", "spoken");
    UParleyVoiceComponent* Mira = Game.Add<UParleyVoiceComponent>(Agent->GetOwner());
    Mira->Speaker = TEXT("mira");
    UParleyVoiceComponent* Anybody = Game.Add<UParleyVoiceComponent>(Game.Spawn("Room"));
    Anybody->SetAgent(Agent);
    UDialogueCast* Cast = NewObject<UDialogueCast>();
    FDialogueSpeaker Bram;
    Bram.NodeName = TEXT("bram");
    Bram.VoiceVolume = 0.5f;
    Bram.VoiceAttenuation = NewObject<USoundAttenuation>();
    Cast->Speakers.Add(Bram);
    Anybody->Cast = Cast;
    UListener* OfMira = NewObject<UListener>();
    UListener* OfRoom = NewObject<UListener>();
    for (const auto& One : {std::make_pair(Mira, OfMira), std::make_pair(Anybody, OfRoom)})
    {
        One.second->AddToRoot();
        One.first->OnStarted.AddDynamic(One.second, &UListener::TakeStart);
        One.first->OnFinished.AddDynamic(One.second, &UListener::TakeEnd);
    }
    UNotes* Notes = UNotes::Of(Agent);
    Game.UntilReady();
    Agent->Say(TEXT("Tell me."));
    Game.Until([&] { return Notes->Turns.Num() == 1 && Mira->IsSpeaking() && Anybody->IsSpeaking(); }, "both speak, and the turn is over");
    Texts("> mira", OfMira->Told, "Mira's");
    Texts("> bram", OfRoom->Told, "the room's");
    UAudioComponent* Audio = Anybody->GetOwner()->FindComponentByClass<UAudioComponent>();
    That(Audio != nullptr && Audio->VolumeMultiplier == 0.5f && Audio->AttenuationSettings == Bram.VoiceAttenuation, "as the cast says");
    That(Audio->GetAttachParent() == Anybody, "where the voice is");
    Agent->Cancel();
    Texts("> mira|< mira", OfMira->Told, "over, but still heard: silence at once");
    Texts("> bram|< bram", OfRoom->Told, "of every voice");
    Agent->Say(TEXT("And now?"));
    Game.Until([&] { return Mira->IsSpeaking(); }, "the next turn is heard");
    Agent->Deactivate();
    Game.Until([&] { return !Mira->IsSpeaking() && !Anybody->IsSpeaking(); }, "a character that is off is silent");
    Agent->Activate();
    Game.Until([&] { return !Agent->IsBusy(); }, "its turn is over");
    Agent->Say(TEXT("And now?"));
    Game.Until([&] { return Mira->IsSpeaking(); }, "it is on again");
    Agent->Part();
    That(!Mira->IsSpeaking() && !Anybody->IsSpeaking(), "a conversation that is over is silent");
    Game.Stop();
}

PARLEY_TEST(VoiceTests, ALostSidecarIsHeardAsFarAsItCame)
{
    Project();
    FGame Game;
    FStage Stage(Game);
    Stage.Agent->Say(TEXT("Tell me."));
    Stage.Until([&] { return !Stage.Voice->GetSentence().IsEmpty(); }, "it speaks");
    Signal("KILL", Game.Hub().GetSidecarPid());
    Stage.Until([&] { return Stage.Listener->Ends >= 1 && !Stage.Voice->IsSpeaking(); }, "it ends");
    const std::size_t Lines = Stage.Heard.size();
    Stage.CheckLine(0, 0, static_cast<std::int64_t>(Stage.Came[0].size()), "what came");
    Game.UntilReady();
    const std::size_t Steps = Stage.Came.size();
    const int Ends = Stage.Listener->Ends;
    Stage.Agent->Say(TEXT("Tell me."));
    Stage.Until([&] { return Stage.Listener->Ends == Ends + 2; }, "the next sidecar counts turns from 1 again, and is heard");
    const std::int64_t Wanted = static_cast<std::int64_t>(std::strlen(First) + std::strlen(Second)) * EachCharacter;
    Stage.CheckLine(Lines, Steps, Wanted, "the next sidecar's");
    Game.Stop();
}
