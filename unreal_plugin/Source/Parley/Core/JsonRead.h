// How generated messages and nodes are read, with the place of what is wrong.
#pragma once

#include "Core/CoreApi.h"
#include "Core/Json.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace Parley
{

/// What free JSON must be at the least.
enum class JsonForm
{
    Any,
    Object,
    /// An object or a list.
    Container,
    /// An object whose values are what variables can be.
    Variables,
};

/// A value of parsed JSON, where it stands, and where to say what is wrong with it: `$.outputs[0].text: is missing`.
/// Nothing is converted: a number in a text is no number, 1.0 is no whole number, and null stands only where it may.
/// It refers to what it is made of, so it lives on the stack while a document is read.
class PARLEY_CORE_API JsonRead
{
public:
    /// A whole document.
    JsonRead(const Json& Document, std::string& InFault) noexcept;
    /// A field of an object.
    JsonRead(const Json& Field, const JsonRead& InOuter, std::string_view InName) noexcept;
    /// An entry of a list.
    JsonRead(const Json& Item, const JsonRead& InOuter, std::size_t InIndex) noexcept;

    const Json& Get() const noexcept { return *Value; }

    bool Text(std::string& Out) const;
    bool Boolean(bool& Out) const;
    /// A whole number within bounds.
    bool Whole(std::int64_t& Out, std::int64_t Least, std::int64_t Most) const;
    bool Whole(std::uint64_t& Out) const;
    /// A finite number.
    bool Number(double& Out) const;
    /// Whether it is an object.
    bool Object() const;
    /// Whether it is a list.
    bool List() const;
    /// Free JSON, as it is.
    bool Free(Json& Out, JsonForm Form) const;
    /// Which of `Words` it is.
    bool Word(std::size_t& Out, const std::string_view* Words, std::size_t Count) const;

    /// False, always: says that this value is wrong.
    bool Fail(std::string_view Reason) const;
    /// False, always: says that there is no such field.
    bool Missing(std::string_view Name) const;
    /// Where it stands, such as `$.outputs[0].text`.
    std::string Path() const;

private:
    bool Wrong(std::string_view Right) const;
    bool OutOfBounds(const std::string& Least, const std::string& Most) const;

    const Json* Value;
    const JsonRead* Outer;
    std::string* Fault;
    std::string_view Name;
    std::size_t Index;
};

inline bool ReadValue(const JsonRead& From, std::string& Out)
{
    return From.Text(Out);
}

inline bool ReadValue(const JsonRead& From, bool& Out)
{
    return From.Boolean(Out);
}

inline bool ReadValue(
    const JsonRead& From, std::int64_t& Out, std::int64_t Least = (std::numeric_limits<std::int64_t>::min)(),
    std::int64_t Most = (std::numeric_limits<std::int64_t>::max)())
{
    return From.Whole(Out, Least, Most);
}

inline bool ReadValue(
    const JsonRead& From, std::int32_t& Out, std::int64_t Least = (std::numeric_limits<std::int32_t>::min)(),
    std::int64_t Most = (std::numeric_limits<std::int32_t>::max)())
{
    std::int64_t Wide = 0;
    const bool IsRead = From.Whole(Wide, Least, Most);
    Out = static_cast<std::int32_t>(Wide);
    return IsRead;
}

inline bool ReadValue(const JsonRead& From, std::uint64_t& Out)
{
    return From.Whole(Out);
}

inline bool ReadValue(const JsonRead& From, double& Out)
{
    return From.Number(Out);
}

inline bool ReadValue(const JsonRead& From, Json& Out, JsonForm Form = JsonForm::Any)
{
    return From.Free(Out, Form);
}

PARLEY_CORE_API bool ReadValue(const JsonRead& From, std::map<std::string, std::string>& Out);

/// A record: it reads itself.
template <class T>
auto ReadValue(const JsonRead& From, T& Out) -> decltype(T::Read(From, Out))
{
    return T::Read(From, Out);
}

/// One of a few words: ReadWord gives the table of the enum.
template <class T, std::enable_if_t<std::is_enum<T>::value, int> = 0>
bool ReadValue(const JsonRead& From, T& Out)
{
    std::size_t Index = 0;
    const auto Words = WordsOf(Out);
    if (!From.Word(Index, Words.First, Words.Count))
    {
        return false;
    }
    Out = static_cast<T>(Index);
    return true;
}

template <class T, class... Rest>
bool ReadValue(const JsonRead& From, std::vector<T>& Out, Rest... How)
{
    if (!From.List())
    {
        return false;
    }
    const std::vector<Json>& Items = From.Get().Items();
    std::vector<T>(Items.size()).swap(Out);
    for (std::size_t Index = 0; Index < Items.size(); ++Index)
    {
        if (!ReadValue(JsonRead(Items[Index], From, Index), Out[Index], How...))
        {
            return false;
        }
    }
    return true;
}

template <class T, class... Rest>
bool ReadValue(const JsonRead& From, std::optional<T>& Out, Rest... How)
{
    return ReadValue(From, Out.emplace(), How...);
}

/// A field that must be there.
template <class T, class... Rest>
bool ReadNeeded(const JsonRead& From, std::string_view Name, T& Out, Rest... How)
{
    const Json* Field = From.Get().Find(Name);
    return Field == nullptr ? From.Missing(Name) : ReadValue(JsonRead(*Field, From, Name), Out, How...);
}

/// A field that keeps its value where it is not there.
template <class T, class... Rest>
bool ReadGiven(const JsonRead& From, std::string_view Name, T& Out, Rest... How)
{
    const Json* Field = From.Get().Find(Name);
    return Field == nullptr || ReadValue(JsonRead(*Field, From, Name), Out, How...);
}

/// The same, and null is as good as not being there.
template <class T, class... Rest>
bool ReadGiven(const JsonRead& From, std::string_view Name, std::optional<T>& Out, Rest... How)
{
    const Json* Field = From.Get().Find(Name);
    return Field == nullptr || Field->IsNull() || ReadValue(JsonRead(*Field, From, Name), Out, How...);
}

} // namespace Parley
