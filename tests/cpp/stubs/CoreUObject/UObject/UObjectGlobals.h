// NewObject and its like. (The bodies are in StubGlobals.h, so that any of these headers may come first.)
// Source: MothCocoon/FlowGraph Source/Flow/Private/FlowSubsystem.cpp
#pragma once
#include "UObject/Object.h"
