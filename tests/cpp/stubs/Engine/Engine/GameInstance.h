// UGameInstance; its subsystems are made when they are asked for first, and ended by StubShutdown.
// Source: MothCocoon/FlowGraph Source/Flow/Private/FlowComponent.cpp (GetGameInstance()->GetSubsystem<UFlowSubsystem>())
#pragma once

#include "Engine/World.h"
#include "Subsystems/GameInstanceSubsystem.h"
#include "UObject/Object.h"

// Source: JonasReich/OpenUnrealUtilities Source/OUUTestUtilities/Public/AutomationTestWorld.h
class ENGINE_API UGameInstance : public UObject
{
    STUB_CLASS_BODY(UGameInstance, UObject)
    UWorld* GetWorld() const override { return StubWorld; }
    template <class T>
    T* GetSubsystem() const
    {
        return static_cast<T*>(const_cast<UGameInstance*>(this)->StubSubsystem(T::StaticClass()));
    }
    template <class T>
    static T* GetSubsystem(const UGameInstance* GameInstance)
    {
        return GameInstance == nullptr ? nullptr : GameInstance->GetSubsystem<T>();
    }
    virtual void Init() {}
    virtual void Shutdown() {}
    FTimerManager& GetTimerManager() const { return StubTimers; }
    USubsystem* StubSubsystem(UClass* Class);
    void StubShutdown();
    UWorld* StubWorld = nullptr;
    TArray<TObjectPtr<USubsystem>> StubSubsystems;
    mutable FTimerManager StubTimers;
    bool bStubShut = false;
};
