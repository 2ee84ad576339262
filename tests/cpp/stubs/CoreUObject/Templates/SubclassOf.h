// TSubclassOf.
// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowSettings.h, NotYetGames/DlgSystem Source/DlgSystem/DlgSystemSettings.h
#pragma once

#include "UObject/Class.h"

// Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Asset/FlowImportUtils.cpp
template <class T>
class TSubclassOf
{
public:
    TSubclassOf() = default;
    TSubclassOf(UClass* From)
        : Held(From)
    {
    }
    template <class U, typename = std::enable_if_t<std::is_base_of_v<T, U>>>
    TSubclassOf(const TSubclassOf<U>& Other)
        : Held(Other.Get())
    {
    }
    UClass* Get() const { return Held != nullptr && Held->IsChildOf(T::StaticClass()) ? Held : nullptr; }
    UClass* operator*() const { return Get(); }
    UClass* operator->() const { return Get(); }
    operator UClass*() const { return Get(); }

private:
    UClass* Held = nullptr;
};
