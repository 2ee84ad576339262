// The heart of a game's side of Parley: one sidecar that is kept alive, and the characters that live in it.
#pragma once

#include "Core/CoreAgent.h"
#include "Core/CoreApi.h"
#include "Core/CoreOptions.h"
#include "Core/Fault.h"
#include "Core/Generated/Messages.h"
#include "Core/Handlers.h"
#include "Core/Json.h"
#include "Core/Message.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace Parley
{

class ParleySession;
struct CoreInside;

/// Starts or finds a sidecar, keeps it alive, and gives every next one what the last one had: session settings,
/// storages, pinned models, and the agents with their dialog, variables and changed parameters. Call Update once a
/// frame: events and callbacks come in it, and in the call that causes them where Start, Stop, or Destroy or Cancel of an
/// agent, change or end something. Nothing blocks but StopAndWait and, for a moment, Detach. A callback may call anything
/// here, and may delete the core. Deleting it is as Stop; delete it on the game's thread.
/// Threading: one thread, the game's, on which it was made; Post and OnGameThread from any.
class PARLEY_CORE_API ParleyCore final
{
public:
    /// Nothing is started yet.
    explicit ParleyCore(CoreOptions Options);
    ParleyCore(const ParleyCore&) = delete;
    ParleyCore& operator=(const ParleyCore&) = delete;
    ~ParleyCore();

    // ---- what it tells; all on the game's thread ----

    /// How it stands with the sidecar has changed.
    Handlers<CoreState>& StateChanged;
    /// The sidecar is lost, and why; once until Back, however many are lost meanwhile.
    Handlers<const std::string&>& Gone;
    /// Another sidecar has all that the lost one had.
    Handlers<>& Back;
    /// There will be no sidecar until Start is called, and why.
    Handlers<const std::string&>& GaveUp;
    /// Everything that the sidecar sends unasked, also what agents get: Progress, Warning and so on.
    Handlers<const Push&>& Pushed;
    /// The connection broke (false) or is there again (true), with nothing missing.
    Handlers<bool>& LinkChanged;

    // ---- how it stands ----

    /// How it stands with the sidecar.
    CoreState GetState() const noexcept;
    /// Why there is no sidecar; empty: there is one, or nobody asked for it.
    const std::string& GetTrouble() const noexcept;
    /// How many sidecars in a row were lost and replaced.
    int GetRestarts() const noexcept;
    /// The process of the sidecar; 0: there is none, or it is not ours.
    int GetSidecarPid() const;
    /// The session with the sidecar; null: there is none.
    std::shared_ptr<ParleySession> GetSession() const;
    /// The characters that are there.
    std::vector<std::shared_ptr<CoreAgent>> GetAgents() const;
    /// The character of that key; null: there is none.
    std::shared_ptr<CoreAgent> FindAgent(std::string_view Key) const;
    /// Requests can be sent at once.
    bool IsConnected() const noexcept;
    /// What it was made with; it lives as long as this object.
    const JsonCodec& GetCodec() const noexcept;

    // ---- beginning and end ----

    /// How the next Start finds a sidecar: as these four of CoreOptions. False, and nothing changes, while there is one.
    bool SetWhere(std::optional<SidecarOptions> Launch, std::string Endpoint, std::string Token, std::string ServerPublicKey);
    /// Begin to start or find a sidecar. Also after GaveUp, where restarts are counted anew. Without effect while there
    /// is one. What is asked before it is there waits. `Done` hears when all is there, or SidecarFailed where that does
    /// not come to be.
    void Start(DoneCallback Done = {});
    /// Begin to end the sidecar: it is asked, and killed where it does not go. Returns at once; turns end with status
    /// Cancelled. Agents stay, and the next Start makes them again. `Ended` is called with the end of the sidecar.
    void Stop(std::function<void()> Ended = {});
    /// As Stop, and wait for the end so long at most (negative: however long); whether it came. Blocks.
    bool StopAndWait(int WaitMs);
    /// One frame: take what came, for at most so many milliseconds, and see to the sidecar. How many frames were taken.
    /// Allocates nothing where nothing came. Within a callback of its own it does nothing.
    int Update(double BudgetMs = 1.0);

    // ---- characters, and whatever else is asked ----

    /// A character. The sidecar makes it as soon as it is there: see its events Made and Failed. Null where one of that
    /// key is there already. `Done` hears when the sidecar has made it for the first time, or why it did not.
    std::shared_ptr<CoreAgent> CreateAgent(AgentOptions Options, DoneCallback Done = {});
    /// Any other request. It waits for a sidecar where there is none, and is done again by the next one where one dies
    /// over it; it should name no agent and make nothing. `Message` is not changed any more. `Done` may be empty.
    void Request(std::shared_ptr<const Parley::Request> Message, ReplyCallback Done = {});
    /// Do something in the next Update. From any thread.
    void Post(std::function<void()> Work);
    /// Do something now where this is the game's thread, else in the next Update.
    void OnGameThread(std::function<void()> Work);
    /// Do something long on another thread, and `Done` in an Update after it. `Work` must not touch the core or an
    /// agent. One is done after the other.
    void InBackground(std::function<void()> Work, std::function<void()> Done);

    // ---- what every sidecar is told ----

    /// Set what the session may touch, here and in every sidecar to come. What is absent stays as it was.
    void Configure(const Messages::ConfigureSession& Settings, DoneCallback Done = {});
    /// Make a string storage, here and in every sidecar to come.
    void MakeStorage(const Messages::CreateStringStorage& Storage, DoneCallback Done = {});
    /// Make an embedded storage, here and in every sidecar to come.
    void MakeStorage(const Messages::CreateEmbeddedStorage& Storage, DoneCallback Done = {});
    /// Load a model and keep it loaded, here and in every sidecar to come.
    void PinModel(std::string Model, DoneCallback Done = {});
    /// Take PinModel back.
    void UnpinModel(std::string Model, DoneCallback Done = {});
    /// Release the name of a string storage; agents that use it keep it until the next sidecar.
    void DropStringStorage(std::string Name, DoneCallback Done = {});
    /// Release the name of an embedded storage; agents that use it keep it until the next sidecar.
    void DropEmbeddedStorage(std::string Name, DoneCallback Done = {});

    // ---- over a loss of all state ----

    /// Leave sidecar and session as they are and put all that is known of them in a text, for Attach: after a restart of
    /// the play session, or in another process. It holds the token: keep it in memory only. This object is of no use
    /// afterwards, and no callback comes any more. Blocks for a moment.
    std::string Detach();
    /// Go on where Detach left off, on the thread that calls Update from now on. Where the sidecar has died, or the
    /// session has expired, it is as after any other loss. Null, with MalformedMessage in `Why`, for a text that is not
    /// of Detach.
    static std::unique_ptr<ParleyCore> Attach(CoreOptions Options, std::string_view State, Fault& Why);

private:
    friend class CoreAgent;
    friend struct CoreInside;

    explicit ParleyCore(std::shared_ptr<CoreInside> Made);

    // Whoever is in a call of it holds it too: this object may go within that call.
    const std::shared_ptr<CoreInside> Inside;
};

} // namespace Parley
