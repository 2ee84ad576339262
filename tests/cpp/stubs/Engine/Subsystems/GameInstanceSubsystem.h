// UGameInstanceSubsystem.
// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowSubsystem.h
#pragma once

#include "Subsystems/Subsystem.h"

class UGameInstance;

// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowSubsystem.h
class ENGINE_API UGameInstanceSubsystem : public USubsystem
{
    STUB_CLASS_BODY(UGameInstanceSubsystem, USubsystem)
    UGameInstance* GetGameInstance() const;
};
