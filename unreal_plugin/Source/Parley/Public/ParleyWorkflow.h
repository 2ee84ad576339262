// A workflow as an asset: its nodes are objects that the Details panel edits.
#pragma once

#include "CoreMinimal.h"
#include "Core/Json.h"
#include "Engine/DataAsset.h"
#include "ParleyNode.h"
#include "ParleyTypes.h"

#include "ParleyWorkflow.generated.h"

/** A node that cannot be read into one of the known kinds. It is kept as it is; the sidecar's findings say what is wrong with it. */
UCLASS(NotBlueprintable, meta = (DisplayName = "Unreadable Node"))
class PARLEY_API UParleyUnreadableNode : public UParleyNode
{
    GENERATED_BODY()

public:
    /** The node, as its file holds it. */
    UPROPERTY(EditAnywhere, BlueprintReadOnly, Category = "Parley", meta = (MultiLine = true))
    FString Json;

    /** Why it cannot be read. */
    UPROPERTY(VisibleAnywhere, BlueprintReadOnly, Transient, Category = "Parley", meta = (MultiLine = true))
    FString Why;

    virtual FString GetTypeName() const override;
};

/**
 * A workflow: what a `.workflow.json` file holds. What the plugin does not know of stays in it, fields keep their order and
 * numbers their spelling; a file that nobody edited is exported as it was imported.
 */
UCLASS(BlueprintType)
class PARLEY_API UParleyWorkflow : public UPrimaryDataAsset
{
    GENERATED_BODY()

public:
    /** The node that a turn begins with. */
    UPROPERTY(EditAnywhere, BlueprintReadOnly, Category = "Workflow", meta = (ParleyKind = "exit"))
    FString StartNode;

    /** The model of nodes that name none. */
    UPROPERTY(EditAnywhere, BlueprintReadOnly, Category = "Workflow", meta = (ParleyKind = "model"))
    FString DefaultModel;

    /** The player's label in scripts (transcript format). */
    UPROPERTY(EditAnywhere, BlueprintReadOnly, Category = "Workflow")
    FString PlayerName = TEXT("Player");

    /** What the game lets templates and filters read. */
    UPROPERTY(EditAnywhere, BlueprintReadOnly, Category = "Workflow", meta = (TitleProperty = "Name"))
    TArray<FParleyVariable> Variables;

    /** The steps of a turn; their order means nothing. */
    UPROPERTY(EditAnywhere, BlueprintReadOnly, Instanced, Category = "Workflow", meta = (TitleProperty = "NodeName"))
    TArray<TObjectPtr<UParleyNode>> Nodes;

    /** Who the nodes are: its speakers follow when a node is renamed. None: nobody follows. */
    UPROPERTY(EditAnywhere, BlueprintReadOnly, Category = "Workflow")
    TObjectPtr<class UDialogueCast> Cast;

#if WITH_EDITORONLY_DATA
    /** The file that it was imported from, from the project on where it is below it; Reimport reads it again. Empty: none. */
    UPROPERTY(VisibleAnywhere, Category = "Workflow", AdvancedDisplay)
    FString SourceFile;
#endif

    /// A workflow in which nobody speaks yet.
    static const TCHAR* const EmptyJson;

    /// An asset in memory, from the text of a file. Null: the text is no workflow, as `Fault` says.
    static UParleyWorkflow* Make(UObject* Outer, const FString& Text, FString& Fault);

    /// The workflow, as a sidecar is given it and as the authoring rules read it. False: a node was left with JSON that
    /// cannot be read (see UParleyUnreadableNode), as `Fault` says.
    bool ToCore(Parley::Json& Out, FString& Fault) const;

    /// Take a workflow over in place: a node whose type is still the same stays the same object, found by its name, else by
    /// its place. What cannot be read is kept as an unreadable node. False: it is no JSON object; nothing changes then.
    bool FromCore(const Parley::Json& Workflow, FString& Fault);

    /** The text of its `.workflow.json` file. False: it cannot be written, and Fault says why. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Workflow")
    bool ExportText(FString& Text, FString& Fault) const;

    /** Take the text of a `.workflow.json` file. False: it is no workflow, Fault says why, and the asset stays as it is. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Workflow")
    bool ImportText(const FString& Text, FString& Fault);

    /** Take a file. False: Fault says what is wrong with it, and the asset stays as it is. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Workflow")
    bool ImportFile(const FString& Path, FString& Fault);

    /** Write a file, whole or not at all. False: Fault says why. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Workflow")
    bool ExportFile(const FString& Path, FString& Fault) const;

    /** The node of that name; none: there is none. */
    UFUNCTION(BlueprintPure, Category = "Parley|Workflow")
    UParleyNode* FindNode(const FString& Name) const;

    /** What is wrong with it, as far as can be seen without a sidecar. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Workflow")
    TArray<FParleyProblem> Validate() const;

    /// The same of a workflow's JSON.
    static TArray<FParleyProblem> ProblemsOf(const Parley::Json& Workflow);

    /// A new node of a type of the wire, such as "Generate", with its defaults; not yet among the nodes. Null: there is no
    /// such type.
    UParleyNode* MakeNode(const FString& TypeName);

private:
    UParleyNode* ReadNode(const Parley::Json& Json, TArray<UParleyNode*>& Old, int32 Place);
    static bool WriteNode(const UParleyNode* Node, Parley::Json& Out, FString& Fault);

    /** The file's root without its nodes and variables, so that what is not known here is written back. */
    UPROPERTY()
    FString Kept;

    /** The text that was imported: exported again where it still says the same. */
    UPROPERTY()
    FString Source;
};
