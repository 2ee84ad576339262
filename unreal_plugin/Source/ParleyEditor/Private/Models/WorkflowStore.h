// Where an edited workflow lives in the editor, and what else knows its nodes.
#pragma once

#include "Core/Editing/EditTargets.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace Parley::Editor
{

/// Holds one workflow and the undo history of its edits. An asset in the editor, a value in tests.
class WorkflowStore : public IWorkflowPlace, public IEditUndo
{
public:
    /// Why the last Get could not tell the workflow, which is null then; empty: it could.
    virtual std::string GetFault() const = 0;

    /// What knows a node by its name from outside the workflow, and follows when it is renamed.
    virtual std::vector<std::unique_ptr<INodeNames>> FollowersOf(std::string_view NodeName) = 0;
};

} // namespace Parley::Editor
