// The tab in which a developer talks with a workflow, without Play.
#include "SParleyTestChat.h"

#include "EditorSidecar.h"
#include "FieldWidgets.h"
#include "ParleyTabs.h"

#include "AssetRegistry/AssetData.h"
#include "ParleyText.h"
#include "ParleyWorkflow.h"
#include "PropertyCustomizationHelpers.h"
#include "Styling/SlateColor.h"
#include "Widgets/Input/SButton.h"
#include "Widgets/Input/SEditableTextBox.h"
#include "Widgets/Layout/SScrollBox.h"
#include "Widgets/SBoxPanel.h"
#include "Widgets/Text/STextBlock.h"

#define LOCTEXT_NAMESPACE "ParleyTestChat"

namespace Parley::TestChatLocal
{

constexpr int32 TurnsShown = 5;
constexpr double StaleLookS = 0.5;

const FLinearColor SpeakerColours[] = {
    FLinearColor(0.55f, 0.85f, 1.0f), FLinearColor(1.0f, 0.8f, 0.45f), FLinearColor(0.65f, 1.0f, 0.6f),
    FLinearColor(1.0f, 0.65f, 0.95f), FLinearColor(0.8f, 0.75f, 1.0f)};

FText TextOf(const std::string& Text)
{
    return FText::FromString(ToFString(Text));
}

} // namespace Parley::TestChatLocal

void SParleyTestChat::Construct(const FArguments&)
{
    ChildSlot
    [
        SNew(SVerticalBox)
        + SVerticalBox::Slot().AutoHeight()[MakeHead()]
        + SVerticalBox::Slot().AutoHeight()[SAssignNew(Findings, SVerticalBox)]
        + SVerticalBox::Slot().AutoHeight()[SAssignNew(Variables, SVerticalBox)]
        + SVerticalBox::Slot().FillHeight(1.0f)[SAssignNew(Lines, SScrollBox)]
        + SVerticalBox::Slot().AutoHeight()[SAssignNew(Turns, SVerticalBox)]
        + SVerticalBox::Slot().AutoHeight()[SAssignNew(ToolCalls, SVerticalBox)]
        + SVerticalBox::Slot().AutoHeight()[MakeInput()]
    ];
}

SParleyTestChat::~SParleyTestChat() = default;

TSharedRef<SWidget> SParleyTestChat::MakeHead()
{
    return SNew(SVerticalBox)
        + SVerticalBox::Slot()
        .AutoHeight()
        [
            SNew(SHorizontalBox)
            + SHorizontalBox::Slot()
            .FillWidth(1.0f)
            [
                SNew(SObjectPropertyEntryBox)
                .AllowedClass(UParleyWorkflow::StaticClass())
                .ObjectPath(this, &SParleyTestChat::GetPath)
                .OnObjectChanged(this, &SParleyTestChat::OnChosen)
            ]
            + SHorizontalBox::Slot()
            .AutoWidth()
            [
                SNew(SButton)
                .Text_Lambda([this]() { return Chat && Chat->HasBegun() ? LOCTEXT("Anew", "Begin Anew") : LOCTEXT("Begin", "Begin"); })
                .IsEnabled_Lambda([this]() { return !Asset.IsNull(); })
                .OnClicked_Lambda([this]() { Begin(false); return FReply::Handled(); })
            ]
            + SHorizontalBox::Slot()
            .AutoWidth()
            [
                SNew(SButton)
                .Text(LOCTEXT("TakeEdits", "Take Edits"))
                .ToolTipText(LOCTEXT("TakeEditsTip", "Go on with the workflow as it is now, and with what was said."))
                .IsEnabled_Lambda([this]() { return bIsStale; })
                .OnClicked_Lambda([this]() { Begin(true); return FReply::Handled(); })
            ]
        ]
        + SVerticalBox::Slot()
        .AutoHeight()
        [
            SNew(STextBlock).Text(this, &SParleyTestChat::GetStatus).AutoWrapText(true)
        ];
}

