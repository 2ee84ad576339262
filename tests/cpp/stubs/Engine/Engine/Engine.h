// UEngine and GEngine.
// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgManager.cpp (GEngine)
#pragma once

#include "Engine/GameInstance.h"
#include "Engine/World.h"
#include "Subsystems/EngineSubsystem.h"

// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgManager.cpp, CesiumGS/cesium-unreal
// Source/CesiumRuntime/Private/CesiumOriginShiftComponent.cpp
enum class EGetWorldErrorMode
{
    ReturnNull,
    LogAndReturnNull,
    Assert
};

// Source: Sixze/ALS-Refactored Source/ALS/Private/AlsCharacter_Debug.cpp (the class), NotYetGames/DlgSystem
// Source/DlgSystem/DlgManager.cpp (GEngine->GetWorldFromContextObject)
class ENGINE_API UEngine : public UObject
{
    STUB_CLASS_BODY(UEngine, UObject)
    UWorld* GetWorldFromContextObject(const UObject* Object, EGetWorldErrorMode ErrorMode) const
    {
        return Object == nullptr ? nullptr : Object->GetWorld();
    }
    template <class T>
    T* GetEngineSubsystem() const
    {
        return static_cast<T*>(T::StaticClass()->GetDefaultObject());
    }

    // Source: MothCocoon/FlowGraph Source/Flow/Private/Nodes/Utils/FlowNode_Log.cpp (-1: a line of its own; else the line
    // of that key is written anew), DrRaedAbbas/MGS Plugins/MGS_Online/Source/MGS_Online/Private/MGSFunctionLibrary.cpp
    void AddOnScreenDebugMessage(int32 Key, float TimeToDisplay, FColor DisplayColor, const FString& DebugMessage)
    {
        (void)TimeToDisplay;
        (void)DisplayColor;
        StubOnScreen.Add(Key, DebugMessage);
    }

    /// What is on the screen, by its key.
    TMap<int32, FString> StubOnScreen;
};
extern ENGINE_API UEngine* GEngine;
