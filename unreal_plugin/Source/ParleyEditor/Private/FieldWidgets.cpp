// Draws the rows of a workflow with the controls that their kinds ask for.
#include "FieldWidgets.h"

#include "EditorSidecar.h"

#include "DesktopPlatformModule.h"
#include "DetailCategoryBuilder.h"
#include "DetailLayoutBuilder.h"
#include "DetailWidgetRow.h"
#include "Framework/Application/SlateApplication.h"
#include "IDesktopPlatform.h"
#include "IDetailGroup.h"
#include "Misc/Paths.h"
#include "ParleyText.h"
#include "Styling/SlateColor.h"
#include "Widgets/Input/SButton.h"
#include "Widgets/Input/SCheckBox.h"
#include "Widgets/Input/SComboBox.h"
#include "Widgets/Input/SEditableTextBox.h"
#include "Widgets/Input/SMultiLineEditableTextBox.h"
#include "Widgets/Input/SSpinBox.h"
#include "Widgets/Layout/SBox.h"
#include "Widgets/SBoxPanel.h"
#include "Widgets/Text/STextBlock.h"

#define LOCTEXT_NAMESPACE "ParleyFieldWidgets"

namespace Parley::FieldWidgetsLocal
{

using Editor::FieldControl;
using Editor::FieldRow;

constexpr double SliderRange = 20.0;
constexpr double IntSliderRange = 100.0;
const FLinearColor Red(1.0f, 0.35f, 0.35f);
const FLinearColor Amber(1.0f, 0.75f, 0.3f);

FText TextOf(const std::string& Text)
{
    return FText::FromString(ToFString(Text));
}

/// A choice of a dropdown: SComboBox compares by pointer.
using FOption = TSharedPtr<FString>;

bool IsPlain(FieldControl Control)
{
    return Control == FieldControl::Integer || Control == FieldControl::Number || Control == FieldControl::Boolean
        || Control == FieldControl::Text;
}

/// The bounds are near enough to each other for a slider, and hold what is stored.
bool HasSlider(const FieldRow& Row)
{
    const double Range = Row.Control == FieldControl::Integer ? IntSliderRange : SliderRange;
    return Row.Least && Row.Most && *Row.Most - *Row.Least <= Range && Row.Number() >= *Row.Least && Row.Number() <= *Row.Most;
}

/// Escape takes back what was typed; all else that ends typing commits it.
bool IsCommit(ETextCommit::Type How)
{
    return How != ETextCommit::OnCleared;
}

} // namespace Parley::FieldWidgetsLocal

FParleyFieldWidgets::FParleyFieldWidgets(Parley::Editor::WorkflowInspectorModel& InModel, FSimpleDelegate InChanged)
    : Model(InModel), Changed(MoveTemp(InChanged))
{
}

// ---- rows

void FParleyFieldWidgets::Add(IDetailCategoryBuilder& Category, const FRow& Row, int32 NodeIndex)
{
    if (Row.Control == Parley::Editor::FieldControl::List || Row.Control == Parley::Editor::FieldControl::Record)
    {
        IDetailGroup& Group = Category.AddGroup(FName(*Parley::ToFString(Row.Path)), Parley::FieldWidgetsLocal::TextOf(Row.Label));
        Fill(Group.HeaderRow(), Row, NodeIndex, false);
        AddChildren(Group, Row, NodeIndex);
        return;
    }
    Fill(Category.AddCustomRow(Parley::FieldWidgetsLocal::TextOf(Row.Label)), Row, NodeIndex, false);
}

