// check, ensure and their family.
// Source: dev.epicgames.com/documentation/en-us/unreal-engine/asserts-in-unreal-engine
#pragma once

#include "HAL/Platform.h"

namespace StubEngine
{
/// Ends the program as a failed check() does.
[[noreturn]] CORE_API void CheckFailed(const char* Expression, const char* File, int Line);
/// Counts; a test asks FailedEnsures(). Always false.
CORE_API bool EnsureFailed(const char* Expression, const char* File, int Line);
CORE_API int& FailedEnsures();
} // namespace StubEngine

#if UE_BUILD_SHIPPING
// A shipped game does not even evaluate them.
// Source: dev.epicgames.com/documentation/en-us/unreal-engine/asserts-in-unreal-engine
#define check(Expression) \
    do \
    { \
    } while (false)
#define verify(Expression) \
    do \
    { \
        if (Expression) \
        { \
        } \
    } while (false)
#else
#define check(Expression) \
    do \
    { \
        if (!(Expression)) \
        { \
            ::StubEngine::CheckFailed(#Expression, __FILE__, __LINE__); \
        } \
    } while (false)
#define verify(Expression) check(Expression)
#endif
#define checkf(Expression, Format, ...) check(Expression)
#define checkNoEntry() ::StubEngine::CheckFailed("no entry", __FILE__, __LINE__)
#define checkSlow(Expression) check(Expression)
#define verifyf(Expression, Format, ...) verify(Expression)
#define unimplemented() ::StubEngine::CheckFailed("unimplemented", __FILE__, __LINE__)
#define ensure(Expression) (!!(Expression) || ::StubEngine::EnsureFailed(#Expression, __FILE__, __LINE__))
#define ensureMsgf(Expression, Format, ...) ensure(Expression)
#define ensureAlways(Expression) ensure(Expression)
#define ensureAlwaysMsgf(Expression, Format, ...) ensure(Expression)
