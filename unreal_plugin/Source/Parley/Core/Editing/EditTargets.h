// What an edit of a workflow may change besides its JSON.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Json.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace Parley
{

/// Something that an edit is about to change, for an undo that keeps how it is.
struct PARLEY_CORE_API IEditTarget
{
    virtual ~IEditTarget();
};

/// Where the workflow that is edited lives: an asset, a file, a field of a test.
struct PARLEY_CORE_API IWorkflowPlace : IEditTarget
{
    /// The workflow as the fields of a .workflow.json, whole.
    virtual Json Get() const = 0;
    virtual void Set(const Json& Workflow) = 0;
};

/// Something outside a workflow that knows its nodes by name: a cast.
struct PARLEY_CORE_API INodeNames : IEditTarget
{
    /// The names in an order that lasts until the next edit.
    virtual std::vector<std::string> Names() const = 0;
    /// Gives one of them another name.
    virtual void Rename(std::size_t Index, std::string_view Name) = 0;
};

/// The editor's undo: what one edit changes is one group (in Unreal, one transaction).
struct PARLEY_CORE_API IEditUndo
{
    virtual ~IEditUndo();
    /// A group begins. Called only when there is something to change.
    virtual void Begin(std::string_view Label) = 0;
    /// This target is about to be changed; keep how it is.
    virtual void Keep(IEditTarget& Target) = 0;
    /// The group is complete.
    virtual void End() = 0;
};

} // namespace Parley
