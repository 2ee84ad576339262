// UDataAsset.
// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Public/CesiumEllipsoid.h
#pragma once

#include "UObject/Object.h"

// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Public/CesiumIonServer.h (UDataAsset)
class ENGINE_API UDataAsset : public UObject
{
    STUB_CLASS_BODY(UDataAsset, UObject)
};

// Source: BenPyton/ProceduralDungeon Source/ProceduralDungeon/Public/RoomData.h
class ENGINE_API UPrimaryDataAsset : public UDataAsset
{
    STUB_CLASS_BODY(UPrimaryDataAsset, UDataAsset)
};
