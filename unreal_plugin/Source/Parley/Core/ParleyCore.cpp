// ParleyCore's beginning and end, its frames, and its requests.
#include "Core/ParleyCore.h"

#include "Core/CoreInside.h"
#include "Core/ParleySession.h"
#include "Core/Platform.h"
#include "Core/SidecarProcess.h"
#include "Core/Undertaker.h"

#include <algorithm>
#include <utility>

namespace Parley
{

namespace ParleyCoreLocal
{

constexpr std::size_t LinesOfUpdate = 50;
constexpr double ShutdownTimeoutS = 2.0;

} // namespace ParleyCoreLocal

// ---- the object in the game's hands ----

ParleyCore::ParleyCore(CoreOptions Options) : ParleyCore(std::make_shared<CoreInside>(std::move(Options)))
{
}

ParleyCore::ParleyCore(std::shared_ptr<CoreInside> Made)
    : StateChanged(Made->StateChanged), Gone(Made->Gone), Back(Made->Back), GaveUp(Made->GaveUp), Pushed(Made->Pushed),
      LinkChanged(Made->LinkChanged), Inside(std::move(Made))
{
}

ParleyCore::~ParleyCore()
{
    Inside->Stop();
}

CoreState ParleyCore::GetState() const noexcept
{
    return Inside->State;
}

const std::string& ParleyCore::GetTrouble() const noexcept
{
    return Inside->Trouble;
}

int ParleyCore::GetRestarts() const noexcept
{
    return Inside->Life.GetRestarts();
}

int ParleyCore::GetSidecarPid() const
{
    const std::shared_ptr<SidecarProcess>& Process = Inside->Life.GetProcess();
    return Process == nullptr ? 0 : Process->GetPid();
}

std::shared_ptr<ParleySession> ParleyCore::GetSession() const
{
    return Inside->Life.GetSession();
}

std::vector<std::shared_ptr<CoreAgent>> ParleyCore::GetAgents() const
{
    return Inside->Agents;
}

std::shared_ptr<CoreAgent> ParleyCore::FindAgent(std::string_view Key) const
{
    return Inside->FindAgent(Key);
}

bool ParleyCore::IsConnected() const noexcept
{
    return Inside->IsConnected();
}

const JsonCodec& ParleyCore::GetCodec() const noexcept
{
    return *Inside->Options.Codec;
}

bool ParleyCore::SetWhere(
    std::optional<SidecarOptions> Launch, std::string Endpoint, std::string Token, std::string ServerPublicKey)
{
    if (Inside->Life.IsOn())
    {
        return false;
    }
    Inside->Options.Launch = std::move(Launch);
    Inside->Options.Endpoint = std::move(Endpoint);
    Inside->Options.Token = std::move(Token);
    Inside->Options.ServerPublicKey = std::move(ServerPublicKey);
    return true;
}

void ParleyCore::Start(DoneCallback Done)
{
    const std::shared_ptr<CoreInside> Held = Inside;
    Held->Start(std::move(Done));
}

void ParleyCore::Stop(std::function<void()> Ended)
{
    const std::shared_ptr<CoreInside> Held = Inside;
    Held->StopThen(std::move(Ended));
}

bool ParleyCore::StopAndWait(int WaitMs)
{
    const std::shared_ptr<CoreInside> Held = Inside;
    return Held->StopAndWait(WaitMs);
}

int ParleyCore::Update(double BudgetMs)
{
    const std::shared_ptr<CoreInside> Held = Inside;
    return Held->Update(BudgetMs);
}

std::shared_ptr<CoreAgent> ParleyCore::CreateAgent(AgentOptions Options, DoneCallback Done)
{
    return Inside->CreateAgent(std::move(Options), std::move(Done));
}

void ParleyCore::Request(std::shared_ptr<const Parley::Request> Message, ReplyCallback Done)
{
    Inside->AskAnything(std::move(Message), std::move(Done));
}

void ParleyCore::Post(std::function<void()> Work)
{
    Inside->Queue->Post(std::move(Work));
}

void ParleyCore::OnGameThread(std::function<void()> Work)
{
    const std::shared_ptr<GameQueue> Held = Inside->Queue;
    Held->OnGameThread(std::move(Work));
}

void ParleyCore::InBackground(std::function<void()> Work, std::function<void()> Done)
{
    Inside->Queue->InBackground(std::move(Work), std::move(Done));
}

void ParleyCore::Configure(const Messages::ConfigureSession& Settings, DoneCallback Done)
{
    Inside->Configure(Settings, std::move(Done));
}

void ParleyCore::MakeStorage(const Messages::CreateStringStorage& Storage, DoneCallback Done)
{
    Inside->Keep(std::make_shared<Messages::CreateStringStorage>(Storage), std::move(Done));
}

void ParleyCore::MakeStorage(const Messages::CreateEmbeddedStorage& Storage, DoneCallback Done)
{
    Inside->Keep(std::make_shared<Messages::CreateEmbeddedStorage>(Storage), std::move(Done));
}

void ParleyCore::PinModel(std::string Model, DoneCallback Done)
{
    Messages::LoadModel What;
    What.Model = std::move(Model);
    Inside->Keep(std::make_shared<Messages::LoadModel>(std::move(What)), std::move(Done));
}

void ParleyCore::UnpinModel(std::string Model, DoneCallback Done)
{
    const std::string Name = "LoadModel " + Model;
    Messages::UnloadModel What;
    What.Model = std::move(Model);
    Inside->Drop(Name, std::make_shared<Messages::UnloadModel>(std::move(What)), std::move(Done));
}

void ParleyCore::DropStringStorage(std::string Storage, DoneCallback Done)
{
    const std::string Name = "CreateStringStorage " + Storage;
    Messages::DestroyStringStorage What;
    What.Name = std::move(Storage);
    Inside->Drop(Name, std::make_shared<Messages::DestroyStringStorage>(std::move(What)), std::move(Done));
}

void ParleyCore::DropEmbeddedStorage(std::string Storage, DoneCallback Done)
{
    const std::string Name = "CreateEmbeddedStorage " + Storage;
    Messages::DestroyEmbeddedStorage What;
    What.Name = std::move(Storage);
    Inside->Drop(Name, std::make_shared<Messages::DestroyEmbeddedStorage>(std::move(What)), std::move(Done));
}

std::string ParleyCore::Detach()
{
    const std::shared_ptr<CoreInside> Held = Inside;
    return Held->Detach();
}

// ---- beginning and end ----

CoreInside::CoreInside(CoreOptions HowTo)
    : Options(std::move(HowTo)),
      Log([To = Lines](LogLevel Level, std::string_view Text) { To->Say(Level, Text); }), Life(Options, *this, Log)
{
}

CoreInside::~CoreInside()
{
    Queue->Close();
}

void CoreInside::Start(DoneCallback Done)
{
    if (!Life.IsOn())
    {
        Trouble.clear();
        IsToldGone = false;
        WasReady = false;
        SetState(CoreState::Starting);
        Life.Start();
    }
    if (!Done)
    {
        return;
    }
    if (State == CoreState::Ready)
    {
        Queue->Post([Done = std::move(Done)] { Done(nullptr); });
    }
    else if (State == CoreState::Down)
    {
        Queue->Post([Done = std::move(Done), Why = Faults::Down(Trouble)] { Done(&Why); });
    }
    else
    {
        Starting.push_back(std::move(Done));
    }
}

void CoreInside::Stop()
{
    if (!Life.IsOn())
    {
        if (State != CoreState::Stopping)
        {
            SetState(CoreState::Stopped);
        }
        return;
    }
    OnDrain();
    const std::shared_ptr<ParleySession> Session = Life.GetSession();
    const std::shared_ptr<SidecarProcess> Process = Life.GetProcess();
    const bool IsOurs = Options.Launch.has_value();
    Life.LetGo();
    const std::vector<std::unique_ptr<Ask>> WereAsked = ForgetSession();
    if (Session != nullptr && IsOurs)
    {
        Session->Send(Messages::Shutdown(), ParleyCoreLocal::ShutdownTimeoutS);
    }
    if (Session != nullptr || Process != nullptr)
    {
        Undertakers.push_back(Undertaker::Begin(Process, Session, Options.StopPatienceMs, !IsOurs));
    }
    SetState(Undertakers.empty() ? CoreState::Stopped : CoreState::Stopping);
    const Fault Why = Faults::Down("the sidecar was stopped");
    for (const std::shared_ptr<CoreAgent>& Agent : std::vector<std::shared_ptr<CoreAgent>>(Agents))
    {
        Agent->StopTurns();
        Agent->FailWaiting(Why);
    }
    const Fault Lost = Faults::Lost("the sidecar was stopped");
    for (const std::unique_ptr<Ask>& One : WereAsked)
    {
        One->Done(nullptr, One->IsOnce ? &Lost : &Why);
    }
    FailWaiting(Why);
    LookAtEnd();
}

void CoreInside::StopThen(std::function<void()> Ended)
{
    Stop();
    if (!Ended)
    {
        return;
    }
    if (State == CoreState::Stopping)
    {
        Ending.push_back(std::move(Ended));
    }
    else
    {
        Queue->Post(std::move(Ended));
    }
}

bool CoreInside::StopAndWait(int WaitMs)
{
    Stop();
    const std::int64_t Begun = Platform::NowMs();
    bool IsDone = true;
    for (const std::shared_ptr<Undertaker>& One : std::vector<std::shared_ptr<Undertaker>>(Undertakers))
    {
        const std::int64_t Left = (std::max)(std::int64_t{0}, WaitMs - (Platform::NowMs() - Begun));
        IsDone = One->Wait(WaitMs < 0 ? WaitMs : static_cast<int>(Left)) && IsDone;
    }
    LookAtEnd();
    return IsDone;
}

int CoreInside::Update(double BudgetMs)
{
    if (IsUpdating)
    {
        return 0;
    }
    IsUpdating = true;
    Queue->Run();
    Life.Step();
    int Count = 0;
    // Whoever is called may end the session.
    if (const std::shared_ptr<ParleySession> Session = Life.GetSession())
    {
        Count = Session->Drain(*this, BudgetMs);
    }
    LookAtEnd();
    Lines->Run(Options.Log, ParleyCoreLocal::LinesOfUpdate);
    IsUpdating = false;
    return Count;
}

// ---- characters, and whatever else is asked ----

std::shared_ptr<CoreAgent> CoreInside::CreateAgent(AgentOptions HowTo, DoneCallback Done)
{
    if (!HowTo.Key.empty() && FindAgent(HowTo.Key) != nullptr)
    {
        return nullptr;
    }
    const std::shared_ptr<CoreAgent> Agent(new CoreAgent(shared_from_this(), std::move(HowTo)));
    Agents.push_back(Agent);
    if (!WillBeThere())
    {
        if (Done)
        {
            Queue->Post([Done = std::move(Done), Why = Faults::Down(Trouble)] { Done(&Why); });
        }
        return Agent;
    }
    Agent->Creating = std::move(Done);
    if (IsMade && IsConnected())
    {
        // Not within this call: the caller has not subscribed to anything yet.
        Queue->Post(
            [Weak = weak_from_this(), Agent, Of = Generation]
            {
                const std::shared_ptr<CoreInside> Self = Weak.lock();
                if (Self != nullptr && Of == Self->Generation && Agent->GetState() == AgentState::Making)
                {
                    Agent->Make([] {});
                }
            });
    }
    return Agent;
}

std::shared_ptr<CoreAgent> CoreInside::FindAgent(std::string_view Key) const
{
    for (const std::shared_ptr<CoreAgent>& Agent : Agents)
    {
        if (Agent->GetKey() == Key)
        {
            return Agent;
        }
    }
    return nullptr;
}

void CoreInside::AskAnything(std::shared_ptr<const Request> Message, ReplyCallback Done)
{
    std::unique_ptr<Ask> What = std::make_unique<Ask>();
    What->Make = [Message = std::move(Message)] { return CopyOf(Message); };
    What->Done = [Done = std::move(Done)](std::unique_ptr<Reply> Said, const Fault* Why)
    {
        if (Done)
        {
            Done(std::move(Said), Why);
        }
    };
    Enqueue(std::move(What));
}

// ---- requests ----

void CoreInside::Send(std::unique_ptr<Ask> What)
{
    if (!IsConnected())
    {
        NotSent(std::move(What), Faults::Lost("the sidecar is lost"));
        return;
    }
    std::unique_ptr<Request> Message = What->Make();
    const double TimeoutS = What->TimeoutS;
    const std::uint64_t Id = What->Id = ++LastAsk;
    Asked.push_back(std::move(What));
    Life.GetSession()->Send(
        std::move(Message),
        TimeoutS,
        [Weak = weak_from_this(), Id](std::unique_ptr<Reply> Said, const Fault* Why)
        {
            if (const std::shared_ptr<CoreInside> Self = Weak.lock())
            {
                Self->Answered(Id, std::move(Said), Why);
            }
        });
}

void CoreInside::Answered(std::uint64_t Id, std::unique_ptr<Reply> Said, const Fault* Why)
{
    const auto Found =
        std::find_if(Asked.begin(), Asked.end(), [Id](const std::unique_ptr<Ask>& One) { return One->Id == Id; });
    if (Found == Asked.end() || (IsDetached && Why != nullptr && Faults::MeansGone(*Why)))
    {
        return;
    }
    std::unique_ptr<Ask> What = std::move(*Found);
    Asked.erase(Found);
    if (Why != nullptr && !Faults::MeansGone(*Why) && Life.GetSession() != nullptr
        && Why == Life.GetSession()->GetFault().get())
    {
        // Why the session ended, be it that something else cannot be read, is no answer to this request.
        NotSent(std::move(What), Faults::Lost(Why->Text));
    }
    else if (Why != nullptr && Faults::MeansGone(*Why))
    {
        NotSent(std::move(What), *Why);
    }
    else
    {
        What->Done(std::move(Said), Why);
    }
}

void CoreInside::Know(const std::shared_ptr<CoreAgent>& Agent)
{
    ById[Agent->GetAgentId()] = Agent;
}

void CoreInside::Forget(const CoreAgent& Agent, const std::string& AgentId)
{
    const auto Found = std::find_if(
        Agents.begin(), Agents.end(), [&Agent](const std::shared_ptr<CoreAgent>& One) { return One.get() == &Agent; });
    if (Found != Agents.end())
    {
        Agents.erase(Found);
    }
    if (!AgentId.empty())
    {
        ById.erase(AgentId);
        DestroyUnwanted(AgentId);
    }
}

void CoreInside::DestroyUnwanted(const std::string& AgentId)
{
    if (!IsConnected())
    {
        return;
    }
    std::unique_ptr<Ask> What = std::make_unique<Ask>();
    What->IsOnce = true;
    What->Make = [AgentId]
    {
        std::unique_ptr<Messages::DestroyAgent> Message = std::make_unique<Messages::DestroyAgent>();
        Message->AgentId = AgentId;
        return Message;
    };
    What->Done = [](std::unique_ptr<Reply>, const Fault*) {};
    Send(std::move(What));
}

void CoreInside::Enqueue(std::unique_ptr<Ask> What)
{
    if (!WillBeThere())
    {
        Queue->Post([Done = std::move(What->Done), Why = Faults::Down(Trouble)] { Done(nullptr, &Why); });
    }
    else if (IsMade && IsConnected())
    {
        Send(std::move(What));
    }
    else
    {
        Waiting.push_back(std::move(What));
    }
}

void CoreInside::NotSent(std::unique_ptr<Ask> What, const Fault& Why)
{
    if (What->IsOnce)
    {
        What->Done(nullptr, &Why);
    }
    else if (!WillBeThere())
    {
        const Fault Down = Faults::Down(Trouble);
        What->Done(nullptr, &Down);
    }
    else if (What->Agent != nullptr)
    {
        const std::shared_ptr<CoreAgent> Agent = What->Agent;
        Agent->DoLater(std::move(What));
    }
    else
    {
        Waiting.push_back(std::move(What));
    }
}

void CoreInside::FailWaiting(const Fault& Why)
{
    const std::vector<std::unique_ptr<Ask>> All = std::move(Waiting);
    Waiting.clear();
    for (const std::unique_ptr<Ask>& One : All)
    {
        One->Done(nullptr, &Why);
    }
    Tell(nullptr, &Why);
}

} // namespace Parley
