// FPlatformProcess.
// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Core/GenericPlatform/FGenericPlatformProcess?application_version=5.4
// (and VoxelPlugin/VoxelCore Source/VoxelCore/Public/VoxelRenderDoc.h: GetDllHandle, GetDllExport)
#pragma once

#include "Containers/UnrealString.h"

// Source: ProjectBorealis/UEGitPlugin Source/GitSourceControl/Private/GitSourceControlUtils.cpp
struct CORE_API FPlatformProcess
{
    static void* GetDllHandle(const TCHAR* Filename);
    static void FreeDllHandle(void* DllHandle);
    static void* GetDllExport(void* DllHandle, const TCHAR* ProcName);
    static void PushDllDirectory(const TCHAR* Directory) {}
    static void PopDllDirectory(const TCHAR* Directory) {}
    static void AddDllDirectory(const TCHAR* Directory) {}
    static uint32 GetCurrentProcessId();
    static void Sleep(float Seconds);
    static const TCHAR* BaseDir();
    static const TCHAR* ExecutablePath();
    static const TCHAR* ComputerName();
    static const TCHAR* UserDir();
    static void LaunchURL(const TCHAR* URL, const TCHAR* Parms, FString* Error);
    static void ExploreFolder(const TCHAR* FilePath);
};
