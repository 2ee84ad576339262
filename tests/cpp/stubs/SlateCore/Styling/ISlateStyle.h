// ISlateStyle.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/FlowEditorStyle.cpp
#pragma once

#include "Fonts/SlateFontInfo.h"
#include "Styling/SlateBrush.h"
#include "Styling/SlateColor.h"

// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Private/Details/VoxelShaderHooksSettingsCustomization.cpp
class ISlateStyle
{
public:
    const FSlateBrush* GetBrush(const FName Name) const
    {
        static FSlateBrush Brush;
        Brush.ResourceName = Name;
        return &Brush;
    }
    FSlateFontInfo GetFontStyle(const FName) const { return FSlateFontInfo(); }
    const FName& GetStyleSetName() const
    {
        static const FName Name(TEXT("EditorStyle"));
        return Name;
    }
};
