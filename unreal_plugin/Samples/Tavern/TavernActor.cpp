// The tavern: its workflow and cast, the doors that a model may move, and what is shown.
#include "TavernActor.h"

#include "DialogueCast.h"
#include "Engine/Engine.h"
#include "Misc/Paths.h"
#include "ParleyAgentComponent.h"
#include "ParleyBlueprintLibrary.h"
#include "ParleyVoiceComponent.h"
#include "ParleyWorkflow.h"

namespace TavernLocal
{

constexpr float ShownSeconds = 60.0f;
constexpr int32 StatusKey = 1 << 20;

FDialogueSpeaker MakeSpeaker(const TCHAR* NodeName, const TCHAR* DisplayName, const TCHAR* HexSrgb)
{
    FDialogueSpeaker Speaker;
    Speaker.NodeName = NodeName;
    Speaker.DisplayName = FText::FromString(DisplayName);
    Speaker.Colour = FLinearColor(FColor::FromHex(HexSrgb));
    return Speaker;
}

} // namespace TavernLocal

ATavernActor::ATavernActor()
{
    Agent = CreateDefaultSubobject<UParleyAgentComponent>(TEXT("Agent"));
    Dialogue = CreateDefaultSubobject<UParleyDialogueComponent>(TEXT("Dialogue"));
    Dialogue->PlayerName = TEXT("Guest");
    Dialogue->bFollowVoice = true;
    Voice = CreateDefaultSubobject<UParleyVoiceComponent>(TEXT("Voice"));
    RootComponent = Voice;
}

void ATavernActor::BeginPlay()
{
    Agent->OnToolCall.AddDynamic(this, &ATavernActor::MoveDoor);
    Agent->OnError.AddDynamic(this, &ATavernActor::ShowFault);
    Dialogue->OnLineBegan.AddDynamic(this, &ATavernActor::ShowLine);
    Dialogue->OnLineChanged.AddDynamic(this, &ATavernActor::ShowLine);
    Dialogue->OnLineDone.AddDynamic(this, &ATavernActor::ShowLine);
    if (Dialogue->Cast == nullptr)
    {
        Dialogue->Cast = MakeCast();
    }
    if (Agent->Workflow == nullptr)
    {
        TakeWorkflow();
    }

    // The components begin with their actor, and an agent with the workflow that it has then.
    Super::BeginPlay();
    if (!FirstLine.IsEmpty())
    {
        SayLine(FirstLine);
    }
}

void ATavernActor::SayLine(const FString& Line)
{
    if (Line.TrimStartAndEnd().IsEmpty())
    {
        Dialogue->Skip();
        return;
    }
    Dialogue->SkipToEnd();
    if (Agent->TrySay(Line) == EParleySayOutcome::Busy)
    {
        Show(TavernLocal::StatusKey, FLinearColor::Gray, TEXT("One after the other, please."));
    }
}

void ATavernActor::MoveDoor(const FParleyToolCall& Call)
{
    FString Door;
    UParleyBlueprintLibrary::GetJsonText(Call.Arguments, TEXT("door"), Door);
    if (Door != TEXT("cellar") && Door != TEXT("back"))
    {
        Agent->FailToolCall(Call.CallId, TEXT("There is no such door."));
        return;
    }
    const bool bOpens = Call.Tool == TEXT("open_door");
    const bool bIsThere = OpenDoors.Contains(Door) == bOpens;
    if (bOpens)
    {
        OpenDoors.Add(Door);
    }
    else
    {
        OpenDoors.Remove(Door);
    }
    Agent->AnswerToolCall(
        Call.CallId,
        TEXT("The ") + Door + TEXT(" door is ") + (bOpens ? TEXT("open") : TEXT("closed")) + (bIsThere ? TEXT(" already.") : TEXT(".")));
}

void ATavernActor::ShowLine(const FParleyLine& Line)
{
    const FDialogueSpeaker Speaker = Dialogue->SpeakerOf(Line);
    Show(Line.Number, Speaker.Colour, Speaker.bIsNarrator ? Line.Shown : Dialogue->HeadingOf(Line) + TEXT(" ") + Line.Shown);
}

void ATavernActor::ShowFault(const FParleyFault& Fault)
{
    Show(TavernLocal::StatusKey, FLinearColor::Red, Fault.Message);
}

void ATavernActor::TakeWorkflow()
{
    const FString File = FPaths::Combine(FPaths::ProjectContentDir(), TEXT("Parley/storage/tavern.workflow.json"));
    UParleyWorkflow* Workflow = NewObject<UParleyWorkflow>(this);
    FString Fault;
    if (Workflow->ImportFile(File, Fault))
    {
        Agent->Workflow = Workflow;
    }
    else
    {
        Show(TavernLocal::StatusKey, FLinearColor::Red, Fault);
    }
}

UDialogueCast* ATavernActor::MakeCast()
{
    const TCHAR* const Mira = TEXT("F5B873");
    const TCHAR* const Odo = TEXT("9EBDDB");
    UDialogueCast* Made = NewObject<UDialogueCast>(this);
    Made->Speakers.Add(TavernLocal::MakeSpeaker(TEXT("mira"), TEXT("Mira"), Mira));
    Made->Speakers.Add(TavernLocal::MakeSpeaker(TEXT("refusal"), TEXT("Mira"), Mira));
    Made->Speakers.Add(TavernLocal::MakeSpeaker(TEXT("bram"), TEXT("Bram"), TEXT("ADDB94")));
    Made->Speakers.Add(TavernLocal::MakeSpeaker(TEXT("odo"), TEXT("Odo"), Odo));
    Made->Speakers.Add(TavernLocal::MakeSpeaker(TEXT("odo_opens"), TEXT("Odo"), Odo));
    Made->Speakers.Add(TavernLocal::MakeSpeaker(TEXT("odo_shrugs"), TEXT("Odo"), Odo));
    Made->Speakers.Add(TavernLocal::MakeSpeaker(TEXT("narrator"), TEXT("Narrator"), TEXT("808080")));
    Made->Speakers.Last().bIsNarrator = true;
    return Made;
}

void ATavernActor::Show(int32 Key, const FLinearColor& Colour, const FString& Text) const
{
    if (GEngine != nullptr)
    {
        GEngine->AddOnScreenDebugMessage(Key, TavernLocal::ShownSeconds, Colour.ToFColor(true), Text);
    }
}
