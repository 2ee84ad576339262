// The lines of a talk as a widget wants them.
#include "ParleyDialogueComponent.h"

#include "Core/DialogueLines.h"
#include "GameFramework/Actor.h"
#include "HAL/PlatformTime.h"
#include "ParleyAgentComponent.h"
#include "ParleyText.h"

#include <string_view>

/// What the component keeps out of the engine's sight. Threading: the game's thread.
struct FParleyTalk
{
    struct FHeard
    {
        TWeakObjectPtr<UParleyAgentComponent> Agent;
        /// Only compared: it names the agent also when that is gone.
        const void* Source = nullptr;
        FDelegateHandle Said;
        FDelegateHandle Answered;
        FDelegateHandle TurnEnded;
    };

    Parley::DialogueLines Lines;
    /// Those that were named, heard or not.
    TArray<TWeakObjectPtr<UParleyAgentComponent>> Agents;
    TArray<FHeard> Heard;

    /// Nobody hears any more how a line of it goes on, and the next ones wait for its end.
    void EndLinesOf(const void* Source)
    {
        const std::vector<Parley::DialogueLines::Line> All = Lines.Lines();
        for (const Parley::DialogueLines::Line& Line : All)
        {
            if (Line->Source == Source && !Line->IsFinal())
            {
                Lines.EndTurn(Source, Line->TurnId);
            }
        }
    }

    void Stop(const FHeard& One)
    {
        if (UParleyAgentComponent* Agent = One.Agent.Get())
        {
            Agent->OnSaidNative().Remove(One.Said);
            Agent->OnAnsweredNative().Remove(One.Answered);
            Agent->OnTurnEndedNative().Remove(One.TurnEnded);
        }
        EndLinesOf(One.Source);
    }
};

namespace ParleyDialogueComponentLocal
{

FParleyLine LineOf(const Parley::DialogueLine& Line, const FString& DisplayName)
{
    FParleyLine Out;
    Out.Number = Line.Number;
    Out.Speaker = Parley::ToFString(Line.Speaker);
    Out.DisplayName = DisplayName;
    Out.Shown = Parley::ToFString(Line.Shown());
    Out.Text = Parley::ToFString(Line.Text());
    Out.bIsPlayer = Line.Speaker.empty();
    Out.bIsFinal = Line.IsFinal();
    Out.bIsDone = Line.IsDone();
    Out.TurnId = static_cast<int64>(Line.TurnId);
    Out.Step = static_cast<int64>(Line.Step);
    return Out;
}

} // namespace ParleyDialogueComponentLocal

UParleyDialogueComponent::UParleyDialogueComponent() : Talk(MakeShared<FParleyTalk>())
{
    bAutoActivate = true;
    PrimaryComponentTick.bCanEverTick = true;
    PrimaryComponentTick.bTickEvenWhenPaused = true;
    // This object goes after the talk does.
    Talk->Lines.Began = [this](const Parley::DialogueLines::Line& Which)
    {
        const FParleyLine Line = Shown(*Which);
        const TWeakObjectPtr<UParleyDialogueComponent> Weak(this);
        OnLineBegan.Broadcast(Line);
        if (Weak.IsValid())
        {
            OnLine.Broadcast(Line.DisplayName, Line.Shown, Line.bIsDone);
        }
    };
    Talk->Lines.Changed = [this](const Parley::DialogueLines::Line& Which)
    {
        const FParleyLine Line = Shown(*Which);
        const TWeakObjectPtr<UParleyDialogueComponent> Weak(this);
        OnLineChanged.Broadcast(Line);
        if (Weak.IsValid())
        {
            OnLine.Broadcast(Line.DisplayName, Line.Shown, false);
        }
    };
    Talk->Lines.Done = [this](const Parley::DialogueLines::Line& Which)
    {
        const FParleyLine Line = Shown(*Which);
        const TWeakObjectPtr<UParleyDialogueComponent> Weak(this);
        OnLine.Broadcast(Line.DisplayName, Line.Shown, true);
        if (Weak.IsValid())
        {
            OnLineDone.Broadcast(Line);
        }
    };
    Talk->Lines.Dropped = [this](const Parley::DialogueLines::Line& Which) { OnLineDropped.Broadcast(Shown(*Which)); };
}

// ---- what is there ----

FString UParleyDialogueComponent::NameOf(const FString& NodeName) const
{
    return NodeName.IsEmpty() ? PlayerName : UDialogueCast::SpeakerOf(Cast, NodeName).GetDisplayName().ToString();
}

