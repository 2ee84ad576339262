// FAssetToolsModule.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/FlowEditorModule.cpp (FModuleManager::LoadModuleChecked<FAssetToolsModule>)
#pragma once

#include "IAssetTools.h"
#include "Modules/ModuleManager.h"

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/FlowEditorModule.cpp
class FAssetToolsModule : public IModuleInterface
{
public:
    IAssetTools& Get() const { return StubTools; }
    mutable IAssetTools StubTools;
};
