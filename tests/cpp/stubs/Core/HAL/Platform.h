// The engine's basic types and macros on Linux.
// Source: getnamo/Llama-Unreal Source/LlamaCore/Private/Tests/UTF8RoundTripTests.cpp (TCHAR, ANSICHAR, UTF8 conversions)
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

typedef std::int8_t int8;
typedef std::int16_t int16;
typedef std::int32_t int32;
typedef long long int64;
typedef std::uint8_t uint8;
typedef std::uint16_t uint16;
typedef std::uint32_t uint32;
typedef unsigned long long uint64;
typedef std::size_t SIZE_T;
typedef std::uintptr_t UPTRINT;
typedef std::intptr_t PTRINT;

// The engine's Linux TCHAR is UTF-16, so that a program which passes wide strings does not compile here either.
typedef char ANSICHAR;
typedef wchar_t WIDECHAR;
typedef char16_t TCHAR;
typedef char16_t UTF16CHAR;
#define PLATFORM_TCHAR_IS_CHAR16 1

#if !defined(TEXT)
#define TEXT_PASTE(x) u##x
#define TEXT(x) TEXT_PASTE(x)
#endif

#define FORCEINLINE inline
#define FORCENOINLINE
#define UE_DEPRECATED(Version, Message) [[deprecated(Message)]]
#define UE_NODISCARD [[nodiscard]]
#define DLLEXPORT __attribute__((visibility("default")))
#define DLLIMPORT __attribute__((visibility("default")))
#define UE_ARRAY_COUNT(Array) (sizeof(Array) / sizeof((Array)[0]))
#define INDEX_NONE (-1)
#ifndef UE_BUILD_SHIPPING
#define UE_BUILD_SHIPPING 0
#endif
#define UE_BUILD_DEVELOPMENT !UE_BUILD_SHIPPING
#define PRAGMA_DISABLE_DEPRECATION_WARNINGS
#define PRAGMA_ENABLE_DEPRECATION_WARNINGS
#define THIRD_PARTY_INCLUDES_START
#define THIRD_PARTY_INCLUDES_END

#define PLATFORM_WINDOWS 0
#define PLATFORM_MAC 0
#define PLATFORM_APPLE 0
#define PLATFORM_LINUX 1
#define PLATFORM_UNIX 1
#define PLATFORM_ANDROID 0
#define PLATFORM_IOS 0
#define PLATFORM_DESKTOP 1

#ifndef WITH_EDITOR
#define WITH_EDITOR 0
#endif
#ifndef WITH_EDITORONLY_DATA
#define WITH_EDITORONLY_DATA WITH_EDITOR
#endif
#ifndef UE_EDITOR
#define UE_EDITOR WITH_EDITOR
#endif
#define WITH_ENGINE 1

#ifndef ENGINE_MAJOR_VERSION
#define ENGINE_MAJOR_VERSION 5
#define ENGINE_MINOR_VERSION 3
#define ENGINE_PATCH_VERSION 2
#endif

#define CORE_API DLLEXPORT
#define COREUOBJECT_API DLLEXPORT
#define ENGINE_API DLLEXPORT
#define NO_API
