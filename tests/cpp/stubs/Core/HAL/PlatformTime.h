// FPlatformTime.
// Source: getnamo/Llama-Unreal Source/LlamaCore/Private/LlamaNative.cpp
#pragma once

#include "HAL/Platform.h"

// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Private/VoxelTaskContext.cpp
struct CORE_API FPlatformTime
{
    static double Seconds();
    static uint32 Cycles();
    static uint64 Cycles64();
};

namespace StubEngine
{
/// Lets so many seconds pass at once, beside those that pass by themselves.
CORE_API void PassTime(double Seconds);
} // namespace StubEngine
