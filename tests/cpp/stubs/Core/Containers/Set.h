// TSet.
// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgDialogue.h, MothCocoon/FlowGraph Source/Flow/Public/FlowSubsystem.h
#pragma once

#include "Containers/Map.h"

// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgDialogue.h (TSet<FName>)
template <typename T, typename Allocator = FDefaultSetAllocator>
class TSet
{
public:
    TSet() = default;
    TSet(std::initializer_list<T> New)
    {
        for (const T& Item : New)
        {
            Add(Item);
        }
    }
    explicit TSet(const TArray<T>& New) { Append(New); }
    int32 Num() const { return Items.Num(); }
    bool IsEmpty() const { return Num() == 0; }
    void Empty(int32 = 0) { Items.Clear(); }
    void Reset() { Items.Clear(); }
    void Reserve(int32) {}
    void Add(const T& Item, bool* bIsAlreadyInSet = nullptr)
    {
        (void)GetTypeHash(Item);
        const bool bThere = Contains(Item);
        if (!bThere)
        {
            Items.Add(T(Item));
        }
        if (bIsAlreadyInSet != nullptr)
        {
            *bIsAlreadyInSet = bThere;
        }
    }
    void Append(const TArray<T>& New)
    {
        for (const T& Item : New)
        {
            Add(Item);
        }
    }
    void Append(const TSet& New)
    {
        for (const T& Item : New)
        {
            Add(Item);
        }
    }
    template <typename K>
    bool Contains(const K& Item) const
    {
        for (const T& Other : *this)
        {
            if (Other == Item)
            {
                return true;
            }
        }
        return false;
    }
    template <typename K>
    int32 Remove(const K& Item)
    {
        for (auto At = Items.begin(); At != Items.end(); ++At)
        {
            if (*At == Item)
            {
                Items.RemoveSlot(At.At);
                return 1;
            }
        }
        return 0;
    }
    TArray<T> Array() const
    {
        TArray<T> All;
        for (const T& Item : *this)
        {
            All.Add(Item);
        }
        return All;
    }
    auto begin() const { return Items.begin(); }
    auto end() const { return Items.end(); }

private:
    StubEngine::TSparse<T> Items;
};
