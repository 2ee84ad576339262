// References of what is no UObject.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Public/Asset/FlowAssetEditor.h (FGCObject, GetReferencerName)
#pragma once

#include "UObject/UObjectGlobals.h"

// Source: MothCocoon/FlowGraph Source/FlowEditor/Public/Asset/FlowAssetEditor.h
class COREUOBJECT_API FGCObject
{
public:
    FGCObject();
    FGCObject(const FGCObject&);
    virtual ~FGCObject();
    virtual void AddReferencedObjects(FReferenceCollector& Collector) = 0;
    virtual FString GetReferencerName() const = 0;
};
