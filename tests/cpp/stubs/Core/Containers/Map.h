// TMap and TSet. Iterated in the order of adding; a place that a removal freed is taken first, as in the engine's
// sparse array.
// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgMemory.h, MothCocoon/FlowGraph Source/Flow/Public/FlowAsset.h
#pragma once

#include "Containers/UnrealString.h"
#include "Templates/TypeHash.h"

#include <vector>

// Source: MothCocoon/FlowGraph Source/Flow/Private/FlowAsset.cpp
template <typename KeyType, typename ValueType>
struct TPair
{
    KeyType Key;
    ValueType Value;

    TPair() = default;
    template <typename K, typename V>
    TPair(K&& InKey, V&& InValue)
        : Key(std::forward<K>(InKey))
        , Value(std::forward<V>(InValue))
    {
    }
    bool operator==(const TPair& Other) const { return Key == Other.Key && Value == Other.Value; }
    bool operator!=(const TPair& Other) const { return !(*this == Other); }
};
template <typename A, typename B>
using TTuple = TPair<A, B>;

template <typename A, typename B>
TPair<std::decay_t<A>, std::decay_t<B>> MakeTuple(A&& First, B&& Second)
{
    return TPair<std::decay_t<A>, std::decay_t<B>>(std::forward<A>(First), std::forward<B>(Second));
}

// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Private/CesiumViewExtension.h
template <typename ElementType, typename InKeyType, bool bInAllowDuplicateKeys = false>
struct BaseKeyFuncs
{
    typedef InKeyType KeyType;
    typedef const InKeyType& KeyInitType;
    typedef const ElementType& ElementInitType;
};

// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Core/Containers/TDefaultMapKeyFuncs?application_version=5.5
template <typename KeyType, typename ValueType, bool bInAllowDuplicateKeys>
struct TDefaultMapKeyFuncs : BaseKeyFuncs<TPair<KeyType, ValueType>, KeyType, bInAllowDuplicateKeys>
{
    template <typename K>
    static bool Matches(const KeyType& A, const K& B)
    {
        return A == B;
    }
    template <typename K>
    static uint32 GetKeyHash(const K& Key)
    {
        return GetTypeHash(Key);
    }
};
// Source: dev.epicgames.com/documentation/unreal-engine/API/Runtime/Core/Containers/TDefaultMapHashableKeyFuncs?application_version=5.3
template <typename KeyType, typename ValueType, bool bInAllowDuplicateKeys>
struct TDefaultMapHashableKeyFuncs : TDefaultMapKeyFuncs<KeyType, ValueType, bInAllowDuplicateKeys>
{
};

// Source: Phyronnaz/VoxelPlugin Source/Voxel/Private/VoxelDefinitions.cpp
class FDefaultSetAllocator;

namespace StubEngine
{
/// Elements that stay where they are; freed places are taken last in, first out.
template <typename T>
class TSparse
{
public:
    TSparse() = default;
    TSparse(TSparse&&) noexcept = default;
    TSparse& operator=(TSparse&&) noexcept = default;
    TSparse(const TSparse& Other)
        : Free(Other.Free)
    {
        for (const std::unique_ptr<T>& Slot : Other.Slots)
        {
            Slots.push_back(Slot ? std::make_unique<T>(*Slot) : nullptr);
        }
    }
    TSparse& operator=(const TSparse& Other)
    {
        TSparse Copy(Other);
        return *this = std::move(Copy);
    }
    T& Add(T&& Item)
    {
        if (!Free.empty())
        {
            const std::size_t At = Free.back();
            Free.pop_back();
            Slots[At] = std::make_unique<T>(std::move(Item));
            return *Slots[At];
        }
        Slots.push_back(std::make_unique<T>(std::move(Item)));
        return *Slots.back();
    }
    void RemoveSlot(std::size_t At)
    {
        Slots[At].reset();
        Free.push_back(At);
    }
    void Clear()
    {
        Slots.clear();
        Free.clear();
    }
    int32 Num() const { return static_cast<int32>(Slots.size() - Free.size()); }

