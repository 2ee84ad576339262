// Plays lines that are spoken, one after the other, each from a buffer that the audio thread empties.
#include "ParleyVoiceComponent.h"

#include "Components/AudioComponent.h"
#include "Core/VoiceBuffer.h"
#include "Core/VoiceFrame.h"
#include "DialogueCast.h"
#include "GameFramework/Actor.h"
#include "HAL/PlatformTime.h"
#include "ParleyAgentComponent.h"
#include "ParleyLog.h"
#include "ParleyText.h"
#include "Sound/SoundAttenuation.h"
#include "Sound/SoundClass.h"

#include <utility>

namespace ParleyVoiceComponentLocal
{

/// Seconds after which a line that lacks its last chunk is over: the sidecar drops sound first where too much waits.
constexpr double PatienceSeconds = 5.0;
/// Seconds after which a source that does not play what it was given was stopped by somebody.
constexpr double StoppedSeconds = 1.0;
/// The mixer asks for sound so long before it is heard.
constexpr double AheadSeconds = 0.1;
/// So much sound may wait for a chunk that is missing.
constexpr double HeldSeconds = 0.5;

/// One line that is spoken. Threading: the game's thread, but for what Buffer says of itself.
struct FUtterance
{
    int64 TurnId = 0;
    int32 Step = 0;
    FString NodeName;
    std::shared_ptr<Parley::VoiceBuffer> Buffer;
    bool bIsTurnOver = false;
    double QuietFor = 0.0;
    /// Sentences, and the samples behind which they begin.
    TArray<TPair<int64, FString>> Sentences;
    int32 NextSentence = 0;
    int32 Underruns = 0;
};

} // namespace ParleyVoiceComponentLocal

/// What the component keeps out of the engine's sight. Threading: the game's thread.
struct FParleyUtterances
{
    using FOne = TSharedPtr<ParleyVoiceComponentLocal::FUtterance>;

    /// Those whose sound is still coming.
    TArray<FOne> Open;
    /// Those that are to be heard, in their order.
    TArray<FOne> Waiting;
    FOne Playing;
    double EndingFor = 0.0;
    double StoppedFor = 0.0;
};

// ---- the sound of one line ----

UParleyVoiceWave::UParleyVoiceWave(const FObjectInitializer& ObjectInitializer) : Super(ObjectInitializer)
{
}

void UParleyVoiceWave::Play(std::shared_ptr<Parley::VoiceBuffer> InBuffer)
{
    Buffer = std::move(InBuffer);
    SetSampleRate(static_cast<uint32>(Buffer->SampleRate()));
    NumChannels = Buffer->Channels();
    Duration = INDEFINITELY_LOOPING_DURATION;
    SoundGroup = SOUNDGROUP_Voice;
    bLooping = false;
    // Out of earshot it goes on: whoever comes near hears the end of the line, not its beginning.
    VirtualizationMode = EVirtualizationMode::PlayWhenSilent;
}

int32 UParleyVoiceWave::OnGeneratePCMAudio(TArray<uint8>& OutAudio, int32 NumSamples)
{
    OutAudio.Reset();
    OutAudio.AddZeroed(NumSamples * static_cast<int32>(sizeof(float)));
    if (Buffer)
    {
        Buffer->Read(reinterpret_cast<float*>(OutAudio.GetData()), NumSamples);
    }
    // Silence too: a wave that gives less than it is asked for is over.
    return NumSamples;
}

Audio::EAudioMixerStreamDataFormat::Type UParleyVoiceWave::GetGeneratedPCMDataFormat() const
{
    return Audio::EAudioMixerStreamDataFormat::Float;
}

// ---- the component ----

UParleyVoiceComponent::UParleyVoiceComponent() : Utterances(MakeShared<FParleyUtterances>())
{
    bAutoActivate = true;
    PrimaryComponentTick.bCanEverTick = true;
    PrimaryComponentTick.bTickEvenWhenPaused = true;
}

bool UParleyVoiceComponent::IsSpeaking() const
{
    return Utterances->Playing.IsValid();
}

