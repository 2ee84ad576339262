// Part of the delegates.
// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowSubsystem.h
#pragma once
#include "Delegates/Delegate.h"
