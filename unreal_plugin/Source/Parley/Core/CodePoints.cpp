// The bodies of CodePoints.h.
#include "Core/CodePoints.h"

namespace Parley::CodePointsLocal
{

constexpr char32_t Replacement = 0xFFFD;

unsigned char ByteAt(std::string_view Text, std::size_t At) noexcept
{
    return static_cast<unsigned char>(Text[At]);
}

/// How many bytes a code point has that begins with this one; 0: none does.
std::size_t LengthBy(unsigned char First) noexcept
{
    if (First < 0x80)
    {
        return 1;
    }
    if (First < 0xC2)
    {
        return 0;
    }
    return First < 0xE0 ? 2 : First < 0xF0 ? 3 : First < 0xF5 ? 4 : 0;
}

/// Whether the second byte fits the first: no overlong form, no surrogate half, nothing beyond Unicode.
bool IsSecond(unsigned char First, unsigned char Second) noexcept
{
    const unsigned char Least = First == 0xE0 ? 0xA0 : First == 0xF0 ? 0x90 : 0x80;
    const unsigned char Most = First == 0xED ? 0x9F : First == 0xF4 ? 0x8F : 0xBF;
    return Second >= Least && Second <= Most;
}

} // namespace Parley::CodePointsLocal

namespace Parley::CodePoints
{

using namespace CodePointsLocal;

char32_t At(std::string_view Text, std::size_t Place, std::size_t& Length) noexcept
{
    const unsigned char First = ByteAt(Text, Place);
    const std::size_t Wanted = LengthBy(First);
    Length = 1;
    if (Wanted == 1)
    {
        return First;
    }
    if (Wanted == 0 || Text.size() - Place < Wanted || !IsSecond(First, ByteAt(Text, Place + 1)))
    {
        return Replacement;
    }
    char32_t Point = First & (0x7Fu >> Wanted);
    for (std::size_t Behind = 1; Behind < Wanted; ++Behind)
    {
        const unsigned char Next = ByteAt(Text, Place + Behind);
        if ((Next & 0xC0) != 0x80)
        {
            return Replacement;
        }
        Point = (Point << 6) | (Next & 0x3Fu);
    }
    Length = Wanted;
    return Point;
}

std::size_t End(std::string_view Text, std::size_t Place) noexcept
{
    std::size_t Length = 0;
    At(Text, Place, Length);
    return Place + Length;
}

std::size_t Count(std::string_view Text) noexcept
{
    std::size_t Points = 0;
    for (std::size_t Place = 0; Place < Text.size(); Place = End(Text, Place))
    {
        ++Points;
    }
    return Points;
}

void Append(std::string& Text, char32_t Point)
{
    if (Point > 0x10FFFF || (Point >= 0xD800 && Point <= 0xDFFF))
    {
        Point = Replacement;
    }
    if (Point < 0x80)
    {
        Text.push_back(static_cast<char>(Point));
        return;
    }
    const int Behind = Point < 0x800 ? 1 : Point < 0x10000 ? 2 : 3;
    const char32_t Mark = Behind == 1 ? 0xC0 : Behind == 2 ? 0xE0 : 0xF0;
    Text.push_back(static_cast<char>(Mark | (Point >> (6 * Behind))));
    for (int Left = Behind - 1; Left >= 0; --Left)
    {
        Text.push_back(static_cast<char>(0x80 | ((Point >> (6 * Left)) & 0x3F)));
    }
}

std::size_t Unfinished(std::string_view Text) noexcept
{
    for (std::size_t Back = 1; Back <= 3 && Back <= Text.size(); ++Back)
    {
        const unsigned char Letter = ByteAt(Text, Text.size() - Back);
        if ((Letter & 0xC0) == 0x80)
        {
            continue;
        }
        const bool IsSound = Back == 1 || IsSecond(Letter, ByteAt(Text, Text.size() - Back + 1));
        return LengthBy(Letter) > Back && IsSound ? Back : 0;
    }
    return 0;
}

} // namespace Parley::CodePoints