TSharedRef<SWidget> SParleyTestChat::MakeInput()
{
    return SNew(SHorizontalBox)
        + SHorizontalBox::Slot()
        .FillWidth(1.0f)
        [
            SAssignNew(Input, SEditableTextBox)
            .HintText(LOCTEXT("Hint", "Say something\u2026"))
            .ClearKeyboardFocusOnCommit(false)
            .OnTextCommitted(this, &SParleyTestChat::OnCommitted)
        ]
        + SHorizontalBox::Slot()
        .AutoWidth()
        [
            SNew(SButton)
            .Text(LOCTEXT("Say", "Say"))
            .IsEnabled_Lambda([this]() { return Chat && Chat->CanSay(); })
            .OnClicked(this, &SParleyTestChat::OnSay)
        ]
        + SHorizontalBox::Slot()
        .AutoWidth()
        [
            SNew(SButton)
            .Text(LOCTEXT("Cancel", "Cancel"))
            .IsEnabled_Lambda([this]() { return Chat && Chat->IsBusy(); })
            .OnClicked_Lambda([this]()
            {
                if (Chat)
                {
                    Chat->Cancel();
                }
                return FReply::Handled();
            })
        ];
}

// ---- doing

void SParleyTestChat::Choose(UParleyWorkflow* Workflow)
{
    if (Asset.Get() != Workflow || Workflow == nullptr)
    {
        Chat.reset();
        Asset = Workflow;
        Fault.Reset();
        bIsDirty = true;
    }
}

void SParleyTestChat::Begin(bool bKeepDialog)
{
    const UParleyWorkflow* Workflow = Asset.LoadSynchronous();
    FParleyEditorSidecar* Sidecar = FParleyEditorSidecar::Get();
    Parley::Json Json;
    Fault.Reset();
    bIsDirty = true;
    if (Workflow == nullptr || Sidecar == nullptr || !Workflow->ToCore(Json, Fault))
    {
        return;
    }
    const std::shared_ptr<Parley::ParleyCore> Core = Sidecar->Start(Fault);
    if (!Core)
    {
        return;
    }
    if (!Chat || Chat->GetCore() != Core)
    {
        Chat.reset(); // that of a sidecar that was stopped; it ends before the next begins
        Chat = std::make_unique<Parley::Editor::ChatModel>(Core);
        Chat->Changed = [this]() { bIsDirty = true; };
    }
    Chat->Begin(Json, bKeepDialog);
    Sidecar->AskModels();
}

bool SParleyTestChat::Say(const FString& Text)
{
    return Chat && Chat->Say(Parley::ToUtf8(Text));
}

FReply SParleyTestChat::OnSay()
{
    OnCommitted(Input->GetText(), ETextCommit::OnEnter);
    return FReply::Handled();
}

void SParleyTestChat::OnCommitted(const FText& Text, ETextCommit::Type How)
{
    if (How == ETextCommit::OnEnter && Chat && Chat->CanSay() && Say(Text.ToString()))
    {
        Input->SetText(FText());
    }
}

FString SParleyTestChat::GetPath() const
{
    return Asset.ToString();
}

void SParleyTestChat::OnChosen(const FAssetData& Chosen)
{
    Choose(Cast<UParleyWorkflow>(Chosen.GetAsset()));
}

/// Whether the workflow was edited since the conversation began; not in every frame, since it reads all of it.
void SParleyTestChat::LookWhetherStale(double Now)
{
    if (Now - StaleLookedAt < Parley::TestChatLocal::StaleLookS)
    {
        return;
    }
    StaleLookedAt = Now;
    const UParleyWorkflow* Workflow = Asset.Get();
    Parley::Json Json;
    FString Ignored;
    bIsStale = Chat && Chat->HasBegun() && Workflow != nullptr && Workflow->ToCore(Json, Ignored) && Chat->IsStale(Json);
}

FText SParleyTestChat::GetStatus() const
{
    if (!Fault.IsEmpty())
    {
        return FText::FromString(Fault);
    }
    return Chat ? Parley::TestChatLocal::TextOf(Chat->GetStatus()) : LOCTEXT("None", "Choose a workflow and press Begin. The sidecar starts by itself; no Play is needed.");
}

