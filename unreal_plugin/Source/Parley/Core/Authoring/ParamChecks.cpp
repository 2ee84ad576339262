// The bodies of ParamChecks.h.
#include "Core/Authoring/ParamChecks.h"

#include "Core/Authoring/Names.h"
#include "Core/CodePoints.h"
#include "Core/Numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace Parley::ParamChecksLocal
{

constexpr std::string_view Dots = "\xE2\x80\xA6"; // …

std::string CutTo(std::string_view Text, std::size_t Most)
{
    std::size_t End = 0, Last = 0, Letters = 0;
    for (; End < Text.size() && Letters < Most; ++Letters)
    {
        Last = End;
        End = CodePoints::End(Text, End);
    }
    return End == Text.size() ? std::string(Text) : std::string(Text.substr(0, Last)) + std::string(Dots);
}

bool Fits(
    bool IsSound, const char* Wanted, const Json& Value, const std::string& Place, const ParamChecks::Report& Tell)
{
    if (!IsSound)
    {
        Tell(
            "it must be " + std::string(Wanted) + ", not " + ParamChecks::Shown(Value),
            ErrorCode::WorkflowInvalid,
            Place);
    }
    return IsSound;
}

void CheckLength(
    const NodeParam& Param,
    std::size_t Length,
    const char* One,
    const char* Many,
    const std::string& Place,
    const ParamChecks::Report& Tell)
{
    const std::string Has = "it has " + Numbers::Of(Length) + " " + (Length == 1 ? One : Many) + "; ";
    if (Param.LeastLength && Length < *Param.LeastLength)
    {
        Tell(Has + "it needs at least " + Numbers::Of(*Param.LeastLength), ErrorCode::InvalidValue, Place);
    }
    else if (Param.MostLength && Length > *Param.MostLength)
    {
        Tell(Has + Numbers::Of(*Param.MostLength) + " are allowed", ErrorCode::InvalidValue, Place);
    }
}

void CheckNumber(
    const NodeParam& Param, const Json& Value, const std::string& Place, const ParamChecks::Report& Tell)
{
    const double Number = ParamChecks::NumberOf(Value);
    std::string Wanted;
    if (Param.Least && (Number < *Param.Least || (Param.LeastIsExcluded && Number <= *Param.Least)))
    {
        Wanted = (Param.LeastIsExcluded ? "above " : "at least ") + ParamChecks::Digits(*Param.Least);
    }
    else if (Param.Most && (Number > *Param.Most || (Param.MostIsExcluded && Number >= *Param.Most)))
    {
        Wanted = (Param.MostIsExcluded ? "below " : "at most ") + ParamChecks::Digits(*Param.Most);
    }
    if (!Wanted.empty())
    {
        Tell("it must be " + Wanted + ", not " + ParamChecks::Shown(Value), ErrorCode::InvalidValue, Place);
    }
}

void CheckChoice(
    const NodeParam& Param, const Json& Value, const std::string& Place, const ParamChecks::Report& Tell)
{
    const auto& Known = Param.Choices;
    if (Value.IsString() && std::find(Known.begin(), Known.end(), Value.AsText()) != Known.end())
    {
        return;
    }
    std::string Choices;
    for (const std::string_view Choice : Known)
    {
        Choices += (Choices.empty() ? "'" : ", '") + std::string(Choice) + "'";
    }
    Tell("it must be one of " + Choices + ", not " + ParamChecks::Shown(Value), ErrorCode::InvalidValue, Place);
}

void CheckList(
    const NodeParam& Param, const Json& Value, const std::string& Place, const ParamChecks::Report& Tell)
{
    if (!Fits(Value.IsArray(), "a list", Value, Place, Tell))
    {
        return;
    }
    const std::vector<Json>& Items = Value.Items();
    // Entries are looked at in a list of a sound length only.
    const bool IsTooLong = Param.MostLength && Items.size() > *Param.MostLength;
    for (std::size_t Index = 0; Index < Items.size() && Param.Item != nullptr && !IsTooLong; ++Index)
    {
        ParamChecks::Check(*Param.Item, Items[Index], Place + "[" + Numbers::Of(Index) + "]", Tell);
    }
    CheckLength(Param, Items.size(), "entry", "entries", Place, Tell);
}

void CheckRecord(
    const NodeParam& Param, const Json& Value, const std::string& Place, const ParamChecks::Report& Tell)
{
    if (!Fits(Value.IsObject(), "an object", Value, Place, Tell))
    {
        return;
    }
    std::string Known;
    for (const NodeParam& Field : Param.Fields)
    {
        const std::string Inside = Place + "." + std::string(Field.Name);
        Known += (Known.empty() ? "" : ", ") + std::string(Field.Name);
        if (const Json* Given = Value.Find(Field.Name))
        {
            ParamChecks::Check(Field, *Given, Inside, Tell);
        }
        else if (Field.IsRequired)
        {
            Tell("it is needed, and missing", ErrorCode::WorkflowInvalid, Inside);
        }
    }
    for (const JsonMember& Given : Value.Members())
    {
        const auto IsIt = [&](const NodeParam& Field) { return Field.Name == Given.Name; };
        if (std::none_of(Param.Fields.begin(), Param.Fields.end(), IsIt))
        {
            Tell(
                "unknown field " + Names::Shown(Given.Name) + "; known: " + Known,
                ErrorCode::WorkflowInvalid,
                Place + "." + ParamChecks::Cut(Given.Name));
        }
    }
}

} // namespace Parley::ParamChecksLocal

