// The runtime module: loads ZeroMQ's library from the plugin's folder and says what is missing.
#pragma once

#include "CoreMinimal.h"
#include "Modules/ModuleInterface.h"

/// Threading: the game's thread.
class PARLEY_API FParleyModule : public IModuleInterface
{
public:
    virtual void StartupModule() override;
    virtual void ShutdownModule() override;

    /// The module where it is loaded; null before and after.
    static FParleyModule* GetIfLoaded();

    /// ZeroMQ's library is there and whole.
    bool HasLibrary() const
    {
        return Trouble.IsEmpty();
    }

    /// What is missing, in one sentence; empty: nothing is.
    const FString& GetTrouble() const
    {
        return Trouble;
    }

    /// The plugin's folder, whole; empty where it is not known.
    static FString GetPluginFolder();

    /// The folder below the plugin's with the libraries for this machine, whole.
    static FString GetLibraryFolder();

private:
    void LoadZmq();
    void FreeLibraries();

    /// Of those that were loaded, in their order.
    TArray<void*> Handles;
    FString Trouble;
};
