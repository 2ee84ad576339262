// FEngineVersion.
// Source: ProjectBorealis/UEGitPlugin Source/GitSourceControl/Private/GitSourceControlProvider.cpp
#pragma once

#include "Containers/UnrealString.h"

// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Core/Misc/FEngineVersion/ToString?application_version=5.3
// (names it; its values stand in the binding unreal.js 1.3.5, dist/ue4/objects/core/misc/EngineVersionBase.d.ts)
enum class EVersionComponent
{
    Major,
    Minor,
    Patch,
    Changelist,
    Branch
};

// Source: ProjectBorealis/UEGitPlugin Source/GitSourceControl/Private/GitSourceControlProvider.cpp
class FEngineVersion
{
public:
    static const FEngineVersion& Current()
    {
        static const FEngineVersion Only;
        return Only;
    }
    FString ToString(EVersionComponent LastComponent = EVersionComponent::Branch) const
    {
        return LastComponent == EVersionComponent::Minor
            ? FString::Printf(TEXT("%d.%d"), ENGINE_MAJOR_VERSION, ENGINE_MINOR_VERSION)
            : FString::Printf(TEXT("%d.%d.%d"), ENGINE_MAJOR_VERSION, ENGINE_MINOR_VERSION, ENGINE_PATCH_VERSION);
    }
};