void FParleyFieldWidgets::Add(IDetailGroup& Group, const FRow& Row, int32 NodeIndex)
{
    if (Row.Control == Parley::Editor::FieldControl::List || Row.Control == Parley::Editor::FieldControl::Record)
    {
        IDetailGroup& Inner = Group.AddGroup(FName(*Parley::ToFString(Row.Path)), Parley::FieldWidgetsLocal::TextOf(Row.Label));
        Fill(Inner.HeaderRow(), Row, NodeIndex, !Row.Way.empty() && Row.Way.back().IsIndex);
        AddChildren(Inner, Row, NodeIndex);
        return;
    }
    Fill(Group.AddWidgetRow(), Row, NodeIndex, !Row.Way.empty() && Row.Way.back().IsIndex);
}

void FParleyFieldWidgets::AddChildren(IDetailGroup& Group, const FRow& Row, int32 NodeIndex)
{
    for (const FRow& Child : Row.Children)
    {
        Add(Group, Child, NodeIndex);
    }
}

void FParleyFieldWidgets::Fill(FDetailWidgetRow& Into, const FRow& Row, int32 NodeIndex, bool bIsItem)
{
    Into.NameContent()
    [
        SNew(STextBlock)
        .Text(Parley::FieldWidgetsLocal::TextOf(Row.Label))
        .ToolTipText(Parley::FieldWidgetsLocal::TextOf(Row.FullTooltip()))
        .Font(IDetailLayoutBuilder::GetDetailFont())
    ];
    Into.ValueContent()
    .MinDesiredWidth(250.0f)
    .MaxDesiredWidth(900.0f)
    [
        MakeValue(Row, NodeIndex, bIsItem)
    ];
}

TSharedRef<SWidget> FParleyFieldWidgets::MakeValue(const FRow& Row, int32 NodeIndex, bool bIsItem)
{
    TSharedRef<SHorizontalBox> Line = SNew(SHorizontalBox)
        + SHorizontalBox::Slot()
        .FillWidth(1.0f)
        [
            MakeControl(Row, NodeIndex)
        ];
    if (bIsItem)
    {
        Line->AddSlot().AutoWidth()[MakeItemButtons(Row)];
    }
    else if (Row.IsOptional && Row.Stored)
    {
        Line->AddSlot().AutoWidth()
        [
            MakeButton(
                LOCTEXT("Clear", "\u00d7"), LOCTEXT("ClearTip", "Take the field away: its default holds again."),
                [this, Row]() { Model.Clear(Row); })
        ];
    }
    TSharedRef<SVerticalBox> Box = SNew(SVerticalBox)
        + SVerticalBox::Slot()
        .AutoHeight()
        [
            Line
        ];
    if (!Row.Fault.empty())
    {
        Box->AddSlot().AutoHeight()[MakeRemark(Parley::FieldWidgetsLocal::TextOf(Row.Label + " " + Row.Fault), true)];
    }
    if (!Row.Refusal.empty())
    {
        Box->AddSlot().AutoHeight()[MakeRemark(Parley::FieldWidgetsLocal::TextOf(Row.Refusal), false)];
    }
    if (!Row.Findings.empty())
    {
        Box->AddSlot().AutoHeight()[MakeFindings(Row.Findings)];
    }
    return Box;
}

TSharedRef<SWidget> FParleyFieldWidgets::MakeFindings(const std::vector<Parley::Finding>& Findings)
{
    TSharedRef<SVerticalBox> Box = SNew(SVerticalBox);
    for (const Parley::Finding& Each : Findings)
    {
        Box->AddSlot().AutoHeight()[MakeRemark(Parley::FieldWidgetsLocal::TextOf(Each.Message), Each.IsError)];
    }
    return Box;
}

TSharedRef<SWidget> FParleyFieldWidgets::MakeRemark(const FText& Text, bool bIsError)
{
    return SNew(STextBlock)
        .Text(Text)
        .AutoWrapText(true)
        .Font(IDetailLayoutBuilder::GetDetailFont())
        .ColorAndOpacity(FSlateColor(bIsError ? Parley::FieldWidgetsLocal::Red : Parley::FieldWidgetsLocal::Amber));
}

