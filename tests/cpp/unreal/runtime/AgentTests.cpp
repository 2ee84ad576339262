// Parley Agent and the nodes that wait: what a graph sets before a conversation begins, and that every end comes once.
#include "Stage.h"

#include "ParleyAsyncActions.h"
#include "ParleyText.h"
#include "ParleyWorkflow.h"

using namespace RuntimeTests;

namespace
{

/// Counts the ends of nodes that wait.
class UEnds : public UObject
{
    STUB_CLASS_BODY(UEnds, UObject)

public:
    void TakeFailed(const FParleyFault& Fault)
    {
        Count++;
        Why = Fault;
    }

    void TakeTurn(const FParleyTurnComplete& Turn)
    {
        Count++;
        Status = Turn.Status;
        bIsGood = true;
    }

    void TakeText(const FString& Dialog)
    {
        Count++;
        Text = Dialog;
        bIsGood = true;
    }

    void TakeParams(const FParleyParams& Params) { TakeText(Params.Params); }

    void TakeDone() { TakeText(FString()); }

    void TakeModels(const TArray<FParleyModelInfo>& Models)
    {
        Many = Models.Num();
        TakeDone();
    }

    void TakeStatus(const FParleyStatus&) { TakeDone(); }

    void TakeProblems(const TArray<FParleyProblem>& Problems)
    {
        Many = Problems.Num();
        TakeDone();
    }

    int Count = 0;
    int Many = -1;
    bool bIsGood = false;
    FString Text;
    FParleyFault Why;
    EParleyTurnStatus Status = EParleyTurnStatus::Error;
};

UEnds* Begin(UParleyAction* Action)
{
    UEnds* Ends = NewObject<UEnds>();
    Ends->AddToRoot();
    Action->OnFailed.AddDynamic(Ends, &UEnds::TakeFailed);
    return Ends;
}

UEnds* Say(UParleyAgentComponent* Agent, const TCHAR* Line)
{
    UParleySayAction* Action = UParleySayAction::SayAndWait(Agent, Line);
    UEnds* Ends = Begin(Action);
    Action->OnTurnComplete.AddDynamic(Ends, &UEnds::TakeTurn);
    Action->Activate();
    return Ends;
}

UEnds* GetParams(UParleyAgentComponent* Agent, const TCHAR* NodeName)
{
    UParleyGetParamsAction* Action = UParleyGetParamsAction::GetParams(Agent, NodeName);
    UEnds* Ends = Begin(Action);
    Action->OnGot.AddDynamic(Ends, &UEnds::TakeParams);
    Action->Activate();
    return Ends;
}

UEnds* List(UWorld* World)
{
    UParleyListModelsAction* Action = UParleyListModelsAction::ListModels(World);
    UEnds* Ends = Begin(Action);
    Action->OnListed.AddDynamic(Ends, &UEnds::TakeModels);
    Action->Activate();
    return Ends;
}

} // namespace

PARLEY_TEST(AgentTests, AConversationBeginsAndIsMadeAnewAsItIsSet)
{
    Project();
    FGame Game;
    UParleyAgentComponent* Agent = NewObject<UParleyAgentComponent>(Game.Spawn("Note"));
    Agent->Workflow = Workflow("note");
    Agent->StartDialog = TEXT("[{\"user\": \"Hi\", \"replies\": [{\"node_name\": \"note\", \"text\": \"Ho\"}]}]");
    Agent->Variables.Add(FParleyVariable(TEXT("level"), FParleyValue(5)));
    UNotes* Notes = UNotes::Of(Agent);
    Agent->RegisterComponent();
    Game.UntilReady();
    Equal(1, Agent->GetDialogLength(), "turns of the dialog that it begins with");
    bool bIsWrong = false;
    Agent->SetVariablesThen({FParleyVariable(TEXT("levle"), FParleyValue(5))}, [&bIsWrong](const FParleyFault* Why) { bIsWrong = Why != nullptr; });
    Game.Until([&] { return bIsWrong; }, "a variable that there is not is refused");
    Agent->Say(TEXT("a"));
    Game.Until([&] { return Notes->Turns.Num() >= 1; }, "the first");
    Text("5|", Notes->Said, "what it says");
    Equal(2, Agent->GetDialogLength(), "turns");

    Agent->StartDialog = FString();
    Agent->Workflow = Workflow("guard");
    Agent->Say(TEXT("b"));
    Game.Until([&] { return Notes->Turns.Num() >= 2; }, "the second");
    Text("5|5|", Notes->Said, "a workflow that is only set");
    Agent->Variables.Reset();
    Agent->Remake();
    Agent->Say(TEXT("c"));
    Game.Until([&] { return Notes->Turns.Num() >= 3; }, "the third");
    Text("5|5|Halt!|", Notes->Said, "what it says once it is made anew");
    Equal(1, Agent->GetDialogLength(), "turns of the dialog that it has then");
    Equal(0, Notes->Errors.Num(), "errors");
}

