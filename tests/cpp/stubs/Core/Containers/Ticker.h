// FTSTicker: Tick is called by a test.
// Source: getnamo/Llama-Unreal Source/LlamaCore/Public/LlamaNative.h
#pragma once

#include "Delegates/Delegate.h"

typedef TDelegate<bool(float)> FTickerDelegate;

// Source: getnamo/Llama-Unreal Source/LlamaCore/Private/LlamaNative.cpp (GetCoreTicker().AddTicker, RemoveTicker)
class CORE_API FTSTicker
{
public:
    // Source: VoxelPlugin/VoxelCore Source/VoxelCore/Public/VoxelMinimal/Containers/VoxelMap.h
    struct FElement
    {
        FTickerDelegate Delegate;
        float Delay = 0;
        float Left = 0;
        bool bRemoved = false;
    };
    using FDelegateHandle = TWeakPtr<FElement>;
    static FTSTicker& GetCoreTicker();
    FDelegateHandle AddTicker(const FTickerDelegate& InDelegate, float InDelay = 0.0f);
    FDelegateHandle AddTicker(const TCHAR* InName, float InDelay, TFunction<bool(float)> Function)
    {
        return AddTicker(FTickerDelegate::CreateLambda(Function), InDelay);
    }
    static void RemoveTicker(FDelegateHandle Handle);
    void Tick(float DeltaTime);
    int32 StubNum() const { return Elements.Num(); }

private:
    TArray<TSharedPtr<FElement>> Elements;
    bool bTicking = false;
};
