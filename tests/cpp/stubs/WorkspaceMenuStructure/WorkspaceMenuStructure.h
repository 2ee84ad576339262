// The editor's menu of tabs.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumEditor.cpp (GetLevelEditorCategory), NotYetGames/DlgSystem
// Source/DlgSystemEditor/DlgSystemEditorModule.cpp (GetToolsCategory)
#pragma once

#include "Framework/Docking/WorkspaceItem.h"

// Source: dev.epicgames.com/documentation/en-us/unreal-engine/API/Editor/WorkspaceMenuStructure/IWorkspaceMenuStructure
class IWorkspaceMenuStructure
{
public:
    TSharedRef<FWorkspaceItem> GetToolsCategory() const { return StubTools; }
    TSharedRef<FWorkspaceItem> GetLevelEditorCategory() const { return StubTools; }
    TSharedRef<FWorkspaceItem> StubTools = MakeShared<FWorkspaceItem>();
};
