// Comparing the engine's version.
// Source: BenPyton/ProceduralDungeon Source/ProceduralDungeon/Private/Room.cpp
#pragma once

#include "HAL/Platform.h"

#define UE_VERSION_NEWER_THAN(Major, Minor, Patch) \
    (ENGINE_MAJOR_VERSION * 10000 + ENGINE_MINOR_VERSION * 100 + ENGINE_PATCH_VERSION > \
        (Major) * 10000 + (Minor) * 100 + (Patch))
#define UE_VERSION_OLDER_THAN(Major, Minor, Patch) \
    (ENGINE_MAJOR_VERSION * 10000 + ENGINE_MINOR_VERSION * 100 + ENGINE_PATCH_VERSION < \
        (Major) * 10000 + (Minor) * 100 + (Patch))
