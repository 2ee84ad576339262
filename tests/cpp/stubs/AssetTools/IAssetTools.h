// IAssetTools.
// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/DlgSystemEditorModule.cpp, MothCocoon/FlowGraph
// Source/FlowEditor/Private/FlowEditorModule.cpp (RegisterAssetTypeActions, UnregisterAssetTypeActions)
#pragma once

#include "IAssetTypeActions.h"

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/FlowEditorModule.cpp
class IAssetTools
{
public:
    void RegisterAssetTypeActions(const TSharedRef<IAssetTypeActions>& NewActions) { StubActions.Add(NewActions); }
    void UnregisterAssetTypeActions(const TSharedRef<IAssetTypeActions>& ActionsToRemove)
    {
        StubActions.RemoveAll([&ActionsToRemove](const TSharedRef<IAssetTypeActions>& One) { return One == ActionsToRemove; });
    }
    EAssetTypeCategories::Type RegisterAdvancedAssetCategory(FName CategoryKey, FText CategoryDisplayName)
    {
        int32 At = StubCategories.Find(CategoryKey);
        At = At == INDEX_NONE ? StubCategories.Add(CategoryKey) : At;
        return static_cast<EAssetTypeCategories::Type>(EAssetTypeCategories::FirstUser << At);
    }
    TArray<TSharedRef<IAssetTypeActions>> StubActions;
    TArray<FName> StubCategories;
};