    template <typename E, typename V>
    struct TIter
    {
        V* All;
        std::size_t At;
        E& operator*() const { return *(*All)[At]; }
        E* operator->() const { return (*All)[At].get(); }
        TIter& operator++()
        {
            ++At;
            Skip();
            return *this;
        }
        void Skip()
        {
            while (At < All->size() && !(*All)[At])
            {
                ++At;
            }
        }
        bool operator!=(const TIter& Other) const { return At != Other.At; }
        bool operator==(const TIter& Other) const { return At == Other.At; }
        explicit operator bool() const { return At < All->size(); }
    };
    using Iter = TIter<T, std::vector<std::unique_ptr<T>>>;
    using ConstIter = TIter<const T, const std::vector<std::unique_ptr<T>>>;
    Iter begin()
    {
        Iter First{&Slots, 0};
        First.Skip();
        return First;
    }
    Iter end() { return Iter{&Slots, Slots.size()}; }
    ConstIter begin() const
    {
        ConstIter First{&Slots, 0};
        First.Skip();
        return First;
    }
    ConstIter end() const { return ConstIter{&Slots, Slots.size()}; }

private:
    std::vector<std::unique_ptr<T>> Slots;
    std::vector<std::size_t> Free;
};
} // namespace StubEngine

// Source: NotYetGames/DlgSystem Source/DlgSystem/DlgMemory.h, MothCocoon/FlowGraph Source/Flow/Private/FlowAsset.cpp
template <typename KeyType, typename ValueType, typename SetAllocator = FDefaultSetAllocator,
    typename KeyFuncs = TDefaultMapHashableKeyFuncs<KeyType, ValueType, false>>
class TMap
{
public:
    using ElementType = TPair<KeyType, ValueType>;

    TMap() = default;
    TMap(std::initializer_list<TPair<KeyType, ValueType>> Items)
    {
        for (const TPair<KeyType, ValueType>& Item : Items)
        {
            Add(Item.Key, Item.Value);
        }
    }

    int32 Num() const { return Pairs.Num(); }
    bool IsEmpty() const { return Num() == 0; }
    void Empty(int32 = 0) { Pairs.Clear(); }
    void Reset() { Pairs.Clear(); }
    void Reserve(int32) {}

