// Plays lines that are spoken, one after the other, each from a buffer that the audio thread empties.
#include "ParleyVoiceComponent.h"

#include "Components/AudioComponent.h"
#include "Core/CoreAgent.h"
#include "Core/Generated/Messages.h"
#include "Core/VoiceBuffer.h"
#include "DialogueCast.h"
#include "GameFramework/Actor.h"
#include "HAL/PlatformTime.h"
#include "ParleyAgentComponent.h"
#include "ParleyLog.h"
#include "ParleyText.h"
#include "Sound/SoundAttenuation.h"
#include "Sound/SoundClass.h"

#include <limits>
#include <utility>

namespace ParleyVoiceComponentLocal
{

/// Seconds after which a line that lacks its last chunk is over: the sidecar drops sound first where too much waits. Also
/// those after which a line whose end was read is over, even where nobody hears it.
constexpr double PatienceSeconds = 5.0;
/// Seconds after which a source that does not play what it was given was stopped by somebody.
constexpr double StoppedSeconds = 1.0;
/// The mixer asks for sound so long before it is heard.
constexpr double AheadSeconds = 0.1;
/// So much sound may wait for a chunk that is missing.
constexpr double HeldSeconds = 0.5;

/// Samples that were read and are not heard yet.
std::int64_t AheadOf(const Parley::VoiceBuffer& Buffer)
{
    return static_cast<std::int64_t>(AheadSeconds * Buffer.SampleRate()) * Buffer.Channels();
}

} // namespace ParleyVoiceComponentLocal

/// One line that is spoken: a step of a turn. Threading: the game's thread, but for what Buffer says of itself.
struct FParleyUtterance
{
    FParleyUtterance(const Parley::Messages::AudioFormat& Format, std::shared_ptr<Parley::VoiceBuffer> InBuffer)
        : AgentId(Format.AgentId)
        , TurnId(static_cast<int64>(Format.TurnId))
        , Step(static_cast<int64>(Format.Step))
        , NodeName(Parley::ToFString(Format.NodeName))
        , Buffer(std::move(InBuffer))
    {
    }

    /// A new sidecar counts turns from 1 again, but gives the agent another name.
    bool Is(const std::string& OfAgentId, int64 OfTurnId, int64 OfStep) const
    {
        return TurnId == OfTurnId && Step == OfStep && AgentId == OfAgentId;
    }

    const std::string AgentId;
    const int64 TurnId;
    const int64 Step;
    const FString NodeName;
    const std::shared_ptr<Parley::VoiceBuffer> Buffer;
    bool bIsTurnOver = false;
    double QuietFor = 0.0;
    FString Sentence;
    int64 HeardLength = 0;
    int32 Underruns = 0;
    bool bIsLoud = false;
};

/// What the component keeps out of the engine's sight. Threading: the game's thread.
struct FParleyUtterances
{
    using FOne = TSharedPtr<FParleyUtterance>;

    /// Those whose sound is still coming.
    TArray<FOne> Open;
    /// Those that are to be heard, in their order.
    TArray<FOne> Waiting;
    FOne Playing;
    /// The last one that is over.
    FOne Done;
    double EndingFor = 0.0;
    double StoppedFor = 0.0;

    FOne Find(const std::string& AgentId, std::int64_t TurnId, std::int64_t Step) const
    {
        const FOne* Found = Open.FindByPredicate(
            [&](const FOne& One) { return One->Is(AgentId, static_cast<int64>(TurnId), static_cast<int64>(Step)); });
        return Found == nullptr ? nullptr : *Found;
    }
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
    return Loudness;
}

FString UParleyVoiceComponent::GetSentence() const
{
    return Utterances->Playing.IsValid() ? Utterances->Playing->Sentence : FString();
}

int32 UParleyVoiceComponent::GetUnderruns() const
{
    return Underruns;
}

