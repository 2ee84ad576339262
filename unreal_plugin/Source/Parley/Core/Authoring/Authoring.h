// The authoring rules: rename, delete, connect.
#pragma once

#include "Core/Authoring/AuthoringFault.h"
#include "Core/Authoring/NodeKind.h"
#include "Core/CoreApi.h"
#include "Core/Json.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace Parley
{

/// What an edit made of a workflow.
struct PARLEY_CORE_API AuthoringEdit
{
    /// The new workflow; the one that was edited is as it was.
    Json Workflow;
    /// The node's or slot's old name.
    std::string From;
    /// The new name, which may have got a suffix; empty after a deletion.
    std::string To;
    /// The node has a new name and no other answers to the old one, so what knows it by name from outside the workflow,
    /// such as a cast, must follow.
    bool NameFollows = false;
    /// After a deletion: the nodes whose input lost its only writer, by name, else by JSON path.
    std::vector<std::string> Flagged;

    /// The node names of a cast as they must be after this edit, in the cast's order; unknown ones stay.
    std::vector<std::string> Follow(const std::vector<std::string>& CastNames) const;
};

/// Edits to a workflow that keep every reference right: names, renames, deletion, the choices for input.
///
/// Raw JSON in, new raw JSON out: the input is never changed, the order of fields, unknown fields and the spelling of
/// numbers are kept. A workflow need not compile; what is required of it is a list of nodes, each an object whose name
/// and output_name, where given, are texts. Where a function returns false the fault says what is wrong and nothing else
/// is given. A broken workflow may hold two nodes of one name: an edit then means the first of them, and a reference
/// stays as it is while another node still answers to it. Threading: any thread.
namespace Authoring
{

/// The slot that the node writes: output_name, else its name; nothing when it writes none. A type that `Kinds` does not
/// know writes a slot exactly when the node has an output_name, even an empty one.
PARLEY_CORE_API std::optional<std::string> SlotOf(const Json& Node, const NodeKindMap& Kinds);

/// What the node's input may name: user_message, then the slots written before it, in workflow order, each once. A slot
/// counts when the node can be reached along exits from a node that writes it, the node itself on a cycle included.
PARLEY_CORE_API bool InputChoices(
    const Json& Workflow,
    std::string_view NodeName,
    const NodeKindMap& Kinds,
    std::vector<std::string>& Choices,
    AuthoringFault& Fault);

/// Renames a node and everything that meant it by name. If another node or slot has the new name, it gets a suffix. A node
/// given the name of its own slot has its output_name stored as empty.
PARLEY_CORE_API bool RenameNode(
    const Json& Workflow,
    std::string_view NodeName,
    std::string_view To,
    const NodeKindMap& Kinds,
    AuthoringEdit& Edit,
    AuthoringFault& Fault);

/// Lets the node write slot `To`; inputs and slot tags follow. Empty, or the node's own name, stores an empty output_name.
/// A type that `Kinds` does not know is taken to write a slot, since it is asked to; one that is known to write none is
/// refused.
PARLEY_CORE_API bool RenameSlot(
    const Json& Workflow,
    std::string_view NodeName,
    std::string_view To,
    const NodeKindMap& Kinds,
    AuthoringEdit& Edit,
    AuthoringFault& Fault);

/// Removes a node: exits to it become END and a start there is cleared; inputs that named its slot keep what they name
/// and are flagged.
PARLEY_CORE_API bool DeleteNode(
    const Json& Workflow,
    std::string_view NodeName,
    const NodeKindMap& Kinds,
    AuthoringEdit& Edit,
    AuthoringFault& Fault);

// ---- Raw JSON, for what reads workflows that may be anything

/// Whether a field of this name is an exit.
PARLEY_CORE_API bool IsExit(std::string_view Field) noexcept;

/// The field's text; empty when it is missing, null or of another type, and where `Node` is no object.
PARLEY_CORE_API const std::string& TextOf(const Json& Node, std::string_view Field) noexcept;

/// The kind of a node by its type; null: it is not known.
PARLEY_CORE_API const NodeKind* KindOf(const Json& Node, const NodeKindMap& Kinds) noexcept;

/// The same value, to the letter: fields in the same order and numbers spelled alike.
PARLEY_CORE_API bool IsSame(const Json& One, const Json& Other) noexcept;

/// Levels of nesting that a workflow may have, so that a request around it is one the sidecar takes.
inline constexpr int MaxDepth = 99;

/// Whether it is nested deeper than MaxDepth; looks no deeper itself.
PARLEY_CORE_API bool IsTooDeep(const Json& Workflow) noexcept;

/// The choices of nodes[Index] for who has looked at the nodes already; an entry that is no object is passed over.
PARLEY_CORE_API std::vector<std::string> InputChoicesAt(
    const std::vector<Json>& Nodes, std::size_t Index, const NodeKindMap& Kinds);

} // namespace Authoring
} // namespace Parley
