// UE_LOG. Lines are collected; a test reads them from StubEngine::LogLines().
// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowLogChannels.h (DECLARE_LOG_CATEGORY_EXTERN)
#pragma once

#include "Containers/UnrealString.h"
#include "UObject/NameTypes.h"

// Source: NotYetGames/DlgSystem Source/DlgSystem/Logging/INYLogger.h
namespace ELogVerbosity
{
// Source: NotYetGames/DlgSystem Source/DlgSystem/Logging/INYLogger.h
enum Type : uint8
{
    NoLogging = 0,
    Fatal,
    Error,
    Warning,
    Display,
    Log,
    Verbose,
    VeryVerbose,
    All = VeryVerbose,
};
} // namespace ELogVerbosity

// Source: NotYetGames/DlgSystem Source/DlgSystem/Logging/INYLogger.h
struct FLogCategoryBase
{
    explicit FLogCategoryBase(const TCHAR* InName, ELogVerbosity::Type InVerbosity = ELogVerbosity::Log)
        : Name(InName)
        , Verbosity(InVerbosity)
    {
    }
    FName GetCategoryName() const { return FName(Name); }
    ELogVerbosity::Type GetVerbosity() const { return Verbosity; }
    bool IsSuppressed(ELogVerbosity::Type Level) const { return Level > Verbosity; }
    void SetVerbosity(ELogVerbosity::Type InVerbosity) { Verbosity = InVerbosity; }

private:
    const TCHAR* Name;
    ELogVerbosity::Type Verbosity;
};

namespace StubEngine
{
/// What a test reads of a line of the log.
struct FLogLine
{
    FString Category;
    ELogVerbosity::Type Verbosity;
    FString Text;
};
/// Threading: any thread adds; read it when nothing else runs.
CORE_API TArray<FLogLine>& LogLines();
CORE_API void LogLine(const FLogCategoryBase& Category, ELogVerbosity::Type Verbosity, const FString& Text);
} // namespace StubEngine

#define DECLARE_LOG_CATEGORY_EXTERN(CategoryName, DefaultVerbosity, CompileTimeVerbosity) \
    extern struct FLogCategory##CategoryName : public FLogCategoryBase \
    { \
        FLogCategory##CategoryName() \
            : FLogCategoryBase(TEXT(#CategoryName), ELogVerbosity::DefaultVerbosity) \
        { \
        } \
    } CategoryName
#define DEFINE_LOG_CATEGORY(CategoryName) FLogCategory##CategoryName CategoryName
#define DEFINE_LOG_CATEGORY_STATIC(CategoryName, DefaultVerbosity, CompileTimeVerbosity) \
    static struct FLogCategory##CategoryName : public FLogCategoryBase \
    { \
        FLogCategory##CategoryName() \
            : FLogCategoryBase(TEXT(#CategoryName), ELogVerbosity::DefaultVerbosity) \
        { \
        } \
    } CategoryName
#if UE_BUILD_SHIPPING
// A shipped game logs nothing: whatever only a line of the log names is not used there.
// Source: ikrima/gamedevguide docs/ue4guide/build-guide/ubt/debugging-shipping-configuration.md (what has to be switched on for
// it to be otherwise: bUseLoggingInShipping, bUseChecksInShipping)
#define UE_LOG(CategoryName, Level, Format, ...) \
    do \
    { \
    } while (false)
#else
#define UE_LOG(CategoryName, Level, Format, ...) \
    do \
    { \
        if (!CategoryName.IsSuppressed(ELogVerbosity::Level)) \
        { \
            ::StubEngine::LogLine(CategoryName, ELogVerbosity::Level, FString::Printf(Format, ##__VA_ARGS__)); \
        } \
    } while (false)
#endif
#define UE_CLOG(Condition, CategoryName, Level, Format, ...) \
    do \
    { \
        if (Condition) \
        { \
            UE_LOG(CategoryName, Level, Format, ##__VA_ARGS__); \
        } \
    } while (false)
#define UE_LOG_ACTIVE(CategoryName, Level) (!CategoryName.IsSuppressed(ELogVerbosity::Level))

CORE_API DECLARE_LOG_CATEGORY_EXTERN(LogTemp, Log, All);
