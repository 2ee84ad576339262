// The engine's basic types.
// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowOwnerFunctionParams.h (reached through CoreMinimal.h)
#pragma once
#include "HAL/Platform.h"