void UParleyVoiceComponent::StopSpeaking()
{
    for (const FParleyUtterances::FOne& One : Utterances->Open)
    {
        One->Buffer->Stop();
    }
    Utterances->Open.Reset();
    if (Utterances->Waiting.Num() > 0)
    {
        Utterances->Done = Utterances->Waiting.Last();
        Utterances->Waiting.Reset();
    }
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

void UParleyVoiceComponent::Take(const Parley::Messages::AudioFormat& Format)
{
    if (!IsActive() || Utterances->Find(Format.AgentId, Format.TurnId, Format.Step).IsValid())
    {
        return;
    }
    std::string Fault;
    std::shared_ptr<Parley::VoiceBuffer> Buffer = Parley::VoiceBuffer::Make(
        Format.SampleRate, Format.Channels, static_cast<double>(LeadSeconds), ParleyVoiceComponentLocal::HeldSeconds, Fault);
    if (!Buffer)
    {
        UE_LOG(LogParley, Warning, TEXT("a voice cannot be played: %s"), *Parley::ToFString(Fault));
        return;
    }
    const FParleyUtterances::FOne One = MakeShared<FParleyUtterance>(Format, std::move(Buffer));
    Utterances->Open.Add(One);
    Utterances->Waiting.Add(One);
}

void UParleyVoiceComponent::Take(const Parley::SoundChunk& Sound)
{
    const Parley::Messages::AudioChunk& Chunk = Sound.Chunk;
    const FParleyUtterances::FOne One = Utterances->Find(Chunk.AgentId, Chunk.TurnId, Chunk.Step);
    if (!IsActive() || !One.IsValid())
    {
        return;
    }
    One->QuietFor = 0.0;
    One->Buffer->Push(Chunk, Sound.Samples, Sound.Bytes);
    if (One->Buffer->IsComplete())
    {
        Utterances->Open.Remove(One);
    }
}

int64 UParleyVoiceComponent::HeardOf(const std::string& AgentId, int64 TurnId, int64 Step) const
{
    const FParleyUtterances::FOne& Playing = Utterances->Playing;
    if (Playing.IsValid() && Playing->Is(AgentId, TurnId, Step))
    {
        return Playing->HeardLength;
    }
    if (Utterances->Waiting.ContainsByPredicate(
            [&](const FParleyUtterances::FOne& One) { return One->Is(AgentId, TurnId, Step); }))
    {
        return 0;
    }
    // Lines are heard in their order.
    const FParleyUtterances::FOne& Done = Utterances->Done;
    const bool bIsDone = Done.IsValid() && Done->AgentId == AgentId
        && (Done->TurnId > TurnId || (Done->TurnId == TurnId && Done->Step >= Step));
    return bIsDone ? (std::numeric_limits<int64>::max)() : -1;
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
        FParleyUtterance& One = *Utterances->Open[Index];
        One.QuietFor += One.bIsTurnOver ? Seconds : 0.0;
        if (One.QuietFor > ParleyVoiceComponentLocal::PatienceSeconds)
        {
            One.Buffer->Complete();
            Utterances->Open.RemoveAt(Index);
        }
    }
}

