// Places inside a workflow's JSON, as field names and indexes from its root.
#include "JsonPlaces.h"

#include "Core/Authoring/Authoring.h"

#include <utility>

namespace Parley::Editor::JsonPlaces
{

namespace JsonPlacesLocal
{

void AddField(Json& Object, const std::string& Field, Json Value)
{
    std::vector<JsonMember>& Members = Object.Members();
    auto At = Members.end();
    if (!Authoring::IsExit(Field) && Object.Find("type") != nullptr)
    {
        for (At = Members.begin(); At != Members.end() && !Authoring::IsExit(At->Name); ++At)
        {
        }
    }
    Members.insert(At, JsonMember{Field, std::move(Value)}); // exits stay last, where people look for them
}

} // namespace JsonPlacesLocal

const Json* Child(const Json* Parent, const Step& To)
{
    if (Parent == nullptr)
    {
        return nullptr;
    }
    if (!To.IsIndex)
    {
        return Parent->Find(To.Field);
    }
    return To.Index < Parent->Items().size() ? &Parent->Items()[To.Index] : nullptr;
}

Json* Child(Json* Parent, const Step& To)
{
    return const_cast<Json*>(Child(static_cast<const Json*>(Parent), To));
}

const Json* At(const Json& Root, const Steps& Way)
{
    const Json* Found = &Root;
    for (const Step& To : Way)
    {
        Found = Child(Found, To);
    }
    return Found;
}

Json* At(Json& Root, const Steps& Way)
{
    return const_cast<Json*>(At(static_cast<const Json&>(Root), Way));
}

bool Put(Json& Parent, const Step& To, Json Value)
{
    if (Json* Old = Child(&Parent, To))
    {
        *Old = std::move(Value);
        return true;
    }
    if (!To.IsIndex && Parent.IsObject())
    {
        JsonPlacesLocal::AddField(Parent, To.Field, std::move(Value));
        return true;
    }
    if (To.IsIndex && Parent.IsArray() && To.Index == Parent.Items().size())
    {
        Parent.Items().push_back(std::move(Value));
        return true;
    }
    return false;
}

bool Remove(Json& Root, const Steps& Way)
{
    if (Way.empty())
    {
        return false;
    }
    Json* Owner = At(Root, Steps(Way.begin(), Way.end() - 1));
    const Step& Last = Way.back();
    if (Child(Owner, Last) == nullptr)
    {
        return false;
    }
    if (!Last.IsIndex)
    {
        return Owner->Erase(Last.Field);
    }
    Owner->Items().erase(Owner->Items().begin() + static_cast<std::ptrdiff_t>(Last.Index));
    return true;
}

std::string PathOf(const Steps& Way)
{
    std::string Path = "$";
    for (const Step& To : Way)
    {
        Path += To.IsIndex ? "[" + std::to_string(To.Index) + "]" : "." + To.Field;
    }
    return Path;
}

Steps Under(const Steps& Way, Step To)
{
    Steps Longer = Way;
    Longer.push_back(std::move(To));
    return Longer;
}

} // namespace Parley::Editor::JsonPlaces
