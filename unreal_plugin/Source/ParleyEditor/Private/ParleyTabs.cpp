// The tabs of the editor: test chat, turn inspector, models.
#include "ParleyTabs.h"

#include "Registrations.h"
#include "SParleyModels.h"
#include "SParleyTestChat.h"
#include "SParleyTurnInspector.h"

#include "Framework/Docking/TabManager.h"
#include "ParleyWorkflow.h"
#include "Styling/AppStyle.h"
#include "Textures/SlateIcon.h"
#include "Widgets/Docking/SDockTab.h"
#include "WorkspaceMenuStructure.h"
#include "WorkspaceMenuStructureModule.h"

#define LOCTEXT_NAMESPACE "ParleyTabs"

namespace Parley::TabsLocal
{

struct FState
{
    TWeakPtr<SParleyTestChat> Chat;
    std::shared_ptr<const Editor::TurnInspectorModel> Turn;
    FParleyTurnShown OnTurnShown;
};

FState& State()
{
    static FState Kept;
    return Kept;
}

TSharedRef<SDockTab> SpawnChat(const FSpawnTabArgs&)
{
    const TSharedRef<SParleyTestChat> Content = SNew(SParleyTestChat);
    State().Chat = Content;
    return SNew(SDockTab).TabRole(ETabRole::NomadTab)[Content];
}

TSharedRef<SDockTab> SpawnTurn(const FSpawnTabArgs&)
{
    return SNew(SDockTab).TabRole(ETabRole::NomadTab)[SNew(SParleyTurnInspector)];
}

TSharedRef<SDockTab> SpawnModels(const FSpawnTabArgs&)
{
    return SNew(SDockTab).TabRole(ETabRole::NomadTab)[SNew(SParleyModels)];
}

void RegisterOne(FParleyRegistrations& Registrations, const FName& Id, FOnSpawnTab Spawn, const FText& Name, const FText& Tooltip)
{
    FGlobalTabmanager::Get()->RegisterNomadTabSpawner(Id, Spawn)
        .SetDisplayName(Name)
        .SetTooltipText(Tooltip)
        .SetGroup(WorkspaceMenu::GetMenuStructure().GetToolsCategory())
        .SetIcon(FSlateIcon(FAppStyle::GetAppStyleSetName(), "LevelEditor.Tabs.Details"));
    // The tab manager is no module: it is there as long as modules are.
    Registrations.Add(TEXT("tab ") + Id.ToString(), [Id]() { FGlobalTabmanager::Get()->UnregisterNomadTabSpawner(Id); });
}

} // namespace Parley::TabsLocal

const FName FParleyTabs::Chat(TEXT("ParleyTestChat"));
const FName FParleyTabs::Turn(TEXT("ParleyTurnInspector"));
const FName FParleyTabs::Models(TEXT("ParleyModels"));

void FParleyTabs::Register(FParleyRegistrations& Registrations)
{
    using namespace Parley::TabsLocal;
    RegisterOne(
        Registrations, Chat, FOnSpawnTab::CreateStatic(&SpawnChat), LOCTEXT("Chat", "Parley Test Chat"),
        LOCTEXT("ChatTip", "Talk with a workflow, without Play."));
    RegisterOne(
        Registrations, Turn, FOnSpawnTab::CreateStatic(&SpawnTurn), LOCTEXT("Turn", "Parley Turn Inspector"),
        LOCTEXT("TurnTip", "What became of a turn, step by step."));
    RegisterOne(
        Registrations, Models, FOnSpawnTab::CreateStatic(&SpawnModels), LOCTEXT("Models", "Parley Models"),
        LOCTEXT("ModelsTip", "The models of the catalog: download, load, remove."));
    // What is kept for the tabs goes with the module.
    Registrations.Add(TEXT("state of the tabs"), []() { State() = FState(); });
}

void FParleyTabs::OpenChat(UParleyWorkflow* Workflow)
{
    FGlobalTabmanager::Get()->TryInvokeTab(FTabId(Chat));
    const TSharedPtr<SParleyTestChat> Content = Parley::TabsLocal::State().Chat.Pin();
    if (Content.IsValid() && Workflow != nullptr)
    {
        Content->Choose(Workflow);
    }
}

void FParleyTabs::OpenTurn(std::shared_ptr<const Parley::Editor::TurnInspectorModel> Shown)
{
    if (Shown)
    {
        ShowTurn(MoveTemp(Shown));
    }
    FGlobalTabmanager::Get()->TryInvokeTab(FTabId(Turn));
}

const std::shared_ptr<const Parley::Editor::TurnInspectorModel>& FParleyTabs::GetTurn()
{
    return Parley::TabsLocal::State().Turn;
}

void FParleyTabs::ShowTurn(std::shared_ptr<const Parley::Editor::TurnInspectorModel> Shown)
{
    Parley::TabsLocal::State().Turn = MoveTemp(Shown);
    Parley::TabsLocal::State().OnTurnShown.Broadcast();
}

FParleyTurnShown& FParleyTabs::OnTurnShown()
{
    return Parley::TabsLocal::State().OnTurnShown;
}

#undef LOCTEXT_NAMESPACE
