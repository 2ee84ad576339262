// A workflow's asset as the place of its edits: every edit is one transaction.
#pragma once

#include "Models/WorkflowStore.h"

#include "CoreMinimal.h"
#include "Templates/UniquePtr.h"
#include "UObject/WeakObjectPtr.h"

class FScopedTransaction;
class UDialogueCast;
class UParleyWorkflow;

/// Writes edits into a UParleyWorkflow, with undo; casts of the project follow renames in the same transaction.
/// Threading: the game thread.
class FParleyWorkflowAssetStore final : public Parley::Editor::WorkflowStore
{
public:
    explicit FParleyWorkflowAssetStore(UParleyWorkflow* InAsset);
    FParleyWorkflowAssetStore(const FParleyWorkflowAssetStore&) = delete;
    FParleyWorkflowAssetStore& operator=(const FParleyWorkflowAssetStore&) = delete;
    virtual ~FParleyWorkflowAssetStore() override;

    /// Null where the asset is gone.
    UParleyWorkflow* GetAsset() const;

    /// Tells the open transaction that a workflow and all its nodes will change.
    static void Modify(UParleyWorkflow& Workflow);

    virtual Parley::Json Get() const override;
    virtual void Set(const Parley::Json& Workflow) override;
    virtual std::string GetFault() const override;
    virtual void Begin(std::string_view Label) override;
    virtual void Keep(Parley::IEditTarget& Target) override;
    virtual void End() override;
    virtual std::vector<std::unique_ptr<Parley::INodeNames>> FollowersOf(std::string_view NodeName) override;

private:
    TWeakObjectPtr<UParleyWorkflow> Asset;
    TUniquePtr<FScopedTransaction> Transaction;
    /// What the open transaction has changed.
    TArray<TWeakObjectPtr<UObject>> Changed;
    mutable std::string Fault;
};
