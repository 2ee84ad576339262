// FSubsystemCollectionBase.
// Source: MothCocoon/FlowGraph Source/Flow/Private/FlowSubsystem.cpp
#pragma once
#include "Subsystems/Subsystem.h"
