// Values of JSON, and how they are written.
#include "Core/Json.h"

#include "Core/Numbers.h"
#include "Core/Utf8.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace Parley
{

namespace JsonLocal
{

// The value of a number's spelling, where it is a whole one: its sign, and its digits without the zeros behind them.
struct Whole
{
    bool IsNegative = false;
    std::uint64_t Size = 0;
};

bool IsDigit(char Letter) noexcept
{
    return Letter >= '0' && Letter <= '9';
}

// Reads "12", "12.0", "1.2e1" and "120e-1" alike. False: it has a fraction, does not fit 64 bits, or is no number.
bool ReadWhole(std::string_view Text, Whole& Out) noexcept
{
    if (!Numbers::IsJson(Text))
    {
        return false;
    }
    Out = Whole{};
    if (Text.front() == '-')
    {
        Out.IsNegative = true;
        Text.remove_prefix(1);
    }
    std::size_t Mantissa = Text.find_first_of("eE");
    std::int64_t Exponent = 0;
    if (Mantissa == std::string_view::npos)
    {
        Mantissa = Text.size();
    }
    else
    {
        std::string_view Power = Text.substr(Mantissa + 1);
        if (Power.front() == '+')
        {
            Power.remove_prefix(1);
        }
        if (!Numbers::Read(Power, Exponent))
        {
            // Further than anything reaches; only zero is not changed by it.
            Exponent = Power.front() == '-' ? -(std::int64_t{1} << 40) : std::int64_t{1} << 40;
        }
        Exponent = (std::min)((std::max)(Exponent, -(std::int64_t{1} << 40)), std::int64_t{1} << 40);
    }
    // 19 digits fit whatever they are; the twentieth is looked at with care.
    char Digits[20];
    std::size_t Count = 0;
    std::int64_t Zeros = 0;
    bool IsBehindPoint = false;
    for (std::size_t At = 0; At < Mantissa; ++At)
    {
        const char Letter = Text[At];
        if (!IsDigit(Letter))
        {
            IsBehindPoint = true;
            continue;
        }
        Exponent -= IsBehindPoint ? 1 : 0;
        if (Letter == '0')
        {
            // They count only where another digit follows.
            Zeros += Count > 0 ? 1 : 0;
            continue;
        }
        if (static_cast<std::int64_t>(Count) + Zeros >= static_cast<std::int64_t>(sizeof(Digits)))
        {
            return false;
        }
        for (; Zeros > 0; --Zeros)
        {
            Digits[Count++] = '0';
        }
        Digits[Count++] = Letter;
    }
    if (Count == 0)
    {
        return true;
    }
    Exponent += Zeros;
    if (Exponent < 0 || static_cast<std::int64_t>(Count) + Exponent > static_cast<std::int64_t>(sizeof(Digits)))
    {
        return false;
    }
    for (; Exponent > 0; --Exponent)
    {
        Digits[Count++] = '0';
    }
    return Numbers::Read(std::string_view(Digits, Count), Out.Size);
}

void WriteText(std::string_view Text, std::string& Out)
{
    static constexpr char Hex[] = "0123456789abcdef";
    Out += '"';
    for (const char Letter : Text)
    {
        switch (Letter)
        {
            case '"':
                Out += "\\\"";
                break;
            case '\\':
                Out += "\\\\";
                break;
            case '\b':
                Out += "\\b";
                break;
            case '\f':
                Out += "\\f";
                break;
            case '\n':
                Out += "\\n";
                break;
            case '\r':
                Out += "\\r";
                break;
            case '\t':
                Out += "\\t";
                break;
            default:
                if (static_cast<unsigned char>(Letter) < 0x20)
                {
                    Out += "\\u00";
                    Out += Hex[static_cast<unsigned char>(Letter) >> 4];
                    Out += Hex[static_cast<unsigned char>(Letter) & 0x0F];
                }
                else
                {
                    Out += Letter;
                }
                break;
        }
    }
    Out += '"';
}

void WriteGood(std::string_view Text, std::string& Out)
{
    if (Utf8::IsGood(Text))
    {
        WriteText(Text, Out);
    }
    else
    {
        WriteText(Utf8::Mended(Text), Out);
    }
}

void NewLine(std::size_t Level, std::string& Out)
{
    Out += '\n';
    Out.append(2 * Level, ' ');
}

void Write(const Json& Value, bool Pretty, std::size_t Level, std::string& Out)
{
    switch (Value.GetKind())
    {
        case Json::Kind::Null:
            Out += "null";
            break;
        case Json::Kind::Boolean:
            Out += Value.AsBoolean() ? "true" : "false";
            break;
        case Json::Kind::Number:
            Out += Value.AsText();
            break;
        case Json::Kind::String:
            WriteGood(Value.AsText(), Out);
            break;
        case Json::Kind::Array:
        {
            const char* Comma = "";
            Out += '[';
            for (const Json& Item : Value.Items())
            {
                Out += Comma;
                Comma = ",";
                if (Pretty)
                {
                    NewLine(Level + 1, Out);
                }
                Write(Item, Pretty, Level + 1, Out);
            }
            if (Pretty && !Value.Items().empty())
            {
                NewLine(Level, Out);
            }
            Out += ']';
            break;
        }
        case Json::Kind::Object:
        {
            const char* Comma = "";
            Out += '{';
            for (const JsonMember& Field : Value.Members())
            {
                Out += Comma;
                Comma = ",";
                if (Pretty)
                {
                    NewLine(Level + 1, Out);
                }
                WriteGood(Field.Name, Out);
                Out += Pretty ? ": " : ":";
                Write(Field.Value, Pretty, Level + 1, Out);
            }
            if (Pretty && !Value.Members().empty())
            {
                NewLine(Level, Out);
            }
            Out += '}';
            break;
        }
    }
}

bool AreEqualNumbers(const Json& A, const Json& B) noexcept
{
    if (A.AsText() == B.AsText())
    {
        return true;
    }
    Whole OfA;
    Whole OfB;
    const bool IsWholeA = ReadWhole(A.AsText(), OfA);
    const bool IsWholeB = ReadWhole(B.AsText(), OfB);
    if (IsWholeA && IsWholeB)
    {
        return OfA.Size == OfB.Size && (OfA.IsNegative == OfB.IsNegative || OfA.Size == 0);
    }
    double RealA = 0.0;
    double RealB = 0.0;
    return IsWholeA == IsWholeB && A.ToDouble(RealA) && B.ToDouble(RealB) && RealA == RealB;
}

} // namespace JsonLocal

Json::Json() noexcept = default;
Json::Json(const Json& Other) = default;
Json::Json(Json&& Other) noexcept = default;
Json& Json::operator=(const Json& Other) = default;
Json& Json::operator=(Json&& Other) noexcept = default;
Json::~Json() = default;

Json Json::Boolean(bool Value)
{
    Json Made;
    Made.What = Kind::Boolean;
    Made.Truth = Value;
    return Made;
}

Json Json::Integer(std::int64_t Value)
{
    return Spelled(Numbers::Of(Value));
}

Json Json::Unsigned(std::uint64_t Value)
{
    return Spelled(Numbers::Of(Value));
}

Json Json::Real(double Value)
{
    return std::isfinite(Value) ? Spelled(Numbers::OfReal(Value)) : Json();
}

Json Json::Spelled(std::string Spelling)
{
    Json Made;
    Made.What = Kind::Number;
    Made.Text = std::move(Spelling);
    return Made;
}

Json Json::String(std::string Value)
{
    Json Made;
    Made.What = Kind::String;
    Made.Text = std::move(Value);
    return Made;
}

Json Json::Array(std::vector<Json> Items)
{
    Json Made;
    Made.What = Kind::Array;
    Made.List = std::move(Items);
    return Made;
}

Json Json::Object()
{
    Json Made;
    Made.What = Kind::Object;
    return Made;
}

const std::string& Json::AsText() const noexcept
{
    return Text;
}

bool Json::ToInt64(std::int64_t& Out) const noexcept
{
    JsonLocal::Whole Read;
    if (What != Kind::Number || !JsonLocal::ReadWhole(Text, Read))
    {
        return false;
    }
    constexpr std::uint64_t Most = static_cast<std::uint64_t>((std::numeric_limits<std::int64_t>::max)());
    if (Read.Size > Most + (Read.IsNegative ? 1 : 0))
    {
        return false;
    }
    if (!Read.IsNegative)
    {
        Out = static_cast<std::int64_t>(Read.Size);
    }
    else
    {
        // The lowest number has no positive twin.
        Out = Read.Size == 0 ? 0 : -static_cast<std::int64_t>(Read.Size - 1) - 1;
    }
    return true;
}

bool Json::ToUnsigned(std::uint64_t& Out) const noexcept
{
    JsonLocal::Whole Read;
    if (What != Kind::Number || !JsonLocal::ReadWhole(Text, Read) || (Read.IsNegative && Read.Size != 0))
    {
        return false;
    }
    Out = Read.Size;
    return true;
}

bool Json::ToDouble(double& Out) const noexcept
{
    return What == Kind::Number && Numbers::ReadReal(Text, Out);
}

const std::vector<Json>& Json::Items() const noexcept
{
    return List;
}

std::vector<Json>& Json::Items() noexcept
{
    return List;
}

const std::vector<JsonMember>& Json::Members() const noexcept
{
    return Fields;
}

std::vector<JsonMember>& Json::Members() noexcept
{
    return Fields;
}

const Json* Json::Find(std::string_view Name) const noexcept
{
    for (const JsonMember& Field : Fields)
    {
        if (Field.Name == Name)
        {
            return &Field.Value;
        }
    }
    return nullptr;
}

Json* Json::Find(std::string_view Name) noexcept
{
    return const_cast<Json*>(std::as_const(*this).Find(Name));
}

int Json::Depth() const noexcept
{
    int Deepest = 0;
    for (const Json& Item : List)
    {
        Deepest = (std::max)(Deepest, Item.Depth());
    }
    for (const JsonMember& Field : Fields)
    {
        Deepest = (std::max)(Deepest, Field.Value.Depth());
    }
    return What == Kind::Array || What == Kind::Object ? Deepest + 1 : 0;
}

Json& Json::Set(std::string_view Name, Json Value)
{
    if (What != Kind::Object)
    {
        *this = Object();
    }
    if (Json* Before = Find(Name))
    {
        *Before = std::move(Value);
        return *Before;
    }
    Fields.push_back(JsonMember{std::string(Name), std::move(Value)});
    return Fields.back().Value;
}

bool Json::Erase(std::string_view Name)
{
    const auto Place =
        std::find_if(Fields.begin(), Fields.end(), [Name](const JsonMember& Field) { return Field.Name == Name; });
    if (Place == Fields.end())
    {
        return false;
    }
    Fields.erase(Place);
    return true;
}

Json& Json::Add(Json Value)
{
    if (What != Kind::Array)
    {
        *this = Array();
    }
    List.push_back(std::move(Value));
    return List.back();
}

bool operator==(const Json& A, const Json& B) noexcept
{
    if (A.What != B.What)
    {
        return false;
    }
    switch (A.What)
    {
        case Json::Kind::Null:
            return true;
        case Json::Kind::Boolean:
            return A.Truth == B.Truth;
        case Json::Kind::Number:
            return JsonLocal::AreEqualNumbers(A, B);
        case Json::Kind::String:
            return A.Text == B.Text;
        case Json::Kind::Array:
            return A.List == B.List;
        case Json::Kind::Object:
            return std::equal(
                A.Fields.begin(), A.Fields.end(), B.Fields.begin(), B.Fields.end(),
                [](const JsonMember& One, const JsonMember& Other)
                { return One.Name == Other.Name && One.Value == Other.Value; });
    }
    return false;
}

std::string WriteJson(const Json& Value, bool Pretty)
{
    std::string Out;
    JsonLocal::Write(Value, Pretty, 0, Out);
    if (Pretty)
    {
        Out += '\n';
    }
    return Out;
}

JsonCodec::~JsonCodec() = default;

std::string JsonCodec::Write(const Json& Value, bool Pretty) const
{
    return WriteJson(Value, Pretty);
}

} // namespace Parley
