// Shows a talk: several speakers, line after line, character by character.
#pragma once

#include "Components/ActorComponent.h"
#include "CoreMinimal.h"
#include "DialogueCast.h"
#include "ParleyTypes.h"
#include "Templates/SharedPointer.h"

#include "ParleyDialogueComponent.generated.h"

class UParleyAgentComponent;
struct FParleyTalk;

namespace Parley
{
class DialogueLine;
} // namespace Parley

/** One line of a talk, for what shows it. */
USTRUCT(BlueprintType)
struct PARLEY_API FParleyLine
{
    GENERATED_BODY()

    /** Counts the lines of a talk from 0; never used twice. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    int32 Number = -1;

    /** The node that speaks; empty: the player. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    FString Speaker;

    /** The name to show with it. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    FString DisplayName;

    /** What is to be shown now. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    FString Shown;

    /** All that came of it. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    FString Text;

    /** It is the player's own. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    bool bIsPlayer = false;

    /** The character says nothing more. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    bool bIsFinal = false;

    /** The character says nothing more, and all is shown. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    bool bIsDone = false;

    /** The turn; 0: the player's own line. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    int64 TurnId = 0;

    /** The step of the turn. */
    UPROPERTY(BlueprintReadOnly, Category = "Parley")
    int64 Step = 0;
};

DECLARE_DYNAMIC_MULTICAST_DELEGATE_OneParam(FParleyLineEvent, const FParleyLine&, Line);
DECLARE_DYNAMIC_MULTICAST_DELEGATE_ThreeParams(FParleyShownEvent, const FString&, Name, const FString&, Text, bool, bIsDone);

/**
 * The lines of one or several agents in the order in which they are to be read. It draws nothing itself: a widget listens to
 * On Line, or to the events with the lines themselves. A talk goes on while the game is paused or slowed.
 */
UCLASS(ClassGroup = (Parley), meta = (BlueprintSpawnableComponent, DisplayName = "Parley Dialogue"))
class PARLEY_API UParleyDialogueComponent : public UActorComponent
{
    GENERATED_BODY()

public:
    UParleyDialogueComponent();

    /** Who the nodes are. None: every speaker has its node's name. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley")
    TObjectPtr<UDialogueCast> Cast;

    /** Characters a second. 0: all at once. For lines to come. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley", meta = (ClampMin = "0.0", ClampMax = "200.0", UIMin = "0.0", UIMax = "200.0"))
    float CharactersPerSecond = 40.0f;

    /** Seconds between two lines. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley", meta = (ClampMin = "0.0", ClampMax = "5.0", UIMin = "0.0", UIMax = "5.0"))
    float GapSeconds = 0.3f;

    /** What a voice says appears sentence by sentence, as it is heard. For lines to come. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley")
    bool bFollowVoice = false;

    /** So many lines are kept. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley", meta = (ClampMin = "1", ClampMax = "2000"))
    int32 MaxLines = 200;

    /** Show the player's own lines too. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley")
    bool bShowPlayer = true;

    /** What the player is called. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley")
    FString PlayerName = TEXT("You");

    /** How a speaker's name is written in headings and transcripts: {0} is the name. */
    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Parley")
    FString NameFormat = TEXT("[{0}]");

    /** A line begins or goes on: name, text to show now, whether that is all of it. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyShownEvent OnLine;

    /** A line begins to appear. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyLineEvent OnLineBegan;

    /** More of a line is to be shown. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyLineEvent OnLineChanged;

    /** All of a line is shown. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyLineEvent OnLineDone;

    /** A line is kept no more. */
    UPROPERTY(BlueprintAssignable, Category = "Parley|Events")
    FParleyLineEvent OnLineDropped;

    /** Show the lines of an agent too. Where none is named, those of the agent on this actor are shown. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Dialogue")
    void Listen(UParleyAgentComponent* Agent);

    /** Show the lines of an agent no more. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Dialogue")
    void Ignore(UParleyAgentComponent* Agent);

    /** The lines, oldest first; those that have not begun to appear are at the end. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Dialogue")
    TArray<FParleyLine> GetLines() const;

    /** The line that appears now. False: none does. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Dialogue")
    bool GetCurrentLine(FParleyLine& Line) const;

    /** Nothing appears and nothing waits to. */
    UFUNCTION(BlueprintPure, Category = "Parley|Dialogue")
    bool IsIdle() const;

    /** Who says a line; the player: a speaker with the player's name. */
    UFUNCTION(BlueprintPure, Category = "Parley|Dialogue")
    FDialogueSpeaker SpeakerOf(const FParleyLine& Line) const;

    /** The name as it stands before a line, such as `[Mira]`. */
    UFUNCTION(BlueprintPure, Category = "Parley|Dialogue")
    FString HeadingOf(const FParleyLine& Line) const;

    /** All that is shown, a line each, such as `[Mira] Sit down!`. */
    UFUNCTION(BlueprintPure, Category = "Parley|Dialogue")
    FString GetTranscript() const;

    /** Show the rest of the line that appears; where it is whole already, begin the next one. For a button. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Dialogue")
    void Skip();

    /** Show all that came so far. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Dialogue")
    void SkipToEnd();

    /** Forget all lines. */
    UFUNCTION(BlueprintCallable, Category = "Parley|Dialogue")
    void ClearLines();

    virtual void BeginPlay() override;
    virtual void EndPlay(const EEndPlayReason::Type EndPlayReason) override;
    virtual void Activate(bool bReset = false) override;
    virtual void Deactivate() override;
    virtual void BeginDestroy() override;
    virtual void TickComponent(float DeltaTime, ELevelTick TickType, FActorComponentTickFunction* ThisTickFunction) override;

private:
    void Settle();
    void HearAll();
    void Hear(UParleyAgentComponent* Agent);
    void Unhear();
    int64 HeardOf(const Parley::DialogueLine& Line) const;
    FString NameOf(const FString& NodeName) const;
    FParleyLine Shown(const Parley::DialogueLine& Line) const;

    TSharedPtr<FParleyTalk> Talk;
    double LastSeconds = 0.0;
};
