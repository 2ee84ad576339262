// Between UTF-8 and the engine's text.
// Source: getnamo/Llama-Unreal Source/LlamaCore/Private/Tests/UTF8RoundTripTests.cpp, CesiumGS/cesium-unreal
// Source/CesiumRuntime/Private/UnrealAssetAccessor.cpp (TCHAR_TO_UTF8, UTF8_TO_TCHAR)
#pragma once

#include "Containers/UnrealString.h"

// Source: getnamo/SocketIOClient-Unreal Source/SIOJson/Private/SIOJConvert.cpp, CesiumGS/cesium-unreal
// Source/CesiumRuntime/Private/CesiumGltfComponent.cpp
class FTCHARToUTF8
{
public:
    explicit FTCHARToUTF8(const TCHAR* Text)
        : Made(StubEngine::Utf8(Text == nullptr ? std::u16string_view() : std::u16string_view(Text)))
    {
    }
    FTCHARToUTF8(const TCHAR* Text, int32 Length)
        : Made(StubEngine::Utf8(std::u16string_view(Text, static_cast<std::size_t>(Length))))
    {
    }
    explicit FTCHARToUTF8(FStringView Text)
        : FTCHARToUTF8(Text.GetData(), Text.Len())
    {
    }
    const ANSICHAR* Get() const { return Made.c_str(); }
    int32 Length() const { return static_cast<int32>(Made.size()); }

private:
    std::string Made;
};

// Source: ufna/VaRest Source/VaRest/Private/VaRestLibrary.cpp
class FUTF8ToTCHAR
{
public:
    explicit FUTF8ToTCHAR(const ANSICHAR* Text)
        : Made(StubEngine::Utf16(Text == nullptr ? std::string_view() : std::string_view(Text)))
    {
    }
    FUTF8ToTCHAR(const ANSICHAR* Text, int32 Length)
        : Made(StubEngine::Utf16(std::string_view(Text, static_cast<std::size_t>(Length))))
    {
    }
    const TCHAR* Get() const { return Made.c_str(); }
    int32 Length() const { return static_cast<int32>(Made.size()); }

private:
    std::u16string Made;
};

// What they point to is gone at the end of the whole expression, as in the engine.
#define TCHAR_TO_UTF8(Text) (const ANSICHAR*)FTCHARToUTF8((const TCHAR*)Text).Get()
#define UTF8_TO_TCHAR(Text) (const TCHAR*)FUTF8ToTCHAR((const ANSICHAR*)Text).Get()
#define ANSI_TO_TCHAR(Text) (const TCHAR*)FUTF8ToTCHAR((const ANSICHAR*)Text).Get()
#define TCHAR_TO_ANSI(Text) (const ANSICHAR*)FTCHARToUTF8((const TCHAR*)Text).Get()
