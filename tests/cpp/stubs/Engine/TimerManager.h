// FTimerManager: a test lets its time pass.
// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Private/CesiumSunSky.cpp
#pragma once

#include "Engine/EngineTypes.h"

typedef TDelegate<void()> FTimerDelegate;

// Source: JonasReich/OpenUnrealUtilities Source/OUUTestUtilities/Public/AutomationTestWorld.h
class FTimerManager
{
public:
    void SetTimer(FTimerHandle& Handle, FTimerDelegate const& Delegate, float Rate, bool bLoop = false, float FirstDelay = -1.f)
    {
        ClearTimer(Handle);
        Handle.Id = ++Last;
        StubTimers.Add({Handle.Id, Delegate, Rate, FirstDelay >= 0.f ? FirstDelay : Rate, bLoop});
    }
    template <class U>
    void SetTimer(FTimerHandle& Handle, U* Object, void (U::*Method)(), float Rate, bool bLoop = false, float FirstDelay = -1.f)
    {
        SetTimer(Handle, FTimerDelegate::CreateUObject(Object, Method), Rate, bLoop, FirstDelay);
    }
    FTimerHandle SetTimerForNextTick(FTimerDelegate const& Delegate)
    {
        FTimerHandle Handle;
        SetTimer(Handle, Delegate, 0.f);
        return Handle;
    }
    void ClearTimer(FTimerHandle& Handle)
    {
        StubTimers.RemoveAll([&Handle](const FTimer& One) { return One.Id == Handle.Id; });
        Handle.Invalidate();
    }
    bool IsTimerActive(FTimerHandle Handle) const
    {
        return StubTimers.ContainsByPredicate([&Handle](const FTimer& One) { return One.Id == Handle.Id; });
    }
    void StubPass(float Seconds)
    {
        const TArray<FTimer> Kept = StubTimers;
        for (const FTimer& One : Kept)
        {
            FTimer* Now = StubTimers.FindByPredicate([&One](const FTimer& Other) { return Other.Id == One.Id; });
            if (Now == nullptr)
            {
                continue;
            }
            Now->Left -= Seconds;
            if (Now->Left <= 0.f)
            {
                if (Now->bLoop)
                {
                    Now->Left = Now->Rate;
                }
                else
                {
                    StubTimers.RemoveAll([&One](const FTimer& Other) { return Other.Id == One.Id; });
                }
                One.Delegate.ExecuteIfBound();
            }
        }
    }

private:
    struct FTimer
    {
        uint64 Id;
        FTimerDelegate Delegate;
        float Rate;
        float Left;
        bool bLoop;
    };
    TArray<FTimer> StubTimers;
    uint64 Last = 0;
};
