// FFeedbackContext.
// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporterEditor/Public/PreImportedSoundFactory.h (FFeedbackContext* Warn)
#pragma once

#include "Misc/OutputDevice.h"

// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporterEditor/Private/PreImportedSoundFactory.cpp
class FFeedbackContext : public FOutputDevice
{
};
