// UWorld.
// Source: MothCocoon/FlowGraph Source/Flow/Private/FlowSubsystem.cpp, CesiumGS/cesium-unreal
// Source/CesiumRuntime/Private/Cesium3DTileset.cpp
#pragma once

#include "Engine/EngineTypes.h"
#include "TimerManager.h"
#include "UObject/Object.h"

class UGameInstance;
class AActor;

// Source: JonasReich/OpenUnrealUtilities Source/OUUBlueprintRuntime/Public/Core/WorldBlueprintLibrary.h
namespace EWorldType
{
// Source: JonasReich/OpenUnrealUtilities Source/OUUBlueprintRuntime/Public/Core/WorldBlueprintLibrary.h
enum Type
{
    None,
    Game,
    Editor,
    PIE,
    EditorPreview,
    GamePreview,
    GameRPC,
    Inactive
};
} // namespace EWorldType

// Source: MothCocoon/FlowGraph Source/Flow/Private/FlowSubsystem.cpp, CesiumGS/cesium-unreal
// Source/CesiumRuntime/Private/CesiumGeoreference.cpp
class UWorld : public UObject
{
    STUB_CLASS_BODY(UWorld, UObject)
    UGameInstance* GetGameInstance() const { return StubGameInstance; }
    template <class T>
    T* GetGameInstance() const
    {
        return Cast<T>(reinterpret_cast<const UObject*>(StubGameInstance));
    }
    UWorld* GetWorld() const override { return const_cast<UWorld*>(this); }
    bool IsGameWorld() const
    {
        return WorldType == EWorldType::Game || WorldType == EWorldType::PIE || WorldType == EWorldType::GamePreview;
    }
    bool IsPlayInEditor() const { return WorldType == EWorldType::PIE; }
    double GetTimeSeconds() const { return StubSeconds; }
    double GetRealTimeSeconds() const { return StubSeconds; }
    float GetDeltaSeconds() const { return 0.016f; }
    bool HasBegunPlay() const { return bBegunPlay; }
    FTimerManager& GetTimerManager() const { return StubTimers; }
    template <class T>
    T* SpawnActor();
    EWorldType::Type WorldType = EWorldType::Game;
    UGameInstance* StubGameInstance = nullptr;
    double StubSeconds = 0;
    bool bBegunPlay = true;
    mutable FTimerManager StubTimers;
};
