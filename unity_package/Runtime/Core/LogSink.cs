// What the package has to say to a developer, and where it goes.
using System;

namespace Parley
{
    /// <summary>How much a line of the log matters.</summary>
    public enum LogLevel
    {
        /// <summary>For whoever looks for a fault in Parley itself.</summary>
        Debug,

        /// <summary>What goes as it should.</summary>
        Info,

        /// <summary>Something a developer should know; nothing stopped.</summary>
        Warning,

        /// <summary>Something failed.</summary>
        Error,
    }

    /// <summary>
    /// Takes one line, or several joined by newlines. Must not block; what it throws is dropped. Called on the thread that
    /// has something to say, unless whoever hands it on says otherwise.
    /// </summary>
    public delegate void LogSink(LogLevel level, string text);

    /// <summary>What many places need for the log. Any thread.</summary>
    public static class Logs
    {
        /// <summary>Hands a line on; a sink that throws harms nobody.</summary>
        public static void Say(LogSink sink, LogLevel level, string text)
        {
            if (sink == null)
            {
                return;
            }
            try
            {
                sink(level, text);
            }
            catch (Exception)
            {
                // There is nowhere left to say it.
            }
        }

        /// <summary>The level that a line of the sidecar's log states, as `12:00:00.000 WARNING bridge: …`.</summary>
        public static LogLevel LevelOf(string line)
        {
            int space = line.IndexOf(' ');
            if (space <= 0 || !char.IsDigit(line[0]))
            {
                return LogLevel.Info;
            }
            int end = line.IndexOf(' ', space + 1);
            string word = end < 0 ? line.Substring(space + 1) : line.Substring(space + 1, end - space - 1);
            switch (word)
            {
                case "DEBUG":
                    return LogLevel.Debug;
                case "WARNING":
                    return LogLevel.Warning;
                case "ERROR":
                case "CRITICAL":
                    return LogLevel.Error;
                default:
                    return LogLevel.Info;
            }
        }
    }
}
