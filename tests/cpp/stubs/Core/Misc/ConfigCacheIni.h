// GConfig: values live in memory.
// Source: ProjectBorealis/UEGitPlugin Source/GitSourceControl/Private/GitSourceControlSettings.cpp (GetString, SetString),
// ruyo/VRM4U Source/VRM4URender/Private/VrmCustomStencilNotification.cpp (Flush, GEditorPerProjectIni)
#pragma once

#include "Containers/Map.h"

// Source: dev.epicgames.com/documentation/en-us/unreal-engine/API/Runtime/Core/FConfigCacheIni
class CORE_API FConfigCacheIni
{
public:
    bool GetString(const TCHAR* Section, const TCHAR* Key, FString& Value, const FString& Filename)
    {
        const FString* Found = StubValues.Find(Filename + TEXT("|") + Section + TEXT("|") + Key);
        if (Found != nullptr)
        {
            Value = *Found;
        }
        return Found != nullptr;
    }
    void SetString(const TCHAR* Section, const TCHAR* Key, const TCHAR* Value, const FString& Filename)
    {
        StubValues.Add(Filename + TEXT("|") + Section + TEXT("|") + Key, FString(Value));
    }
    void Flush(bool bRemoveFromCache, const FString& Filename = FString()) {}
    TMap<FString, FString> StubValues;
};
extern CORE_API FConfigCacheIni* GConfig;
extern CORE_API FString GGameIni;
extern CORE_API FString GEditorPerProjectIni;
