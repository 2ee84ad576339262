// What a designer may pick for a field that names something.
#pragma once

#include "Core/Authoring/NodeKind.h"
#include "Core/CoreApi.h"
#include "Core/Json.h"

#include <string>
#include <string_view>
#include <vector>

namespace Parley
{

/// One entry of a dropdown.
struct PARLEY_CORE_API Choice
{
    /// What the field stores.
    std::string Value;
    /// What the dropdown shows.
    std::string Label;
    /// The field stores it, but it is none of the choices: show it in red, and never drop it.
    bool IsMissing = false;
};

/// A dropdown for one field: its entries in order and which of them is stored.
struct PARLEY_CORE_API ChoiceList
{
    /// The entries; a missing value is the last of them.
    std::vector<Choice> Items;
    /// The index of the stored one.
    int Selected = 0;
};

/// What the dropdowns of editors offer. They read any JSON: what is no node is passed over. A stored value is the field as
/// it is in the node's JSON; null where it is not there.
namespace Choices
{

/// How the player's line is called in dropdowns.
inline constexpr std::string_view UserMessage = "User Message";

/// How an exit is called that ends the turn.
inline constexpr std::string_view End = "END";

/// The choices of an input field of nodes[Index]: the player's line, stored as empty, then the slots that are written
/// before the node.
PARLEY_CORE_API ChoiceList Inputs(
    const Json& Workflow, int Index, const NodeKindMap& Kinds, std::string_view Field = "input");

/// The same for the first node of a name.
PARLEY_CORE_API ChoiceList InputsOf(
    const Json& Workflow, std::string_view NodeName, const NodeKindMap& Kinds, std::string_view Field = "input");

/// The choices of an exit, or of the workflow's start: the nodes in workflow order, each name once, and for an exit the
/// end of the turn before them.
PARLEY_CORE_API ChoiceList Exits(const Json& Workflow, const Json& Stored, bool WithEnd = true);

/// The choices of a field that names a variable of the workflow, in their order; empty is none.
PARLEY_CORE_API ChoiceList Variables(const Json& Workflow, const Json& Stored);

/// The index in the workflow's nodes of the first of this name; -1: there is none.
PARLEY_CORE_API int IndexOf(const Json& Workflow, std::string_view NodeName) noexcept;

} // namespace Choices
} // namespace Parley
