// Assets: one transaction per edit, casts that follow, files in and out, what is registered.
#include "EngineDesk.h"

#include "AssetToolsModule.h"
#include "EditorSidecar.h"
#include "Framework/Docking/TabManager.h"
#include "Misc/FeedbackContext.h"
#include "Modules/ModuleManager.h"
#include "ParleyEditorModule.h"
#include "ParleyJson.h"
#include "ParleyText.h"
#include "PropertyEditorModule.h"
#include "Serialization/Archive.h"
#include "UObject/Package.h"
#include "WorkflowAssetActions.h"
#include "WorkflowAssetStore.h"
#include "WorkflowFactory.h"
#include "WorkflowSession.h"
#include "WorkflowValidator.h"

#include "AssetRegistry/AssetData.h"
#include "Misc/DataValidation.h"

#include <fstream>

namespace
{

using namespace EditorTests;

// Field order, spacing, an unknown field and odd spellings of numbers: all of it must come back from undo.
const char* const Two =
    "{\"version\":1, \"start_node\":\"mira\",\r\n  \"default_model\": \"mock-echo\", \"studio\": {\"note\": 1.50},\n"
    "  \"nodes\": [\n"
    "   {\"name\":\"mira\",  \"type\":\"Generate\", \"max_tokens\": 64, \"sampling\": {\"temperature\": 7e-1}, \"default_exit\":\"bram\"},\n"
    "   {\"type\":\"Generate\", \"name\":\"bram\", \"input\":\"mira\", \"template\":\"{{slot.mira}} and {{ slot.miracle }} mira\", "
    "\"default_exit\":\"\"} ] }\n\n";

std::string Replaced(std::string Text, const std::string& What, const std::string& By)
{
    const std::size_t At = Text.find(What);
    Check(At != std::string::npos, "nothing to replace");
    return Text.replace(At, What.size(), By);
}

Parley::Editor::WorkflowInspectorModel& ModelOf(UParleyWorkflow* Asset)
{
    Parley::Editor::WorkflowInspectorModel& Model = FParleyWorkflowSession::Of(Asset)->Model;
    Model.Refresh();
    return Model;
}

void WriteFile(const std::string& Path, const std::string& Text)
{
    std::ofstream(Path, std::ios::binary) << Text;
}

struct FCounts
{
    FCounts()
    {
        Layouts = FModuleManager::LoadModuleChecked<FPropertyEditorModule>(TEXT("PropertyEditor")).StubLayouts.Num();
        Actions = FModuleManager::LoadModuleChecked<FAssetToolsModule>(TEXT("AssetTools")).Get().StubActions.Num();
        Tabs = FGlobalTabmanager::Get()->StubTabs.Num();
    }
    std::string Shown() const { return std::to_string(Layouts) + " " + std::to_string(Actions) + " " + std::to_string(Tabs); }
    int32 Layouts;
    int32 Actions;
    int32 Tabs;
};

} // namespace

EDITOR_TEST(ARenameIsOneTransactionAndUndoesToTheByte)
{
    UParleyWorkflow* Asset = MakeWorkflow(Two);
    UDialogueCast* Cast = MakeCast(TEXT("Cast"), {TEXT("mira"), TEXT("bram"), TEXT("stranger")});
    UDialogueCast* Other = MakeCast(TEXT("Other"), {TEXT("stranger")});
    Equal(Two, TextOf(Asset), "before");
    Parley::Editor::WorkflowInspectorModel& Model = ModelOf(Asset);

    Check(Model.Rename(0, " innkeeper "), "it changes something");
    const std::string After = TextOf(Asset);
    Check(Contains(After, "\"start_node\": \"innkeeper\"") && Contains(After, "{{slot.innkeeper}} and {{ slot.miracle }} mira"), After);
    Check(Contains(After, "1.50") && Contains(After, "7e-1"), "spellings stay: " + After);
    Equal("innkeeper", Asset->StartNode, "the property too");
    Equal("innkeeper|bram|stranger", NamesOf(Cast), "the cast");
    Equal("stranger", NamesOf(Other), "a cast that does not know the node");
    Equal("Rename mira", History(), "the undo history");
    Equal(1, StubEngine::Transactions().Deepest, "no transaction within another");

    Check(StubEngine::Transactions().Undo(), "undone");
    Equal(Two, TextOf(Asset), "after undo");
    Equal("mira|bram|stranger", NamesOf(Cast), "the cast after undo");
    Model.Refresh();
    Equal("mira", Model.Nodes()[0].Name, "what the inspector shows");
    Check(StubEngine::Transactions().Redo(), "redone");
    Equal(After, TextOf(Asset), "after redo");
    Equal("innkeeper|bram|stranger", NamesOf(Cast), "the cast after redo");
}

