// Hands log lines on, and reads the level of the sidecar's own.
#include "Core/LogSink.h"

namespace Parley::Logs
{

void Say(const LogSink& Sink, LogLevel Level, std::string_view Text)
{
    if (Sink)
    {
        Sink(Level, Text);
    }
}

LogLevel LevelOf(std::string_view Line) noexcept
{
    const std::size_t Space = Line.find(' ');
    if (Space == std::string_view::npos || Space == 0 || Line.front() < '0' || Line.front() > '9')
    {
        return LogLevel::Info;
    }
    const std::string_view Rest = Line.substr(Space + 1);
    const std::string_view Word = Rest.substr(0, Rest.find(' '));
    if (Word == "DEBUG")
    {
        return LogLevel::Debug;
    }
    if (Word == "WARNING")
    {
        return LogLevel::Warning;
    }
    return Word == "ERROR" || Word == "CRITICAL" ? LogLevel::Error : LogLevel::Info;
}

} // namespace Parley::Logs
