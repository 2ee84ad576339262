// The tabs of the editor, with a real sidecar behind them.
#include "EngineDesk.h"

#include "EditorSidecar.h"
#include "Framework/Docking/TabManager.h"
#include "Modules/ModuleManager.h"
#include "ParleyEditorModule.h"
#include "ParleyJson.h"
#include "ParleyLibrary.h"
#include "ParleySettings.h"
#include "ParleyTabs.h"
#include "ParleyText.h"
#include "SParleyModels.h"
#include "SParleyTestChat.h"
#include "Widgets/Input/SButton.h"
#include "Widgets/Input/SEditableTextBox.h"
#include "Widgets/Input/SMultiLineEditableTextBox.h"
#include "Widgets/Text/STextBlock.h"

#include "Core/ParleyCore.h"

#include <chrono>
#include <thread>

namespace
{

using namespace EditorTests;

const char* const Tavern =
    "{\"start_node\":\"mira\",\"default_model\":\"slow\",\"nodes\":["
    "{\"name\":\"mira\",\"type\":\"Generate\",\"max_tokens\":20,\"default_exit\":\"bram\"},"
    "{\"name\":\"bram\",\"type\":\"Generate\",\"max_tokens\":20,\"template\":\"{{slot.mira}}\"}]}";

std::string Shown(SWidget& Widget)
{
    std::string Text;
    for (STextBlock* Each : Widget.StubFind<STextBlock>(TEXT("STextBlock")))
    {
        Text += Utf8(Each->StubArgs._Text.Get().ToString()) + "\n";
    }
    for (SMultiLineEditableTextBox* Each : Widget.StubFind<SMultiLineEditableTextBox>(TEXT("SMultiLineEditableTextBox")))
    {
        Text += Utf8(Each->StubArgs._Text.Get().ToString()) + "\n";
    }
    return Text;
}

void Press(SWidget& Widget, const char* Text)
{
    for (SButton* Each : Widget.StubFind<SButton>(TEXT("SButton")))
    {
        if (Utf8(Each->StubText().ToString()) == Text)
        {
            Each->StubClick();
            return;
        }
    }
    Parley::Testing::Fail(std::string("no button ") + Text);
}

void Until(SWidget& Widget, const std::function<bool()>& IsSo, const std::string& What)
{
    const auto Begun = std::chrono::steady_clock::now();
    while (!IsSo())
    {
        Check(std::chrono::steady_clock::now() - Begun < std::chrono::seconds(60), What + "\n" + Shown(Widget));
        FTSTicker::GetCoreTicker().Tick(0.01f);
        Widget.Tick(FGeometry(), std::chrono::duration<double>(std::chrono::steady_clock::now() - Begun).count(), 0.01f);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

} // namespace

EDITOR_TEST(TheTestChatTalksOutsideOfPlay)
{
    Parley::Fault Why;
    Parley::SetLibrary(Parley::ZmqApi::Load(Given.at("zmq"), Why), FString());
    Check(Parley::GetLibrary() != nullptr, Why.Text);
    UParleySettings* Settings = GetMutableDefault<UParleySettings>();
    Parley::Json Words;
    FString Fault;
    Check(Parley::JsonFromText(Parley::ToFString(Given.at("arguments")), Words, Fault), Utf8(Fault));
    // -m bridge is the command, what follows serve its arguments.
    Settings->EditorCommand = {Parley::ToFString(Given.at("program")), TEXT("-m"), TEXT("bridge")};
    Settings->ServeArguments.Reset();
    for (std::size_t At = 3; At < Words.Items().size(); ++At)
    {
        Settings->ServeArguments.Add(Parley::ToFString(Words.Items()[At].AsText()));
    }

    FParleyEditorModule& Module = FModuleManager::LoadModuleChecked<FParleyEditorModule>(TEXT("ParleyEditor"));
    if (Module.GetSidecar() == nullptr)
    {
        Module.StartupModule();
    }
    UParleyWorkflow* Asset = MakeWorkflow(Tavern);
    FParleyTabs::OpenChat(Asset);
    const TSharedPtr<SDockTab> Tab = FGlobalTabmanager::Get()->TryInvokeTab(FTabId(FParleyTabs::Chat));
    SParleyTestChat& Chat = *Tab->StubFind<SParleyTestChat>(TEXT("SParleyTestChat"))[0];
    Chat.Tick(FGeometry(), 0.0, 0.0f);
    Check(Contains(Shown(Chat), "press Begin"), Shown(Chat));
    Press(Chat, "Begin");
    Until(Chat, [&] { return Chat.GetChat() != nullptr && Chat.GetChat()->CanSay(); }, "a conversation");
    SEditableTextBox& Line = *Chat.StubFind<SEditableTextBox>(TEXT("SEditableTextBox")).Last();
    Line.StubType_(TEXT("What do rooms cost?"), ETextCommit::OnEnter);
    bool bSawMira = false;
    bool bSawBram = false;
    Until(Chat, [&]
    {
        bSawMira = bSawMira || Contains(Shown(Chat), "mira: word0 word1");
        bSawBram = bSawBram || Contains(Shown(Chat), "bram: ");
        return !Chat.GetChat()->GetTurns().empty() && !Chat.GetChat()->IsBusy();
    }, "an answer");
    Check(bSawMira && bSawBram, "both speakers: " + Shown(Chat));
    Check(Contains(Shown(Chat), "> What do rooms cost?"), Shown(Chat));
    Chat.Tick(FGeometry(), 1.0, 0.0f);
    Press(Chat, "Inspect turn 1 (Success)");
    const TSharedPtr<SDockTab> Turn = FGlobalTabmanager::Get()->TryInvokeTab(FTabId(FParleyTabs::Turn));
    Check(Contains(Shown(*Turn), "prompt_tokens") && Contains(Shown(*Turn), "What do rooms cost?"), Shown(*Turn));

    // The models tab beside it, with the same sidecar.
    const TSharedPtr<SDockTab> ModelsTab = FGlobalTabmanager::Get()->TryInvokeTab(FTabId(FParleyTabs::Models));
    SParleyModels& Models = *ModelsTab->StubFind<SParleyModels>(TEXT("SParleyModels"))[0];
    Press(Models, "Show Models");
    Until(Models, [&] { return Contains(Shown(Models), "slow"); }, "the list");
    Check(!FParleyEditorSidecar::Get()->GetModels().empty(), "the pickers know them too");

    // Closed while the conversation stands, as with the editor.
    const int32 Pid = FParleyEditorSidecar::Get()->GetRunning()->GetSidecarPid();
    Check(Pid > 0, "its own sidecar");
    const auto Begun = std::chrono::steady_clock::now();
    Module.ShutdownModule();
    Check(std::chrono::steady_clock::now() - Begun < std::chrono::seconds(2), "in less than a second, or a little more on a busy machine");
    Check(FParleyEditorSidecar::Get() == nullptr, "gone");
    Chat.Tick(FGeometry(), 2.0, 0.0f);
}
