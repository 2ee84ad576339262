// Loads ZeroMQ's library: nothing is linked with it, so that the editor starts also where it is missing.
#include "ParleyModule.h"

#include "Core/Threads.h"
#include "HAL/FileManager.h"
#include "HAL/PlatformProcess.h"
#include "Interfaces/IPluginManager.h"
#include "Misc/CoreMisc.h"
#include "Misc/Paths.h"
#include "Modules/ModuleManager.h"
#include "ParleyLibrary.h"
#include "ParleyLog.h"
#include "ParleyPlays.h"
#include "ParleyText.h"

namespace ParleyModuleLocal
{

constexpr int32 ThreadsMs = 3000;

/// Its name begins so on every system.
bool IsZmq(const FString& File)
{
    return File.StartsWith(TEXT("libzmq"));
}

bool IsLibrary(const FString& File)
{
    // A library of Linux may have its version behind its ending.
    return File.EndsWith(TEXT(".dll")) || File.EndsWith(TEXT(".dylib")) || File.EndsWith(TEXT(".so")) || File.Contains(TEXT(".so."));
}

} // namespace ParleyModuleLocal

void FParleyModule::StartupModule()
{
    LoadZmq();
    if (!Trouble.IsEmpty() && IsRunningCommandlet())
    {
        // A commandlet such as the cook fails where an error is logged, and needs no library.
        UE_LOG(LogParley, Warning, TEXT("%s"), *Trouble);
    }
    else if (!Trouble.IsEmpty())
    {
        UE_LOG(LogParley, Error, TEXT("%s"), *Trouble);
    }
}

void FParleyModule::ShutdownModule()
{
    Parley::EndKeptPlays();
    // Threads of the core run its code, which goes with this module.
    if (!Parley::Threads::WaitForAll(ParleyModuleLocal::ThreadsMs))
    {
        UE_LOG(LogParley, Warning, TEXT("a thread of Parley's has not ended; its library stays loaded"));
        return;
    }
    Parley::SetLibrary(nullptr, TEXT("Parley's module is not loaded any more."));
    FreeLibraries();
}

FParleyModule* FParleyModule::GetIfLoaded()
{
    return FModuleManager::GetModulePtr<FParleyModule>(TEXT("Parley"));
}

FString FParleyModule::GetPluginFolder()
{
    const TSharedPtr<IPlugin> Plugin = IPluginManager::Get().FindPlugin(TEXT("Parley"));
    return Plugin.IsValid() ? FPaths::ConvertRelativePathToFull(Plugin->GetBaseDir()) : FString();
}

FString FParleyModule::GetLibraryFolder()
{
#if PLATFORM_WINDOWS
    const TCHAR* Platform = TEXT("Win64");
#elif PLATFORM_MAC
    const TCHAR* Platform = TEXT("Mac");
#else
    const TCHAR* Platform = TEXT("Linux");
#endif
    return FPaths::Combine(GetPluginFolder(), TEXT("Source/ThirdParty/libzmq"), Platform);
}

void FParleyModule::LoadZmq()
{
    const FString Folder = GetLibraryFolder();
    TArray<FString> Files;
    IFileManager::Get().FindFiles(Files, *FPaths::Combine(Folder, TEXT("*")), true, false);
    Files.Sort();
    FString Zmq;
    for (const FString& File : Files)
    {
        Zmq = Zmq.IsEmpty() && ParleyModuleLocal::IsZmq(File) && ParleyModuleLocal::IsLibrary(File) ? File : Zmq;
    }
    if (Zmq.IsEmpty())
    {
        Trouble = FString::Printf(
            TEXT("ZeroMQ's library is not in %s; take the plugin as `parley package unreal --out DIR` makes it."), *Folder);
        Parley::SetLibrary(nullptr, Trouble);
        return;
    }
    // What it needs lies beside it, where the system does not look. In whatever order they need each other: one that cannot be
    // loaded yet is tried again when the others are.
    FPlatformProcess::PushDllDirectory(*Folder);
    TArray<FString> Others = Files.FilterByPredicate(
        [&Zmq](const FString& File) { return ParleyModuleLocal::IsLibrary(File) && File != Zmq; });
    for (int32 Round = Others.Num(); Round > 0 && Others.Num() > 0; Round--)
    {
        for (int32 Index = Others.Num() - 1; Index >= 0; Index--)
        {
            if (void* Handle = FPlatformProcess::GetDllHandle(*FPaths::Combine(Folder, Others[Index])))
            {
                Handles.Add(Handle);
                Others.RemoveAt(Index);
            }
        }
    }
    const FString Path = FPaths::Combine(Folder, Zmq);
    void* Library = FPlatformProcess::GetDllHandle(*Path);
    FPlatformProcess::PopDllDirectory(*Folder);
    if (Library == nullptr)
    {
        Trouble = FString::Printf(
            TEXT("ZeroMQ's library %s cannot be loaded%s; take the plugin as `parley package unreal --out DIR` makes it."),
            *Path,
            Others.Num() > 0 ? *FString::Printf(TEXT(", nor can %s"), *Others[0]) : TEXT(""));
        Parley::SetLibrary(nullptr, Trouble);
        FreeLibraries();
        return;
    }
    Handles.Add(Library);
    Parley::Fault Why;
    std::shared_ptr<const Parley::ZmqApi> Api = Parley::ZmqApi::Fill(
        [Library](const char* Name) { return FPlatformProcess::GetDllExport(Library, ANSI_TO_TCHAR(Name)); },
        Parley::ToUtf8(Path),
        Why);
    Trouble = Api ? FString() : Parley::ToFString(Why.Text);
    Parley::SetLibrary(Api, Trouble);
    if (!Api)
    {
        FreeLibraries();
    }
}

void FParleyModule::FreeLibraries()
{
    for (int32 Index = Handles.Num() - 1; Index >= 0; Index--)
    {
        FPlatformProcess::FreeDllHandle(Handles[Index]);
    }
    Handles.Reset();
}

IMPLEMENT_MODULE(FParleyModule, Parley)
