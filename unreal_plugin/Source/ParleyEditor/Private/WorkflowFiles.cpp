// Workflow files into assets and out of them, by the editor's file dialogs.
#include "WorkflowFiles.h"

#include "WorkflowSession.h"

#include "DesktopPlatformModule.h"
#include "Framework/Application/SlateApplication.h"
#include "IDesktopPlatform.h"
#include "Misc/Paths.h"
#include "ParleyWorkflow.h"
#include "ScopedTransaction.h"

#define LOCTEXT_NAMESPACE "ParleyWorkflowFiles"

namespace Parley::WorkflowFilesLocal
{

const TCHAR* const Filter = TEXT("Workflow (*.workflow.json)|*.workflow.json|JSON (*.json)|*.json");

const void* Window()
{
    return FSlateApplication::Get().FindBestParentWindowHandleForDialogs(nullptr);
}

} // namespace Parley::WorkflowFilesLocal

const TCHAR* const FParleyWorkflowFiles::Extension = TEXT("workflow.json");

bool FParleyWorkflowFiles::IsWorkflow(const FString& Path)
{
    return Path.EndsWith(FString(TEXT(".")) + Extension, ESearchCase::IgnoreCase);
}

bool FParleyWorkflowFiles::ImportInto(FParleyWorkflowSession& Session, FString& Fault)
{
    Fault.Reset();
    UParleyWorkflow* Asset = Session.Store.GetAsset();
    IDesktopPlatform* Desktop = FDesktopPlatformModule::Get();
    TArray<FString> Chosen;
    const FString Title = LOCTEXT("Import", "Import Workflow").ToString();
    const bool bIsChosen = Asset != nullptr && Desktop != nullptr
        && Desktop->OpenFileDialog(
            Parley::WorkflowFilesLocal::Window(), Title, FString(), FString(), Parley::WorkflowFilesLocal::Filter,
            EFileDialogFlags::None, Chosen)
        && Chosen.Num() > 0;
    return bIsChosen && ImportInto(Asset, Chosen[0], Fault);
}

bool FParleyWorkflowFiles::ImportInto(UParleyWorkflow* Asset, const FString& Path, FString& Fault)
{
    // Read beside first: a file that cannot be read must leave neither a change nor a transaction.
    UParleyWorkflow* Read = NewObject<UParleyWorkflow>();
    if (!Read->ImportFile(Path, Fault))
    {
        return false;
    }
    const FScopedTransaction Transaction(LOCTEXT("ImportInto", "Import Workflow"));
    FParleyWorkflowAssetStore::Modify(*Asset);
    const bool bIsDone = Asset->ImportFile(Path, Fault);
    Asset->PostEditChange();
    return bIsDone;
}

bool FParleyWorkflowFiles::Export(const UParleyWorkflow* Asset, FString& Fault)
{
    Fault.Reset();
    IDesktopPlatform* Desktop = FDesktopPlatformModule::Get();
    if (Asset == nullptr || Desktop == nullptr)
    {
        return false;
    }
    TArray<FString> Chosen;
    const FString Title = LOCTEXT("Export", "Export Workflow").ToString();
    const FString Name = Asset->GetName() + TEXT(".") + Extension;
    const bool bIsChosen = Desktop->SaveFileDialog(
        Parley::WorkflowFilesLocal::Window(), Title, FString(), Name, Parley::WorkflowFilesLocal::Filter, EFileDialogFlags::None, Chosen);
    return bIsChosen && Chosen.Num() > 0 && Asset->ExportFile(FPaths::ConvertRelativePathToFull(Chosen[0]), Fault);
}

#undef LOCTEXT_NAMESPACE