float UParleyVoiceComponent::GetLoudness() const
{
    if (!Utterances->Playing.IsValid())
    {
        return 0.0f;
    }
    const Parley::VoiceBuffer& Buffer = *Utterances->Playing->Buffer;
    const std::int64_t Ahead =
        static_cast<std::int64_t>(ParleyVoiceComponentLocal::AheadSeconds * Buffer.SampleRate()) * Buffer.Channels();
    return Buffer.LoudnessAt(Buffer.SamplesRead() - Ahead);
}

void UParleyVoiceComponent::StopSpeaking()
{
    for (const FParleyUtterances::FOne& One : Utterances->Open)
    {
        One->Buffer->Stop();
    }
    Utterances->Open.Reset();
    Utterances->Waiting.Reset();
    Silence();
}

void UParleyVoiceComponent::SetAgent(UParleyAgentComponent* InAgent)
{
    Agent = InAgent;
    if (IsActive())
    {
        Follow();
    }
}

void UParleyVoiceComponent::Take(const Parley::VoiceFrame& Frame, const uint8* Pcm, int64 Bytes, const FString& Sentence)
{
    if (!IsActive())
    {
        return;
    }
    const FParleyUtterances::FOne* Found = Utterances->Open.FindByPredicate(
        [&Frame](const FParleyUtterances::FOne& One) { return One->TurnId == Frame.TurnId && One->Step == Frame.Step; });
    if (Frame.IsFormat)
    {
        if (Found == nullptr && Frame.Encoding == Parley::VoiceFrame::Encoding16)
        {
            Open(Frame);
        }
        else if (Found == nullptr)
        {
            UE_LOG(LogParley, Warning, TEXT("a voice comes as '%s', which is not known here"), *Parley::ToFString(Frame.Encoding));
        }
        return;
    }
    if (Found == nullptr)
    {
        return;
    }
    const FParleyUtterances::FOne One = *Found;
    One->QuietFor = 0.0;
    const int64 Begins = static_cast<int64>(One->Buffer->Written());
    if (One->Buffer->Push(Frame.Index, Pcm, static_cast<std::size_t>(Bytes), Frame.IsFinal) && !Sentence.IsEmpty())
    {
        One->Sentences.Add(TPair<int64, FString>(Begins, Sentence));
    }
    if (One->Buffer->IsComplete())
    {
        Utterances->Open.Remove(One);
    }
}

void UParleyVoiceComponent::ExpectEnd(int64 TurnId)
{
    for (const FParleyUtterances::FOne& One : Utterances->Open)
    {
        One->bIsTurnOver = One->bIsTurnOver || One->TurnId == TurnId;
    }
}

void UParleyVoiceComponent::EndTurn(int64 TurnId, bool bIsCancelled)
{
    for (int32 Index = Utterances->Open.Num() - 1; Index >= 0; Index--)
    {
        if (Utterances->Open[Index]->TurnId == TurnId)
        {
            Utterances->Open[Index]->Buffer->Complete();
            Utterances->Open.RemoveAt(Index);
        }
    }
    if (!bIsCancelled)
    {
        return;
    }
    for (const FParleyUtterances::FOne& One : Utterances->Waiting)
    {
        if (One->TurnId == TurnId)
        {
            One->Buffer->Stop();
        }
    }
    if (Utterances->Playing.IsValid() && Utterances->Playing->TurnId == TurnId)
    {
        Silence();
    }
}

// ---- with the actor ----

void UParleyVoiceComponent::BeginPlay()
{
    Super::BeginPlay();
    if (IsActive())
    {
        Follow();
    }
}

void UParleyVoiceComponent::EndPlay(const EEndPlayReason::Type EndPlayReason)
{
    StopSpeaking();
    Unfollow();
    Super::EndPlay(EndPlayReason);
}

void UParleyVoiceComponent::Activate(bool bReset)
{
    Super::Activate(bReset);
    if (HasBegunPlay() && IsActive())
    {
        Follow();
    }
}

void UParleyVoiceComponent::Deactivate()
{
    Super::Deactivate();
    if (!IsActive())
    {
        StopSpeaking();
        Unfollow();
    }
}

