// USoundAttenuation.
// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Engine/Sound/USoundAttenuation?application_version=5.4
#pragma once

#include "Sound/SoundBase.h"
