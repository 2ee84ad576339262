// The Details panel of a workflow, and of one of its nodes.
#include "WorkflowDetails.h"

#include "EditorSidecar.h"
#include "FieldWidgets.h"
#include "ParleyTabs.h"
#include "WorkflowFiles.h"
#include "WorkflowSession.h"

#include "Core/Generated/NodeTypes.h"

#include "DetailCategoryBuilder.h"
#include "DetailLayoutBuilder.h"
#include "DetailWidgetRow.h"
#include "HAL/PlatformTime.h"
#include "IDetailGroup.h"
#include "IPropertyUtilities.h"
#include "ParleyNode.h"
#include "ParleyText.h"
#include "ParleyWorkflow.h"
#include "Widgets/Input/SComboBox.h"
#include "Widgets/SBoxPanel.h"
#include "Widgets/Text/STextBlock.h"

#define LOCTEXT_NAMESPACE "ParleyWorkflowDetails"

namespace Parley::WorkflowDetailsLocal
{

/// Seconds between two looks at the asset.
constexpr float LookS = 0.25f;

} // namespace Parley::WorkflowDetailsLocal

TSharedRef<IDetailCustomization> FParleyWorkflowDetails::MakeInstance()
{
    return MakeShared<FParleyWorkflowDetails>();
}

FParleyWorkflowDetails::~FParleyWorkflowDetails()
{
    FTSTicker::GetCoreTicker().RemoveTicker(Ticker);
}

void FParleyWorkflowDetails::CustomizeDetails(IDetailLayoutBuilder& Builder)
{
    if (!Open(Builder))
    {
        return;
    }
    Utilities = Builder.GetPropertyUtilities();
    Widgets = MakeShared<FParleyFieldWidgets>(
        Session->Model, FSimpleDelegate::CreateSP(this, &FParleyWorkflowDetails::RefreshSoon));
    Session->Look(FPlatformTime::Seconds());
    SeenRevision = Session->GetRevision();
    FTSTicker::GetCoreTicker().RemoveTicker(Ticker);
    Ticker = FTSTicker::GetCoreTicker().AddTicker(
        FTickerDelegate::CreateSP(this, &FParleyWorkflowDetails::Look), Parley::WorkflowDetailsLocal::LookS);
    IDetailCategoryBuilder& Head = Builder.EditCategory(
        TEXT("Workflow"), LOCTEXT("Workflow", "Workflow"), ECategoryPriority::Important);
    AddHead(Head);
    if (!Session->Model.GetFault().empty())
    {
        return;
    }
    IDetailCategoryBuilder& Nodes = Builder.EditCategory(TEXT("Nodes"), LOCTEXT("Nodes", "Nodes"), ECategoryPriority::Important);
    AddNodes(Nodes);
}

/// False: it is nothing that this panel can show, and the engine's rows stay.
bool FParleyWorkflowDetails::Open(IDetailLayoutBuilder& Builder)
{
    TArray<TWeakObjectPtr<UObject>> Objects;
    Builder.GetObjectsBeingCustomized(Objects);
    UObject* Object = Objects.Num() == 1 ? Objects[0].Get() : nullptr;
    UParleyNode* Node = Cast<UParleyNode>(Object);
    UParleyWorkflow* Workflow = Node != nullptr ? Node->GetTypedOuter<UParleyWorkflow>() : Cast<UParleyWorkflow>(Object);
    if (Workflow == nullptr || Workflow->HasAnyFlags(RF_ClassDefaultObject))
    {
        return false;
    }
    Session = FParleyWorkflowSession::Of(Workflow);
    Only = Node;
    if (Node != nullptr)
    {
        TArray<FName> Categories;
        Builder.GetCategoryNames(Categories);
        for (const FName& Category : Categories)
        {
            Builder.HideCategory(Category);
        }
        return true;
    }
    Builder.HideProperty(GET_MEMBER_NAME_CHECKED(UParleyWorkflow, StartNode));
    Builder.HideProperty(GET_MEMBER_NAME_CHECKED(UParleyWorkflow, DefaultModel));
    Builder.HideProperty(GET_MEMBER_NAME_CHECKED(UParleyWorkflow, PlayerName));
    Builder.HideProperty(GET_MEMBER_NAME_CHECKED(UParleyWorkflow, Variables));
    Builder.HideProperty(GET_MEMBER_NAME_CHECKED(UParleyWorkflow, Nodes));
    return true;
}

