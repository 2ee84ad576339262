// USubsystem and the collection that makes them.
// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowSubsystem.h, MothCocoon/FlowGraph
// Source/Flow/Private/FlowSubsystem.cpp (ShouldCreateSubsystem, Initialize, Deinitialize)
#pragma once

#include "UObject/Object.h"

class USubsystem;

// Source: MothCocoon/FlowGraph Source/Flow/Private/FlowSubsystem.cpp (Initialize(FSubsystemCollectionBase& Collection))
class FSubsystemCollectionBase
{
public:
    template <class T>
    T* InitializeDependency()
    {
        return nullptr;
    }
};

// Source: ufna/VaRest Source/VaRest/Public/VaRestSubsystem.h
class ENGINE_API USubsystem : public UObject
{
    STUB_CLASS_BODY(USubsystem, UObject)
    virtual bool ShouldCreateSubsystem(UObject* Outer) const { return true; }
    virtual void Initialize(FSubsystemCollectionBase& Collection) {}
    virtual void Deinitialize() {}
};