namespace Parley::ParamChecks
{

using namespace ParamChecksLocal;

void Check(const NodeParam& Param, const Json& Value, const std::string& Place, const Report& Tell)
{
    if (Param.IsOptional && Value.IsNull())
    {
        return;
    }
    switch (Param.Type)
    {
    case ParamType::Text:
        if (Fits(Value.IsString(), "a text", Value, Place, Tell))
        {
            CheckLength(Param, CodePoints::Count(Value.AsText()), "character", "characters", Place, Tell);
        }
        break;
    case ParamType::Integer:
        if (Fits(IsWhole(Value), "a whole number", Value, Place, Tell))
        {
            CheckNumber(Param, Value, Place, Tell);
        }
        break;
    case ParamType::Number:
        if (Fits(Value.IsNumber(), "a number", Value, Place, Tell))
        {
            CheckNumber(Param, Value, Place, Tell);
        }
        break;
    case ParamType::Boolean:
        Fits(Value.IsBoolean(), "true or false", Value, Place, Tell);
        break;
    case ParamType::Choice:
        CheckChoice(Param, Value, Place, Tell);
        break;
    case ParamType::List:
        CheckList(Param, Value, Place, Tell);
        break;
    case ParamType::Record:
        CheckRecord(Param, Value, Place, Tell);
        break;
    case ParamType::Object:
        Fits(Value.IsObject(), "an object", Value, Place, Tell);
        break;
    case ParamType::Json:
        break;
    }
}

bool IsWhole(const Json& Value) noexcept
{
    std::int64_t Small = 0;
    std::uint64_t Large = 0;
    const bool Fits64 = Value.ToInt64(Small) || Value.ToUnsigned(Large);
    return Value.IsNumber() && Fits64 && Value.AsText().find_first_of(".eE") == std::string::npos;
}

double NumberOf(const Json& Value)
{
    double Number = 0;
    if (Value.ToDouble(Number))
    {
        return Number;
    }
    const double Infinite = std::numeric_limits<double>::infinity();
    return !Value.IsNumber() ? 0 : Value.AsText().front() == '-' ? -Infinite : Infinite;
}

std::string Shown(const Json& Value)
{
    switch (Value.GetKind())
    {
    case Json::Kind::String:
        return Names::Shown(Value.AsText());
    case Json::Kind::Object:
        return "an object";
    case Json::Kind::Array:
        return "a list";
    default:
        return Brief(Value);
    }
}

std::string Brief(const Json& Value)
{
    switch (Value.GetKind())
    {
    case Json::Kind::Null:
        return "null";
    case Json::Kind::Boolean:
        return Value.AsBoolean() ? "true" : "false";
    case Json::Kind::Object:
        return "{" + std::string(Dots) + "}";
    case Json::Kind::Array:
        return "[" + std::string(Dots) + "]";
    default:
        return CutTo(Value.AsText(), 80);
    }
}

std::string Cut(std::string_view Text)
{
    return CutTo(Text, 200);
}

std::string Digits(double Number)
{
    constexpr double LargestExact = 9007199254740992.0;
    return std::floor(Number) == Number && std::abs(Number) <= LargestExact
        ? Numbers::Of(static_cast<std::int64_t>(Number))
        : Numbers::OfReal(Number);
}

} // namespace Parley::ParamChecks