/// The place of the one node among those that are written; -1: it is not in the workflow any more.
int32 FParleyWorkflowDetails::IndexOfOnly() const
{
    int32 At = 0;
    const UParleyWorkflow* Workflow = Session->Store.GetAsset();
    for (int32 Index = 0; Workflow != nullptr && Index < Workflow->Nodes.Num(); ++Index)
    {
        if (Workflow->Nodes[Index] == Only.Get())
        {
            return At;
        }
        At += Workflow->Nodes[Index] != nullptr ? 1 : 0;
    }
    return INDEX_NONE;
}

void FParleyWorkflowDetails::AddHead(IDetailCategoryBuilder& Category)
{
    Category.AddCustomRow(LOCTEXT("Tools", "Test Chat Import Export Validate")).WholeRowContent()
    [
        SNew(SVerticalBox)
        + SVerticalBox::Slot()
        .AutoHeight()
        [
            SNew(SHorizontalBox)
            + SHorizontalBox::Slot()
            .AutoWidth()
            [
                Widgets->MakeButton(LOCTEXT("Chat", "Test Chat"), LOCTEXT("ChatTip", "Talk with this workflow, without Play."),
                    [this]() { FParleyTabs::OpenChat(Session->Store.GetAsset()); })
            ]
            + SHorizontalBox::Slot()
            .AutoWidth()
            [
                Widgets->MakeButton(LOCTEXT("Import", "Import\u2026"), LOCTEXT("ImportTip", "Put a file's workflow in the place of this one."),
                    [this]() { FParleyWorkflowFiles::ImportInto(*Session, Session->Fault); })
            ]
            + SHorizontalBox::Slot()
            .AutoWidth()
            [
                Widgets->MakeButton(LOCTEXT("Export", "Export\u2026"), LOCTEXT("ExportTip", "Write the .workflow.json file."),
                    [this]() { FParleyWorkflowFiles::Export(Session->Store.GetAsset(), Session->Fault); })
            ]
            + SHorizontalBox::Slot()
            .AutoWidth()
            [
                Widgets->MakeButton(LOCTEXT("Validate", "Validate"), LOCTEXT("ValidateTip", "Let the sidecar look; it is started where there is none."),
                    [this]() { AskSidecar(); })
            ]
        ]
        + SVerticalBox::Slot()
        .AutoHeight()
        [
            SNew(STextBlock)
            .Text_Lambda([Weak = TWeakPtr<FParleyWorkflowDetails>(SharedThis(this))]()
            {
                const TSharedPtr<FParleyWorkflowDetails> Self = Weak.Pin();
                return Self.IsValid() ? Self->GetState() : FText();
            })
            .AutoWrapText(true)
            .Font(IDetailLayoutBuilder::GetDetailFont())
        ]
    ];
    const Parley::Editor::WorkflowInspectorModel& Model = Session->Model;
    if (!Model.GetFault().empty())
    {
        Category.AddCustomRow(LOCTEXT("Broken", "Fault")).WholeRowContent()
        [
            FParleyFieldWidgets::MakeRemark(FText::FromString(Parley::ToFString(Model.GetFault())), true)
        ];
        return;
    }
    const std::string Refusal = Model.RefusalAt("$");
    if (!Refusal.empty())
    {
        Category.AddCustomRow(LOCTEXT("Refused", "Refused")).WholeRowContent()
        [
            FParleyFieldWidgets::MakeRemark(FText::FromString(Parley::ToFString(Refusal)), false)
        ];
    }
    if (!Model.WorkflowFindings().empty())
    {
        Category.AddCustomRow(LOCTEXT("Findings", "Findings")).WholeRowContent()
        [
            FParleyFieldWidgets::MakeFindings(Model.WorkflowFindings())
        ];
    }
    if (!Only.IsValid())
    {
        for (const Parley::Editor::FieldRow& Row : Session->Model.Fields())
        {
            Widgets->Add(Category, Row, INDEX_NONE);
        }
    }
}

