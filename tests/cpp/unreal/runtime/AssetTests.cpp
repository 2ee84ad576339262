// Workflows and casts as assets, the settings, the module, and what Blueprints get of all that.
#include "Stage.h"

#include "Core/GamePlaces.h"
#include "Core/SidecarOptions.h"
#include "DialogueCast.h"
#include "Misc/FileHelper.h"
#include "ParleyBlueprintLibrary.h"
#include "ParleyJson.h"
#include "ParleyText.h"
#include "ParleyWorkflow.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace RuntimeTests;

namespace
{

const char* const Odd =
    "{\r\n\t\"nodes\": [ {\"name\":\"a\", \"type\":\"Generate\", \"of the future\": 1.50e3, \"template\": \"\\u00e9\xC3\xA9\"},\r\n"
    "  {\"name\":\"b\",\"type\":\"OfTheFuture\",\"x\":[1.0]}, {\"name\":\"c\",\"type\":\"Generate\",\"max_tokens\":\"many\"}, 7 ],\r\n"
    "\t\"start_node\": \"a\", \"variables\": [{\"name\":\"v\",\"type\":\"int\",\"value\":1.0,\"more\":2}, {\"name\":\"w\",\"type\":\"int\",\"value\":\"x\"}],\r\n"
    "\t\"later\": {\"z\": 1, \"a\": 2.50}\r\n}";

std::string Folder()
{
    std::string Template = (std::filesystem::temp_directory_path() / "parley-XXXXXX").string();
    That(mkdtemp(Template.data()) != nullptr, "a folder");
    return Template;
}

void WriteFile(const std::string& Path, const std::string& Text)
{
    std::filesystem::create_directories(std::filesystem::path(Path).parent_path());
    std::ofstream(Path, std::ios::binary) << Text;
}

std::string ReadFile(const std::string& Path)
{
    std::ifstream File(Path, std::ios::binary);
    std::ostringstream Out;
    Out << File.rdbuf();
    return Out.str();
}

} // namespace

PARLEY_TEST(AssetTests, WorkflowsComeBackToTheByte)
{
    const std::string Place = Folder();
    WriteFile(Place + "/a.workflow.json", Odd);
    UParleyWorkflow* Workflow = NewObject<UParleyWorkflow>();
    FString Fault;
    That(Workflow->ImportFile(Parley::ToFString(Place + "/a.workflow.json"), Fault), Parley::ToUtf8(Fault));
    That(Workflow->ExportFile(Parley::ToFString(Place + "/b.workflow.json"), Fault), Parley::ToUtf8(Fault));
    That(ReadFile(Place + "/b.workflow.json") == Odd, "the bytes: " + ReadFile(Place + "/b.workflow.json"));
    Text("a", Workflow->StartNode, "the start");
    Equal(4, Workflow->Nodes.Num(), "nodes");
    That(Cast<UParleyUnreadableNode>(Workflow->Nodes[0]) == nullptr, "one that is known");
    for (int Index = 1; Index < 4; Index++)
    {
        const UParleyUnreadableNode* Node = Cast<UParleyUnreadableNode>(Workflow->Nodes[Index]);
        That(Node != nullptr && !Node->Why.IsEmpty(), "one that cannot be read says why");
    }
    Text("OfTheFuture", Workflow->Nodes[1]->GetTypeName(), "its type");
    That(Workflow->FindNode(TEXT("b")) == Workflow->Nodes[1] && Workflow->FindNode(TEXT("B")) == nullptr, "by its name");
    Equal(1, static_cast<int>(Workflow->Variables[0].Value.Int), "a variable");

    WriteFile(Place + "/a.workflow.json", "[]");
    That(!Workflow->ImportFile(Parley::ToFString(Place + "/a.workflow.json"), Fault) && !Fault.IsEmpty(), "no workflow");
    That(!Workflow->ImportText(TEXT("{"), Fault), "no JSON");
    That(!Workflow->ImportFile(Parley::ToFString(Place + "/none"), Fault), "no file");
    Text("a", Workflow->StartNode, "it stays as it is");
    Cast<UParleyUnreadableNode>(Workflow->Nodes[1])->Json = TEXT("{");
    That(!Workflow->ExportFile(Parley::ToFString(Place + "/b.workflow.json"), Fault) && !Fault.IsEmpty(), "a node that is no JSON");
    That(ReadFile(Place + "/b.workflow.json") == Odd, "the file stays as it is");
    std::filesystem::remove_all(Place);
}

