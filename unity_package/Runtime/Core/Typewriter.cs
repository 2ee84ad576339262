// How a line appears bit by bit while it is still being written.
using System;

namespace Parley
{
    /// <summary>Shows a text that may still be coming, character by character as a reader counts them.</summary>
    /// <remarks>
    /// Time is what the caller says it is, in seconds. What is shown never ends within a character: not between the
    /// halves of a surrogate pair, not between a letter and its mark, not within a flag or a family. Threading: one
    /// thread.
    /// </remarks>
    public sealed class Typewriter
    {
        /// <summary>A step is never longer than this, so that a game that stood still does not show all at once.</summary>
        public const double LongestStep = 0.25;

        private double _credit;

        /// <summary>Characters a second; 0 or less: all at once.</summary>
        public double ElementsPerSecond { get; set; }

        /// <summary>All that came so far.</summary>
        public string Text { get; private set; }

        /// <summary>No more will come.</summary>
        public bool IsComplete { get; private set; }

        /// <summary>So many UTF-16 units of <see cref="Text"/> may be shown; what is shown already stays.</summary>
        public int Limit { get; set; }

        /// <summary>How many UTF-16 units of <see cref="Text"/> are shown.</summary>
        public int ShownLength { get; private set; }

        /// <summary>A typewriter with nothing on it.</summary>
        public Typewriter(double elementsPerSecond)
        {
            ElementsPerSecond = elementsPerSecond;
            Text = "";
            Limit = int.MaxValue;
        }

        /// <summary>All is shown, and no more will come.</summary>
        public bool IsDone
        {
            get { return IsComplete && ShownLength == Text.Length; }
        }

        /// <summary>What is shown. Makes a new text each time.</summary>
        public string Shown()
        {
            return ShownLength == Text.Length ? Text : Text.Substring(0, ShownLength);
        }

        /// <summary>Say what the text is now: longer than before, or another one, of which what is equal stays shown.</summary>
        public void Set(string text, bool isComplete)
        {
            text = text ?? "";
            string before = Text;
            Text = text;
            IsComplete = isComplete;
            bool grew = text.Length >= ShownLength && string.CompareOrdinal(before, 0, text, 0, ShownLength) == 0;
            if (!grew)
            {
                int same = 0;
                while (same < ShownLength && same < text.Length && before[same] == text[same])
                {
                    same++;
                }
                ShownLength = TextElements.Boundary(text, same);
            }
            if (ElementsPerSecond <= 0)
            {
                ShownLength = Math.Max(ShownLength, Reach());
            }
        }

        /// <summary>Let time pass. True: more is shown than before.</summary>
        public bool Advance(double seconds)
        {
            int before = ShownLength;
            if (ElementsPerSecond <= 0)
            {
                ShownLength = Math.Max(ShownLength, Reach());
                return ShownLength != before;
            }
            int next = Next();
            if (next < 0)
            {
                // Whoever waits for text saves no time up.
                _credit = 0;
                return false;
            }
            _credit += Math.Max(0, Math.Min(seconds, LongestStep)) * ElementsPerSecond;
            while (_credit >= 1 && next > 0)
            {
                ShownLength = next;
                _credit -= 1;
                next = Next();
            }
            return ShownLength != before;
        }

        /// <summary>Show all that is there, and lift the limit. True: that was more than before.</summary>
        public bool SkipToEnd()
        {
            int before = ShownLength;
            Limit = int.MaxValue;
            ShownLength = Math.Max(ShownLength, Reach());
            _credit = 0;
            return ShownLength != before;
        }

        /// <summary>
        /// Where the next character ends; -1: there is none, or it may still become another one. Looks at no more of the
        /// text than that: much may wait to be shown, and more comes with every frame.
        /// </summary>
        private int Next()
        {
            if (ShownLength >= Text.Length || ShownLength >= Limit)
            {
                return -1;
            }
            int end = TextElements.End(Text, ShownLength);
            bool isFollowed = end < Text.Length && !(end == Text.Length - 1 && char.IsHighSurrogate(Text[end]));
            return IsComplete || isFollowed || TextElements.Settled(Text, ShownLength) >= end ? end : -1;
        }

        /// <summary>How far may be shown: a last character that may still become another one is held back.</summary>
        private int Reach()
        {
            if (Limit < Text.Length)
            {
                return TextElements.Boundary(Text, Math.Max(Limit, 0));
            }
            return IsComplete ? Text.Length : TextElements.Settled(Text, ShownLength);
        }
    }
}