void FParleyWorkflowDetails::AddNodes(IDetailCategoryBuilder& Category)
{
    const int32 OnlyIndex = Only.IsValid() ? IndexOfOnly() : INDEX_NONE;
    for (Parley::Editor::NodeRow& Node : Session->Model.Nodes())
    {
        if (!Only.IsValid())
        {
            AddNode(Category, Node);
        }
        else if (static_cast<int32>(Node.Index) == OnlyIndex)
        {
            for (const Parley::Editor::FieldRow& Row : Node.Fields())
            {
                Widgets->Add(Category, Row, OnlyIndex);
            }
        }
    }
    if (!Only.IsValid())
    {
        AddFooter(Category);
    }
}

void FParleyWorkflowDetails::AddNode(IDetailCategoryBuilder& Category, Parley::Editor::NodeRow& Node)
{
    const std::size_t Index = Node.Index;
    const std::string Path = "$.nodes[" + std::to_string(Index) + "]";
    std::string Title = (Node.IsStart ? "\xE2\x96\xB6 " : "") + Node.Title();
    Title += Node.Errors > 0 ? "   \xE2\x9C\x96 " + std::to_string(Node.Errors) : "";
    Title += Node.Warnings > 0 ? "   \xE2\x9A\xA0 " + std::to_string(Node.Warnings) : "";
    const FText Shown = FText::FromString(Parley::ToFString(Title));
    const FText Summary = Node.Type == nullptr ? FText() : FText::FromString(Parley::ToFString(Node.Type->Summary));
    IDetailGroup& Group = Category.AddGroup(FName(*Parley::ToFString(Path)), Shown);
    FDetailWidgetRow& Header = Group.HeaderRow();
    Header.NameContent()
    [
        SNew(STextBlock).Text(Shown).ToolTipText(Summary).Font(IDetailLayoutBuilder::GetDetailFontBold())
    ];
    Header.ValueContent()
    [
        SNew(SHorizontalBox)
        + SHorizontalBox::Slot()
        .AutoWidth()
        [
            Widgets->MakeButton(LOCTEXT("NodeUp", "\u25b2"), LOCTEXT("NodeUpTip", "Move the node up. The order means nothing to a turn."),
                [this, Index]() { Session->Model.Move(Index, Index - 1); })
        ]
        + SHorizontalBox::Slot()
        .AutoWidth()
        [
            Widgets->MakeButton(LOCTEXT("NodeDown", "\u25bc"), LOCTEXT("NodeDownTip", "Move the node down. The order means nothing to a turn."),
                [this, Index]() { Session->Model.Move(Index, Index + 1); })
        ]
        + SHorizontalBox::Slot()
        .AutoWidth()
        [
            Widgets->MakeButton(LOCTEXT("Delete", "Delete"), LOCTEXT("DeleteTip", "Exits to the node become END; inputs that named it are flagged."),
                [this, Index]() { Session->Model.Delete(Index); })
        ]
    ];
    if (Node.Type == nullptr && !Node.TypeName.empty())
    {
        Group.AddWidgetRow().WholeRowContent()
        [
            FParleyFieldWidgets::MakeRemark(FText::Format(
                LOCTEXT("Unknown", "This plugin does not know the node type {0}; a sidecar may. Its fields are shown as they stand."),
                FText::FromString(Parley::ToFString(Node.TypeName))), false)
        ];
    }
    const std::string Refusal = Session->Model.RefusalAt(Path);
    if (!Refusal.empty())
    {
        Group.AddWidgetRow().WholeRowContent()
        [
            FParleyFieldWidgets::MakeRemark(FText::FromString(Parley::ToFString(Refusal)), false)
        ];
    }
    if (!Node.Findings().empty())
    {
        Group.AddWidgetRow().WholeRowContent()
        [
            FParleyFieldWidgets::MakeFindings(Node.Findings())
        ];
    }
    for (const Parley::Editor::FieldRow& Row : Node.Fields())
    {
        Widgets->Add(Group, Row, static_cast<int32>(Index));
    }
}

