// What the content browser knows of workflows and casts.
#include "WorkflowAssetActions.h"

#include "ParleyTabs.h"
#include "WorkflowFactory.h"
#include "WorkflowFiles.h"

#include "DialogueCast.h"
#include "Framework/Commands/UIAction.h"
#include "Misc/MessageDialog.h"
#include "ParleyWorkflow.h"
#include "Textures/SlateIcon.h"
#include "ToolMenuSection.h"

#define LOCTEXT_NAMESPACE "ParleyAssetActions"

FParleyWorkflowActions::FParleyWorkflowActions(EAssetTypeCategories::Type InCategory) : Category(InCategory)
{
}

FText FParleyWorkflowActions::GetName() const
{
    return LOCTEXT("Workflow", "Parley Workflow");
}

FColor FParleyWorkflowActions::GetTypeColor() const
{
    return FColor(90, 200, 170);
}

UClass* FParleyWorkflowActions::GetSupportedClass() const
{
    return UParleyWorkflow::StaticClass();
}

uint32 FParleyWorkflowActions::GetCategories()
{
    return Category;
}

bool FParleyWorkflowActions::IsImportedAsset() const
{
    return true;
}

void FParleyWorkflowActions::GetResolvedSourceFilePaths(const TArray<UObject*>& TypeAssets, TArray<FString>& OutSourceFilePaths) const
{
    for (UObject* Asset : TypeAssets)
    {
        const FString File = UParleyWorkflowImportFactory::GetSource(Cast<UParleyWorkflow>(Asset));
        if (!File.IsEmpty())
        {
            OutSourceFilePaths.Add(File);
        }
    }
}

bool FParleyWorkflowActions::HasActions(const TArray<UObject*>& InObjects) const
{
    return InObjects.Num() == 1;
}

void FParleyWorkflowActions::GetActions(const TArray<UObject*>& InObjects, FToolMenuSection& Section)
{
    UParleyWorkflow* Asset = InObjects.Num() == 1 ? Cast<UParleyWorkflow>(InObjects[0]) : nullptr;
    if (Asset == nullptr)
    {
        return;
    }
    const TWeakObjectPtr<UParleyWorkflow> Weak = Asset;
    Section.AddMenuEntry(
        TEXT("ParleyTestChat"), LOCTEXT("Chat", "Test Chat"), LOCTEXT("ChatTip", "Talk with this workflow, without Play."), FSlateIcon(),
        FUIAction(FExecuteAction::CreateLambda([Weak]() { FParleyTabs::OpenChat(Weak.Get()); })));
    Section.AddMenuEntry(
        TEXT("ParleyExport"), LOCTEXT("Export", "Export .workflow.json\u2026"),
        LOCTEXT("ExportTip", "Write the file as `parley` and other engines read it."), FSlateIcon(),
        FUIAction(FExecuteAction::CreateLambda([Weak]()
        {
            FString Fault;
            FParleyWorkflowFiles::Export(Weak.Get(), Fault);
            if (!Fault.IsEmpty())
            {
                FMessageDialog::Open(EAppMsgType::Ok, FText::FromString(Fault));
            }
        })));
}

FParleyCastActions::FParleyCastActions(EAssetTypeCategories::Type InCategory) : Category(InCategory)
{
}

FText FParleyCastActions::GetName() const
{
    return LOCTEXT("Cast", "Dialogue Cast");
}

FColor FParleyCastActions::GetTypeColor() const
{
    return FColor(200, 170, 90);
}

UClass* FParleyCastActions::GetSupportedClass() const
{
    return UDialogueCast::StaticClass();
}

uint32 FParleyCastActions::GetCategories()
{
    return Category;
}

#undef LOCTEXT_NAMESPACE
