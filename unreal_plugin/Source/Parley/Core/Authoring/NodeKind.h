// What the authoring rules need to know of a node type.
#pragma once

#include "Core/CoreApi.h"
#include "Core/NodeType.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace Parley
{

/// What the authoring rules must know of a node type. As made: fields as the packaged types have them.
struct PARLEY_CORE_API NodeKind
{
    /// The type writes a slot.
    bool Produces = false;
    /// The fields with Mustache tags.
    std::set<std::string, std::less<>> TemplateFields = {"template", "instruction"};
    /// The fields that name a slot to read.
    std::set<std::string, std::less<>> InputFields = {"input"};
    /// instruction_ or knowledge_: the tags that the node's name makes readable; empty for none.
    std::string TagFamily;
    /// The field that, when not empty, gives the tag its name in place of the node's name.
    std::string TagNameField;
};

/// By the name of the type.
using NodeKindMap = std::map<std::string, NodeKind, std::less<>>;

namespace NodeKinds
{

/// The types that Parley comes with. A game with types of its own makes a map of its own. Threading: any thread.
PARLEY_CORE_API const NodeKindMap& Packaged();

/// The same of any types.
PARLEY_CORE_API NodeKindMap Of(const std::vector<NodeType>& Types);

} // namespace NodeKinds
} // namespace Parley
