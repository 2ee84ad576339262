// Parley Voice: waves over a mixer that reads ahead of what is heard, as the engine's does.
#include "Stage.h"

#include "Components/AudioComponent.h"
#include "Core/CoreAgent.h"
#include "Core/Generated/Messages.h"
#include "ParleyText.h"
#include "ParleyVoiceComponent.h"

#include <cmath>
#include <cstring>

using namespace RuntimeTests;

namespace
{

constexpr int Rate = 24000;

/// Notes what a voice says.
class UVoiceNotes : public UObject
{
    STUB_CLASS_BODY(UVoiceNotes, UObject)

public:
    void TakeStart(const FString&) { Told.push_back("began"); }
    void TakeEnd(const FString&)
    {
        Told.push_back(Now == 0.0f ? "ended" : "ended with an open mouth");
    }
    void TakeSentence(const FString&, const FString& Sentence) { Told.push_back(Parley::ToUtf8(Sentence)); }
    void TakeLoudness(const FString&, float Loudness)
    {
        That(!Told.empty() && Told.back().find("ended") == std::string::npos, "loudness within a line");
        Now = Loudness;
        Loudest = Loudness > Loudest ? Loudness : Loudest;
    }
    void TakeUnderrun(const FString&, int32 Count) { Underruns = Count; }

    std::vector<std::string> Told;
    float Now = 0.0f;
    float Loudest = 0.0f;
    int Underruns = 0;
};

/// A mouth, and what plays its waves: it notes every sample that is not silence.
struct FMouth
{
    explicit FMouth(FGame& InGame) : Game(InGame)
    {
        AActor* Actor = Game.Spawn("Mouth");
        Voice = Game.Add<UParleyVoiceComponent>(Actor);
        Voice->Speaker = TEXT("mira");
        Notes = NewObject<UVoiceNotes>();
        Notes->AddToRoot();
        Voice->OnStarted.AddDynamic(Notes, &UVoiceNotes::TakeStart);
        Voice->OnFinished.AddDynamic(Notes, &UVoiceNotes::TakeEnd);
        Voice->OnSentence.AddDynamic(Notes, &UVoiceNotes::TakeSentence);
        Voice->OnLoudness.AddDynamic(Notes, &UVoiceNotes::TakeLoudness);
        Voice->OnUnderrun.AddDynamic(Notes, &UVoiceNotes::TakeUnderrun);
    }

    /// So much of the game and of the sound.
    void Run(double Seconds)
    {
        for (double Clock = 0; Clock < Seconds; Clock += 0.016)
        {
            Game.Frame(0.016);
            Owed += 0.016 * Rate;
            UAudioComponent* Audio = Voice->GetOwner()->FindComponentByClass<UAudioComponent>();
            UParleyVoiceWave* Wave = Audio == nullptr || !Audio->IsPlaying() ? nullptr : Cast<UParleyVoiceWave>(Audio->Sound.Get());
            const int32 Samples = static_cast<int32>(Owed);
            Owed -= Samples;
            if (Wave == nullptr)
            {
                continue;
            }
            That(Wave->GetGeneratedPCMDataFormat() == Audio::EAudioMixerStreamDataFormat::Float, "samples are floats");
            TArray<uint8> Bytes;
            Equal(Samples, Wave->OnGeneratePCMAudio(Bytes, Samples), "a wave goes on until it is stopped");
            for (int32 Index = 0; Index < Samples; Index++)
            {
                float Sample = 0.0f;
                std::memcpy(&Sample, Bytes.GetData() + Index * static_cast<int32>(sizeof(float)), sizeof(float));
                if (Sample != 0.0f)
                {
                    Heard.push_back(static_cast<int>(std::lround(Sample * 32768.0f)));
                }
            }
        }
    }

    void Format(std::int64_t Turn, std::int64_t Step, std::int64_t SampleRate = Rate)
    {
        Parley::Messages::AudioFormat What;
        What.AgentId = "a";
        What.TurnId = Turn;
        What.Step = Step;
        What.NodeName = "mira";
        What.SampleRate = SampleRate;
        Voice->Take(What);
    }

