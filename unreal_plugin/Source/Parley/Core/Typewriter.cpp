// The bodies of Typewriter.h.
#include "Core/Typewriter.h"

#include "Core/CodePoints.h"
#include "Core/TextElements.h"

#include <algorithm>

namespace Parley
{

Typewriter::Typewriter(double ElementsASecond) noexcept
    : ElementsPerSecond(ElementsASecond)
{
}

void Typewriter::Set(std::string_view Text, bool IsComplete)
{
    const std::string_view Before = Shown();
    if (Text.substr(0, Length) != Before)
    {
        const auto Different = std::mismatch(Before.begin(), Before.end(), Text.begin(), Text.end()).first;
        Length = TextElements::Boundary(Text, static_cast<std::size_t>(Different - Before.begin()));
    }
    Whole.assign(Text);
    Complete = IsComplete;
    if (ElementsPerSecond <= 0)
    {
        Length = (std::max)(Length, Reach());
    }
}

void Typewriter::Append(std::string_view More, bool IsComplete)
{
    Whole.append(More);
    Complete = IsComplete;
    if (ElementsPerSecond <= 0)
    {
        Length = (std::max)(Length, Reach());
    }
}

bool Typewriter::Advance(double Seconds) noexcept
{
    const std::size_t Before = Length;
    if (ElementsPerSecond <= 0)
    {
        Length = (std::max)(Length, Reach());
        return Length != Before;
    }
    std::size_t End = Next();
    if (End == Nowhere)
    {
        // Whoever waits for text saves no time up.
        Credit = 0;
        return false;
    }
    Credit += (std::max)(0.0, (std::min)(Seconds, LongestStep)) * ElementsPerSecond;
    while (Credit >= 1 && End != Nowhere)
    {
        Length = End;
        Credit -= 1;
        End = Next();
    }
    return Length != Before;
}

bool Typewriter::SkipToEnd() noexcept
{
    const std::size_t Before = Length;
    Limit = NoLimit;
    Length = (std::max)(Length, Reach());
    Credit = 0;
    return Length != Before;
}

/// Where the next character ends; Nowhere: there is none, or it may still become another one. Looks at no more of the text
/// than that: much may wait to be shown, and more comes with every frame.
std::size_t Typewriter::Next() const noexcept
{
    if (Length >= (std::min)(Whole.size(), Limit))
    {
        return Nowhere;
    }
    const std::size_t End = TextElements::End(Whole, Length);
    const std::size_t Sound = Whole.size() - CodePoints::Unfinished(Whole);
    return Complete || End < Sound || TextElements::Settled(Whole, Length) >= End ? End : Nowhere;
}

/// How far may be shown: a last character that may still become another one is held back.
std::size_t Typewriter::Reach() const noexcept
{
    if (Limit < Whole.size())
    {
        return TextElements::Boundary(Whole, Limit);
    }
    return Complete ? Whole.size() : TextElements::Settled(Whole, Length);
}

} // namespace Parley
