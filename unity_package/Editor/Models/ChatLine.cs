// What the test chat shows: lines, variables, tool calls.
using System.Collections.Generic;
using System.Globalization;
using Newtonsoft.Json.Linq;

namespace Parley.Editor
{
    /// <summary>What a line of the chat is.</summary>
    public enum ChatLineKind
    {
        /// <summary>The player said it.</summary>
        Player,
        /// <summary>A node says it.</summary>
        Speaker,
        /// <summary>How much sound came of what a node says.</summary>
        Sound,
        /// <summary>Something that happened.</summary>
        Note,
        /// <summary>Something that failed.</summary>
        Error
    }

    /// <summary>One line of the chat.</summary>
    public sealed class ChatLine
    {
        /// <summary>What it is.</summary>
        public ChatLineKind Kind;

        /// <summary>The node that speaks; empty: none.</summary>
        public string NodeName = "";

        /// <summary>The text, as much as has come.</summary>
        public string Text = "";

        /// <summary>The turn; 0: none.</summary>
        public long TurnId;

        /// <summary>The step of the turn; 0: none.</summary>
        public long Step;

        /// <summary>More is to come.</summary>
        public bool IsOpen;
    }

    /// <summary>A variable of the workflow, as the chat edits it.</summary>
    public sealed class ChatVariable
    {
        /// <summary>Its name.</summary>
        public string Name = "";

        /// <summary>int, float, string, bool or string_set.</summary>
        public string Type = "";

        /// <summary>Its value as text; a string_set is separated by commas.</summary>
        public string Text = "";

        /// <summary>Why the last value was refused; empty: it was not.</summary>
        public string Refusal = "";

        internal static string TextOf(JToken value)
        {
            var list = value as JArray;
            if (list != null)
            {
                var texts = new List<string>();
                foreach (var item in list)
                {
                    texts.Add(TextOf(item));
                }
                return string.Join(", ", texts.ToArray());
            }
            if (value == null || value.Type == JTokenType.Null)
            {
                return "";
            }
            return value.Type == JTokenType.String ? (string)value : JsonText.Compact(value);
        }

        internal static JToken Read(string type, string text, out string refusal)
        {
            refusal = null;
            var trimmed = (text ?? "").Trim();
            switch (type)
            {
                case "int":
                    long whole;
                    if (long.TryParse(trimmed, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out whole))
                    {
                        return new JValue(whole);
                    }
                    refusal = "a whole number is wanted";
                    return null;
                case "float":
                    double number;
                    if (double.TryParse(trimmed, NumberStyles.Float, CultureInfo.InvariantCulture, out number)
                        && !double.IsNaN(number) && !double.IsInfinity(number))
                    {
                        return new JValue(number);
                    }
                    refusal = "a number is wanted, with a point for decimals";
                    return null;
                case "bool":
                    if (trimmed == "true" || trimmed == "false")
                    {
                        return new JValue(trimmed == "true");
                    }
                    refusal = "true or false is wanted";
                    return null;
                case "string_set":
                    var set = new JArray();
                    foreach (var part in trimmed.Split(','))
                    {
                        if (part.Trim().Length > 0)
                        {
                            set.Add(part.Trim());
                        }
                    }
                    return set;
                default:
                    return new JValue(text ?? "");
            }
        }
    }

    /// <summary>A tool call that the turn waits for, or waited.</summary>
    public sealed class ChatToolCall
    {
        /// <summary>The call.</summary>
        public ToolCall Call;

        /// <summary>What a person types as its result.</summary>
        public string Result = "";
    }
}
