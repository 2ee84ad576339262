// FPlatformMisc.
// Source: ProjectBorealis/UEGitPlugin Source/GitSourceControl/Private/GitSourceControlUtils.cpp (GetEnvironmentVariable),
// 20tab/UnrealEnginePython Source/UnrealEnginePython/Private/UnrealEnginePython.cpp (SetEnvironmentVar), Phyronnaz/VoxelPlugin
// Source/Voxel/Private/VoxelTools/VoxelBlueprintLibrary.cpp (NumberOfCores), VoxelPlugin/VoxelCore
// Source/VoxelCore/Private/VoxelLatentK2Gen.cpp (RequestExit)
#pragma once

#include "Containers/UnrealString.h"

// Source: ProjectBorealis/UEGitPlugin Source/GitSourceControl/Private/GitSourceControlUtils.cpp
struct CORE_API FPlatformMisc
{
    static FString GetEnvironmentVariable(const TCHAR* VariableName);
    static void SetEnvironmentVar(const TCHAR* VariableName, const TCHAR* Value);
    static void RequestExit(bool Force);
    static int32 NumberOfCores();
};
