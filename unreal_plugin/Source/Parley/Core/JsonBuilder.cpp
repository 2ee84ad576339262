// Nesting, and fields that are given twice.
#include "Core/JsonBuilder.h"

#include "Core/Numbers.h"

#include <utility>

namespace Parley
{

namespace JsonBuilderLocal
{

constexpr std::size_t FewFields = 16;

} // namespace JsonBuilderLocal

JsonBuilder::JsonBuilder() = default;
JsonBuilder::~JsonBuilder() = default;

void JsonBuilder::Name(std::string Name)
{
    if (!Levels.empty())
    {
        Levels.back().Name = std::move(Name);
    }
}

void JsonBuilder::Add(Json Value)
{
    if (Levels.empty())
    {
        Whole = std::move(Value);
        return;
    }
    Put(Levels.back(), std::move(Value));
}

bool JsonBuilder::BeginArray()
{
    return Begin(Json::Array());
}

bool JsonBuilder::BeginObject()
{
    return Begin(Json::Object());
}

void JsonBuilder::End()
{
    Json Value = std::move(Levels.back().Value);
    Levels.pop_back();
    Add(std::move(Value));
}

Json JsonBuilder::Take()
{
    return std::move(Whole);
}

std::string JsonBuilder::TooDeep()
{
    return "it is nested deeper than " + Numbers::Of(JsonCodec::MaxDepth) + " levels";
}

bool JsonBuilder::Begin(Json Value)
{
    if (Levels.size() >= static_cast<std::size_t>(JsonCodec::MaxDepth))
    {
        return false;
    }
    Level Next;
    Next.Value = std::move(Value);
    Levels.push_back(std::move(Next));
    return true;
}

void JsonBuilder::Put(Level& Into, Json Value)
{
    if (Into.Value.IsArray())
    {
        Into.Value.Items().push_back(std::move(Value));
        return;
    }
    std::vector<JsonMember>& Fields = Into.Value.Members();
    if (Into.Places == nullptr && Fields.size() >= JsonBuilderLocal::FewFields)
    {
        Into.Places = std::make_unique<std::unordered_map<std::string, std::size_t>>();
        for (std::size_t At = 0; At < Fields.size(); ++At)
        {
            Into.Places->emplace(Fields[At].Name, At);
        }
    }
    if (Into.Places != nullptr)
    {
        const auto [Place, IsNew] = Into.Places->emplace(Into.Name, Fields.size());
        if (!IsNew)
        {
            Fields[Place->second].Value = std::move(Value);
            return;
        }
    }
    else if (Json* Before = Into.Value.Find(Into.Name))
    {
        *Before = std::move(Value);
        return;
    }
    Fields.push_back(JsonMember{std::move(Into.Name), std::move(Value)});
}

} // namespace Parley
