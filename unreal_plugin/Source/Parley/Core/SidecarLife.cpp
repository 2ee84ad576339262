// What becomes of a sidecar, step by step.
#include "Core/SidecarLife.h"

#include "Core/Numbers.h"
#include "Core/ParleySession.h"
#include "Core/Platform.h"
#include "Core/SidecarProcess.h"
#include "Core/Undertaker.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

namespace Parley
{

namespace SidecarLifeLocal
{

constexpr std::int64_t LastFramesMs = 300;
constexpr std::int64_t FarewellMs = 2500;

} // namespace SidecarLifeLocal

ILifeListener::~ILifeListener() = default;

SidecarLife::SidecarLife(const CoreOptions& HowTo, ILifeListener& Hears, LogSink To)
    : Options(HowTo), Listener(Hears), Log(std::move(To))
{
}

void SidecarLife::Start()
{
    Restarts = 0;
    Launch();
}

void SidecarLife::Resume(
    Place There,
    std::shared_ptr<SidecarProcess> Found,
    const std::string& SessionKey,
    std::uint64_t LastSeq,
    std::uint64_t LastRequestId,
    int RestartsBefore)
{
    Restarts = RestartsBefore;
    Where = std::move(There);
    Process = std::move(Found);
    Resumes = true;
    Connect(SessionKey, LastSeq, LastRequestId);
}

void SidecarLife::StartAgain(const std::string& Reason)
{
    Restarts = 0;
    Sink(Reason, (std::numeric_limits<std::int64_t>::min)());
}

void SidecarLife::MarkUp()
{
    UpSince = Platform::NowMs();
}

void SidecarLife::LetGo()
{
    Now = Phase::Off;
    Session = nullptr;
    Process = nullptr;
    Where = {};
    Resumes = false;
}

void SidecarLife::Step()
{
    const std::int64_t Time = Platform::NowMs();
    switch (Now)
    {
    case Phase::Off:
        break;
    case Phase::Pause:
        if (Time >= Until)
        {
            Launch();
        }
        break;
    case Phase::Launching:
        StepLaunching();
        break;
    case Phase::Connecting:
    case Phase::Connected:
        StepConnected(Time);
        break;
    case Phase::Sinking:
        StepSinking(Time);
        break;
    }
}

void SidecarLife::Launch()
{
    if (!Options.Launch)
    {
        Where = {Options.Endpoint, Options.Token, Options.ServerPublicKey};
        Connect("", 0, 0);
        return;
    }
    Process = std::make_shared<SidecarProcess>(*Options.Launch, Options.Codec, Log);
    Process->Start();
    Now = Phase::Launching;
}

void SidecarLife::StepLaunching()
{
    const SidecarState State = Process->GetState();
    if (State == SidecarState::Ready)
    {
        const std::optional<ReadyLine> Ready = Process->GetReady();
        Where = {Ready->Endpoint, Ready->Token, Ready->CurvePublicKey};
        Connect("", 0, 0);
    }
    else if (State == SidecarState::Ended)
    {
        const std::string Reason = Process->GetWhy();
        const bool IsForGood = Process->IsForGood();
        Process = nullptr;
        Lose(Reason, IsForGood);
    }
}

void SidecarLife::Connect(const std::string& ResumeKey, std::uint64_t LastSeq, std::uint64_t LastRequestId)
{
    Now = Phase::Connecting;
    SessionOptions How;
    How.Endpoint = Where.Endpoint;
    How.Token = Where.Token;
    How.ServerPublicKey = Where.ServerPublicKey;
    How.ClientName = Options.ClientName;
    How.ConnectTimeoutS = Options.ConnectTimeoutS;
    How.ReconnectS = Options.ReconnectS;
    How.ResumeKey = ResumeKey;
    How.LastSeq = LastSeq;
    How.LastRequestId = LastRequestId;
    How.Zmq = Options.Zmq;
    How.Codec = Options.Codec;
    How.Log = Log;
    Fault Reason;
    Session = ParleySession::Connect(std::move(How), Reason);
    if (Session == nullptr)
    {
        // Such as a missing library: the next try would find it missing too.
        EndProcess();
        Lose(Reason.Text, true);
    }
}

void SidecarLife::StepConnected(std::int64_t Time)
{
    if (Process != nullptr && Process->GetState() == SidecarState::Ended)
    {
        Sink(Process->GetWhy(), Time + SidecarLifeLocal::LastFramesMs);
        return;
    }
    const SessionState State = Session->GetState();
    if (State == SessionState::Closed)
    {
        StepClosed(Time);
    }
    else if (Now == Phase::Connecting && (State == SessionState::Ready || State == SessionState::Back))
    {
        const bool IsResumed = Resumes;
        Resumes = false;
        Now = Phase::Connected;
        Listener.OnConnected(IsResumed);
    }
}

void SidecarLife::StepClosed(std::int64_t Time)
{
    const std::shared_ptr<const Fault> Known = Session->GetFault();
    const std::string Reason = Known == nullptr ? "the session ended" : Known->Text;
    const SessionEnd End = Session->GetEnd();
    const Phase Before = Now;
    const bool WasResuming = Resumes;
    Resumes = false;
    if (End == SessionEnd::Shutdown && Process != nullptr)
    {
        // It says that it goes; its exit code tells how.
        Sink(Reason, Time + SidecarLifeLocal::FarewellMs);
        return;
    }
    const std::shared_ptr<ParleySession> Closed = Session;
    Listener.OnDrain();
    if (Now != Before || Session != Closed)
    {
        // Whoever heard of it ended all this.
        return;
    }
    CloseSession();
    if (End == SessionEnd::Refused || End == SessionEnd::Replaced)
    {
        EndProcess();
        Lose(Reason, true);
    }
    else if (End == SessionEnd::Expired)
    {
        // The sidecar lives and has forgotten; nothing is wrong with it.
        Now = Phase::Connecting;
        Listener.OnLost(Reason);
        if (Now == Phase::Connecting && Session == nullptr)
        {
            Connect("", 0, 0);
        }
    }
    else if (WasResuming && Process == nullptr && Options.Launch)
    {
        Now = Phase::Pause;
        Until = Time;
        Listener.OnLost(Reason);
    }
    else
    {
        EndProcess();
        Lose(Reason, false);
    }
}

void SidecarLife::Sink(const std::string& Reason, std::int64_t UntilMs)
{
    Why = Reason;
    Until = UntilMs;
    Now = Phase::Sinking;
}

void SidecarLife::StepSinking(std::int64_t Time)
{
    const bool IsGone = Process == nullptr || Process->GetState() == SidecarState::Ended;
    const bool IsSilent = Session == nullptr || Session->GetState() == SessionState::Closed
        || Session->GetState() == SessionState::Lost;
    if ((!IsGone || !IsSilent) && Time < Until)
    {
        return;
    }
    const std::string Reason = IsGone && Process != nullptr ? Process->GetWhy() : Why;
    Listener.OnDrain();
    if (Now != Phase::Sinking)
    {
        return;
    }
    CloseSession();
    EndProcess();
    Lose(Reason, false);
}

void SidecarLife::Lose(const std::string& Reason, bool IsForGood)
{
    Now = Phase::Off;
    Where = {};
    Resumes = false;
    const std::int64_t Time = Platform::NowMs();
    if (UpSince > 0 && static_cast<double>(Time - UpSince) > Options.StableAfterS * 1000.0)
    {
        Restarts = 0;
    }
    UpSince = 0;
    if (IsForGood || Restarts >= Options.MaxRestarts)
    {
        std::string All = Reason;
        if (Restarts > 0 && !IsForGood)
        {
            All = "the sidecar was lost " + Numbers::Of(Restarts + 1)
                + " times in a row and is not started again until the game asks for it. The last time: " + Reason;
        }
        Listener.OnGivenUp(All);
        return;
    }
    const std::vector<double>& Pauses = Options.RestartPausesS;
    const double Pause =
        Pauses.empty() ? 0.0 : Pauses[(std::min)(static_cast<std::size_t>(Restarts), Pauses.size() - 1)];
    Restarts++;
    Now = Phase::Pause;
    Until = Time + static_cast<std::int64_t>(Pause * 1000.0);
    Listener.OnLost(Reason);
}

void SidecarLife::CloseSession()
{
    if (Session != nullptr)
    {
        Undertaker::Begin(nullptr, std::move(Session), 0, false);
        Session = nullptr;
    }
}

void SidecarLife::EndProcess()
{
    if (Process != nullptr)
    {
        Process->Stop(0);
        Process = nullptr;
    }
}

} // namespace Parley
