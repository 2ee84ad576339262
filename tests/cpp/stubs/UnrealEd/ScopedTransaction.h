// FScopedTransaction: what it records is in StubTransactions.h.
// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Graph/FlowGraphSchema.cpp (const FScopedTransaction Transaction(LOCTEXT(…)))
#pragma once

#include "CoreMinimal.h"
#include "StubTransactions.h"

#define UNREALED_API DLLEXPORT

// Source: dev.epicgames.com/documentation/en-us/unreal-engine/API/Editor/UnrealEd/FScopedTransaction
class FScopedTransaction
{
public:
    explicit FScopedTransaction(const FText& SessionName, const bool bShouldActuallyTransact = true)
        : bOutstanding(bShouldActuallyTransact && GIsEditor)
    {
        if (bOutstanding)
        {
            StubEngine::Transactions().Begin(SessionName);
        }
    }
    ~FScopedTransaction()
    {
        if (bOutstanding)
        {
            StubEngine::Transactions().End();
        }
    }
    FScopedTransaction(const FScopedTransaction&) = delete;
    FScopedTransaction& operator=(const FScopedTransaction&) = delete;
    void Cancel() { StubEngine::Transactions().Cancel(); }
    bool IsOutstanding() const { return bOutstanding; }

private:
    bool bOutstanding;
};
