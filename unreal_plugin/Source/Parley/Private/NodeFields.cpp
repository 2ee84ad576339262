// How the properties of nodes are written: what was read stays as it was but for what has changed.
#include "NodeFields.h"

#include <utility>

namespace Parley
{

namespace NodeFieldsLocal
{

/// Whether a field says this value already. A number with a fraction comes from a double, which has no other digits.
bool IsSame(const Json& There, const Json& Value)
{
    if (There.IsNumber() && Value.IsNumber() && Value.AsText().find_first_of(".eE") != std::string::npos)
    {
        double A = 0;
        double B = 0;
        return There.ToDouble(A) && Value.ToDouble(B) && A == B;
    }
    if (There.IsArray() && Value.IsArray() && There.Items().size() == Value.Items().size())
    {
        for (std::size_t Index = 0; Index < Value.Items().size(); ++Index)
        {
            if (!IsSame(There.Items()[Index], Value.Items()[Index]))
            {
                return false;
            }
        }
        return true;
    }
    return There == Value;
}

} // namespace NodeFieldsLocal

NodeFields::NodeFields(const FString& AsRead)
    : Fields(JsonOf(AsRead))
{
}

void NodeFields::Keep(std::string_view Name, Json Value)
{
    Json* There = Fields.Find(Name);
    if (There == nullptr || !NodeFieldsLocal::IsSame(*There, Value))
    {
        Fields.Set(Name, std::move(Value));
    }
}

void NodeFields::Keep(std::string_view Name, Json Value, const Json& Default)
{
    if (Fields.Find(Name) != nullptr || Value != Default)
    {
        Keep(Name, std::move(Value));
    }
}

void NodeFields::KeepWhere(bool bIsSet, std::string_view Name, Json Value)
{
    if (bIsSet)
    {
        Keep(Name, std::move(Value));
        return;
    }
    const Json* There = Fields.Find(Name);
    if (There != nullptr && !There->IsNull())
    {
        Fields.Erase(Name);
    }
}

Json NodeFields::Take()
{
    return std::move(Fields);
}

Json JsonOf(const FString& Text)
{
    Json Value;
    Convert(Text, Value);
    return Value;
}

Json JsonsOf(const TArray<FString>& Texts)
{
    Json Values = Json::Array();
    for (const FString& Text : Texts)
    {
        Values.Add(JsonOf(Text));
    }
    return Values;
}

} // namespace Parley
