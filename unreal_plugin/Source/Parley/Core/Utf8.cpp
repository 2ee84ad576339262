// UTF-8 by its definition: shortest forms, no surrogates, nothing past U+10FFFF.
#include "Core/Utf8.h"

namespace Parley::Utf8
{

namespace Utf8Local
{

// Bytes of the character that begins here; 0: none does.
std::size_t SizeAt(std::string_view Text, std::size_t At) noexcept
{
    const auto Byte = [Text, At](std::size_t Ahead) noexcept
    { return At + Ahead < Text.size() ? static_cast<unsigned char>(Text[At + Ahead]) : 0U; };
    const auto IsNext = [&Byte](std::size_t Ahead) noexcept { return (Byte(Ahead) & 0xC0U) == 0x80U; };
    const unsigned First = Byte(0);
    if (First < 0x80)
    {
        return 1;
    }
    if (First >= 0xC2 && First <= 0xDF)
    {
        return IsNext(1) ? 2 : 0;
    }
    if (First >= 0xE0 && First <= 0xEF)
    {
        const unsigned Second = Byte(1);
        const bool IsGood = (First != 0xE0 || Second >= 0xA0) && (First != 0xED || Second <= 0x9F);
        return IsGood && IsNext(1) && IsNext(2) ? 3 : 0;
    }
    if (First >= 0xF0 && First <= 0xF4)
    {
        const unsigned Second = Byte(1);
        const bool IsGood = (First != 0xF0 || Second >= 0x90) && (First != 0xF4 || Second <= 0x8F);
        return IsGood && IsNext(1) && IsNext(2) && IsNext(3) ? 4 : 0;
    }
    return 0;
}

} // namespace Utf8Local

std::size_t FindFault(std::string_view Text) noexcept
{
    std::size_t At = 0;
    while (At < Text.size())
    {
        const std::size_t Size = Utf8Local::SizeAt(Text, At);
        if (Size == 0)
        {
            return At;
        }
        At += Size;
    }
    return std::string_view::npos;
}

std::string Mended(std::string_view Text)
{
    std::string Good;
    Good.reserve(Text.size() + 8);
    std::size_t At = 0;
    while (At < Text.size())
    {
        const std::size_t Size = Utf8Local::SizeAt(Text, At);
        if (Size == 0)
        {
            Good += "\xEF\xBF\xBD";
            ++At;
            continue;
        }
        Good.append(Text.substr(At, Size));
        At += Size;
    }
    return Good;
}

std::string_view Cut(std::string_view Text, std::size_t MaxBytes) noexcept
{
    if (Text.size() <= MaxBytes)
    {
        return Text;
    }
    std::size_t End = MaxBytes;
    while (End > 0 && (static_cast<unsigned char>(Text[End]) & 0xC0U) == 0x80U)
    {
        --End;
    }
    return Text.substr(0, End);
}

} // namespace Parley::Utf8
