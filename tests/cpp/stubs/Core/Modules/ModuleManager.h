// FModuleManager; modules are made when they are asked for first.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/FlowEditorModule.cpp (FModuleManager::LoadModuleChecked)
#pragma once

#include "CoreMinimal.h"
#include "Modules/ModuleInterface.h"

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/FlowEditorModule.cpp
class CORE_API FModuleManager
{
public:
    static FModuleManager& Get();
    IModuleInterface* GetModule(const FName InModuleName);
    IModuleInterface* LoadModule(const FName InModuleName);
    bool IsModuleLoaded(const FName InModuleName) const;
    template <typename T>
    static T& LoadModuleChecked(const FName InModuleName)
    {
        IModuleInterface* Module = Get().LoadModule(InModuleName);
        check(Module != nullptr);
        return static_cast<T&>(*Module);
    }
    template <typename T>
    static T* LoadModulePtr(const FName InModuleName)
    {
        return static_cast<T*>(Get().LoadModule(InModuleName));
    }
    template <typename T>
    static T& GetModuleChecked(const FName InModuleName)
    {
        IModuleInterface* Module = Get().GetModule(InModuleName);
        check(Module != nullptr);
        return static_cast<T&>(*Module);
    }
    template <typename T>
    static T* GetModulePtr(const FName InModuleName)
    {
        return static_cast<T*>(Get().GetModule(InModuleName));
    }
    bool StubRegister(const TCHAR* Name, IModuleInterface* (*Make)());
    void StubUnload(const FName InModuleName);
};

// Source: JonasReich/OpenUnrealUtilities Source/OUUUMG/Private/OUUUMGModule.cpp
class FDefaultModuleImpl : public IModuleInterface
{
};

#define IMPLEMENT_MODULE(ModuleImplClass, ModuleName) \
    static const bool bStubRegistered##ModuleName = \
        FModuleManager::Get().StubRegister(TEXT(#ModuleName), [] { return static_cast<IModuleInterface*>(new ModuleImplClass()); }); \
    extern "C" const bool* StubModule##ModuleName(); \
    extern "C" const bool* StubModule##ModuleName() \
    { \
        return &bStubRegistered##ModuleName; \
    }
