// The bodies of Names.h and AuthoringFault.h.
#include "Core/Authoring/Names.h"

#include "Core/CodePoints.h"
#include "Core/Generated/Protocol.h"
#include "Core/Numbers.h"

#include <algorithm>
#include <iterator>
#include <utility>

static_assert(Parley::Names::MaxLength == Parley::Protocol::MaxNameChars, "as the sidecar has it");
static_assert(Parley::Names::Reserved == Parley::Protocol::ReservedName, "as the sidecar has it");

namespace Parley
{

std::string_view AuthoringFault::ReasonName() const noexcept
{
    switch (Reason)
    {
    case AuthoringReason::Reserved:
        return "reserved";
    case AuthoringReason::Grammar:
        return "grammar";
    case AuthoringReason::UnknownNode:
        return "unknown_node";
    case AuthoringReason::NotNow:
        return "not_now";
    case AuthoringReason::NotAWorkflow:
        break;
    }
    return "not_a_workflow";
}

} // namespace Parley

namespace Parley::NamesLocal
{

bool IsIdentifier(std::string_view Text) noexcept
{
    for (std::size_t At = 0; At < Text.size(); ++At)
    {
        const char Letter = Text[At];
        const bool Begins = Letter == '_' || (Letter >= 'a' && Letter <= 'z') || (Letter >= 'A' && Letter <= 'Z');
        if (!Begins && (At == 0 || Letter < '0' || Letter > '9'))
        {
            return false;
        }
    }
    return !Text.empty();
}

struct Range
{
    char32_t First;
    char32_t Last;
};

/// What does not print, in the order of code points: controls, formats, separators, surrogates, private and
/// never-assigned ones. Letters that are not assigned yet print as they are.
constexpr Range Unprinting[] = {
    {0x0, 0x1F},         {0x7F, 0xA0},        {0xAD, 0xAD},        {0x600, 0x605},     {0x61C, 0x61C},
    {0x6DD, 0x6DD},      {0x70F, 0x70F},      {0x890, 0x891},      {0x8E2, 0x8E2},     {0x1680, 0x1680},
    {0x180E, 0x180E},    {0x2000, 0x200F},    {0x2028, 0x202F},    {0x205F, 0x206F},   {0x3000, 0x3000},
    {0xD800, 0xF8FF},    {0xFDD0, 0xFDEF},    {0xFEFF, 0xFEFF},    {0xFFF0, 0xFFFB},   {0xFFFE, 0xFFFF},
    {0x110BD, 0x110BD},  {0x110CD, 0x110CD},  {0x13430, 0x1343F},  {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
    {0x1FFFE, 0x1FFFF},  {0x2FFFE, 0x2FFFF},  {0x3FFFE, 0xE00FF},  {0xE01F0, 0x10FFFF},
};

bool Prints(char32_t Point) noexcept
{
    const Range* Found = std::upper_bound(
        std::begin(Unprinting), std::end(Unprinting), Point, [](char32_t Value, const Range& One) { return Value < One.First; });
    return Found == std::begin(Unprinting) || Point > (Found - 1)->Last;
}

void AppendHex(std::string& Text, char32_t Point, int Digits)
{
    for (int Left = Digits - 1; Left >= 0; --Left)
    {
        Text.push_back("0123456789abcdef"[(Point >> (4 * Left)) & 0xF]);
    }
}

std::string Quoted(std::string_view Text, bool IsCut)
{
    const bool HasSingle = Text.find('\'') != std::string_view::npos;
    const bool HasDouble = Text.find('"') != std::string_view::npos;
    const char Quote = HasSingle && !HasDouble ? '"' : '\'';
    std::string Made(1, Quote);
    for (std::size_t At = 0, Length = 0; At < Text.size(); At += Length)
    {
        const char32_t Point = CodePoints::At(Text, At, Length);
        if (Point == static_cast<char32_t>(Quote) || Point == '\\')
        {
            Made.push_back('\\');
            Made.push_back(Text[At]);
        }
        else if (Point == '\n' || Point == '\r' || Point == '\t')
        {
            Made += Point == '\n' ? "\\n" : Point == '\r' ? "\\r" : "\\t";
        }
        else if (Prints(Point))
        {
            CodePoints::Append(Made, Point);
        }
        else
        {
            const int Digits = Point < 0x100 ? 2 : Point < 0x10000 ? 4 : 8;
            Made += Digits == 2 ? "\\x" : Digits == 4 ? "\\u" : "\\U";
            AppendHex(Made, Point, Digits);
        }
    }
    if (IsCut)
    {
        Made += "\xE2\x80\xA6"; // …
    }
    Made.push_back(Quote);
    return Made;
}

bool Refuse(AuthoringFault& Fault, AuthoringReason Reason, std::string Text)
{
    Fault.Reason = Reason;
    Fault.Text = std::move(Text);
    return false;
}

} // namespace Parley::NamesLocal

namespace Parley::Names
{

using namespace NamesLocal;

bool Check(std::string_view Text, std::string& Name, AuthoringFault& Fault)
{
    const std::string_view Trimmed = Trim(Text);
    if (Trimmed == Reserved)
    {
        return Refuse(
            Fault,
            AuthoringReason::Reserved,
            "'" + std::string(Reserved) + "' is reserved for the player's line; choose another name.");
    }
    if (Trimmed.empty())
    {
        return Refuse(Fault, AuthoringReason::Grammar, "A name cannot be empty; give at least one letter.");
    }
    if (!IsIdentifier(Trimmed))
    {
        return Refuse(
            Fault,
            AuthoringReason::Grammar,
            Shown(Trimmed) + " is not a name; use only the letters A to Z, digits and _, and no digit first.");
    }
    if (Trimmed.size() > MaxLength)
    {
        return Refuse(
            Fault,
            AuthoringReason::Grammar,
            Shown(Trimmed) + " has " + Numbers::Of(Trimmed.size()) + " characters; shorten it to at most "
                + Numbers::Of(MaxLength) + ".");
    }
    Name.assign(Trimmed);
    return true;
}

bool IsName(std::string_view Text) noexcept
{
    return Text.size() <= MaxLength && Text != Reserved && IsIdentifier(Text);
}

std::string Unique(std::string_view Wanted, const std::set<std::string, std::less<>>& Taken)
{
    std::string Name(Wanted);
    for (int Number = 2; Taken.find(Name) != Taken.end(); ++Number)
    {
        const std::string Suffix = "_" + Numbers::Of(Number);
        Name.assign(Wanted.substr(0, (std::min)(Wanted.size(), MaxLength - Suffix.size())));
        Name += Suffix;
    }
    return Name;
}

std::string_view Trim(std::string_view Text) noexcept
{
    std::size_t Length = 0;
    while (!Text.empty() && IsBlank(CodePoints::At(Text, 0, Length)))
    {
        Text.remove_prefix(Length);
    }
    while (!Text.empty())
    {
        std::size_t Begin = Text.size() - 1;
        while (Begin > 0 && Text.size() - Begin < 4 && (static_cast<unsigned char>(Text[Begin]) & 0xC0) == 0x80)
        {
            --Begin;
        }
        const bool IsLast = IsBlank(CodePoints::At(Text, Begin, Length)) && Begin + Length == Text.size();
        if (!IsLast)
        {
            break;
        }
        Text.remove_suffix(Length);
    }
    return Text;
}

bool IsBlank(char32_t Letter) noexcept
{
    return (Letter >= '\t' && Letter <= '\r') || (Letter >= 0x1C && Letter <= ' ') || Letter == 0x85 || Letter == 0xA0
        || Letter == 0x1680 || (Letter >= 0x2000 && Letter <= 0x200A) || Letter == 0x2028 || Letter == 0x2029
        || Letter == 0x202F || Letter == 0x205F || Letter == 0x3000;
}

std::string Shown(std::string_view Text)
{
    std::size_t End = 0;
    for (std::size_t Letters = 0; Letters < MaxLength && End < Text.size(); ++Letters)
    {
        End = CodePoints::End(Text, End);
    }
    return Quoted(Text.substr(0, End), End < Text.size());
}

} // namespace Parley::Names
