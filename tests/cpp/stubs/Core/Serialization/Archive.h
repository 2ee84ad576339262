// FArchive: takes bytes.
// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Public/VoxelSafeArchive.h, unrealcv/unrealcv
// Source/UnrealCV/Private/Utils/StrFormatter.h (a class of its own from it)
#pragma once

#include "CoreMinimal.h"

// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Public/VoxelSafeArchive.h
class FArchive
{
public:
    virtual ~FArchive() = default;
    virtual void Serialize(void* V, int64 Length) { StubBytes.Append(static_cast<const uint8*>(V), static_cast<int32>(Length)); }
    bool IsSaving() const { return true; }
    bool IsLoading() const { return false; }
    TArray<uint8> StubBytes;
};
