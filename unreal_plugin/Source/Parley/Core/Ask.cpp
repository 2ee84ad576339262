// The faults that say that there is no sidecar.
#include "Core/Ask.h"

#include <utility>

namespace Parley::Faults
{

Fault Down(const std::string& Why)
{
    return Fault::Local(SidecarFailed, Why.empty() ? "there is no sidecar; call Start" : Why);
}

Fault Lost(std::string Why)
{
    return Fault::OfWire(ErrorCode::ShuttingDown, "ShuttingDown", std::move(Why));
}

Fault Destroyed()
{
    return Fault::OfWire(ErrorCode::AgentDestroyed, "AgentDestroyed", "this agent was destroyed; make another one");
}

bool MeansGone(const Fault& Why) noexcept
{
    switch (Why.Code)
    {
    case ErrorCode::ShuttingDown:
    case ErrorCode::SessionExpired:
    case ErrorCode::SessionNotReady:
        return true;
    default:
        return Why.Name == LocalFaults::ConnectionLost || Why.Name == LocalFaults::SessionClosed
            || Why.Name == LocalFaults::NotThere;
    }
}

} // namespace Parley::Faults
