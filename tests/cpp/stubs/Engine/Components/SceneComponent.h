// USceneComponent.
// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Public/CesiumGlobeAnchorComponent.h
#pragma once

#include "Components/ActorComponent.h"

// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Private/CesiumGeoreference.cpp (SetupAttachment)
class ENGINE_API USceneComponent : public UActorComponent
{
    STUB_CLASS_BODY(USceneComponent, UActorComponent)
    void SetupAttachment(USceneComponent* InParent, FName InSocketName = NAME_None) { StubParent = InParent; }
    USceneComponent* GetAttachParent() const { return StubParent; }
    USceneComponent* StubParent = nullptr;
};
