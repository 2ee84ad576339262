// How a game goes on with its sidecar after all of its state was thrown away.
#include "Core/CoreInside.h"
#include "Core/JsonRead.h"
#include "Core/ParleySession.h"
#include "Core/SharedRequests.h"
#include "Core/SidecarProcess.h"
#include "Core/Turn.h"

#include <utility>

namespace Parley
{

namespace ParleyCoreReloadLocal
{

constexpr int StateVersion = 1;

} // namespace ParleyCoreReloadLocal

std::string CoreInside::Detach()
{
    Json Kept = Json::Object();
    Kept.Set("version", Json::Integer(ParleyCoreReloadLocal::StateVersion));
    Kept.Set("is_on", Json::Boolean(Life.IsOn()));
    const std::shared_ptr<ParleySession> Session = Life.GetSession();
    const std::shared_ptr<SidecarProcess> Process = Life.GetProcess();
    IsDetached = true;
    if (Session != nullptr)
    {
        Session->Stop();
        // Pushes that nobody took would come again, but the replies to requests of this object answer nobody there.
        OnDrain();
    }
    if (Session != nullptr && (Life.IsConnected() || Life.IsResuming()) && !Session->GetSessionKey().empty())
    {
        Kept.Set("endpoint", Json::String(Life.GetWhere().Endpoint));
        Kept.Set("token", Json::String(Life.GetWhere().Token));
        Kept.Set("server_public_key", Json::String(Life.GetWhere().ServerPublicKey));
        Kept.Set("session_key", Json::String(Session->GetSessionKey()));
        Kept.Set("last_seq", Json::Unsigned(Session->GetLastSeq()));
        Kept.Set("last_request_id", Json::Unsigned(Session->GetLastRequestId()));
        Kept.Set("restarts", Json::Integer(Life.GetRestarts()));
        Kept.Set("pid", Json::Integer(Process == nullptr ? 0 : Process->GetPid()));
        Kept.Set("started", Json::Integer(Process == nullptr ? 0 : Process->GetStarted()));
        if (Process != nullptr)
        {
            Process->Abandon();
        }
    }
    else if (Process != nullptr)
    {
        // Nobody could say later where it is.
        Process->Stop(0);
    }
    if (Configured)
    {
        Kept.Set("configured", Configured->ToJson());
    }
    std::vector<const Request*> All;
    for (const KeptRequest& One : Made)
    {
        All.push_back(One.get());
    }
    Kept.Set("made", ToState(All));
    All.clear();
    for (const Told& One : ToTell)
    {
        All.push_back(One.What.get());
    }
    Kept.Set("to_tell", ToState(All));
    Json Characters = Json::Array();
    for (const std::shared_ptr<CoreAgent>& Agent : Agents)
    {
        if (!Agent->CanBeKept())
        {
            Say(LogLevel::Error,
                "an agent cannot be kept over the reload, as no sidecar takes it: " + SharedRequests::TooDeep());
            continue;
        }
        std::vector<const Ask*> OfThis;
        for (const std::unique_ptr<Ask>& One : Asked)
        {
            if (One->Agent == Agent && !One->IsOnce)
            {
                OfThis.push_back(One.get());
            }
        }
        Characters.Add(Agent->ToState(OfThis));
    }
    Kept.Set("agents", std::move(Characters));
    Life.LetGo();
    // Nobody is told anything any more, and what holds each other lets go.
    const std::vector<std::unique_ptr<Ask>> Unanswered = ForgetSession();
    const std::vector<std::unique_ptr<Ask>> Unasked = std::move(Waiting);
    Waiting.clear();
    ToTell.clear();
    Starting.clear();
    Ending.clear();
    for (const std::shared_ptr<CoreAgent>& Agent : Agents)
    {
        Agent->Later.clear();
        Agent->Creating = nullptr;
        Agent->Current = nullptr;
        Agent->Next = nullptr;
    }
    Queue->Close();
    State = CoreState::Stopped;
    Lines->Run(Options.Log);
    return Options.Codec->Write(Kept);
}

std::unique_ptr<ParleyCore> ParleyCore::Attach(CoreOptions Options, std::string_view State, Fault& Why)
{
    const std::shared_ptr<const JsonCodec> Codec = Options.Codec;
    std::unique_ptr<ParleyCore> Core = std::make_unique<ParleyCore>(std::move(Options));
    Json Found;
    std::string Wrong;
    if (Codec->Read(State, Found, Wrong) && Core->Inside->Restore(JsonRead(Found, Wrong)))
    {
        return Core;
    }
    Why = Fault::OfWire(ErrorCode::MalformedMessage, "MalformedMessage", "this is no state of Detach: " + Wrong);
    return nullptr;
}

bool CoreInside::Restore(const JsonRead& From)
{
    const std::shared_ptr<CoreInside> Self = shared_from_this();
    std::int32_t Version = 0;
    if (!From.Object()
        || !ReadNeeded(
            From, "version", Version, ParleyCoreReloadLocal::StateVersion, ParleyCoreReloadLocal::StateVersion)
        || !ReadGiven(From, "configured", Configured))
    {
        return false;
    }
    if (Configured)
    {
        ConfiguredRequest = std::make_shared<Messages::ConfigureSession>(*Configured);
    }
    std::vector<std::unique_ptr<Request>> Kept;
    if (!FromState(From, "made", *Options.Codec, Kept))
    {
        return false;
    }
    for (std::unique_ptr<Request>& One : Kept)
    {
        Made.push_back(std::move(One));
    }
    const Json* Characters = From.Get().Find("agents");
    if (Characters == nullptr)
    {
        return From.Missing("agents");
    }
    const JsonRead All(*Characters, From, "agents");
    if (!All.List())
    {
        return false;
    }
    for (std::size_t Index = 0; Index < Characters->Items().size(); Index++)
    {
        const std::shared_ptr<CoreAgent> Agent =
            CoreAgent::FromState(Self, JsonRead(Characters->Items()[Index], All, Index));
        if (Agent == nullptr)
        {
            return false;
        }
        Agents.push_back(Agent);
    }
    return KnowAgain(From);
}

bool CoreInside::KnowAgain(const JsonRead& From)
{
    const std::weak_ptr<CoreInside> Weak = weak_from_this();
    const auto Leave = [Weak]
    {
        if (const std::shared_ptr<CoreInside> Self = Weak.lock())
        {
            Self->LeaveTurns();
        }
    };
    const auto AskAgain = [this]
    {
        for (const std::shared_ptr<CoreAgent>& Agent : std::vector<std::shared_ptr<CoreAgent>>(Agents))
        {
            Agent->AskAgain();
        }
    };
    bool IsOn = false;
    if (!ReadNeeded(From, "is_on", IsOn))
    {
        return false;
    }
    if (!IsOn)
    {
        Queue->Post(Leave);
        AskAgain();
        return true;
    }
    if (From.Get().Find("session_key") == nullptr)
    {
        Queue->Post(Leave);
        Start({});
        AskAgain();
        return true;
    }
    std::string SessionKey;
    SidecarLife::Place Where;
    std::uint64_t LastSeq = 0;
    std::uint64_t LastRequestId = 0;
    std::int32_t Restarts = 0;
    std::int32_t Pid = 0;
    std::int64_t Started = 0;
    std::vector<std::unique_ptr<Request>> Untold;
    if (!ReadNeeded(From, "session_key", SessionKey) || !ReadNeeded(From, "endpoint", Where.Endpoint)
        || !ReadNeeded(From, "token", Where.Token) || !ReadNeeded(From, "server_public_key", Where.ServerPublicKey)
        || !ReadNeeded(From, "last_seq", LastSeq) || !ReadNeeded(From, "last_request_id", LastRequestId)
        || !ReadNeeded(From, "restarts", Restarts) || !ReadNeeded(From, "pid", Pid)
        || !ReadNeeded(From, "started", Started) || !FromState(From, "to_tell", *Options.Codec, Untold))
    {
        return false;
    }
    const std::shared_ptr<SidecarProcess> Process = Pid == 0 ? nullptr : SidecarProcess::Adopt(Pid, Started, Log);
    SetState(CoreState::Starting);
    AskAgain();
    WasReady = true;
    if (Pid != 0 && Process == nullptr)
    {
        // Not within this call: nobody has subscribed to anything yet.
        Life.StartAgain("the sidecar ended during the reload");
        return true;
    }
    for (const std::shared_ptr<CoreAgent>& Agent : Agents)
    {
        if (!Agent->GetAgentId().empty())
        {
            // What is sent again may come before anything says that the session goes on.
            Know(Agent);
        }
    }
    for (std::unique_ptr<Request>& One : Untold)
    {
        const KeptRequest What = std::move(One);
        ToTell.push_back(
            {What,
             [Weak, Name = NameOf(*What)](const Fault* Why)
             {
                 const std::shared_ptr<CoreInside> Self = Weak.lock();
                 if (Self != nullptr && Why != nullptr)
                 {
                     Self->SayRefused(Name, *Why);
                 }
             }});
    }
    Life.Resume(std::move(Where), Process, SessionKey, LastSeq, LastRequestId, Restarts);
    return true;
}

void CoreInside::LeaveTurns()
{
    // No sidecar knows of the turns that ran; what the player had seen of them stays.
    for (const std::shared_ptr<CoreAgent>& Agent : std::vector<std::shared_ptr<CoreAgent>>(Agents))
    {
        Agent->Lose("its session could not be taken up again");
    }
}

Json CoreInside::ToState(const std::vector<const Request*>& Requests)
{
    // As texts: what is nested as deeply as may be must not be nested deeper there.
    Json All = Json::Array();
    for (const Request* One : Requests)
    {
        const Json Body = One->ToJson();
        if (SharedRequests::IsTooDeep(Body, SharedRequests::MostLevels + 1))
        {
            // The sidecar does not take it either.
            continue;
        }
        Json& Kept = All.Add(Json::Object());
        Kept.Set("type", Json::String(std::string(One->TypeName())));
        Kept.Set("body", Json::String(WriteJson(Body)));
    }
    return All;
}

bool CoreInside::FromState(
    const JsonRead& From, std::string_view Name, const JsonCodec& Codec, std::vector<std::unique_ptr<Request>>& Out)
{
    const Json* Found = From.Get().Find(Name);
    if (Found == nullptr)
    {
        return From.Missing(Name);
    }
    const JsonRead All(*Found, From, Name);
    if (!All.List())
    {
        return false;
    }
    for (std::size_t Index = 0; Index < Found->Items().size(); Index++)
    {
        const JsonRead One(Found->Items()[Index], All, Index);
        std::string Type;
        std::string Text;
        if (!One.Object() || !ReadNeeded(One, "type", Type) || !ReadNeeded(One, "body", Text))
        {
            return false;
        }
        Json Body;
        std::string Wrong;
        if (!Codec.Read(Text, Body, Wrong))
        {
            return One.Fail(Wrong);
        }
        std::unique_ptr<Message> Read = Messages::ReadMessage(Type, Body, Wrong);
        if (Read != nullptr && Read->Kind() == MessageKind::Request)
        {
            Out.push_back(std::unique_ptr<Request>(static_cast<Request*>(Read.release())));
        }
        else if (!Wrong.empty())
        {
            return One.Fail(Wrong);
        }
    }
    return true;
}

} // namespace Parley
