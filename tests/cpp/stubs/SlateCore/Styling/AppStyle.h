// FAppStyle.
// Source: NotYetGames/DlgSystem Source/DlgSystem/NYEngineVersionHelpers.h
#pragma once

#include "Styling/ISlateStyle.h"

// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Private/SVoxelNotification.cpp
class FAppStyle
{
public:
    static const ISlateStyle& Get()
    {
        static const ISlateStyle Only;
        return Only;
    }
    static FName GetAppStyleSetName() { return Get().GetStyleSetName(); }
    static const FSlateBrush* GetBrush(FName Name) { return Get().GetBrush(Name); }
    static FSlateFontInfo GetFontStyle(FName Name) { return Get().GetFontStyle(Name); }
};
