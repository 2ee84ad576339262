// Log lines that wait for the game's thread.
#pragma once

#include "Core/CoreApi.h"
#include "Core/LogSink.h"

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

namespace Parley
{

/// Keeps what is logged anywhere until the game's thread asks for it; beyond a bound the oldest lines go.
/// Threading: Say from any thread, Run on the game's.
class PARLEY_CORE_API LogQueue
{
public:
    static constexpr std::size_t MaxLines = 1000;
    static constexpr std::size_t MaxBytes = 4 * 1024 * 1024;

    LogQueue() = default;
    LogQueue(const LogQueue&) = delete;
    LogQueue& operator=(const LogQueue&) = delete;

    void Say(LogLevel Level, std::string_view Text);

    /// Hands so many lines at most to the log: a game's own takes its time over each, and may log itself.
    void Run(const LogSink& Log, std::size_t Most = MaxLines);

private:
    struct Line
    {
        LogLevel Level;
        std::string Text;
    };

    std::mutex Gate;
    std::deque<Line> Lines;
    std::size_t Bytes = 0;
    std::size_t LeftOut = 0;
    std::atomic<bool> HasLines{false};
};

} // namespace Parley
