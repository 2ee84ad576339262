// TArrayView.
// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumGlobeAnchorCustomization.cpp, gtreshchev/RuntimeAudioImporter
// Source/RuntimeAudioImporter/Public/RuntimeAudioImporterTypes.h
#pragma once

#include "Containers/Array.h"

// Source: CesiumGS/cesium-unreal Source/CesiumEditor/Private/CesiumGlobeAnchorCustomization.cpp
template <typename T>
class TArrayView
{
public:
    TArrayView() = default;
    TArrayView(T* Items, int32 Many)
        : Data(Items)
        , Count(Many)
    {
    }
    template <typename E>
    TArrayView(const TArray<E>& Items)
        : Data(Items.GetData())
        , Count(Items.Num())
    {
    }
    template <typename E>
    TArrayView(TArray<E>& Items)
        : Data(Items.GetData())
        , Count(Items.Num())
    {
    }
    TArrayView(std::initializer_list<std::remove_const_t<T>> Items)
        : Data(Items.begin())
        , Count(static_cast<int32>(Items.size()))
    {
    }
    int32 Num() const { return Count; }
    bool IsEmpty() const { return Count == 0; }
    T* GetData() const { return Data; }
    T& operator[](int32 Index) const
    {
        check(Index >= 0 && Index < Count);
        return Data[Index];
    }
    TArrayView Slice(int32 Index, int32 Many) const { return TArrayView(Data + Index, Many); }
    T* begin() const { return Data; }
    T* end() const { return Data + Count; }

private:
    T* Data = nullptr;
    int32 Count = 0;
};

template <typename T>
using TConstArrayView = TArrayView<const T>;

template <typename T>
TArrayView<T> MakeArrayView(T* Items, int32 Many)
{
    return TArrayView<T>(Items, Many);
}
template <typename T>
TArrayView<const T> MakeArrayView(const TArray<T>& Items)
{
    return TArrayView<const T>(Items.GetData(), Items.Num());
}