TSharedRef<SWidget> FParleyFieldWidgets::MakeButton(const FText& Text, const FText& Tooltip, TFunction<void()> Do)
{
    // By mouse down: a text that is being typed is committed as it loses the focus, the panel is drawn anew, and the button
    // that would see the mouse come up is gone.
    return SNew(SButton)
        .Text(Text)
        .ToolTipText(Tooltip)
        .ClickMethod(EButtonClickMethod::MouseDown)
        .OnClicked_Lambda([Weak = AsWeak(), Do = MoveTemp(Do)]()
        {
            const TSharedPtr<FParleyFieldWidgets> Self = Weak.Pin();
            return Self.IsValid() ? Self->Press(Do) : FReply::Handled();
        });
}

TSharedRef<SWidget> FParleyFieldWidgets::MakeItemButtons(const FRow& Row)
{
    return SNew(SHorizontalBox)
        + SHorizontalBox::Slot()
        .AutoWidth()
        [
            MakeButton(LOCTEXT("Up", "\u25b2"), LOCTEXT("UpTip", "Move this entry up."), [this, Row]() { Model.MoveItem(Row, -1); })
        ]
        + SHorizontalBox::Slot()
        .AutoWidth()
        [
            MakeButton(LOCTEXT("Down", "\u25bc"), LOCTEXT("DownTip", "Move this entry down."), [this, Row]() { Model.MoveItem(Row, 1); })
        ]
        + SHorizontalBox::Slot()
        .AutoWidth()
        [
            MakeButton(LOCTEXT("Remove", "\u00d7"), LOCTEXT("RemoveTip", "Take this entry away."), [this, Row]() { Model.Clear(Row); })
        ];
}

// ---- controls

TSharedRef<SWidget> FParleyFieldWidgets::MakeControl(const FRow& Row, int32 NodeIndex)
{
    if (!Row.Value && Row.IsOptional && Parley::FieldWidgetsLocal::IsPlain(Row.Control))
    {
        return MakeUnset(Row);
    }
    const std::size_t Index = static_cast<std::size_t>(FMath::Max(NodeIndex, 0));
    switch (Row.Control)
    {
    case Parley::Editor::FieldControl::Name:
        return MakeLine(Row, Parley::ToFString(Row.Text()), [this, Index](const FString& Text) { Model.Rename(Index, Parley::ToUtf8(Text)); });
    case Parley::Editor::FieldControl::Slot:
        return MakeLine(
            Row, Parley::ToFString(Row.Text()), [this, Index](const FString& Text) { Model.RenameSlot(Index, Parley::ToUtf8(Text)); });
    case Parley::Editor::FieldControl::Text:
        return MakeLine(Row, Parley::ToFString(Row.Text()), [this, Row](const FString& Text) { Model.SetText(Row, Parley::ToUtf8(Text)); });
    case Parley::Editor::FieldControl::Lines:
    case Parley::Editor::FieldControl::Template:
        return MakeLines(Row);
    case Parley::Editor::FieldControl::Dropdown:
        return MakeDropdown(Row, true);
    case Parley::Editor::FieldControl::Model:
        return MakeModel(Row);
    case Parley::Editor::FieldControl::File:
        return MakeFile(Row);
    case Parley::Editor::FieldControl::Boolean:
        return MakeFlag(Row);
    case Parley::Editor::FieldControl::Integer:
    case Parley::Editor::FieldControl::Number:
        return Row.Choices ? MakeDropdown(Row, true) : MakeNumber(Row);
    case Parley::Editor::FieldControl::List:
        return MakeList(Row);
    case Parley::Editor::FieldControl::Record:
        return SNew(STextBlock).Font(IDetailLayoutBuilder::GetDetailFont());
    default:
        return MakeLine(
            Row, Parley::ToFString(Model.JsonOf(Row)), [this, Row](const FString& Text) { Model.SetJson(Row, Parley::ToUtf8(Text)); });
    }
}

