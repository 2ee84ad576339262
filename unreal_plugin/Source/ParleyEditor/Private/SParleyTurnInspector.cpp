// The tab that shows what became of a turn, step by step.
#include "SParleyTurnInspector.h"

#include "FieldWidgets.h"
#include "Models/EditorJson.h"
#include "ParleyTabs.h"

#include "HAL/PlatformApplicationMisc.h"
#include "ParleyJson.h"
#include "ParleyText.h"
#include "Widgets/Input/SButton.h"
#include "Widgets/Input/SMultiLineEditableTextBox.h"
#include "Widgets/Layout/SBox.h"
#include "Widgets/Layout/SExpandableArea.h"
#include "Widgets/Layout/SScrollBox.h"
#include "Widgets/SBoxPanel.h"
#include "Widgets/Text/STextBlock.h"

#define LOCTEXT_NAMESPACE "ParleyTurnInspector"

namespace Parley::TurnInspectorLocal
{

FText TextOf(const std::string& Text)
{
    return FText::FromString(ToFString(Text));
}

} // namespace Parley::TurnInspectorLocal

void SParleyTurnInspector::Construct(const FArguments&)
{
    ChildSlot
    [
        SNew(SVerticalBox)
        + SVerticalBox::Slot()
        .AutoHeight()
        [
            SNew(SHorizontalBox)
            + SHorizontalBox::Slot()
            .AutoWidth()
            [
                SNew(SButton)
                .Text(LOCTEXT("Copy", "Copy All"))
                .IsEnabled_Lambda([]() { return FParleyTabs::GetTurn() != nullptr; })
                .OnClicked_Lambda([]()
                {
                    if (const auto& Turn = FParleyTabs::GetTurn())
                    {
                        FPlatformApplicationMisc::ClipboardCopy(*Parley::ToFString(Turn->ToText()));
                    }
                    return FReply::Handled();
                })
            ]
            + SHorizontalBox::Slot()
            .AutoWidth()
            [
                SNew(SButton)
                .Text(LOCTEXT("Paste", "From Clipboard"))
                .ToolTipText(LOCTEXT("PasteTip", "Show the JSON of a TurnComplete that was copied from a log."))
                .OnClicked_Lambda([this]() { TakeClipboard(); return FReply::Handled(); })
            ]
        ]
        + SVerticalBox::Slot().FillHeight(1.0f)[SAssignNew(Content, SScrollBox)]
    ];
    OnTurn = FParleyTabs::OnTurnShown().AddSP(this, &SParleyTurnInspector::Draw);
    Draw();
}

SParleyTurnInspector::~SParleyTurnInspector()
{
    FParleyTabs::OnTurnShown().Remove(OnTurn);
}

void SParleyTurnInspector::TakeClipboard()
{
    FString Copied;
    FPlatformApplicationMisc::ClipboardPaste(Copied);
    Parley::Json Json;
    Fault.Reset();
    if (!Parley::JsonFromText(Copied, Json, Fault))
    {
        Draw();
        return;
    }
    // As the sidecar's log has it, or the body alone.
    const Parley::Json* Body = Json.Find("body");
    FParleyTabs::ShowTurn(std::make_shared<const Parley::Editor::TurnInspectorModel>(
        Parley::Editor::TurnInspectorModel::From(Body == nullptr ? Json : *Body, *Parley::EngineCodec())));
}

void SParleyTurnInspector::Draw()
{
    using namespace Parley::TurnInspectorLocal;
    Content->ClearChildren();
    if (!Fault.IsEmpty())
    {
        Content->AddSlot()[FParleyFieldWidgets::MakeRemark(FText::FromString(Fault), true)];
    }
    const std::shared_ptr<const Parley::Editor::TurnInspectorModel> Turn = FParleyTabs::GetTurn();
    if (!Turn)
    {
        Content->AddSlot()[SNew(STextBlock).Text(LOCTEXT("None", "No turn yet. The test chat shows its latest one here."))];
        return;
    }
    Content->AddSlot()[MakeText("", "turn " + std::to_string(Turn->TurnId) + "  " + Turn->Status + "\n> " + Turn->User)];
    if (!Turn->Error.empty())
    {
        Content->AddSlot()[FParleyFieldWidgets::MakeRemark(TextOf(Turn->Error), true)];
    }
    if (!Turn->HasDebug)
    {
        Content->AddSlot()[SNew(STextBlock).Text(LOCTEXT("NoDebug", "This turn carries no diagnostics; the agent was made without them."))];
    }
    for (const std::string& Warning : Turn->Warnings)
    {
        Content->AddSlot()[FParleyFieldWidgets::MakeRemark(TextOf(Warning), false)];
    }
    Content->AddSlot()[MakeFacts("Turn", Turn->Facts)];
    for (const Parley::Editor::StepView& Each : Turn->Steps)
    {
        Content->AddSlot()[MakeStep(Each)];
    }
    Content->AddSlot()[MakeFacts("Slots", Turn->Slots)];
}

