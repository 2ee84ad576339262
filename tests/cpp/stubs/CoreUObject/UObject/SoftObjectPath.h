// The path of an asset.
// Source: BenPyton/ProceduralDungeon Source/ProceduralDungeon/Private/Utils/DungeonSaveUtils.cpp
#pragma once

#include "UObject/UObjectGlobals.h"

// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgDialogue.cpp
struct FSoftObjectPath
{
    FSoftObjectPath() = default;
    FSoftObjectPath(const FString& InPath)
        : Path(InPath)
    {
    }
    FSoftObjectPath(const TCHAR* InPath)
        : Path(InPath)
    {
    }
    FSoftObjectPath(const UObject* Object)
        : Path(Object == nullptr ? FString() : Object->GetPathName())
    {
    }
    UObject* ResolveObject() const { return IsNull() ? nullptr : StaticFindObject(UObject::StaticClass(), nullptr, *Path); }
    UObject* TryLoad() const { return ResolveObject(); }
    bool IsNull() const { return Path.IsEmpty(); }
    bool IsValid() const { return !Path.IsEmpty(); }
    const FString& ToString() const { return Path; }
    FString GetLongPackageName() const
    {
        int32 At = INDEX_NONE;
        return Path.FindChar('.', At) ? Path.Left(At) : Path;
    }
    FString GetAssetName() const
    {
        int32 At = INDEX_NONE;
        return Path.FindChar('.', At) ? Path.Mid(At + 1) : FString();
    }
    void Reset() { Path.Empty(); }
    bool operator==(const FSoftObjectPath& Other) const { return Path == Other.Path; }
    bool operator!=(const FSoftObjectPath& Other) const { return Path != Other.Path; }

private:
    FString Path;
};
