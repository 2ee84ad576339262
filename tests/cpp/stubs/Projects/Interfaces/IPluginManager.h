// Where a plugin lies.
// Source: ufna/VaRest Source/VaRest/Private/VaRestLibrary.cpp
#pragma once

#include "CoreMinimal.h"

#define PROJECTS_API DLLEXPORT

// Source: unrealcv/unrealcv Source/UnrealCV/Private/Commands/PluginHandler.cpp
struct FPluginDescriptor
{
    FString VersionName;
    FString FriendlyName;
};

// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Private/UnrealAssetAccessor.cpp
class IPlugin
{
public:
    virtual ~IPlugin() = default;
    FString GetName() const { return StubName; }
    FString GetBaseDir() const { return StubBaseDir; }
    FString GetContentDir() const { return StubBaseDir / TEXT("Content"); }
    const FPluginDescriptor& GetDescriptor() const { return StubDescriptor; }
    FString StubName;
    FString StubBaseDir;
    FPluginDescriptor StubDescriptor;
};

// Source: CesiumGS/cesium-unreal Source/CesiumRuntime/Private/CesiumRuntime.cpp
class PROJECTS_API IPluginManager
{
public:
    static IPluginManager& Get();
    TSharedPtr<IPlugin> FindPlugin(const FString& Name) const
    {
        return StubPlugins.FindRef(Name);
    }
    TMap<FString, TSharedPtr<IPlugin>> StubPlugins;
};
