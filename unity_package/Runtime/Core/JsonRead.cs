// How generated messages and nodes are read, with the place of what is wrong.
using System;
using System.Collections.Generic;
using System.Globalization;
using Newtonsoft.Json.Linq;

namespace Parley
{
    /// <summary>
    /// Typed values out of parsed JSON. What is wrong is told with its path as MalformedMessageException; nothing is
    /// converted: a number in a text is no number, 1.0 is no whole number, and null stands only where it may.
    /// </summary>
    public static class JsonRead
    {
        /// <summary>A field that must be there.</summary>
        public static JToken Field(JObject json, string name)
        {
            JToken field;
            if (!json.TryGetValue(name, out field))
            {
                throw new MalformedMessageException(PathOf(json, name), "is missing");
            }
            return field;
        }

        /// <summary>Whether a field is there and not null.</summary>
        public static bool TryField(JObject json, string name, out JToken field)
        {
            return json.TryGetValue(name, out field) && field.Type != JTokenType.Null;
        }

        /// <summary>A text, as it is.</summary>
        public static string Text(JToken token)
        {
            var value = token as JValue;
            if (value != null && token.Type == JTokenType.String)
            {
                return (string)value.Value;
            }
            throw Wrong(token, "a text");
        }

        /// <summary>True or false.</summary>
        public static bool Boolean(JToken token)
        {
            var value = token as JValue;
            if (value != null && token.Type == JTokenType.Boolean)
            {
                return (bool)value.Value;
            }
            throw Wrong(token, "true or false");
        }

        /// <summary>A whole number within bounds.</summary>
        public static int Int32(JToken token, int least = int.MinValue, int most = int.MaxValue)
        {
            return (int)Int64(token, least, most);
        }

        /// <summary>A whole number within bounds.</summary>
        public static long Int64(JToken token, long least = long.MinValue, long most = long.MaxValue)
        {
            long number;
            if (!long.TryParse(Digits(token), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out number)
                || number < least
                || number > most)
            {
                throw OutOfBounds(token, Shown(least), Shown(most));
            }
            return number;
        }

        /// <summary>A whole number of 64 bits without a sign.</summary>
        public static ulong UInt64(JToken token)
        {
            ulong number;
            if (!ulong.TryParse(Digits(token), NumberStyles.None, CultureInfo.InvariantCulture, out number))
            {
                throw OutOfBounds(token, Shown(ulong.MinValue), Shown(ulong.MaxValue));
            }
            return number;
        }

        /// <summary>A finite number.</summary>
        public static double Number(JToken token)
        {
            var value = token as JValue;
            var number = double.NaN;
            if (value != null && token.Type == JTokenType.Float)
            {
                number = Convert.ToDouble(value.Value, CultureInfo.InvariantCulture);
            }
            else if (value != null && token.Type == JTokenType.Integer)
            {
                if (!double.TryParse(
                        Shown(value.Value), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out number))
                {
                    number = double.PositiveInfinity;
                }
            }
            else
            {
                throw Wrong(token, "a number");
            }
            if (double.IsNaN(number) || double.IsInfinity(number))
            {
                throw new MalformedMessageException(PathOf(token), "must be a finite number");
            }
            return number;
        }

        /// <summary>An object, as it is: not a copy.</summary>
        public static JObject Object(JToken token)
        {
            var json = token as JObject;
            if (json != null)
            {
                return json;
            }
            throw Wrong(token, "an object");
        }

        /// <summary>An object or a list.</summary>
        public static JToken Container(JToken token)
        {
            if (token is JObject || token is JArray)
            {
                return token;
            }
            throw Wrong(token, "an object or a list");
        }

