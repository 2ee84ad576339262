// Small help for Blueprints.
#include "ParleyBlueprintLibrary.h"

#include "Core/Authoring/WorkflowDocument.h"
#include "Core/Json.h"
#include "Core/Numbers.h"
#include "Core/TextElements.h"
#include "ParleyJson.h"
#include "ParleyText.h"
#include "ParleyWorkflow.h"

#include <string>
#include <string_view>
#include <utility>

namespace ParleyBlueprintLibraryLocal
{

/// What stands at a place such as `items[0].name`; null: nothing.
const Parley::Json* At(const Parley::Json& Root, std::string_view Place)
{
    const Parley::Json* Found = &Root;
    while (Found != nullptr && !Place.empty())
    {
        if (Place.front() == '.')
        {
            Place.remove_prefix(1);
        }
        if (!Place.empty() && Place.front() == '[')
        {
            const std::size_t End = Place.find(']');
            std::uint32_t Index = 0;
            if (End == std::string_view::npos || !Parley::Numbers::Read(Place.substr(1, End - 1), Index)
                || Index >= Found->Items().size())
            {
                return nullptr;
            }
            Found = &Found->Items()[Index];
            Place.remove_prefix(End + 1);
            continue;
        }
        const std::size_t End = Place.find_first_of(".[");
        Found = Found->Find(Place.substr(0, End));
        Place = End == std::string_view::npos ? std::string_view() : Place.substr(End);
    }
    return Found;
}

} // namespace ParleyBlueprintLibraryLocal

FParleyValue UParleyBlueprintLibrary::Conv_IntToParleyValue(int32 Value)
{
    return FParleyValue(Value);
}

FParleyValue UParleyBlueprintLibrary::Conv_Int64ToParleyValue(int64 Value)
{
    return FParleyValue(Value);
}

FParleyValue UParleyBlueprintLibrary::Conv_DoubleToParleyValue(double Value)
{
    return FParleyValue(Value);
}

FParleyValue UParleyBlueprintLibrary::Conv_BoolToParleyValue(bool bValue)
{
    return FParleyValue(bValue);
}

FParleyValue UParleyBlueprintLibrary::Conv_StringToParleyValue(const FString& Value)
{
    return FParleyValue(Value);
}

FParleyValue UParleyBlueprintLibrary::Conv_StringsToParleyValue(const TArray<FString>& Value)
{
    return FParleyValue(Value);
}

bool UParleyBlueprintLibrary::IsFault(const FParleyFault& Fault)
{
    return Fault.IsFault();
}

FString UParleyBlueprintLibrary::Conv_ParleyFaultToString(const FParleyFault& Fault)
{
    return Fault.IsFault() ? Fault.ToString() : FString();
}

TArray<FParleyProblem> UParleyBlueprintLibrary::ValidateWorkflowText(const FString& Text)
{
    Parley::WorkflowDocument Document;
    std::string Why;
    if (Parley::WorkflowDocument::Parse(*Parley::EngineCodec(), Parley::ToUtf8(Text), Document, Why))
    {
        return UParleyWorkflow::ProblemsOf(Document.Root);
    }
    TArray<FParleyProblem> Problems;
    FParleyProblem& One = Problems.AddDefaulted_GetRef();
    One.Code = static_cast<int64>(Parley::ErrorCode::WorkflowInvalid);
    One.Path = TEXT("$");
    One.Message = Parley::ToFString(Why);
    return Problems;
}

bool UParleyBlueprintLibrary::IsJson(const FString& Text, FString& Fault)
{
    Parley::Json Read;
    return Parley::JsonFromText(Text, Read, Fault);
}

bool UParleyBlueprintLibrary::GetJsonText(const FString& Json, const FString& Place, FString& Value)
{
    Parley::Json Root;
    FString Fault;
    Value.Reset();
    const Parley::Json* Found = Parley::JsonFromText(Json, Root, Fault)
        ? ParleyBlueprintLibraryLocal::At(Root, Parley::ToUtf8(Place))
        : nullptr;
    if (Found == nullptr || Found->IsNull())
    {
        return false;
    }
    Value = Found->IsString() ? Parley::ToFString(Found->AsText()) : Parley::JsonToText(*Found);
    return true;
}

bool UParleyBlueprintLibrary::GetJsonNumber(const FString& Json, const FString& Place, double& Value)
{
    Parley::Json Root;
    FString Fault;
    Value = 0.0;
    const Parley::Json* Found = Parley::JsonFromText(Json, Root, Fault)
        ? ParleyBlueprintLibraryLocal::At(Root, Parley::ToUtf8(Place))
        : nullptr;
    return Found != nullptr && Found->ToDouble(Value);
}

bool UParleyBlueprintLibrary::GetJsonFlag(const FString& Json, const FString& Place, bool& bValue)
{
    Parley::Json Root;
    FString Fault;
    const Parley::Json* Found = Parley::JsonFromText(Json, Root, Fault)
        ? ParleyBlueprintLibraryLocal::At(Root, Parley::ToUtf8(Place))
        : nullptr;
    bValue = Found != nullptr && Found->AsBoolean();
    return Found != nullptr && Found->IsBoolean();
}

FString UParleyBlueprintLibrary::MakeJson(const TArray<FParleyVariable>& Values)
{
    Parley::Json Object = Parley::Json::Object();
    for (const FParleyVariable& Value : Values)
    {
        Object.Set(Parley::ToUtf8(Value.Name), Value.Value.ToCore());
    }
    return Parley::JsonToText(Object);
}

int32 UParleyBlueprintLibrary::CountCharacters(const FString& Text)
{
    return static_cast<int32>(Parley::TextElements::Count(Parley::ToUtf8(Text)));
}

FString UParleyBlueprintLibrary::FirstCharacters(const FString& Text, int32 Count)
{
    const std::string Whole = Parley::ToUtf8(Text);
    std::size_t End = 0;
    for (int32 Index = 0; Index < Count && End < Whole.size(); Index++)
    {
        End = Parley::TextElements::End(Whole, End);
    }
    return Parley::ToFString(std::string_view(Whole).substr(0, End));
}