EDITOR_TEST(RefusedNamesOpenNoTransaction)
{
    UParleyWorkflow* Asset = MakeWorkflow(Two);
    UDialogueCast* Cast = MakeCast(TEXT("Cast"), {TEXT("mira")});
    Parley::Editor::WorkflowInspectorModel& Model = ModelOf(Asset);
    for (const char* Name : {"user_message", "2nd", "", "mira!", "mira", " mira "})
    {
        Check(!Model.Rename(0, Name), Name);
    }
    Equal(Two, TextOf(Asset), "the asset");
    Equal("mira", NamesOf(Cast), "the cast");
    Equal(0, StubEngine::Transactions().Done.Num(), "nothing to undo");
    Check(Model.Rename(0, "bram"), "taken");
    Equal("bram_2", Asset->StartNode, "gets a suffix");
    Equal("bram_2", NamesOf(Cast), "so does the cast");
}

EDITOR_TEST(ACastThatServesTwoWorkflowsKnowsBothNames)
{
    UParleyWorkflow* Asset = MakeWorkflow(Two);
    UParleyWorkflow* Neighbour = MakeWorkflow(Two, TEXT("Neighbour"));
    UDialogueCast* Shared = MakeCast(TEXT("Shared"), {TEXT("mira")});
    UDialogueCast* Theirs = MakeCast(TEXT("Theirs"), {TEXT("mira")});
    Neighbour->Cast = Theirs;
    Check(ModelOf(Asset).Rename(0, "innkeeper"), "renamed");
    Equal("innkeeper", NamesOf(Shared), "the neighbour has a cast of its own: this one serves us alone");
    Equal("mira", NamesOf(Theirs), "that one is the neighbour's");
    Equal("mira", Neighbour->StartNode, "and so is its workflow");
    Check(StubEngine::Transactions().Undo(), "undone");

    Neighbour->Cast = nullptr;
    Check(ModelOf(Asset).Rename(0, "innkeeper"), "renamed");
    Equal("mira|innkeeper", NamesOf(Shared), "both may mean it: it knows both");
    Equal("mira|innkeeper", NamesOf(Theirs), "both may mean it: it knows both");
    Check(StubEngine::Transactions().Undo(), "undone");
    Equal("mira", NamesOf(Shared), "after undo");

    Asset->Cast = Shared;
    Neighbour->Cast = Shared;
    Check(ModelOf(Asset).Rename(0, "innkeeper"), "renamed");
    Equal("mira|innkeeper", NamesOf(Shared), "both say so");
}

EDITOR_TEST(EveryEditIsOneTransaction)
{
    UParleyWorkflow* Asset = MakeWorkflow(Two);
    Parley::Editor::WorkflowInspectorModel& Model = ModelOf(Asset);
    Check(!Model.Add("Generate").empty(), "added");
    Model.Refresh();
    Check(Model.SetText(*Model.Nodes()[2].Field("template"), "line\nline"), "a text");
    Model.Refresh();
    Check(Model.Move(2, 0), "moved");
    Check(Model.Delete(1), "deleted");
    Equal("Add Generate|Change template|Move Node|Delete mira", History(), "the undo history");
    for (int32 At = 0; At < 4; ++At)
    {
        Check(StubEngine::Transactions().Undo(), "undone");
    }
    Equal(Two, TextOf(Asset), "all undone");
    for (int32 At = 0; At < 4; ++At)
    {
        Check(StubEngine::Transactions().Redo(), "redone");
    }
    Check(Contains(TextOf(Asset), "line\\nline") && !Contains(TextOf(Asset), "\"mira\",  \"type\""), TextOf(Asset));
}

