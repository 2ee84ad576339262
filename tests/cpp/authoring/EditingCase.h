// Edits a workflow step by step, with a cast that follows and an undo that records.
#pragma once

#include "Core/Authoring/NodeKind.h"
#include "Core/Json.h"

/// What each step told, then the workflow and the cast after it.
Parley::Json RunEditing(const Parley::Json& Given, const Parley::NodeKindMap& Kinds);
