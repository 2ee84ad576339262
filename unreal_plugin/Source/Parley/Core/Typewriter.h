// How a line appears bit by bit while it is still being written.
#pragma once

#include "Core/CoreApi.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace Parley
{

/// Shows a text that may still be coming, character by character as a reader counts them.
///
/// Time is what the caller says it is, in seconds. What is shown never ends within a character: not within a code point,
/// not between a letter and its mark, not within a flag or a family. Threading: one thread.
class PARLEY_CORE_API Typewriter
{
public:
    /// A step is never longer than this, so that a game that stood still does not show all at once.
    static constexpr double LongestStep = 0.25;

    /// What Limit is where there is none.
    static constexpr std::size_t NoLimit = static_cast<std::size_t>(-1);

    /// Characters a second; 0 or less: all at once.
    double ElementsPerSecond = 0;
    /// So many bytes of Text may be shown; what is shown already stays.
    std::size_t Limit = NoLimit;

    explicit Typewriter(double ElementsASecond) noexcept;

    /// All that came so far.
    const std::string& Text() const noexcept { return Whole; }
    /// No more will come.
    bool IsComplete() const noexcept { return Complete; }
    /// How many bytes of Text are shown.
    std::size_t ShownLength() const noexcept { return Length; }
    /// All is shown, and no more will come.
    bool IsDone() const noexcept { return Complete && Length == Whole.size(); }
    /// What is shown; holds until the text is changed.
    std::string_view Shown() const noexcept { return std::string_view(Whole).substr(0, Length); }

    /// Say what the text is now: longer than before, or another one, of which what is equal stays shown.
    void Set(std::string_view Text, bool IsComplete);
    /// Say what came behind it.
    void Append(std::string_view More, bool IsComplete);
    /// Let time pass. True: more is shown than before.
    bool Advance(double Seconds) noexcept;
    /// Show all that is there, and lift the limit. True: that was more than before.
    bool SkipToEnd() noexcept;

private:
    static constexpr std::size_t Nowhere = static_cast<std::size_t>(-1);

    std::size_t Next() const noexcept;
    std::size_t Reach() const noexcept;

    std::string Whole;
    std::size_t Length = 0;
    double Credit = 0;
    bool Complete = false;
};

} // namespace Parley
