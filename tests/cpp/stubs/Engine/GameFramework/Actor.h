// AActor.
// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Public/CesiumGeoreference.h, MothCocoon/FlowGraph
// Source/Flow/Private/FlowComponent.cpp
#pragma once

#include "Components/ActorComponent.h"
#include "Engine/World.h"

class USceneComponent;

// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Private/CesiumGeoreference.cpp
class ENGINE_API AActor : public UObject
{
    STUB_CLASS_BODY(AActor, UObject)
    FActorTickFunction PrimaryActorTick;
    UWorld* GetWorld() const override { return StubWorld; }
    UGameInstance* GetGameInstance() const;
    void SetActorTickEnabled(bool bEnabled) { PrimaryActorTick.bStubEnabled = bEnabled; }
    void SetRootComponent(USceneComponent* NewRootComponent) { RootComponent = NewRootComponent; }
    USceneComponent* GetRootComponent() const { return RootComponent; }
    FVector GetActorLocation() const { return StubLocation; }
    bool SetActorLocation(const FVector& NewLocation)
    {
        StubLocation = NewLocation;
        return true;
    }
    template <class T>
    T* FindComponentByClass() const
    {
        for (UObject* Object : StubEngine::AllObjects())
        {
            if (Object->GetOuter() == this && Object->IsA(T::StaticClass()))
            {
                return static_cast<T*>(Object);
            }
        }
        return nullptr;
    }
    template <class T>
    void GetComponents(TArray<T*>& Out) const
    {
        Out.Reset();
        for (UObject* Object : StubEngine::AllObjects())
        {
            if (Object->GetOuter() == this && Object->IsA(T::StaticClass()))
            {
                Out.Add(static_cast<T*>(Object));
            }
        }
    }
    bool HasActorBegunPlay() const { return bStubBegunPlay; }
    bool Destroy(bool bNetForce = false, bool bShouldModifyLevel = true);
    virtual void Tick(float DeltaSeconds) {}
    virtual void PostInitializeComponents() {}
    virtual void OnConstruction(const struct FTransform& Transform) {}
    /// What the engine does at the start and end of play: the components too.
    void StubBegin();
    void StubEnd(EEndPlayReason::Type Reason = EEndPlayReason::Destroyed);
    UWorld* StubWorld = nullptr;

protected:
    virtual void BeginPlay() { bStubBegunPlay = true; }
    virtual void EndPlay(const EEndPlayReason::Type EndPlayReason) { bStubBegunPlay = false; }
    TObjectPtr<USceneComponent> RootComponent;

private:
    FVector StubLocation;
    bool bStubBegunPlay = false;
};

template <class T>
T* UWorld::SpawnActor()
{
    T* Made = NewObject<T>(this);
    Made->StubWorld = this;
    return Made;
}
