// TArray.
// Source: MothCocoon/FlowGraph Source/Flow/Private/FlowAsset.cpp, NotYetGames/DlgSystem Source/DlgSystem/DlgDialogue.cpp
#pragma once

#include "HAL/Platform.h"
#include "Misc/AssertionMacros.h"
#include "Templates/UnrealTemplate.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>

// Source: JonasReich/OpenUnrealUtilities Source/OUURuntime/Public/Templates/CircularAggregator.h
class FDefaultAllocator;

// Source: BenPyton/ProceduralDungeon Source/ProceduralDungeon/Public/DungeonOctree.h
template <uint32 NumInlineElements>
class TInlineAllocator;

// (From 5.4 on EAllowShrinking is in the place of a bool: CesiumGS/cesium-unreal
// Source/CesiumRuntime/Private/CesiumGltfGaussianSplatComponent.cpp; the plugin calls the forms that both have.)
// Source: gtreshchev/RuntimeAudioImporter Source/RuntimeAudioImporter/Private/RuntimeAudioImporterLibrary.cpp
template <typename T, typename Allocator = FDefaultAllocator>
class TArray
{
public:
    using ElementType = T;
    using SizeType = int32;

    TArray() = default;
    TArray(const T* Items, int32 Many) { Append(Items, Many); }
    TArray(std::initializer_list<T> Items) { Append(Items.begin(), static_cast<int32>(Items.size())); }
    TArray(const TArray& Other) { Append(Other.Data, Other.Count); }
    TArray(TArray&& Other) noexcept { Take(Other); }
    template <typename OtherAllocator>
    explicit TArray(const TArray<T, OtherAllocator>& Other)
    {
        Append(Other.GetData(), Other.Num());
    }
    ~TArray() { Free(); }
    TArray& operator=(const TArray& Other)
    {
        if (this != &Other)
        {
            TArray Copy(Other);
            Free();
            Take(Copy);
        }
        return *this;
    }
    TArray& operator=(TArray&& Other) noexcept
    {
        if (this != &Other)
        {
            Free();
            Take(Other);
        }
        return *this;
    }
    TArray& operator=(std::initializer_list<T> Items)
    {
        Reset();
        Append(Items.begin(), static_cast<int32>(Items.size()));
        return *this;
    }

    int32 Num() const { return Count; }
    int32 Max() const { return Room; }
    bool IsEmpty() const { return Count == 0; }
    bool IsValidIndex(int32 Index) const { return Index >= 0 && Index < Count; }
    T* GetData() { return Data; }
    const T* GetData() const { return Data; }
    static constexpr uint32 GetTypeSize() { return sizeof(T); }

    T& operator[](int32 Index)
    {
        check(IsValidIndex(Index));
        return Data[Index];
    }
    const T& operator[](int32 Index) const
    {
        check(IsValidIndex(Index));
        return Data[Index];
    }
    T& Last(int32 FromTheEnd = 0) { return (*this)[Count - FromTheEnd - 1]; }
    const T& Last(int32 FromTheEnd = 0) const { return (*this)[Count - FromTheEnd - 1]; }
    T& Top() { return Last(); }

