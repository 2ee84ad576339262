// FPaths. The project's folder is StubEngine::ProjectFolder().
// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Private/CesiumRuntime.cpp, ProjectBorealis/UEGitPlugin
// Source/GitSourceControl/Private/GitSourceControlUtils.cpp
#pragma once

#include "Containers/UnrealString.h"

namespace StubEngine
{
CORE_API FString& ProjectFolder();
CORE_API FString& PlayerFolder();
} // namespace StubEngine

// Source: ProjectBorealis/UEGitPlugin Source/GitSourceControl/Private/GitSourceControlProvider.cpp, NotYetGames/DlgSystem
// Source/DlgSystem/DlgManager.cpp
class CORE_API FPaths
{
public:
    /// Folders of the project are no whole paths: they count from the engine's folder, as ConvertRelativePathToFull with one
    /// argument does, and not where it is given them as a base.
    static FString ProjectDir();
    static FString ProjectContentDir();
    static FString ProjectConfigDir();
    static FString ProjectSavedDir();
    static FString ProjectIntermediateDir();
    static FString ProjectPluginsDir();
    static FString ProjectPersistentDownloadDir();
    static FString ProjectLogDir();
    static FString ProjectUserDir();
    static FString EngineDir();
    static FString RootDir();
    static FString LaunchDir();
    static FString GetPath(const FString& InPath);
    static FString GetCleanFilename(const FString& InPath);
    static FString GetBaseFilename(const FString& InPath, bool bRemovePath = true);
    static FString GetExtension(const FString& InPath, bool bIncludeDot = false);
    static FString GetPathLeaf(const FString& InPath);
    static FString ChangeExtension(const FString& InPath, const FString& InNewExtension);
    static FString SetExtension(const FString& InPath, const FString& InNewExtension);
    static bool FileExists(const FString& InPath);
    static bool DirectoryExists(const FString& InPath);
    static bool IsRelative(const FString& InPath);
    static bool IsUnderDirectory(const FString& InPath, const FString& InDirectory);
    static void NormalizeFilename(FString& InPath);
    static void NormalizeDirectoryName(FString& InPath);
    static bool CollapseRelativeDirectories(FString& InPath);
    static bool MakePathRelativeTo(FString& InPath, const TCHAR* InRelativeTo);
    static FString ConvertRelativePathToFull(const FString& InPath);
    static FString ConvertRelativePathToFull(const FString& BasePath, const FString& InPath);
    static bool IsSamePath(const FString& PathA, const FString& PathB);
    template <typename... A>
    static FString Combine(const FString& First, const A&... Others)
    {
        FString Made = First;
        ((Made = Made / FString(Others)), ...);
        return Made;
    }
    template <typename... A>
    static FString Combine(const TCHAR* First, const A&... Others)
    {
        return Combine(FString(First), Others...);
    }
};