FParleyLine UParleyDialogueComponent::Shown(const Parley::DialogueLine& Line) const
{
    return ParleyDialogueComponentLocal::LineOf(Line, NameOf(Parley::ToFString(Line.Speaker)));
}

TArray<FParleyLine> UParleyDialogueComponent::GetLines() const
{
    TArray<FParleyLine> Out;
    for (const Parley::DialogueLines::Line& Line : Talk->Lines.Lines())
    {
        Out.Add(Shown(*Line));
    }
    return Out;
}

bool UParleyDialogueComponent::GetCurrentLine(FParleyLine& Line) const
{
    const Parley::DialogueLines::Line& Current = Talk->Lines.Current();
    Line = Current == nullptr ? FParleyLine() : Shown(*Current);
    return Current != nullptr;
}

bool UParleyDialogueComponent::IsIdle() const
{
    return Talk->Lines.IsIdle();
}

FDialogueSpeaker UParleyDialogueComponent::SpeakerOf(const FParleyLine& Line) const
{
    if (!Line.Speaker.IsEmpty())
    {
        return UDialogueCast::SpeakerOf(Cast, Line.Speaker);
    }
    FDialogueSpeaker Player;
    Player.DisplayName = FText::FromString(PlayerName);
    return Player;
}

FString UParleyDialogueComponent::HeadingOf(const FParleyLine& Line) const
{
    // Whatever stands in the Details panel is to be shown, not read as a format of the engine's.
    return NameFormat.Replace(TEXT("{0}"), *NameOf(Line.Speaker), ESearchCase::CaseSensitive);
}

FString UParleyDialogueComponent::GetTranscript() const
{
    FString Text;
    for (const FParleyLine& Line : GetLines())
    {
        if (!Line.Shown.IsEmpty())
        {
            Text += HeadingOf(Line) + TEXT(" ") + Line.Shown + TEXT("\n");
        }
    }
    return Text;
}

void UParleyDialogueComponent::Skip()
{
    const TSharedPtr<FParleyTalk> Held = Talk;
    Held->Lines.Skip();
}

void UParleyDialogueComponent::SkipToEnd()
{
    const TSharedPtr<FParleyTalk> Held = Talk;
    Held->Lines.SkipToEnd();
}

void UParleyDialogueComponent::ClearLines()
{
    const TSharedPtr<FParleyTalk> Held = Talk;
    Held->Lines.Clear();
}

// ---- whom it hears ----

void UParleyDialogueComponent::Listen(UParleyAgentComponent* Agent)
{
    if (Agent == nullptr)
    {
        return;
    }
    Talk->Agents.AddUnique(Agent);
    if (IsActive())
    {
        Hear(Agent);
    }
}

void UParleyDialogueComponent::Ignore(UParleyAgentComponent* Agent)
{
    Talk->Agents.Remove(Agent);
    for (int32 Index = Talk->Heard.Num() - 1; Index >= 0; Index--)
    {
        if (Talk->Heard[Index].Source == Agent)
        {
            const FParleyTalk::FHeard One = Talk->Heard[Index];
            Talk->Heard.RemoveAt(Index);
            Talk->Stop(One);
        }
    }
}

void UParleyDialogueComponent::HearAll()
{
    if (Talk->Agents.Num() == 0 && GetOwner() != nullptr)
    {
        if (UParleyAgentComponent* Own = GetOwner()->FindComponentByClass<UParleyAgentComponent>())
        {
            Talk->Agents.Add(Own);
        }
    }
    const TArray<TWeakObjectPtr<UParleyAgentComponent>> All = Talk->Agents;
    for (const TWeakObjectPtr<UParleyAgentComponent>& One : All)
    {
        if (UParleyAgentComponent* Agent = One.Get())
        {
            Hear(Agent);
        }
    }
}

