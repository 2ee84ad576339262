// Finds and renames the tags of a template.
using System;
using System.Collections.Generic;
using System.Text;

namespace Parley
{
    /// <summary>Finds Mustache tags in a template and renames their keys, changing no other letter.</summary>
    /// <remarks>A scanner of its own, not a regular expression: it takes one pass over any text, however hostile, and its
    /// white space is the sidecar's.</remarks>
    public static class TemplateTags
    {
        private const string Sigils = "&#^/";

        /// <summary>Returns the template with each tag whose whole key is in <paramref name="keys"/> renamed.</summary>
        /// <remarks>Comments stay, whatever they hold. A triple brace needs no case of its own: it is a brace, a tag and a
        /// brace.</remarks>
        public static string Renamed(string template, IDictionary<string, string> keys)
        {
            if (keys.Count == 0)
            {
                return template;
            }
            StringBuilder renamed = null;
            int done = 0;
            int at = template.IndexOf("{{", StringComparison.Ordinal);
            while (at >= 0)
            {
                int next = at + 1;
                int inside = AfterBlanks(template, at + 2);
                if (inside < template.Length && template[inside] == '!')
                {
                    int close = template.IndexOf("}}", inside + 1, StringComparison.Ordinal);
                    next = close < 0 ? template.Length : close + 2;
                }
                else
                {
                    if (inside < template.Length && Sigils.IndexOf(template[inside]) >= 0)
                    {
                        inside = AfterBlanks(template, inside + 1);
                    }
                    string key = KeyAt(template, inside, keys.Keys);
                    if (key != null)
                    {
                        renamed = renamed ?? new StringBuilder(template.Length + 16);
                        renamed.Append(template, done, inside - done).Append(keys[key]);
                        next = done = inside + key.Length;
                    }
                }
                at = next < template.Length ? template.IndexOf("{{", next, StringComparison.Ordinal) : -1;
            }
            return renamed == null ? template : renamed.Append(template, done, template.Length - done).ToString();
        }

        private static string KeyAt(string template, int at, IEnumerable<string> keys)
        {
            foreach (string key in keys)
            {
                if (string.CompareOrdinal(template, at, key, 0, key.Length) == 0)
                {
                    int behind = AfterBlanks(template, at + key.Length);
                    if (string.CompareOrdinal(template, behind, "}}", 0, 2) == 0)
                    {
                        return key;
                    }
                }
            }
            return null;
        }

        private static int AfterBlanks(string text, int at)
        {
            while (at < text.Length && Names.IsBlank(text[at]))
            {
                at++;
            }
            return at;
        }
    }
}
