// Who the nodes of a workflow are for the player.
#pragma once

#include "CoreMinimal.h"
#include "Engine/DataAsset.h"

#include "DialogueCast.generated.h"

class USoundAttenuation;
class USoundClass;
class UTexture2D;

/** What the player sees and hears of one node that speaks. */
USTRUCT(BlueprintType)
struct PARLEY_API FDialogueSpeaker
{
    GENERATED_BODY()

    /** The name of the node in the workflow. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Speaker")
    FString NodeName;

    /** What the player reads. Empty: the node's name. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Speaker")
    FText DisplayName;

    /** The colour of the name. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Speaker")
    FLinearColor Colour = FLinearColor(1.0f, 1.0f, 1.0f, 1.0f);

    /** Shown beside the lines. None: no picture. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Speaker")
    TObjectPtr<UTexture2D> Portrait;

    /** How the voice gets weaker with the distance. None: as the Parley Voice says. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Voice")
    TObjectPtr<USoundAttenuation> VoiceAttenuation;

    /** The sound class of the voice. None: as the Parley Voice says. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Voice")
    TObjectPtr<USoundClass> VoiceClass;

    /** How loud the voice is played. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Voice", meta = (ClampMin = "0.0", ClampMax = "4.0", UIMin = "0.0", UIMax = "2.0"))
    float VoiceVolume = 1.0f;

    /** Tells what happens and is nobody: views may leave the name out. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Speaker")
    bool bIsNarrator = false;

    /// What the player reads: empty only where the node has no name either.
    FText GetDisplayName() const;
};

/** The speakers of a workflow, by the names of their nodes. */
UCLASS(BlueprintType)
class PARLEY_API UDialogueCast : public UDataAsset
{
    GENERATED_BODY()

public:
    /** All of them. The first of two with one node name counts. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley", meta = (TitleProperty = "NodeName"))
    TArray<FDialogueSpeaker> Speakers;

    /** Who a node is. A node that the cast does not know speaks under its own name, in white. */
    UFUNCTION(BlueprintPure, Category = "Parley|Cast")
    FDialogueSpeaker FindSpeaker(const FString& NodeName) const;

    /** Whether the cast has a speaker for a node. */
    UFUNCTION(BlueprintPure, Category = "Parley|Cast")
    bool KnowsSpeaker(const FString& NodeName) const;

    /** A node got another name. True: a speaker followed. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Cast")
    bool RenameSpeaker(const FString& OldName, const FString& NewName);

    /// Null: the cast does not know the node.
    const FDialogueSpeaker* Find(const FString& NodeName) const;

    /// Who a node is where there may be no cast at all.
    static FDialogueSpeaker SpeakerOf(const UDialogueCast* Of, const FString& NodeName);
};
