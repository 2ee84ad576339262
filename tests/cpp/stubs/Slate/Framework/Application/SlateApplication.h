// FSlateApplication.
// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Slate/Framework/Application/FSlateApplication
// /ClearKeyboardFocus?application_version=5.5 (and FSlateApplication/FindBestParentWi-_1?application_version=5.0),
// VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Private/Details/VoxelShaderHooksSettingsCustomization.cpp (called with a null widget)
#pragma once

#include "Widgets/SWidget.h"

class SWindow;

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Asset/SFlowDiff.cpp
class FSlateApplication
{
public:
    static FSlateApplication& Get()
    {
        static FSlateApplication Only;
        return Only;
    }
    static bool IsInitialized() { return true; }
    const void* FindBestParentWindowHandleForDialogs(const TSharedPtr<SWidget>& InWidget) { return nullptr; }
    void ClearKeyboardFocus(const EFocusCause InCause)
    {
        ++StubFocusCleared;
        const TFunction<void()> Kept = StubOnFocusLost;
        StubOnFocusLost = nullptr;
        if (Kept)
        {
            Kept();
        }
    }
    int32 StubFocusCleared = 0;
    /// What a text that is being typed does as it loses the focus; once.
    TFunction<void()> StubOnFocusLost;
};