void UParleyDialogueComponent::Hear(UParleyAgentComponent* Agent)
{
    for (int32 Index = Talk->Heard.Num() - 1; Index >= 0; Index--)
    {
        if (Talk->Heard[Index].Agent.Get() == Agent)
        {
            return;
        }
        if (!Talk->Heard[Index].Agent.IsValid())
        {
            // It was destroyed, and says nothing more.
            const FParleyTalk::FHeard Gone = Talk->Heard[Index];
            Talk->Heard.RemoveAt(Index);
            Talk->EndLinesOf(Gone.Source);
        }
    }
    FParleyTalk::FHeard One;
    One.Agent = Agent;
    One.Source = Agent;
    One.Said = Agent->OnSaidNative().AddWeakLambda(
        this,
        [this](const FString& Line)
        {
            if (bShowPlayer && !Line.IsEmpty())
            {
                Talk->Lines.Add(Parley::ToUtf8(Line));
            }
        });
    One.Answered = Agent->OnAnsweredNative().AddWeakLambda(
        this,
        [this, Agent](const FParleyAnswerText& Answer)
        {
            Talk->Lines.Take(
                Agent,
                static_cast<std::int64_t>(Answer.TurnId),
                static_cast<std::int64_t>(Answer.Step),
                Parley::ToUtf8(Answer.NodeName),
                Parley::ToUtf8(Answer.Text),
                Answer.bIsDelta,
                Answer.bIsFinal,
                bFollowVoice && Agent->MayBeHeard(Answer.NodeName));
        });
    One.TurnEnded = Agent->OnTurnEndedNative().AddWeakLambda(
        this,
        [this, Agent](const FParleyTurnComplete& Turn)
        {
            const std::int64_t TurnId = static_cast<std::int64_t>(Turn.TurnId);
            // All sound of a turn comes before its end: what has none by now has none at all.
            for (const Parley::DialogueLines::Line& Line : Talk->Lines.Lines())
            {
                if (Line->IsHeld() && Line->Source == Agent && Line->TurnId == TurnId && HeardOf(*Line) < 0)
                {
                    Talk->Lines.Release(Line);
                }
            }
            Talk->Lines.EndTurn(Agent, TurnId);
        });
    Talk->Heard.Add(One);
}

int64 UParleyDialogueComponent::HeardOf(const Parley::DialogueLine& Line) const
{
    const FParleyTalk::FHeard* Of =
        Talk->Heard.FindByPredicate([&Line](const FParleyTalk::FHeard& One) { return One.Source == Line.Source; });
    const UParleyAgentComponent* Agent = Of == nullptr ? nullptr : Of->Agent.Get();
    return Agent == nullptr
        ? -1
        : Agent->HeardOf(static_cast<int64>(Line.TurnId), static_cast<int64>(Line.Step), Parley::ToFString(Line.Speaker));
}

void UParleyDialogueComponent::Unhear()
{
    const TArray<FParleyTalk::FHeard> All = MoveTemp(Talk->Heard);
    Talk->Heard.Reset();
    for (const FParleyTalk::FHeard& One : All)
    {
        Talk->Stop(One);
    }
}

// ---- with the actor ----

void UParleyDialogueComponent::Settle()
{
    Talk->Lines.ElementsPerSecond = static_cast<double>(CharactersPerSecond);
    Talk->Lines.GapSeconds = static_cast<double>(GapSeconds);
    Talk->Lines.MaxLines = static_cast<std::size_t>(MaxLines < 1 ? 1 : MaxLines);
}

void UParleyDialogueComponent::BeginPlay()
{
    Super::BeginPlay();
    Settle();
    if (IsActive())
    {
        HearAll();
    }
}

void UParleyDialogueComponent::EndPlay(const EEndPlayReason::Type EndPlayReason)
{
    Unhear();
    Super::EndPlay(EndPlayReason);
}

void UParleyDialogueComponent::Activate(bool bReset)
{
    Super::Activate(bReset);
    Settle();
    if (HasBegunPlay() && IsActive())
    {
        HearAll();
    }
}

void UParleyDialogueComponent::Deactivate()
{
    Super::Deactivate();
    if (!IsActive())
    {
        Unhear();
    }
}

void UParleyDialogueComponent::BeginDestroy()
{
    if (Talk.IsValid())
    {
        // Nobody may be told any more.
        Talk->Lines.Began = nullptr;
        Talk->Lines.Changed = nullptr;
        Talk->Lines.Done = nullptr;
        Talk->Lines.Dropped = nullptr;
        Unhear();
    }
    Super::BeginDestroy();
}

void UParleyDialogueComponent::TickComponent(float DeltaTime, ELevelTick TickType, FActorComponentTickFunction* ThisTickFunction)
{
    Super::TickComponent(DeltaTime, TickType, ThisTickFunction);
    // A talk goes on while the game is paused or slowed.
    const double Now = FPlatformTime::Seconds();
    const double Seconds = LastSeconds > 0.0 ? Now - LastSeconds : 0.0;
    LastSeconds = Now;
    Settle();
    // What is called may destroy this.
    const TSharedPtr<FParleyTalk> Held = Talk;
    const Parley::DialogueLines::Line Current = Held->Lines.Current();
    if (Current != nullptr && Current->IsHeld())
    {
        Held->Lines.Follow(Current, static_cast<std::int64_t>(HeardOf(*Current)), Seconds);
    }
    Held->Lines.Advance(Seconds);
}
