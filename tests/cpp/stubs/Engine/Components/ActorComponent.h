// UActorComponent.
// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowComponent.h, CesiumGS/cesium-unreal
// Source/CesiumRuntime/Public/CesiumFlyToComponent.h
#pragma once

#include "Engine/EngineTypes.h"
#include "UObject/Object.h"

class AActor;

// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowSubsystem.h
class ENGINE_API UActorComponent : public UObject
{
    STUB_CLASS_BODY(UActorComponent, UObject)
    FActorComponentTickFunction PrimaryComponentTick;
    uint8 bWantsInitializeComponent = 0;
    uint8 bAutoActivate = 0;
    AActor* GetOwner() const;
    UWorld* GetWorld() const override;
    bool IsRegistered() const { return bStubRegistered; }
    void RegisterComponent();
    void UnregisterComponent() { bStubRegistered = false; }
    void DestroyComponent(bool bPromoteChildren = false);
    void SetComponentTickEnabled(bool bEnabled) { PrimaryComponentTick.bStubEnabled = bEnabled; }
    bool IsComponentTickEnabled() const { return PrimaryComponentTick.bStubEnabled; }
    bool HasBegunPlay() const { return bStubBegunPlay; }
    virtual void OnRegister() {}
    virtual void OnUnregister() {}
    virtual void InitializeComponent() {}
    virtual void UninitializeComponent() {}
    // Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Engine/Components/UActorComponent/SetActive?application_version=5.3
    // (and UActorComponent/Activate?application_version=5.3)
    virtual void Activate(bool bReset = false)
    {
        if (bReset || !bStubActive)
        {
            SetComponentTickEnabled(true);
            bStubActive = true;
        }
    }
    virtual void Deactivate()
    {
        if (bStubActive)
        {
            SetComponentTickEnabled(false);
            bStubActive = false;
        }
    }
    void SetActive(bool bNewActive, bool bReset = false)
    {
        if (bNewActive)
        {
            Activate(bReset);
        }
        else
        {
            Deactivate();
        }
    }
    bool IsActive() const { return bStubActive; }
    virtual void TickComponent(float DeltaTime, enum ELevelTick TickType, FActorComponentTickFunction* ThisTickFunction) {}
    virtual void OnComponentDestroyed(bool bDestroyingHierarchy) {}
    /// What the engine does at the start and end of play.
    void StubBegin() { BeginPlay(); }
    void StubEnd(EEndPlayReason::Type Reason = EEndPlayReason::Destroyed) { EndPlay(Reason); }

protected:
    virtual void BeginPlay() { bStubBegunPlay = true; }
public:
    virtual void EndPlay(const EEndPlayReason::Type EndPlayReason) { bStubBegunPlay = false; }

private:
    bool bStubRegistered = false;
    bool bStubBegunPlay = false;
    bool bStubActive = false;
};
