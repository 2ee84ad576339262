// Why an edit was refused.
#pragma once

#include "Core/CoreApi.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace Parley
{

enum class AuthoringReason : std::uint8_t
{
    /// The name is the player's line's.
    Reserved,
    /// The text is no name.
    Grammar,
    /// The workflow has no such node, or the node writes no slot.
    UnknownNode,
    /// The JSON is no list of nodes.
    NotAWorkflow,
    /// Something else was begun, or nothing was, or the workflow was changed from elsewhere meanwhile.
    NotNow,
};

/// An edit that is refused; the text says in one sentence what is wrong, where, and what to do.
struct PARLEY_CORE_API AuthoringFault
{
    AuthoringReason Reason = AuthoringReason::NotAWorkflow;
    std::string Text;

    /// The reason in the words that all languages share, such as unknown_node.
    std::string_view ReasonName() const noexcept;
};

} // namespace Parley
