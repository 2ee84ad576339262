// Walking all objects of a class.
// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgManager.cpp
#pragma once

#include "UObject/UObjectGlobals.h"

// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgManager.cpp (TObjectIterator)
template <class T>
class TObjectIterator
{
public:
    TObjectIterator()
    {
        if constexpr (std::is_same_v<T, UClass>)
        {
            All = StubEngine::AllClasses();
        }
        else
        {
            for (UObject* Object : StubEngine::AllObjects())
            {
                if (Object->IsA(T::StaticClass()) && !Object->HasAnyFlags(RF_ClassDefaultObject))
                {
                    All.Add(static_cast<T*>(Object));
                }
            }
        }
    }
    explicit operator bool() const { return At < All.Num(); }
    TObjectIterator& operator++()
    {
        ++At;
        return *this;
    }
    T* operator*() const { return All[At]; }
    T* operator->() const { return All[At]; }

private:
    TArray<T*> All;
    int32 At = 0;
};
template <class T>
using TObjectRange = TObjectIterator<T>;
