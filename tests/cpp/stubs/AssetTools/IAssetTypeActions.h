// IAssetTypeActions.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Public/Asset/AssetTypeActions_FlowAsset.h, NotYetGames/DlgSystem
// Source/DlgSystemEditor/AssetTypeActions/DlgDialogueAssetTypeActions.h
#pragma once

#include "AssetTypeCategories.h"
#include "UObject/Object.h"

struct FToolMenuSection;
class IToolkitHost;

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/AssetTypeActions/DlgBlueprintDerivedAssetTypeActions.h
class IAssetTypeActions
{
public:
    virtual ~IAssetTypeActions() = default;
    virtual FText GetName() const = 0;
    virtual UClass* GetSupportedClass() const = 0;
    virtual FColor GetTypeColor() const = 0;
    virtual bool HasActions(const TArray<UObject*>& InObjects) const = 0;
    virtual void GetActions(const TArray<UObject*>& InObjects, FToolMenuSection& Section) = 0;
    virtual uint32 GetCategories() = 0;
    virtual bool IsImportedAsset() const = 0;
    virtual void GetResolvedSourceFilePaths(const TArray<UObject*>& TypeAssets, TArray<FString>& OutSourceFilePaths) const = 0;
};
