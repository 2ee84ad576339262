// The Details panel of a workflow, acted on as a person does.
#include "EngineDesk.h"

#include "Framework/Application/SlateApplication.h"
#include "IDesktopPlatform.h"
#include "DesktopPlatformModule.h"
#include "ParleyEditorModule.h"
#include "ParleyNode.h"
#include "ParleyText.h"
#include "Widgets/Input/SButton.h"
#include "Widgets/Input/SComboBox.h"
#include "Widgets/Input/SEditableTextBox.h"
#include "Widgets/Text/STextBlock.h"

namespace
{

using namespace EditorTests;

const char* const Two =
    "{\"version\":1,\"start_node\":\"mira\",\"default_model\":\"mock-echo\",\"nodes\":["
    "{\"name\":\"mira\",\"type\":\"Generate\",\"default_exit\":\"bram\"},"
    "{\"name\":\"bram\",\"type\":\"Generate\",\"input\":\"mira\",\"output_name\":\"answer\"}]}\n";

using FCombo = SComboBox<TSharedPtr<FString>>;

/// The dropdown that shows this.
FCombo& Combo(const FPanel& Panel, const char* Shown)
{
    FCombo* Found = nullptr;
    Panel.Builder->StubWalk([&Found, Shown](SWidget& Widget)
    {
        if (Found == nullptr && Widget.StubType.StartsWith(TEXT("SComboBox")))
        {
            for (STextBlock* Text : Widget.StubFind<STextBlock>(TEXT("STextBlock")))
            {
                if (Utf8(Text->StubArgs._Text.Get().ToString()) == Shown)
                {
                    Found = static_cast<FCombo*>(&Widget);
                }
            }
        }
    });
    Check(Found != nullptr, std::string("no dropdown shows ") + Shown + ":\n" + Panel.Shown());
    return *Found;
}

std::string Options(const FCombo& Of)
{
    std::string Text;
    for (const TSharedPtr<FString>& Each : *Of.StubArgs._OptionsSource)
    {
        Text += (Text.empty() ? "" : "|") + Utf8(*Each);
    }
    return Text;
}

bool IsRed(const FPanel& Panel, const char* Shown)
{
    bool bIsRed = false;
    Panel.Builder->StubWalk([&bIsRed, Shown](SWidget& Widget)
    {
        if (Widget.StubType == TEXT("STextBlock"))
        {
            STextBlock& Text = static_cast<STextBlock&>(Widget);
            const FSlateColor Colour = Text.StubArgs._ColorAndOpacity.Get();
            bIsRed = bIsRed
                || (Utf8(Text.StubArgs._Text.Get().ToString()) == Shown && Colour.IsColorSpecified()
                    && Colour.GetSpecifiedColor().R > 0.9f && Colour.GetSpecifiedColor().G < 0.5f);
        }
    });
    return bIsRed;
}

} // namespace

EDITOR_TEST(NamesAreCommittedByEnterAndByLosingTheFocus)
{
    UParleyWorkflow* Asset = MakeWorkflow(Two);
    UDialogueCast* Cast = MakeCast(TEXT("Cast"), {TEXT("mira")});
    FPanel Panel(Asset);
    SEditableTextBox& Box = Panel.Box("mira");
    Box.StubType_(TEXT("nobody"), ETextCommit::OnCleared);
    Equal("mira", Asset->StartNode, "Escape takes it back");
    Box.StubType_(TEXT(" innkeeper "), ETextCommit::OnUserMovedFocus);
    Equal("innkeeper", Asset->StartNode, "the focus moved on");
    Equal("innkeeper", NamesOf(Cast), "the cast follows");
    Equal("Rename mira", History(), "one transaction");
    Panel.Frame();
    Check(Contains(Panel.Shown(), "[innkeeper]"), Panel.Shown());

    Panel.Type("innkeeper", "user_message");
    Equal("innkeeper", Asset->StartNode, "refused");
    Check(Contains(Panel.Shown(), "user_message"), "and says why: " + Panel.Shown());
    Panel.Type("innkeeper", "bram");
    Equal("bram_2", Asset->StartNode, "taken");
    Check(!Contains(Panel.Shown(), "user_message"), "the old refusal is gone");
    // As the box loses the focus once more when it is drawn anew.
    Panel.Box("bram_2").StubType_(TEXT("bram_2"), ETextCommit::OnUserMovedFocus);
    Equal("Rename mira|Rename innkeeper", History(), "no edit, no transaction");
    Panel.Type("answer", "last_word");
    Equal("Rename mira|Rename innkeeper|Rename slot of bram", History(), "the slot");

    Check(StubEngine::Transactions().Undo() && StubEngine::Transactions().Undo() && StubEngine::Transactions().Undo(), "undone");
    Equal(Two, TextOf(Asset), "all of it");
    Panel.Frame();
    Check(Contains(Panel.Shown(), "[mira]") && Contains(Panel.Shown(), "[answer]"), "and the panel shows it: " + Panel.Shown());
}

