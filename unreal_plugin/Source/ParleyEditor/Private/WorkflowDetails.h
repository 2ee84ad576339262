// The Details panel of a workflow, and of one of its nodes.
#pragma once

#include "Containers/Ticker.h"
#include "CoreMinimal.h"
#include "EditorUndoClient.h"
#include "IDetailCustomization.h"
#include "Templates/SharedPointer.h"
#include "UObject/WeakObjectPtr.h"

class FParleyFieldWidgets;
class FParleyWorkflowSession;
class IDetailCategoryBuilder;
class IDetailLayoutBuilder;
class IPropertyUtilities;
class UParleyNode;

namespace Parley::Editor
{
class NodeRow;
}

/// Edits a workflow by the authoring rules: names are written once, everything else is picked. For an object that is one
/// node of a workflow it shows that node. Threading: the game thread.
class FParleyWorkflowDetails final : public IDetailCustomization, public FSelfRegisteringEditorUndoClient
{
public:
    static TSharedRef<IDetailCustomization> MakeInstance();

    virtual ~FParleyWorkflowDetails() override;

    virtual void CustomizeDetails(IDetailLayoutBuilder& Builder) override;
    virtual void PostUndo(bool bSuccess) override;
    virtual void PostRedo(bool bSuccess) override;

    /// What the panel shows; none before CustomizeDetails, and for several objects at once.
    const TSharedPtr<FParleyWorkflowSession>& GetSession() const
    {
        return Session;
    }

private:
    bool Open(IDetailLayoutBuilder& Builder);
    int32 IndexOfOnly() const;
    bool Look(float DeltaSeconds);
    void AddHead(IDetailCategoryBuilder& Category);
    void AddNodes(IDetailCategoryBuilder& Category);
    void AddNode(IDetailCategoryBuilder& Category, Parley::Editor::NodeRow& Node);
    void AddFooter(IDetailCategoryBuilder& Category);
    void AskSidecar();
    FText GetState() const;
    void RefreshSoon();
    void Refresh();

    TSharedPtr<FParleyWorkflowSession> Session;
    TSharedPtr<FParleyFieldWidgets> Widgets;
    TWeakPtr<IPropertyUtilities> Utilities;
    /// The one node that is shown; none: all.
    TWeakObjectPtr<UParleyNode> Only;
    FTSTicker::FDelegateHandle Ticker;
    int32 SeenRevision = 0;
    bool bWillRefresh = false;
};
