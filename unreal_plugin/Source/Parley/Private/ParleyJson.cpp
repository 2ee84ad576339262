// JSON between the engine and the core.
#include "ParleyJson.h"

#include "JsonCodecUnreal.h"

#include <utility>

namespace Parley
{

std::shared_ptr<const JsonCodec> EngineCodec()
{
    static const std::shared_ptr<const JsonCodec> Codec = std::make_shared<JsonCodecUnreal>();
    return Codec;
}

bool JsonFromText(const FString& Text, Json& Out, FString& Fault)
{
    std::string Why;
    const bool bIsGood = EngineCodec()->Read(ToUtf8(Text), Out, Why);
    Fault = ToFString(Why);
    return bIsGood;
}

FString JsonToText(const Json& Value, bool bPretty)
{
    return ToFString(EngineCodec()->Write(Value, bPretty));
}

TSharedRef<FJsonValue> ToEngineValue(const Json& Value)
{
    switch (Value.GetKind())
    {
        case Json::Kind::Boolean:
            return MakeShared<FJsonValueBoolean>(Value.AsBoolean());
        case Json::Kind::Number:
            return MakeShared<FJsonValueNumberString>(ToFString(Value.AsText()));
        case Json::Kind::String:
            return MakeShared<FJsonValueString>(ToFString(Value.AsText()));
        case Json::Kind::Array:
        {
            TArray<TSharedPtr<FJsonValue>> Items;
            Items.Reserve(static_cast<int32>(Value.Items().size()));
            for (const Json& Item : Value.Items())
            {
                Items.Add(ToEngineValue(Item));
            }
            return MakeShared<FJsonValueArray>(Items);
        }
        case Json::Kind::Object:
            return MakeShared<FJsonValueObject>(ToEngineObject(Value));
        default:
            return MakeShared<FJsonValueNull>();
    }
}

TSharedPtr<FJsonObject> ToEngineObject(const Json& Value)
{
    if (!Value.IsObject())
    {
        return nullptr;
    }
    TSharedPtr<FJsonObject> Object = MakeShared<FJsonObject>();
    for (const JsonMember& Member : Value.Members())
    {
        Object->SetField(ToFString(Member.Name), ToEngineValue(Member.Value));
    }
    return Object;
}

Json FromEngine(const FJsonValue& Value)
{
    switch (Value.Type)
    {
        case EJson::Boolean:
            return Json::Boolean(Value.AsBool());
        case EJson::Number:
        {
            // Of a FJsonValueNumberString this is its spelling.
            const std::string Spelling = ToUtf8(Value.AsString());
            std::int64_t Whole = 0;
            const Json Spelled = Json::Spelled(Spelling);
            return Value.PreferStringRepresentation() || Spelled.ToInt64(Whole) ? Spelled : Json::Real(Value.AsNumber());
        }
        case EJson::String:
            return Json::String(ToUtf8(Value.AsString()));
        case EJson::Array:
        {
            Json Array = Json::Array();
            for (const TSharedPtr<FJsonValue>& Item : Value.AsArray())
            {
                Array.Add(Item.IsValid() ? FromEngine(*Item) : Json());
            }
            return Array;
        }
        case EJson::Object:
            return FromEngine(*Value.AsObject());
        default:
            return Json();
    }
}

Json FromEngine(const FJsonObject& Object)
{
    Json Out = Json::Object();
    for (const auto& Field : Object.Values)
    {
        // Keys are FStrings up to Unreal 5.7, and shared strings from then on: both give their characters.
        Out.Set(ToUtf8(FString(*Field.Key)), Field.Value.IsValid() ? FromEngine(*Field.Value) : Json());
    }
    return Out;
}

} // namespace Parley
