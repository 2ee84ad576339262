// Characters as readers count them, the typewriter, and several speakers in one talk.
#include "Checks.h"
#include "Core/CodePoints.h"
#include "Core/DialogueLines.h"
#include "Core/TextElements.h"
#include "Core/Typewriter.h"

#include <set>
#include <string>
#include <vector>

using namespace Parley;
using Strings = std::vector<std::string>;

namespace
{

const std::string Astronaut = "\U0001F469\u200D\U0001F680";
const std::string Family = "\U0001F468\u200D\U0001F469\u200D\U0001F467";
const std::string Flag = "\U0001F1EF\U0001F1F5";
const std::string Scotland = "\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F";

Strings Elements(const std::string& Text)
{
    Strings Found;
    for (std::size_t At = 0; At < Text.size();)
    {
        const std::size_t End = TextElements::End(Text, At);
        if (End <= At || End > Text.size())
        {
            Checks::Fail("an element has no length");
            break;
        }
        Found.push_back(Text.substr(At, End - At));
        At = End;
    }
    Checks::Equal(Found.size(), TextElements::Count(Text), "the count of " + Text);
    return Found;
}

void Are(const Strings& Wanted, const Strings& Got, const std::string& What)
{
    Checks::Equal(Wanted, Got, What);
}

int Source = 0;

} // namespace

PARLEY_TEST(CharactersAreWhatReadersCount)
{
    Are({"a", "b", "c"}, Elements("abc"), "letters");
    Are({}, Elements(""), "nothing");
    Are({"e\u0301", "x"}, Elements("e\u0301x"), "a mark on a letter");
    Are({"a\u0300\u0316\u0301", "b"}, Elements("a\u0300\u0316\u0301b"), "three marks");
    Are({"\r\n", "\n", "\r", "a"}, Elements("\r\n\n\ra"), "line ends");
    Are({"\U0001F600", "!"}, Elements("\U0001F600!"), "beyond the first plane");
    Are({"\U0001F44D\U0001F3FD", "."}, Elements("\U0001F44D\U0001F3FD."), "a skin tone");
    Are({Astronaut, Family}, Elements(Astronaut + Family), "joined pictures");
    Are({"a\u200D", "b"}, Elements("a\u200Db"), "letters are not joined");
    Are({Flag, Flag, "\U0001F1EF"}, Elements(Flag + Flag + "\U0001F1EF"), "flags");
    Are({Scotland, "x"}, Elements(Scotland + "x"), "a flag of tags");
    Are({"\u2764\uFE0F", "1\uFE0F\u20E3"}, Elements("\u2764\uFE0F1\uFE0F\u20E3"), "variations");
    Are({"\u1112\u1161\u11AB", "\uD55C\u11A8", "\uAC00", "\uAC00"},
        Elements("\u1112\u1161\u11AB\uD55C\u11A8\uAC00\uAC00"), "Hangul");
}

PARLEY_TEST(CharactersOfScripts)
{
    Are({"\u0915\u094D\u0937\u093F", "\u0915"}, Elements("\u0915\u094D\u0937\u093F\u0915"), "a conjunct with its vowel");
    Are({"\u0928\u0940"}, Elements("\u0928\u0940"), "a spacing mark");
    Are({"\u0E01\u0E33", "\u0E19"}, Elements("\u0E01\u0E33\u0E19"), "Thai am");
    Are({"\u05E9\u05C1", "\u05DC"}, Elements("\u05E9\u05C1\u05DC"), "Hebrew with points");
    Are({"\u0645\u064E", "\u0631", "\u062D"}, Elements("\u0645\u064E\u0631\u062D"), "Arabic with a vowel sign");
    Are({"\u0600\u0661", "a"}, Elements("\u0600\u0661" "a"), "a sign before a number");
    Are({"\u4F60", "\u597D", "\u3002"}, Elements("\u4F60\u597D\u3002"), "Chinese");
    Are({"\u304B\u3099"}, Elements("\u304B\u3099"), "a voiced kana");
}

