// The bodies of TextElements.h.
#include "Core/TextElements.h"

#include "Core/CodePoints.h"
#include "Core/UnicodeTable.h"

namespace Parley::TextElementsLocal
{

constexpr char32_t CarriageReturn = 0x0D;
constexpr char32_t LineFeed = 0x0A;
constexpr char32_t ZeroWidthNonJoiner = 0x200C;
constexpr char32_t ZeroWidthJoiner = 0x200D;

bool IsBreak(char32_t Point) noexcept
{
    return Point < 0x20 || (Point >= 0x7F && Point < 0xA0) || Point == 0x2028 || Point == 0x2029;
}

bool Extends(char32_t Point) noexcept
{
    if (Point < 0x300)
    {
        return false;
    }
    return Point == ZeroWidthJoiner || Point == ZeroWidthNonJoiner || Point == 0xE33 || Point == 0xEB3
        || Point == 0xFF9E || Point == 0xFF9F || (Point >= 0xFE00 && Point <= 0xFE0F)
        || (Point >= 0x1F3FB && Point <= 0x1F3FF) || (Point >= 0xE0020 && Point <= 0xE01EF)
        || UnicodeTable::IsMark(Point);
}

bool IsRegional(char32_t Point) noexcept
{
    return Point >= 0x1F1E6 && Point <= 0x1F1FF;
}

bool IsPicture(char32_t Point) noexcept
{
    return Point == 0xA9 || Point == 0xAE || Point == 0x203C || Point == 0x2049 || Point == 0x2122 || Point == 0x2139
        || (Point >= 0x2190 && Point <= 0x21FF) || (Point >= 0x2300 && Point <= 0x23FF) || Point == 0x24C2
        || (Point >= 0x25A0 && Point <= 0x27BF) || (Point >= 0x2900 && Point <= 0x297F)
        || (Point >= 0x2B00 && Point <= 0x2BFF) || Point == 0x3030 || Point == 0x303D || Point == 0x3297
        || Point == 0x3299 || (Point >= 0x1F000 && Point <= 0x1FAFF && !IsRegional(Point));
}

/// Viramas that join the consonants around them (property Indic_Conjunct_Break=Linker).
bool IsLinker(char32_t Point) noexcept
{
    return Point == 0x94D || Point == 0x9CD || Point == 0xACD || Point == 0xB4D || Point == 0xC4D || Point == 0xD4D;
}

/// A vowel sign behind a virama ends what would join; a nukta does not.
char32_t Keep(char32_t Linker, char32_t Next) noexcept
{
    const bool IsNukta = Next == 0x93C || Next == 0x9BC || Next == 0xABC || Next == 0xB3C || Next == 0xC3C;
    return IsNukta ? Linker : 0;
}

bool SharesScript(char32_t One, char32_t Other) noexcept
{
    return One >> 7 == Other >> 7;
}

bool IsPrepended(char32_t Point) noexcept
{
    return (Point >= 0x600 && Point <= 0x605) || Point == 0x6DD || Point == 0x70F || Point == 0x8E2 || Point == 0x890
        || Point == 0x891 || Point == 0xD4E || Point == 0x110BD || Point == 0x110CD;
}

bool JoinsHangul(char32_t Last, char32_t Next) noexcept
{
    const bool IsVowel = (Next >= 0x1160 && Next <= 0x11A7) || (Next >= 0xD7B0 && Next <= 0xD7C6);
    const bool IsTail = (Next >= 0x11A8 && Next <= 0x11FF) || (Next >= 0xD7CB && Next <= 0xD7FB);
    const bool IsSyllable = Next >= 0xAC00 && Next <= 0xD7A3;
    if ((Last >= 0x1100 && Last <= 0x115F) || (Last >= 0xA960 && Last <= 0xA97C))
    {
        const bool IsLead = (Next >= 0x1100 && Next <= 0x115F) || (Next >= 0xA960 && Next <= 0xA97C);
        return IsLead || IsVowel || IsSyllable;
    }
    const bool WasSyllable = Last >= 0xAC00 && Last <= 0xD7A3;
    const bool HadTail = WasSyllable && (Last - 0xAC00) % 28 != 0;
    const bool WasVowel = (Last >= 0x1160 && Last <= 0x11A7) || (Last >= 0xD7B0 && Last <= 0xD7C6);
    const bool WasTail = (Last >= 0x11A8 && Last <= 0x11FF) || (Last >= 0xD7CB && Last <= 0xD7FB);
    return ((WasVowel || (WasSyllable && !HadTail)) && (IsVowel || IsTail)) || ((WasTail || HadTail) && IsTail);
}

/// Whether the element of [Start, End), the last of a text, may become another one when more comes.
bool MayGrow(std::string_view Text, std::size_t Start, std::size_t End) noexcept
{
    std::size_t Length = 0;
    const char32_t First = CodePoints::At(Text, Start, Length);
    char32_t Last = First;
    for (std::size_t Place = Start, Step = 0; Place < End; Place += Step)
    {
        Last = CodePoints::At(Text, Place, Step);
    }
    const bool IsAlone = Start + Length == End;
    return Last == ZeroWidthJoiner || IsLinker(Last) || (IsPicture(First) && First > 0xFF) || IsPrepended(First)
        || (IsRegional(First) && IsAlone) || (Last == CarriageReturn && IsAlone);
}

} // namespace Parley::TextElementsLocal

