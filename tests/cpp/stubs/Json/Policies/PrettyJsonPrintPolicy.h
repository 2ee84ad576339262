// Tabs and line ends.
// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Private/VoxelMinimal/Utilities/VoxelStringUtilities.cpp (TPrettyJsonPrintPolicy)
#pragma once

#include "CoreMinimal.h"

// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Private/VoxelMinimal/Utilities/VoxelStringUtilities.cpp
template <class CharType>
struct TPrettyJsonPrintPolicy
{
    static constexpr bool bPretty = true;
};