PARLEY_TEST(BrokenTextHarmsNobody)
{
    Are({"\xF0\x9F", "a", "\x80"}, [] {
        Strings Merged;
        for (const std::string& One : Elements("\xF0\x9F" "a" "\x80"))
        {
            // Each byte that is none by itself is one of its own.
            const bool IsMore = !Merged.empty() && Merged.back() == "\xF0";
            IsMore ? Merged.back() += One : (Merged.push_back(One), Merged.back());
        }
        return Merged;
    }(), "cut sequences");
    Checks::Equal(std::size_t(1), Elements("\u0301").size(), "a mark on nothing");
    Checks::Equal(std::size_t(2), Elements("\n\u0301").size(), "a mark behind a line end");
    Checks::Equal(std::size_t(1), Elements("\u200D").size(), "a joiner alone");
    for (const char* Cut : {"\xC3", "\xE2\x80", "\xF0\x9F\x98", "\xF0"})
    {
        const std::string Text(Cut);
        Checks::Equal(Text.size(), CodePoints::Unfinished("a" + Text), "the rest has not come");
        Checks::Equal(std::size_t(1), TextElements::Settled("a" + Text, 0), "and is not shown");
    }
    for (const char* Whole : {"a", "\u00E9", "\u2026", "\U0001F600", "\x80", "\xFF", "\xE0\x80", "\xED\xA0", "\xF4\x90\x80"})
    {
        Checks::Equal(std::size_t(0), CodePoints::Unfinished(Whole), "nothing more can come");
    }
}

PARLEY_TEST(CodePointsComeBackAsTheyWere)
{
    for (char32_t Point = 0; Point <= 0x110001; ++Point)
    {
        std::string Text;
        CodePoints::Append(Text, Point);
        std::size_t Length = 0;
        const char32_t Found = CodePoints::At(Text, 0, Length);
        const bool IsNone = Point > 0x10FFFF || (Point >= 0xD800 && Point < 0xE000);
        if (Found != (IsNone ? 0xFFFD : Point) || Length != Text.size())
        {
            Checks::Fail("code point " + std::to_string(static_cast<unsigned>(Point)));
        }
    }
}

PARLEY_TEST(CountingAllocatesNothing)
{
    const std::string Text = Astronaut + "e\u0301 \u0915\u094D\u0937 plain";
    const std::size_t Before = Checks::Allocated();
    TextElements::Count(Text);
    const std::size_t After = Checks::Allocated();
    Checks::Equal(Before, After, "bytes");
}

PARLEY_TEST(TypewriterShowsWholeCharacters)
{
    const std::string Text = "Ja " + Family + " e\u0301" + Flag + "!";
    std::set<std::size_t> Ends{0};
    for (std::size_t At = 0; At < Text.size(); Ends.insert(At))
    {
        At = TextElements::End(Text, At);
    }
    // It comes byte by byte, as if frames could cut anywhere; once as a whole each time, once as what is new.
    for (const bool IsDelta : {false, true})
    {
        Typewriter Writer(10);
        for (std::size_t Length = 1; Length <= Text.size(); ++Length)
        {
            const bool IsLast = Length == Text.size();
            if (IsDelta)
            {
                Writer.Append(Text.substr(Length - 1, 1), IsLast);
            }
            else
            {
                Writer.Set(Text.substr(0, Length), IsLast);
            }
            Writer.Advance(0.25);
            const std::string Shown(Writer.Shown());
            const bool IsBare = Shown.size() > 1 && Shown.substr(Shown.size() - 2) == " e";
            Checks::That(Ends.count(Shown.size()) != 0 || IsBare, "cut at " + std::to_string(Shown.size()));
        }
        Writer.SkipToEnd();
        Checks::Equal(Text, Writer.Shown(), "all of it");
        Checks::That(Writer.IsDone(), "done");
    }
}

PARLEY_TEST(TypewriterKeepsItsPace)
{
    Typewriter Writer(10);
    Writer.Set("0123456789", true);
    Checks::That(!Writer.Advance(0.05), "half a character is none");
    Checks::That(Writer.Advance(0.05), "now it is one");
    Checks::Equal("0", Writer.Shown(), "after a tenth");
    Writer.Advance(1000);
    Checks::Equal("012", Writer.Shown(), "a game that stood still goes on where it was");
    Writer.Advance(-5);
    Checks::Equal("012", Writer.Shown(), "time does not run back");
    Writer.ElementsPerSecond = 0;
    Checks::That(Writer.Advance(0), "at once");
    Checks::That(Writer.IsDone(), "done");
}

