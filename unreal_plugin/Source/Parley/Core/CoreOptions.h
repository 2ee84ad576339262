// How a game has its sidecar, and what every sidecar it has is told.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Generated/Protocol.h"
#include "Core/Json.h"
#include "Core/LogSink.h"
#include "Core/SidecarOptions.h"
#include "Core/ZmqApi.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace Parley
{

/// What ParleyCore needs to know. Set Codec and Zmq always, and Launch, or Endpoint and Token.
struct PARLEY_CORE_API CoreOptions
{
    /// Reads and writes JSON. Must be there. Used on threads of the core too (see Threads::WaitForAll).
    std::shared_ptr<const JsonCodec> Codec;
    /// The calls of libzmq, loaded. Must be there.
    std::shared_ptr<const ZmqApi> Zmq;
    /// How a sidecar is started; nothing: connect to Endpoint.
    std::optional<SidecarOptions> Launch;
    /// Where a sidecar of somebody else listens.
    std::string Endpoint;
    /// What that one wants to hear.
    std::string Token;
    /// The public key of that one where it encrypts; empty: it does not.
    std::string ServerPublicKey;
    /// Who asks, for the sidecar's log.
    std::string ClientName = "unreal";
    /// So often in a row a sidecar that goes is started again.
    int MaxRestarts = 3;
    /// Seconds to wait before the first restart, the second, …; the last one holds for all others.
    std::vector<double> RestartPausesS = {0.0, 0.5, 2.0};
    /// A sidecar that was there for so many seconds has the next restart counted from the first again.
    double StableAfterS = 60.0;
    /// Seconds within which Hello must be answered.
    double ConnectTimeoutS = 10.0;
    /// Seconds for which a broken connection to a sidecar that lives is made anew.
    double ReconnectS = Protocol::ResumeWindowS;
    /// Milliseconds that a sidecar has to end by itself before it is killed.
    int StopPatienceMs = 600;
    /// Hears what the sidecar logs and what goes wrong here, on the game's thread in Update. Empty: nobody.
    LogSink Log;
};

/// What becomes of a line that is said while a turn runs.
enum class WhenBusy
{
    /// One line waits and is said next; a second one is refused.
    QueueOne,
    /// It is refused.
    Refuse,
};

/// What became of a line.
enum class SayOutcome
{
    /// It is on its way. Its TurnCompleted will come.
    Sent,
    /// It is said as soon as it can be. Its TurnCompleted will come.
    Queued,
    /// It was refused: a turn runs, and a line may be waiting already.
    Busy,
    /// It was refused: there is no sidecar, or this agent could not be made.
    Unavailable,
};

/// What a character is made of.
struct PARLEY_CORE_API AgentOptions
{
    /// Its name within the game, by which it is found again after Attach; empty: one is made up.
    std::string Key;
    /// The workflow, as its file holds it.
    Json Workflow = Json::Object();
    /// Values that take the place of those the workflow declares.
    Json Variables = Json::Object();
    /// Have TurnComplete.Debug filled.
    bool EnableDiagnostics = false;
    /// Steps of one turn; more end it.
    int MaxSteps = 64;
    /// A saved dialog, or its short form, to begin with.
    std::optional<Json> SeedDialog;
    /// What becomes of a line that is said while a turn runs.
    WhenBusy Busy = WhenBusy::QueueOne;
};

/// How it stands with the sidecar.
enum class CoreState
{
    /// Start was not called, or Stop was.
    Stopped,
    /// The first sidecar is being started, and what it should have is made.
    Starting,
    /// All is there.
    Ready,
    /// The sidecar is lost; another one is being started, and gets all that the old one had.
    Gone,
    /// There is no sidecar, and none will be started until Start is called.
    Down,
    /// It is ending.
    Stopping,
};

} // namespace Parley
