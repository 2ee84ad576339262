// Requests that outlive a sidecar, and the faults that say that there is none.
#pragma once

#include "Core/Fault.h"
#include "Core/Handlers.h"
#include "Core/Message.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace Parley
{

class CoreAgent;

/// A request, and who waits for its reply.
struct Ask
{
    /// Makes the request anew: the agent has another name in the next sidecar.
    std::function<std::unique_ptr<Request>()> Make;
    /// Called once, on the game's thread, with a reply or a fault. Never empty.
    ReplyCallback Done;
    /// The agent it is about; null: none.
    std::shared_ptr<CoreAgent> Agent;
    /// Not to be done again by the next sidecar.
    bool IsOnce = false;
    /// Seconds to wait for the reply, as ParleySession::Send has them.
    double TimeoutS = 0.0;
    /// While it is asked: what it is found by.
    std::uint64_t Id = 0;
};

/// Words that say that the sidecar is not there.
namespace Faults
{

inline constexpr std::string_view SidecarFailed = "SidecarFailed";

Fault Down(const std::string& Why);
Fault Lost(std::string Why);
Fault Destroyed();
/// A fault that says nothing of the request, only that nobody is there to do it.
bool MeansGone(const Fault& Why) noexcept;

} // namespace Faults

} // namespace Parley
