// Faults and values: what they are in the core.
#include "ParleyTypes.h"

#include "Core/Generated/ErrorCodes.h"
#include "ParleyText.h"

#include <utility>

FParleyFault::FParleyFault(const FString& InName, const FString& InMessage) : Name(InName), Message(InMessage)
{
}

FParleyFault::FParleyFault(Parley::ErrorCode InCode, const FString& InMessage)
    : Code(static_cast<int32>(InCode))
    , Kind(ToParleyErrorCode(static_cast<int64>(InCode)))
    , Name(Parley::ToFString(Parley::NameOf(InCode)))
    , Message(InMessage)
{
}

FParleyFault::FParleyFault(const Parley::Fault& Fault)
    : Code(static_cast<int32>(Fault.Code))
    , Kind(ToParleyErrorCode(static_cast<int64>(Fault.Code)))
    , Name(Parley::ToFString(Fault.Name))
    , Message(Parley::ToFString(Fault.Text))
    , AgentId(Parley::ToFString(Fault.AgentId))
    , NodeName(Parley::ToFString(Fault.NodeName))
    , Path(Parley::ToFString(Fault.Path))
{
    Problems.Reserve(static_cast<int32>(Fault.Problems.size()));
    for (const Parley::Messages::Problem& Problem : Fault.Problems)
    {
        Problems.Add(FParleyProblem(Problem));
    }
    if (Name.IsEmpty())
    {
        // Whoever asks whether something failed looks at the name.
        Name = TEXT("InternalFault");
    }
}

FString FParleyFault::ToString() const
{
    return Code == 0 ? Name + TEXT(": ") + Message : FString::Printf(TEXT("%s (%d): %s"), *Name, Code, *Message);
}

FParleyValue::FParleyValue(int32 Value) : Type(EParleyValueType::Int), Int(Value)
{
}

FParleyValue::FParleyValue(int64 Value) : Type(EParleyValueType::Int), Int(Value)
{
}

FParleyValue::FParleyValue(double Value) : Type(EParleyValueType::Float), Float(Value)
{
}

FParleyValue::FParleyValue(bool bValue) : Type(EParleyValueType::Bool), bBool(bValue)
{
}

FParleyValue::FParleyValue(const FString& Value) : String(Value)
{
}

FParleyValue::FParleyValue(const TCHAR* Value) : String(Value)
{
}

FParleyValue::FParleyValue(const TArray<FString>& Value) : Type(EParleyValueType::StringSet), StringSet(Value)
{
}

bool FParleyValue::operator==(const FParleyValue& Other) const
{
    if (Type != Other.Type)
    {
        return false;
    }
    switch (Type)
    {
        case EParleyValueType::Int:
            return Int == Other.Int;
        case EParleyValueType::Float:
            return Float == Other.Float;
        case EParleyValueType::Bool:
            return bBool == Other.bBool;
        case EParleyValueType::StringSet:
            return ToCore() == Other.ToCore();
        default:
            return String.Equals(Other.String, ESearchCase::CaseSensitive);
    }
}

Parley::Json FParleyValue::ToCore() const
{
    switch (Type)
    {
        case EParleyValueType::Int:
            return Parley::Json::Integer(static_cast<std::int64_t>(Int));
        case EParleyValueType::Float:
            return Parley::Json::Real(Float);
        case EParleyValueType::Bool:
            return Parley::Json::Boolean(bBool);
        case EParleyValueType::StringSet:
        {
            Parley::Json Items = Parley::Json::Array();
            for (const FString& Item : StringSet)
            {
                Items.Add(Parley::Json::String(Parley::ToUtf8(Item)));
            }
            return Items;
        }
        default:
            return Parley::Json::String(Parley::ToUtf8(String));
    }
}

bool FParleyValue::FromCore(const Parley::Json& Json, EParleyValueType WithType, FParleyValue& Out)
{
    FParleyValue Read;
    Read.Type = WithType;
    switch (WithType)
    {
        case EParleyValueType::Int:
        {
            std::int64_t Whole = 0;
            if (!Json.ToInt64(Whole))
            {
                return false;
            }
            Read.Int = static_cast<int64>(Whole);
            break;
        }
        case EParleyValueType::Float:
            if (!Json.ToDouble(Read.Float))
            {
                return false;
            }
            break;
        case EParleyValueType::Bool:
            if (!Json.IsBoolean())
            {
                return false;
            }
            Read.bBool = Json.AsBoolean();
            break;
        case EParleyValueType::StringSet:
            if (!Json.IsArray())
            {
                return false;
            }
            for (const Parley::Json& Item : Json.Items())
            {
                if (!Item.IsString())
                {
                    return false;
                }
                Read.StringSet.Add(Parley::ToFString(Item.AsText()));
            }
            break;
        default:
            if (!Json.IsString())
            {
                return false;
            }
            Read.String = Parley::ToFString(Json.AsText());
            break;
    }
    Out = Read;
    return true;
}

FParleyVariable::FParleyVariable(const FString& InName, const FParleyValue& InValue) : Name(InName), Value(InValue)
{
}
