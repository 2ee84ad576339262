// What differs between operating systems, and what a program needs to be started.
#pragma once

#include "Core/CoreApi.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace Parley
{

/// What is asked of the system, apart from processes. Paths are UTF-8. Any thread.
class PARLEY_CORE_API Platform
{
public:
#if defined(_WIN32)
    static constexpr bool IsWindows = true;
    static constexpr char Separator = '\\';
#else
    static constexpr bool IsWindows = false;
    static constexpr char Separator = '/';
#endif
#if defined(__APPLE__)
    static constexpr bool IsMac = true;
#else
    static constexpr bool IsMac = false;
#endif

    /// The file that `Program` means; "" where it cannot be started, and in `Why` words for a developer.
    static std::string FindProgram(std::string_view Program, std::string& Why);
    /// `Second` from `First` on, or `Second` where that is whole.
    static std::string Combine(std::string_view First, std::string_view Second);
    /// Whether a path begins at a root.
    static bool IsWhole(std::string_view Path);
    /// Whole, without `.` and `..`; from the current folder on where it is not whole.
    static std::string FullPath(const std::string& Path);
    /// Milliseconds of a clock that only goes forward.
    static std::int64_t NowMs();
    /// The time of day as `2026-01-31T12:00:00.000Z`.
    static std::string TimeOfDay();
    /// 32 random hexadecimal digits, unlike those of any other call and process.
    static std::string MadeUpName();

    // UnixPlatform.cpp, WindowsPlatform.cpp

    /// The number of this process.
    static int OwnPid();
    static bool IsFile(const std::string& Path);
    static bool IsFolder(const std::string& Path);
    static bool IsEmptyFile(const std::string& Path);
    static bool MayBeExecuted(const std::string& Path);
    static std::string CurrentFolder();
    /// Names of the folders in a folder, in no order; none where it cannot be read.
    static std::vector<std::string> FoldersIn(const std::string& Folder);
    /// Harmless where there is none.
    static void RemoveFile(const std::string& Path);
    /// The first line of a file without its end; nothing where it cannot be read or has no line end yet.
    static std::optional<std::string> FirstLineOf(const std::string& Path);
    /// Of this process's environment; nothing where there is no such variable.
    static std::optional<std::string> Variable(const char* Name);
    /// This process's environment, as `name=value`.
    static std::vector<std::string> Variables();

    Platform() = delete;
};

} // namespace Parley
