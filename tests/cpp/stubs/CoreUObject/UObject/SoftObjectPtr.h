// Soft references: by path.
// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Public/Cesium3DTileset.h (TSoftObjectPtr), MothCocoon/FlowGraph
// Source/Flow/Public/FlowSettings.h
#pragma once

#include "UObject/SoftObjectPath.h"

// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Public/Cesium3DTileset.h
template <class T = UObject>
struct TSoftObjectPtr
{
    TSoftObjectPtr() = default;
    TSoftObjectPtr(std::nullptr_t) {}
    explicit TSoftObjectPtr(FSoftObjectPath InPath)
        : Path(MoveTemp(InPath))
    {
    }
    TSoftObjectPtr(T* Object)
        : Path(Object)
    {
    }
    T* Get() const { return Cast<T>(Path.ResolveObject()); }
    T* LoadSynchronous() const { return Cast<T>(Path.TryLoad()); }
    bool IsNull() const { return Path.IsNull(); }
    bool IsValid() const { return Get() != nullptr; }
    bool IsPending() const { return Get() == nullptr && !IsNull(); }
    FString ToString() const { return Path.ToString(); }
    const FSoftObjectPath& ToSoftObjectPath() const { return Path; }
    void Reset() { Path.Reset(); }
    FString GetAssetName() const { return Path.GetAssetName(); }
    FString GetLongPackageName() const { return Path.GetLongPackageName(); }
    explicit operator bool() const { return IsValid(); }
    T* operator->() const { return Get(); }
    bool operator==(const TSoftObjectPtr& Other) const { return Path == Other.Path; }
    bool operator!=(const TSoftObjectPtr& Other) const { return !(*this == Other); }
    friend uint32 GetTypeHash(const TSoftObjectPtr& Pointer) { return GetTypeHash(Pointer.ToString()); }

private:
    FSoftObjectPath Path;
};