PARLEY_TEST(AssetTests, EditsChangeOnlyWhatTheyMust)
{
    FString Fault;
    UParleyWorkflow* Workflow = UParleyWorkflow::Make(nullptr, Parley::ToFString(Odd), Fault);
    That(Workflow != nullptr, Parley::ToUtf8(Fault));
    Parley::Json Before;
    That(Workflow->ToCore(Before, Fault), Parley::ToUtf8(Fault));
    UParleyNode* First = Workflow->Nodes[0];
    Workflow->StartNode = TEXT("b");
    Workflow->Variables[0].Value.Int = 5;
    Workflow->Variables.Add(FParleyVariable(TEXT("n"), FParleyValue(TEXT("text"))));
    First->NodeName = TEXT("z");
    Parley::Json After;
    That(Workflow->ToCore(After, Fault), Parley::ToUtf8(Fault));
    const std::string Told = Parley::EngineCodec()->Write(After);
    That(Told.find("\"start_node\":\"b\"") != std::string::npos, Told);
    That(Told.find("{\"name\":\"v\",\"type\":\"int\",\"value\":5,\"more\":2}") != std::string::npos, Told);
    That(Told.find("{\"name\":\"w\",\"type\":\"int\",\"value\":\"x\"}") != std::string::npos, Told);
    That(Told.find("{\"name\":\"n\",\"type\":\"string\",\"value\":\"text\"}") != std::string::npos, Told);
    That(Told.find("{\"name\":\"z\",\"type\":\"Generate\",\"of the future\":1.50e3") != std::string::npos, Told);
    That(Told.find("\"later\":{\"z\":1,\"a\":2.50}") != std::string::npos, Told);

    // In place: a node that is still there is the same object.
    UParleyNode* Second = Workflow->Nodes[1];
    UParleyNode* Fourth = Workflow->Nodes[3];
    That(Workflow->FromCore(Before, Fault), Parley::ToUtf8(Fault));
    That(Workflow->Nodes[0] == First && Workflow->Nodes[1] == Second && Workflow->Nodes[3] == Fourth, "the same objects");
    Text("a", First->NodeName, "its name is back");
    Parley::Json Again;
    That(Workflow->ToCore(Again, Fault) && Again == Before, "all is back");
    FString Out;
    That(Workflow->ExportText(Out, Fault), Parley::ToUtf8(Fault));
    Text(Odd, Out, "to the byte");
    That(!Workflow->FromCore(Parley::Json::Array(), Fault), "no object");
    That(Workflow->MakeNode(TEXT("Generate")) != nullptr && Workflow->MakeNode(TEXT("Nothing")) == nullptr, "new nodes");
}

PARLEY_TEST(AssetTests, NewWorkflowsAreWhole)
{
    UParleyWorkflow* Workflow = NewObject<UParleyWorkflow>();
    FString Out;
    FString Fault;
    That(Workflow->ExportText(Out, Fault), Parley::ToUtf8(Fault));
    That(Out.Equals(UParleyWorkflow::EmptyJson, ESearchCase::CaseSensitive), "nobody speaks yet: " + Parley::ToUtf8(Out));
    That(Workflow->Validate().Num() > 0, "and that is said");
    That(UParleyBlueprintLibrary::ValidateWorkflowText(TEXT("{")).Num() == 1, "what is no JSON is one finding");
}

PARLEY_TEST(AssetTests, CastsKnowWhoSpeaks)
{
    UDialogueCast* Cast = NewObject<UDialogueCast>();
    for (const TCHAR* Name : {TEXT("mira"), TEXT("mira"), TEXT("bram")})
    {
        FDialogueSpeaker One;
        One.NodeName = Name;
        Cast->Speakers.Add(One);
    }
    Cast->Speakers[0].DisplayName = FText::FromString(TEXT("Mira"));
    Cast->Speakers[1].DisplayName = FText::FromString(TEXT("A second one"));
    Text("Mira", Cast->FindSpeaker(TEXT("mira")).GetDisplayName().ToString(), "the first counts");
    Text("bram", Cast->FindSpeaker(TEXT("bram")).GetDisplayName().ToString(), "no name");
    Text("guard", Cast->FindSpeaker(TEXT("guard")).GetDisplayName().ToString(), "one that is not in it");
    That(Cast->FindSpeaker(TEXT("guard")).Colour == FLinearColor(1.0f, 1.0f, 1.0f, 1.0f), "its colour");
    That(Cast->KnowsSpeaker(TEXT("mira")) && !Cast->KnowsSpeaker(TEXT("Mira")), "names are exact");
    That(Cast->RenameSpeaker(TEXT("mira"), TEXT("innkeeper")), "followed");
    Text("Mira", Cast->FindSpeaker(TEXT("innkeeper")).GetDisplayName().ToString(), "under the new name");
    That(!Cast->RenameSpeaker(TEXT("nobody"), TEXT("x")), "nothing followed");
}

