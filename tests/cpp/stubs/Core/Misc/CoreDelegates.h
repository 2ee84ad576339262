// FCoreDelegates.
// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Private/VoxelEditorUtilities.cpp (OnPreExit), Tencent/UnLua
// Plugins/UnLua/Source/UnLuaEditor/Private/UnLuaEditorModule.cpp (OnPostEngineInit)
#pragma once

#include "Delegates/Delegate.h"

// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Private/VoxelEditorUtilities.cpp
class CORE_API FCoreDelegates
{
public:
    static FSimpleMulticastDelegate OnPreExit;
    static FSimpleMulticastDelegate OnPostEngineInit;
};
