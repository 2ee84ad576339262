// IFileManager: the disk.
// Source: ProjectBorealis/UEGitPlugin Source/GitSourceControl/Private/GitSourceControlUtils.cpp
#pragma once

#include "Containers/UnrealString.h"
#include "Misc/DateTime.h"

// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Core/HAL/IFileManager/Move?application_version=5.3
// (and IFileManager/Copy?application_version=5.4), VoxelPlugin/VoxelCore
// Source/VoxelCore/Private/VoxelMinimal/Utilities/VoxelSystemUtilities.cpp (Delete, FileSize,
// GetTimeStamp, FindFilesRecursive)
class CORE_API IFileManager
{
public:
    static IFileManager& Get();
    bool Delete(const TCHAR* Filename, bool RequireExists = false, bool EvenReadOnly = false, bool Quiet = false);
    bool DeleteDirectory(const TCHAR* Path, bool RequireExists = false, bool Tree = false);
    bool MakeDirectory(const TCHAR* Path, bool Tree = false);
    bool Move(const TCHAR* Dest, const TCHAR* Src, bool Replace = true, bool EvenIfReadOnly = false, bool Attributes = false,
        bool bDoNotRetryOrError = false);
    uint32 Copy(const TCHAR* Dest, const TCHAR* Src, bool Replace = true, bool EvenIfReadOnly = false, bool Attributes = false);
    bool FileExists(const TCHAR* Filename);
    bool DirectoryExists(const TCHAR* Path);
    int64 FileSize(const TCHAR* Filename);
    FDateTime GetTimeStamp(const TCHAR* Filename);
    bool IsReadOnly(const TCHAR* Filename);
    void FindFiles(TArray<FString>& FileNames, const TCHAR* Filename, bool Files, bool Directories);
    void FindFilesRecursive(TArray<FString>& FileNames, const TCHAR* StartDirectory, const TCHAR* Filename, bool Files,
        bool Directories, bool bClearFileNames = true);
    FString ConvertToAbsolutePathForExternalAppForRead(const TCHAR* Filename);
    FString ConvertToAbsolutePathForExternalAppForWrite(const TCHAR* Filename);
};
