// Whether a value fits a node's parameter.
using System;
using System.Globalization;
using System.Linq;
using Newtonsoft.Json.Linq;

namespace Parley
{
    /// <summary>Whether a value is one that a parameter may have: its type, its bounds, the fields inside it.</summary>
    internal static class ParamChecks
    {
        internal delegate void Report(string message, ErrorCode code, string place);

        /// <summary>Reports what is wrong with a value that stands at `place`. A value is as strictly taken as by the
        /// sidecar: 1.0 is no integer, and true no number.</summary>
        public static void Check(NodeParam param, JToken value, string place, Report report)
        {
            if (param.IsOptional && value.Type == JTokenType.Null)
            {
                return;
            }
            switch (param.Type)
            {
                case ParamType.Text:
                    CheckText(param, value, place, report);
                    break;
                case ParamType.Integer:
                    if (Fits(value.Type == JTokenType.Integer, "a whole number", value, place, report))
                    {
                        CheckNumber(param, value, place, report);
                    }
                    break;
                case ParamType.Number:
                    bool isNumber = value.Type == JTokenType.Integer || value.Type == JTokenType.Float;
                    if (Fits(isNumber, "a number", value, place, report))
                    {
                        CheckNumber(param, value, place, report);
                    }
                    break;
                case ParamType.Boolean:
                    Fits(value.Type == JTokenType.Boolean, "true or false", value, place, report);
                    break;
                case ParamType.Choice:
                    if (value.Type != JTokenType.String || !param.Choices.Contains((string)value))
                    {
                        string choices = string.Join(", ", param.Choices.Select(choice => "'" + choice + "'").ToArray());
                        report("it must be one of " + choices + ", not " + Shown(value), ErrorCode.InvalidValue, place);
                    }
                    break;
                case ParamType.List:
                    CheckList(param, value, place, report);
                    break;
                case ParamType.Record:
                    CheckRecord(param, value, place, report);
                    break;
                case ParamType.Object:
                    Fits(value.Type == JTokenType.Object, "an object", value, place, report);
                    break;
            }
        }

        /// <summary>A value in a few words.</summary>
        internal static string Shown(JToken value)
        {
            switch (value == null ? JTokenType.Null : value.Type)
            {
                case JTokenType.Null:
                    return "null";
                case JTokenType.String:
                    return Names.Shown((string)value);
                case JTokenType.Object:
                    return "an object";
                case JTokenType.Array:
                    return "a list";
                default:
                    return JsonText.Shown(value);
            }
        }

        /// <summary>Characters as the sidecar counts them: one for each code point.</summary>
        internal static int Length(string text)
        {
            int length = text.Length;
            for (int at = 0; at + 1 < text.Length; at++)
            {
                length -= char.IsHighSurrogate(text[at]) && char.IsLowSurrogate(text[at + 1]) ? 1 : 0;
            }
            return length;
        }

        /// <summary>A number, however large it is; bounds are far below where a double is no longer exact.</summary>
        internal static double NumberOf(JToken value)
        {
            // Newtonsoft's own reader makes integers of any size, which no cast takes.
            double number;
            string text = Convert.ToString(((JValue)value).Value, CultureInfo.InvariantCulture);
            return double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out number) ? number
                : text.StartsWith("-", StringComparison.Ordinal) ? double.NegativeInfinity : double.PositiveInfinity;
        }

        private static bool Fits(bool fits, string wanted, JToken value, string place, Report report)
        {
            if (!fits)
            {
                report("it must be " + wanted + ", not " + Shown(value), ErrorCode.WorkflowInvalid, place);
            }
            return fits;
        }

        private static void CheckText(NodeParam param, JToken value, string place, Report report)
        {
            if (Fits(value.Type == JTokenType.String, "a text", value, place, report))
            {
                CheckLength(param, Length((string)value), "character", place, report);
            }
        }

        private static void CheckLength(NodeParam param, int length, string what, string place, Report report)
        {
            if (param.LeastLength.HasValue && length < param.LeastLength.Value)
            {
                report("it has " + Count(length, what) + "; it needs at least " + Digits(param.LeastLength.Value),
                    ErrorCode.InvalidValue, place);
            }
            else if (param.MostLength.HasValue && length > param.MostLength.Value)
            {
                report("it has " + Count(length, what) + "; " + Digits(param.MostLength.Value) + " are allowed",
                    ErrorCode.InvalidValue, place);
            }
        }

        private static void CheckNumber(NodeParam param, JToken value, string place, Report report)
        {
            double number = NumberOf(value);
            string wanted = null;
            double least = param.Least ?? double.NegativeInfinity, most = param.Most ?? double.PositiveInfinity;
            if (number < least || (param.LeastIsExcluded && number <= least))
            {
                wanted = (param.LeastIsExcluded ? "above " : "at least ") + Digits(least);
            }
            else if (number > most || (param.MostIsExcluded && number >= most))
            {
                wanted = (param.MostIsExcluded ? "below " : "at most ") + Digits(most);
            }
            if (wanted != null)
            {
                report("it must be " + wanted + ", not " + Shown(value), ErrorCode.InvalidValue, place);
            }
        }

        private static void CheckList(NodeParam param, JToken value, string place, Report report)
        {
            var items = value as JArray;
            if (!Fits(items != null, "a list", value, place, report))
            {
                return;
            }
            if (param.MostLength.HasValue && items.Count > param.MostLength.Value)
            {
                CheckLength(param, items.Count, "entry", place, report);
                return; // entries are looked at in a list of a sound length only
            }
            for (int index = 0; index < items.Count && param.Item != null; index++)
            {
                Check(param.Item, items[index], place + "[" + Digits(index) + "]", report);
            }
            CheckLength(param, items.Count, "entry", place, report);
        }

        private static void CheckRecord(NodeParam param, JToken value, string place, Report report)
        {
            var members = value as JObject;
            if (!Fits(members != null, "an object", value, place, report))
            {
                return;
            }
            foreach (NodeParam field in param.Fields)
            {
                JToken inner = members[field.Name];
                if (inner != null)
                {
                    Check(field, inner, place + "." + field.Name, report);
                }
                else if (field.IsRequired)
                {
                    report("it is needed, and missing", ErrorCode.WorkflowInvalid, place + "." + field.Name);
                }
            }
            foreach (JProperty property in members.Properties())
            {
                if (param.Fields.All(field => field.Name != property.Name))
                {
                    report(
                        "unknown field " + Names.Shown(property.Name) + "; known: "
                        + string.Join(", ", param.Fields.Select(field => field.Name).ToArray()),
                        ErrorCode.WorkflowInvalid, place + "." + Cut(property.Name));
                }
            }
        }

        /// <summary>At most 200 characters of a text, as messages of the sidecar have it.</summary>
        internal static string Cut(string text)
        {
            if (Length(text) <= 200)
            {
                return text;
            }
            int at = 0;
            for (int count = 0; count < 199; count++)
            {
                at += char.IsHighSurrogate(text[at]) && at + 1 < text.Length && char.IsLowSurrogate(text[at + 1]) ? 2 : 1;
            }
            return text.Substring(0, at) + "…";
        }

        private static string Count(int number, string what)
        {
            string many = what == "entry" ? "entries" : what + "s";
            return Digits(number) + " " + (number == 1 ? what : many);
        }

        private static string Digits(double number)
        {
            return number.ToString(CultureInfo.InvariantCulture);
        }
    }
}