TSharedRef<SWidget> FParleyFieldWidgets::MakeLine(const FRow& Row, const FString& Text, FCommit Store)
{
    return SNew(SEditableTextBox)
        .Text(FText::FromString(Text))
        .ToolTipText(Parley::FieldWidgetsLocal::TextOf(Row.FullTooltip()))
        .Font(IDetailLayoutBuilder::GetDetailFont())
        .RevertTextOnEscape(true)
        .SelectAllTextWhenFocused(true)
        .OnTextCommitted_Lambda([Weak = AsWeak(), Before = Text, Store = MoveTemp(Store)](const FText& Typed, ETextCommit::Type How)
        {
            const TSharedPtr<FParleyFieldWidgets> Self = Weak.Pin();
            const FString Now = Typed.ToString();
            if (Self.IsValid() && Parley::FieldWidgetsLocal::IsCommit(How) && !Now.Equals(Before, ESearchCase::CaseSensitive))
            {
                Self->Commit([&Store, &Now]() { Store(Now); });
            }
        });
}

TSharedRef<SWidget> FParleyFieldWidgets::MakeLines(const FRow& Row)
{
    const FString Text = Parley::ToFString(Row.Text());
    return SNew(SBox)
        .MinDesiredHeight(48.0f)
        .MaxDesiredHeight(320.0f)
        [
            SNew(SMultiLineEditableTextBox)
            .Text(FText::FromString(Text))
            .ToolTipText(Parley::FieldWidgetsLocal::TextOf(Row.FullTooltip()))
            .Font(IDetailLayoutBuilder::GetDetailFont())
            .AutoWrapText(true)
            .OnTextCommitted_Lambda([Weak = AsWeak(), this, Row, Before = Text](const FText& Typed, ETextCommit::Type How)
            {
                const TSharedPtr<FParleyFieldWidgets> Self = Weak.Pin();
                const FString Now = Typed.ToString();
                if (Self.IsValid() && Parley::FieldWidgetsLocal::IsCommit(How) && !Now.Equals(Before, ESearchCase::CaseSensitive))
                {
                    Self->Commit([this, &Row, &Now]() { Model.SetText(Row, Parley::ToUtf8(Now)); });
                }
            })
        ];
}

TSharedRef<SWidget> FParleyFieldWidgets::MakeDropdown(const FRow& Row, bool bShowsSelected)
{
    const Parley::Editor::Dropdown& Choices = *Row.Choices;
    TSharedRef<TArray<Parley::FieldWidgetsLocal::FOption>> Options = MakeShared<TArray<Parley::FieldWidgetsLocal::FOption>>();
    for (const std::string& Label : Choices.Labels)
    {
        Options->Add(MakeShared<FString>(Parley::ToFString(Label)));
    }
    const Parley::FieldWidgetsLocal::FOption Selected = Options->IsValidIndex(Choices.Selected) ? (*Options)[Choices.Selected] : Parley::FieldWidgetsLocal::FOption();
    const FText Shown = bShowsSelected && Selected.IsValid() ? FText::FromString(*Selected) : FText();
    return SNew(SComboBox<Parley::FieldWidgetsLocal::FOption>)
        .OptionsSource(&Options.Get())
        .InitiallySelectedItem(Selected)
        .ToolTipText(Parley::FieldWidgetsLocal::TextOf(Row.FullTooltip()))
        .OnGenerateWidget_Lambda([](Parley::FieldWidgetsLocal::FOption Option)
        {
            return SNew(STextBlock).Text(FText::FromString(*Option)).Font(IDetailLayoutBuilder::GetDetailFont());
        })
        .OnSelectionChanged_Lambda([Weak = AsWeak(), this, Row, Options](Parley::FieldWidgetsLocal::FOption Option, ESelectInfo::Type How)
        {
            const TSharedPtr<FParleyFieldWidgets> Self = Weak.Pin();
            const int32 At = Options->Find(Option);
            // Direct: the box was told what is selected; nobody picked it.
            if (Self.IsValid() && How != ESelectInfo::Direct && At != INDEX_NONE && At != Row.Choices->Selected)
            {
                Self->Commit([this, &Row, At]()
                {
                    const std::string& Value = Row.Choices->Values[static_cast<std::size_t>(At)];
                    if (Row.Control == Parley::Editor::FieldControl::Integer)
                    {
                        Model.SetTyped(Row, Value);
                    }
                    else
                    {
                        Model.SetText(Row, Value);
                    }
                });
            }
        })
        [
            SNew(STextBlock)
            .Text(Shown)
            .Font(IDetailLayoutBuilder::GetDetailFont())
            .ColorAndOpacity(Choices.IsMissing ? FSlateColor(Parley::FieldWidgetsLocal::Red) : FSlateColor::UseForeground())
        ];
}