// ---- drawing

void SParleyTestChat::Tick(const FGeometry& AllottedGeometry, const double InCurrentTime, const float InDeltaTime)
{
    SCompoundWidget::Tick(AllottedGeometry, InCurrentTime, InDeltaTime);
    LookWhetherStale(InCurrentTime);
    if (bIsDirty)
    {
        bIsDirty = false;
        Draw();
    }
}

void SParleyTestChat::Draw()
{
    Findings->ClearChildren();
    Turns->ClearChildren();
    DrawLines();
    DrawEntries();
    if (Chat)
    {
        Findings->AddSlot().AutoHeight()[FParleyFieldWidgets::MakeFindings(Chat->GetFindings())];
        DrawTurns();
    }
}

void SParleyTestChat::DrawEntries()
{
    FString Now;
    if (Chat)
    {
        for (const Parley::Editor::ChatVariable& Variable : Chat->GetVariables())
        {
            Now += Parley::ToFString(Variable.Name + "=" + Variable.Text + "!" + Variable.Refusal + "\n");
        }
        for (const Parley::Editor::ChatToolCall& Call : Chat->GetToolCalls())
        {
            Now += Parley::ToFString(Call.Call->GetCallId() + "\n");
        }
    }
    if (Now.Equals(DrawnEntries, ESearchCase::CaseSensitive))
    {
        return;
    }
    DrawnEntries = Now;
    Variables->ClearChildren();
    ToolCalls->ClearChildren();
    if (!Chat)
    {
        return;
    }
    for (const Parley::Editor::ChatVariable& Variable : Chat->GetVariables())
    {
        Variables->AddSlot().AutoHeight()[MakeVariable(Variable)];
    }
    for (const Parley::Editor::ChatToolCall& Call : Chat->GetToolCalls())
    {
        ToolCalls->AddSlot().AutoHeight()[MakeToolCall(Call)];
    }
}

/// Lines that are drawn follow their text by themselves; only new ones are added.
void SParleyTestChat::DrawLines()
{
    const int32 Count = Chat ? static_cast<int32>(Chat->GetLines().size()) : 0;
    if (Count < DrawnLines)
    {
        Lines->ClearChildren();
        DrawnLines = 0;
    }
    for (; DrawnLines < Count; ++DrawnLines)
    {
        Lines->AddSlot()[MakeLine(DrawnLines)];
    }
    Lines->ScrollToEnd();
}

TSharedRef<SWidget> SParleyTestChat::MakeLine(int32 At)
{
    // By its place: the conversation may be begun anew before the widget is gone.
    const auto Line = [this, At]() -> const Parley::Editor::ChatLine*
    {
        const bool bIsThere = Chat && At < static_cast<int32>(Chat->GetLines().size());
        return bIsThere ? &Chat->GetLines()[static_cast<std::size_t>(At)] : nullptr;
    };
    return SNew(STextBlock)
        .AutoWrapText(true)
        .Text_Lambda([Line]() { return Line() == nullptr ? FText() : Parley::TestChatLocal::TextOf(Line()->Shown()); })
        .ColorAndOpacity_Lambda([this, Line]() { return Line() == nullptr ? FSlateColor::UseForeground() : ColourOf(*Line()); });
}

FSlateColor SParleyTestChat::ColourOf(const Parley::Editor::ChatLine& Line)
{
    switch (Line.Kind)
    {
    case Parley::Editor::ChatLineKind::Failure:
        return FSlateColor(FLinearColor(1.0f, 0.45f, 0.45f));
    case Parley::Editor::ChatLineKind::Note:
    case Parley::Editor::ChatLineKind::Sound:
        return FSlateColor(FLinearColor(0.65f, 0.65f, 0.65f));
    case Parley::Editor::ChatLineKind::Player:
        return FSlateColor(FLinearColor(1.0f, 1.0f, 1.0f));
    default:
        break;
    }
    const int32 Speaker = Speakers.AddUnique(Parley::ToFString(Line.NodeName));
    return FSlateColor(Parley::TestChatLocal::SpeakerColours[Speaker % static_cast<int32>(UE_ARRAY_COUNT(Parley::TestChatLocal::SpeakerColours))]);
}