PARLEY_TEST(TypewriterSavesNoTimeWhileItWaits)
{
    Typewriter Writer(10);
    Writer.Set("ab", false);
    for (int Step = 0; Step < 100; ++Step)
    {
        Writer.Advance(0.1);
    }
    Writer.Set("abcdefgh", false);
    Writer.Advance(0.1);
    Checks::Equal("abc", Writer.Shown(), "one more character in a tenth");
}

PARLEY_TEST(TypewriterTakesAnotherText)
{
    Typewriter Writer(0);
    Writer.Set("Good e\u0301vening", false);
    Writer.ElementsPerSecond = 10;
    Writer.Set("Good e\u0300vening", true);
    Checks::Equal("Good ", Writer.Shown(), "what is equal stays, in whole characters");
    Writer.Set("", true);
    Checks::Equal("", Writer.Shown(), "nothing");
    Checks::That(Writer.IsDone(), "done");
}

PARLEY_TEST(SpeakersWaitForEachOther)
{
    DialogueLines Lines;
    Lines.ElementsPerSecond = 10;
    Lines.GapSeconds = 0.2;
    Strings Told;
    Lines.Began = [&](const DialogueLines::Line& Line) { Told.push_back("+" + Line->Speaker); };
    Lines.Done = [&](const DialogueLines::Line& Line) { Told.push_back("-" + Line->Speaker); };
    Lines.Add("Hello?");
    Lines.Take(&Source, 1, 1, "mira", "He", true, false);
    Lines.Take(&Source, 1, 2, "bram", "Ho!", true, true);
    Checks::Equal("", Lines.Lines()[2]->Shown(), "the second waits");
    for (int Step = 0; Step < 20; ++Step)
    {
        Lines.Advance(0.1);
    }
    Are({"+", "-", "+mira"}, Told, "mira is not done");
    Checks::Equal("He", Lines.Current()->Shown(), "all that came");
    Lines.Take(&Source, 1, 1, "mira", "y", true, false);
    Lines.Take(&Source, 1, 1, "mira", "", true, true);
    Lines.Advance(0.1);
    Are({"+", "-", "+mira", "-mira"}, Told, "mira is done");
    Lines.Advance(0.1);
    Checks::That(Lines.Current() == nullptr, "the pause between two");
    Lines.Advance(0.1);
    Are({"+", "-", "+mira", "-mira", "+bram"}, Told, "bram begins");
    Lines.SkipToEnd();
    Are({"+", "-", "+mira", "-mira", "+bram", "-bram"}, Told, "skipped");
    Checks::That(Lines.IsIdle(), "idle");
    Checks::Equal("Hey", Lines.Lines()[1]->Shown(), "mira said");
    Checks::Equal("Ho!", Lines.Lines()[2]->Shown(), "bram said");
}

PARLEY_TEST(TurnsOfSeveralAgentsAreTheirOwn)
{
    DialogueLines Lines;
    Lines.ElementsPerSecond = 0;
    Lines.GapSeconds = 0;
    const int One = 1, Other = 2;
    Lines.Take(&One, 1, 1, "guard", "Halt", true, false);
    Lines.Take(&Other, 1, 1, "guard", "Who", true, false);
    Lines.Take(&One, 1, 1, "guard", "!", true, true);
    Lines.EndTurn(&Other, 1);
    Lines.Advance(0.1);
    Checks::Equal(std::size_t(2), Lines.Lines().size(), "two lines");
    Checks::Equal("Halt!", Lines.Lines()[0]->Shown(), "the one");
    Checks::Equal("Who", Lines.Lines()[1]->Shown(), "the other");
    Checks::That(Lines.Lines()[1]->IsDone(), "its turn is over");
    Lines.Take(&One, 1, 1, "guard", "Again", true, true);
    Checks::Equal(std::size_t(3), Lines.Lines().size(), "a step that is final is not taken up");
}

