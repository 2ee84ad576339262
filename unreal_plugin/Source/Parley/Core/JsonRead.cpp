// What is wrong with JSON that does not say what it should, in words.
#include "Core/JsonRead.h"

#include <cmath>

namespace Parley
{
namespace JsonReadLocal
{

constexpr std::size_t MostShown = 80;

/// At most 80 characters of UTF-8.
std::string Cut(std::string_view Text)
{
    std::size_t Characters = 0;
    for (std::size_t At = 0; At < Text.size(); ++At)
    {
        const bool Begins = (static_cast<unsigned char>(Text[At]) & 0xC0u) != 0x80u;
        if (Begins && Characters++ == MostShown)
        {
            return std::string(Text.substr(0, At)) + "\xE2\x80\xA6";
        }
    }
    return std::string(Text);
}

bool IsWhole(const Json& Value)
{
    const std::string& Spelling = Value.AsText();
    std::size_t At = !Spelling.empty() && Spelling.front() == '-' ? 1 : 0;
    const std::size_t First = At;
    while (At < Spelling.size() && Spelling[At] >= '0' && Spelling[At] <= '9')
    {
        ++At;
    }
    return At > First && At == Spelling.size();
}

std::string_view Named(const Json& Value)
{
    switch (Value.GetKind())
    {
    case Json::Kind::Object:
        return "an object";
    case Json::Kind::Array:
        return "a list";
    case Json::Kind::String:
        return "a text";
    case Json::Kind::Boolean:
        return "true or false";
    case Json::Kind::Number:
        return IsWhole(Value) ? "a whole number" : "a number with a fraction";
    case Json::Kind::Null:
        break;
    }
    return "null";
}

bool IsVariable(const JsonRead& From)
{
    const Json& Value = From.Get();
    if (Value.IsBoolean() || Value.IsString())
    {
        return true;
    }
    if (Value.IsNumber())
    {
        double Ignored = 0;
        return IsWhole(Value) || From.Number(Ignored);
    }
    if (Value.IsArray())
    {
        std::vector<std::string> Ignored;
        return ReadValue(From, Ignored);
    }
    return From.Fail(
        "must be true or false, a number, a text or a list of texts, not " + std::string(Named(Value)));
}

} // namespace JsonReadLocal

JsonRead::JsonRead(const Json& Document, std::string& InFault) noexcept
    : Value(&Document), Outer(nullptr), Fault(&InFault), Name(), Index(0)
{
}

JsonRead::JsonRead(const Json& Field, const JsonRead& InOuter, std::string_view InName) noexcept
    : Value(&Field), Outer(&InOuter), Fault(InOuter.Fault), Name(InName), Index(0)
{
}

JsonRead::JsonRead(const Json& Item, const JsonRead& InOuter, std::size_t InIndex) noexcept
    : Value(&Item), Outer(&InOuter), Fault(InOuter.Fault), Name(), Index(InIndex)
{
}

bool JsonRead::Text(std::string& Out) const
{
    if (!Value->IsString())
    {
        return Wrong("a text");
    }
    Out = Value->AsText();
    return true;
}

bool JsonRead::Boolean(bool& Out) const
{
    if (!Value->IsBoolean())
    {
        return Wrong("true or false");
    }
    Out = Value->AsBoolean();
    return true;
}

bool JsonRead::Whole(std::int64_t& Out, std::int64_t Least, std::int64_t Most) const
{
    if (!Value->IsNumber() || !JsonReadLocal::IsWhole(*Value))
    {
        return Wrong("a whole number");
    }
    std::int64_t Read = 0;
    if (!Value->ToInt64(Read) || Read < Least || Read > Most)
    {
        return OutOfBounds(std::to_string(Least), std::to_string(Most));
    }
    Out = Read;
    return true;
}

bool JsonRead::Whole(std::uint64_t& Out) const
{
    if (!Value->IsNumber() || !JsonReadLocal::IsWhole(*Value))
    {
        return Wrong("a whole number");
    }
    if (!Value->ToUnsigned(Out))
    {
        return OutOfBounds("0", std::to_string((std::numeric_limits<std::uint64_t>::max)()));
    }
    return true;
}

bool JsonRead::Number(double& Out) const
{
    if (!Value->IsNumber())
    {
        return Wrong("a number");
    }
    double Read = 0;
    if (!Value->ToDouble(Read) || !std::isfinite(Read))
    {
        return Fail("must be a finite number");
    }
    Out = Read;
    return true;
}

bool JsonRead::Object() const
{
    return Value->IsObject() || Wrong("an object");
}

bool JsonRead::List() const
{
    return Value->IsArray() || Wrong("a list");
}

bool JsonRead::Free(Json& Out, JsonForm Form) const
{
    if (Form == JsonForm::Container && !Value->IsObject() && !Value->IsArray())
    {
        return Wrong("an object or a list");
    }
    if ((Form == JsonForm::Object || Form == JsonForm::Variables) && !Object())
    {
        return false;
    }
    if (Form == JsonForm::Variables)
    {
        for (const JsonMember& Field : Value->Members())
        {
            if (!JsonReadLocal::IsVariable(JsonRead(Field.Value, *this, Field.Name)))
            {
                return false;
            }
        }
    }
    Out = *Value;
    return true;
}

bool JsonRead::Word(std::size_t& Out, const std::string_view* Words, std::size_t Count) const
{
    if (!Value->IsString())
    {
        return Wrong("a text");
    }
    std::string Known;
    for (std::size_t At = 0; At < Count; ++At)
    {
        if (Words[At] == Value->AsText())
        {
            Out = At;
            return true;
        }
        Known.append(At == 0 ? "'" : ", '").append(Words[At]).append("'");
    }
    return Fail(
        "'" + JsonReadLocal::Cut(Value->AsText()) + "' is not known here, only " + Known
        + "; is the other side newer?");
}

bool JsonRead::Fail(std::string_view Reason) const
{
    *Fault = Path();
    Fault->append(": ").append(Reason);
    return false;
}

bool JsonRead::Missing(std::string_view FieldName) const
{
    const Json Nothing;
    return JsonRead(Nothing, *this, FieldName).Fail("is missing");
}

std::string JsonRead::Path() const
{
    if (Outer == nullptr)
    {
        return "$";
    }
    std::string Found = Outer->Path();
    if (Outer->Value->IsArray())
    {
        return Found + "[" + std::to_string(Index) + "]";
    }
    return Found + "." + JsonReadLocal::Cut(Name);
}

bool JsonRead::Wrong(std::string_view Right) const
{
    std::string Reason = "must be ";
    Reason.append(Right).append(", not ").append(JsonReadLocal::Named(*Value));
    return Fail(Reason);
}

bool JsonRead::OutOfBounds(const std::string& Least, const std::string& Most) const
{
    return Fail("must be a whole number from " + Least + " to " + Most);
}

bool ReadValue(const JsonRead& From, std::map<std::string, std::string>& Out)
{
    Out.clear();
    if (!From.Object())
    {
        return false;
    }
    for (const JsonMember& Field : From.Get().Members())
    {
        if (!JsonRead(Field.Value, From, Field.Name).Text(Out[Field.Name]))
        {
            return false;
        }
    }
    return true;
}

} // namespace Parley