    void Part(std::int64_t Turn, std::int64_t Step, int Index, bool bIsFinal, int First, int Count, const char* Sentence = nullptr)
    {
        Parley::Messages::AudioChunk What;
        What.AgentId = "a";
        What.TurnId = Turn;
        What.Step = Step;
        What.NodeName = "mira";
        What.Index = Index;
        What.IsFinal = bIsFinal;
        if (Sentence != nullptr)
        {
            What.Text = Sentence;
        }
        std::vector<uint8> Pcm;
        for (int At = First; At < First + Count; At++)
        {
            const int Sample = At % 30000 + 1;
            Pcm.push_back(static_cast<uint8>(Sample & 0xFF));
            Pcm.push_back(static_cast<uint8>(Sample >> 8));
        }
        What.Envelope.assign(static_cast<std::size_t>((Count + 479) / 480), 0.5);
        Voice->Take(Parley::SoundChunk{What, Pcm.empty() ? nullptr : Pcm.data(), Pcm.size()});
    }

    void CheckHeard(std::size_t From, int Count, const std::string& What)
    {
        Equal(static_cast<std::int64_t>(From) + Count, static_cast<std::int64_t>(Heard.size()), What + ": samples");
        for (int Index = 0; Index < Count; Index++)
        {
            Equal(Index % 30000 + 1, Heard[From + static_cast<std::size_t>(Index)], What + ": sample " + std::to_string(Index));
        }
    }

    FGame& Game;
    UParleyVoiceComponent* Voice;
    UVoiceNotes* Notes;
    std::vector<int> Heard;
    double Owed = 0.0;
};

/// A line with more to come, of which something was heard, and one that waits.
void Speak(FMouth& Mouth)
{
    Mouth.Format(1, 1);
    Mouth.Part(1, 1, 0, false, 0, 4 * Rate);
    Mouth.Format(2, 1);
    Mouth.Part(2, 1, 0, true, 0, Rate);
    Mouth.Run(0.5);
    That(Mouth.Voice->IsSpeaking(), "it speaks");
}

} // namespace

PARLEY_TEST(SpeakerTests, LinesAreHeardWholeAtAnySpeed)
{
    Alone();
    for (const double Speed : {0.7, 1.0, 3.0})
    {
        FGame Game;
        FMouth Mouth(Game);
        constexpr int ChunkSamples = 2400;
        const int Chunks = 4 * Rate / ChunkSamples;
        int Sent = 0;
        double Time = 0;
        Mouth.Format(1, 1);
        while (Mouth.Notes->Told.empty() || Mouth.Notes->Told.back() != "ended")
        {
            That(Time < 20, "it ends");
            while (Sent < Chunks && Time * Speed * Rate >= (Sent + 1) * ChunkSamples)
            {
                Mouth.Part(1, 1, Sent, Sent == Chunks - 1, Sent * ChunkSamples, ChunkSamples);
                Sent++;
            }
            Mouth.Run(0.016);
            Time += 0.016;
        }
        Mouth.CheckHeard(0, 4 * Rate, "at " + std::to_string(Speed));
        That((Mouth.Notes->Underruns > 0) == (Speed < 1.0), "holes at " + std::to_string(Speed));
        That(Mouth.Notes->Loudest == 0.5f, "loudness");
        Equal(Mouth.Notes->Underruns, Mouth.Voice->GetUnderruns(), "holes of all lines");
        That(!Mouth.Voice->IsSpeaking() && Mouth.Voice->GetLoudness() == 0.0f, "silent afterwards");
    }
}

PARLEY_TEST(SpeakerTests, LinesWaitForEachOtherAndSayTheirSentences)
{
    Alone();
    FGame Game;
    FMouth Mouth(Game);
    Mouth.Format(1, 1);
    Mouth.Format(1, 1);
    Mouth.Format(1, 2);
    Mouth.Part(1, 2, 0, true, 0, Rate, "Three.");
    Mouth.Run(0.016);
    That(Mouth.Notes->Told.empty(), "the first has not come yet");
    Mouth.Part(1, 1, 0, false, 0, Rate, "One.");
    Mouth.Part(1, 1, 0, false, 0, Rate);
    Mouth.Part(1, 1, 1, true, Rate, Rate, "Two.");
    Mouth.Run(4);
    Texts("began|One.|Two.|ended|began|Three.|ended", Mouth.Notes->Told, "one after the other");
    Mouth.CheckHeard(2 * Rate, Rate, "the second");
}

