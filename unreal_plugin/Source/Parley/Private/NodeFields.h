// How the properties of nodes are read and written: what was read stays as it was but for what has changed.
#pragma once

#include "CoreMinimal.h"
#include "Core/Json.h"
#include "Core/JsonRead.h"
#include "Core/JsonWrite.h"
#include "ParleyConvert.h"
#include "ParleyJson.h"
#include "ParleyText.h"

#include <string_view>
#include <type_traits>

namespace Parley
{

/// The JSON of a node, or of a record inside one, while it is written.
class NodeFields
{
public:
    /// Begins with what was read; an empty text: nothing was.
    explicit NodeFields(const FString& AsRead);

    /// Writes a field, unless it is there with this value.
    void Keep(std::string_view Name, Json Value);
    /// The same, but not where it is not there and has its default.
    void Keep(std::string_view Name, Json Value, const Json& Default);
    /// Writes a field that is set. One that is not goes, unless it is null already.
    void KeepWhere(bool bIsSet, std::string_view Name, Json Value);
    Json Take();

private:
    Json Fields;
};

/// What a text of free JSON holds; an empty one: an empty object.
Json JsonOf(const FString& Text);
Json JsonsOf(const TArray<FString>& Texts);

inline Json WriteProperty(const FString& Value)
{
    return Json::String(ToUtf8(Value));
}

template <class T, std::enable_if_t<std::is_arithmetic<T>::value, int> = 0>
Json WriteProperty(T Value)
{
    return WriteValue(Value);
}

template <class T, std::enable_if_t<std::is_enum<T>::value, int> = 0>
Json WriteProperty(T Value)
{
    return WriteValue(Value);
}

/// A record.
template <class T>
auto WriteProperty(const T& Value) -> decltype(Value.ToCore())
{
    return Value.ToCore();
}

template <class T>
Json WriteProperty(const TArray<T>& Value)
{
    Json Written = Json::Array();
    for (const T& Item : Value)
    {
        Written.Add(WriteProperty(Item));
    }
    return Written;
}

/// A record of JSON that is known to be right: a default.
template <class T>
T RecordOf(const TCHAR* Text)
{
    T Made;
    std::string Wrong;
    const Json Value = JsonOf(Text);
    const bool bRead = T::Read(JsonRead(Value, Wrong), Made);
    checkf(bRead, TEXT("%s"), *ToFString(Wrong));
    static_cast<void>(bRead); // a shipped game checks nothing
    return Made;
}

/// The bounds of a whole number.
struct Bounds
{
    std::int64_t Least;
    std::int64_t Most;
};

inline bool ReadProperty(const JsonRead& From, FString& Out)
{
    std::string Text;
    const bool bRead = From.Text(Text);
    Out = ToFString(Text);
    return bRead;
}

/// Free JSON, as a text.
inline bool ReadProperty(const JsonRead& From, FString& Out, JsonForm Form)
{
    Json Value;
    const bool bRead = From.Free(Value, Form);
    Out = bRead ? JsonToText(Value) : FString();
    return bRead;
}

inline bool ReadProperty(const JsonRead& From, bool& Out)
{
    return From.Boolean(Out);
}

inline bool ReadProperty(const JsonRead& From, double& Out)
{
    return From.Number(Out);
}

template <class T, std::enable_if_t<std::is_integral<T>::value, int> = 0>
bool ReadProperty(const JsonRead& From, T& Out, Bounds Within)
{
    std::int64_t Wide = 0;
    const bool bRead = From.Whole(Wide, Within.Least, Within.Most);
    Out = static_cast<T>(Wide);
    return bRead;
}

template <class T, std::enable_if_t<std::is_enum<T>::value, int> = 0>
bool ReadProperty(const JsonRead& From, T& Out)
{
    return ReadValue(From, Out);
}

/// A record.
template <class T>
auto ReadProperty(const JsonRead& From, T& Out) -> decltype(T::Read(From, Out))
{
    return T::Read(From, Out);
}

template <class T, class... Rest>
bool ReadProperty(const JsonRead& From, TArray<T>& Out, Rest... How)
{
    Out.Reset();
    if (!From.List())
    {
        return false;
    }
    std::size_t Index = 0;
    for (const Json& Item : From.Get().Items())
    {
        if (!ReadProperty(JsonRead(Item, From, Index++), Out.Emplace_GetRef(), How...))
        {
            return false;
        }
    }
    return true;
}

/// A field that must be there.
template <class T, class... Rest>
bool NeededProperty(const JsonRead& From, std::string_view Name, T& Out, Rest... How)
{
    const Json* Field = From.Get().Find(Name);
    return Field == nullptr ? From.Missing(Name) : ReadProperty(JsonRead(*Field, From, Name), Out, How...);
}

/// A field that keeps its value where it is not there.
template <class T, class... Rest>
bool GivenProperty(const JsonRead& From, std::string_view Name, T& Out, Rest... How)
{
    const Json* Field = From.Get().Find(Name);
    return Field == nullptr || ReadProperty(JsonRead(*Field, From, Name), Out, How...);
}

/// A field that may be null, or not there.
template <class T, class... Rest>
bool OptionalProperty(const JsonRead& From, std::string_view Name, bool& bOutHas, T& Out, Rest... How)
{
    const Json* Field = From.Get().Find(Name);
    bOutHas = Field != nullptr && !Field->IsNull();
    return !bOutHas || ReadProperty(JsonRead(*Field, From, Name), Out, How...);
}

/// Free JSON that may be null, or not there: then its text is empty.
inline bool OptionalJson(const JsonRead& From, std::string_view Name, FString& Out, JsonForm Form)
{
    bool bHas = false;
    return OptionalProperty(From, Name, bHas, Out, Form);
}

} // namespace Parley