void UParleyVoiceComponent::BeginDestroy()
{
    if (Utterances.IsValid())
    {
        for (const FParleyUtterances::FOne& One : Utterances->Open)
        {
            One->Buffer->Stop();
        }
        if (Utterances->Playing.IsValid())
        {
            Utterances->Playing->Buffer->Stop();
        }
        *Utterances = FParleyUtterances();
    }
    Super::BeginDestroy();
}

void UParleyVoiceComponent::TickComponent(float DeltaTime, ELevelTick TickType, FActorComponentTickFunction* ThisTickFunction)
{
    Super::TickComponent(DeltaTime, TickType, ThisTickFunction);
    // Neither a pause nor slow motion stops the sound.
    const double Now = FPlatformTime::Seconds();
    const double Seconds = LastSeconds > 0.0 ? Now - LastSeconds : 0.0;
    LastSeconds = Now;
    if (Utterances->Open.Num() > 0)
    {
        GiveUpWaiting(Seconds);
    }
    if (Utterances->Playing.IsValid())
    {
        Hear(Seconds);
    }
    if (!Utterances->Playing.IsValid() && Utterances->Waiting.Num() > 0)
    {
        Begin();
    }
}

void UParleyVoiceComponent::Follow()
{
    UParleyAgentComponent* Wanted = Agent;
    if (Wanted == nullptr && GetOwner() != nullptr)
    {
        Wanted = GetOwner()->FindComponentByClass<UParleyAgentComponent>();
    }
    if (Wanted == Joined.Get())
    {
        return;
    }
    Unfollow();
    Joined = Wanted;
    if (Wanted != nullptr)
    {
        Wanted->Join(this);
    }
}

void UParleyVoiceComponent::Unfollow()
{
    if (UParleyAgentComponent* Followed = Joined.Get())
    {
        Followed->Leave(this);
    }
    Joined.Reset();
}

// ---- what is heard ----

void UParleyVoiceComponent::GiveUpWaiting(double Seconds)
{
    for (int32 Index = Utterances->Open.Num() - 1; Index >= 0; Index--)
    {
        ParleyVoiceComponentLocal::FUtterance& One = *Utterances->Open[Index];
        One.QuietFor += One.bIsTurnOver ? Seconds : 0.0;
        if (One.QuietFor > ParleyVoiceComponentLocal::PatienceSeconds)
        {
            One.Buffer->Complete();
            Utterances->Open.RemoveAt(Index);
        }
    }
}

void UParleyVoiceComponent::Open(const Parley::VoiceFrame& Frame)
{
    std::string Fault;
    std::shared_ptr<Parley::VoiceBuffer> Buffer = Parley::VoiceBuffer::Make(
        Frame.SampleRate, Frame.Channels, static_cast<double>(LeadSeconds), ParleyVoiceComponentLocal::HeldSeconds, Fault);
    if (!Buffer)
    {
        UE_LOG(LogParley, Warning, TEXT("a voice cannot be played: %s"), *Parley::ToFString(Fault));
        return;
    }
    FParleyUtterances::FOne One = MakeShared<ParleyVoiceComponentLocal::FUtterance>();
    One->TurnId = static_cast<int64>(Frame.TurnId);
    One->Step = Frame.Step;
    One->NodeName = Parley::ToFString(Frame.NodeName);
    One->Buffer = std::move(Buffer);
    Utterances->Open.Add(One);
    Utterances->Waiting.Add(One);
}

void UParleyVoiceComponent::Begin()
{
    while (Utterances->Waiting.Num() > 0 && Utterances->Waiting[0]->Buffer->IsFinished())
    {
        Utterances->Waiting.RemoveAt(0);
    }
    if (Utterances->Waiting.Num() == 0 || !Utterances->Waiting[0]->Buffer->IsReady())
    {
        return;
    }
    const FParleyUtterances::FOne Next = Utterances->Waiting[0];
    Utterances->Waiting.RemoveAt(0);
    Heard = SourceOf(Next->NodeName);
    if (Heard == nullptr)
    {
        // Nobody is there to play it.
        Next->Buffer->Stop();
        Utterances->Open.Remove(Next);
        return;
    }
    Utterances->Playing = Next;
    Utterances->EndingFor = 0.0;
    Utterances->StoppedFor = 0.0;
    Wave = NewObject<UParleyVoiceWave>(this);
    Wave->Play(Next->Buffer);
    Heard->SetSound(Wave);
    Heard->Play();
    OnStarted.Broadcast(Next->NodeName);
}

