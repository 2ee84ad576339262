// The editor module: tells the editor of workflows, casts and tabs, and takes exactly that back.
#include "ParleyEditorModule.h"

#include "EditorSidecar.h"
#include "ParleyTabs.h"
#include "Registrations.h"
#include "WorkflowAssetActions.h"
#include "WorkflowDetails.h"
#include "WorkflowSession.h"

#include "AssetToolsModule.h"
#include "DialogueCast.h"
#include "IAssetTools.h"
#include "Modules/ModuleManager.h"
#include "ParleyNode.h"
#include "ParleyWorkflow.h"
#include "PropertyEditorDelegates.h"
#include "PropertyEditorModule.h"

#define LOCTEXT_NAMESPACE "ParleyEditorModule"

namespace Parley::EditorModuleLocal
{

const FName ModuleName(TEXT("ParleyEditor"));
const FName PropertyEditor(TEXT("PropertyEditor"));
const FName AssetTools(TEXT("AssetTools"));

} // namespace Parley::EditorModuleLocal

FParleyEditorModule::FParleyEditorModule() = default;
FParleyEditorModule::~FParleyEditorModule() = default;

FParleyEditorModule* FParleyEditorModule::GetIfLoaded()
{
    return FModuleManager::GetModulePtr<FParleyEditorModule>(Parley::EditorModuleLocal::ModuleName);
}

void FParleyEditorModule::StartupModule()
{
    Registrations = MakeShared<FParleyRegistrations>();
    Sidecar = MakeShared<FParleyEditorSidecar>();
    RegisterDetails();
    RegisterAssets();
    FParleyTabs::Register(*Registrations);
}

void FParleyEditorModule::ShutdownModule()
{
    if (Registrations.IsValid())
    {
        Registrations->UndoAll();
        Registrations.Reset();
    }
    FParleyWorkflowSession::ForgetAll();
    Sidecar.Reset();
}

TArray<FString> FParleyEditorModule::GetRegistrations() const
{
    return Registrations.IsValid() ? Registrations->GetNames() : TArray<FString>();
}

void FParleyEditorModule::RegisterDetails()
{
    using namespace Parley::EditorModuleLocal;
    FPropertyEditorModule& Editor = FModuleManager::LoadModuleChecked<FPropertyEditorModule>(PropertyEditor);
    // The classes of node types are found by their base.
    for (const FName& Class : {UParleyWorkflow::StaticClass()->GetFName(), UParleyNode::StaticClass()->GetFName()})
    {
        Editor.RegisterCustomClassLayout(Class, FOnGetDetailCustomizationInstance::CreateStatic(&FParleyWorkflowDetails::MakeInstance));
        Registrations->Add(TEXT("details of ") + Class.ToString(), [Class]()
        {
            if (FPropertyEditorModule* Loaded = FModuleManager::GetModulePtr<FPropertyEditorModule>(PropertyEditor))
            {
                Loaded->UnregisterCustomClassLayout(Class);
            }
        });
    }
    Editor.NotifyCustomizationModuleChanged();
}

void FParleyEditorModule::RegisterAssets()
{
    using namespace Parley::EditorModuleLocal;
    IAssetTools& Tools = FModuleManager::LoadModuleChecked<FAssetToolsModule>(AssetTools).Get();
    // Categories are for ever: a second one of the same name is the same.
    const EAssetTypeCategories::Type Category = Tools.RegisterAdvancedAssetCategory(FName(TEXT("Parley")), LOCTEXT("Category", "Parley"));
    const TSharedRef<IAssetTypeActions> Actions[] = {
        MakeShared<FParleyWorkflowActions>(Category), MakeShared<FParleyCastActions>(Category)};
    for (const TSharedRef<IAssetTypeActions>& Each : Actions)
    {
        Tools.RegisterAssetTypeActions(Each);
        Registrations->Add(TEXT("actions of ") + Each->GetSupportedClass()->GetName(), [Each]()
        {
            if (FAssetToolsModule* Loaded = FModuleManager::GetModulePtr<FAssetToolsModule>(AssetTools))
            {
                Loaded->Get().UnregisterAssetTypeActions(Each);
            }
        });
    }
}

#undef LOCTEXT_NAMESPACE

IMPLEMENT_MODULE(FParleyEditorModule, ParleyEditor)
