// IAssetRegistry: finds every object of a class whose outer is a package.
// Source: JonasReich/OpenUnrealUtilities Source/OUUEditor/Private/OUUEditorModule.cpp, MothCocoon/FlowGraph
// Source/FlowEditor/Private/Graph/FlowGraphSchema.cpp (GetAssetsByClass)
#pragma once

#include "AssetRegistry/AssetData.h"
#include "UObject/TopLevelAssetPath.h"
#include "UObject/UObjectIterator.h"

// Source: JonasReich/OpenUnrealUtilities Source/OUUEditor/Private/OUUEditorModule.cpp
class IAssetRegistry
{
public:
    static IAssetRegistry& GetChecked()
    {
        static IAssetRegistry Only;
        return Only;
    }
    static IAssetRegistry* Get() { return &GetChecked(); }
    bool GetAssetsByClass(FTopLevelAssetPath ClassPathName, TArray<FAssetData>& OutAssetData, bool bSearchSubClasses = false) const
    {
        for (UObject* Object : StubEngine::AllObjects())
        {
            bool bIs = false;
            for (const UClass* Class = Object->GetClass(); Class != nullptr; Class = bSearchSubClasses ? Class->GetSuperClass() : nullptr)
            {
                bIs = bIs || Class->GetFName() == ClassPathName.GetAssetName();
            }
            if (bIs && Object->IsAsset())
            {
                OutAssetData.Add(FAssetData(Object));
            }
        }
        return true;
    }
    bool IsLoadingAssets() const { return false; }
    static void AssetCreated(UObject* NewAsset) {}
};
