// FTopLevelAssetPath: which class, with its package.
// Source: JonasReich/OpenUnrealUtilities Source/OUUBlueprintRuntime/Private/Core/OUUCoreBlueprintLibrary.cpp
#pragma once

#include "CoreMinimal.h"

// Source: JonasReich/OpenUnrealUtilities Source/OUUBlueprintRuntime/Private/Core/OUUCoreBlueprintLibrary.cpp
struct FTopLevelAssetPath
{
    FTopLevelAssetPath() = default;
    FTopLevelAssetPath(FName InPackageName, FName InAssetName)
        : PackageName(InPackageName)
        , AssetName(InAssetName)
    {
    }
    FName GetAssetName() const { return AssetName; }
    FName GetPackageName() const { return PackageName; }
    FString ToString() const { return PackageName.ToString() + TEXT(".") + AssetName.ToString(); }

private:
    FName PackageName;
    FName AssetName;
};
