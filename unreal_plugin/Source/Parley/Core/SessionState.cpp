// The words of a session's states and ends.
#include "Core/SessionState.h"

namespace Parley
{

std::string_view WordOf(SessionState State) noexcept
{
    switch (State)
    {
        case SessionState::Connecting:
            return "Connecting";
        case SessionState::Ready:
            return "Ready";
        case SessionState::Lost:
            return "Lost";
        case SessionState::Back:
            return "Back";
        case SessionState::Closed:
            return "Closed";
    }
    return "";
}

std::string_view WordOf(SessionEnd End) noexcept
{
    switch (End)
    {
        case SessionEnd::None:
            return "None";
        case SessionEnd::Stopped:
            return "Stopped";
        case SessionEnd::Bye:
            return "Bye";
        case SessionEnd::Refused:
            return "Refused";
        case SessionEnd::NotThere:
            return "NotThere";
        case SessionEnd::Lost:
            return "Lost";
        case SessionEnd::Replaced:
            return "Replaced";
        case SessionEnd::Shutdown:
            return "Shutdown";
        case SessionEnd::Expired:
            return "Expired";
        case SessionEnd::Malformed:
            return "Malformed";
    }
    return "";
}

} // namespace Parley