EDITOR_TEST(ImportThenExportIsTheSameText)
{
    const std::string File = Given.at("folder") + "/Ölkännchen.workflow.json";
    const std::string Text = "\xEF\xBB\xBF" + std::string(Two);
    WriteFile(File, Text);
    UParleyWorkflowImportFactory* Factory = NewObject<UParleyWorkflowImportFactory>();
    Check(Factory->FactoryCanImport(Parley::ToFString(File)), "such a file");
    Check(!Factory->FactoryCanImport(TEXT("/game/package.json")), "not any JSON");
    Check(Factory->ImportPriority > UFactory::DefaultImportPriority, "asked before those that take any JSON");
    FFeedbackContext Warn;
    bool bIsCancelled = true;
    const auto Import = [&](const std::string& Path)
    {
        return Cast<UParleyWorkflow>(Factory->FactoryCreateFile(
            UParleyWorkflow::StaticClass(), CreatePackage(TEXT("/Game/Imported")), TEXT("Imported"), RF_Public | RF_Standalone,
            Parley::ToFString(Path), nullptr, &Warn, bIsCancelled));
    };
    UParleyWorkflow* Asset = Import(File);
    Check(Asset != nullptr && !bIsCancelled && Asset->HasAnyFlags(RF_Transactional), "imported, and can be undone");

    UParleyWorkflowExporter* Exporter = NewObject<UParleyWorkflowExporter>();
    Equal("workflow.json", Exporter->FormatExtension[0], "what files are called");
    Check(Exporter->FormatExtension.Contains(FString(TEXT("json"))), "found by what follows the last point of a file's name");
    Equal(Exporter->FormatDescription.Num(), Exporter->FormatExtension.Num(), "each with its description");
    FArchive Bytes;
    Check(Exporter->ExportBinary(Asset, TEXT("workflow.json"), Bytes, &Warn, 0, 0), "exported");
    Equal(Text, std::string(reinterpret_cast<const char*>(Bytes.StubBytes.GetData()), static_cast<std::size_t>(Bytes.StubBytes.Num())),
        "to the byte");
    FArchive Nothing;
    Check(!Exporter->ExportBinary(NewObject<UDialogueCast>(), TEXT(""), Nothing, &Warn, 0, 0), "a cast is no workflow");

    // The file is changed elsewhere, then damaged.
    TArray<FString> Files;
    Check(Factory->CanReimport(Asset, Files) && Utf8(Files[0]) == File, "where it came from");
    const std::string Other = Replaced(Two, "\"max_tokens\": 64", "\"max_tokens\": 65");
    WriteFile(File, Other);
    Check(Factory->Reimport(Asset) == EReimportResult::Succeeded, "taken again");
    Equal(Other, TextOf(Asset), "what it says now");
    Equal("Import Workflow", History(), "one transaction");
    Check(StubEngine::Transactions().Undo(), "undone");
    Equal(Text, TextOf(Asset), "as it was before");
    WriteFile(File, "{ no JSON");
    Check(Factory->Reimport(Asset) == EReimportResult::Failed, "refused");
    Equal(Text, TextOf(Asset), "it stays as it is");
    Equal(0, StubEngine::Transactions().Done.Num(), "and nothing to undo");
    Check(Import(File) == nullptr, "no asset");
    UParleyWorkflow* Fresh = MakeWorkflow(Two, TEXT("Fresh"));
    Check(!Factory->CanReimport(Fresh, Files) && Factory->Reimport(Fresh) == EReimportResult::Failed, "it came from no file");
    Factory->SetReimportPaths(Fresh, {Parley::ToFString(File)});
    Check(Factory->CanReimport(Fresh, Files), "now it did");
}

EDITOR_TEST(NewAssetsAreEmptyAndWhole)
{
    UObject* Made = NewObject<UParleyWorkflowFactory>()->FactoryCreateNew(
        UParleyWorkflow::StaticClass(), CreatePackage(TEXT("/Game/New")), TEXT("New"), RF_Public | RF_Standalone, nullptr, nullptr);
    Check(Contains(TextOf(CastChecked<UParleyWorkflow>(Made)), "\"nodes\""), "an empty workflow");
    UObject* Cast = NewObject<UParleyCastFactory>()->FactoryCreateNew(
        UDialogueCast::StaticClass(), CreatePackage(TEXT("/Game/NewCast")), TEXT("NewCast"), RF_Public | RF_Standalone, nullptr, nullptr);
    Check(Cast != nullptr && Cast->HasAnyFlags(RF_Transactional), "a cast");
    Check(!ModelOf(CastChecked<UParleyWorkflow>(Made)).Add("CannedResponse").empty(), "to begin with");
    Equal("canned_response", CastChecked<UParleyWorkflow>(Made)->StartNode, "the start");
}

