// FOutputDevice.
// Source: dev.epicgames.com/documentation/en-us/unreal-engine/API/Runtime/Core/FOutputDevice/Logf
#pragma once

#include "Logging/LogMacros.h"

// Source: NotYetGames/DlgSystem Source/DlgSystem/Logging/INYLogger.cpp
class FOutputDevice
{
public:
    virtual ~FOutputDevice() = default;
    template <std::size_t N, typename... A>
    void Logf(ELogVerbosity::Type Verbosity, const TCHAR (&Format)[N], A... Arguments)
    {
        StubLines.Add({FString(), Verbosity, FString::Printf(Format, Arguments...)});
    }
    TArray<StubEngine::FLogLine> StubLines;
};
