// Draws the rows of a workflow with the controls that their kinds ask for.
#pragma once

#include "Models/WorkflowInspectorModel.h"

#include "CoreMinimal.h"
#include "Delegates/Delegate.h"
#include "Input/Reply.h"
#include "Templates/SharedPointer.h"
#include "Types/SlateEnums.h"

class FDetailWidgetRow;
class IDetailCategoryBuilder;
class IDetailGroup;
class SWidget;

/// Makes the widgets of fields. Each commits through the model and then asks the panel to be drawn again. Edits come when a
/// text is committed, by Enter or as the focus leaves it, never while it is typed. Threading: the game thread.
class FParleyFieldWidgets final : public TSharedFromThis<FParleyFieldWidgets>
{
public:
    /// The model lives as long as this is used. `InChanged`: something was edited or refused.
    FParleyFieldWidgets(Parley::Editor::WorkflowInspectorModel& InModel, FSimpleDelegate InChanged);

    /// One field of the workflow, or of nodes[NodeIndex], with what is below it.
    void Add(IDetailCategoryBuilder& Category, const Parley::Editor::FieldRow& Row, int32 NodeIndex);
    void Add(IDetailGroup& Group, const Parley::Editor::FieldRow& Row, int32 NodeIndex);

    /// The control of a field, with findings and refusal below it. `bIsItem`: it is an entry of a list.
    TSharedRef<SWidget> MakeValue(const Parley::Editor::FieldRow& Row, int32 NodeIndex, bool bIsItem);

    /// Findings one below the other, errors in red.
    static TSharedRef<SWidget> MakeFindings(const std::vector<Parley::Finding>& Findings);
    /// One remark in a colour.
    static TSharedRef<SWidget> MakeRemark(const FText& Text, bool bIsError);
    /// A button that does something and asks for a new drawing.
    TSharedRef<SWidget> MakeButton(const FText& Text, const FText& Tooltip, TFunction<void()> Do);

private:
    using FRow = Parley::Editor::FieldRow;
    using FCommit = TFunction<void(const FString&)>;

    void Fill(FDetailWidgetRow& Into, const FRow& Row, int32 NodeIndex, bool bIsItem);
    void AddChildren(IDetailGroup& Group, const FRow& Row, int32 NodeIndex);
    TSharedRef<SWidget> MakeControl(const FRow& Row, int32 NodeIndex);
    TSharedRef<SWidget> MakeLine(const FRow& Row, const FString& Text, FCommit Store);
    TSharedRef<SWidget> MakeLines(const FRow& Row);
    TSharedRef<SWidget> MakeDropdown(const FRow& Row, bool bShowsSelected);
    TSharedRef<SWidget> MakeModel(const FRow& Row);
    TSharedRef<SWidget> MakeFile(const FRow& Row);
    TSharedRef<SWidget> MakeFlag(const FRow& Row);
    TSharedRef<SWidget> MakeNumber(const FRow& Row);
    TSharedRef<SWidget> MakeUnset(const FRow& Row);
    TSharedRef<SWidget> MakeList(const FRow& Row);
    TSharedRef<SWidget> MakeItemButtons(const FRow& Row);
    void PickFile(const FRow& Row);
    FReply Press(TFunction<void()> Edit);
    void Commit(TFunction<void()> Edit);

    Parley::Editor::WorkflowInspectorModel& Model;
    FSimpleDelegate Changed;
};
