// The reader behind JsonText.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;
using Newtonsoft.Json.Linq;

namespace Parley
{
    /// <summary>One reading of a JSON text: strict, as the sidecar reads it, and with the spelling kept.</summary>
    internal sealed class JsonReading
    {
        private readonly string _text;
        private int _at;
        private int _depth;

        public JsonReading(string text)
        {
            _text = text;
        }

        /// <summary>White space before the value.</summary>
        public string Prefix { get; private set; }

        /// <summary>White space behind it.</summary>
        public string Suffix { get; private set; }

        /// <summary>Reads the one value that the text must be.</summary>
        public JToken Read()
        {
            Prefix = Gap();
            if (_at == _text.Length)
            {
                throw Fault("there is nothing in it", _at);
            }
            JToken value = Value(null);
            Suffix = Gap();
            if (_at < _text.Length)
            {
                throw Fault("there is more behind the end of the JSON; remove it", _at);
            }
            return value;
        }

        private JToken Value(string before)
        {
            char letter = Peek();
            switch (letter)
            {
                case '{':
                    return Object(before);
                case '[':
                    return Array(before);
                case '"':
                    int start = _at;
                    string text = Text();
                    string spelling = _text.Substring(start, _at - start);
                    return Spelled(new JValue(text), spelling == JsonText.Quoted(text) ? null : spelling, before);
                case 't':
                    return Spelled(Word("true", new JValue(true)), null, before);
                case 'f':
                    return Spelled(Word("false", new JValue(false)), null, before);
                case 'n':
                    return Spelled(Word("null", new JValue((object)null)), null, before);
                default:
                    if (letter == '-' || IsDigit(letter))
                    {
                        return Number(before);
                    }
                    throw Fault(EndOr(Unexpected(letter)), _at);
            }
        }

        private static JValue Spelled(JValue value, string spelling, string before)
        {
            return spelling == null && before == null ? value : new SpelledValue(value, spelling, before);
        }

        private string Unexpected(char letter)
        {
            if (letter == '/')
            {
                return "JSON has no comments; remove it";
            }
            if (letter == '\'' || letter == '\u201c' || letter == '\u201d')
            {
                return "texts stand between straight double quotes (\")";
            }
            return (letter == '}' || letter == ']') ? "a value is missing before the bracket; is there a comma too many?"
                : Names.Shown(letter.ToString()) + " begins no value";
        }

        private string EndOr(string message)
        {
            return _at == _text.Length ? "the text ends in the middle of the JSON" : message;
        }

        private JToken Object(string before)
        {
            var made = new LaidObject { Before = before };
            int start = Enter();
            string gap = Gap();
            if (Peek() == '}')
            {
                _at++;
                made.Gaps.Close = gap;
                return Leave(made);
            }
            made.Gaps.Open = gap;
            string usual = null;
            var fields = new List<LaidProperty>();
            for (;;)
            {
                int place = _at;
                if (Peek() != '"')
                {
                    throw Fault(EndOr("the name of a field, in double quotes, must stand here"), _at);
                }
                string name = Text();
                string spelling = _text.Substring(place, _at - place);
                int colon = _at;
                Gap();
                if (Peek() != ':')
                {
                    throw Fault(EndOr("a colon must follow the field's name"), _at);
                }
                _at++;
                Gap();
                string between = _text.Substring(colon, _at - colon);
                if (made.Property(name) != null)
                {
                    throw Fault("the field " + Names.Shown(name) + " is there twice; remove one", place);
                }
                made.Add(new LaidProperty(name, Value(null), spelling, fields.Count == 0 ? null : gap, between));
                fields.Add((LaidProperty)made.Last);
                if (!More('}', start, out gap))
                {
                    made.Gaps.Close = gap;
                    break;
                }
                usual = usual == null || (usual.IndexOf('\n') < 0 && gap.IndexOf('\n') >= 0) ? gap : usual;
            }
            made.Gaps.Between = Usual(made.Gaps.Open, usual);
            return Leave(made);
        }

        private JToken Array(string before)
        {
            var made = new LaidArray { Before = before };
            int start = Enter();
            string gap = Gap();
            if (Peek() == ']')
            {
                _at++;
                made.Gaps.Close = gap;
                return Leave(made);
            }
            made.Gaps.Open = gap;
            string usual = null;
            made.Add(Value(null));
            while (More(']', start, out gap))
            {
                usual = usual ?? gap;
                made.Add(Value(gap == usual ? null : gap));
            }
            made.Gaps.Close = gap;
            made.Gaps.Between = Usual(made.Gaps.Open, usual);
            return Leave(made);
        }

        private static string Usual(string open, string second)
        {
            return second ?? (open.IndexOf('\n') >= 0 ? open : " ");
        }

        /// <summary>Whether a comma follows; then `gap` is what stands behind it, else before the bracket.</summary>
        private bool More(char closing, int start, out string gap)
        {
            gap = Gap();
            char letter = Peek();
            if (letter == closing)
            {
                _at++;
                return false;
            }
            if (letter != ',')
            {
                throw Fault(
                    _at == _text.Length ? "the " + _text[start] + " of " + Place(start) + " is never closed"
                        : "a comma or " + closing + " must stand here", _at);
            }
            int comma = _at++;
            gap = Gap();
            if (Peek() == closing)
            {
                throw Fault("there is a comma too many before the " + closing, comma);
            }
            return true;
        }

