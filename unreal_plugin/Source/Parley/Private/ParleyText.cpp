// Text between the engine and the core, without the engine's converters: those write a `?` for what is no text.
#include "ParleyText.h"

#include "Core/Utf8.h"

namespace Parley
{

namespace ParleyTextLocal
{

constexpr char32_t Replacement = 0xFFFD;

void AppendUtf8(std::string& Out, char32_t Point)
{
    if (Point < 0x80)
    {
        Out.push_back(static_cast<char>(Point));
    }
    else if (Point < 0x800)
    {
        Out.push_back(static_cast<char>(0xC0 | (Point >> 6)));
        Out.push_back(static_cast<char>(0x80 | (Point & 0x3F)));
    }
    else if (Point < 0x10000)
    {
        Out.push_back(static_cast<char>(0xE0 | (Point >> 12)));
        Out.push_back(static_cast<char>(0x80 | ((Point >> 6) & 0x3F)));
        Out.push_back(static_cast<char>(0x80 | (Point & 0x3F)));
    }
    else
    {
        Out.push_back(static_cast<char>(0xF0 | (Point >> 18)));
        Out.push_back(static_cast<char>(0x80 | ((Point >> 12) & 0x3F)));
        Out.push_back(static_cast<char>(0x80 | ((Point >> 6) & 0x3F)));
        Out.push_back(static_cast<char>(0x80 | (Point & 0x3F)));
    }
}

/// The next code point of well-formed UTF-8.
char32_t NextPoint(std::string_view Text, std::size_t& At)
{
    const unsigned char First = static_cast<unsigned char>(Text[At]);
    const std::size_t More = First < 0x80 ? 0 : First < 0xE0 ? 1 : First < 0xF0 ? 2 : 3;
    char32_t Point = More == 0 ? First : First & (0x3Fu >> More);
    for (std::size_t Index = 1; Index <= More; Index++)
    {
        Point = (Point << 6) | (static_cast<unsigned char>(Text[At + Index]) & 0x3Fu);
    }
    At += More + 1;
    return Point;
}

void AppendGood(FString& Out, std::string_view Text)
{
    // Pieces of a fixed size: one allocation of the string's own, whatever a TCHAR is.
    constexpr int32 PieceSize = 256;
    TCHAR Piece[PieceSize + 2];
    int32 Count = 0;
    std::size_t At = 0;
    Out.Reserve(static_cast<int32>(Text.size()));
    while (At < Text.size())
    {
        const char32_t Point = NextPoint(Text, At);
        if (Point == 0)
        {
            continue;
        }
        if (sizeof(TCHAR) == 2 && Point >= 0x10000)
        {
            Piece[Count++] = static_cast<TCHAR>(0xD800 + ((Point - 0x10000) >> 10));
            Piece[Count++] = static_cast<TCHAR>(0xDC00 + ((Point - 0x10000) & 0x3FF));
        }
        else
        {
            Piece[Count++] = static_cast<TCHAR>(Point);
        }
        if (Count >= PieceSize)
        {
            Out.AppendChars(Piece, Count);
            Count = 0;
        }
    }
    if (Count > 0)
    {
        Out.AppendChars(Piece, Count);
    }
}

} // namespace ParleyTextLocal

std::string ToUtf8(const FString& Text)
{
    const TCHAR* Characters = *Text;
    const int32 Length = Text.Len();
    std::string Out;
    Out.reserve(static_cast<std::size_t>(Length));
    for (int32 At = 0; At < Length; At++)
    {
        char32_t Point = static_cast<char32_t>(Characters[At]);
        if (Point >= 0xD800 && Point < 0xE000)
        {
            const bool bIsPair = Point < 0xDC00 && At + 1 < Length && (static_cast<char32_t>(Characters[At + 1]) & 0xFFFFFC00u) == 0xDC00;
            Point = bIsPair ? 0x10000 + ((Point - 0xD800) << 10) + (static_cast<char32_t>(Characters[++At]) - 0xDC00)
                            : ParleyTextLocal::Replacement;
        }
        ParleyTextLocal::AppendUtf8(Out, Point > 0x10FFFF ? ParleyTextLocal::Replacement : Point);
    }
    return Out;
}

FString ToFString(std::string_view Text)
{
    FString Out;
    if (Utf8::IsGood(Text))
    {
        ParleyTextLocal::AppendGood(Out, Text);
    }
    else
    {
        ParleyTextLocal::AppendGood(Out, Utf8::Mended(Text));
    }
    return Out;
}

} // namespace Parley
