// FDesktopPlatformModule.
// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Private/Details/VoxelShaderHooksSettingsCustomization.cpp
#pragma once

#include "IDesktopPlatform.h"
#include "Modules/ModuleManager.h"

// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Private/Details/VoxelShaderHooksSettingsCustomization.cpp
class FDesktopPlatformModule : public IModuleInterface
{
public:
    static IDesktopPlatform* Get()
    {
        static IDesktopPlatform Only;
        return &Only;
    }
};
