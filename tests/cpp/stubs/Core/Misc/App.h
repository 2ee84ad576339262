// FApp.
// Source: ProjectBorealis/UEGitPlugin Source/GitSourceControl/Private/GitSourceControlProvider.cpp
#pragma once

#include "Containers/UnrealString.h"

// Source: ProjectBorealis/UEGitPlugin Source/GitSourceControl/Private/GitSourceControlProvider.cpp
struct CORE_API FApp
{
    static const TCHAR* GetProjectName() { return TEXT("StubProject"); }
    static bool IsUnattended() { return false; }
    static bool CanEverRender() { return true; }
    static bool IsGame() { return true; }
    static double GetCurrentTime();
    static double GetDeltaTime() { return 0.016; }
};
