// FPropertyEditorModule.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/FlowEditorModule.cpp (RegisterCustomClassLayout,
// UnregisterCustomClassLayout, NotifyCustomizationModuleChanged)
#pragma once

#include "Modules/ModuleManager.h"
#include "PropertyEditorDelegates.h"

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/FlowEditorModule.cpp
class FPropertyEditorModule : public IModuleInterface
{
public:
    virtual void RegisterCustomClassLayout(FName ClassName, FOnGetDetailCustomizationInstance DetailLayoutDelegate)
    {
        StubLayouts.Add(ClassName, DetailLayoutDelegate);
    }
    virtual void UnregisterCustomClassLayout(FName ClassName) { StubLayouts.Remove(ClassName); }
    virtual void NotifyCustomizationModuleChanged() { ++StubNotified; }
    TMap<FName, FOnGetDetailCustomizationInstance> StubLayouts;
    int32 StubNotified = 0;
};