    ValueType& Add(const KeyType& Key, const ValueType& Value) { return Put(KeyType(Key), ValueType(Value)); }
    ValueType& Add(const KeyType& Key, ValueType&& Value) { return Put(KeyType(Key), static_cast<ValueType&&>(Value)); }
    ValueType& Add(KeyType&& Key, const ValueType& Value) { return Put(static_cast<KeyType&&>(Key), ValueType(Value)); }
    ValueType& Add(KeyType&& Key, ValueType&& Value)
    {
        return Put(static_cast<KeyType&&>(Key), static_cast<ValueType&&>(Value));
    }
    ValueType& Add(const KeyType& Key) { return Put(KeyType(Key), ValueType()); }
    template <typename K, typename V>
    ValueType& Emplace(K&& Key, V&& Value)
    {
        return Put(KeyType(std::forward<K>(Key)), ValueType(std::forward<V>(Value)));
    }
    template <typename K>
    ValueType& Emplace(K&& Key)
    {
        return Put(KeyType(std::forward<K>(Key)), ValueType());
    }
    template <typename K>
    int32 Remove(const K& Key)
    {
        const auto Found = Where(Key);
        if (Found == Pairs.end())
        {
            return 0;
        }
        Pairs.RemoveSlot(Found.At);
        return 1;
    }
    template <typename K>
    bool RemoveAndCopyValue(const K& Key, ValueType& Out)
    {
        const auto Found = Where(Key);
        if (Found == Pairs.end())
        {
            return false;
        }
        Out = static_cast<ValueType&&>(Found->Value);
        Pairs.RemoveSlot(Found.At);
        return true;
    }
    template <typename K>
    ValueType* Find(const K& Key)
    {
        const auto Found = Where(Key);
        return Found == Pairs.end() ? nullptr : &Found->Value;
    }
    template <typename K>
    const ValueType* Find(const K& Key) const
    {
        return const_cast<TMap*>(this)->Find(Key);
    }
    template <typename K>
    ValueType FindRef(const K& Key) const
    {
        const ValueType* Found = Find(Key);
        return Found == nullptr ? ValueType() : *Found;
    }
    template <typename K>
    ValueType& FindChecked(const K& Key)
    {
        ValueType* Found = Find(Key);
        check(Found != nullptr);
        return *Found;
    }
    template <typename K>
    const ValueType& FindChecked(const K& Key) const
    {
        return const_cast<TMap*>(this)->FindChecked(Key);
    }
    ValueType& FindOrAdd(const KeyType& Key)
    {
        ValueType* Found = Find(Key);
        return Found == nullptr ? Add(Key) : *Found;
    }
    template <typename K>
    bool Contains(const K& Key) const
    {
        return Find(Key) != nullptr;
    }
    ValueType& operator[](const KeyType& Key) { return FindChecked(Key); }
    const ValueType& operator[](const KeyType& Key) const { return FindChecked(Key); }
    const KeyType* FindKey(const ValueType& Value) const
    {
        for (const auto& Pair : *this)
        {
            if (Pair.Value == Value)
            {
                return &Pair.Key;
            }
        }
        return nullptr;
    }
    template <typename A>
    int32 GetKeys(TArray<KeyType, A>& Out) const
    {
        Out.Reset();
        for (const auto& Pair : *this)
        {
            Out.Add(Pair.Key);
        }
        return Out.Num();
    }
    template <typename A>
    void GenerateKeyArray(TArray<KeyType, A>& Out) const
    {
        GetKeys(Out);
    }
    template <typename A>
    void GenerateValueArray(TArray<ValueType, A>& Out) const
    {
        Out.Reset();
        for (const auto& Pair : *this)
        {
            Out.Add(Pair.Value);
        }
    }
    void Append(const TMap& Other)
    {
        for (const auto& Pair : Other)
        {
            Add(Pair.Key, Pair.Value);
        }
    }
    bool OrderIndependentCompareEqual(const TMap& Other) const
    {
        if (Num() != Other.Num())
        {
            return false;
        }
        for (const auto& Pair : *this)
        {
            const ValueType* Found = Other.Find(Pair.Key);
            if (Found == nullptr || !(*Found == Pair.Value))
            {
                return false;
            }
        }
        return true;
    }

    auto begin() { return Pairs.begin(); }
    auto end() { return Pairs.end(); }
    auto begin() const { return Pairs.begin(); }
    auto end() const { return Pairs.end(); }

    // Source: MothCocoon/FlowGraph Source/FlowEditor/Private/Graph/FlowGraphEditor.cpp (It.Key(), It.RemoveCurrent())
    class TIterator
    {
    public:
        explicit TIterator(TMap& InMap)
            : Map(InMap)
            , At(InMap.Pairs.begin())
        {
        }
        explicit operator bool() const { return static_cast<bool>(At); }
        TIterator& operator++()
        {
            ++At;
            return *this;
        }
        ElementType& operator*() const { return *At; }
        ElementType* operator->() const { return &*At; }
        KeyType& Key() const { return At->Key; }
        ValueType& Value() const { return At->Value; }
        void RemoveCurrent() { Map.Pairs.RemoveSlot(At.At); }

    private:
        TMap& Map;
        typename StubEngine::TSparse<ElementType>::Iter At;
    };
    TIterator CreateIterator() { return TIterator(*this); }
    auto CreateConstIterator() const { return Pairs.begin(); }

private:
    template <typename K>
    typename StubEngine::TSparse<ElementType>::Iter Where(const K& Key)
    {
        auto At = Pairs.begin();
        while (At != Pairs.end() && !KeyFuncs::Matches(At->Key, Key))
        {
            ++At;
        }
        return At;
    }
    ValueType& Put(KeyType&& Key, ValueType&& Value)
    {
        (void)KeyFuncs::GetKeyHash(Key); // a key without a hash does not compile in the engine either
        const auto Found = Where(Key);
        if (Found != Pairs.end())
        {
            Found->Key = static_cast<KeyType&&>(Key);
            Found->Value = static_cast<ValueType&&>(Value);
            return Found->Value;
        }
        return Pairs.Add(ElementType(static_cast<KeyType&&>(Key), static_cast<ValueType&&>(Value))).Value;
    }

    StubEngine::TSparse<ElementType> Pairs;
};