void UParleyVoiceComponent::Hear(double Seconds)
{
    const FParleyUtterances::FOne Line = Utterances->Playing;
    const Parley::VoiceBuffer& Buffer = *Line->Buffer;
    UAudioComponent* Audio = Heard;
    const bool bIsOurs = IsValid(Audio) && Audio->Sound == Wave;
    Utterances->StoppedFor = bIsOurs && Audio->IsPlaying() ? 0.0 : Utterances->StoppedFor + Seconds;
    if (!bIsOurs || Utterances->StoppedFor > ParleyVoiceComponentLocal::StoppedSeconds)
    {
        // The game took the source away, or stopped it: it does not go on by itself, and the next line waits.
        Silence();
        return;
    }
    const TWeakObjectPtr<UParleyVoiceComponent> Weak(this);
    const auto IsStill = [this, &Weak, &Line] { return Weak.IsValid() && Utterances->Playing == Line; };
    const int64 Read = static_cast<int64>(Buffer.SamplesRead());
    while (Line->NextSentence < Line->Sentences.Num() && Line->Sentences[Line->NextSentence].Key < Read)
    {
        const FString Sentence = Line->Sentences[Line->NextSentence++].Value;
        OnSentence.Broadcast(Line->NodeName, Sentence);
        if (!IsStill())
        {
            return;
        }
    }
    if (Line->Underruns != Buffer.Underruns())
    {
        Line->Underruns = Buffer.Underruns();
        OnUnderrun.Broadcast(Line->NodeName, Line->Underruns);
        if (!IsStill())
        {
            return;
        }
    }
    if (OnLoudness.IsBound())
    {
        OnLoudness.Broadcast(Line->NodeName, GetLoudness());
        if (!IsStill())
        {
            return;
        }
    }
    if (Buffer.EndsAt() < 0 && !Buffer.IsStopped())
    {
        return;
    }
    Utterances->EndingFor += Seconds;
    if (Buffer.IsStopped() || Utterances->EndingFor > ParleyVoiceComponentLocal::AheadSeconds)
    {
        Silence();
    }
}

void UParleyVoiceComponent::Silence()
{
    const FParleyUtterances::FOne Was = Utterances->Playing;
    Utterances->Playing.Reset();
    if (!Was.IsValid())
    {
        return;
    }
    Was->Buffer->Stop();
    Utterances->Open.Remove(Was);
    UAudioComponent* Audio = Heard;
    if (IsValid(Audio) && Audio->Sound == Wave)
    {
        Audio->Stop();
        Audio->SetSound(nullptr);
    }
    Heard = nullptr;
    Wave = nullptr;
    OnFinished.Broadcast(Was->NodeName);
}

UAudioComponent* UParleyVoiceComponent::SourceOf(const FString& NodeName)
{
    if (Source != nullptr)
    {
        return Source;
    }
    AActor* Owner = GetOwner();
    if (Owner == nullptr)
    {
        return nullptr;
    }
    TObjectPtr<UAudioComponent>& Known = Made.FindOrAdd(NodeName);
    if (!IsValid(Known))
    {
        Known = NewObject<UAudioComponent>(Owner);
        Known->bAutoActivate = false;
        Known->bAutoDestroy = false;
        Known->SetupAttachment(this);
        Known->RegisterComponent();
    }
    const FDialogueSpeaker Voice = UDialogueCast::SpeakerOf(Cast, NodeName);
    USoundAttenuation* Falloff = Voice.VoiceAttenuation != nullptr ? Voice.VoiceAttenuation : Attenuation;
    Known->AttenuationSettings = Falloff;
    Known->bAllowSpatialization = Falloff != nullptr;
    Known->SoundClassOverride = Voice.VoiceClass != nullptr ? Voice.VoiceClass : SoundClass;
    Known->SetVolumeMultiplier(Voice.VoiceVolume);
    return Known;
}
