// Values of the core as values of the engine, and back: what no template says.
#include "ParleyConvert.h"

namespace Parley
{

void Convert(const Json& From, FString& To)
{
    const bool bEmpty = From.IsObject() && From.Members().empty();
    To = bEmpty ? FString() : JsonToText(From);
}

void Convert(const FString& From, Json& To)
{
    FString Fault;
    if (From.IsEmpty())
    {
        To = Json::Object();
    }
    else if (!JsonFromText(From, To, Fault))
    {
        To = Json::String(ToUtf8(From));
    }
}

void Convert(const std::map<std::string, std::string>& From, TArray<FParleyNamedText>& To)
{
    To.Reset(static_cast<int32>(From.size()));
    for (const auto& Pair : From)
    {
        FParleyNamedText& Made = To.Emplace_GetRef();
        Made.Name = ToFString(Pair.first);
        Made.Text = ToFString(Pair.second);
    }
}

void Convert(const TArray<FParleyNamedText>& From, std::map<std::string, std::string>& To)
{
    To.clear();
    for (const FParleyNamedText& Each : From)
    {
        To[ToUtf8(Each.Name)] = ToUtf8(Each.Text);
    }
}

TSharedRef<FJsonObject> ToEngine(const Json& Object)
{
    const TSharedPtr<FJsonObject> Made = ToEngineObject(Object);
    return Made.IsValid() ? Made.ToSharedRef() : MakeShared<FJsonObject>();
}

} // namespace Parley