PARLEY_TEST(SpeakerTests, ASourceThatIsTakenAwayHoldsNobodyUp)
{
    Alone();
    FGame Game;
    FMouth Mouth(Game);
    Speak(Mouth);
    UAudioComponent* Audio = Mouth.Voice->GetOwner()->FindComponentByClass<UAudioComponent>();
    Audio->Stop();
    Mouth.Run(0.5);
    Texts("began", Mouth.Notes->Told, "it may go on");
    Mouth.Run(3);
    Texts("began|ended|began|ended", Mouth.Notes->Told, "a source that is stopped");
    Mouth.Notes->Told.clear();
    Mouth.Format(3, 1);
    Mouth.Part(3, 1, 0, false, 0, Rate);
    Mouth.Run(0.1);
    Audio->SetSound(nullptr);
    Mouth.Run(0.1);
    Texts("began|ended", Mouth.Notes->Told, "a source that plays something else");
    Mouth.Format(4, 1);
    Mouth.Part(4, 1, 0, false, 0, Rate);
    Mouth.Run(0.1);
    Audio->DestroyComponent();
    Mouth.Run(0.1);
    Texts("began|ended|began|ended", Mouth.Notes->Told, "a source that is destroyed");
}

PARLEY_TEST(SpeakerTests, StopAndCancelAreSilence)
{
    Alone();
    FGame Game;
    FMouth Mouth(Game);
    Speak(Mouth);
    Mouth.Voice->EndTurn(1, true);
    That(!Mouth.Voice->IsSpeaking(), "silent at once");
    const std::size_t Before = Mouth.Heard.size();
    Mouth.Run(2);
    Mouth.CheckHeard(Before, Rate, "only the next turn is heard");
    Speak(Mouth);
    Mouth.Voice->StopSpeaking();
    That(!Mouth.Voice->IsSpeaking(), "stopped");
    Mouth.Part(2, 1, 1, true, 0, 500);
    Mouth.Run(0.5);
    That(!Mouth.Voice->IsSpeaking(), "and nothing waits");
    Mouth.Format(3, 1);
    Mouth.Part(3, 1, 0, false, 0, Rate);
    Mouth.Run(0.1);
    Mouth.Voice->Deactivate();
    That(!Mouth.Voice->IsSpeaking(), "a voice that is off");
    Mouth.Format(4, 1);
    Mouth.Voice->Activate();
    Mouth.Run(0.1);
    That(!Mouth.Voice->IsSpeaking(), "took nothing");
}

PARLEY_TEST(SpeakerTests, ALineWhoseEndWasDroppedEnds)
{
    Alone();
    FGame Game;
    FMouth Mouth(Game);
    Speak(Mouth);
    Mouth.Run(12);
    Texts("began", Mouth.Notes->Told, "while the turn runs more may come");
    Mouth.Voice->ExpectEnd(1);
    Mouth.Run(3);
    Mouth.Part(1, 1, 1, false, 4 * Rate, 100);
    Mouth.Run(4);
    Texts("began", Mouth.Notes->Told, "what is late is waited for");
    Mouth.Run(4);
    Texts("began|ended|began|ended", Mouth.Notes->Told, "then it is over");
    Mouth.CheckHeard(4 * Rate + 100, Rate, "the next line");
    Mouth.Format(5, 1);
    Mouth.Part(5, 1, 0, false, 0, 1000);
    Mouth.Voice->EndTurn(5, false);
    Mouth.Run(1);
    Mouth.CheckHeard(5 * Rate + 100, 1000, "a turn that failed is heard as far as it came");
}

PARLEY_TEST(SpeakerTests, SentencesAreSaidWhenTheyAreHeard)
{
    Alone();
    FGame Game;
    FMouth Mouth(Game);
    Mouth.Format(1, 1);
    Mouth.Part(1, 1, 0, false, 0, Rate, "One. ");
    Mouth.Part(1, 1, 1, false, 0, 0, "* ");
    Mouth.Part(1, 1, 2, false, Rate, Rate, "Two. ");
    Mouth.Part(1, 1, 3, false, 0, 0, "\u2026");
    Mouth.Part(1, 1, 4, true, 0, 0);
    Mouth.Run(0.05);
    Texts("began", Mouth.Notes->Told, "what the mixer has asked for is heard a moment later");
    Equal(0, static_cast<std::int64_t>(Mouth.Voice->HeardOf("a", 1, 1)), "characters");
    Equal(-1, static_cast<std::int64_t>(Mouth.Voice->HeardOf("a", 1, 2)), "characters of another step");
    Equal(-1, static_cast<std::int64_t>(Mouth.Voice->HeardOf("b", 1, 1)), "characters of another agent");
    Mouth.Run(0.9);
    Texts("began|One. ", Mouth.Notes->Told, "the second has come and is not heard");
    Text("One. ", Mouth.Voice->GetSentence(), "the sentence");
    Equal(5, static_cast<std::int64_t>(Mouth.Voice->HeardOf("a", 1, 1)), "characters");
    That(Mouth.Notes->Now == 0.5f && Mouth.Voice->GetLoudness() == 0.5f, "loudness");
    Mouth.Run(0.3);
    Texts("began|One. |* |Two. ", Mouth.Notes->Told, "the second");
    Mouth.Run(0.8);
    Texts("began|One. |* |Two. ", Mouth.Notes->Told, "it is not over before all is heard");
    Mouth.Run(0.2);
    Texts("began|One. |* |Two. |\u2026|ended", Mouth.Notes->Told, "what has no sound at the end");
    That(Mouth.Voice->HeardOf("a", 1, 1) > 100, "all is heard");
    Text("", Mouth.Voice->GetSentence(), "no sentence");
    Mouth.CheckHeard(0, 2 * Rate, "all of it");
}

