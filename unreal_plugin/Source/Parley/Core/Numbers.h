// Numbers to text and back, the same in every language and with every standard library.
#pragma once

#include "Core/CoreApi.h"

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace Parley::Numbers
{

/// Reads a whole number that fills the text: digits, before them at most a minus. False, and `Out` untouched, for all else.
template <class T>
bool Read(std::string_view Text, T& Out) noexcept
{
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>, "whole numbers only; ReadReal reads the others");
    T Value{};
    const auto [End, Error] = std::from_chars(Text.data(), Text.data() + Text.size(), Value);
    if (Error != std::errc{} || End != Text.data() + Text.size())
    {
        return false;
    }
    Out = Value;
    return true;
}

/// The digits of a whole number.
template <class T>
std::string Of(T Value)
{
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>, "whole numbers only; OfReal has the others");
    char Digits[24];
    const auto [End, Error] = std::to_chars(Digits, Digits + sizeof(Digits), Value);
    return Error == std::errc{} ? std::string(Digits, End) : std::string();
}

/// Whether the text is a number as JSON spells them.
PARLEY_CORE_API bool IsJson(std::string_view Text) noexcept;

/// Reads a number that fills the text and is spelled as JSON does. False, and `Out` untouched, for all else. What is too
/// large becomes infinite, what is too small zero.
PARLEY_CORE_API bool ReadReal(std::string_view Text, double& Out);

/// The shortest spelling that reads back as the same number, in JSON's grammar; whole ones end in ".0". Infinities and
/// NaN have none: "".
PARLEY_CORE_API std::string OfReal(double Value);

/// For people: at most three places behind the point and none that say nothing, as "0.4" or "15".
PARLEY_CORE_API std::string Shown(double Value);

} // namespace Parley::Numbers
