// FToolMenuSection.
// Source: dev.epicgames.com/documentation/unreal-engine/API/Developer/ToolMenus/FToolMenuSection/AddMenuEntry/3?application_version=5.4
#pragma once

#include "Framework/Commands/UIAction.h"
#include "Misc/Attribute.h"
#include "Textures/SlateIcon.h"

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Asset/FlowAssetToolbar.cpp
struct FToolMenuEntry
{
    FName Name;
    FText StubLabel;
    FUIAction StubAction;
};

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Graph/Nodes/FlowGraphNode.cpp
struct FToolMenuSection
{
    FToolMenuEntry& AddMenuEntry(const FName InName, const TAttribute<FText>& InLabel, const TAttribute<FText>& InToolTip,
        const TAttribute<FSlateIcon>& InIcon, const FUIAction& InAction)
    {
        return StubEntries.Add_GetRef({InName, InLabel.Get(), InAction});
    }
    TArray<FToolMenuEntry> StubEntries;
};
