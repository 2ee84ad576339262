// A tavern in one actor: Mira, Bram, Odo and a narrator answer what a guest says.
#pragma once

#include "CoreMinimal.h"
#include "GameFramework/Actor.h"
#include "ParleyDialogueComponent.h"
#include "ParleyTypes.h"

#include "TavernActor.generated.h"

class UDialogueCast;
class UParleyAgentComponent;
class UParleyVoiceComponent;

/**
 * Put it into a level and press Play: it says First Line, and what is answered appears on the screen. Say Line says more; a
 * widget may listen to the events of Dialogue instead.
 */
UCLASS()
class ATavernActor : public AActor
{
    GENERATED_BODY()

public:
    ATavernActor();

    /** The conversation. Without a workflow it takes the one of the sample, from the storage folder. */
    UPROPERTY(VisibleAnywhere, BlueprintReadOnly, Category = "Tavern")
    TObjectPtr<UParleyAgentComponent> Agent;

    /** The lines in the order in which they are to be read. Without a cast it takes the one of the sample. */
    UPROPERTY(VisibleAnywhere, BlueprintReadOnly, Category = "Tavern")
    TObjectPtr<UParleyDialogueComponent> Dialogue;

    /** What the speakers say aloud, one after the other. */
    UPROPERTY(VisibleAnywhere, BlueprintReadOnly, Category = "Tavern")
    TObjectPtr<UParleyVoiceComponent> Voice;

    /** What the guest says first. Empty: nothing. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Tavern")
    FString FirstLine = TEXT("Good evening. What is there to eat?");

    /** Say a line of the guest's. An empty one shows the rest of what appears. */
    UFUNCTION(BlueprintCallable, Category = "Tavern")
    void SayLine(const FString& Line);

protected:
    virtual void BeginPlay() override;

private:
    UFUNCTION()
    void MoveDoor(const FParleyToolCall& Call);

    UFUNCTION()
    void ShowLine(const FParleyLine& Line);

    UFUNCTION()
    void ShowFault(const FParleyFault& Fault);

    void TakeWorkflow();
    UDialogueCast* MakeCast();
    void Show(int32 Key, const FLinearColor& Colour, const FString& Text) const;

    /// Doors that exist only as words; a game would move something.
    TSet<FString> OpenDoors;
};
