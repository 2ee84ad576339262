// What a reader takes for one character.
using System.Globalization;

namespace Parley
{
    /// <summary>Where one character that a reader sees ends and the next begins.</summary>
    /// <remarks>
    /// What a reader takes for one character may be several UTF-16 units: surrogate pairs, letters with combining
    /// marks, flags, families of emoji, Hangul syllables, Indic conjuncts. The rules are those of Unicode's extended
    /// grapheme clusters; <see cref="StringInfo"/> of Unity's runtimes knows only the first two of them. Any thread.
    /// </remarks>
    public static class TextElements
    {
        private const int CarriageReturn = 0x0D;
        private const int LineFeed = 0x0A;
        private const int ZeroWidthNonJoiner = 0x200C;
        private const int ZeroWidthJoiner = 0x200D;

        /// <summary>Where the element that begins at <paramref name="start"/> ends, in UTF-16 units.</summary>
        public static int End(string text, int start)
        {
            int length;
            int first = At(text, start, out length);
            int end = start + length;
            if (IsBreak(first))
            {
                bool isPair = first == CarriageReturn && end < text.Length && text[end] == LineFeed;
                return isPair ? end + 1 : end;
            }
            int last = first;
            int flags = IsRegional(first) ? 1 : 0;
            bool isPicture = IsPicture(first);
            int conjunct = 0;
            while (end < text.Length)
            {
                int next = At(text, end, out length);
                if (Extends(text, end, next))
                {
                    conjunct = IsLinker(next) ? next : next == ZeroWidthJoiner ? conjunct : Keep(conjunct, next);
                }
                else if (last == ZeroWidthJoiner && isPicture && IsPicture(next))
                {
                    conjunct = 0;
                }
                else if (flags == 1 && IsRegional(last) && IsRegional(next))
                {
                    flags = 2;
                }
                else if (conjunct != 0 && SharesScript(conjunct, next) && IsLetter(text, end))
                {
                    conjunct = 0;
                }
                else if (IsBreak(next) || !(JoinsHangul(last, next) || IsPrepended(last)))
                {
                    return end;
                }
                else
                {
                    // A mark that goes before, such as an Arabic number sign: what it stands before is what it is.
                    isPicture = IsPicture(next);
                    flags = IsRegional(next) ? 1 : 0;
                }
                last = next;
                end += length;
            }
            return end;
        }

        /// <summary>How many elements a text has.</summary>
        public static int Count(string text)
        {
            int count = 0;
            for (int at = 0; at < text.Length; at = End(text, at))
            {
                count++;
            }
            return count;
        }

        /// <summary>The last place not behind <paramref name="limit"/> where an element ends.</summary>
        public static int Boundary(string text, int limit)
        {
            int at = 0;
            while (at < text.Length)
            {
                int end = End(text, at);
                if (end > limit)
                {
                    return at;
                }
                at = end;
            }
            return at;
        }

        /// <summary>
        /// How far a text may be shown of which more will come: up to its last element where that may look quite
        /// different then (half a flag, the first of a family), else all of it.
        /// </summary>
        /// <param name="text">What came so far.</param>
        /// <param name="start">Where an element begins; nothing in front of it is looked at.</param>
        public static int Settled(string text, int start)
        {
            int whole = text.Length;
            if (whole > start && char.IsHighSurrogate(text[whole - 1]))
            {
                whole--;
            }
            int last = start;
            for (int at = start; at < whole; at = End(text, at))
            {
                last = at;
            }
            return last < whole && MayGrow(text, last, whole) ? last : whole;
        }

        private static bool MayGrow(string text, int start, int end)
        {
            int length;
            int first = At(text, start, out length);
            char last = text[end - 1];
            return last == ZeroWidthJoiner || IsLinker(last) || (IsPicture(first) && first > 0xFF) || IsPrepended(first)
                || (IsRegional(first) && start + length == end) || (last == CarriageReturn && start == end - 1);
        }

        private static int At(string text, int at, out int length)
        {
            char unit = text[at];
            bool isPair = char.IsHighSurrogate(unit) && at + 1 < text.Length && char.IsLowSurrogate(text[at + 1]);
            length = isPair ? 2 : 1;
            return isPair ? char.ConvertToUtf32(unit, text[at + 1]) : unit;
        }

