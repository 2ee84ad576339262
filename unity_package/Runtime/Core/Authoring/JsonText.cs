// JSON of workflow files, read and written with the spelling kept.
using System;
using System.Globalization;
using System.Text;
using Newtonsoft.Json.Linq;

namespace Parley
{
    /// <summary>JSON that comes back from an edit as its author wrote it: the spelling of numbers and texts, white
    /// space, the order of fields.</summary>
    /// <remarks>
    /// Newtonsoft's reader turns 1.0, 1e5 and a decimal of thirty digits into numbers and forgets how they were spelled;
    /// it also takes what the sidecar refuses (comments, single quotes, a trailing comma, 012), and of two fields with
    /// one name it drops the first. So workflow files have a reader and a writer of their own. What they make and take
    /// are Newtonsoft's tokens: all other code works with JObject, JArray and JValue as ever. The tokens that remember a
    /// spelling are subclasses, which Newtonsoft's own DeepClone does not copy; <see cref="Copy"/> does.
    /// </remarks>
    public static class JsonText
    {
        /// <summary>Levels of nesting that a workflow may have, so that a request around it is one the sidecar takes.
        /// </summary>
        public const int MaxDepth = Protocol.MaxJsonDepth - 1;

        /// <summary>Reads a JSON text. JsonFormatException says where and why it is none.</summary>
        public static JToken Parse(string text)
        {
            return new JsonReading(text).Read();
        }

        /// <summary>The value on one line without white space between tokens.</summary>
        public static string Compact(JToken token)
        {
            var writing = new JsonWriting(true, "", "", ":");
            writing.Value(token, true);
            return writing.Text;
        }

        /// <summary>The value as its file had it; what was never in a file is indented by two blanks.</summary>
        public static string Write(JToken token)
        {
            return Write(token, "\n", "  ", ": ");
        }

        internal static string Write(JToken token, string newLine, string step, string colon)
        {
            var writing = new JsonWriting(false, newLine, step, colon);
            writing.Value(token, false);
            return writing.Text;
        }

        /// <summary>A value in a few letters, for people.</summary>
        internal static string Shown(JToken token)
        {
            var value = token as JValue;
            string text = token is JObject ? "{…}" : token is JArray ? "[…]"
                : value == null ? token.Type.ToString() : value.Type == JTokenType.String ? (string)value : Spell(value);
            return text.Length > 80 ? text.Substring(0, 79) + "…" : text;
        }

        /// <summary>A copy that shares nothing with the value and keeps its spelling.</summary>
        public static JToken Copy(JToken token)
        {
            return Copy(token, 1);
        }

        internal static JsonFormatException TooDeep()
        {
            return new JsonFormatException(
                "the JSON is nested deeper than " + MaxDepth.ToString(CultureInfo.InvariantCulture) + " levels");
        }

        private static JToken Copy(JToken token, int depth)
        {
            var members = token as JObject;
            var items = token as JArray;
            var value = token as JValue;
            if (value != null)
            {
                var spelled = token as SpelledValue;
                return spelled == null ? new JValue(value)
                    : new SpelledValue(value, spelled.IsUnchanged ? spelled.Spelling : null, spelled.Before);
            }
            if (depth > MaxDepth)
            {
                throw TooDeep();
            }
            if (members != null)
            {
                var laid = token as LaidObject;
                JObject made = laid == null ? new JObject() : Like(laid);
                foreach (JProperty property in members.Properties())
                {
                    var from = property as LaidProperty;
                    JToken inner = Copy(property.Value, depth + 1);
                    made.Add(from == null ? new JProperty(property.Name, inner)
                        : new LaidProperty(from.Name, inner, from.Spelling, from.Before, from.Colon));
                }
                return made;
            }
            if (items != null)
            {
                var laid = token as LaidArray;
                JArray made = laid == null ? new JArray() : Like(laid);
                foreach (JToken item in items)
                {
                    made.Add(Copy(item, depth + 1));
                }
                return made;
            }
            throw new JsonFormatException("a " + token.Type + " cannot stand in JSON");
        }

        private static JObject Like(LaidObject laid)
        {
            var made = new LaidObject { Before = laid.Before };
            Take(made.Gaps, laid.Gaps);
            return made;
        }

        private static JArray Like(LaidArray laid)
        {
            var made = new LaidArray { Before = laid.Before };
            Take(made.Gaps, laid.Gaps);
            return made;
        }

        private static void Take(JsonGaps gaps, JsonGaps from)
        {
            gaps.Open = from.Open;
            gaps.Between = from.Between;
            gaps.Close = from.Close;
        }

        /// <summary>A text as JSON in the spelling that parley itself writes.</summary>
        internal static string Quoted(string text)
        {
            var quoted = new StringBuilder(text.Length + 2);
            quoted.Append('"');
            for (int at = 0; at < text.Length; at++)
            {
                char letter = text[at];
                switch (letter)
                {
                    case '"':
                    case '\\':
                        quoted.Append('\\').Append(letter);
                        break;
                    case '\b':
                        quoted.Append("\\b");
                        break;
                    case '\f':
                        quoted.Append("\\f");
                        break;
                    case '\n':
                        quoted.Append("\\n");
                        break;
                    case '\r':
                        quoted.Append("\\r");
                        break;
                    case '\t':
                        quoted.Append("\\t");
                        break;
                    default:
                        if (letter < ' ')
                        {
                            quoted.Append("\\u").Append(((int)letter).ToString("x4", CultureInfo.InvariantCulture));
                        }
                        else if (!char.IsSurrogate(letter))
                        {
                            quoted.Append(letter);
                        }
                        else if (char.IsHighSurrogate(letter) && at + 1 < text.Length && char.IsLowSurrogate(text[at + 1]))
                        {
                            quoted.Append(letter).Append(text[++at]);
                        }
                        else
                        {
                            quoted.Append('\ufffd'); // UTF-8 has no form for half a character
                        }
                        break;
                }
            }
            return quoted.Append('"').ToString();
        }

        /// <summary>A value that was never in a file, as JSON.</summary>
        internal static string Spell(JValue value)
        {
            object held = value.Value;
            if (held == null)
            {
                return "null";
            }
            if (held is bool)
            {
                return (bool)held ? "true" : "false";
            }
            if (value.Type == JTokenType.Integer || held is decimal)
            {
                return Convert.ToString(held, CultureInfo.InvariantCulture);
            }
            if (held is double || held is float)
            {
                return Spell(held is float ? (float)held : (double)held, held is float);
            }
            if (value.Type == JTokenType.Raw)
            {
                return (string)held;
            }
            return Quoted(Convert.ToString(held, CultureInfo.InvariantCulture));
        }

        private static string Spell(double number, bool isSingle)
        {
            if (double.IsNaN(number) || double.IsInfinity(number))
            {
                string shown = number.ToString(CultureInfo.InvariantCulture);
                throw new JsonFormatException("JSON has no form for the number " + shown);
            }
            string text = isSingle ? ((float)number).ToString("R", CultureInfo.InvariantCulture)
                : number.ToString("R", CultureInfo.InvariantCulture);
            text = text.Replace("E+", "e").Replace("E-0", "e-").Replace('E', 'e');
            return text.IndexOf('.') < 0 && text.IndexOf('e') < 0 ? text + ".0" : text;
        }
    }
}
