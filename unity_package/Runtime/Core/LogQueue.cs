// Log lines that wait for the game's thread.
using System.Collections.Generic;

namespace Parley
{
    /// <summary>
    /// Keeps what is logged anywhere until the game's thread asks for it; beyond a bound the oldest lines go.
    /// Threading: Say from any thread, Run on the game's.
    /// </summary>
    internal sealed class LogQueue
    {
        private const int MaxLines = 1000;
        private const long MaxBytes = 4 * 1024 * 1024;

        private readonly object _lock = new object();
        private readonly Queue<KeyValuePair<LogLevel, string>> _lines = new Queue<KeyValuePair<LogLevel, string>>();
        private long _bytes;
        private int _leftOut;
        private volatile bool _hasLines;

        internal void Say(LogLevel level, string text)
        {
            long bytes = BytesOf(text);
            lock (_lock)
            {
                while (_lines.Count > 0 && (_lines.Count == MaxLines || _bytes + bytes > MaxBytes))
                {
                    _bytes -= BytesOf(_lines.Dequeue().Value);
                    _leftOut++;
                }
                _bytes += bytes;
                _lines.Enqueue(new KeyValuePair<LogLevel, string>(level, text));
                _hasLines = true;
            }
        }

        /// <summary>Hands all of it to the log.</summary>
        internal void Run(LogSink log)
        {
            Run(log, MaxLines);
        }

        /// <summary>Hands so many lines at most to the log: a game's own takes its time over each, and may log itself.</summary>
        internal void Run(LogSink log, int most)
        {
            for (int count = 0; _hasLines && count < most; count++)
            {
                KeyValuePair<LogLevel, string> line;
                int leftOut;
                lock (_lock)
                {
                    line = _lines.Dequeue();
                    _bytes -= BytesOf(line.Value);
                    leftOut = _leftOut;
                    _leftOut = 0;
                    _hasLines = _lines.Count > 0;
                }
                if (leftOut > 0)
                {
                    Logs.Say(log, LogLevel.Warning, "(" + leftOut + " log lines were left out: nobody took them)");
                }
                Logs.Say(log, line.Key, line.Value);
            }
        }

        private static long BytesOf(string text)
        {
            return text == null ? 0 : (long)sizeof(char) * text.Length;
        }
    }
}
