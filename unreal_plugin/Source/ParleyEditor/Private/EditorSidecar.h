// The one sidecar that all panels of the editor share.
#pragma once

#include "Models/RowBuilder.h"

#include "Containers/Ticker.h"
#include "CoreMinimal.h"
#include "Delegates/DelegateCombinations.h"

#include <memory>
#include <vector>

namespace Parley
{
class ParleyCore;
}

DECLARE_MULTICAST_DELEGATE(FParleyEditorChanged);

/// Starts a sidecar for the editor when a panel first needs it. It is not the game's: a game that plays has its own.
/// Threading: the game thread.
class FParleyEditorSidecar
{
public:
    /// Milliseconds of an editor's frame that its messages may take.
    static constexpr double BudgetMs = 4.0;

    FParleyEditorSidecar();
    FParleyEditorSidecar(const FParleyEditorSidecar&) = delete;
    FParleyEditorSidecar& operator=(const FParleyEditorSidecar&) = delete;
    /// Ends the sidecar, in less than a second.
    ~FParleyEditorSidecar();

    /// The module's; null while the module is not loaded.
    static FParleyEditorSidecar* Get();

    /// The core; null while no panel needed one.
    const std::shared_ptr<Parley::ParleyCore>& GetRunning() const
    {
        return Core;
    }

    /// The core, with its sidecar starting. Null, with the reason, where the settings name none that could be started.
    std::shared_ptr<Parley::ParleyCore> Start(FString& Fault);

    /// Ends the sidecar, in less than a second.
    void Stop();

    /// What the sidecar logged last, oldest first.
    const TArray<FString>& GetLog() const
    {
        return Log;
    }

    /// The models as far as they are known; none until a sidecar said so.
    const std::vector<Parley::Editor::KnownModel>& GetModels() const
    {
        return Models;
    }

    /// Takes a list of models that came.
    void TakeModels(std::vector<Parley::Editor::KnownModel> Known);

    /// Asks the sidecar that runs for its models; without one nothing happens.
    void AskModels();

    /// Other models are known, or a sidecar is there or gone.
    FParleyEditorChanged OnChanged;

    /// The folder of the files that workflows name, whole, with `/`; empty: none is set, or what is set is no path.
    static FString GetStorageFolder();

private:
    bool Tick(float DeltaSeconds);
    void Configure();

    std::shared_ptr<Parley::ParleyCore> Core;
    std::shared_ptr<bool> Life = std::make_shared<bool>(true);
    std::vector<Parley::Editor::KnownModel> Models;
    TArray<FString> Log;
    FTSTicker::FDelegateHandle Ticker;
};
