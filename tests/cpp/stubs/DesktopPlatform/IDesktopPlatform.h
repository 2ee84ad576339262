// The file dialogs: they answer what a test put there.
// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Private/VoxelMinimal/Utilities/VoxelSystemUtilities.cpp
#pragma once

#include "CoreMinimal.h"

// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Private/Details/VoxelShaderHooksSettingsCustomization.cpp
namespace EFileDialogFlags
{
// Source: VoxelPlugin/VoxelCore Source/VoxelCoreEditor/Private/Details/VoxelShaderHooksSettingsCustomization.cpp
enum Type
{
    None = 0x00,
    Multiple = 0x01
};
} // namespace EFileDialogFlags

// Source: VoxelPlugin/VoxelCore Source/VoxelCore/Private/VoxelMinimal/Utilities/VoxelSystemUtilities.cpp
class IDesktopPlatform
{
public:
    virtual ~IDesktopPlatform() = default;
    bool OpenFileDialog(const void* ParentWindowHandle, const FString& DialogTitle, const FString& DefaultPath,
        const FString& DefaultFile, const FString& FileTypes, uint32 Flags, TArray<FString>& OutFilenames)
    {
        return StubGive(OutFilenames);
    }
    bool SaveFileDialog(const void* ParentWindowHandle, const FString& DialogTitle, const FString& DefaultPath,
        const FString& DefaultFile, const FString& FileTypes, uint32 Flags, TArray<FString>& OutFilenames)
    {
        StubSuggested = DefaultFile;
        return StubGive(OutFilenames);
    }
    bool OpenDirectoryDialog(
        const void* ParentWindowHandle, const FString& DialogTitle, const FString& DefaultPath, FString& OutFolderName)
    {
        OutFolderName = StubAnswer;
        return !StubAnswer.IsEmpty();
    }
    /// Empty: the person cancels.
    FString StubAnswer;
    FString StubSuggested;

private:
    bool StubGive(TArray<FString>& Out)
    {
        if (!StubAnswer.IsEmpty())
        {
            Out.Add(StubAnswer);
        }
        return !StubAnswer.IsEmpty();
    }
};
