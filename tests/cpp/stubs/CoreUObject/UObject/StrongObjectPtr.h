// TStrongObjectPtr.
// Source: BenPyton/ProceduralDungeon Source/ProceduralDungeon/Public/DungeonGraph.h
#pragma once

#include "UObject/GCObject.h"

// Source: BenPyton/ProceduralDungeon Source/ProceduralDungeon/Public/DungeonGraph.h
template <class T>
class TStrongObjectPtr : private FGCObject
{
public:
    TStrongObjectPtr() = default;
    explicit TStrongObjectPtr(T* Object)
        : Held(Object)
    {
    }
    T* Get() const { return Held; }
    bool IsValid() const { return Held != nullptr; }
    explicit operator bool() const { return IsValid(); }
    T* operator->() const { return Held; }
    T& operator*() const { return *Held; }
    void Reset(T* Object = nullptr) { Held = Object; }

private:
    void AddReferencedObjects(FReferenceCollector& Collector) override { Collector.AddReferencedObject(Held); }
    FString GetReferencerName() const override { return TEXT("TStrongObjectPtr"); }
    T* Held = nullptr;
};
