// FDateTime and FTimespan.
// Source: ProjectBorealis/UEGitPlugin Source/GitSourceControl/Private/GitSourceControlUtils.cpp
#pragma once

#include "Containers/UnrealString.h"

// Source: ProjectBorealis/UEGitPlugin Source/GitSourceControl/Private/GitSourceControlUtils.cpp
struct FTimespan
{
    FTimespan() = default;
    explicit FTimespan(int64 InTicks)
        : Ticks(InTicks)
    {
    }
    static FTimespan FromSeconds(double Seconds) { return FTimespan(static_cast<int64>(Seconds * 1e7)); }
    static FTimespan FromMilliseconds(double Milliseconds) { return FTimespan(static_cast<int64>(Milliseconds * 1e4)); }
    static FTimespan Zero() { return FTimespan(); }
    double GetTotalSeconds() const { return static_cast<double>(Ticks) / 1e7; }
    double GetTotalMilliseconds() const { return static_cast<double>(Ticks) / 1e4; }
    int64 GetTicks() const { return Ticks; }
    friend bool operator<(const FTimespan& A, const FTimespan& B) { return A.Ticks < B.Ticks; }
    friend bool operator>(const FTimespan& A, const FTimespan& B) { return A.Ticks > B.Ticks; }

private:
    int64 Ticks = 0;
};

// Source: ProjectBorealis/UEGitPlugin Source/GitSourceControl/Private/GitSourceControlUtils.cpp (FDateTime::FromUnixTimestamp)
struct FDateTime
{
    FDateTime() = default;
    explicit FDateTime(int64 InTicks)
        : Ticks(InTicks)
    {
    }
    CORE_API static FDateTime Now();
    CORE_API static FDateTime UtcNow();
    static FDateTime MinValue() { return FDateTime(); }
    int64 GetTicks() const { return Ticks; }
    CORE_API int64 ToUnixTimestamp() const;
    CORE_API FString ToString(const TCHAR* Format) const;
    FString ToString() const { return ToString(TEXT("%Y.%m.%d-%H.%M.%S")); }
    friend FTimespan operator-(const FDateTime& A, const FDateTime& B) { return FTimespan(A.Ticks - B.Ticks); }
    friend bool operator==(const FDateTime& A, const FDateTime& B) { return A.Ticks == B.Ticks; }
    friend bool operator!=(const FDateTime& A, const FDateTime& B) { return A.Ticks != B.Ticks; }
    friend bool operator<(const FDateTime& A, const FDateTime& B) { return A.Ticks < B.Ticks; }
    friend bool operator>(const FDateTime& A, const FDateTime& B) { return A.Ticks > B.Ticks; }

private:
    int64 Ticks = 0;
};