    int32 Add(const T& Item) { return Emplace(Item); }
    int32 Add(T&& Item) { return Emplace(static_cast<T&&>(Item)); }
    T& Add_GetRef(const T& Item) { return (*this)[Add(Item)]; }
    T& Add_GetRef(T&& Item) { return (*this)[Add(static_cast<T&&>(Item))]; }
    int32 AddUnique(const T& Item)
    {
        const int32 Found = Find(Item);
        return Found != INDEX_NONE ? Found : Add(Item);
    }
    template <typename... A>
    int32 Emplace(A&&... Arguments)
    {
        if (Count == Room)
        {
            // What is added may lie in the array itself.
            T Kept(std::forward<A>(Arguments)...);
            Grow(Count + 1);
            ::new (static_cast<void*>(Data + Count)) T(static_cast<T&&>(Kept));
        }
        else
        {
            ::new (static_cast<void*>(Data + Count)) T(std::forward<A>(Arguments)...);
        }
        return Count++;
    }
    template <typename... A>
    T& Emplace_GetRef(A&&... Arguments)
    {
        return (*this)[Emplace(std::forward<A>(Arguments)...)];
    }
    T& AddDefaulted_GetRef() { return Emplace_GetRef(); }
    int32 AddDefaulted(int32 More = 1)
    {
        const int32 First = Count;
        SetNum(Count + More);
        return First;
    }
    int32 AddUninitialized(int32 More = 1)
    {
        static_assert(std::is_trivially_destructible_v<T>, "AddUninitialized of what has a destructor");
        const int32 First = Count;
        Grow(Count + More);
        Count += More;
        return First;
    }
    int32 AddZeroed(int32 More = 1)
    {
        const int32 First = AddUninitialized(More);
        std::memset(static_cast<void*>(Data + First), 0, sizeof(T) * static_cast<std::size_t>(More));
        return First;
    }
    void Push(const T& Item) { Add(Item); }
    void Push(T&& Item) { Add(static_cast<T&&>(Item)); }
    T Pop()
    {
        T Taken = static_cast<T&&>(Last());
        RemoveAt(Count - 1);
        return Taken;
    }
    int32 Insert(const T& Item, int32 Index) { return InsertOne(T(Item), Index); }
    int32 Insert(T&& Item, int32 Index) { return InsertOne(static_cast<T&&>(Item), Index); }
    T& InsertDefaulted_GetRef(int32 Index) { return (*this)[InsertOne(T(), Index)]; }
    template <typename OtherAllocator>
    void Append(const TArray<T, OtherAllocator>& Other)
    {
        Append(Other.GetData(), Other.Num());
    }
    void Append(const T* Items, int32 Many)
    {
        Grow(Count + Many);
        for (int32 Index = 0; Index < Many; ++Index)
        {
            ::new (static_cast<void*>(Data + Count)) T(Items[Index]);
            ++Count;
        }
    }
    void Append(TArray&& Other)
    {
        Grow(Count + Other.Count);
        for (T& Item : Other)
        {
            Emplace(static_cast<T&&>(Item));
        }
        Other.Reset();
    }
    TArray& operator+=(const TArray& Other)
    {
        Append(Other);
        return *this;
    }

    void RemoveAt(int32 Index) { RemoveAt(Index, 1); }
    void RemoveAt(int32 Index, int32 Many)
    {
        check(Many >= 0 && Index >= 0 && Index + Many <= Count);
        for (int32 At = Index; At + Many < Count; ++At)
        {
            Data[At] = static_cast<T&&>(Data[At + Many]);
        }
        Destroy(Data + Count - Many, Many);
        Count -= Many;
    }
    void RemoveAtSwap(int32 Index)
    {
        check(IsValidIndex(Index));
        if (Index != Count - 1)
        {
            Data[Index] = static_cast<T&&>(Data[Count - 1]);
        }
        RemoveAt(Count - 1);
    }
    int32 Remove(const T& Item)
    {
        const T Kept = Item;
        return RemoveAll([&Kept](const T& Other) { return Other == Kept; });
    }
    int32 RemoveSingle(const T& Item)
    {
        const int32 Index = Find(Item);
        if (Index == INDEX_NONE)
        {
            return 0;
        }
        RemoveAt(Index);
        return 1;
    }
    template <class P>
    int32 RemoveAll(P&& Predicate)
    {
        int32 To = 0;
        for (int32 From = 0; From < Count; ++From)
        {
            if (!Predicate(Data[From]))
            {
                if (To != From)
                {
                    Data[To] = static_cast<T&&>(Data[From]);
                }
                ++To;
            }
        }
        const int32 Gone = Count - To;
        Destroy(Data + To, Gone);
        Count = To;
        return Gone;
    }
    void Reset(int32 NewRoom = 0)
    {
        Destroy(Data, Count);
        Count = 0;
        Reserve(NewRoom);
    }
    void Empty(int32 NewRoom = 0)
    {
        Free();
        Reserve(NewRoom);
    }
    void Reserve(int32 NewRoom) { Grow(NewRoom); }
    void Shrink() {}
    void SetNum(int32 NewCount)
    {
        if (NewCount < Count)
        {
            RemoveAt(NewCount, Count - NewCount);
            return;
        }
        Grow(NewCount);
        while (Count < NewCount)
        {
            ::new (static_cast<void*>(Data + Count)) T();
            ++Count;
        }
    }
    void SetNumUninitialized(int32 NewCount)
    {
        static_assert(std::is_trivially_destructible_v<T>, "SetNumUninitialized of what has a destructor");
        Grow(NewCount);
        Count = NewCount;
    }
    void SetNumZeroed(int32 NewCount)
    {
        const int32 Before = Count;
        SetNumUninitialized(NewCount);
        if (NewCount > Before)
        {
            std::memset(static_cast<void*>(Data + Before), 0, sizeof(T) * static_cast<std::size_t>(NewCount - Before));
        }
    }
    void Init(const T& Item, int32 Many)
    {
        Reset();
        for (int32 Index = 0; Index < Many; ++Index)
        {
            Add(Item);
        }
    }
    void Swap(int32 A, int32 B) { ::Swap((*this)[A], (*this)[B]); }