PARLEY_TEST(SpeakerTests, ALineWithoutSoundIsOverInOneFrame)
{
    Alone();
    FGame Game;
    FMouth Mouth(Game);
    Mouth.Format(1, 1);
    Mouth.Part(1, 1, 0, false, 0, 0, "* ");
    Mouth.Part(1, 1, 1, false, 0, 0, "\u2026");
    Mouth.Part(1, 1, 2, true, 0, 0);
    Mouth.Format(1, 2);
    Mouth.Part(1, 2, 0, true, 0, 480, "Yes.");
    Game.Frame(0.016);
    Texts("began|* |\u2026|ended|began", Mouth.Notes->Told, "and the next one begins");
    Mouth.Format(1, 3);
    Mouth.Voice->EndTurn(1, false);
    Mouth.Run(1);
    Texts("began|* |\u2026|ended|began|Yes.|ended", Mouth.Notes->Told, "a line of which nothing came is none");
}

PARLEY_TEST(SpeakerTests, OfALineThatIsStoppedNothingMoreIsTold)
{
    Alone();
    FGame Game;
    FMouth Mouth(Game);
    Mouth.Format(1, 1);
    Mouth.Part(1, 1, 0, false, 0, 2 * Rate, "One. ");
    Mouth.Part(1, 1, 1, false, 0, Rate, "Two. ");
    Mouth.Format(1, 2);
    Mouth.Part(1, 2, 0, true, 0, 0, "Three. ");
    Mouth.Run(0.5);
    That(Mouth.Notes->Now == 0.5f, "it is loud");
    Mouth.Voice->EndTurn(1, true);
    Mouth.Run(0.5);
    Texts("began|One. |ended", Mouth.Notes->Told, "neither its sentences nor the next line's");
    That(Mouth.Voice->HeardOf("a", 1, 2) > 100, "nobody waits for what is stopped");
}

PARLEY_TEST(SpeakerTests, EachLineHasItsOwnRate)
{
    Alone();
    FGame Game;
    FMouth Mouth(Game);
    Mouth.Format(1, 1);
    Mouth.Part(1, 1, 0, true, 0, Rate);
    Mouth.Format(1, 2, 16000);
    Mouth.Part(1, 2, 0, true, 0, 16000);
    Mouth.Run(0.2);
    UAudioComponent* Audio = Mouth.Voice->GetOwner()->FindComponentByClass<UAudioComponent>();
    const auto RateNow = [Audio] { return static_cast<std::int64_t>(Cast<USoundWave>(Audio->Sound.Get())->GetSampleRateForCurrentPlatform()); };
    Equal(Rate, RateNow(), "of the first");
    Mouth.Run(1.1);
    Equal(16000, RateNow(), "of the second");
    Mouth.Run(1.2);
    Texts("began|ended|began|ended", Mouth.Notes->Told, "both are heard");
    Mouth.CheckHeard(Rate, 16000, "the second");
}

PARLEY_TEST(SpeakerTests, FormatsThatCannotBePlayedAreSaid)
{
    Alone();
    FGame Game;
    FMouth Mouth(Game);
    Mouth.Format(1, 1, 5);
    Mouth.Part(1, 1, 0, true, 0, 10);
    Mouth.Run(0.1);
    Equal(1, CountLog(ELogVerbosity::Warning, "a voice cannot be played: a voice has 1,000 to 384,000 samples a second"), "a rate");
    Equal(0, static_cast<std::int64_t>(Mouth.Notes->Told.size()), "nothing is heard");
}
