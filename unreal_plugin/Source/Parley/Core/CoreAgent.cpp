// What a character is asked: lines, changes, its dialog.
#include "Core/CoreAgent.h"

#include "Core/Ask.h"
#include "Core/CoreInside.h"
#include "Core/Platform.h"
#include "Core/SharedRequests.h"
#include "Core/Turn.h"
#include "Core/Utf8.h"

#include <utility>

namespace Parley
{

namespace CoreAgentLocal
{

void Merge(Json& Into, const Json& From)
{
    for (const JsonMember& Field : From.Members())
    {
        Into.Set(Field.Name, Field.Value);
    }
}

void Tell(const DoneCallback& Done, const Fault* Why)
{
    if (Done)
    {
        Done(Why);
    }
}

} // namespace CoreAgentLocal

CoreAgent::CoreAgent(const std::shared_ptr<CoreInside>& Owner, AgentOptions Options)
    : Core(Owner), Key(Options.Key.empty() ? Platform::MadeUpName() : std::move(Options.Key)), Busy(Options.Busy),
      EnableDiagnostics(Options.EnableDiagnostics), MaxSteps(Options.MaxSteps),
      Workflow(std::make_shared<const Json>(std::move(Options.Workflow))), Variables(std::move(Options.Variables))
{
    if (Options.SeedDialog)
    {
        SeedDialog = std::make_shared<const Json>(std::move(*Options.SeedDialog));
    }
}

CoreAgent::~CoreAgent() = default;

std::int64_t CoreAgent::GetTurnId() const noexcept
{
    return Current != nullptr ? Current->TurnId : 0;
}

bool CoreAgent::HasVoice(std::string_view NodeName) const
{
    return !Turn::TextOf(Turn::NodeOf(*Workflow, NodeName), "voice").empty();
}

// ---- speaking ----

SayOutcome CoreAgent::Say(std::string Text, TurnCallback Ended, LineId* Line)
{
    const std::shared_ptr<CoreInside> Inside = Core.lock();
    if (Line != nullptr)
    {
        *Line = 0;
    }
    if (State == AgentState::Destroyed || State == AgentState::Failed || Inside == nullptr || !Inside->WillBeThere())
    {
        return SayOutcome::Unavailable;
    }
    if (Next != nullptr || (Current != nullptr && Busy == WhenBusy::Refuse))
    {
        return SayOutcome::Busy;
    }
    const std::shared_ptr<Turn> What = std::make_shared<Turn>(Utf8::Mended(Text));
    What->Ended = std::move(Ended);
    if (Line != nullptr)
    {
        *Line = What->Line;
    }
    if (Current != nullptr || State != AgentState::Ready || !Inside->IsConnected() || Loading != nullptr)
    {
        Next = What;
        return SayOutcome::Queued;
    }
    Send(What);
    return SayOutcome::Sent;
}

Fault CoreAgent::WhyNotSaid(SayOutcome Outcome) const
{
    return Outcome == SayOutcome::Busy
        ? Fault::OfWire(
            ErrorCode::AgentBusy, "AgentBusy", "a turn of this agent is running; wait for it or cancel it")
        : WhyUnavailable();
}

void CoreAgent::Cancel()
{
    const std::shared_ptr<CoreAgent> Self = shared_from_this();
    DropQueued();
    CancelTurn(Current);
}

void CoreAgent::CancelLine(LineId Line)
{
    const std::shared_ptr<CoreAgent> Self = shared_from_this();
    if (Next != nullptr && Next->Line == Line)
    {
        DropQueued();
    }
    else if (Current != nullptr && Current->Line == Line)
    {
        CancelTurn(Current);
    }
}

// ---- changing ----

void CoreAgent::SetVariable(std::string_view Name, Json Value, DoneCallback Done)
{
    Json Values = Json::Object();
    Values.Set(Name, std::move(Value));
    SetVariables(std::move(Values), std::move(Done));
}

void CoreAgent::SetVariables(Json Values, DoneCallback Done)
{
    if (!CanBeWritten(Values, Done))
    {
        return;
    }
    const std::shared_ptr<const Json> Kept = std::make_shared<const Json>(std::move(Values));
    Do(
        [Self = shared_from_this(), Kept]
        {
            std::unique_ptr<Messages::SetVariables> Message = std::make_unique<Messages::SetVariables>();
            Message->AgentId = Self->AgentId;
            Message->Values = *Kept;
            return Message;
        },
        [Self = shared_from_this(), Kept, Done = std::move(Done)](std::unique_ptr<Reply>, const Fault* Why)
        {
            if (Why == nullptr)
            {
                CoreAgentLocal::Merge(Self->Variables, *Kept);
            }
            CoreAgentLocal::Tell(Done, Why);
        });
}

void CoreAgent::ChangeParams(std::string NodeName, Json Changes, DoneCallback Done)
{
    if (!CanBeWritten(Changes, Done))
    {
        return;
    }
    const std::shared_ptr<const Json> Kept = std::make_shared<const Json>(std::move(Changes));
    Do(
        [Self = shared_from_this(), NodeName, Kept]
        {
            std::unique_ptr<Messages::ChangeParams> Message = std::make_unique<Messages::ChangeParams>();
            Message->AgentId = Self->AgentId;
            Message->NodeName = NodeName;
            Message->Params = *Kept;
            return Message;
        },
        [Self = shared_from_this(), NodeName, Kept, Done = std::move(Done)](std::unique_ptr<Reply>, const Fault* Why)
        {
            if (Why == nullptr)
            {
                Self->KeepParams(NodeName, *Kept);
            }
            CoreAgentLocal::Tell(Done, Why);
        });
}

void CoreAgent::GetParams(std::string NodeName, ParamsCallback Done)
{
    Do(
        [Self = shared_from_this(), NodeName = std::move(NodeName)]
        {
            std::unique_ptr<Messages::GetParams> Message = std::make_unique<Messages::GetParams>();
            Message->AgentId = Self->AgentId;
            Message->NodeName = NodeName;
            return Message;
        },
        [Done = std::move(Done)](std::unique_ptr<Reply> Said, const Fault* Why)
        {
            const Messages::Params* Found = As<Messages::Params>(Said.get());
            const Fault Odd = Fault::Local(LocalFaults::InternalFault, "the sidecar answered with something else");
            Done(Found, Found == nullptr && Why == nullptr ? &Odd : Why);
        });
}

// ---- the dialog ----

void CoreAgent::SaveDialog(DialogCallback Done)
{
    const std::shared_ptr<CoreInside> Inside = Core.lock();
    if (State != AgentState::Ready || Inside == nullptr || !Inside->IsConnected())
    {
        Write(Mirror.Copy(), std::move(Done));
        return;
    }
    Export(
        std::make_shared<DialogCopy>(),
        false,
        [Self = shared_from_this(), Done = std::move(Done)](DialogCopy Document, const Fault* Why)
        {
            if (Why != nullptr && !Faults::MeansGone(*Why))
            {
                Done("", Why);
            }
            else
            {
                Self->Write(Why == nullptr ? std::move(Document) : Self->Mirror.Copy(), Done);
            }
        });
}

void CoreAgent::LoadDialog(std::string JsonText, DoneCallback Done)
{
    const std::shared_ptr<const std::string> Text = std::make_shared<const std::string>(std::move(JsonText));
    Loading = Text;
    DoneCallback End = [Self = shared_from_this(), Text, Done = std::move(Done)](const Fault* Why)
    {
        if (Self->Loading == Text)
        {
            Self->Loading = nullptr;
        }
        CoreAgentLocal::Tell(Done, Why);
        // What was said behind it belongs to the dialog that is loaded.
        Self->SayQueued();
    };
    const std::shared_ptr<CoreInside> Inside = Core.lock();
    if (Inside == nullptr)
    {
        const Fault Why = WhyUnavailable();
        End(&Why);
        return;
    }
    struct Parsed
    {
        Pieces All;
        std::string Wrong;
    };
    const std::shared_ptr<Parsed> Found = std::make_shared<Parsed>();
    Inside->Queue->InBackground(
        [Found, Text, Codec = Inside->Options.Codec]
        {
            Json Dialog;
            if (!Codec->Read(*Text, Dialog, Found->Wrong))
            {
                return;
            }
            for (Json& Piece : DialogMirror::Split(std::move(Dialog), *Codec))
            {
                Found->All.push_back(std::make_shared<const Json>(std::move(Piece)));
            }
        },
        [Self = shared_from_this(), Found, End = std::move(End)]
        {
            if (Found->Wrong.empty())
            {
                Self->Seed(std::make_shared<const Pieces>(std::move(Found->All)), 0, End);
                return;
            }
            const Fault Why = Fault::OfWire(
                ErrorCode::InvalidDialog, "InvalidDialog", "this is no saved dialog: " + Found->Wrong);
            End(&Why);
        });
}

void CoreAgent::EditDialog(
    int Index,
    std::optional<std::string> User,
    std::optional<std::vector<Messages::ShortReply>> Replies,
    DoneCallback Done)
{
    Do(
        [Self = shared_from_this(), Index, User = std::move(User), Replies = std::move(Replies)]
        {
            std::unique_ptr<Messages::EditDialog> Message = std::make_unique<Messages::EditDialog>();
            Message->AgentId = Self->AgentId;
            Message->Index = Index;
            Message->User = User;
            Message->Replies = Replies;
            return Message;
        },
        [Self = shared_from_this(), Done = std::move(Done)](std::unique_ptr<Reply>, const Fault* Why)
        { Self->MirrorAfter(Done, Why); });
}

void CoreAgent::TruncateDialog(int Keep, DoneCallback Done)
{
    Do(
        [Self = shared_from_this(), Keep]
        {
            std::unique_ptr<Messages::TruncateDialog> Message = std::make_unique<Messages::TruncateDialog>();
            Message->AgentId = Self->AgentId;
            Message->Keep = Keep;
            return Message;
        },
        [Self = shared_from_this(), Done = std::move(Done)](std::unique_ptr<Reply>, const Fault* Why)
        { Self->MirrorAfter(Done, Why); });
}

void CoreAgent::Destroy()
{
    if (State == AgentState::Destroyed)
    {
        return;
    }
    const std::shared_ptr<CoreAgent> Self = shared_from_this();
    const std::string Before = std::move(AgentId);
    State = AgentState::Destroyed;
    AgentId.clear();
    Making++;
    if (const std::shared_ptr<CoreInside> Inside = Core.lock())
    {
        Inside->Forget(*this, Before);
    }
    Settle(Messages::TurnStatus::Cancelled, ErrorCode::AgentDestroyed, "AgentDestroyed", "this agent was destroyed");
    DropQueued();
    FailWaiting(Faults::Destroyed());
}

// ---- requests ----

void CoreAgent::Do(MakeRequest Make, ReplyCallback Done)
{
    std::unique_ptr<Ask> What = std::make_unique<Ask>();
    What->Agent = shared_from_this();
    What->Make = std::move(Make);
    What->Done = std::move(Done);
    Do(std::move(What));
}

void CoreAgent::Do(std::unique_ptr<Ask> What)
{
    const std::shared_ptr<CoreInside> Inside = Core.lock();
    if (Inside == nullptr)
    {
        // There is no Update any more in which it could be told.
        const Fault Why = WhyUnavailable();
        What->Done(nullptr, &Why);
    }
    else if (State == AgentState::Destroyed || State == AgentState::Failed || !Inside->WillBeThere())
    {
        Inside->Queue->Post([Done = std::move(What->Done), Why = WhyUnavailable()] { Done(nullptr, &Why); });
    }
    else if (State == AgentState::Ready && Inside->IsConnected())
    {
        Inside->Send(std::move(What));
    }
    else
    {
        Later.push_back(std::move(What));
    }
}

void CoreAgent::AskOnce(MakeRequest Make, ReplyCallback Done)
{
    std::unique_ptr<Ask> What = std::make_unique<Ask>();
    What->Agent = shared_from_this();
    What->IsOnce = true;
    What->Make = std::move(Make);
    What->Done = std::move(Done);
    if (const std::shared_ptr<CoreInside> Inside = Core.lock())
    {
        Inside->Send(std::move(What));
    }
    else
    {
        const Fault Why = Faults::Lost("the sidecar is lost");
        What->Done(nullptr, &Why);
    }
}

bool CoreAgent::CanBeWritten(const Json& Object, const DoneCallback& Done)
{
    Fault Why;
    if (!Object.IsObject())
    {
        Why = Fault::OfWire(ErrorCode::InvalidValue, "InvalidValue", "values by their names are wanted: a JSON object");
    }
    else if (SharedRequests::IsTooDeep(Object))
    {
        Why = Fault::OfWire(ErrorCode::InvalidValue, "InvalidValue", SharedRequests::TooDeep());
    }
    else
    {
        return true;
    }
    const std::shared_ptr<CoreInside> Inside = Core.lock();
    if (Inside != nullptr && Done)
    {
        Inside->Queue->Post([Done, Why] { Done(&Why); });
    }
    else if (Done)
    {
        Done(&Why);
    }
    return false;
}

void CoreAgent::Seed(std::shared_ptr<const Pieces> All, std::size_t Which, DoneCallback Done)
{
    if (Which == All->size())
    {
        MirrorNow(std::move(Done));
        return;
    }
    Do(
        [Self = shared_from_this(), All, Which]
        {
            std::unique_ptr<SeedRequest> Message = std::make_unique<SeedRequest>();
            Message->AgentId = Self->AgentId;
            Message->Dialog = (*All)[Which];
            Message->Append = Which > 0;
            return Message;
        },
        [Self = shared_from_this(), All, Which, Done = std::move(Done)](std::unique_ptr<Reply>, const Fault* Why)
        {
            if (Why == nullptr)
            {
                Self->Seed(All, Which + 1, Done);
            }
            else if (Which == 0)
            {
                CoreAgentLocal::Tell(Done, Why);
            }
            else
            {
                Self->MirrorNow([Done, Why = *Why](const Fault*) { CoreAgentLocal::Tell(Done, &Why); });
            }
        });
}

void CoreAgent::MirrorAfter(DoneCallback Done, const Fault* Why)
{
    if (Why != nullptr)
    {
        CoreAgentLocal::Tell(Done, Why);
        return;
    }
    MirrorNow(std::move(Done));
}

void CoreAgent::MirrorNow(DoneCallback Done)
{
    // Take the dialog over as the sidecar has it.
    IsMirrorStale = true;
    Export(
        std::make_shared<DialogCopy>(),
        false,
        [Self = shared_from_this(), Done = std::move(Done)](DialogCopy Document, const Fault* Why)
        {
            if (Why == nullptr)
            {
                Self->IsMirrorStale = false;
                Self->Mirror.Replace(std::move(Document));
            }
            CoreAgentLocal::Tell(Done, Why);
        });
}

void CoreAgent::Export(std::shared_ptr<DialogCopy> Found, bool IsOnce, Documented Done)
{
    MakeRequest Make = [Self = shared_from_this(), Found]
    {
        std::unique_ptr<Messages::ExportDialog> Message = std::make_unique<Messages::ExportDialog>();
        Message->AgentId = Self->AgentId;
        Message->From = static_cast<std::int64_t>(Found->Interactions.size());
        return Message;
    };
    ReplyCallback Hears = [Self = shared_from_this(), Found, IsOnce, Done = std::move(Done)](
                              std::unique_ptr<Reply> Said, const Fault* Why)
    {
        if (Said == nullptr || Said->Id() != Messages::Dialog::TheId)
        {
            const Fault Odd = Fault::Local(LocalFaults::InternalFault, "the sidecar sent no dialog");
            Done(DialogCopy(), Why == nullptr ? &Odd : Why);
            return;
        }
        Messages::Dialog& Piece = static_cast<Messages::Dialog&>(*Said);
        const bool IsLast = Piece.Content.Interactions.empty();
        for (Messages::Interaction& Turn : Piece.Content.Interactions)
        {
            Found->Interactions.push_back(std::make_shared<const Messages::Interaction>(std::move(Turn)));
        }
        Found->Summary = std::move(Piece.Content.Summary);
        if (IsLast || static_cast<std::int64_t>(Found->Interactions.size()) >= Piece.Total)
        {
            Done(std::move(*Found), nullptr);
        }
        else
        {
            Self->Export(Found, IsOnce, Done);
        }
    };
    if (IsOnce)
    {
        AskOnce(std::move(Make), std::move(Hears));
    }
    else
    {
        Do(std::move(Make), std::move(Hears));
    }
}

void CoreAgent::Write(DialogCopy Document, DialogCallback Done)
{
    const std::shared_ptr<CoreInside> Inside = Core.lock();
    if (Inside == nullptr)
    {
        const std::string Text = WriteJson(Document.ToJson());
        Done(Text, nullptr);
        return;
    }
    const std::shared_ptr<std::string> Text = std::make_shared<std::string>();
    Inside->Queue->InBackground(
        [Document = std::move(Document), Text, Codec = Inside->Options.Codec]
        { *Text = Codec->Write(Document.ToJson()); },
        [Text, Done = std::move(Done)] { Done(*Text, nullptr); });
}

void CoreAgent::KeepParams(const std::string& NodeName, const Json& Changes)
{
    Json* Known = Params.Find(NodeName);
    if (Known == nullptr)
    {
        Known = &Params.Set(NodeName, Json::Object());
    }
    const Json* Sampling = Known->Find("sampling");
    const Json* Changed = Changes.Find("sampling");
    Json Both;
    if (Sampling != nullptr && Sampling->IsObject() && Changed != nullptr && Changed->IsObject())
    {
        Both = *Sampling;
        CoreAgentLocal::Merge(Both, *Changed);
    }
    CoreAgentLocal::Merge(*Known, Changes);
    if (Both.IsObject())
    {
        Known->Set("sampling", std::move(Both));
    }
}

Fault CoreAgent::WhyUnavailable() const
{
    if (State == AgentState::Destroyed)
    {
        return Faults::Destroyed();
    }
    if (State == AgentState::Failed && Trouble)
    {
        return *Trouble;
    }
    const std::shared_ptr<CoreInside> Inside = Core.lock();
    return Faults::Down(Inside == nullptr ? std::string() : Inside->Trouble);
}

} // namespace Parley