EDITOR_TEST(InputsExitsAndStartArePicked)
{
    UParleyWorkflow* Asset = MakeWorkflow(
        "{\"start_node\":\"gone\",\"nodes\":[{\"name\":\"mira\",\"type\":\"Generate\",\"default_exit\":\"bram\"},"
        "{\"name\":\"bram\",\"type\":\"Generate\",\"input\":\"lost\"}]}");
    const std::string Before = TextOf(Asset);
    FPanel Panel(Asset);
    Equal("User Message|mira|lost (missing)", Options(Combo(Panel, "lost (missing)")), "the inputs");
    Check(IsRed(Panel, "lost (missing)") && IsRed(Panel, "gone (missing)"), "missing ones are red");
    Check(!IsRed(Panel, "User Message"), "others are not");
    Equal("END|mira|bram", Options(Combo(Panel, "bram")), "the exits");
    Equal(Before, TextOf(Asset), "looking changes nothing");
    Combo(Panel, "lost (missing)").SetSelectedItem((*Combo(Panel, "lost (missing)").StubArgs._OptionsSource)[0], ESelectInfo::Direct);
    Equal(Before, TextOf(Asset), "what nobody picked changes nothing");
    Combo(Panel, "lost (missing)").StubPick(1);
    Panel.Frame();
    Check(Contains(TextOf(Asset), "\"input\": \"mira\""), TextOf(Asset));
    Check(!Contains(Panel.Shown(), "lost (missing)"), "gone once another is picked");
    Combo(Panel, "gone (missing)").StubPick(0);
    Panel.Frame();
    Equal("mira", Asset->StartNode, "the start");
    Equal("Change input|Change start_node", History(), "a transaction each");
}

EDITOR_TEST(NodesAreAddedMovedAndDeleted)
{
    UParleyWorkflow* Asset = MakeWorkflow(Two);
    FPanel Panel(Asset);
    FCombo& Types = Combo(Panel, "Add a node\u2026");
    int32 Canned = 0;
    while (*(*Types.StubArgs._OptionsSource)[Canned] != TEXT("CannedResponse"))
    {
        ++Canned;
    }
    Types.StubPick(Canned);
    Panel.Frame();
    Equal(3, Asset->Nodes.Num(), "added");
    Check(Contains(Panel.Shown(), "canned_response"), Panel.Shown());
    const int32 Cleared = FSlateApplication::Get().StubFocusCleared;
    Panel.Button("Delete", 0).StubClick();
    Equal(Cleared + 1, FSlateApplication::Get().StubFocusCleared, "what is typed is committed first");
    Panel.Frame();
    Equal(2, Asset->Nodes.Num(), "deleted");
    Equal("", Asset->StartNode, "the start is cleared");
    Check(IsRed(Panel, "mira (missing)"), "an input that named it is flagged: " + Panel.Shown());
    Equal("Add CannedResponse|Delete mira", History(), "a transaction each");
}

EDITOR_TEST(OneNodeIsShownAlone)
{
    UParleyWorkflow* Asset = MakeWorkflow(Two);
    FPanel Panel(Asset->Nodes[1]);
    Check(Contains(Panel.Shown(), "[bram]") && !Contains(Panel.Shown(), "[mira]"), Panel.Shown());
    Panel.Type("bram", "gardener");
    Equal("Rename bram", History(), "one transaction");
    Check(Contains(TextOf(Asset), "\"default_exit\": \"gardener\""), "the other node follows: " + TextOf(Asset));
    FPanel Stray(NewObject<UParleyWorkflow>()->MakeNode(TEXT("Generate")));
    Check(Stray.Shown().size() < 10000, "a node that is in no workflow yet");
}

EDITOR_TEST(TwoPanelsShowTheSame)
{
    UParleyWorkflow* Asset = MakeWorkflow(Two);
    FPanel One(Asset);
    FPanel Other(Asset);
    One.Type("mira", "innkeeper");
    Other.Frame();
    Check(Contains(Other.Shown(), "[innkeeper]"), "an edit in another panel: " + Other.Shown());
    // By C++ or a Blueprint, past all panels.
    FString Fault;
    Check(Asset->ImportText(Parley::ToFString(Two), Fault), Utf8(Fault));
    One.Frame();
    Other.Frame();
    Check(Contains(One.Shown(), "[mira]") && Contains(Other.Shown(), "[mira]"), "a change from elsewhere");
}

EDITOR_TEST(FilesAreChosenByDialogs)
{
    UParleyWorkflow* Asset = MakeWorkflow(Two);
    FPanel Panel(Asset);
    IDesktopPlatform& Dialogs = *FDesktopPlatformModule::Get();
    Dialogs.StubAnswer.Empty();
    Panel.Button("Export\u2026").StubClick();
    const std::string File = Given.at("folder") + "/out.workflow.json";
    Dialogs.StubAnswer = Parley::ToFString(File);
    Panel.Button("Export\u2026").StubClick();
    Equal("Tavern.workflow.json", Dialogs.StubSuggested, "what it is to be called");
    Check(Asset->ImportFile(Parley::ToFString(File), Dialogs.StubSuggested), "there it is");
    Panel.Type("mira", "innkeeper");
    Panel.Button("Import\u2026").StubClick();
    Panel.Frame();
    Equal(Two, TextOf(Asset), "taken back from the file");
    Equal("Rename mira|Import Workflow", History(), "which can be undone");
    Dialogs.StubAnswer = TEXT("/nowhere/at.all.workflow.json");
    Panel.Button("Import\u2026").StubClick();
    Panel.Frame();
    Check(Contains(Panel.Shown(), "at.all.workflow.json: there is no such file"), "why not: " + Panel.Shown());
    Dialogs.StubAnswer.Empty();
}
