// What the plugin has to say to a developer, and where it goes.
#pragma once

#include "Core/CoreApi.h"

#include <cstddef>
#include <functional>
#include <string_view>

namespace Parley
{

/// How much a line of the log matters.
enum class LogLevel
{
    /// For whoever looks for a fault in Parley itself.
    Debug,
    /// What goes as it should.
    Info,
    /// Something a developer should know; nothing stopped.
    Warning,
    /// Something failed.
    Error,
};

/// Takes one line, or several joined by newlines, in UTF-8. Must not block. Called on the thread that has something to
/// say, unless whoever hands it on says otherwise. May be empty: nobody listens.
using LogSink = std::function<void(LogLevel Level, std::string_view Text)>;

/// What many places need for the log. Any thread.
namespace Logs
{

/// Hands a line on, if anybody listens.
PARLEY_CORE_API void Say(const LogSink& Sink, LogLevel Level, std::string_view Text);

/// The level that a line of the sidecar's log states, as `12:00:00.000 WARNING bridge: …`.
PARLEY_CORE_API LogLevel LevelOf(std::string_view Line) noexcept;

} // namespace Logs

} // namespace Parley
