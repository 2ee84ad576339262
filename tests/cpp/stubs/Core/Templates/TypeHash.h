// GetTypeHash of plain values.
// Source: MothCocoon/FlowGraph Source/Flow/Public/Nodes/FlowPin.h (GetTypeHash)
#pragma once

#include "HAL/Platform.h"

template <typename T, std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>, int> = 0>
uint32 GetTypeHash(T Value)
{
    return static_cast<uint32>(Value);
}
template <typename T>
uint32 GetTypeHash(T* Value)
{
    return static_cast<uint32>(reinterpret_cast<UPTRINT>(Value) >> 4);
}
inline uint32 HashCombine(uint32 A, uint32 B)
{
    return A * 31u + B;
}
