// FGeometry.
// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Editor/Nodes/SDlgGraphPin.h
#pragma once

#include "Types/SlateEnums.h"

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Editor/Nodes/SDlgGraphPin.h
struct FGeometry
{
    FVector2D Size;
};
