// What the editor module told other modules, and how to take exactly that back.
#pragma once

#include "CoreMinimal.h"

/// Registrations of one module. Threading: the game thread.
class FParleyRegistrations
{
public:
    FParleyRegistrations() = default;
    FParleyRegistrations(const FParleyRegistrations&) = delete;
    FParleyRegistrations& operator=(const FParleyRegistrations&) = delete;

    /// Remembers one. `Undo` looks first whether the other module is still there: at shutdown it may have gone before.
    void Add(const FString& What, TFunction<void()> Undo);

    /// Takes all back, the last first; nothing is left to take back twice.
    void UndoAll();

    /// What is registered, in the order in which it was.
    TArray<FString> GetNames() const;

private:
    struct FEntry
    {
        FString What;
        TFunction<void()> Undo;
    };

    TArray<FEntry> Entries;
};
