// Characters as readers count them, the typewriter, and several speakers in one talk.
using System.Collections.Generic;
using Parley;

namespace PlayerTests
{
    internal static class TextTests
    {
        private const string Astronaut = "\U0001F469\u200D\U0001F680";
        private const string Family = "\U0001F468\u200D\U0001F469\u200D\U0001F467";
        private const string Flag = "\U0001F1EF\U0001F1F5";
        private const string Scotland = "\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F";

        private static List<string> Elements(string text)
        {
            List<string> elements = new List<string>();
            for (int at = 0; at < text.Length;)
            {
                int end = TextElements.End(text, at);
                Check.That(end > at && end <= text.Length, "an element has a length");
                elements.Add(text.Substring(at, end - at));
                at = end;
            }
            Check.Equal(elements.Count, TextElements.Count(text), "the count of " + text);
            return elements;
        }

        [Test]
        private static void CharactersAreWhatReadersCount()
        {
            Check.Texts(Elements("abc"), "letters", "a", "b", "c");
            Check.Texts(Elements(""), "nothing");
            Check.Texts(Elements("e\u0301x"), "a mark on a letter", "e\u0301", "x");
            Check.Texts(Elements("a\u0300\u0316\u0301b"), "three marks", "a\u0300\u0316\u0301", "b");
            Check.Texts(Elements("\r\n\n\ra"), "line ends", "\r\n", "\n", "\r", "a");
            Check.Texts(Elements("\U0001F600!"), "a surrogate pair", "\U0001F600", "!");
            Check.Texts(Elements("\U0001F44D\U0001F3FD."), "a skin tone", "\U0001F44D\U0001F3FD", ".");
            Check.Texts(Elements(Astronaut + Family), "joined pictures", Astronaut, Family);
            Check.Texts(Elements("a\u200Db"), "letters are not joined", "a\u200D", "b");
            Check.Texts(Elements(Flag + Flag + "\U0001F1EF"), "flags", Flag, Flag, "\U0001F1EF");
            Check.Texts(Elements(Scotland + "x"), "a flag of tags", Scotland, "x");
            Check.Texts(Elements("\u2764\uFE0F1\uFE0F\u20E3"), "variations", "\u2764\uFE0F", "1\uFE0F\u20E3");
            Check.Texts(Elements("\u1112\u1161\u11AB\uD55C\u11A8\uAC00\uAC00"), "Hangul", "\u1112\u1161\u11AB", "\uD55C\u11A8", "\uAC00", "\uAC00");
        }

        [Test]
        private static void CharactersOfScripts()
        {
            Check.Texts(Elements("\u0915\u094D\u0937\u093F\u0915"), "a conjunct with its vowel", "\u0915\u094D\u0937\u093F", "\u0915");
            Check.Texts(Elements("\u0928\u0940"), "a spacing mark", "\u0928\u0940");
            Check.Texts(Elements("\u0E01\u0E33\u0E19"), "Thai am", "\u0E01\u0E33", "\u0E19");
            Check.Texts(Elements("\u05E9\u05C1\u05DC"), "Hebrew with points", "\u05E9\u05C1", "\u05DC");
            Check.Texts(Elements("\u0645\u064E\u0631\u062D"), "Arabic with a vowel sign", "\u0645\u064E", "\u0631", "\u062D");
            Check.Texts(Elements("\u0600\u0661a"), "a sign before a number", "\u0600\u0661", "a");
            Check.Texts(Elements("\u4F60\u597D\u3002"), "Chinese", "\u4F60", "\u597D", "\u3002");
            Check.Texts(Elements("\u304B\u3099"), "a voiced kana", "\u304B\u3099");
        }

        [Test]
        private static void BrokenTextHarmsNobody()
        {
            Check.Equal(3, Elements("\uD83Da\uDE00").Count, "lone surrogates");
            Check.Equal(1, Elements("\u0301").Count, "a mark on nothing");
            Check.Equal(2, Elements("\n\u0301").Count, "a mark behind a line end");
            Check.Equal(1, Elements("\u200D").Count, "a joiner alone");
        }

        [Test]
        private static void CountingAllocatesNothing()
        {
            string text = Astronaut + "e\u0301 \u0915\u094D\u0937 plain";
            Check.Equal(0L, Check.Allocated(delegate { TextElements.Count(text); }), "bytes");
        }

