// Why something could not be done: an error of the sidecar, or one found on this side.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Generated/ErrorCodes.h"
#include "Core/Generated/Messages.h"

#include <string>
#include <string_view>
#include <vector>

namespace Parley
{

/// The names of what only this side can find out. They stand in Fault::Name; Code is ErrorCode::None then.
namespace LocalFaults
{

/// No reply came within the request's time.
inline constexpr std::string_view TimedOut = "TimedOut";
/// Nobody answered Hello.
inline constexpr std::string_view NotThere = "NotThere";
/// The connection was lost and did not come back in time.
inline constexpr std::string_view ConnectionLost = "ConnectionLost";
/// The session was ended on this side.
inline constexpr std::string_view SessionClosed = "SessionClosed";
/// ZeroMQ's library is not there, or not for this machine.
inline constexpr std::string_view LibraryMissing = "LibraryMissing";
/// ZeroMQ's library refused something.
inline constexpr std::string_view LibraryFault = "LibraryFault";
/// A fault of this plugin itself.
inline constexpr std::string_view InternalFault = "InternalFault";

} // namespace LocalFaults

/// Something that a developer is told about: the same fields as the wire's Error.
struct PARLEY_CORE_API Fault
{
    /// ErrorCode::None: found on this side, or a fault inside the sidecar; see Name.
    ErrorCode Code = ErrorCode::None;
    /// The error's name, such as AgentBusy, or one of LocalFaults.
    std::string Name;
    /// What was wrong, where, and what to do.
    std::string Text;
    /// The conversation it is about; empty: none.
    std::string AgentId;
    /// The node it is about; empty: none.
    std::string NodeName;
    /// Where in the JSON, such as $.nodes[2].template; empty: nowhere.
    std::string Path;
    /// Every finding, where it is about a workflow.
    std::vector<Messages::Problem> Problems;

    /// A fault with a name of LocalFaults.
    static Fault Local(std::string_view Name, std::string Text);
    /// An error of the wire that this side found.
    static Fault OfWire(ErrorCode Code, std::string_view Name, std::string Text);
    /// The error that an Error tells of.
    static Fault From(const Messages::Error& Told);

    /// The Error that tells of it.
    Messages::Error ToError() const;
    /// Name and code, then the text.
    std::string Shown() const;
    bool Is(std::string_view LocalName) const noexcept { return Code == ErrorCode::None && Name == LocalName; }
};

} // namespace Parley
