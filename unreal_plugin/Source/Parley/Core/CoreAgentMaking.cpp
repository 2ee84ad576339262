// How a character is made in one sidecar after another, and kept over a loss of all state.
#include "Core/Ask.h"
#include "Core/CoreAgent.h"
#include "Core/CoreInside.h"
#include "Core/JsonRead.h"
#include "Core/SharedRequests.h"
#include "Core/Turn.h"

#include <utility>

namespace Parley
{

namespace CoreAgentMakingLocal
{

/// A text in a state that holds JSON. False, with the fault said, where it is none.
bool ReadParsed(const JsonRead& From, std::string_view Name, const JsonCodec& Codec, Json& Out)
{
    std::string Text;
    if (!ReadNeeded(From, Name, Text))
    {
        return false;
    }
    std::string Wrong;
    return Codec.Read(Text, Out, Wrong) || JsonRead(*From.Get().Find(Name), From, Name).Fail(Wrong);
}

bool ReadObject(const JsonRead& From, std::string_view Name, const JsonCodec& Codec, Json& Out)
{
    return ReadParsed(From, Name, Codec, Out)
        && (Out.IsObject() || JsonRead(*From.Get().Find(Name), From, Name).Fail("holds no JSON object"));
}

bool ChangesSomething(const Request& What)
{
    switch (What.Id())
    {
    case MessageId::SetVariables:
    case MessageId::ChangeParams:
    case MessageId::EditDialog:
    case MessageId::TruncateDialog:
        return true;
    default:
        return false;
    }
}

} // namespace CoreAgentMakingLocal

void CoreAgent::Make(std::function<void()> Done)
{
    const std::shared_ptr<CoreInside> Inside = Core.lock();
    const int Try = ++Making;
    State = AgentState::Making;
    AgentId.clear();
    if (SeedDialog == nullptr && Mirror.IsEmpty())
    {
        Create(std::make_shared<const Pieces>(Pieces{nullptr}), Try, std::move(Done));
        return;
    }
    const std::shared_ptr<Pieces> Found = std::make_shared<Pieces>();
    Inside->Queue->InBackground(
        [Found, Begun = SeedDialog, Document = Mirror.Copy(), Codec = Inside->Options.Codec]
        {
            for (Json& Piece : DialogMirror::Split(Begun != nullptr ? *Begun : Document.ToJson(), *Codec))
            {
                Found->push_back(std::make_shared<const Json>(std::move(Piece)));
            }
        },
        [Self = shared_from_this(), Found, Try, Done = std::move(Done)]
        {
            if (Try != Self->Making)
            {
                Done();
            }
            else
            {
                Self->Create(Found, Try, Done);
            }
        });
}

void CoreAgent::Create(std::shared_ptr<const Pieces> All, int Try, std::function<void()> Done)
{
    AskOnce(
        [Self = shared_from_this(), All]
        {
            std::unique_ptr<MakingRequest> Message = std::make_unique<MakingRequest>();
            Message->Workflow = Self->Workflow;
            Message->Variables = Self->Variables;
            Message->EnableDiagnostics = Self->EnableDiagnostics;
            Message->MaxSteps = Self->MaxSteps;
            Message->SeedDialog = All->front();
            return Message;
        },
        [Self = shared_from_this(), All, Try, Done = std::move(Done)](std::unique_ptr<Reply> Said, const Fault* Why)
        {
            const std::shared_ptr<CoreInside> Inside = Self->Core.lock();
            const Messages::AgentCreated* Created = As<Messages::AgentCreated>(Said.get());
            if (Try != Self->Making || Inside == nullptr)
            {
                if (Created != nullptr && Inside != nullptr)
                {
                    Inside->DestroyUnwanted(Created->AgentId);
                }
                Done();
            }
            else if (Created == nullptr)
            {
                Self->Fail(Why, Done);
            }
            else
            {
                Self->AgentId = Created->AgentId;
                Self->Warnings = Created->Warnings;
                Inside->Know(Self);
                // What has to follow CreateAgent: the rest of the dialog, and what was changed since.
                const std::shared_ptr<std::vector<MakeRequest>> Rest = std::make_shared<std::vector<MakeRequest>>();
                for (std::size_t Index = 1; Index < All->size(); Index++)
                {
                    Rest->push_back(
                        [Self, Piece = (*All)[Index]]
                        {
                            std::unique_ptr<SeedRequest> Message = std::make_unique<SeedRequest>();
                            Message->AgentId = Self->AgentId;
                            Message->Dialog = Piece;
                            Message->Append = true;
                            return Message;
                        });
                }
                for (const JsonMember& Node : Self->Params.Members())
                {
                    Rest->push_back(
                        [Self, Node]
                        {
                            std::unique_ptr<Messages::ChangeParams> Message = std::make_unique<Messages::ChangeParams>();
                            Message->AgentId = Self->AgentId;
                            Message->NodeName = Node.Name;
                            Message->Params = Node.Value;
                            return Message;
                        });
                }
                Self->FollowUp(Rest, 0, Try, Done);
            }
        });
}

void CoreAgent::FollowUp(
    std::shared_ptr<const std::vector<MakeRequest>> Rest, std::size_t Which, int Try, std::function<void()> Done)
{
    if (Which == Rest->size())
    {
        Settled(std::move(Done));
        return;
    }
    AskOnce(
        (*Rest)[Which],
        [Self = shared_from_this(), Rest, Which, Try, Done = std::move(Done)](std::unique_ptr<Reply>, const Fault* Why)
        {
            if (Try != Self->Making)
            {
                Done();
            }
            else if (Why != nullptr)
            {
                if (const std::shared_ptr<CoreInside> Inside = Self->Core.lock())
                {
                    Inside->DestroyUnwanted(Self->AgentId);
                }
                Self->Fail(Why, Done);
            }
            else
            {
                Self->FollowUp(Rest, Which + 1, Try, Done);
            }
        });
}

void CoreAgent::Settled(std::function<void()> Done)
{
    if (SeedDialog == nullptr)
    {
        GetReady(Done);
        return;
    }
    Export(
        std::make_shared<DialogCopy>(),
        true,
        [Self = shared_from_this(), Try = Making, Done = std::move(Done)](DialogCopy Document, const Fault* Why)
        {
            if (Try != Self->Making)
            {
                Done();
            }
            else if (Why != nullptr)
            {
                Self->Fail(Why, Done);
            }
            else
            {
                Self->Mirror.Replace(std::move(Document));
                Self->GetReady(Done);
            }
        });
}

void CoreAgent::GetReady(const std::function<void()>& Done)
{
    WasMade = true;
    SeedDialog = nullptr;
    Trouble.reset();
    State = AgentState::Ready;
    Begin(Done);
}

void CoreAgent::Begin(const std::function<void()>& Done)
{
    const std::shared_ptr<CoreAgent> Self = shared_from_this();
    const std::shared_ptr<CoreInside> Inside = Core.lock();
    if (Current != nullptr && Current->IsToBeCancelled)
    {
        CancelTurn(Current);
    }
    std::vector<std::unique_ptr<Ask>> All = std::move(Later);
    Later.clear();
    for (std::unique_ptr<Ask>& One : All)
    {
        Inside->Send(std::move(One));
    }
    SayQueued();
    Made.Raise(*this);
    TellCreated(nullptr);
    Done();
}

void CoreAgent::Fail(const Fault* Why, const std::function<void()>& Done)
{
    if (Why != nullptr && Faults::MeansGone(*Why))
    {
        // The next sidecar is asked again; with this one nothing will be done any more.
        return;
    }
    const Fault Reason =
        Why == nullptr ? Fault::Local(LocalFaults::InternalFault, "the sidecar answered with something else") : *Why;
    Trouble = Reason;
    State = AgentState::Failed;
    AgentId.clear();
    FailWaiting(Reason);
    if (const std::shared_ptr<CoreInside> Inside = Core.lock())
    {
        Inside->Say(LogLevel::Error, "an agent could not be made: " + Reason.Shown());
    }
    Failed.Raise(Reason);
    Done();
}

void CoreAgent::TellCreated(const Fault* Why)
{
    const DoneCallback Hears = std::move(Creating);
    Creating = nullptr;
    if (Hears)
    {
        Hears(Why);
    }
}

// ---- before and after a loss of all state ----

Json CoreAgent::ToState(const std::vector<const Ask*>& Asked)
{
    const std::shared_ptr<CoreInside> Inside = Core.lock();
    const JsonCodec& Codec = *Inside->Options.Codec;
    // What was asked and not answered will have been done, where it came to the sidecar at all.
    std::vector<std::unique_ptr<Request>> Again = std::move(ToAskAgain);
    ToAskAgain.clear();
    for (const Ask* One : Asked)
    {
        Again.push_back(One->Make());
        KeepAsked(*Again.back());
    }
    for (const std::unique_ptr<Ask>& One : Later)
    {
        Again.push_back(One->Make());
    }
    std::vector<const Request*> Changes;
    for (const std::unique_ptr<Request>& One : Again)
    {
        if (CoreAgentMakingLocal::ChangesSomething(*One))
        {
            Changes.push_back(One.get());
        }
    }
    Json Kept = Json::Object();
    Kept.Set("key", Json::String(Key));
    Kept.Set("agent_id", Json::String(State == AgentState::Ready ? AgentId : ""));
    // As texts: what is nested as deeply as may be must not be nested deeper here.
    Kept.Set("workflow", Json::String(Codec.Write(*Workflow)));
    Kept.Set("variables", Json::String(Codec.Write(Variables)));
    Kept.Set("params", Json::String(Codec.Write(Params)));
    Kept.Set("enable_diagnostics", Json::Boolean(EnableDiagnostics));
    Kept.Set("max_steps", Json::Integer(MaxSteps));
    Kept.Set("queue_one", Json::Boolean(Busy == WhenBusy::QueueOne));
    Kept.Set("was_made", Json::Boolean(WasMade));
    Kept.Set("ask_again", CoreInside::ToState(Changes));
    Kept.Set("loading", Json::String(Loading == nullptr ? std::string() : *Loading));
    Kept.Set("is_mirror_stale", Json::Boolean(IsMirrorStale));
    Kept.Set("dialog", Json::String(Codec.Write(Mirror.Copy().ToJson())));
    if (State == AgentState::Failed && Trouble)
    {
        Kept.Set("trouble", Trouble->ToError().ToJson());
    }
    if (SeedDialog != nullptr)
    {
        Kept.Set("seed", Json::String(Codec.Write(*SeedDialog)));
    }
    if (Current != nullptr)
    {
        Kept.Set("turn", Current->ToState());
    }
    if (Next != nullptr)
    {
        Kept.Set("queued", Next->ToState());
    }
    return Kept;
}

std::shared_ptr<CoreAgent> CoreAgent::FromState(const std::shared_ptr<CoreInside>& Owner, const JsonRead& From)
{
    const JsonCodec& Codec = *Owner->Options.Codec;
    AgentOptions Options;
    bool IsQueueing = false;
    if (!From.Object() || !ReadNeeded(From, "key", Options.Key)
        || !CoreAgentMakingLocal::ReadObject(From, "workflow", Codec, Options.Workflow)
        || !CoreAgentMakingLocal::ReadObject(From, "variables", Codec, Options.Variables)
        || !ReadNeeded(From, "enable_diagnostics", Options.EnableDiagnostics)
        || !ReadNeeded(From, "max_steps", Options.MaxSteps) || !ReadNeeded(From, "queue_one", IsQueueing))
    {
        return nullptr;
    }
    Options.Busy = IsQueueing ? WhenBusy::QueueOne : WhenBusy::Refuse;
    if (From.Get().Find("seed") != nullptr
        && !CoreAgentMakingLocal::ReadParsed(From, "seed", Codec, Options.SeedDialog.emplace()))
    {
        return nullptr;
    }
    const std::shared_ptr<CoreAgent> Agent(new CoreAgent(Owner, std::move(Options)));
    Json Dialog;
    Messages::DialogDocument Document;
    std::string Wrong;
    std::string WasLoading;
    if (!ReadNeeded(From, "was_made", Agent->WasMade)
        || !CoreAgentMakingLocal::ReadObject(From, "params", Codec, Agent->Params)
        || !CoreAgentMakingLocal::ReadObject(From, "dialog", Codec, Dialog)
        || !ReadNeeded(From, "agent_id", Agent->AgentId)
        || !ReadNeeded(From, "is_mirror_stale", Agent->IsMirrorStale) || !ReadNeeded(From, "loading", WasLoading)
        || !CoreInside::FromState(From, "ask_again", Codec, Agent->ToAskAgain))
    {
        return nullptr;
    }
    if (!Messages::DialogDocument::FromJson(Dialog, Document, Wrong))
    {
        JsonRead(*From.Get().Find("dialog"), From, "dialog").Fail(Wrong);
        return nullptr;
    }
    for (Messages::Interaction& Turn : Document.Interactions)
    {
        Agent->Mirror.Now.Interactions.push_back(std::make_shared<const Messages::Interaction>(std::move(Turn)));
    }
    Agent->Mirror.Now.Summary = std::move(Document.Summary);
    if (!WasLoading.empty())
    {
        Agent->Loading = std::make_shared<const std::string>(std::move(WasLoading));
    }
    if (const Json* Found = From.Get().Find("turn"))
    {
        Agent->Current = Turn::FromState(JsonRead(*Found, From, "turn"));
        if (Agent->Current == nullptr)
        {
            return nullptr;
        }
    }
    if (const Json* Found = From.Get().Find("queued"))
    {
        Agent->Next = Turn::FromState(JsonRead(*Found, From, "queued"));
        if (Agent->Next == nullptr)
        {
            return nullptr;
        }
    }
    Agent->State = Agent->AgentId.empty() ? AgentState::Making : AgentState::Ready;
    if (From.Get().Find("trouble") != nullptr)
    {
        Messages::Error Error;
        if (!ReadNeeded(From, "trouble", Error))
        {
            return nullptr;
        }
        Agent->State = AgentState::Failed;
        Agent->Trouble = Fault::From(Error);
    }
    return Agent;
}

void CoreAgent::AskAgain()
{
    const std::shared_ptr<CoreAgent> Self = shared_from_this();
    const std::vector<std::unique_ptr<Request>> All = std::move(ToAskAgain);
    ToAskAgain.clear();
    // Most of it can be done twice; the dialog is looked at afterwards where it cannot.
    const DoneCallback Afterwards = [Self](const Fault* Why) { Self->MirrorAnyway(Why); };
    for (const std::unique_ptr<Request>& One : All)
    {
        if (const Messages::SetVariables* Set = As<Messages::SetVariables>(One.get()))
        {
            SetVariables(Set->Values);
        }
        else if (const Messages::ChangeParams* Changed = As<Messages::ChangeParams>(One.get()))
        {
            ChangeParams(Changed->NodeName, Changed->Params);
        }
        else if (const Messages::EditDialog* Edited = As<Messages::EditDialog>(One.get()))
        {
            EditDialog(static_cast<int>(Edited->Index), Edited->User, Edited->Replies, Afterwards);
        }
        else if (const Messages::TruncateDialog* Cut = As<Messages::TruncateDialog>(One.get()))
        {
            TruncateDialog(static_cast<int>(Cut->Keep), Afterwards);
        }
    }
    if (Loading != nullptr)
    {
        LoadDialog(std::string(*Loading), Afterwards);
    }
    else if (IsMirrorStale)
    {
        MirrorNow({});
    }
}

void CoreAgent::MirrorAnyway(const Fault* Why)
{
    if (Why != nullptr && State == AgentState::Ready)
    {
        MirrorNow({});
    }
}

void CoreAgent::GoOn()
{
    // The session goes on: what waited for it can be done.
    if (State == AgentState::Ready)
    {
        Begin([] {});
    }
}

bool CoreAgent::CanBeKept() const
{
    return !SharedRequests::IsTooDeep(*Workflow) && !SharedRequests::IsTooDeep(Variables)
        && (SeedDialog == nullptr || !SharedRequests::IsTooDeep(*SeedDialog));
}

void CoreAgent::KeepAsked(const Request& What)
{
    if (const Messages::SetVariables* Set = As<Messages::SetVariables>(&What))
    {
        for (const JsonMember& Field : Set->Values.Members())
        {
            Variables.Set(Field.Name, Field.Value);
        }
    }
    else if (const Messages::ChangeParams* Changed = As<Messages::ChangeParams>(&What))
    {
        KeepParams(Changed->NodeName, Changed->Params);
    }
}

} // namespace Parley