PARLEY_TEST(AgentTests, ComponentsComeAndGoAtAnyMoment)
{
    Project();
    FGame Game;
    AActor* Actor = Game.Spawn("Walker");
    UParleyAgentComponent* Agent = NewObject<UParleyAgentComponent>(Actor);
    That(Agent->TrySay(TEXT("a")) == EParleySayOutcome::Unavailable, "one that is not registered is not active");
    Agent->Workflow = Workflow("slow");
    Agent->RegisterComponent();
    UNotes* Notes = UNotes::Of(Agent);
    Agent->Say(TEXT("a"));
    Game.Until([&] { return Notes->Frames > 2; }, "it speaks");
    Agent->UnregisterComponent();
    Agent->RegisterComponent();
    Game.Frame();
    That(Agent->IsBusy(), "to be registered again ends nothing");
    Agent->DestroyComponent();
    Equal(1, Notes->Turns.Num(), "to be destroyed ends it");
    That(Notes->Turns[0].Status == EParleyTurnStatus::Cancelled, "cancelled");

    // Pooled: it never began to play, but has a conversation.
    UParleyAgentComponent* Asleep = NewObject<UParleyAgentComponent>(Actor);
    Asleep->Workflow = Workflow("note");
    Asleep->LoadDialog(TEXT("[]"));
    That(Asleep->GetAgent() != nullptr, "it has a conversation");
    Asleep->DestroyComponent();
    That(Asleep->GetAgent() == nullptr, "which goes with it");

    // What nobody holds any more is collected, without an end of play.
    TWeakObjectPtr<UParleyAgentComponent> Lost = NewObject<UParleyAgentComponent>(Game.World);
    CollectGarbage(RF_NoFlags);
    That(!Lost.IsValid(), "it is gone");
    Game.Frame();
}

PARLEY_TEST(AgentTests, EveryActionEndsOnce)
{
    Project();
    FGame Game;
    UParleyAgentComponent* Agent = Game.Character("Note", "note");
    UEnds* Said = Say(Agent, TEXT("a"));
    Game.Until([&] { return Said->Count > 0; }, "it is answered");
    That(Said->bIsGood && Said->Status == EParleyTurnStatus::Success, "the turn");
    UEnds* Got = GetParams(Agent, TEXT("note"));
    UEnds* None = GetParams(Agent, TEXT("nobody"));
    UParleySaveDialogAction* Save = UParleySaveDialogAction::SaveDialog(Agent);
    UEnds* Saved = Begin(Save);
    Save->OnSaved.AddDynamic(Saved, &UEnds::TakeText);
    Save->Activate();
    Game.Until([&] { return Got->Count > 0 && None->Count > 0 && Saved->Count > 0; }, "all three are answered");
    That(Got->bIsGood && Got->Text.Contains(TEXT("template")), "parameters");
    That(!None->bIsGood && None->Why.Kind == EParleyErrorCode::UnknownNode, "of a node that there is not");
    UParleyLoadDialogAction* Load = UParleyLoadDialogAction::LoadDialogAndWait(Agent, Saved->Text);
    UEnds* Loaded = Begin(Load);
    Load->OnLoaded.AddDynamic(Loaded, &UEnds::TakeDone);
    Load->Activate();
    UParleyChangeParamsAction* Change = UParleyChangeParamsAction::ChangeParamsAndWait(Agent, TEXT("note"), TEXT("{\"template\": \"x\"}"));
    UEnds* Changed = Begin(Change);
    Change->OnChanged.AddDynamic(Changed, &UEnds::TakeDone);
    Change->Activate();
    UParleySetVariablesAction* Set =
        UParleySetVariablesAction::SetVariablesAndWait(Agent, {FParleyVariable(TEXT("level"), FParleyValue(2))});
    UEnds* WasSet = Begin(Set);
    Set->OnChanged.AddDynamic(WasSet, &UEnds::TakeDone);
    Set->Activate();
    UEnds* Models = List(Game.World);
    UParleyGetStatusAction* Status = UParleyGetStatusAction::GetStatus(Game.World);
    UEnds* Stood = Begin(Status);
    Status->OnGot.AddDynamic(Stood, &UEnds::TakeStatus);
    Status->Activate();
    UParleyValidateAction* Validate = UParleyValidateAction::ValidateWorkflow(Game.World, Workflow("no_model"));
    UEnds* Found = Begin(Validate);
    Validate->OnValidated.AddDynamic(Found, &UEnds::TakeProblems);
    Validate->Activate();
    UParleyDownloadAction* Download = UParleyDownloadAction::DownloadModel(Game.World, TEXT("no-such-model"));
    UEnds* Fetched = Begin(Download);
    Download->OnDownloaded.AddDynamic(Fetched, &UEnds::TakeDone);
    Download->Activate();
    const std::vector<UEnds*> All = {Loaded, Changed, WasSet, Models, Stood, Found, Fetched};
    Game.Until(
        [&]
        {
            for (const UEnds* One : All)
            {
                if (One->Count == 0)
                {
                    return false;
                }
            }
            return true;
        },
        "all are answered");
    for (const UEnds* One : All)
    {
        Equal(One == Fetched ? 0 : 1, One->bIsGood ? 1 : 0, Parley::ToUtf8(One->Why.ToString()));
    }
    That(Models->Many > 3 && Found->Many > 0, "what they found");

    // Whoever is destroyed in the middle ends them too.
    UEnds* Cut = Say(Agent, TEXT("b"));
    UEnds* Asked = GetParams(Agent, TEXT("note"));
    Game.Destroy(Agent->GetOwner());
    Equal(1, Cut->Count, "a line of one that goes");
    Equal(1, Asked->Count, "a question to one that goes");
    That(Asked->Why.Kind == EParleyErrorCode::AgentDestroyed, "why");
    UEnds* Nobody = Say(nullptr, TEXT("c"));
    Equal(1, Nobody->Count, "without an agent");
    UParleyAgentComponent* Other = Game.Character("Slow", "slow");
    UEnds* Last = Say(Other, TEXT("d"));
    UEnds* LastModels = List(Game.World);
    UEnds* LastAsked = GetParams(Other, TEXT("mira"));
    Game.Frame();
    Game.Stop();
    Equal(1, Last->Count, "a line when the game ends");
    Equal(1, LastModels->Count, "a question when the game ends");
    Equal(1, LastAsked->Count, "a question to an agent when the game ends");
    for (const UEnds* One : All)
    {
        Equal(1, One->Count, "each once");
    }
    Equal(1, List(nullptr)->Count, "without a game");
}