void UParleyVoiceComponent::Begin()
{
    while (Utterances->Waiting.Num() > 0 && Utterances->Waiting[0]->Buffer->IsFinished())
    {
        const FParleyUtterances::FOne Soundless = Utterances->Waiting[0];
        Utterances->Waiting.RemoveAt(0);
        if (!TellSoundless(Soundless))
        {
            return;
        }
    }
    if (Utterances->Waiting.Num() == 0 || Utterances->Playing.IsValid() || !Utterances->Waiting[0]->Buffer->IsReady())
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
        Utterances->Done = Next;
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

/// A line in which there was nothing for a voice to say, or that was stopped before it was heard. False: whoever heard of
/// it destroyed all this.
bool UParleyVoiceComponent::TellSoundless(const FParleyUtterances::FOne& Line)
{
    Utterances->Done = Line;
    Parley::VoiceSentence First;
    if (Line->Buffer->IsStopped() || !Line->Buffer->TakeSentence(0, true, First))
    {
        return true;
    }
    const TWeakObjectPtr<UParleyVoiceComponent> Weak(this);
    OnStarted.Broadcast(Line->NodeName);
    for (bool bIsThere = true; bIsThere && Weak.IsValid(); bIsThere = Line->Buffer->TakeSentence(0, true, First))
    {
        OnSentence.Broadcast(Line->NodeName, Parley::ToFString(First.Text));
    }
    if (Weak.IsValid())
    {
        OnFinished.Broadcast(Line->NodeName);
    }
    return Weak.IsValid();
}

/// Follow what is heard, and see to the end of it.
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
    const std::int64_t End = Buffer.EndsAt();
    Utterances->EndingFor += End >= 0 ? Seconds : 0.0;
    const bool bIsEnd = End >= 0
        && (Buffer.Position() - ParleyVoiceComponentLocal::AheadOf(Buffer) >= End
            || Utterances->EndingFor > ParleyVoiceComponentLocal::PatienceSeconds);
    // Whoever hears of it may stop it, or destroy all this.
    if (TellHeard(Line, bIsEnd) && bIsEnd)
    {
        Silence();
    }
}

/// What is heard now: sentences, holes, and how loud it is. False: it is not heard any more.
bool UParleyVoiceComponent::TellHeard(const FParleyUtterances::FOne& Line, bool bIsEnd)
{
    const TWeakObjectPtr<UParleyVoiceComponent> Weak(this);
    const Parley::VoiceBuffer& Buffer = *Line->Buffer;
    bool bIsSilent = false;
    const std::int64_t Samples = Buffer.SamplesAt(Buffer.Position() - ParleyVoiceComponentLocal::AheadOf(Buffer), bIsSilent);
    Loudness = bIsSilent || bIsEnd ? 0.0f : Buffer.LoudnessAt(Samples);
    if (!TellSentences(Line, static_cast<int64>(Samples), bIsEnd))
    {
        return false;
    }
    const int32 Holes = Buffer.Underruns() - Line->Underruns;
    if (Holes > 0)
    {
        Line->Underruns += Holes;
        Underruns += Holes;
        OnUnderrun.Broadcast(Line->NodeName, Line->Underruns);
        if (!Weak.IsValid() || !IsStill(Line))
        {
            return false;
        }
    }
    if (!bIsEnd)
    {
        Line->bIsLoud = Loudness > 0.0f;
        OnLoudness.Broadcast(Line->NodeName, Loudness);
    }
    return Weak.IsValid() && IsStill(Line);
}

bool UParleyVoiceComponent::TellSentences(const FParleyUtterances::FOne& Line, int64 Samples, bool bIsEnd)
{
    const TWeakObjectPtr<UParleyVoiceComponent> Weak(this);
    Parley::VoiceSentence Sentence;
    while (Line->Buffer->TakeSentence(Samples, bIsEnd, Sentence))
    {
        Line->Sentence = Parley::ToFString(Sentence.Text);
        Line->HeardLength += static_cast<int64>(Sentence.Text.size());
        OnSentence.Broadcast(Line->NodeName, Line->Sentence);
        if (!Weak.IsValid() || !IsStill(Line))
        {
            return false;
        }
    }
    return true;
}

bool UParleyVoiceComponent::IsStill(const FParleyUtterances::FOne& Line) const
{
    return Utterances->Playing == Line;
}

void UParleyVoiceComponent::Silence()
{
    const FParleyUtterances::FOne Was = Utterances->Playing;
    Utterances->Playing.Reset();
    Loudness = 0.0f;
    if (!Was.IsValid())
    {
        return;
    }
    Utterances->Done = Was;
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
    const TWeakObjectPtr<UParleyVoiceComponent> Weak(this);
    if (Was->bIsLoud)
    {
        OnLoudness.Broadcast(Was->NodeName, 0.0f);
    }
    if (Weak.IsValid())
    {
        OnFinished.Broadcast(Was->NodeName);
    }
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