EDITOR_TEST(RegistrationsAreUndoneExactly)
{
    FPropertyEditorModule& Property = FModuleManager::LoadModuleChecked<FPropertyEditorModule>(TEXT("PropertyEditor"));
    Property.RegisterCustomClassLayout(TEXT("SomebodyElse"), FOnGetDetailCustomizationInstance::CreateStatic(&FParleyWorkflowDetails::MakeInstance));
    const std::string Before = FCounts().Shown();
    FParleyEditorModule Module;
    Module.StartupModule();
    const TArray<FString> Registered = Module.GetRegistrations();
    const std::string During = FCounts().Shown();
    Check(Before != During, "something is registered");
    for (const TCHAR* What : {TEXT("details of ParleyWorkflow"), TEXT("details of ParleyNode"), TEXT("actions of ParleyWorkflow"),
             TEXT("actions of DialogueCast"), TEXT("tab ParleyTestChat"), TEXT("tab ParleyTurnInspector"), TEXT("tab ParleyModels")})
    {
        Check(Registered.Contains(FString(What)), Utf8(FString(What)) + " is remembered");
    }
    Check(Property.StubLayouts.Contains(TEXT("ParleyNode")), "the base of all nodes");
    Module.ShutdownModule();
    Equal(Before, FCounts().Shown(), "exactly those are taken back");
    Check(Property.StubLayouts.Contains(TEXT("SomebodyElse")), "another plugin's stays");
    Equal(0, Module.GetRegistrations().Num(), "none is left");
    Module.ShutdownModule();
    Equal(Before, FCounts().Shown(), "twice is as once");

    // Again, and then other modules are gone first, as when the editor is closed.
    Module.StartupModule();
    Equal(During, FCounts().Shown(), "the same again");
    FModuleManager::Get().StubUnload(TEXT("PropertyEditor"));
    FModuleManager::Get().StubUnload(TEXT("AssetTools"));
    Module.ShutdownModule();
    Check(!FModuleManager::Get().IsModuleLoaded(TEXT("PropertyEditor")) && !FModuleManager::Get().IsModuleLoaded(TEXT("AssetTools")),
        "they are not loaded again for it");
    Check(!FGlobalTabmanager::Get()->HasTabSpawner(TEXT("ParleyTestChat")), "the rest is taken back all the same");
}

EDITOR_TEST(ValidationTellsWhatIsWrong)
{
    UParleyWorkflow* Asset = MakeWorkflow(Replaced(Two, "\"default_exit\":\"bram\"", "\"default_exit\":\"nowhere\""));
    UParleyWorkflow* Well = MakeWorkflow(Replaced(Two, "\"studio\": {\"note\": 1.50},", ""), TEXT("Well"));
    TArray<FText> Errors;
#if UE_VERSION_OLDER_THAN(5, 4, 0)
    const auto Can = [](UObject* Which) { return NewObject<UParleyWorkflowValidator>()->CanValidateAsset_Implementation(Which); };
    const auto Validate = [&Errors](UObject* Which)
    {
        return NewObject<UParleyWorkflowValidator>()->ValidateLoadedAsset_Implementation(Which, Errors);
    };
#else
    FDataValidationContext Context;
    const auto Can = [&Context](UObject* Which)
    {
        return NewObject<UParleyWorkflowValidator>()->CanValidateAsset_Implementation(FAssetData(Which), Which, Context);
    };
    const auto Validate = [&Context, &Errors](UObject* Which)
    {
        UParleyWorkflowValidator* Validator = NewObject<UParleyWorkflowValidator>();
        const EDataValidationResult Result = Validator->ValidateLoadedAsset_Implementation(FAssetData(Which), Which, Context);
        Errors = Validator->StubErrors;
        return Result;
    };
#endif
    Check(Can(Asset), "a workflow");
    Check(!Can(NewObject<UDialogueCast>()), "a cast");
    const bool bIsRight = Validate(Well) == EDataValidationResult::Valid && Errors.Num() == 0;
    Check(bIsRight, "right; found " + (Errors.Num() > 0 ? Utf8(Errors[0].ToString()) : std::string()));
    Check(Validate(Asset) == EDataValidationResult::Invalid, "wrong");
    bool bIsTold = false;
    for (const FText& Each : Errors)
    {
        bIsTold = bIsTold || Contains(Utf8(Each.ToString()), "mira.default_exit: ");
    }
    Check(bIsTold, "where and what");
}
