// FCommandLine.
// Source: dev.epicgames.com/documentation/en-us/unreal-engine/API/Runtime/Core/FCommandLine
#pragma once

#include "Containers/UnrealString.h"

// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Private/VoxelMinimal/Utilities/VoxelSystemUtilities.cpp
struct CORE_API FCommandLine
{
    static const TCHAR* Get() { return *StubText(); }
    static FString& StubText();
};
