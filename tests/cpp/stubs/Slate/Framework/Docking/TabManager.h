// FGlobalTabmanager.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumEditor.cpp (RegisterNomadTabSpawner, SetGroup,
// UnregisterNomadTabSpawner, TryInvokeTab)
#pragma once

#include "Framework/Docking/WorkspaceItem.h"
#include "Widgets/Docking/SDockTab.h"

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumEditor.cpp
class FSpawnTabArgs
{
};
DECLARE_DELEGATE_RetVal_OneParam(TSharedRef<SDockTab>, FOnSpawnTab, const FSpawnTabArgs&)

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumEditor.cpp
struct FTabId
{
    FTabId(const FName InTabType)
        : TabType(InTabType)
    {
    }
    FName TabType;
};

// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgSystemModule.h
struct FTabSpawnerEntry
{
    FTabSpawnerEntry& SetDisplayName(const TAttribute<FText>& InName)
    {
        StubName = InName.Get();
        return *this;
    }
    FTabSpawnerEntry& SetTooltipText(const TAttribute<FText>& InText)
    {
        StubToolTip = InText.Get();
        return *this;
    }
    FTabSpawnerEntry& SetGroup(const TSharedRef<FWorkspaceItem>& InGroup)
    {
        StubGroup = InGroup;
        return *this;
    }
    FTabSpawnerEntry& SetIcon(const FSlateIcon& InIcon)
    {
        StubIcon = InIcon;
        return *this;
    }
    FOnSpawnTab StubSpawn;
    FText StubName;
    FText StubToolTip;
    FSlateIcon StubIcon;
    TSharedPtr<FWorkspaceItem> StubGroup;
    TSharedPtr<SDockTab> StubOpen;
};

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumEditor.cpp (FGlobalTabmanager::Get()->…)
class FGlobalTabmanager
{
public:
    static const TSharedRef<FGlobalTabmanager>& Get()
    {
        static const TSharedRef<FGlobalTabmanager> Only = MakeShared<FGlobalTabmanager>();
        return Only;
    }
    FTabSpawnerEntry& RegisterNomadTabSpawner(const FName TabId, const FOnSpawnTab& OnSpawnTab)
    {
        check(!StubTabs.Contains(TabId));
        TSharedRef<FTabSpawnerEntry> Made = MakeShared<FTabSpawnerEntry>();
        Made->StubSpawn = OnSpawnTab;
        StubTabs.Add(TabId, Made);
        return *Made;
    }
    bool UnregisterNomadTabSpawner(const FName TabId) { return StubTabs.Remove(TabId) > 0; }
    bool HasTabSpawner(FName TabId) const { return StubTabs.Contains(TabId); }
    TSharedPtr<SDockTab> TryInvokeTab(const FTabId& TabId)
    {
        const TSharedPtr<FTabSpawnerEntry> Found = StubTabs.FindRef(TabId.TabType);
        if (!Found.IsValid())
        {
            return nullptr;
        }
        if (!Found->StubOpen.IsValid())
        {
            Found->StubOpen = Found->StubSpawn.Execute(FSpawnTabArgs());
        }
        return Found->StubOpen;
    }
    TMap<FName, TSharedPtr<FTabSpawnerEntry>> StubTabs;
};
