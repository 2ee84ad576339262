// What can be told of a workflow without a sidecar.
#pragma once

#include "Core/Authoring/Finding.h"
#include "Core/CoreApi.h"
#include "Core/Json.h"
#include "Core/NodeType.h"

#include <vector>

/// What can be said of a workflow at once and without a sidecar: names, start, exits, inputs, and the types and bounds of
/// parameters.
///
/// Any JSON will do. What is an error here is an error for the sidecar too; templates, patterns, filters, storages and
/// models are for the sidecar alone to judge. A node type that is not known here may be installed there: that is a
/// warning, and so is whatever may depend on it. Threading: any thread.
namespace Parley::QuickValidation
{

/// Every finding, by the node types that Parley comes with.
PARLEY_CORE_API Findings Check(const Json& Workflow);

/// Every finding, by these node types.
PARLEY_CORE_API Findings Check(const Json& Workflow, const std::vector<NodeType>& Types);

} // namespace Parley::QuickValidation
