// FReimportHandler.
// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporterEditor/Public/PreImportedSoundFactory.h
#pragma once

#include "UObject/Object.h"

// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporterEditor/Private/PreImportedSoundFactory.cpp
namespace EReimportResult
{
// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporterEditor/Private/PreImportedSoundFactory.cpp
enum Type
{
    Failed,
    Succeeded,
    Cancelled
};
} // namespace EReimportResult

// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporterEditor/Public/PreImportedSoundFactory.h
class FReimportHandler
{
public:
    virtual ~FReimportHandler() = default;
    virtual bool CanReimport(UObject* Obj, TArray<FString>& OutFilenames) = 0;
    virtual void SetReimportPaths(UObject* Obj, const TArray<FString>& NewReimportPaths) = 0;
    virtual EReimportResult::Type Reimport(UObject* Obj) = 0;
    virtual int32 GetPriority() const { return 100; }
    virtual bool IsInterchange() const { return false; }
};
