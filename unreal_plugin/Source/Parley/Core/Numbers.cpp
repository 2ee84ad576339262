// Numbers with a fraction, of which not every standard library can do without the system's language.
#include "Core/Numbers.h"

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

// libc++ has them late or never (macOS, the engine's toolchain for Linux); a test builds the other way on purpose.
#if defined(__cpp_lib_to_chars) && !defined(PARLEY_PLAIN_FLOATS)
#define PARLEY_FLOAT_CHARCONV 1
#else
#define PARLEY_FLOAT_CHARCONV 0
#endif

namespace Parley::Numbers
{

namespace NumbersLocal
{

bool IsDigit(char Letter) noexcept
{
    return Letter >= '0' && Letter <= '9';
}

std::size_t SkipDigits(std::string_view Text, std::size_t At) noexcept
{
    while (At < Text.size() && IsDigit(Text[At]))
    {
        ++At;
    }
    return At;
}

#if PARLEY_FLOAT_CHARCONV

// Whether what does not fit is too large rather than too small: the decimal place of its first digit tells.
bool IsLarge(std::string_view Text) noexcept
{
    const std::size_t Mantissa = (std::min)(Text.find_first_of("eE"), Text.size());
    const std::size_t Point = (std::min)(Text.find('.'), Mantissa);
    const std::size_t First = Text.find_first_of("123456789");
    if (First >= Mantissa)
    {
        return false;
    }
    std::int64_t Power = 0;
    if (Mantissa < Text.size())
    {
        std::string_view Written = Text.substr(Mantissa + 1);
        Written.remove_prefix(Written.front() == '+' ? 1 : 0);
        if (!Read(Written, Power))
        {
            return Written.front() != '-';
        }
    }
    return Power > static_cast<std::int64_t>(First) - static_cast<std::int64_t>(Point);
}

bool ReadChecked(std::string_view Text, double& Out)
{
    double Value = 0.0;
    const auto [End, Error] = std::from_chars(Text.data(), Text.data() + Text.size(), Value);
    if (Error == std::errc::result_out_of_range)
    {
        const double Size = IsLarge(Text) ? std::numeric_limits<double>::infinity() : 0.0;
        Out = Text.front() == '-' ? -Size : Size;
        return true;
    }
    if (Error != std::errc{} || End != Text.data() + Text.size())
    {
        return false;
    }
    Out = Value;
    return true;
}

std::string Shortest(double Value)
{
    char Digits[32];
    const auto [End, Error] = std::to_chars(Digits, Digits + sizeof(Digits), Value);
    return Error == std::errc{} ? std::string(Digits, End) : std::string();
}

#else

// strtod wants the point of the language that is set.
bool ReadChecked(std::string_view Text, double& Out)
{
    std::string Local(Text);
    const std::size_t Point = Local.find('.');
    if (Point != std::string::npos)
    {
        Local.replace(Point, 1, std::localeconv()->decimal_point);
    }
    char* End = nullptr;
    const double Value = std::strtod(Local.c_str(), &End);
    if (End != Local.c_str() + Local.size())
    {
        return false;
    }
    Out = Value;
    return true;
}

// As "-1.25e-07": whatever stands between the first digit and the next is the language's point.
std::string Scientific(double Value, int Precision)
{
    char Written[64];
    const int Size = std::snprintf(Written, sizeof(Written), "%.*e", Precision, Value);
    if (Size <= 0 || static_cast<std::size_t>(Size) >= sizeof(Written))
    {
        return std::string();
    }
    std::string Text(Written, static_cast<std::size_t>(Size));
    const std::size_t First = Text.front() == '-' ? 2 : 1;
    std::size_t Next = First;
    while (Next < Text.size() && !IsDigit(Text[Next]) && Text[Next] != 'e')
    {
        ++Next;
    }
    return Next == First ? Text : Text.substr(0, First) + "." + Text.substr(Next);
}

std::string Shortest(double Value)
{
    std::string Text;
    for (int Precision = 0; Precision < 17; ++Precision)
    {
        Text = Scientific(Value, Precision);
        double Again = 0.0;
        if (ReadChecked(Text, Again) && Again == Value)
        {
            break;
        }
    }
    const std::size_t Power = Text.find('e');
    int Exponent = 0;
    std::string_view Written = std::string_view(Text).substr(Power + 1);
    if (Written.front() == '+')
    {
        Written.remove_prefix(1);
    }
    if (!Read(Written, Exponent) || Exponent < -4 || Exponent > 15)
    {
        return Text;
    }
    // Without an exponent, as people write.
    const bool IsNegative = Text.front() == '-';
    std::string Digits;
    for (const char Letter : Text.substr(0, Power))
    {
        if (IsDigit(Letter))
        {
            Digits += Letter;
        }
    }
    std::string Plain;
    if (Exponent < 0)
    {
        Plain = "0." + std::string(static_cast<std::size_t>(-Exponent - 1), '0') + Digits;
    }
    else
    {
        const std::size_t Before = static_cast<std::size_t>(Exponent) + 1;
        if (Digits.size() < Before)
        {
            Digits.append(Before - Digits.size(), '0');
        }
        Plain = Digits.substr(0, Before);
        if (Digits.size() > Before)
        {
            Plain += "." + Digits.substr(Before);
        }
    }
    return (IsNegative ? "-" : "") + Plain;
}

#endif

} // namespace NumbersLocal

bool IsJson(std::string_view Text) noexcept
{
    std::size_t At = !Text.empty() && Text.front() == '-' ? 1 : 0;
    std::size_t End = NumbersLocal::SkipDigits(Text, At);
    if (End == At || (Text[At] == '0' && End > At + 1))
    {
        return false;
    }
    At = End;
    if (At < Text.size() && Text[At] == '.')
    {
        End = NumbersLocal::SkipDigits(Text, At + 1);
        if (End == At + 1)
        {
            return false;
        }
        At = End;
    }
    if (At < Text.size() && (Text[At] == 'e' || Text[At] == 'E'))
    {
        ++At;
        At += At < Text.size() && (Text[At] == '+' || Text[At] == '-') ? 1 : 0;
        End = NumbersLocal::SkipDigits(Text, At);
        if (End == At)
        {
            return false;
        }
        At = End;
    }
    return At == Text.size();
}

bool ReadReal(std::string_view Text, double& Out)
{
    return IsJson(Text) && NumbersLocal::ReadChecked(Text, Out);
}

std::string OfReal(double Value)
{
    if (!std::isfinite(Value))
    {
        return std::string();
    }
    std::string Text = NumbersLocal::Shortest(Value);
    if (Text.find_first_of(".e") == std::string::npos)
    {
        Text += ".0";
    }
    return Text;
}

std::string Shown(double Value)
{
    if (!std::isfinite(Value) || std::fabs(Value) >= 1e15)
    {
        return std::isnan(Value) ? "NaN" : std::isinf(Value) ? (Value < 0.0 ? "-Infinity" : "Infinity") : OfReal(Value);
    }
    const std::int64_t Thousandths = std::llround(Value * 1000.0);
    const std::uint64_t Size = Thousandths < 0 ? std::uint64_t(0) - static_cast<std::uint64_t>(Thousandths)
                                               : static_cast<std::uint64_t>(Thousandths);
    std::string Text = (Thousandths < 0 ? "-" : "") + Of(Size / 1000);
    const std::uint64_t Rest = Size % 1000;
    if (Rest != 0)
    {
        std::string Places = Of(Rest);
        Places.insert(0, 3 - Places.size(), '0');
        Places.erase(Places.find_last_not_of('0') + 1);
        Text += "." + Places;
    }
    return Text;
}

} // namespace Parley::Numbers
