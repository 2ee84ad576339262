// USoundBase.
// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporter/Public/Sound/ImportedSoundWave.h
#pragma once

#include "UObject/Object.h"

#define INDEFINITELY_LOOPING_DURATION 10000.0f

// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporter/Private/Sound/ImportedSoundWave.cpp (SetVirtualizationMode)
enum class EVirtualizationMode : uint8
{
    Disabled,
    PlayWhenSilent,
    Restart,
};

// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgContext.h
class ENGINE_API USoundBase : public UObject
{
    STUB_CLASS_BODY(USoundBase, UObject)
    EVirtualizationMode VirtualizationMode = EVirtualizationMode::Restart;
    float Duration = 0;
    virtual float GetDuration() const { return Duration; }
};

// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Engine/Sound/USoundAttenuation?application_version=5.4
class ENGINE_API USoundAttenuation : public UObject
{
    STUB_CLASS_BODY(USoundAttenuation, UObject)
};