PARLEY_TEST(AssetTests, SettingsSayHowToStart)
{
    UParleySettings& Settings = Alone();
    That(NewObject<UParleySettings>()->bAutoLaunch && NewObject<UParleySettings>()->bKeepBetweenPlays, "as they are new");
    const std::string Place = Folder();
    Parley::GamePlaces Places;
    Places.IsEditor = true;
    Places.ProjectFolder = Place;
    Places.ContentFolder = Place + "/Content";
    Settings.EditorCommand = {TEXT("python3"), TEXT("-m"), TEXT("bridge")};
    Settings.ServeArguments = {TEXT("--no-auth"), FString()};
    WriteFile(Place + "/models.json", "{}");
    Settings.CatalogFile = TEXT("models.json");
    Settings.ModelsFolder = TEXT(" \"models\"\n");
    Parley::SidecarOptions Launch;
    FParleyFault Fault;
    That(Settings.ToLaunch(Places, Launch, Fault), Parley::ToUtf8(Fault.Message));
    That(Launch.Executable == "python3", "the program");
    Texts("-m|bridge|serve|--no-auth", Launch.Arguments, "its arguments");
    That(Launch.Environment["PARLEY_CATALOG"] == Place + "/models.json", "the catalog");
    That(Launch.Environment["PARLEY_MODELS_FOLDER"] == Place + "/models", "the models");
    Places.IsEditor = false;
    That(Settings.ToLaunch(Places, Launch, Fault), "a packaged game");
    That(Launch.Executable.find("python") == std::string::npos, "does not use the command");
    Texts("serve|--no-auth", Launch.Arguments, "its arguments");
    Places.IsEditor = true;
    Settings.EditorCommand.Reset();
    WriteFile(Place + "/side car \xC3\xB6/parley", "x");
    WriteFile(Place + "/side car \xC3\xB6/sidecar.json", "x");
    Settings.SidecarFolder = Parley::ToFString(" \"side car \xC3\xB6\" ");
    That(Settings.ToLaunch(Places, Launch, Fault) && Launch.Executable == Place + "/side car \xC3\xB6/parley", "quotes and spaces: " + Launch.Executable);
    Settings.SidecarFolder = TEXT("side\u0001car");
    That(!Settings.ToLaunch(Places, Launch, Fault), "no path");
    Text("SettingsInvalid", Fault.Name, "what it is");
    That(Fault.Message.Contains(TEXT("Sidecar Folder")), "which: " + Parley::ToUtf8(Fault.Message));
    for (const float Budget : {0.0f, -5.0f, std::numeric_limits<float>::quiet_NaN(), 1e30f})
    {
        Settings.BudgetMs = Budget;
        That(Settings.GetBudgetMs() >= 0.09 && Settings.GetBudgetMs() <= 10.0, "a frame is not given away");
    }
    std::filesystem::remove_all(Place);
}

PARLEY_TEST(AssetTests, BlueprintsHaveValuesAndJson)
{
    using Library = UParleyBlueprintLibrary;
    TArray<FParleyVariable> Values;
    Values.Add(FParleyVariable(TEXT("i"), Library::Conv_IntToParleyValue(-3)));
    Values.Add(FParleyVariable(TEXT("l"), Library::Conv_Int64ToParleyValue(1ll << 60)));
    Values.Add(FParleyVariable(TEXT("f"), Library::Conv_DoubleToParleyValue(0.5)));
    Values.Add(FParleyVariable(TEXT("b"), Library::Conv_BoolToParleyValue(true)));
    Values.Add(FParleyVariable(TEXT("s"), Library::Conv_StringToParleyValue(TEXT("a\"b"))));
    Values.Add(FParleyVariable(TEXT("S"), Library::Conv_StringsToParleyValue({TEXT("x"), TEXT("y")})));
    Text("{\"i\":-3,\"l\":1152921504606846976,\"f\":0.5,\"b\":true,\"s\":\"a\\\"b\",\"S\":[\"x\",\"y\"]}", Library::MakeJson(Values), "an object");
    const FString Json = TEXT("{\"a\": {\"b\": [{\"c\": \"d\"}, 2.50, true, null]}, \"e\": {}}");
    FString Found;
    double Number = 0.0;
    bool bFlag = false;
    That(Library::GetJsonText(Json, TEXT("a.b[0].c"), Found), "a text");
    Text("d", Found, "what it is");
    That(Library::GetJsonText(Json, TEXT("a.b[1]"), Found) && Found == TEXT("2.50"), "a number as it is written");
    That(Library::GetJsonNumber(Json, TEXT("a.b[1]"), Number) && Number == 2.5, "a number");
    That(Library::GetJsonFlag(Json, TEXT("a.b[2]"), bFlag) && bFlag, "a flag");
    for (const TCHAR* Place : {TEXT("a.b[3]"), TEXT("a.b[4]"), TEXT("a.b[x]"), TEXT("a.b["), TEXT("A"), TEXT("e.f"), TEXT("a.b.c")})
    {
        That(!Library::GetJsonText(Json, Place, Found) && Found.IsEmpty(), "nothing is there: " + Parley::ToUtf8(Place));
    }
    FString Fault;
    That(Library::IsJson(Json, Fault) && !Library::IsJson(TEXT("{,}"), Fault) && Fault.StartsWith(TEXT("line 1")), "what is JSON");
    Equal(3, Library::CountCharacters(Parley::ToFString("a\xCC\x81" "b\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9")), "characters");
    Text("a\xCC\x81", Library::FirstCharacters(Parley::ToFString("a\xCC\x81" "b"), 1), "the first");
    Text("ab", Library::FirstCharacters(TEXT("ab"), 9), "all");
    That(!Library::IsFault(FParleyFault()) && Library::IsFault(FParleyFault(TEXT("X"), TEXT("y"))), "faults");
    Text("AgentBusy (3004): y", Library::Conv_ParleyFaultToString(FParleyFault(Parley::ErrorCode::AgentBusy, TEXT("y"))), "their words");
}
