// UClass, UScriptStruct, UEnum. (The bodies are in StubClass.h, so that any of these headers may come first.)
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Graph/FlowGraphSchema.cpp
#pragma once
#include "UObject/Object.h"
