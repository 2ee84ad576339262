// windows.h, wherever this is compiled, without the macros that are names of ours.
#pragma once

#if defined(_WIN32)

#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif
#if !defined(NOMINMAX)
#define NOMINMAX
#endif

// Within the engine its types and those of windows.h have the same names: it has a header to put before and one behind.
#if __has_include("Windows/AllowWindowsPlatformTypes.h")
#include "CoreTypes.h"
#include "Windows/AllowWindowsPlatformTypes.h"
#include <windows.h>
#include "Windows/HideWindowsPlatformTypes.h"
#else
#include <windows.h>
#endif

// Unreal's build puts many files into one: those behind this one have these words.
#undef DELETE
#undef ERROR
#undef GetMessage
#undef GetObject
#undef SendMessage

#endif