        [Test]
        private static void TypewriterShowsWholeCharacters()
        {
            string text = "Ja " + Family + " e\u0301" + Flag + "!";
            Typewriter typewriter = new Typewriter(10);
            HashSet<int> ends = new HashSet<int> { 0 };
            for (int at = 0; at < text.Length; ends.Add(at))
            {
                at = TextElements.End(text, at);
            }
            // It comes unit by unit, as if frames could cut anywhere.
            for (int length = 1; length <= text.Length; length++)
            {
                typewriter.Set(text.Substring(0, length), length == text.Length);
                typewriter.Advance(0.25);
                Check.That(
                    ends.Contains(typewriter.ShownLength) || typewriter.Shown().EndsWith(" e", System.StringComparison.Ordinal),
                    "cut at " + typewriter.ShownLength);
            }
            typewriter.SkipToEnd();
            Check.Equal(text, typewriter.Shown(), "all of it");
            Check.That(typewriter.IsDone, "done");
        }

        [Test]
        private static void TypewriterKeepsItsPace()
        {
            Typewriter typewriter = new Typewriter(10);
            typewriter.Set("0123456789", true);
            Check.That(!typewriter.Advance(0.05), "half a character is none");
            Check.That(typewriter.Advance(0.05), "now it is one");
            Check.Equal("0", typewriter.Shown(), "after a tenth");
            typewriter.Advance(1000);
            Check.Equal("012", typewriter.Shown(), "a game that stood still goes on where it was");
            typewriter.Advance(-5);
            Check.Equal("012", typewriter.Shown(), "time does not run back");
            typewriter.ElementsPerSecond = 0;
            Check.That(typewriter.Advance(0), "at once");
            Check.That(typewriter.IsDone, "done");
        }

        [Test]
        private static void TypewriterSavesNoTimeWhileItWaits()
        {
            Typewriter typewriter = new Typewriter(10);
            typewriter.Set("ab", false);
            for (int i = 0; i < 100; i++)
            {
                typewriter.Advance(0.1);
            }
            typewriter.Set("abcdefgh", false);
            typewriter.Advance(0.1);
            Check.Equal("abc", typewriter.Shown(), "one more character in a tenth");
        }

        [Test]
        private static void TypewriterTakesAnotherText()
        {
            Typewriter typewriter = new Typewriter(0);
            typewriter.Set("Good e\u0301vening", false);
            typewriter.ElementsPerSecond = 10;
            typewriter.Set("Good e\u0300vening", true);
            Check.Equal("Good ", typewriter.Shown(), "what is equal stays, in whole characters");
            typewriter.Set("", true);
            Check.Equal("", typewriter.Shown(), "nothing");
            typewriter.Set(null, true);
            Check.That(typewriter.IsDone, "no text is an empty one");
        }

        [Test]
        private static void SpeakersWaitForEachOther()
        {
            DialogueLines lines = new DialogueLines { ElementsPerSecond = 10, GapSeconds = 0.2 };
            List<string> told = new List<string>();
            lines.Began += delegate(DialogueLine line) { told.Add("+" + line.Speaker); };
            lines.Done += delegate(DialogueLine line) { told.Add("-" + line.Speaker); };
            object agent = new object();
            lines.Add("Hello?");
            lines.Take(agent, 1, 1, "mira", "He", true, false);
            lines.Take(agent, 1, 2, "bram", "Ho!", true, true);
            Check.Equal("", lines.Lines[2].Shown, "the second waits");
            for (int i = 0; i < 20; i++)
            {
                lines.Advance(0.1);
            }
            Check.Texts(told, "mira is not done", "+", "-", "+mira");
            Check.Equal("He", lines.Current.Shown, "all that came");
            lines.Take(agent, 1, 1, "mira", "y", true, false);
            lines.Take(agent, 1, 1, "mira", "", true, true);
            lines.Advance(0.1);
            Check.Texts(told, "mira is done", "+", "-", "+mira", "-mira");
            lines.Advance(0.1);
            Check.Equal(null, lines.Current, "the pause between two");
            lines.Advance(0.1);
            Check.Texts(told, "bram begins", "+", "-", "+mira", "-mira", "+bram");
            lines.SkipToEnd();
            Check.Texts(told, "skipped", "+", "-", "+mira", "-mira", "+bram", "-bram");
            Check.That(lines.IsIdle, "idle");
            Check.Equal("Hey", lines.Lines[1].Shown, "mira said");
            Check.Equal("Ho!", lines.Lines[2].Shown, "bram said");
        }

