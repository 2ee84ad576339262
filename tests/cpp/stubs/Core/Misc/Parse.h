// FParse.
// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Core/Misc/FParse/Value/14?application_version=5.4
// (Value), VoxelPlugin/VoxelCore
// Source/VoxelCore/Private/VoxelMinimal/Utilities/VoxelSystemUtilities.cpp (Param)
#pragma once

#include "Containers/UnrealString.h"

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/FlowEditorCommands.cpp
struct CORE_API FParse
{
    static bool Param(const TCHAR* Stream, const TCHAR* Param);
    static bool Value(const TCHAR* Stream, const TCHAR* Match, FString& Value, bool bShouldStopOnSeparator = true);
};
