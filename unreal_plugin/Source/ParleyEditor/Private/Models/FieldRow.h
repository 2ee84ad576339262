// What an inspector shows for one field: the control, the value, the choices, what is wrong with it.
#pragma once

#include "JsonPlaces.h"

#include "Core/Authoring/Choices.h"
#include "Core/Authoring/Finding.h"
#include "Core/Json.h"
#include "Core/NodeType.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace Parley::Editor
{

/// The control that a field is shown with.
enum class FieldControl
{
    /// One line, committed on Enter or when the focus leaves it; a node's name.
    Name,
    /// One line, committed likewise; the slot that a node writes.
    Slot,
    /// One line.
    Text,
    /// Several lines.
    Lines,
    /// Several lines with Mustache tags.
    Template,
    /// One of some values.
    Dropdown,
    /// One of some values, or another that is typed.
    Model,
    /// A file below the storage folder, or a storage that the game makes.
    File,
    /// Yes or no.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// Entries one below the other.
    List,
    /// Fields of its own.
    Record,
    /// JSON as it stands.
    Json,
};

/// The entries of a dropdown. A stored value that is none of them is one more entry, marked as missing.
struct Dropdown
{
    /// What is stored for each entry.
    std::vector<std::string> Values;
    /// What each entry shows.
    std::vector<std::string> Labels;
    /// The entry that is stored; -1: none.
    int Selected = -1;
    /// What is stored is none of the choices: it is shown in red.
    bool IsMissing = false;

    void Add(std::string Value, std::string Label);
    /// Where a value stands; -1: nowhere.
    int IndexOf(std::string_view Value) const;
    /// Selects what is stored; adds it as missing where it is none of the entries.
    void Select(const std::string& Value);
    static Dropdown Of(const ChoiceList& List);
};

/// One field of a workflow, a node, a record or a list. A copy: it does not change with the workflow.
struct FieldRow
{
    /// Where it is, such as $.nodes[0].input.
    std::string Path;
    /// The same as steps from the workflow's root.
    Steps Way;
    /// What stands before the control.
    std::string Label;
    /// What the field means; empty: not known.
    std::string Tooltip;
    FieldControl Control = FieldControl::Json;
    /// What is stored; nothing: the default holds.
    std::optional<Json> Stored;
    /// What the control shows: what is stored, else the default; nothing: neither.
    std::optional<Json> Value;
    /// It may be left out or taken away, and then means something.
    bool IsOptional = false;
    /// Fixed when the agent is made; a running conversation does not notice an edit.
    bool IsStructural = false;
    /// The node type declares it.
    bool IsKnown = false;
    /// The bounds of a number; nothing: none.
    std::optional<double> Least;
    std::optional<double> Most;
    /// The entries of a dropdown; nothing: it is none.
    std::optional<Dropdown> Choices;
    /// The fields of a record, the entries of a list.
    std::vector<FieldRow> Children;
    /// What an entry that is added to a list begins as.
    Json NewItem;
    /// What is stored is of another kind than the field; the control is JSON then.
    std::string Fault;
    /// What validation says of it.
    std::vector<Finding> Findings;
    /// Why the last edit of it was refused; empty: it was not.
    std::string Refusal;

    /// The value as a text; empty where it is none.
    std::string Text() const { return Value && Value->IsString() ? Value->AsText() : std::string(); }
    /// The value as yes or no.
    bool Flag() const { return Value && Value->AsBoolean(); }
    /// The value as a number; 0 where it is none.
    double Number() const;
    /// What the tooltip says, with bounds.
    std::string FullTooltip() const;
    /// What an unset field becomes when somebody sets it.
    Json First() const;

    /// The row whose path is the longest beginning of a finding's; null: none.
    static FieldRow* Deepest(std::vector<FieldRow>& Rows, std::string_view Path);
};

/// One node of a workflow.
class NodeRow
{
public:
    using Maker = std::function<std::vector<FieldRow>()>;

    explicit NodeRow(Maker InMake) : Make(std::move(InMake)) {}

    /// Its place in the workflow.
    std::size_t Index = 0;
    /// Empty: it has none.
    std::string Name;
    /// Its type, as stored.
    std::string TypeName;
    /// What is known of the type; null: nothing.
    const NodeType* Type = nullptr;
    /// A turn begins here.
    bool IsStart = false;
    /// How many of all findings about it are errors, and warnings.
    int Errors = 0;
    int Warnings = 0;

    /// Its fields, in the order in which the type declares them, then the others. Made when they are asked for.
    std::vector<FieldRow>& Fields();
    /// What validation says of the node and not of one of its fields.
    const std::vector<Finding>& Findings();
    /// The node as one line.
    std::string Title() const;
    /// A field by its name; null: it has none.
    FieldRow* Field(std::string_view FieldName);
    void Tell(const Finding& Found);

private:
    void MakeFields();

    Maker Make;
    std::optional<std::vector<FieldRow>> Made;
    std::vector<Finding> Told;
    std::vector<Finding> OfNode;
};

} // namespace Parley::Editor
