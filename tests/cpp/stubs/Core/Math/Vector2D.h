// FVector2D and FMargin's numbers.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Graph/FlowGraphConnectionDrawingPolicy.cpp
#pragma once

#include "HAL/Platform.h"

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Graph/FlowGraphConnectionDrawingPolicy.cpp
struct FVector2D
{
    double X = 0, Y = 0;
    FVector2D() = default;
    constexpr FVector2D(double InX, double InY)
        : X(InX)
        , Y(InY)
    {
    }
    bool operator==(const FVector2D& Other) const { return X == Other.X && Y == Other.Y; }
    bool operator!=(const FVector2D& Other) const { return !(*this == Other); }
};
