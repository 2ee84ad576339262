// What the content browser knows of workflows and casts.
#pragma once

#include "AssetTypeActions_Base.h"
#include "CoreMinimal.h"

struct FToolMenuSection;

/// Threading: the game thread.
class FParleyWorkflowActions final : public FAssetTypeActions_Base
{
public:
    explicit FParleyWorkflowActions(EAssetTypeCategories::Type InCategory);

    virtual FText GetName() const override;
    virtual FColor GetTypeColor() const override;
    virtual UClass* GetSupportedClass() const override;
    virtual uint32 GetCategories() override;
    virtual bool IsImportedAsset() const override;
    virtual void GetResolvedSourceFilePaths(const TArray<UObject*>& TypeAssets, TArray<FString>& OutSourceFilePaths) const override;
    virtual bool HasActions(const TArray<UObject*>& InObjects) const override;
    virtual void GetActions(const TArray<UObject*>& InObjects, FToolMenuSection& Section) override;

private:
    const EAssetTypeCategories::Type Category;
};

/// Threading: the game thread.
class FParleyCastActions final : public FAssetTypeActions_Base
{
public:
    explicit FParleyCastActions(EAssetTypeCategories::Type InCategory);

    virtual FText GetName() const override;
    virtual FColor GetTypeColor() const override;
    virtual UClass* GetSupportedClass() const override;
    virtual uint32 GetCategories() override;

private:
    const EAssetTypeCategories::Type Category;
};
