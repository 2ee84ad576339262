// What kind of process this is.
// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/DlgSystemEditorModule.cpp (IsRunningCommandlet),
// JonasReich/OpenUnrealUtilities Source/OUUBlueprintRuntime/Private/Core/EngineGlobalsLibrary.cpp
#pragma once

#include "HAL/Platform.h"

CORE_API bool& StubRunningCommandlet();
inline bool IsRunningCommandlet()
{
    return StubRunningCommandlet();
}
inline bool IsRunningDedicatedServer()
{
    return false;
}
CORE_API bool IsInGameThread();
CORE_API bool IsEngineExitRequested();
