// USoundWaveProcedural: the bytes that were queued lie in StubQueued.
// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporter/Public/Sound/ImportedSoundWave.h
#pragma once

#include "Sound/SoundWave.h"

DECLARE_DELEGATE_TwoParams(FOnSoundWaveProceduralUnderflow, class USoundWaveProcedural*, int32);

// Source: getnamo/SocketIOClient-Unreal Source/CoreUtility/Private/CUBlueprintLibrary.cpp
class ENGINE_API USoundWaveProcedural : public USoundWave
{
    STUB_CLASS_BODY(USoundWaveProcedural, USoundWave)
    FOnSoundWaveProceduralUnderflow OnSoundWaveProceduralUnderflow;
    void QueueAudio(const uint8* AudioData, const int32 BufferSize);
    void ResetAudio() { StubQueued.Reset(); }
    int32 GetAvailableAudioByteCount() { return StubQueued.Num(); }
    // Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporter/Private/Sound/ImportedSoundWave.cpp
    // (OnGeneratePCMAudio): NumSamples counts those of all channels, OutAudio holds their bytes, and 0 ends the sound.
    virtual int32 OnGeneratePCMAudio(TArray<uint8>& OutAudio, int32 NumSamples) { return 0; }
    virtual Audio::EAudioMixerStreamDataFormat::Type GetGeneratedPCMDataFormat() const override
    {
        return Audio::EAudioMixerStreamDataFormat::Int16;
    }
    virtual int32 GeneratePCMData(uint8* PCMData, const int32 SamplesNeeded);
    /// What the mixer does on its thread: takes so many samples; zeros follow what is not there.
    TArray<uint8> StubTake(int32 Samples);
    TArray<uint8> StubQueued;
};