    template <typename K>
    int32 Find(const K& Item) const
    {
        for (int32 Index = 0; Index < Count; ++Index)
        {
            if (Data[Index] == Item)
            {
                return Index;
            }
        }
        return INDEX_NONE;
    }
    bool Find(const T& Item, int32& Index) const
    {
        Index = Find(Item);
        return Index != INDEX_NONE;
    }
    template <typename K>
    bool Contains(const K& Item) const
    {
        return Find(Item) != INDEX_NONE;
    }
    template <class P>
    bool ContainsByPredicate(P&& Predicate) const
    {
        return FindByPredicate(Predicate) != nullptr;
    }
    template <typename K>
    int32 IndexOfByKey(const K& Key) const
    {
        return Find(Key);
    }
    template <class P>
    int32 IndexOfByPredicate(P&& Predicate) const
    {
        for (int32 Index = 0; Index < Count; ++Index)
        {
            if (Predicate(Data[Index]))
            {
                return Index;
            }
        }
        return INDEX_NONE;
    }
    template <typename K>
    T* FindByKey(const K& Key)
    {
        const int32 Index = Find(Key);
        return Index == INDEX_NONE ? nullptr : Data + Index;
    }
    template <typename K>
    const T* FindByKey(const K& Key) const
    {
        return const_cast<TArray*>(this)->FindByKey(Key);
    }
    template <class P>
    T* FindByPredicate(P&& Predicate)
    {
        const int32 Index = IndexOfByPredicate(Predicate);
        return Index == INDEX_NONE ? nullptr : Data + Index;
    }
    template <class P>
    const T* FindByPredicate(P&& Predicate) const
    {
        return const_cast<TArray*>(this)->FindByPredicate(Predicate);
    }
    template <class P>
    TArray<T> FilterByPredicate(P&& Predicate) const
    {
        TArray<T> Found;
        for (const T& Item : *this)
        {
            if (Predicate(Item))
            {
                Found.Add(Item);
            }
        }
        return Found;
    }
    void Sort() { std::sort(begin(), end()); }
    template <class P>
    void Sort(const P& Less)
    {
        std::sort(begin(), end(), [&Less](const T& A, const T& B) { return Less(Pointed(A), Pointed(B)); });
    }
    template <class P>
    void StableSort(const P& Less)
    {
        std::stable_sort(begin(), end(), [&Less](const T& A, const T& B) { return Less(Pointed(A), Pointed(B)); });
    }

    bool operator==(const TArray& Other) const { return Count == Other.Count && std::equal(begin(), end(), Other.begin()); }
    bool operator!=(const TArray& Other) const { return !(*this == Other); }

    T* begin() { return Data; }
    T* end() { return Data + Count; }
    const T* begin() const { return Data; }
    const T* end() const { return Data + Count; }

private:
    /// The engine's sorts hand the objects of an array of pointers to the predicate.
    template <typename E>
    static decltype(auto) Pointed(const E& Item)
    {
        if constexpr (std::is_pointer_v<E>)
        {
            return *Item;
        }
        else
        {
            return (Item);
        }
    }
    int32 InsertOne(T&& Item, int32 Index)
    {
        check(Index >= 0 && Index <= Count);
        Emplace(static_cast<T&&>(Item));
        std::rotate(Data + Index, Data + Count - 1, Data + Count);
        return Index;
    }
    void Take(TArray& Other)
    {
        Data = Other.Data;
        Count = Other.Count;
        Room = Other.Room;
        Other.Data = nullptr;
        Other.Count = 0;
        Other.Room = 0;
    }
    static void Destroy(T* First, int32 Many)
    {
        for (int32 Index = 0; Index < Many; ++Index)
        {
            First[Index].~T();
        }
    }
    void Free()
    {
        Destroy(Data, Count);
        std::allocator<T>().deallocate(Data, static_cast<std::size_t>(Room));
        Data = nullptr;
        Count = 0;
        Room = 0;
    }
    void Grow(int32 Needed)
    {
        if (Needed <= Room)
        {
            return;
        }
        const int32 NewRoom = (std::max)(Needed, Room + Room / 2 + 4);
        T* Moved = std::allocator<T>().allocate(static_cast<std::size_t>(NewRoom));
        for (int32 Index = 0; Index < Count; ++Index)
        {
            ::new (static_cast<void*>(Moved + Index)) T(static_cast<T&&>(Data[Index]));
        }
        Destroy(Data, Count);
        std::allocator<T>().deallocate(Data, static_cast<std::size_t>(Room));
        Data = Moved;
        Room = NewRoom;
    }

    T* Data = nullptr;
    int32 Count = 0;
    int32 Room = 0;
};

template <typename T>
using TArray64 = TArray<T>;
