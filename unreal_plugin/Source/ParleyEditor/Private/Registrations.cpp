// What the editor module told other modules, and how to take exactly that back.
#include "Registrations.h"

void FParleyRegistrations::Add(const FString& What, TFunction<void()> Undo)
{
    FEntry Entry;
    Entry.What = What;
    Entry.Undo = MoveTemp(Undo);
    Entries.Add(MoveTemp(Entry));
}

void FParleyRegistrations::UndoAll()
{
    TArray<FEntry> Undone = MoveTemp(Entries);
    Entries.Reset();
    for (int32 At = Undone.Num() - 1; At >= 0; --At)
    {
        Undone[At].Undo();
    }
}

TArray<FString> FParleyRegistrations::GetNames() const
{
    TArray<FString> Names;
    for (const FEntry& Entry : Entries)
    {
        Names.Add(Entry.What);
    }
    return Names;
}
