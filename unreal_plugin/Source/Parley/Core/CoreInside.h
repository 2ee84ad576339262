// What ParleyCore is inside: it outlives its object as long as somebody is in a call of it.
#pragma once

#include "Core/Ask.h"
#include "Core/CoreAgent.h"
#include "Core/CoreOptions.h"
#include "Core/GameQueue.h"
#include "Core/Handlers.h"
#include "Core/IFrameSink.h"
#include "Core/LogQueue.h"
#include "Core/ParleyCore.h"
#include "Core/SidecarLife.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace Parley
{

class JsonRead;
class Undertaker;

/// The heart of ParleyCore, which see. Whoever calls it from outside holds it as long as the call lasts.
/// Threading: the game's thread only.
struct CoreInside final : std::enable_shared_from_this<CoreInside>, IFrameSink, ILifeListener
{
    explicit CoreInside(CoreOptions HowTo);
    CoreInside(const CoreInside&) = delete;
    CoreInside& operator=(const CoreInside&) = delete;
    ~CoreInside() override;

    // ---- ParleyCore.cpp ----

    void Start(DoneCallback Done);
    void Stop();
    void StopThen(std::function<void()> Ended);
    bool StopAndWait(int WaitMs);
    int Update(double BudgetMs);
    std::shared_ptr<CoreAgent> CreateAgent(AgentOptions HowTo, DoneCallback Done);
    std::shared_ptr<CoreAgent> FindAgent(std::string_view Key) const;
    void AskAnything(std::shared_ptr<const Request> Message, ReplyCallback Done);

    bool IsConnected() const noexcept { return Life.IsConnected(); }
    /// A sidecar is there, or will be.
    bool WillBeThere() const noexcept { return State != CoreState::Down && State != CoreState::Stopping; }
    void Send(std::unique_ptr<Ask> What);
    void Answered(std::uint64_t Id, std::unique_ptr<Reply> Reply, const Fault* Why);
    void Know(const std::shared_ptr<CoreAgent>& Agent);
    void Forget(const CoreAgent& Agent, const std::string& AgentId);
    void DestroyUnwanted(const std::string& AgentId);
    void Say(LogLevel Level, std::string_view Text) { Logs::Say(Log, Level, Text); }
    void Enqueue(std::unique_ptr<Ask> What);
    void NotSent(std::unique_ptr<Ask> What, const Fault& Why);
    void FailWaiting(const Fault& Why);

    // ---- ParleyCoreLife.cpp: what the session says, and what becomes of the sidecar ----

    void OnPush(std::unique_ptr<Push> Said, std::vector<std::uint8_t> Payload, std::uint64_t Seq) override;
    void OnReply(std::uint64_t RequestId, std::unique_ptr<Reply> Said) override;
    void OnState(SessionState SessionIs, const Fault* Reason) override;
    void OnConnected(bool IsResumed) override;
    void OnDrain() override;
    void OnLost(const std::string& Why) override;
    void OnGivenUp(const std::string& Why) override;

    /// See which agents are busy: the end of a turn may have been among frames that are lost.
    void LookAround(bool IsAfterReload);
    void SendWaiting();
    void LoseAgents(std::vector<std::unique_ptr<Ask>> WereAsked, const std::string& Why);
    void FailAll(const Fault& Why);
    /// What the old session still says is nobody's any more. Returns what it was asked and has not answered.
    std::vector<std::unique_ptr<Ask>> ForgetSession();
    /// Make what every sidecar should have, one after the other, and the agents last.
    void MakeNext(std::ptrdiff_t Index);
    void MakeAgents();
    void AllMade();
    void LookAtEnd();
    void SetState(CoreState What);

    // ---- ParleyCoreKept.cpp: what every sidecar is told ----

    using KeptRequest = std::shared_ptr<const Request>;

    void Configure(const Messages::ConfigureSession& Settings, DoneCallback Done);
    void Keep(KeptRequest What, DoneCallback Done);
    /// Not to be made any more; `Request` takes it back where it is there.
    void Drop(const std::string& Name, KeptRequest What, DoneCallback Done);
    void AlsoNow(const KeptRequest& What, DoneCallback Done);
    void Tell(const std::string* Name, const Fault* Why);
    void SayRefused(const std::string& Name, const Fault& Why);
    static std::string NameOf(const Request& What);
    /// For a session to write; what is kept is not copied.
    static std::unique_ptr<Request> CopyOf(const KeptRequest& What);

    // ---- ParleyCoreReload.cpp: over a loss of all state ----

    std::string Detach();
    bool Restore(const JsonRead& From);
    bool KnowAgain(const JsonRead& From);
    void LeaveTurns();
    static Json ToState(const std::vector<const Request*>& All);
    static bool FromState(
        const JsonRead& From, std::string_view Name, const JsonCodec& Codec, std::vector<std::unique_ptr<Request>>& Out);

    /// What a sidecar is told as soon as it answers, and who wants to know what it says to that.
    struct Told
    {
        KeptRequest What;
        DoneCallback Tell;
    };

    Handlers<CoreState> StateChanged;
    Handlers<const std::string&> Gone;
    Handlers<> Back;
    Handlers<const std::string&> GaveUp;
    Handlers<const Push&> Pushed;
    Handlers<bool> LinkChanged;

    // Only where the sidecar is found may change, and only while there is none.
    CoreOptions Options;
    const std::shared_ptr<LogQueue> Lines = std::make_shared<LogQueue>();
    const std::shared_ptr<GameQueue> Queue = std::make_shared<GameQueue>();
    const LogSink Log;
    SidecarLife Life;
    CoreState State = CoreState::Stopped;
    std::string Trouble;
    std::vector<std::unique_ptr<Ask>> Asked;
    std::vector<std::unique_ptr<Ask>> Waiting;
    std::optional<Messages::ConfigureSession> Configured;
    // The settings as a request, in the place of Configured where it is told.
    KeptRequest ConfiguredRequest;
    std::vector<KeptRequest> Made;
    std::vector<Told> ToTell;
    std::vector<std::shared_ptr<CoreAgent>> Agents;
    std::map<std::string, std::shared_ptr<CoreAgent>, std::less<>> ById;
    std::vector<DoneCallback> Starting;
    std::vector<std::function<void()>> Ending;
    std::vector<std::shared_ptr<Undertaker>> Undertakers;
    std::uint64_t LastAsk = 0;
    int Generation = 0;
    int AgentsToMake = 0;
    bool IsMade = false;
    bool IsToldGone = false;
    bool WasReady = false;
    bool IsUpdating = false;
    bool IsDetached = false;
};

} // namespace Parley