        private int Enter()
        {
            if (++_depth > JsonText.MaxDepth)
            {
                throw Fault(JsonText.TooDeep().Message, _at);
            }
            return _at++;
        }

        private JToken Leave(JToken made)
        {
            _depth--;
            return made;
        }

        private string Gap()
        {
            int start = _at;
            while (_at < _text.Length && (_text[_at] == ' ' || _text[_at] == '\n' || _text[_at] == '\r' || _text[_at] == '\t'))
            {
                _at++;
            }
            bool isBlank = _at == start + 1 && _text[start] == ' '; // as most are
            return _at == start ? "" : isBlank ? " " : _text.Substring(start, _at - start);
        }

        private JValue Word(string word, JValue value)
        {
            if (string.CompareOrdinal(_text, _at, word, 0, word.Length) != 0)
            {
                throw Fault("this is none of true, false and null", _at);
            }
            _at += word.Length;
            return value;
        }

        private JValue Number(string before)
        {
            int start = _at;
            if (Peek() == '-')
            {
                _at++;
            }
            int whole = _at;
            Digits(start);
            if (_text[whole] == '0' && _at > whole + 1)
            {
                throw Fault("a number cannot begin with 0 and another digit", start);
            }
            bool isWhole = true;
            if (Peek() == '.')
            {
                isWhole = false;
                _at++;
                Digits(start);
            }
            if (Peek() == 'e' || Peek() == 'E')
            {
                isWhole = false;
                _at++;
                if (Peek() == '+' || Peek() == '-')
                {
                    _at++;
                }
                Digits(start);
            }
            string spelling = _text.Substring(start, _at - start);
            long small;
            if (isWhole && long.TryParse(spelling, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out small))
            {
                return Spelled(new JValue(small), spelling == "-0" ? spelling : null, before);
            }
            ulong large;
            if (isWhole && ulong.TryParse(spelling, NumberStyles.None, CultureInfo.InvariantCulture, out large))
            {
                return Spelled(new JValue(large), null, before);
            }
            double number;
            // Newer runtimes give infinity where older ones give nothing.
            bool isRead = double.TryParse(spelling, NumberStyles.Float, CultureInfo.InvariantCulture, out number);
            if (!isRead || double.IsInfinity(number))
            {
                throw Fault("the number is too large", start);
            }
            return Spelled(new JValue(number), spelling, before);
        }

        private void Digits(int start)
        {
            int first = _at;
            while (IsDigit(Peek()))
            {
                _at++;
            }
            if (_at == first)
            {
                throw Fault("this is no number", start);
            }
        }

        private string Text()
        {
            int start = _at++;
            int done = _at;
            StringBuilder made = null;
            for (;;)
            {
                if (_at == _text.Length)
                {
                    throw Fault("the text that begins here is never closed", start);
                }
                char letter = _text[_at];
                if (letter == '"')
                {
                    string rest = _text.Substring(done, _at - done);
                    _at++;
                    string text = made == null ? rest : made.Append(rest).ToString();
                    RefuseLoneSurrogates(text, start);
                    return text;
                }
                if (letter < ' ')
                {
                    throw Fault(
                        letter == '\n' || letter == '\r' ? "a text cannot go over several lines; write \\n for a line break"
                            : "a control character in a text must be written as an escape, such as \\t", _at);
                }
                if (letter != '\\')
                {
                    _at++;
                    continue;
                }
                made = made ?? new StringBuilder();
                made.Append(_text, done, _at - done).Append(Escape());
                done = _at;
            }
        }

        private char Escape()
        {
            int start = _at++;
            char letter = Peek();
            _at++;
            switch (letter)
            {
                case '"':
                case '\\':
                case '/':
                    return letter;
                case 'b':
                    return '\b';
                case 'f':
                    return '\f';
                case 'n':
                    return '\n';
                case 'r':
                    return '\r';
                case 't':
                    return '\t';
                case 'u':
                    ushort code;
                    if (_at + 4 <= _text.Length && ushort.TryParse(
                        _text.Substring(_at, 4), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out code))
                    {
                        _at += 4;
                        return (char)code;
                    }
                    throw Fault("\\u needs four hexadecimal digits", start);
                default:
                    throw Fault("this is no escape; a backslash itself is written \\\\", start);
            }
        }

        private void RefuseLoneSurrogates(string text, int start)
        {
            for (int at = 0; at < text.Length; at++)
            {
                if (!char.IsSurrogate(text[at]))
                {
                    continue;
                }
                if (!char.IsHighSurrogate(text[at]) || at + 1 == text.Length || !char.IsLowSurrogate(text[at + 1]))
                {
                    throw Fault("half of a character (a lone surrogate) is in this text; write it whole", start);
                }
                at++;
            }
        }

        private char Peek()
        {
            return _at < _text.Length ? _text[_at] : '\0';
        }

        private static bool IsDigit(char letter)
        {
            return letter >= '0' && letter <= '9';
        }

        private string Place(int at)
        {
            JsonFormatException fault = Fault("", at);
            return "line " + fault.Line.ToString(CultureInfo.InvariantCulture);
        }

        private JsonFormatException Fault(string message, int at)
        {
            int line = 1, begin = 0;
            for (int i = 0; i < at && i < _text.Length; i++)
            {
                if (_text[i] == '\n')
                {
                    line++;
                    begin = i + 1;
                }
            }
            return new JsonFormatException(message, line, at - begin + 1);
        }
    }
}
