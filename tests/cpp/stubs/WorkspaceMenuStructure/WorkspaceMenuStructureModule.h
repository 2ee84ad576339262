// WorkspaceMenu.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumEditor.cpp (WorkspaceMenu::GetMenuStructure())
#pragma once

#include "WorkspaceMenuStructure.h"

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumEditor.cpp
namespace WorkspaceMenu
{
inline const IWorkspaceMenuStructure& GetMenuStructure()
{
    static const IWorkspaceMenuStructure Only;
    return Only;
}
} // namespace WorkspaceMenu
