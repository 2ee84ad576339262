// USoundWave.
// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporter/Private/Sound/ImportedSoundWave.cpp
#pragma once

#include "Sound/SoundBase.h"

// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporter/Private/Sound/ImportedSoundWave.cpp (SoundGroup)
enum ESoundGroup : int
{
    SOUNDGROUP_Default,
    SOUNDGROUP_Effects,
    SOUNDGROUP_UI,
    SOUNDGROUP_Music,
    SOUNDGROUP_Voice,
};

// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporter/Private/Sound/ImportedSoundWave.cpp
// (GetGeneratedPCMDataFormat)
namespace Audio
{
// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporter/Public/Sound/ImportedSoundWave.h
namespace EAudioMixerStreamDataFormat
{
// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporter/Public/Sound/ImportedSoundWave.h
enum Type
{
    Unknown,
    Float,
    Int16,
    Unsupported
};
} // namespace EAudioMixerStreamDataFormat
} // namespace Audio

// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporter/Private/Sound/ImportedSoundWave.cpp
class ENGINE_API USoundWave : public USoundBase
{
    STUB_CLASS_BODY(USoundWave, USoundBase)
    int32 NumChannels = 0;
    ESoundGroup SoundGroup = SOUNDGROUP_Default;
    uint8 bLooping = 0;
    uint8 bProcedural = 0;
    virtual Audio::EAudioMixerStreamDataFormat::Type GetGeneratedPCMDataFormat() const
    {
        return Audio::EAudioMixerStreamDataFormat::Unknown;
    }
    virtual void SetSampleRate(uint32 InSampleRate) { SampleRate = static_cast<int32>(InSampleRate); }
    virtual float GetSampleRateForCurrentPlatform() const { return static_cast<float>(SampleRate); }

protected:
    int32 SampleRate = 0;
};
