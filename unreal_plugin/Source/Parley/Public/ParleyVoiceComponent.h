// Plays what a character says aloud.
#pragma once

#include "Components/SceneComponent.h"
#include "CoreMinimal.h"
#include "Sound/SoundWaveProcedural.h"
#include "Templates/SharedPointer.h"

#include <atomic>
#include <memory>
#include <string>

#include "ParleyVoiceComponent.generated.h"

class UAudioComponent;
class UDialogueCast;
class UParleyAgentComponent;
class USoundAttenuation;
class USoundClass;
struct FParleyUtterance;
struct FParleyUtterances;

namespace Parley
{
class VoiceBuffer;
struct SoundChunk;
namespace Messages
{
struct AudioFormat;
} // namespace Messages
} // namespace Parley

/**
 * The sound of one spoken line while it comes. Threading: the audio thread reads it; all else is the game's thread.
 */
UCLASS(Transient, NotBlueprintable)
class PARLEY_API UParleyVoiceWave : public USoundWaveProcedural
{
    GENERATED_BODY()

public:
    UParleyVoiceWave(const FObjectInitializer& ObjectInitializer);

    /// Before it is played.
    void Play(std::shared_ptr<Parley::VoiceBuffer> InBuffer);

    virtual int32 OnGeneratePCMAudio(TArray<uint8>& OutAudio, int32 NumSamples) override;
    virtual Audio::EAudioMixerStreamDataFormat::Type GetGeneratedPCMDataFormat() const override;

private:
    std::shared_ptr<Parley::VoiceBuffer> Buffer;
};

DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyVoiceEvent, const FString&, Speaker);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_TwoParams(FParleyVoiceSentenceEvent, const FString&, Speaker, const FString&, Sentence);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_TwoParams(FParleyVoiceLoudnessEvent, const FString&, Speaker, float, Loudness);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_TwoParams(FParleyVoiceUnderrunEvent, const FString&, Speaker, int32, Count);

/**
 * The voice of one speaker of an agent: plays the sound that comes with its lines, one line after the other. Put it where
 * the mouth is.
 */
UCLASS(ClassGroup = (Parley), meta = (BlueprintSpawnableComponent, DisplayName = "Parley Voice"))
class PARLEY_API UParleyVoiceComponent : public USceneComponent
{
    GENERATED_BODY()

public:
    UParleyVoiceComponent();

    /** Whose voice it is. None: the agent on this actor. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, BlueprintSetter = SetAgent, Category = "Parley")
    TObjectPtr<UParleyAgentComponent> Agent;

    /** The node that speaks with it. Empty: every node of the agent that has no voice of its own. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley")
    FString Speaker;

    /** Where it is heard. None: one that is made here. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley")
    TObjectPtr<UAudioComponent> Source;

    /** Who the nodes are; only for how their voices sound. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley")
    TObjectPtr<UDialogueCast> Cast;

    /** How the voice gets weaker with the distance, where the cast does not say. None: it is heard everywhere. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley")
    TObjectPtr<USoundAttenuation> Attenuation;

    /** The sound class of the voice, where the cast does not say. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley")
    TObjectPtr<USoundClass> SoundClass;

    /** Seconds that must have come before a line is heard. More: fewer holes where a machine is slow. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley", meta = (ClampMin = "0.0", ClampMax = "2.0", UIMin = "0.0", UIMax = "2.0"))
    float LeadSeconds = 0.25f;

    /** A line begins to be heard: the node that speaks. Sentences, loudness and holes of it come next, then On Finished. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyVoiceEvent OnStarted;

    /** A line is over, or was stopped: the node that spoke. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyVoiceEvent OnFinished;

    /** A sentence begins to be heard, for subtitles: those of a line, joined, are its text. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyVoiceSentenceEvent OnSentence;

    /** How loud what is heard now is, 0 to 1, each frame while a line is heard: moves a mouth. The last one of a line is 0. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyVoiceLoudnessEvent OnLoudness;

    /** The sound came too slowly, so there was a hole: the node that speaks, and how many holes its line has by now. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyVoiceUnderrunEvent OnUnderrun;

    /** A line is being heard. */
    UFUNCTION(BlueprintPure, Category = "Parley|Voice")
    bool IsSpeaking() const;

    /** How loud what is heard now is, 0 to 1: moves a mouth. */
    UFUNCTION(BlueprintPure, Category = "Parley|Voice")
    float GetLoudness() const;

    /** The sentence that is heard now; empty: none. */
    UFUNCTION(BlueprintPure, Category = "Parley|Voice")
    FString GetSentence() const;

    /** How often the sound came too slowly, over all lines so far. */
    UFUNCTION(BlueprintPure, Category = "Parley|Voice")
    int32 GetUnderruns() const;

    /** Be silent, and forget what waits. What comes later is heard; for the agent's whole turn cancel it. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Voice")
    void StopSpeaking();

    /** Whose voice it is; none: the agent on this actor. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Voice")
    void SetAgent(UParleyAgentComponent* InAgent);

    /// A step begins to speak.
    void Take(const Parley::Messages::AudioFormat& Format);
    /// A part of a voice comes.
    void Take(const Parley::SoundChunk& Sound);
    /// How many characters of a step are heard already; -1: it has no sound, or none yet.
    int64 HeardOf(const std::string& AgentId, int64 TurnId, int64 Step) const;
    /// A turn ended well: what is missing of its voice is on its way, or was dropped and never comes.
    void ExpectEnd(int64 TurnId);
    /// A turn is over before its voice was: it was cancelled, and is silent, or it failed, and ends here.
    void EndTurn(int64 TurnId, bool bIsCancelled);

    virtual void BeginPlay() override;
    virtual void EndPlay(const EEndPlayReason::Type EndPlayReason) override;
    virtual void Activate(bool bReset = false) override;
    virtual void Deactivate() override;
    virtual void BeginDestroy() override;
    virtual void TickComponent(float DeltaTime, ELevelTick TickType, FActorComponentTickFunction* ThisTickFunction) override;

private:
    void Follow();
    void Unfollow();
    void GiveUpWaiting(double Seconds);
    void Begin();
    void Hear(double Seconds);
    void Silence();
    bool TellHeard(const TSharedPtr<FParleyUtterance>& Line, bool bIsEnd);
    bool TellSoundless(const TSharedPtr<FParleyUtterance>& Line);
    bool TellSentences(const TSharedPtr<FParleyUtterance>& Line, int64 Samples, bool bIsEnd);
    bool IsStill(const TSharedPtr<FParleyUtterance>& Line) const;
    UAudioComponent* SourceOf(const FString& NodeName);

    TWeakObjectPtr<UParleyAgentComponent> Joined;
    TSharedPtr<FParleyUtterances> Utterances;

    /** Where the line that is heard now is played. */
    UPROPERTY(Transient)
    TObjectPtr<UAudioComponent> Heard;

    /** Those that were made here, by the node that speaks. */
    UPROPERTY(Transient)
    TMap<FString, TObjectPtr<UAudioComponent>> Made;

    /** What is played now. */
    UPROPERTY(Transient)
    TObjectPtr<UParleyVoiceWave> Wave;

    double LastSeconds = 0.0;
    float Loudness = 0.0f;
    int32 Underruns = 0;
};
