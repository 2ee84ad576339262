// TWeakObjectPtr.
// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowSubsystem.h
#pragma once
#include "UObject/WeakObjectPtrTemplates.h"
