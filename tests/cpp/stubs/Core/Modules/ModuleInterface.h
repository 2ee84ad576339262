// IModuleInterface.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Public/FlowEditorModule.h
#pragma once

#include "CoreTypes.h"

// Source: MothCocoon/FlowGraph Source/FlowEditor/Public/FlowEditorModule.h
class IModuleInterface
{
public:
    virtual ~IModuleInterface() = default;
    virtual void StartupModule() {}
    virtual void ShutdownModule() {}
    virtual bool SupportsDynamicReloading() { return true; }
    virtual bool IsGameModule() const { return false; }
};
