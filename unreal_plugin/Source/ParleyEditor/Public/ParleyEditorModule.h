// The editor module: tells the editor of workflows, casts and tabs, and takes exactly that back.
#pragma once

#include "CoreMinimal.h"
#include "Modules/ModuleInterface.h"
#include "Templates/SharedPointer.h"

class FParleyEditorSidecar;
class FParleyRegistrations;

/// Threading: the game's thread.
class PARLEYEDITOR_API FParleyEditorModule : public IModuleInterface
{
public:
    FParleyEditorModule();
    virtual ~FParleyEditorModule() override;

    virtual void StartupModule() override;
    virtual void ShutdownModule() override;

    /// The module where it is loaded; null before and after.
    static FParleyEditorModule* GetIfLoaded();

    /// The sidecar that the panels share; null before StartupModule and after ShutdownModule.
    FParleyEditorSidecar* GetSidecar() const
    {
        return Sidecar.Get();
    }

    /// What is registered with other modules, in the order in which it was.
    TArray<FString> GetRegistrations() const;

private:
    void RegisterDetails();
    void RegisterAssets();

    TSharedPtr<FParleyRegistrations> Registrations;
    TSharedPtr<FParleyEditorSidecar> Sidecar;
};
