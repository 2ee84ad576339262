// The tab with the models of the catalog: download, load, remove.
#include "SParleyModels.h"

#include "EditorSidecar.h"
#include "FieldWidgets.h"

#include "Misc/MessageDialog.h"
#include "ParleyText.h"
#include "Widgets/Input/SButton.h"
#include "Widgets/Layout/SScrollBox.h"
#include "Widgets/Notifications/SProgressBar.h"
#include "Widgets/SBoxPanel.h"
#include "Widgets/Text/STextBlock.h"

#define LOCTEXT_NAMESPACE "ParleyModels"

namespace Parley::ModelsLocal
{

FText TextOf(const std::string& Text)
{
    return FText::FromString(ToFString(Text));
}

} // namespace Parley::ModelsLocal

void SParleyModels::Construct(const FArguments&)
{
    ChildSlot
    [
        SNew(SVerticalBox)
        + SVerticalBox::Slot()
        .AutoHeight()
        [
            SNew(SButton)
            .Text(LOCTEXT("List", "Show Models"))
            .ToolTipText(LOCTEXT("ListTip", "Ask the sidecar; it is started where there is none."))
            .OnClicked_Lambda([this]() { Ask(); return FReply::Handled(); })
        ]
        + SVerticalBox::Slot().FillHeight(1.0f)[SAssignNew(Content, SScrollBox)]
    ];
}

void SParleyModels::Ask()
{
    FParleyEditorSidecar* Sidecar = FParleyEditorSidecar::Get();
    bIsDirty = true;
    Fault.Reset();
    const std::shared_ptr<Parley::ParleyCore> Running = Sidecar == nullptr ? nullptr : Sidecar->Start(Fault);
    if (!Running)
    {
        return;
    }
    if (!Models || Core.lock() != Running)
    {
        Models = std::make_unique<Parley::Editor::ModelManagerModel>(Running);
        Core = Running;
        Models->Changed = [this]() { bIsDirty = true; };
    }
    Models->Refresh();
}

void SParleyModels::Tick(const FGeometry& AllottedGeometry, const double InCurrentTime, const float InDeltaTime)
{
    SCompoundWidget::Tick(AllottedGeometry, InCurrentTime, InDeltaTime);
    if (bIsDirty)
    {
        bIsDirty = false;
        Draw();
    }
}

void SParleyModels::Draw()
{
    Content->ClearChildren();
    const FString Why = !Fault.IsEmpty() || !Models ? Fault : Parley::ToFString(Models->GetFault());
    if (!Why.IsEmpty())
    {
        Content->AddSlot()[FParleyFieldWidgets::MakeRemark(FText::FromString(Why), true)];
    }
    if (!Models)
    {
        return;
    }
    for (const Parley::Editor::ModelRow& Row : Models->GetRows())
    {
        Content->AddSlot()[MakeRow(Row)];
    }
    FParleyEditorSidecar* Sidecar = FParleyEditorSidecar::Get();
    if (Sidecar != nullptr && !Models->GetRows().empty())
    {
        Sidecar->TakeModels(Models->Known());
    }
}

TSharedRef<SWidget> SParleyModels::MakeRow(const Parley::Editor::ModelRow& Row)
{
    using namespace Parley::ModelsLocal;
    using Parley::Editor::ModelManagerModel;
    const std::string& Name = Row.Info.Name;
    TSharedRef<SHorizontalBox> Buttons = SNew(SHorizontalBox);
    Buttons->AddSlot().FillWidth(1.0f).VAlign(VAlign_Center)
    [
        SNew(STextBlock).Text(TextOf(Name)).ToolTipText(TextOf(Row.Info.Source))
    ];
    if (Row.CanCancel())
    {
        Buttons->AddSlot().AutoWidth()[MakeButton(LOCTEXT("Cancel", "Cancel"), Name, true, &ModelManagerModel::CancelDownload)];
    }
    else
    {
        Buttons->AddSlot().AutoWidth()[MakeButton(LOCTEXT("Download", "Download"), Name, Row.CanDownload(), &ModelManagerModel::Download)];
    }
    if (Row.IsPinned)
    {
        Buttons->AddSlot().AutoWidth()[MakeButton(LOCTEXT("Unload", "Unload"), Name, Row.Task.empty(), &ModelManagerModel::Unload)];
    }
    else
    {
        Buttons->AddSlot().AutoWidth()[MakeButton(LOCTEXT("Load", "Load"), Name, Row.CanLoad(), &ModelManagerModel::Load)];
    }
    Buttons->AddSlot().AutoWidth()[MakeButton(LOCTEXT("Delete", "Delete"), Name, Row.CanDelete(), &ModelManagerModel::Delete)];
    TSharedRef<SVerticalBox> Box = SNew(SVerticalBox)
        + SVerticalBox::Slot().AutoHeight()[Buttons]
        + SVerticalBox::Slot().AutoHeight()[SNew(STextBlock).Text(TextOf(Row.Facts())).AutoWrapText(true)];
    if (!Row.Task.empty())
    {
        Box->AddSlot().AutoHeight()[SNew(STextBlock).Text(TextOf(Row.Task))];
        // Nothing while it is not known how far it is: the bar runs to and fro.
        Box->AddSlot().AutoHeight()[SNew(SProgressBar).Percent(Row.Total > 0 ? TOptional<float>(Row.Fraction()) : TOptional<float>())];
    }
    if (!Row.Outcome.empty())
    {
        Box->AddSlot().AutoHeight()[FParleyFieldWidgets::MakeRemark(TextOf(Row.Outcome), Row.HasFailed)];
    }
    return Box;
}

TSharedRef<SWidget> SParleyModels::MakeButton(const FText& Text, const std::string& Name, bool bIsEnabled, FAction Action)
{
    return SNew(SButton)
        .Text(Text)
        .IsEnabled(bIsEnabled)
        .OnClicked_Lambda([this, Name, Action]()
        {
            const bool bIsDelete = Action == &Parley::Editor::ModelManagerModel::Delete;
            const FText Question = FText::Format(
                LOCTEXT("Sure", "Remove the downloaded files of {0}?"), FText::FromString(Parley::ToFString(Name)));
            if (Models && (!bIsDelete || FMessageDialog::Open(EAppMsgType::YesNo, Question) == EAppReturnType::Yes))
            {
                (Models.get()->*Action)(Name);
            }
            return FReply::Handled();
        });
}

#undef LOCTEXT_NAMESPACE
