// UEngineSubsystem.
// Source: ufna/VaRest Source/VaRest/Public/VaRestSubsystem.h
#pragma once

#include "Subsystems/Subsystem.h"

// Source: ufna/VaRest Source/VaRest/Public/VaRestSubsystem.h
class ENGINE_API UEngineSubsystem : public USubsystem
{
    STUB_CLASS_BODY(UEngineSubsystem, USubsystem)
};