TSharedRef<SWidget> FParleyFieldWidgets::MakeModel(const FRow& Row)
{
    TSharedRef<SVerticalBox> Box = SNew(SVerticalBox)
        + SVerticalBox::Slot()
        .AutoHeight()
        [
            SNew(SHorizontalBox)
            + SHorizontalBox::Slot()
            .FillWidth(1.0f)
            [
                MakeLine(Row, Parley::ToFString(Row.Text()), [this, Row](const FString& Text) { Model.SetText(Row, Parley::ToUtf8(Text)); })
            ]
            + SHorizontalBox::Slot()
            .AutoWidth()
            [
                MakeDropdown(Row, false)
            ]
        ];
    if (Row.Choices->IsMissing)
    {
        Box->AddSlot().AutoHeight()[MakeRemark(LOCTEXT("NoModel", "The catalog has no model of this name."), true)];
    }
    return Box;
}

TSharedRef<SWidget> FParleyFieldWidgets::MakeFile(const FRow& Row)
{
    return SNew(SHorizontalBox)
        + SHorizontalBox::Slot()
        .FillWidth(1.0f)
        [
            MakeLine(Row, Parley::ToFString(Row.Text()), [this, Row](const FString& Text) { Model.SetText(Row, Parley::ToUtf8(Text)); })
        ]
        + SHorizontalBox::Slot()
        .AutoWidth()
        [
            MakeButton(
                LOCTEXT("Pick", "\u2026"), LOCTEXT("PickTip", "Choose a file of the storage folder."), [this, Row]() { PickFile(Row); })
        ];
}

void FParleyFieldWidgets::PickFile(const FRow& Row)
{
    IDesktopPlatform* Desktop = FDesktopPlatformModule::Get();
    if (Desktop == nullptr)
    {
        return;
    }
    const FString Folder = FParleyEditorSidecar::GetStorageFolder();
    TArray<FString> Chosen;
    const void* Window = FSlateApplication::Get().FindBestParentWindowHandleForDialogs(nullptr);
    const FString Title = LOCTEXT("PickTitle", "Choose a file of the storage folder").ToString();
    if (!Desktop->OpenFileDialog(Window, Title, Folder, FString(), FString(), EFileDialogFlags::None, Chosen) || Chosen.Num() == 0)
    {
        return;
    }
    FString File = FPaths::ConvertRelativePathToFull(Chosen[0]);
    FPaths::NormalizeFilename(File);
    FPaths::CollapseRelativeDirectories(File);
    Model.SetFile(Row, Parley::ToUtf8(File), Parley::ToUtf8(Folder));
}

TSharedRef<SWidget> FParleyFieldWidgets::MakeFlag(const FRow& Row)
{
    return SNew(SCheckBox)
        .ToolTipText(Parley::FieldWidgetsLocal::TextOf(Row.FullTooltip()))
        .IsChecked(Row.Flag() ? ECheckBoxState::Checked : ECheckBoxState::Unchecked)
        .OnCheckStateChanged_Lambda([Weak = AsWeak(), this, Row](ECheckBoxState State)
        {
            const TSharedPtr<FParleyFieldWidgets> Self = Weak.Pin();
            if (Self.IsValid())
            {
                Self->Commit([this, &Row, State]() { Model.Set(Row, Parley::Json::Boolean(State == ECheckBoxState::Checked)); });
            }
        });
}

