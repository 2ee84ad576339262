// FMargin.
// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgSystemSettings.h
#pragma once

#include "Types/SlateEnums.h"

// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgSystemSettings.h
struct FMargin
{
    float Left = 0, Top = 0, Right = 0, Bottom = 0;
    FMargin() = default;
    FMargin(float All)
        : Left(All)
        , Top(All)
        , Right(All)
        , Bottom(All)
    {
    }
    FMargin(float Horizontal, float Vertical)
        : Left(Horizontal)
        , Top(Vertical)
        , Right(Horizontal)
        , Bottom(Vertical)
    {
    }
    FMargin(float InLeft, float InTop, float InRight, float InBottom)
        : Left(InLeft)
        , Top(InTop)
        , Right(InRight)
        , Bottom(InBottom)
    {
    }
};
