// UBlueprintAsyncActionBase: a node of a graph that goes on later.
// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Public/CesiumSampleHeightMostDetailedAsyncAction.h
#pragma once

#include "UObject/Object.h"

// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Public/CesiumGeoJsonDocument.h
class ENGINE_API UBlueprintAsyncActionBase : public UObject
{
    STUB_CLASS_BODY(UBlueprintAsyncActionBase, UObject)
    virtual void Activate() {}
    void RegisterWithGameInstance(const UObject* WorldContextObject) { StubRegister(WorldContextObject); }
    void RegisterWithGameInstance(class UGameInstance* GameInstance);
    virtual void SetReadyToDestroy() { bStubReadyToDestroy = true; RemoveFromRoot(); }
    void StubRegister(const UObject* WorldContextObject);
    UGameInstance* StubRegisteredWith = nullptr;
    bool bStubReadyToDestroy = false;
};