        private static bool IsBreak(int point)
        {
            if (point < 0x20 || (point >= 0x7F && point < 0xA0))
            {
                return true;
            }
            if (point < 0x300)
            {
                return false;
            }
            return point == 0x2028 || point == 0x2029;
        }

        private static bool Extends(string text, int at, int point)
        {
            if (point < 0x300)
            {
                return false;
            }
            if (point == ZeroWidthJoiner || point == ZeroWidthNonJoiner || point == 0xE33 || point == 0xEB3
                || point == 0xFF9E || point == 0xFF9F || (point >= 0xFE00 && point <= 0xFE0F)
                || (point >= 0x1F3FB && point <= 0x1F3FF) || (point >= 0xE0020 && point <= 0xE01EF))
            {
                return true;
            }
            UnicodeCategory category = CharUnicodeInfo.GetUnicodeCategory(text, at);
            return category == UnicodeCategory.NonSpacingMark || category == UnicodeCategory.EnclosingMark
                || category == UnicodeCategory.SpacingCombiningMark;
        }

        private static bool IsLetter(string text, int at)
        {
            return CharUnicodeInfo.GetUnicodeCategory(text, at) == UnicodeCategory.OtherLetter;
        }

        private static bool IsRegional(int point)
        {
            return point >= 0x1F1E6 && point <= 0x1F1FF;
        }

        private static bool IsPicture(int point)
        {
            return point == 0xA9 || point == 0xAE || point == 0x203C || point == 0x2049 || point == 0x2122
                || point == 0x2139 || (point >= 0x2190 && point <= 0x21FF) || (point >= 0x2300 && point <= 0x23FF)
                || point == 0x24C2 || (point >= 0x25A0 && point <= 0x27BF) || (point >= 0x2900 && point <= 0x297F)
                || (point >= 0x2B00 && point <= 0x2BFF) || point == 0x3030 || point == 0x303D || point == 0x3297
                || point == 0x3299 || (point >= 0x1F000 && point <= 0x1FAFF && !IsRegional(point));
        }

        /// <summary>Viramas that join the consonants around them (property Indic_Conjunct_Break=Linker).</summary>
        private static bool IsLinker(int point)
        {
            return point == 0x94D || point == 0x9CD || point == 0xACD || point == 0xB4D || point == 0xC4D
                || point == 0xD4D;
        }

        /// <summary>A vowel sign behind a virama ends what would join; a nukta does not.</summary>
        private static int Keep(int linker, int next)
        {
            bool isNukta = next == 0x93C || next == 0x9BC || next == 0xABC || next == 0xB3C || next == 0xC3C;
            return isNukta ? linker : 0;
        }

        private static bool SharesScript(int one, int other)
        {
            return one >> 7 == other >> 7;
        }

        private static bool IsPrepended(int point)
        {
            return (point >= 0x600 && point <= 0x605) || point == 0x6DD || point == 0x70F || point == 0x8E2
                || point == 0x890 || point == 0x891 || point == 0xD4E || point == 0x110BD || point == 0x110CD;
        }

        private static bool JoinsHangul(int last, int next)
        {
            bool isVowel = (next >= 0x1160 && next <= 0x11A7) || (next >= 0xD7B0 && next <= 0xD7C6);
            bool isTail = (next >= 0x11A8 && next <= 0x11FF) || (next >= 0xD7CB && next <= 0xD7FB);
            bool isSyllable = next >= 0xAC00 && next <= 0xD7A3;
            if ((last >= 0x1100 && last <= 0x115F) || (last >= 0xA960 && last <= 0xA97C))
            {
                bool isLead = (next >= 0x1100 && next <= 0x115F) || (next >= 0xA960 && next <= 0xA97C);
                return isLead || isVowel || isSyllable;
            }
            bool wasSyllable = last >= 0xAC00 && last <= 0xD7A3;
            bool hadTail = wasSyllable && (last - 0xAC00) % 28 != 0;
            bool wasVowel = (last >= 0x1160 && last <= 0x11A7) || (last >= 0xD7B0 && last <= 0xD7C6);
            bool wasTail = (last >= 0x11A8 && last <= 0x11FF) || (last >= 0xD7CB && last <= 0xD7FB);
            return ((wasVowel || (wasSyllable && !hadTail)) && (isVowel || isTail)) || ((wasTail || hadTail) && isTail);
        }
    }
}