namespace Parley::TextElements
{

using namespace TextElementsLocal;

std::size_t End(std::string_view Text, std::size_t Start) noexcept
{
    std::size_t Length = 0;
    const char32_t First = CodePoints::At(Text, Start, Length);
    std::size_t Place = Start + Length;
    if (IsBreak(First))
    {
        const bool IsPair =
            First == CarriageReturn && Place < Text.size() && static_cast<char32_t>(Text[Place]) == LineFeed;
        return IsPair ? Place + 1 : Place;
    }
    char32_t Last = First;
    int Flags = IsRegional(First) ? 1 : 0;
    bool IsJoining = IsPicture(First);
    char32_t Conjunct = 0;
    while (Place < Text.size())
    {
        const char32_t Next = CodePoints::At(Text, Place, Length);
        if (Extends(Next))
        {
            Conjunct = IsLinker(Next) ? Next : Next == ZeroWidthJoiner ? Conjunct : Keep(Conjunct, Next);
        }
        else if (Last == ZeroWidthJoiner && IsJoining && IsPicture(Next))
        {
            Conjunct = 0;
        }
        else if (Flags == 1 && IsRegional(Last) && IsRegional(Next))
        {
            Flags = 2;
        }
        else if (Conjunct != 0 && SharesScript(Conjunct, Next) && UnicodeTable::IsConjunctLetter(Next))
        {
            Conjunct = 0;
        }
        else if (IsBreak(Next) || !(JoinsHangul(Last, Next) || IsPrepended(Last)))
        {
            return Place;
        }
        else
        {
            // A mark that goes before, such as an Arabic number sign: what it stands before is what it is.
            IsJoining = IsPicture(Next);
            Flags = IsRegional(Next) ? 1 : 0;
        }
        Last = Next;
        Place += Length;
    }
    return Place;
}

std::size_t Count(std::string_view Text) noexcept
{
    std::size_t Elements = 0;
    for (std::size_t Place = 0; Place < Text.size(); Place = End(Text, Place))
    {
        ++Elements;
    }
    return Elements;
}

std::size_t Boundary(std::string_view Text, std::size_t Limit) noexcept
{
    std::size_t Place = 0;
    while (Place < Text.size())
    {
        const std::size_t Behind = End(Text, Place);
        if (Behind > Limit)
        {
            return Place;
        }
        Place = Behind;
    }
    return Place;
}

std::size_t Settled(std::string_view Text, std::size_t Start) noexcept
{
    const std::string_view Whole = Text.substr(0, Text.size() - CodePoints::Unfinished(Text.substr(Start)));
    std::size_t Last = Start;
    for (std::size_t Place = Start; Place < Whole.size(); Place = End(Whole, Place))
    {
        Last = Place;
    }
    return Last < Whole.size() && MayGrow(Whole, Last, Whole.size()) ? Last : Whole.size();
}

} // namespace Parley::TextElements
