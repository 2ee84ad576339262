// What may be a name, and which one is free.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Text;

namespace Parley
{
    /// <summary>What a node, slot, variable or source may be called. No culture has a say in it.</summary>
    public static class Names
    {
        /// <summary>The longest name, in characters.</summary>
        public const int MaxLength = Protocol.MaxNameChars;

        /// <summary>The slot of the player's line; no node may be called so and none may write it.</summary>
        public const string Reserved = Protocol.ReservedName;

        /// <summary>Returns the trimmed name; AuthoringException with the reason when it may not be used.</summary>
        public static string Check(string text)
        {
            string name = Trim(text ?? "");
            if (name == Reserved)
            {
                throw new AuthoringException(
                    AuthoringReason.Reserved,
                    "'" + Reserved + "' is reserved for the player's line; choose another name.");
            }
            if (name.Length == 0)
            {
                throw new AuthoringException(
                    AuthoringReason.Grammar, "A name cannot be empty; give at least one letter.");
            }
            if (!IsIdentifier(name))
            {
                throw new AuthoringException(
                    AuthoringReason.Grammar,
                    Shown(name) + " is not a name; use only the letters A to Z, digits and _, and no digit first.");
            }
            if (name.Length > MaxLength)
            {
                throw new AuthoringException(
                    AuthoringReason.Grammar,
                    Shown(name) + " has " + name.Length.ToString(CultureInfo.InvariantCulture)
                    + " characters; shorten it to at most " + MaxLength.ToString(CultureInfo.InvariantCulture) + ".");
            }
            return name;
        }

        /// <summary>Whether a field may show the text as it is: Check would return it unchanged.</summary>
        public static bool IsName(string text)
        {
            return text != null && text.Length <= MaxLength && text != Reserved && IsIdentifier(text);
        }

        /// <summary>Returns <paramref name="wanted"/>, or the first of wanted_2, wanted_3, … not taken, cut so that the
        /// suffix fits.</summary>
        public static string Unique(string wanted, ICollection<string> taken)
        {
            string name = wanted;
            for (int number = 2; taken.Contains(name); number++)
            {
                string suffix = "_" + number.ToString(CultureInfo.InvariantCulture);
                name = wanted.Substring(0, Math.Min(wanted.Length, MaxLength - suffix.Length)) + suffix;
            }
            return name;
        }

        /// <summary>The text without white space around it.</summary>
        public static string Trim(string text)
        {
            int start = 0, end = text.Length;
            while (start < end && IsBlank(text[start]))
            {
                start++;
            }
            while (end > start && IsBlank(text[end - 1]))
            {
                end--;
            }
            return text.Substring(start, end - start);
        }

        /// <summary>White space as the sidecar knows it: .NET's own table leaves out four control characters, and older
        /// versions of it have others besides.</summary>
        internal static bool IsBlank(char letter)
        {
            return (letter >= '\t' && letter <= '\r') || (letter >= '\u001c' && letter <= ' ')
                || letter == '\u0085' || letter == '\u00a0' || letter == '\u1680'
                || (letter >= '\u2000' && letter <= '\u200a') || letter == '\u2028' || letter == '\u2029'
                || letter == '\u202f' || letter == '\u205f' || letter == '\u3000';
        }

        /// <summary>A text in quotes for a message: what does not print is escaped, and it is not too long.</summary>
        internal static string Shown(string text)
        {
            var cut = new StringBuilder();
            int letters = 0;
            for (int at = 0; at < text.Length && letters < MaxLength; letters++)
            {
                int width = IsPair(text, at) ? 2 : 1;
                cut.Append(text, at, width);
                at += width;
            }
            if (cut.Length < text.Length)
            {
                cut.Append('…');
            }
            return Quoted(cut.ToString());
        }

        private static string Quoted(string text)
        {
            char quote = text.IndexOf('\'') >= 0 && text.IndexOf('"') < 0 ? '"' : '\'';
            var shown = new StringBuilder();
            shown.Append(quote);
            for (int at = 0; at < text.Length; at++)
            {
                char letter = text[at];
                if (letter == quote || letter == '\\')
                {
                    shown.Append('\\').Append(letter);
                }
                else if (letter == '\n' || letter == '\r' || letter == '\t')
                {
                    shown.Append(letter == '\n' ? "\\n" : letter == '\r' ? "\\r" : "\\t");
                }
                else if (Prints(text, at))
                {
                    shown.Append(letter);
                    if (IsPair(text, at))
                    {
                        shown.Append(text[++at]);
                    }
                }
                else if (IsPair(text, at))
                {
                    shown.Append("\\U").Append(char.ConvertToUtf32(text, at++).ToString("x8", CultureInfo.InvariantCulture));
                }
                else
                {
                    bool isShort = letter < '\u0100';
                    string digits = ((int)letter).ToString(isShort ? "x2" : "x4", CultureInfo.InvariantCulture);
                    shown.Append(isShort ? "\\x" : "\\u").Append(digits);
                }
            }
            return shown.Append(quote).ToString();
        }

        private static bool IsPair(string text, int at)
        {
            return char.IsHighSurrogate(text[at]) && at + 1 < text.Length && char.IsLowSurrogate(text[at + 1]);
        }

        private static bool Prints(string text, int at)
        {
            switch (CharUnicodeInfo.GetUnicodeCategory(text, at))
            {
                case UnicodeCategory.Control:
                case UnicodeCategory.Format:
                case UnicodeCategory.Surrogate:
                case UnicodeCategory.PrivateUse:
                case UnicodeCategory.OtherNotAssigned:
                case UnicodeCategory.LineSeparator:
                case UnicodeCategory.ParagraphSeparator:
                    return false;
                case UnicodeCategory.SpaceSeparator:
                    return text[at] == ' ';
                default:
                    return true;
            }
        }

        private static bool IsIdentifier(string text)
        {
            for (int at = 0; at < text.Length; at++)
            {
                char letter = text[at];
                bool begins = letter == '_' || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
                if (!begins && (at == 0 || letter < '0' || letter > '9'))
                {
                    return false;
                }
            }
            return text.Length > 0;
        }
    }
}
