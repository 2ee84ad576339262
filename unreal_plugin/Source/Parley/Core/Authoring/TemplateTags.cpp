// The bodies of TemplateTags.h.
#include "Core/Authoring/TemplateTags.h"

#include "Core/Authoring/Names.h"
#include "Core/CodePoints.h"

#include <algorithm>
#include <cstddef>

namespace Parley::TemplateTagsLocal
{

std::size_t AfterBlanks(std::string_view Text, std::size_t At) noexcept
{
    std::size_t Length = 0;
    while (At < Text.size() && Names::IsBlank(CodePoints::At(Text, At, Length)))
    {
        At += Length;
    }
    return At;
}

const RenameMap::value_type* KeyAt(std::string_view Template, std::size_t At, const RenameMap& Keys) noexcept
{
    const std::string_view Rest = Template.substr((std::min)(At, Template.size()));
    for (const RenameMap::value_type& Key : Keys)
    {
        if (Rest.substr(0, Key.first.size()) == Key.first)
        {
            const std::size_t Behind = AfterBlanks(Template, At + Key.first.size());
            if (Template.substr(Behind, 2) == "}}")
            {
                return &Key;
            }
        }
    }
    return nullptr;
}

} // namespace Parley::TemplateTagsLocal

namespace Parley::TemplateTags
{

using namespace TemplateTagsLocal;

std::string Renamed(std::string_view Template, const RenameMap& Keys)
{
    if (Keys.empty())
    {
        return std::string(Template);
    }
    constexpr std::size_t Nowhere = std::string_view::npos;
    constexpr std::string_view Sigils = "&#^/";
    std::string Made;
    std::size_t Done = 0;
    std::size_t At = Template.find("{{");
    while (At != Nowhere)
    {
        // A triple brace needs no case of its own: it is a brace, a tag and a brace.
        std::size_t Next = At + 1;
        std::size_t Inside = AfterBlanks(Template, At + 2);
        if (Inside < Template.size() && Template[Inside] == '!')
        {
            const std::size_t Closing = Template.find("}}", Inside + 1);
            Next = Closing == Nowhere ? Template.size() : Closing + 2;
        }
        else
        {
            if (Inside < Template.size() && Sigils.find(Template[Inside]) != Nowhere)
            {
                Inside = AfterBlanks(Template, Inside + 1);
            }
            if (const RenameMap::value_type* Key = KeyAt(Template, Inside, Keys))
            {
                Made += Template.substr(Done, Inside - Done);
                Made += Key->second;
                Next = Done = Inside + Key->first.size();
            }
        }
        At = Next < Template.size() ? Template.find("{{", Next) : Nowhere;
    }
    Made += Template.substr(Done);
    return Made;
}

} // namespace Parley::TemplateTags
