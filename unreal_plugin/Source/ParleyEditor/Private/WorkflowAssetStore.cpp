// A workflow's asset as the place of its edits: every edit is one transaction.
#include "WorkflowAssetStore.h"

#include "AssetRegistry/AssetData.h"
#include "AssetRegistry/AssetRegistryModule.h"
#include "AssetRegistry/IAssetRegistry.h"
#include "DialogueCast.h"
#include "Modules/ModuleManager.h"
#include "ParleyNode.h"
#include "ParleyText.h"
#include "ParleyWorkflow.h"
#include "ScopedTransaction.h"
#include "UObject/UnrealType.h"

namespace Parley::WorkflowAssetStoreLocal
{

/// The node names of a cast. A cast names nodes and no workflow, so one may serve several: where another workflow that it
/// serves has a node of the old name too, the cast knows both names afterwards.
class FCastNames final : public INodeNames
{
public:
    FCastNames(UDialogueCast* InCast, bool bInKeepsOld) : Cast(InCast), bKeepsOld(bInKeepsOld) {}

    virtual std::vector<std::string> Names() const override
    {
        std::vector<std::string> Found;
        for (const FDialogueSpeaker& Speaker : Cast->Speakers)
        {
            Found.push_back(ToUtf8(Speaker.NodeName));
        }
        return Found;
    }

    virtual void Rename(std::size_t Index, std::string_view Name) override
    {
        const FString Now = ToFString(Name);
        const int32 At = static_cast<int32>(Index);
        if (!bKeepsOld)
        {
            Cast->Speakers[At].NodeName = Now;
        }
        else if (!Cast->KnowsSpeaker(Now))
        {
            FDialogueSpeaker Copy = Cast->Speakers[At];
            Copy.NodeName = Now;
            Cast->Speakers.Add(Copy);
        }
    }

    UDialogueCast* const Cast;

private:
    const bool bKeepsOld;
};

/// All assets of a class, loaded.
template <class T>
TArray<T*> AllOf()
{
    FAssetRegistryModule& Module = FModuleManager::LoadModuleChecked<FAssetRegistryModule>(TEXT("AssetRegistry"));
    TArray<FAssetData> Found;
    Module.Get().GetAssetsByClass(T::StaticClass()->GetClassPathName(), Found, true);
    TArray<T*> Loaded;
    for (const FAssetData& Data : Found)
    {
        if (T* Each = Cast<T>(Data.GetAsset()))
        {
            Loaded.Add(Each);
        }
    }
    return Loaded;
}

} // namespace Parley::WorkflowAssetStoreLocal

FParleyWorkflowAssetStore::FParleyWorkflowAssetStore(UParleyWorkflow* InAsset) : Asset(InAsset)
{
}

FParleyWorkflowAssetStore::~FParleyWorkflowAssetStore() = default;

UParleyWorkflow* FParleyWorkflowAssetStore::GetAsset() const
{
    return Asset.Get();
}

Parley::Json FParleyWorkflowAssetStore::Get() const
{
    Fault.clear();
    Parley::Json Read;
    FString Why = TEXT("The asset is gone.");
    const UParleyWorkflow* Workflow = Asset.Get();
    if (Workflow == nullptr || !Workflow->ToCore(Read, Why))
    {
        Fault = Parley::ToUtf8(Why);
        return Parley::Json();
    }
    return Read;
}

std::string FParleyWorkflowAssetStore::GetFault() const
{
    return Fault;
}

void FParleyWorkflowAssetStore::Set(const Parley::Json& Workflow)
{
    UParleyWorkflow* Target = Asset.Get();
    FString Why;
    if (Target != nullptr && !Target->FromCore(Workflow, Why))
    {
        Fault = Parley::ToUtf8(Why);
    }
}

void FParleyWorkflowAssetStore::Begin(std::string_view Label)
{
    Transaction = MakeUnique<FScopedTransaction>(FText::FromString(Parley::ToFString(Label)));
}

void FParleyWorkflowAssetStore::Modify(UParleyWorkflow& Workflow)
{
    Workflow.Modify();
    for (UParleyNode* Node : Workflow.Nodes)
    {
        if (Node != nullptr)
        {
            Node->Modify();
        }
    }
}

void FParleyWorkflowAssetStore::Keep(Parley::IEditTarget& Target)
{
    if (static_cast<Parley::IEditTarget*>(this) == &Target)
    {
        if (UParleyWorkflow* Workflow = Asset.Get())
        {
            Modify(*Workflow);
            Changed.Add(Workflow);
        }
        return;
    }
    // Whatever else follows is what FollowersOf made.
    UDialogueCast* Follower = static_cast<Parley::WorkflowAssetStoreLocal::FCastNames&>(Target).Cast;
    Follower->Modify();
    Changed.Add(Follower);
}

void FParleyWorkflowAssetStore::End()
{
    for (const TWeakObjectPtr<UObject>& Each : Changed)
    {
        if (UObject* Object = Each.Get())
        {
            Object->PostEditChange();
        }
    }
    Changed.Reset();
    Transaction.Reset();
}

std::vector<std::unique_ptr<Parley::INodeNames>> FParleyWorkflowAssetStore::FollowersOf(std::string_view NodeName)
{
    using namespace Parley::WorkflowAssetStoreLocal;
    std::vector<std::unique_ptr<Parley::INodeNames>> Followers;
    UParleyWorkflow* Workflow = Asset.Get();
    if (Workflow == nullptr)
    {
        return Followers;
    }
    const FString Name = Parley::ToFString(NodeName);
    TArray<UDialogueCast*> Casts = AllOf<UDialogueCast>();
    if (UDialogueCast* Own = Workflow->Cast)
    {
        Casts.AddUnique(Own);
    }
    const TArray<UParleyWorkflow*> Workflows = AllOf<UParleyWorkflow>();
    for (UDialogueCast* Each : Casts)
    {
        if (!Each->KnowsSpeaker(Name))
        {
            continue;
        }
        bool bIsOfOthers = false;
        bool bIsNamedElsewhere = false;
        for (const UParleyWorkflow* Other : Workflows)
        {
            if (Other != Workflow)
            {
                bIsOfOthers = bIsOfOthers || Other->Cast == Each;
                const bool bMayServe = Other->Cast == nullptr || Other->Cast == Each;
                bIsNamedElsewhere = bIsNamedElsewhere || (bMayServe && Other->FindNode(Name) != nullptr);
            }
        }
        // A cast that only other workflows say is theirs does not follow this one.
        if (Workflow->Cast == Each || !bIsOfOthers)
        {
            Followers.push_back(std::make_unique<FCastNames>(Each, bIsNamedElsewhere));
        }
    }
    return Followers;
}
