// What the inspector of a workflow shows and does; the inspector itself only draws.
#pragma once

#include "FieldRow.h"
#include "RowBuilder.h"
#include "WorkflowStore.h"

#include "Core/Editing/WorkflowEditing.h"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace Parley::Editor
{

/// A workflow as rows of fields, and its edits. What the store holds is the truth, and nothing is lost by looking. An edit
/// that is refused changes nothing; RefusalAt says why. Nodes are meant by their place, since a broken workflow may hold two
/// of one name. Threading: the game thread.
class WorkflowInspectorModel
{
public:
    /// Both live as long as this does.
    WorkflowInspectorModel(WorkflowStore& InStore, const JsonCodec& InCodec);

    /// Looks at the store again, after an edit, an undo or a change from elsewhere. Whether anything is to be shown anew.
    bool Refresh();

    /// The workflow as it was at the last Refresh.
    const Json& Workflow() const { return Seen; }
    /// Why the workflow cannot be shown; empty: it can.
    const std::string& GetFault() const { return Trouble; }
    /// The fields of the workflow itself.
    std::vector<FieldRow>& Fields() { return Rows; }
    /// Its nodes, in their order.
    std::vector<NodeRow>& Nodes() { return NodeRows; }
    /// All findings, errors first: the sidecar's where it has seen this workflow, else the editor's own.
    const Findings& Found() const { return IsValidated() ? Told : Local; }
    /// The findings that belong to no node and to none of the fields.
    const std::vector<Finding>& WorkflowFindings() const { return Loose; }
    /// The sidecar's findings are about the workflow as it is now.
    bool IsValidated() const { return ToldAbout.has_value() && Authoring::IsSame(*ToldAbout, Seen); }
    /// Why the last edit at a path was refused; empty: it was not.
    std::string RefusalAt(const std::string& Path) const;

    /// What a field shows as JSON, on one line; empty: nothing.
    std::string JsonOf(const FieldRow& Row) const { return Row.Value ? Codec.Write(*Row.Value) : std::string(); }

    const std::vector<KnownModel>& GetModels() const { return Models; }
    /// The models that pickers offer; none: names of models are typed.
    void SetModels(std::vector<KnownModel> Known);
    /// Takes the findings of a sidecar about a workflow; dropped where that has changed meanwhile.
    void TakeFindings(const Json& About, Findings News);

    // ---- edits: each returns whether the workflow changed

    /// Puts another workflow in this one's place.
    bool Replace(const Json& Other, std::string_view Label);
    /// Renames a node; all that meant it by name follows.
    bool Rename(std::size_t Index, std::string_view To);
    /// Gives the slot that a node writes another name; empty: the node's own. Inputs and tags follow.
    bool RenameSlot(std::size_t Index, std::string_view To);
    /// Removes a node: exits to it become END, inputs that named its slot keep the name and are flagged.
    bool Delete(std::size_t Index);
    /// Adds a node of a type at the end; gives its name, empty where it was refused.
    std::string Add(std::string_view TypeName);
    /// Moves a node to another place; its order means nothing to a turn, but lists follow it.
    bool Move(std::size_t Index, std::size_t To);
    /// Stores a value in a field; containers on the way are made.
    bool Set(const FieldRow& Row, Json Value);
    /// Stores a text.
    bool SetText(const FieldRow& Row, std::string_view Text);
    /// Stores a number within the field's bounds. A whole number stays one.
    bool SetNumber(const FieldRow& Row, double Number);
    /// Stores a number that is typed; refuses what is none, or out of bounds.
    bool SetTyped(const FieldRow& Row, std::string_view Text);
    /// Stores what is typed as JSON; refuses what is none.
    bool SetJson(const FieldRow& Row, std::string_view Text);
    /// Takes a field away: its default holds again. An entry of a list goes.
    bool Clear(const FieldRow& Row);
    /// Puts one more entry at the end of a list.
    bool AddItem(const FieldRow& List);
    /// Moves an entry of a list up (-1) or down (1).
    bool MoveItem(const FieldRow& Item, int By);
    /// A path that a person chose, as a workflow writes it: relative to the storage folder. Both are whole, with `/`.
    bool SetFile(const FieldRow& Row, std::string_view File, std::string_view StorageFolder);

private:
    using Edit = std::function<bool(AuthoringFault&)>;
    using Changer = std::function<bool(Json&, AuthoringFault&)>;

    bool Try(const std::string& Path, const Edit& Do);
    bool Change(std::string_view Label, const Changer& Do, AuthoringFault& Why);
    bool SetIn(const Steps& Way, Json Value, const std::string& Label, AuthoringFault& Why);
    bool RenameOnly(std::size_t Index, const std::string& Name, std::string_view To, AuthoringFault& Why);
    bool IsTheOne(std::size_t Index, const std::string& Name) const;
    const Json* NodeAt(std::size_t Index, AuthoringFault& Why) const;
    void Build();
    void Place(const Finding& About);

    WorkflowStore& Store;
    const JsonCodec& Codec;
    WorkflowEditing Editing;
    Json Seen;
    std::string Trouble;
    bool IsStale = true;
    std::vector<KnownModel> Models;
    std::map<std::string, std::string> Refusals;
    Findings Local;
    Findings Told;
    std::optional<Json> ToldAbout;
    std::vector<FieldRow> Rows;
    std::vector<NodeRow> NodeRows;
    std::vector<Finding> Loose;
};

} // namespace Parley::Editor