TSharedRef<SWidget> FParleyFieldWidgets::MakeNumber(const FRow& Row)
{
    if (!Parley::FieldWidgetsLocal::HasSlider(Row))
    {
        return MakeLine(
            Row, Parley::ToFString(Model.JsonOf(Row)), [this, Row](const FString& Text) { Model.SetTyped(Row, Parley::ToUtf8(Text)); });
    }
    // One step for whole numbers; 0: none.
    const double Step = Row.Control == Parley::Editor::FieldControl::Integer ? 1.0 : 0.0;
    return SNew(SSpinBox<double>)
        .ToolTipText(Parley::FieldWidgetsLocal::TextOf(Row.FullTooltip()))
        .Font(IDetailLayoutBuilder::GetDetailFont())
        .MinValue(*Row.Least)
        .MaxValue(*Row.Most)
        .MinSliderValue(*Row.Least)
        .MaxSliderValue(*Row.Most)
        .Delta(Step)
        .Value(Row.Number())
        .OnValueCommitted_Lambda([Weak = AsWeak(), this, Row](double Value, ETextCommit::Type How)
        {
            const TSharedPtr<FParleyFieldWidgets> Self = Weak.Pin();
            if (Self.IsValid() && Parley::FieldWidgetsLocal::IsCommit(How) && Value != Row.Number())
            {
                Self->Commit([this, &Row, Value]() { Model.SetNumber(Row, Value); });
            }
        });
}

TSharedRef<SWidget> FParleyFieldWidgets::MakeUnset(const FRow& Row)
{
    return SNew(SHorizontalBox)
        + SHorizontalBox::Slot()
        .FillWidth(1.0f)
        .VAlign(VAlign_Center)
        [
            SNew(STextBlock)
            .Text(LOCTEXT("Unset", "(as the catalog says)"))
            .ToolTipText(Parley::FieldWidgetsLocal::TextOf(Row.FullTooltip()))
            .Font(IDetailLayoutBuilder::GetDetailFont())
        ]
        + SHorizontalBox::Slot()
        .AutoWidth()
        [
            MakeButton(LOCTEXT("Set", "Set"), LOCTEXT("SetTip", "Give the field a value of its own."), [this, Row]() { Model.Set(Row, Row.First()); })
        ];
}

TSharedRef<SWidget> FParleyFieldWidgets::MakeList(const FRow& Row)
{
    return SNew(SHorizontalBox)
        + SHorizontalBox::Slot()
        .FillWidth(1.0f)
        .VAlign(VAlign_Center)
        [
            SNew(STextBlock)
            .Text(FText::Format(LOCTEXT("Entries", "{0} entries"), FText::AsNumber(static_cast<int32>(Row.Children.size()))))
            .Font(IDetailLayoutBuilder::GetDetailFont())
        ]
        + SHorizontalBox::Slot()
        .AutoWidth()
        [
            MakeButton(LOCTEXT("Add", "Add"), LOCTEXT("AddTip", "Put one more entry at the end."), [this, Row]() { Model.AddItem(Row); })
        ];
}

// ---- doing

/// A text that is still being typed is committed first, while its field is still the one that it was typed into.
FReply FParleyFieldWidgets::Press(TFunction<void()> Edit)
{
    FSlateApplication::Get().ClearKeyboardFocus(EFocusCause::Mouse);
    Commit(MoveTemp(Edit));
    return FReply::Handled();
}

void FParleyFieldWidgets::Commit(TFunction<void()> Edit)
{
    Edit();
    Changed.ExecuteIfBound();
}

#undef LOCTEXT_NAMESPACE