PARLEY_TEST(WholeTextsReplaceWhatCame)
{
    DialogueLines Lines;
    Lines.ElementsPerSecond = 0;
    Lines.Take(nullptr, 1, 1, "mira", "I thi", true, false);
    Lines.Take(nullptr, 1, 1, "mira", "I think so.", false, true);
    Lines.Advance(0.1);
    Checks::Equal("I think so.", Lines.Lines()[0]->Shown(), "the whole text");
    Lines.Take(nullptr, 1, 2, "bram", "", true, true);
    Checks::Equal(std::size_t(1), Lines.Lines().size(), "a step that said nothing makes no line");
}

PARLEY_TEST(SkipEndsALineAndThenThePause)
{
    DialogueLines Lines;
    Lines.ElementsPerSecond = 1;
    Lines.GapSeconds = 60;
    Lines.Take(nullptr, 1, 1, "mira", "A long line", false, true);
    Lines.Take(nullptr, 1, 2, "bram", "Another", false, true);
    Lines.Advance(0.1);
    Checks::That(Lines.Skip(), "the line");
    Checks::That(Lines.Lines()[0]->IsDone(), "is whole");
    Checks::That(Lines.Current() == nullptr, "a pause");
    Checks::That(Lines.Skip(), "the pause");
    Checks::That(Lines.Current() != nullptr && Lines.Current()->Speaker == "bram", "is over");
    Checks::That(Lines.Skip(), "the second line");
    Checks::That(!Lines.Skip(), "nothing is left");
}

PARLEY_TEST(HeldLinesAppearAsTheyAreHeard)
{
    DialogueLines Lines;
    Lines.ElementsPerSecond = 0;
    Lines.GapSeconds = 0;
    Lines.Take(nullptr, 1, 1, "mira", "Wait e\u0301 ", true, false, true);
    Lines.Take(nullptr, 1, 1, "mira", "there.", true, true);
    Lines.Take(nullptr, 1, 2, "bram", "Ho!", false, true);
    const auto Shown = [&Lines](std::int64_t Heard, double Seconds)
    {
        const DialogueLines::Line Line = Lines.Lines()[0];
        Lines.Follow(Line, Heard, Seconds);
        Lines.Advance(Seconds);
        return std::string(Line->Shown());
    };
    Checks::Equal("", Shown(-1, 0.1), "nothing came of its voice");
    Checks::Equal("", Shown(0, 0.1), "nothing is heard");
    Checks::Equal("Wait ", Shown(5, 0.1), "a word");
    Checks::Equal("Wait ", Shown(6, 0.1), "no letter without its mark");
    Checks::Equal("Wait e\u0301 ", Shown(9, 0.1), "a sentence");
    Checks::Equal("Wait e\u0301 ", Shown(5, 0.1), "what is shown stays");
    Checks::Equal("mira", Lines.Current()->Speaker, "the next one waits");
    Checks::Equal("Wait e\u0301 there.", Shown(-1, 0.1), "its voice is over");
    Checks::That(Lines.Lines()[0]->IsDone() && Lines.Lines()[1]->IsDone(), "all is shown");
    // Nobody waits for ever for a voice that never comes, from the moment on at which all of the text is there.
    Lines.Take(nullptr, 2, 1, "mira", "Now ", true, false, true);
    Lines.Advance(0.1);
    const DialogueLines::Line Voiceless = Lines.Lines().back();
    Lines.Follow(Voiceless, -1, 9);
    Checks::That(Voiceless->IsHeld(), "more text may come");
    Lines.Take(nullptr, 2, 1, "mira", "then.", true, true);
    Lines.Follow(Voiceless, -1, 2.9);
    Checks::That(Voiceless->IsHeld(), "it waits");
    Lines.Follow(Voiceless, -1, 0.2);
    Lines.Advance(0.1);
    Checks::Equal("Now then.", std::string(Voiceless->Shown()), "it has waited long enough");
    Lines.Take(nullptr, 3, 1, "mira", "Skipped.", false, true, true);
    Lines.Advance(0.1);
    Checks::That(Lines.Skip() && Lines.Lines().back()->IsDone(), "a line that is held can be skipped");
    Lines.Take(nullptr, 4, 1, "mira", "Freed.", false, true, true);
    Lines.Advance(0.1);
    Lines.Release(Lines.Lines().back());
    Lines.Advance(0.1);
    Checks::That(Lines.Lines().back()->IsDone(), "or be let go");
}