        [Test]
        private static void TurnsOfSeveralAgentsAreTheirOwn()
        {
            DialogueLines lines = new DialogueLines { ElementsPerSecond = 0, GapSeconds = 0 };
            object one = new object();
            object other = new object();
            lines.Take(one, 1, 1, "guard", "Halt", true, false);
            lines.Take(other, 1, 1, "guard", "Who", true, false);
            lines.Take(one, 1, 1, "guard", "!", true, true);
            lines.EndTurn(other, 1);
            lines.Advance(0.1);
            Check.Equal(2, lines.Lines.Count, "two lines");
            Check.Equal("Halt!", lines.Lines[0].Shown, "the one");
            Check.Equal("Who", lines.Lines[1].Shown, "the other");
            Check.That(lines.Lines[1].IsDone, "its turn is over");
            lines.Take(one, 1, 1, "guard", "Again", true, true);
            Check.Equal(3, lines.Lines.Count, "a step that is final is not taken up");
        }

        [Test]
        private static void WholeTextsReplaceWhatCame()
        {
            DialogueLines lines = new DialogueLines { ElementsPerSecond = 0 };
            lines.Take(null, 1, 1, "mira", "I thi", true, false);
            lines.Take(null, 1, 1, "mira", "I think so.", false, true);
            lines.Advance(0.1);
            Check.Equal("I think so.", lines.Lines[0].Shown, "the whole text");
            lines.Take(null, 1, 2, "bram", "", true, true);
            Check.Equal(1, lines.Lines.Count, "a step that said nothing makes no line");
        }

        [Test]
        private static void SkipEndsALineAndThenThePause()
        {
            DialogueLines lines = new DialogueLines { ElementsPerSecond = 1, GapSeconds = 60 };
            lines.Take(null, 1, 1, "mira", "A long line", false, true);
            lines.Take(null, 1, 2, "bram", "Another", false, true);
            lines.Advance(0.1);
            Check.That(lines.Skip(), "the line");
            Check.That(lines.Lines[0].IsDone, "is whole");
            Check.Equal(null, lines.Current, "a pause");
            Check.That(lines.Skip(), "the pause");
            Check.Equal("bram", lines.Current.Speaker, "is over");
            Check.That(lines.Skip(), "the second line");
            Check.That(!lines.Skip(), "nothing is left");
        }

        [Test]
        private static void OldLinesGo()
        {
            DialogueLines lines = new DialogueLines { ElementsPerSecond = 0, GapSeconds = 0, MaxLines = 3 };
            List<string> dropped = new List<string>();
            lines.Dropped += delegate(DialogueLine line) { dropped.Add(line.Text); };
            for (int i = 1; i <= 5; i++)
            {
                lines.Take(null, i, 1, "mira", "line" + i, false, true);
                lines.Advance(0.01);
            }
            Check.Texts(dropped, "the oldest", "line1", "line2");
            lines.Clear();
            Check.That(lines.IsIdle && lines.Lines.Count == 0, "forgotten");
            Check.Equal(5, dropped.Count, "all dropped");
        }

        [Test]
        private static void ListenersMayClearAndTalk()
        {
            DialogueLines lines = new DialogueLines { ElementsPerSecond = 0, GapSeconds = 0 };
            int done = 0;
            lines.Done += delegate
            {
                done++;
                lines.Clear();
                if (done < 3)
                {
                    lines.Take(null, done, 1, "mira", "again", false, true);
                }
            };
            lines.Take(null, 9, 1, "mira", "first", false, true);
            for (int i = 0; i < 5; i++)
            {
                lines.Advance(0.01);
            }
            Check.Equal(3, done, "lines");
            Check.That(lines.IsIdle, "idle");
        }

        [Test]
        private static void AnIdleTalkAllocatesNothing()
        {
            DialogueLines lines = new DialogueLines();
            lines.Take(null, 1, 1, "mira", "Wait", true, false);
            lines.Advance(0.25);
            lines.Advance(0.25);
            lines.Advance(0.25);
            Check.Equal(0L, Check.Allocated(delegate { lines.Advance(0.02); }), "bytes while a line waits");
            lines.EndTurn(null, 1);
            lines.SkipToEnd();
            Check.Equal(0L, Check.Allocated(delegate { lines.Advance(0.02); }), "bytes when all is said");
        }
    }
}
