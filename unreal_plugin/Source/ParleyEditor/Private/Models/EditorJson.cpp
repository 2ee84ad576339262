// Reading JSON that may be anything: what is missing or of another kind is left out.
#include "EditorJson.h"

#include <algorithm>
#include <cmath>

namespace Parley::Editor::EditorJson
{

const std::string& Text(const Json* Object, std::string_view Field)
{
    static const std::string None;
    const Json* Value = Object == nullptr ? nullptr : Object->Find(Field);
    return Value != nullptr && Value->IsString() ? Value->AsText() : None;
}

const Json* Object(const Json* Owner, std::string_view Field)
{
    const Json* Value = Owner == nullptr ? nullptr : Owner->Find(Field);
    return Value != nullptr && Value->IsObject() ? Value : nullptr;
}

const std::vector<Json>& Items(const Json* Object, std::string_view Field)
{
    static const std::vector<Json> None;
    const Json* Value = Object == nullptr ? nullptr : Object->Find(Field);
    return Value == nullptr ? None : Value->Items();
}

double Number(const Json* Object, std::string_view Field)
{
    const Json* Value = Object == nullptr ? nullptr : Object->Find(Field);
    double Found = 0;
    return Value != nullptr && Value->ToDouble(Found) && std::isfinite(Found) ? Found : 0;
}

bool IsWhole(const Json& Value)
{
    std::int64_t Ignored = 0;
    return Value.IsNumber() && Value.AsText().find_first_of(".eE") == std::string::npos && Value.ToInt64(Ignored);
}

bool TryNumber(const Json& Value, double& Out)
{
    if (!Value.IsNumber() || (Value.AsText().find_first_of(".eE") == std::string::npos && !IsWhole(Value)))
    {
        return false;
    }
    return Value.ToDouble(Out) && std::isfinite(Out);
}

std::string Shown(const Json& Value, const JsonCodec& Codec)
{
    switch (Value.GetKind())
    {
    case Json::Kind::Null:
        return "";
    case Json::Kind::String:
    case Json::Kind::Number:
        return Value.AsText();
    case Json::Kind::Boolean:
        return Value.AsBoolean() ? "true" : "false";
    default:
        return Codec.Write(Value);
    }
}

std::string Fixed(double Value, int Decimals)
{
    if (!std::isfinite(Value) || std::fabs(Value) > 1e15)
    {
        return "?";
    }
    std::int64_t Scale = 1;
    for (int At = 0; At < Decimals; ++At)
    {
        Scale *= 10;
    }
    const std::int64_t Whole = std::llround(std::fabs(Value) * static_cast<double>(Scale));
    std::string Digits = std::to_string(Whole % Scale);
    Digits.insert(0, static_cast<std::size_t>(Decimals) - (std::min)(Digits.size(), static_cast<std::size_t>(Decimals)), '0');
    const std::string Sign = Value < 0 && Whole > 0 ? "-" : "";
    return Sign + std::to_string(Whole / Scale) + (Decimals > 0 ? "." + Digits : "");
}

std::string Bytes(std::int64_t Bytes)
{
    if (Bytes < 1024)
    {
        return std::to_string(Bytes) + " B";
    }
    static const char* const Units[] = {"KiB", "MiB", "GiB", "TiB"};
    double Size = static_cast<double>(Bytes);
    int Unit = -1;
    while (Size >= 1024 && Unit < 3)
    {
        Size /= 1024;
        ++Unit;
    }
    return Fixed(Size, 1) + " " + Units[Unit];
}

} // namespace Parley::Editor::EditorJson