TSharedRef<SWidget> SParleyTurnInspector::MakeStep(const Parley::Editor::StepView& Shown)
{
    using namespace Parley::TurnInspectorLocal;
    TSharedRef<SVerticalBox> Box = SNew(SVerticalBox);
    const auto AddText = [&Box](const char* Title, const std::string& Text)
    {
        if (!Text.empty())
        {
            Box->AddSlot().AutoHeight()[MakeText(Title, Text)];
        }
    };
    AddText("", Shown.Model.empty() ? "" : Shown.Model + ", ended by " + Shown.Finish);
    AddText("Input", Shown.InputSlot.empty() ? Shown.InputText : Shown.InputSlot + ": " + Shown.InputText);
    AddText("Output", Shown.OutputSlot.empty() ? "" : Shown.OutputSlot + " = " + Shown.OutputText);
    AddText("Reasoning", Shown.Reasoning);
    Box->AddSlot().AutoHeight()[MakeFacts("Usage", Shown.Usage)];
    Box->AddSlot().AutoHeight()[MakeFacts("Budget", Shown.Budget)];
    std::vector<Parley::Editor::Fact> Chances;
    for (const Parley::Editor::LabelChance& Each : Shown.Chances)
    {
        Chances.push_back({Each.Question.empty() ? Each.Label : Each.Question + " / " + Each.Label,
            Parley::Editor::EditorJson::Fixed(Each.Probability, 3)});
    }
    Box->AddSlot().AutoHeight()[MakeFacts("Probabilities", Chances)];
    std::vector<Parley::Editor::Fact> Hits;
    for (const Parley::Editor::RetrievalHit& Each : Shown.Hits)
    {
        Hits.push_back({(Each.IsTaken ? "\xE2\x9C\x93 " : "") + Each.Id,
            Parley::Editor::EditorJson::Fixed(Each.Distance, 3) + "  " + (Each.Intent.empty() ? "" : Each.Intent + "  ") + Each.Text});
    }
    Box->AddSlot().AutoHeight()[MakeFacts("Hits", Hits)];
    Box->AddSlot().AutoHeight()[MakeFacts("Details", Shown.Details)];
    for (const Parley::Editor::PromptLine& Each : Shown.Prompt)
    {
        AddText(Each.Role.c_str(), Each.Content);
    }
    AddText("Rendered prompt", Shown.Rendered);
    return SNew(SExpandableArea)
        .InitiallyCollapsed(false)
        .AreaTitle(TextOf(Shown.Title()))
        .BodyContent()
        [
            Box
        ];
}

TSharedRef<SWidget> SParleyTurnInspector::MakeFacts(const char* Title, const std::vector<Parley::Editor::Fact>& Facts)
{
    std::string Text;
    for (const Parley::Editor::Fact& Each : Facts)
    {
        Text += (Text.empty() ? "" : "\n") + Each.Name + ": " + Each.Value;
    }
    return Text.empty() ? TSharedRef<SWidget>(SNew(SBox)) : MakeText(Title, Text);
}

/// Read only, but to be selected and copied.
TSharedRef<SWidget> SParleyTurnInspector::MakeText(const char* Title, const std::string& Text)
{
    using namespace Parley::TurnInspectorLocal;
    return SNew(SVerticalBox)
        + SVerticalBox::Slot().AutoHeight()[SNew(STextBlock).Text(TextOf(Title))]
        + SVerticalBox::Slot()
        .AutoHeight()
        [
            SNew(SMultiLineEditableTextBox).Text(TextOf(Text)).IsReadOnly(true).AutoWrapText(true)
        ];
}

#undef LOCTEXT_NAMESPACE
