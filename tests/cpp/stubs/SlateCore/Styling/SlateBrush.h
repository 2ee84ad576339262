// FSlateBrush.
// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Browser/SDlgBrowser.cpp
#pragma once

#include "Types/SlateEnums.h"

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/Browser/SDlgBrowser.cpp (FAppStyle::GetBrush)
struct FSlateBrush
{
    FName ResourceName;
};
