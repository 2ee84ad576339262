// FAssetData.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Utils/SLevelEditorFlow.cpp (GetAsset), NotYetGames/DlgSystem
// Source/DlgSystemEditor/DlgEditorUtilities.cpp
#pragma once

#include "UObject/Object.h"

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Utils/SLevelEditorFlow.cpp
struct FAssetData
{
    FAssetData() = default;
    FAssetData(const UObject* InAsset)
        : AssetName(InAsset == nullptr ? FName() : InAsset->GetFName())
        , StubAsset(const_cast<UObject*>(InAsset))
    {
    }
    UObject* GetAsset() const { return StubAsset.Get(); }
    bool IsValid() const { return StubAsset.IsValid(); }
    FString GetObjectPathString() const { return StubAsset.IsValid() ? StubAsset->GetPathName() : FString(); }
    FName AssetName;
    TWeakObjectPtr<UObject> StubAsset;
};
