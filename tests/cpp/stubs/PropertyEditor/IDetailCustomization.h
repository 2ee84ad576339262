// IDetailCustomization.
// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Public/VoxelCoreEditorMinimal.h
#pragma once

#include "CoreMinimal.h"

#define PROPERTYEDITOR_API DLLEXPORT

class IDetailLayoutBuilder;

// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Public/VoxelEditorUtilities.h
class IDetailCustomization : public TSharedFromThis<IDetailCustomization>
{
public:
    virtual ~IDetailCustomization() = default;
    virtual void PendingDelete() {}
    virtual void CustomizeDetails(IDetailLayoutBuilder& DetailBuilder) = 0;
    virtual void CustomizeDetails(const TSharedPtr<IDetailLayoutBuilder>& DetailBuilder) { CustomizeDetails(*DetailBuilder); }
};
