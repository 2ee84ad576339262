// Lines of what a process writes, however long they are.
using System;
using System.IO;
using System.Text;

namespace Parley
{
    /// <summary>Lines of a UTF-8 stream. One that does not end is handed on in pieces, so it fills no memory.</summary>
    internal sealed class LineReader : IDisposable
    {
        /// <summary>Letters of the longest piece.</summary>
        public const int Longest = 1024 * 1024;

        private readonly StreamReader _reader;
        private readonly char[] _read = new char[4096];
        private readonly StringBuilder _line = new StringBuilder();
        private int _at;
        private int _count;

        public LineReader(Stream stream)
        {
            _reader = new StreamReader(stream, new UTF8Encoding(false));
        }

        /// <summary>The next line without its end, or a piece of it; null at the end. Throws what the stream throws.</summary>
        public string Next()
        {
            while (true)
            {
                if (_at == _count)
                {
                    _at = 0;
                    _count = _reader.Read(_read, 0, _read.Length);
                    if (_count <= 0)
                    {
                        _count = 0;
                        return _line.Length == 0 ? null : Taken();
                    }
                }
                int end = Array.IndexOf(_read, '\n', _at, _count - _at);
                int until = end < 0 ? _count : end;
                _line.Append(_read, _at, until - _at);
                _at = end < 0 ? _count : end + 1;
                if (end >= 0 || _line.Length >= Longest)
                {
                    return Taken();
                }
            }
        }

        public void Dispose()
        {
            _reader.Dispose();
        }

        private string Taken()
        {
            int length = _line.Length;
            if (length > 0 && _line[length - 1] == '\r')
            {
                length--;
            }
            string line = _line.ToString(0, length);
            _line.Length = 0;
            return line;
        }
    }
}
