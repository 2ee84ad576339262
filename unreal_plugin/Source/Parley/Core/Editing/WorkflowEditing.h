// Edits of a workflow, each of them one step.
#pragma once

#include "Core/Authoring/Authoring.h"
#include "Core/Authoring/AuthoringFault.h"
#include "Core/CoreApi.h"
#include "Core/Editing/EditTargets.h"
#include "Core/Json.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace Parley
{

/// Edits of one workflow and of what knows its nodes by name, each edit one group of undo.
///
/// An edit is worked out in full before anything is touched: one that is refused or that changes nothing leaves workflow,
/// casts and undo as they were. The next edit looks at the workflow's place again, so what was undone or changed in another
/// window is not overwritten. Between Begin and Commit all edits make one group. Threading: one thread.
class PARLEY_CORE_API WorkflowEditing
{
public:
    /// `Place`, `Kinds` and `Undo` must live as long as this does.
    WorkflowEditing(IWorkflowPlace& Place, const NodeKindMap& Kinds, IEditUndo& Undo);

    /// The workflow as it is after the edits so far; after an undo, as it is after Reload. Change it by Change alone.
    const Json& Workflow() const noexcept { return Current; }

    /// What follows when a node is renamed, in the same group of undo. They must live until they are taken out again.
    std::vector<INodeNames*>& Followers() noexcept { return Following; }

    /// Whether edits are being gathered.
    bool IsOpen() const noexcept { return Gathers; }

    /// Looks at the workflow again, after an undo or a change from elsewhere. Edits that were being gathered are given up.
    void Reload();

    /// Lets the edits that follow make one group. False: another one is still open.
    bool Begin(std::string_view Label, AuthoringFault& Fault);

    /// Applies what was gathered; `Changed` tells whether anything changed. False: nothing was begun, or the workflow was
    /// changed from elsewhere since Begin; then what was gathered is given up.
    bool Commit(bool& Changed, AuthoringFault& Fault);

    /// Gives up what was gathered.
    void Cancel();

    /// Renames a node with everything that refers to it, and lets the followers follow.
    bool RenameNode(std::string_view NodeName, std::string_view To, AuthoringEdit& Edit, AuthoringFault& Fault);

    /// Renames the slot that a node writes, with inputs and tags.
    bool RenameSlot(std::string_view NodeName, std::string_view To, AuthoringEdit& Edit, AuthoringFault& Fault);

    /// Deletes a node. Followers keep its name: what they hold under it is not lost.
    bool DeleteNode(std::string_view NodeName, AuthoringEdit& Edit, AuthoringFault& Fault);

    /// Adds a node of a type at the end, named like the type unless that is taken; gives its name. A workflow without a
    /// start begins with it.
    bool AddNode(std::string_view TypeName, std::string& Name, AuthoringFault& Fault);

    /// Sets a field of nodes[Index], or of the workflow itself for -1; `Changed` tells whether it was another one.
    /// For names and output_name use the renames.
    bool SetField(int Index, std::string_view Field, const Json& Value, bool& Changed, AuthoringFault& Fault);

    /// Takes a field away.
    bool EraseField(int Index, std::string_view Field, bool& Changed, AuthoringFault& Fault);

    /// Any other edit: `Edit` gets a copy of the workflow and changes it in place, or returns false with a fault. `Changed`
    /// tells whether anything changed; while edits are gathered, whether this one changed anything.
    bool Change(
        std::string_view Label,
        const std::function<bool(Json& Workflow, AuthoringFault& Fault)>& Edit,
        bool& Changed,
        AuthoringFault& Fault);

private:
    void Refresh();
    bool Done(std::string_view Label, const AuthoringEdit& Edit, AuthoringFault& Fault);
    bool Apply(const std::string& Label, const std::vector<AuthoringEdit>& Edits);
    bool Owned(
        std::string_view Label,
        int Index,
        const std::function<void(Json& Owner)>& Edit,
        bool& Changed,
        AuthoringFault& Fault);

    IWorkflowPlace& Home;
    const NodeKindMap& Known;
    IEditUndo& Undo;
    std::vector<INodeNames*> Following;
    Json Current;
    Json AtHome;
    bool Gathers = false;
    std::string OpenLabel;
    std::vector<AuthoringEdit> Pending;
};

} // namespace Parley
