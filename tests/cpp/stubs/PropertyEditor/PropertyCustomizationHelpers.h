// SObjectPropertyEntryBox.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Utils/SLevelEditorFlow.cpp (AllowedClass, ObjectPath, OnObjectChanged)
#pragma once

#include "AssetRegistry/AssetData.h"
#include "Widgets/DeclarativeSyntaxSupport.h"

DECLARE_DELEGATE_OneParam(FOnSetObject, const FAssetData&)

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Utils/SLevelEditorFlow.cpp
class SObjectPropertyEntryBox : public SWidget
{
public:
    SLATE_BEGIN_ARGS(SObjectPropertyEntryBox) {}
        SLATE_ARGUMENT(UClass*, AllowedClass)
        SLATE_ATTRIBUTE(FString, ObjectPath)
        SLATE_EVENT(FOnSetObject, OnObjectChanged)
        SLATE_ARGUMENT(TOptional<bool>, AllowClear)
        SLATE_ARGUMENT(TOptional<bool>, DisplayThumbnail)
        SLATE_ARGUMENT(bool, DisplayBrowse)
    SLATE_END_ARGS()
    void Construct(const FArguments&) {}
    void StubChoose(UObject* Object) { StubArgs._OnObjectChanged.ExecuteIfBound(FAssetData(Object)); }
};
