// FAssetRegistryModule.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Graph/FlowGraphSchema.cpp
// (FModuleManager::LoadModuleChecked<FAssetRegistryModule>)
#pragma once

#include "AssetRegistry/IAssetRegistry.h"
#include "Modules/ModuleManager.h"

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Graph/FlowGraphSchema.cpp
class FAssetRegistryModule : public IModuleInterface
{
public:
    IAssetRegistry& Get() const { return IAssetRegistry::GetChecked(); }
    static void AssetCreated(UObject* NewAsset) {}
};
