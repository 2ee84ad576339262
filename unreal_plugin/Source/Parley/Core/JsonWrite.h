// How generated messages and nodes become JSON.
#pragma once

#include "Core/Json.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace Parley
{

/// The words of an enum, in the order of its members: `WordsOf(AnyValueOfIt)`.
struct WordTable
{
    const std::string_view* First;
    std::size_t Count;
};

inline Json WriteValue(const std::string& Value)
{
    return Json::String(Value);
}

inline Json WriteValue(const Json& Value)
{
    return Value;
}

inline Json WriteValue(const std::map<std::string, std::string>& Value)
{
    Json Written = Json::Object();
    for (const auto& Pair : Value)
    {
        Written.Set(Pair.first, Json::String(Pair.second));
    }
    return Written;
}

template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
Json WriteValue(T Value)
{
    if constexpr (std::is_same<T, bool>::value)
    {
        return Json::Boolean(Value);
    }
    else if constexpr (std::is_floating_point<T>::value)
    {
        return Json::Real(Value);
    }
    else if constexpr (std::is_signed<T>::value)
    {
        return Json::Integer(Value);
    }
    else
    {
        return Json::Unsigned(Value);
    }
}

/// The word of an enum; empty for a number that is none of its members.
template <class T, std::enable_if_t<std::is_enum<T>::value, int> = 0>
std::string_view WordOf(T Value)
{
    const auto Words = WordsOf(Value);
    const auto Index = static_cast<std::size_t>(Value);
    return Index < Words.Count ? Words.First[Index] : std::string_view();
}

template <class T, std::enable_if_t<std::is_enum<T>::value, int> = 0>
Json WriteValue(T Value)
{
    return Json::String(std::string(WordOf(Value)));
}

template <class T>
auto WriteValue(const T& Value) -> decltype(Value.ToJson())
{
    return Value.ToJson();
}

template <class T>
Json WriteValue(const std::vector<T>& Value)
{
    std::vector<Json> Items;
    Items.reserve(Value.size());
    for (const T& Item : Value)
    {
        Items.push_back(WriteValue(Item));
    }
    return Json::Array(std::move(Items));
}

template <class T>
void WriteField(Json& Body, std::string_view Name, const T& Value)
{
    Body.Set(Name, WriteValue(Value));
}

/// An object with one field more.
inline Json With(Json Body, std::string_view Name, Json Value)
{
    Body.Set(Name, std::move(Value));
    return Body;
}

/// Left out where it is not set.
template <class T>
void WriteField(Json& Body, std::string_view Name, const std::optional<T>& Value)
{
    if (Value)
    {
        Body.Set(Name, WriteValue(*Value));
    }
}

} // namespace Parley