void SParleyTestChat::DrawTurns()
{
    const auto& All = Chat->GetTurns();
    const std::size_t First = All.size() > Parley::TestChatLocal::TurnsShown ? All.size() - Parley::TestChatLocal::TurnsShown : 0;
    for (std::size_t At = First; At < All.size(); ++At)
    {
        const std::shared_ptr<const Parley::Editor::TurnInspectorModel> Shown = All[At];
        Turns->AddSlot().AutoHeight()
        [
            SNew(SButton)
            .Text(Parley::TestChatLocal::TextOf("Inspect turn " + std::to_string(Shown->TurnId) + " (" + Shown->Status + ")"))
            .OnClicked_Lambda([Shown]() { FParleyTabs::OpenTurn(Shown); return FReply::Handled(); })
        ];
    }
    if (!All.empty() && All.back() != FParleyTabs::GetTurn())
    {
        FParleyTabs::ShowTurn(All.back());
    }
}

TSharedRef<SWidget> SParleyTestChat::MakeVariable(const Parley::Editor::ChatVariable& Variable)
{
    const std::string Name = Variable.Name;
    TSharedRef<SVerticalBox> Box = SNew(SVerticalBox)
        + SVerticalBox::Slot()
        .AutoHeight()
        [
            SNew(SHorizontalBox)
            + SHorizontalBox::Slot()
            .FillWidth(0.3f)
            [
                SNew(STextBlock).Text(Parley::TestChatLocal::TextOf(Name)).ToolTipText(Parley::TestChatLocal::TextOf(Variable.Type))
            ]
            + SHorizontalBox::Slot()
            .FillWidth(0.7f)
            [
                SNew(SEditableTextBox)
                .Text(Parley::TestChatLocal::TextOf(Variable.Text))
                .OnTextCommitted_Lambda([this, Name, Before = Variable.Text](const FText& Typed, ETextCommit::Type How)
                {
                    const std::string Now = Parley::ToUtf8(Typed.ToString());
                    if (Chat && How != ETextCommit::OnCleared && Now != Before)
                    {
                        Chat->SetVariable(Name, Now);
                    }
                })
            ]
        ];
    if (!Variable.Refusal.empty())
    {
        Box->AddSlot().AutoHeight()[FParleyFieldWidgets::MakeRemark(Parley::TestChatLocal::TextOf(Variable.Refusal), false)];
    }
    return Box;
}

TSharedRef<SWidget> SParleyTestChat::MakeToolCall(const Parley::Editor::ChatToolCall& Call)
{
    const std::string Id = Call.Call->GetCallId();
    const auto Answer = [this, Id](bool bFails)
    {
        if (Chat)
        {
            Chat->Answer(Id, bFails);
        }
        return FReply::Handled();
    };
    return SNew(SHorizontalBox)
        + SHorizontalBox::Slot()
        .AutoWidth()
        .VAlign(VAlign_Center)
        [
            SNew(STextBlock).Text(Parley::TestChatLocal::TextOf("Result of " + Call.Call->GetTool()))
        ]
        + SHorizontalBox::Slot()
        .FillWidth(1.0f)
        [
            SNew(SEditableTextBox)
            .Text(Parley::TestChatLocal::TextOf(Call.Result))
            .OnTextChanged_Lambda([this, Id](const FText& Typed)
            {
                if (Chat)
                {
                    Chat->SetResult(Id, Parley::ToUtf8(Typed.ToString()));
                }
            })
        ]
        + SHorizontalBox::Slot()
        .AutoWidth()
        [
            SNew(SButton).Text(LOCTEXT("Answer", "Answer")).OnClicked_Lambda([Answer]() { return Answer(false); })
        ]
        + SHorizontalBox::Slot()
        .AutoWidth()
        [
            SNew(SButton).Text(LOCTEXT("Fail", "Fail")).OnClicked_Lambda([Answer]() { return Answer(true); })
        ];
}

#undef LOCTEXT_NAMESPACE
