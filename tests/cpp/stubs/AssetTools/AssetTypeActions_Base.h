// FAssetTypeActions_Base.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Public/Asset/AssetTypeActions_FlowAsset.h, NotYetGames/DlgSystem
// Source/DlgSystemEditor/AssetTypeActions/DlgDialogueAssetTypeActions.h
#pragma once

#include "IAssetTypeActions.h"

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/AssetTypeActions/DlgDialogueAssetTypeActions.h
class FAssetTypeActions_Base : public IAssetTypeActions
{
public:
    virtual bool HasActions(const TArray<UObject*>& InObjects) const override { return false; }
    virtual void GetActions(const TArray<UObject*>& InObjects, FToolMenuSection& Section) override {}
    virtual bool IsImportedAsset() const override { return false; }
    virtual void GetResolvedSourceFilePaths(const TArray<UObject*>& TypeAssets, TArray<FString>& OutSourceFilePaths) const override {}
};