PARLEY_TEST(OldLinesGo)
{
    DialogueLines Lines;
    Lines.ElementsPerSecond = 0;
    Lines.GapSeconds = 0;
    Lines.MaxLines = 3;
    Strings Dropped;
    Lines.Dropped = [&](const DialogueLines::Line& Line) { Dropped.push_back(Line->Text()); };
    for (int Turn = 1; Turn <= 5; ++Turn)
    {
        Lines.Take(nullptr, Turn, 1, "mira", "line" + std::to_string(Turn), false, true);
        Lines.Advance(0.01);
    }
    Are({"line1", "line2"}, Dropped, "the oldest");
    Lines.Clear();
    Checks::That(Lines.IsIdle() && Lines.Lines().empty(), "forgotten");
    Checks::Equal(std::size_t(5), Dropped.size(), "all dropped");
}

PARLEY_TEST(ListenersMayClearAndTalk)
{
    DialogueLines Lines;
    Lines.ElementsPerSecond = 0;
    Lines.GapSeconds = 0;
    int Done = 0;
    Lines.Done = [&](const DialogueLines::Line& Line) {
        const std::string Heard(Line->Shown());
        ++Done;
        Lines.Clear();
        Checks::Equal(Done == 1 ? "first" : "again", Heard, "what is cleared lives on for who was told of it");
        Checks::Equal(Heard, Line->Shown(), "and is as it was");
        if (Done < 3)
        {
            Lines.Take(nullptr, Done, 1, "mira", "again", false, true);
        }
    };
    Lines.Take(nullptr, 9, 1, "mira", "first", false, true);
    for (int Step = 0; Step < 5; ++Step)
    {
        Lines.Advance(0.01);
    }
    Checks::Equal(3, Done, "lines");
    Checks::That(Lines.IsIdle(), "idle");
}

PARLEY_TEST(ListenersMayClearWhenALineBegins)
{
    DialogueLines Lines;
    int Began = 0;
    Lines.Began = [&](const DialogueLines::Line&) {
        ++Began;
        Lines.Began = nullptr;
        Lines.Clear();
    };
    Lines.Take(nullptr, 1, 1, "mira", "one", false, true);
    Lines.Take(nullptr, 1, 2, "bram", "two", false, true);
    Lines.Advance(0.1);
    Checks::Equal(1, Began, "lines that began");
    Checks::That(Lines.IsIdle(), "idle");
}

PARLEY_TEST(ListenersMayClearWhileALineAppears)
{
    DialogueLines Lines;
    Lines.ElementsPerSecond = 1000;
    int Done = 0;
    Lines.Changed = [&](const DialogueLines::Line&) { Lines.Clear(); };
    Lines.Done = [&](const DialogueLines::Line&) { ++Done; };
    Lines.Take(nullptr, 1, 1, "mira", "one", false, true);
    Lines.Advance(0.1);
    Checks::Equal(0, Done, "lines that were cleared and are told to be done");
    Checks::That(Lines.IsIdle(), "idle");
}

PARLEY_TEST(AnIdleTalkAllocatesNothing)
{
    DialogueLines Lines;
    Lines.Take(nullptr, 1, 1, "mira", "Wait", true, false);
    for (int Step = 0; Step < 3; ++Step)
    {
        Lines.Advance(0.25);
    }
    std::size_t Before = Checks::Allocated();
    Lines.Advance(0.02);
    std::size_t After = Checks::Allocated();
    Checks::Equal(Before, After, "bytes while a line waits");
    Lines.EndTurn(nullptr, 1);
    Lines.SkipToEnd();
    Before = Checks::Allocated();
    Lines.Advance(0.02);
    After = Checks::Allocated();
    Checks::Equal(Before, After, "bytes when all is said");
}
