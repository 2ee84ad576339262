// Reasons, timers' handles and tick's words of actors and components.
// Source: MothCocoon/FlowGraph Source/Flow/Private/FlowComponent.cpp (EEndPlayReason, ELevelTick)
#pragma once

#include "UObject/Object.h"

// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowComponent.h (EndPlay(const EEndPlayReason::Type))
namespace EEndPlayReason
{
// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowComponent.h
enum Type : int
{
    Destroyed,
    LevelTransition,
    EndPlayInEditor,
    RemovedFromWorld,
    Quit,
};
} // namespace EEndPlayReason

// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Public/CesiumFlyToComponent.h (TickComponent)
enum ELevelTick
{
    LEVELTICK_TimeOnly = 0,
    LEVELTICK_ViewportsOnly = 1,
    LEVELTICK_All = 2,
    LEVELTICK_PauseTick = 3,
};

// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Private/CesiumOriginShiftComponent.cpp (TG_PrePhysics)
enum ETickingGroup : int
{
    TG_PrePhysics,
    TG_DuringPhysics,
    TG_PostPhysics,
    TG_PostUpdateWork,
};

// Source: dev.epicgames.com/documentation/en-us/unreal-engine/API/Runtime/Engine/FTickFunction (the class), CesiumGS/cesium-unreal
// Source/CesiumRuntime/Private/CesiumOriginShiftComponent.cpp (PrimaryComponentTick.bCanEverTick)
struct FTickFunction
{
    ETickingGroup TickGroup = TG_PrePhysics;
    bool bCanEverTick = false;
    bool bStartWithTickEnabled = true;
    bool bTickEvenWhenPaused = false;
    float TickInterval = 0;
    bool bStubEnabled = true;
    void SetTickFunctionEnable(bool bInEnabled) { bStubEnabled = bInEnabled; }
    bool IsTickFunctionEnabled() const { return bStubEnabled; }
};
// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Public/CesiumFlyToComponent.h
struct FActorComponentTickFunction : FTickFunction
{
};
// Source: JonasReich/OpenUnrealUtilities Source/OUURuntime/Public/SequentialFrameScheduler/WorldBoundSFSchedulerRegistry.h
struct FActorTickFunction : FTickFunction
{
};

// Source: MothCocoon/FlowGraph Source/Flow/Public/Nodes/Route/FlowNode_Timer.h
struct FTimerHandle
{
    bool IsValid() const { return Id != 0; }
    void Invalidate() { Id = 0; }
    uint64 Id = 0;
};
