// Where a session stands, and why one is over.
#pragma once

#include "Core/CoreApi.h"

#include <string_view>

namespace Parley
{

/// Where a session with a sidecar stands.
enum class SessionState
{
    /// Hello is not answered yet.
    Connecting,
    /// The sidecar answers.
    Ready,
    /// The connection broke or fell silent; the session is being taken up again. Requests wait.
    Lost,
    /// As Ready, after having been Lost: nothing is missing and nothing comes twice.
    Back,
    /// Over for good; a new session needs a new object.
    Closed,
};

/// Why a session is over.
enum class SessionEnd
{
    /// It is not.
    None,
    /// Stop was called; the sidecar keeps the session for whoever takes it up again.
    Stopped,
    /// Stop said Bye: the sidecar has forgotten the session.
    Bye,
    /// The sidecar refused Hello, such as a wrong token or another protocol.
    Refused,
    /// Nobody answered Hello in time.
    NotThere,
    /// The connection was lost and did not come back in time.
    Lost,
    /// Another client took the session up.
    Replaced,
    /// The sidecar shuts down.
    Shutdown,
    /// The sidecar has no such session any more; agents must be made again.
    Expired,
    /// The sidecar sent what cannot be read.
    Malformed,
};

/// The word of a state, such as "Ready".
PARLEY_CORE_API std::string_view WordOf(SessionState State) noexcept;
PARLEY_CORE_API std::string_view WordOf(SessionEnd End) noexcept;

} // namespace Parley
