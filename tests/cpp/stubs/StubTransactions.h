// What FScopedTransaction and Modify recorded: for tests, which also undo with it. No header of the engine.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Graph/FlowGraphSchema.cpp (FScopedTransaction)
#pragma once

#include "UObject/UObjectGlobals.h"

namespace StubEngine
{
/// An object that called Modify, and its UPROPERTYs from before.
// Source: BenPyton/ProceduralDungeon Source/ProceduralDungeon/Private/Room.cpp
struct FRecord
{
    TWeakObjectPtr<UObject> Object;
    TArray<std::shared_ptr<void>> Before;
};
/// What one outermost scope recorded.
struct FTransaction
{
    FText Title;
    TArray<FRecord> Records;
};
/// All that was recorded, and what the stubs do at the ends of a scope.
struct COREUOBJECT_API FTransactions
{
    /// Outermost scopes that were opened, whether they changed something or not.
    int32 Begun = 0;
    int32 Depth = 0;
    int32 Deepest = 0;
    TArray<FTransaction> Done;
    TArray<FTransaction> Undone;
    /// Objects that called Modify inside a transaction without RF_Transactional: they would not be undone.
    TArray<FString> NotTransactional;
    /// Called after each undo (true) and redo (false).
    TArray<TFunction<void(bool)>> Listeners;

    int32 Begin(const FText& Title);
    void End();
    void Cancel();
    void Record(UObject* Object);
    bool Undo();
    bool Redo();

private:
    FTransaction Open;
    bool bCancelled = false;
};
COREUOBJECT_API FTransactions& Transactions();
} // namespace StubEngine
