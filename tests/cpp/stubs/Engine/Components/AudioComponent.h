// UAudioComponent.
// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Engine/Components/UAudioComponent?application_version=5.4
// (and UAudioComponent/SetPaused?application_version=5.4)
#pragma once

#include "Components/SceneComponent.h"
#include "Sound/SoundBase.h"

class USoundClass;

// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporter/Private/Sound/SynthBasedSoundWave.cpp
class ENGINE_API UAudioComponent : public USceneComponent
{
    STUB_CLASS_BODY(UAudioComponent, USceneComponent)
    TObjectPtr<USoundBase> Sound;
    TObjectPtr<USoundClass> SoundClassOverride;
    TObjectPtr<USoundAttenuation> AttenuationSettings;
    uint8 bAutoDestroy = 0;
    uint8 bIsUISound = 0;
    uint8 bAllowSpatialization = 0;
    uint8 bOverrideAttenuation = 0;
    float VolumeMultiplier = 1.f;
    float PitchMultiplier = 1.f;
    void SetSound(USoundBase* NewSound) { Sound = NewSound; }
    virtual void Play(float StartTime = 0.0f)
    {
        bStubPlaying = true;
        ++StubPlays;
    }
    virtual void Stop() { bStubPlaying = false; }
    void SetPaused(bool bPause) { bStubPaused = bPause; }
    virtual bool IsPlaying() const { return bStubPlaying; }
    void SetVolumeMultiplier(float NewVolume) { VolumeMultiplier = NewVolume; }
    bool bStubPlaying = false;
    bool bStubPaused = false;
    int32 StubPlays = 0;
};