        /// <summary>An object whose values are what variables can be.</summary>
        public static JObject Variables(JToken token)
        {
            var json = Object(token);
            foreach (var property in json.Properties())
            {
                switch (property.Value.Type)
                {
                    case JTokenType.Boolean:
                    case JTokenType.Integer:
                    case JTokenType.String:
                        break;
                    case JTokenType.Float:
                        Number(property.Value);
                        break;
                    case JTokenType.Array:
                        List(property.Value, item => Text(item));
                        break;
                    default:
                        throw Wrong(property.Value, "true or false, a number, a text or a list of texts");
                }
            }
            return json;
        }

        /// <summary>A list, each entry read by <paramref name="read"/>.</summary>
        public static List<T> List<T>(JToken token, Func<JToken, T> read)
        {
            var array = token as JArray;
            if (array == null)
            {
                throw Wrong(token, "a list");
            }
            var list = new List<T>(array.Count);
            foreach (var item in array)
            {
                list.Add(read(item));
            }
            return list;
        }

        /// <summary>An object, each value read by <paramref name="read"/>.</summary>
        public static Dictionary<string, T> Map<T>(JToken token, Func<JToken, T> read)
        {
            var map = new Dictionary<string, T>(StringComparer.Ordinal);
            foreach (var property in Object(token).Properties())
            {
                map[property.Name] = read(property.Value);
            }
            return map;
        }

        /// <summary>What to throw where a text is none of the words that may stand there.</summary>
        public static MalformedMessageException UnknownWord(JToken token, string words)
        {
            return new MalformedMessageException(
                PathOf(token), "'" + Cut(Text(token)) + "' is not known here, only " + words + "; is the other side newer?");
        }

        /// <summary>Where a value stands in the JSON it is part of, such as <c>$.outputs[0].text</c>.</summary>
        public static string PathOf(JToken token)
        {
            var steps = new List<string>();
            for (var at = token; at.Parent != null; at = at.Parent)
            {
                var property = at as JProperty;
                if (property != null)
                {
                    steps.Add(Step(property.Name));
                }
                else if (at.Parent is JArray)
                {
                    steps.Add("[" + ((JArray)at.Parent).IndexOf(at).ToString(CultureInfo.InvariantCulture) + "]");
                }
            }
            steps.Reverse();
            return "$" + string.Concat(steps.ToArray());
        }

        private static string PathOf(JToken parent, string name)
        {
            return PathOf(parent) + Step(name);
        }

        private static string Step(string name)
        {
            return "." + Cut(name);
        }

        private static string Cut(string text)
        {
            const int most = 80;
            if (text.Length <= most)
            {
                return text;
            }
            return text.Substring(0, char.IsHighSurrogate(text[most - 1]) ? most - 1 : most) + "…";
        }

        private static string Digits(JToken token)
        {
            var value = token as JValue;
            if (value != null && token.Type == JTokenType.Integer)
            {
                return Shown(value.Value);
            }
            throw Wrong(token, "a whole number");
        }

        private static string Shown(object number)
        {
            // Past 64 bits it is a BigInteger, which only its text is taken from: its assembly is not everywhere.
            return Convert.ToString(number, CultureInfo.InvariantCulture);
        }

        private static MalformedMessageException OutOfBounds(JToken token, string least, string most)
        {
            return new MalformedMessageException(
                PathOf(token), "must be a whole number from " + least + " to " + most);
        }

        private static MalformedMessageException Wrong(JToken token, string right)
        {
            return new MalformedMessageException(PathOf(token), "must be " + right + ", not " + Named(token));
        }

        private static string Named(JToken token)
        {
            switch (token.Type)
            {
                case JTokenType.Object:
                    return "an object";
                case JTokenType.Array:
                    return "a list";
                case JTokenType.String:
                    return "a text";
                case JTokenType.Boolean:
                    return "true or false";
                case JTokenType.Integer:
                    return "a whole number";
                case JTokenType.Float:
                    return "a number with a fraction";
                case JTokenType.Null:
                    return "null";
                case JTokenType.Date:
                    return "a date (parse the JSON with JsonText, which leaves texts alone)";
                default:
                    return "something that is not JSON";
            }
        }
    }
}
