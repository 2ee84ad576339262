// ENamedThreads.
// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporter/Private/RuntimeAudioImporterLibrary.cpp
// (ENamedThreads::GameThread)
#pragma once

#include "HAL/Platform.h"

// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporter/Private/RuntimeAudioImporterLibrary.cpp
namespace ENamedThreads
{
// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporter/Private/RuntimeAudioImporterLibrary.cpp
enum Type : int32
{
    AnyThread = 0xff,
    GameThread = 1,
    AnyBackgroundThreadNormalTask = 2,
    AnyBackgroundHiPriTask = 3,
};
} // namespace ENamedThreads
