// What the player reads of a talk: who said what, in order, while it comes.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Typewriter.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace Parley
{

/// What one character said in one step of a turn.
class PARLEY_CORE_API DialogueLine
{
public:
    DialogueLine(
        int LineNumber,
        const void* WhoseTurn,
        std::int64_t Turn,
        std::int64_t StepOfTurn,
        std::string_view NodeName,
        double ElementsPerSecond);

    /// Counts the lines of a talk from 0; never used twice.
    const int Number;
    /// Whose turn it is, as the caller says; only compared. Null: the player's own line.
    const void* const Source;
    /// The turn; 0: the player's own line.
    const std::int64_t TurnId;
    /// The step of the turn.
    const std::int64_t Step;
    /// The node that speaks; empty: the player.
    const std::string Speaker;

    /// All that came of it.
    const std::string& Text() const noexcept { return Writer.Text(); }
    /// What is to be shown now; holds until more comes.
    std::string_view Shown() const noexcept { return Writer.Shown(); }
    /// The character says nothing more.
    bool IsFinal() const noexcept { return Writer.IsComplete(); }
    /// The character says nothing more, and all is shown.
    bool IsDone() const noexcept { return Writer.IsDone(); }
    /// It waits for its voice: no more of it is shown than was heard. See DialogueLines::Follow.
    bool IsHeld() const noexcept { return Writer.Limit != Typewriter::NoLimit; }

private:
    friend class DialogueLines;

    Typewriter Writer;
    /// Its voice began to speak.
    bool IsVoiced = false;
    /// So long all of it is there and nothing was heard.
    double WaitedSeconds = 0;
};

/// The lines of a talk, shown one after the other, each character by character.
///
/// A line begins to appear when all before it have appeared whole: where two characters speak in one turn, the second
/// waits for the first, however fast both came. What is called may call back, and may clear. Threading: one thread.
class PARLEY_CORE_API DialogueLines
{
public:
    using Line = std::shared_ptr<DialogueLine>;
    using Told = std::function<void(const Line&)>;

    /// Characters a second; 0 or less: at once. For lines to come.
    double ElementsPerSecond = 40;
    /// Seconds between a line that is whole and the next one's first character.
    double GapSeconds = 0.3;
    /// So many lines are kept; the oldest go, once they are shown.
    std::size_t MaxLines = 200;

    /// A line begins to appear.
    Told Began;
    /// More of a line is to be shown.
    Told Changed;
    /// All of a line is shown.
    Told Done;
    /// A line is kept no more.
    Told Dropped;

    DialogueLines();
    ~DialogueLines();
    DialogueLines(const DialogueLines&) = delete;
    DialogueLines& operator=(const DialogueLines&) = delete;

    /// Oldest first; those that have not begun to appear are at the end.
    const std::vector<Line>& Lines() const noexcept { return Kept; }
    /// The line that appears now, or waits for its character to go on; null: none.
    const Line& Current() const noexcept { return Appearing; }
    /// Nothing appears and nothing waits to.
    bool IsIdle() const noexcept { return Appearing == nullptr && NextLine == Kept.size(); }

    /// The player's own line, which appears whole.
    Line Add(std::string_view Text);

    /// A frame of an answer. `Source`: whose turn it is, since turns of several agents may have one number. `IsDelta`: the
    /// text goes behind what came before; else it is the whole text. `IsFinal`: the step says nothing more. `IsHeld`: a
    /// line that begins with it waits for its voice: call Follow in each frame.
    void Take(
        const void* Source,
        std::int64_t TurnId,
        std::int64_t Step,
        std::string_view Speaker,
        std::string_view Text,
        bool IsDelta,
        bool IsFinal,
        bool IsHeld = false);

    /// Show as much of a line that is held as is heard of it: so many bytes; -1: nothing came of its voice yet, or nothing
    /// more is to be heard. A line that is there whole does not wait for ever: `Seconds` since the last call.
    void Follow(const Line& Which, std::int64_t HeardBytes, double Seconds);

    /// A line waits for no voice any more.
    void Release(const Line& Which);

    /// The turn is over: what it left unfinished stays as it is.
    void EndTurn(const void* Source, std::int64_t TurnId);

    /// Let time pass, in seconds that the game's time dilation does not touch. Allocates nothing when idle.
    void Advance(double Seconds);

    /// Show the rest of the line that appears now; where it is whole already or there is none, begin the next one without
    /// the pause. False: there was nothing to do.
    bool Skip();

    /// Show all that came so far, of all lines.
    void SkipToEnd();

    /// Forget everything.
    void Clear();

private:
    DialogueLine* Find(const void* Source, std::int64_t TurnId, std::int64_t Step) const noexcept;
    bool StartNext();
    void Finish(const Line& Which);
    static void Tell(const Told& Who, const Line& Which);

    std::vector<Line> Kept;
    Line Appearing;
    std::size_t NextLine = 0;
    int Made = 0;
    double Pause = 0;
};

} // namespace Parley