void FParleyWorkflowDetails::AddFooter(IDetailCategoryBuilder& Category)
{
    TSharedRef<TArray<TSharedPtr<FString>>> Types = MakeShared<TArray<TSharedPtr<FString>>>();
    for (const Parley::NodeType& Type : Parley::NodeTypes::All())
    {
        Types->Add(MakeShared<FString>(Parley::ToFString(Type.Name)));
    }
    Category.AddCustomRow(LOCTEXT("AddNode", "Add a node")).ValueContent()
    [
        SNew(SComboBox<TSharedPtr<FString>>)
        .OptionsSource(&Types.Get())
        .OnGenerateWidget_Lambda([](TSharedPtr<FString> Type)
        {
            return SNew(STextBlock).Text(FText::FromString(*Type)).Font(IDetailLayoutBuilder::GetDetailFont());
        })
        .OnSelectionChanged_Lambda([Weak = TWeakPtr<FParleyWorkflowDetails>(SharedThis(this)), Types](TSharedPtr<FString> Type, ESelectInfo::Type How)
        {
            const TSharedPtr<FParleyWorkflowDetails> Self = Weak.Pin();
            if (Self.IsValid() && Type.IsValid() && How != ESelectInfo::Direct)
            {
                Self->Session->Model.Add(Parley::ToUtf8(*Type));
                Self->RefreshSoon();
            }
        })
        [
            SNew(STextBlock).Text(LOCTEXT("AddANode", "Add a node\u2026")).Font(IDetailLayoutBuilder::GetDetailFont())
        ]
    ];
    const std::string Refusal = Session->Model.RefusalAt("$.nodes");
    if (!Refusal.empty())
    {
        Category.AddCustomRow(LOCTEXT("NotAdded", "Refused")).WholeRowContent()
        [
            FParleyFieldWidgets::MakeRemark(FText::FromString(Parley::ToFString(Refusal)), false)
        ];
    }
}

void FParleyWorkflowDetails::AskSidecar()
{
    FParleyEditorSidecar* Sidecar = FParleyEditorSidecar::Get();
    Session->Fault.Reset();
    if (Sidecar != nullptr && Sidecar->Start(Session->Fault))
    {
        Sidecar->AskModels();
        Session->Validation.AskNow();
    }
}

FText FParleyWorkflowDetails::GetState() const
{
    if (!Session->Fault.IsEmpty())
    {
        return FText::FromString(Session->Fault);
    }
    const FParleyEditorSidecar* Sidecar = FParleyEditorSidecar::Get();
    const bool bHasSidecar = Sidecar != nullptr && Sidecar->GetRunning();
    return FText::FromString(Parley::ToFString(Parley::Editor::StateOfValidation(Session->Model, Session->Validation, bHasSidecar)));
}

// ---- drawing anew

bool FParleyWorkflowDetails::Look(float)
{
    Session->Look(FPlatformTime::Seconds());
    if (Session->GetRevision() != SeenRevision)
    {
        RefreshSoon();
    }
    return true;
}

void FParleyWorkflowDetails::PostUndo(bool)
{
    if (Session.IsValid())
    {
        RefreshSoon();
    }
}

void FParleyWorkflowDetails::PostRedo(bool bSuccess)
{
    PostUndo(bSuccess);
}

/// Not now: the widget whose edit this is is still at work.
void FParleyWorkflowDetails::RefreshSoon()
{
    const TSharedPtr<IPropertyUtilities> Panel = Utilities.Pin();
    if (Panel.IsValid() && !bWillRefresh)
    {
        bWillRefresh = true;
        Panel->EnqueueDeferredAction(FSimpleDelegate::CreateSP(this, &FParleyWorkflowDetails::Refresh));
    }
}

void FParleyWorkflowDetails::Refresh()
{
    bWillRefresh = false;
    if (const TSharedPtr<IPropertyUtilities> Panel = Utilities.Pin())
    {
        Panel->ForceRefresh();
    }
}

#undef LOCTEXT_NAMESPACE
