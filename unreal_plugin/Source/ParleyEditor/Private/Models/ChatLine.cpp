// What the test chat shows: lines, variables, tool calls.
#include "ChatLine.h"

#include "EditorJson.h"

#include "Core/Authoring/Names.h"
#include "Core/Numbers.h"

#include <algorithm>
#include <cmath>

namespace Parley::Editor
{

namespace ChatLineLocal
{

std::optional<Json> Refuse(std::string& Refusal, const char* Why)
{
    Refusal = Why;
    return std::nullopt;
}

Json SetOf(std::string_view Text)
{
    Json Set = Json::Array();
    while (!Text.empty())
    {
        const std::size_t Comma = (std::min)(Text.find(','), Text.size());
        const std::string_view Part = Names::Trim(Text.substr(0, Comma));
        if (!Part.empty())
        {
            Set.Add(Json::String(std::string(Part)));
        }
        Text.remove_prefix((std::min)(Comma + 1, Text.size()));
    }
    return Set;
}

} // namespace ChatLineLocal

std::string ChatLine::Shown() const
{
    switch (Kind)
    {
    case ChatLineKind::Player:
        return "> " + Text;
    case ChatLineKind::Speaker:
        return NodeName + ": " + Text + (IsOpen ? " \xE2\x80\xA6" : "");
    case ChatLineKind::Sound:
        return "\xE2\x99\xAA " + NodeName + ": " + Text + (IsOpen ? " \xE2\x80\xA6" : "");
    default:
        return Text;
    }
}

std::string ChatVariable::TextOf(const Json& Value, const JsonCodec& Codec)
{
    if (!Value.IsArray())
    {
        return EditorJson::Shown(Value, Codec);
    }
    std::string Joined;
    for (const Json& Item : Value.Items())
    {
        Joined += (Joined.empty() ? "" : ", ") + TextOf(Item, Codec);
    }
    return Joined;
}

std::optional<Json> ChatVariable::Read(std::string_view Type, std::string_view Text, std::string& Refusal)
{
    Refusal.clear();
    const std::string_view Trimmed = Names::Trim(Text);
    if (Type == "int")
    {
        std::int64_t Whole = 0;
        return Numbers::Read(Trimmed, Whole) ? Json::Integer(Whole) : ChatLineLocal::Refuse(Refusal, "a whole number is wanted");
    }
    if (Type == "float")
    {
        double Real = 0;
        if (Numbers::ReadReal(Trimmed, Real) && std::isfinite(Real))
        {
            return Json::Real(Real);
        }
        return ChatLineLocal::Refuse(Refusal, "a number is wanted, with a point for decimals");
    }
    if (Type == "bool")
    {
        if (Trimmed == "true" || Trimmed == "false")
        {
            return Json::Boolean(Trimmed == "true");
        }
        return ChatLineLocal::Refuse(Refusal, "true or false is wanted");
    }
    return Type == "string_set" ? ChatLineLocal::SetOf(Trimmed) : Json::String(std::string(Text));
}

} // namespace Parley::Editor
