// Whole files.
// Source: ufna/VaRest Source/VaRest/Private/VaRestSubsystem.cpp
#pragma once

#include "HAL/FileManager.h"

// Source: NotYetGames/DlgSystem Source/DlgSystem/IO/DlgJsonParser.cpp, ufna/VaRest Source/VaRest/Private/VaRestSubsystem.cpp
struct CORE_API FFileHelper
{
    // Source: ProjectBorealis/UEGitPlugin Source/GitSourceControl/Private/SGitSourceControlSettings.cpp
    enum class EEncodingOptions
    {
        AutoDetect,
        ForceAnsi,
        ForceUnicode,
        ForceUTF8,
        ForceUTF8WithoutBOM
    };
    static bool LoadFileToArray(TArray<uint8>& Result, const TCHAR* Filename, uint32 Flags = 0);
    static bool LoadFileToString(FString& Result, const TCHAR* Filename);
    static bool SaveArrayToFile(const TArray<uint8>& Array, const TCHAR* Filename,
        IFileManager* FileManager = &IFileManager::Get(), uint32 WriteFlags = 0);
    static bool SaveStringToFile(const FString& String, const TCHAR* Filename,
        EEncodingOptions EncodingOptions = EEncodingOptions::AutoDetect, IFileManager* FileManager = &IFileManager::Get(),
        uint32 WriteFlags = 0);
};
