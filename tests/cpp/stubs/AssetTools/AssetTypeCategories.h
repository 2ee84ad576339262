// EAssetTypeCategories.
// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/DlgSystemEditorModule.cpp (RegisterAdvancedAssetCategory)
#pragma once

#include "CoreMinimal.h"

// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/DlgSystemEditorModule.cpp
namespace EAssetTypeCategories
{
// Source: NotYetGames/DlgSystem Source/DlgSystemEditor/DlgSystemEditorModule.cpp
enum Type : int
{
    None = 0,
    Basic = 1 << 0,
    Misc = 1 << 5,
    FirstUser = 1 << 10,
};
} // namespace EAssetTypeCategories
