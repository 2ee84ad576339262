// StaticEnum, as generated headers declare it.
// Source: MothCocoon/FlowGraph Source/Flow/Public/Nodes/FlowNode.h (through its generated header; StaticEnum<…>())
#pragma once

class UEnum;
class UScriptStruct;
class UClass;
template <typename EnumType>
UEnum* StaticEnum();
