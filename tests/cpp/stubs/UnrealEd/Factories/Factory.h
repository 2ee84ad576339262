// UFactory.
// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporterEditor/Public/PreImportedSoundFactory.h, MothCocoon/FlowGraph
// Source/FlowEditor/Public/Asset/FlowAssetFactory.h
#pragma once

#include "UObject/Object.h"

class FFeedbackContext;

// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Private/Factories/VoxelFactory.h
class UFactory : public UObject
{
    STUB_CLASS_BODY(UFactory, UObject)
    TSubclassOf<UObject> SupportedClass;
    TArray<FString> Formats;
    /// Who is asked first, where several take files of one ending.
    /// Source: Monocluar/UnLive2D Source/UnLive2DAssetEditor/Private/UnLive2DExpressionFactory.cpp (one above the default, for
    /// another kind of file that ends in .json)
    int32 ImportPriority = 100;
    uint8 bCreateNew = 0;
    uint8 bEditAfterNew = 0;
    uint8 bEditorImport = 0;
    uint8 bText = 0;
    static constexpr int32 DefaultImportPriority = 100;
    virtual bool FactoryCanImport(const FString& Filename) { return false; }
    virtual UObject* FactoryCreateNew(
        UClass* InClass, UObject* InParent, FName InName, EObjectFlags Flags, UObject* Context, FFeedbackContext* Warn)
    {
        return nullptr;
    }
    virtual UObject* FactoryCreateFile(UClass* InClass, UObject* InParent, FName InName, EObjectFlags Flags, const FString& Filename,
        const TCHAR* Parms, FFeedbackContext* Warn, bool& bOutOperationCanceled)
    {
        return nullptr;
    }
    virtual FText GetDisplayName() const { return FText(); }
    virtual FText GetToolTip() const { return FText(); }
    virtual uint32 GetMenuCategories() const { return 0; }
    virtual bool ShouldShowInNewMenu() const { return bCreateNew != 0; }
    virtual bool ConfigureProperties() { return true; }
};
