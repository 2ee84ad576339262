// The description of a node type and its parameters, for editors.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Json.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace Parley
{

enum class ParamKind : std::uint8_t; // Generated/NodeTypes.h has the words

/// What the JSON of a parameter is.
enum class ParamType : std::uint8_t
{
    /// Whatever JSON there is.
    Json,
    Text,
    /// A whole number.
    Integer,
    Number,
    Boolean,
    /// One of the texts in Choices.
    Choice,
    /// Item describes each entry.
    List,
    /// An object with the fields in Fields.
    Record,
    /// An object with whatever is in it.
    Object,
};

/// One parameter of a node type, or one field of a record inside a parameter. All texts are literals: they end with a
/// zero and live for ever.
struct PARLEY_CORE_API NodeParam
{
    /// The field in the workflow's JSON; empty for the entries of a list.
    std::string_view Name;
    /// What its JSON is.
    ParamType Type = ParamType::Json;
    /// Which picker it wants.
    ParamKind Kind{};
    /// What it is for: the tooltip.
    std::string_view Meaning;
    /// It is set when the agent is made, and ChangeParams refuses to change it.
    bool IsFixed = false;
    /// It must be there.
    bool IsRequired = false;
    /// It may be null, which is also what it is when it is not there.
    bool IsOptional = false;
    /// What it is when it is not there; null where it is required.
    Json Default;
    /// The least number; not set: no bound.
    std::optional<double> Least;
    /// The greatest number; not set: no bound.
    std::optional<double> Most;
    /// It must be above Least.
    bool LeastIsExcluded = false;
    /// It must be below Most.
    bool MostIsExcluded = false;
    /// The least number of characters or entries; not set: no bound.
    std::optional<std::size_t> LeastLength;
    /// The greatest number of characters or entries; not set: no bound.
    std::optional<std::size_t> MostLength;
    /// The texts to choose from, where it is a Choice.
    std::vector<std::string_view> Choices;
    /// What each entry is, where it is a List; else null.
    std::shared_ptr<const NodeParam> Item;
    /// What is in it, where it is a Record.
    std::vector<NodeParam> Fields;

    /// ChangeParams may change it between turns.
    bool IsMutable() const noexcept { return !IsFixed; }
};

/// A way out of a node.
struct PARLEY_CORE_API NodeExit
{
    /// Such as `default`.
    std::string_view Name;
    /// The field that names the next node, such as `default_exit`.
    std::string_view Field;
    /// When it is taken: the tooltip.
    std::string_view Meaning;
};

/// Something with a name and a sentence about it: a template tag, or a NodeEvent.
struct PARLEY_CORE_API NodeNote
{
    /// The tag as a template has it, or the event's name.
    std::string_view Name;
    /// What the tag stands for, or what the event's data holds.
    std::string_view Meaning;
};

/// What an editor must know to draw nodes of a type.
struct PARLEY_CORE_API NodeType
{
    /// The `type` of its nodes.
    std::string_view Name;
    /// The first sentences of what is to be said about it.
    std::string_view Summary;
    /// All of that.
    std::string_view Meaning;
    /// Its nodes write a slot.
    bool Produces = false;
    /// Its nodes have a language model.
    bool UsesModel = false;
    /// instruction_ or knowledge_: the tags that the node's name makes readable; empty for none.
    std::string_view TagFamily;
    /// The field that, when not empty, gives the tag its name in place of the node's name.
    std::string_view TagNameField;
    /// Other template tags that it fills.
    std::vector<NodeNote> Offers;
    /// The NodeEvents that it pushes.
    std::vector<NodeNote> Events;
    /// The ways out of its nodes.
    std::vector<NodeExit> Exits;
    /// Every field beside `type`, exits included, in the order in which they are written.
    std::vector<NodeParam> Params;

    /// A parameter by its field; null: there is none.
    const NodeParam* Param(std::string_view Field) const noexcept;
    /// The fields of one kind.
    std::vector<std::string_view> FieldsOf(ParamKind Kind) const;
};

namespace NodeTypes
{

/// Every node type that was known when this was generated, in the order of their names. Threading: read from anywhere.
PARLEY_CORE_API const std::vector<NodeType>& All();
/// A type by its name; null: it is not known here.
PARLEY_CORE_API const NodeType* Find(std::string_view Name);

} // namespace NodeTypes

} // namespace Parley
