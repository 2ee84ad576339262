// What all node types have in common as objects of an asset.
#pragma once

#include "CoreMinimal.h"
#include "Core/Json.h"
#include "Dom/JsonObject.h"
#include "UObject/Object.h"

#include "ParleyNode.generated.h"

namespace Parley
{
class JsonRead;
class NodeFields;
} // namespace Parley

/**
 * One node of a workflow. It is written back as it was read: fields in their order, those that are not known here too,
 * numbers as they were spelled; only what has changed is changed.
 */
UCLASS(Abstract, EditInlineNew, DefaultToInstanced, BlueprintType, CollapseCategories)
class PARLEY_API UParleyNode : public UObject
{
    GENERATED_BODY()

public:
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley", meta = (ToolTip = "The node's name; other nodes and the game know it by this.", ParleyKind = "name", ParleyFixed))
    FString NodeName;

    /** The type as workflow files have it; empty for this base. */
    UFUNCTION(BlueprintPure, Category = "Parley")
    virtual FString GetTypeName() const;

    /// Becomes what the JSON says: what is not there gets its default. False: `Fault` begins with the path of what is wrong,
    /// and nothing changes.
    bool FromCore(const Parley::Json& Json, FString& Fault);
    /// The JSON of the workflow file. A field that was not there and has its default is left out.
    Parley::Json ToCore() const;

    /// The same with the engine's objects, which take fields whose names differ only in their case for one.
    bool FromJson(const FJsonObject& Json, FString& Fault);
    TSharedRef<FJsonObject> ToJson() const;

    /// A node of any type, inside of `Outer`. Null without a fault: the type is not known here. Null with a fault: what is
    /// wrong, behind its path.
    static UParleyNode* Read(UObject* Outer, const Parley::Json& Json, FString& Fault);

protected:
    virtual bool ReadFields(const Parley::JsonRead& From);
    virtual void WriteFields(Parley::NodeFields& Into) const;
    virtual void CopyFields(const UParleyNode& Other);

private:
    bool Take(const Parley::Json& Json, FString& Fault);

    /** The JSON that it was read from. */
    UPROPERTY()
    FString AsRead;
};
