// The bodies of Choices.h.
#include "Core/Authoring/Choices.h"

#include "Core/Authoring/Authoring.h"
#include "Core/Authoring/Names.h"
#include "Core/Authoring/ParamChecks.h"

#include <set>
#include <utility>

namespace Parley::ChoicesLocal
{

const std::vector<Json>& ListOf(const Json& Workflow, std::string_view Field) noexcept
{
    static const std::vector<Json> Nothing;
    const Json* List = Workflow.Find(Field);
    return List != nullptr && List->IsArray() ? List->Items() : Nothing;
}

/// Adds the names of a list's entries, each once.
void AddNames(ChoiceList& List, const std::vector<Json>& Items)
{
    std::set<std::string_view> Seen;
    for (const Json& Item : Items)
    {
        const std::string& Name = Authoring::TextOf(Item, "name");
        if (!Name.empty() && Seen.insert(Name).second)
        {
            List.Items.push_back({Name, Name, false});
        }
    }
}

ChoiceList Selected(ChoiceList List, const Json& Stored)
{
    const bool IsText = Stored.IsNull() || Stored.IsString();
    const std::string Value = Stored.IsNull() ? std::string() : ParamChecks::Brief(Stored);
    const std::string& Whole = Stored.IsString() ? Stored.AsText() : Value;
    for (std::size_t Index = 0; IsText && Index < List.Items.size(); ++Index)
    {
        if (List.Items[Index].Value == Whole)
        {
            List.Selected = static_cast<int>(Index);
            return List;
        }
    }
    List.Items.push_back({Whole, Whole.empty() ? "(none)" : Whole + " (missing)", true});
    List.Selected = static_cast<int>(List.Items.size()) - 1;
    return List;
}

} // namespace Parley::ChoicesLocal

namespace Parley::Choices
{

using namespace ChoicesLocal;

ChoiceList Inputs(const Json& Workflow, int Index, const NodeKindMap& Kinds, std::string_view Field)
{
    const std::vector<Json>& Nodes = ListOf(Workflow, "nodes");
    ChoiceList List;
    List.Items.push_back({"", std::string(UserMessage), false});
    const Json* Stored = nullptr;
    if (Index >= 0 && static_cast<std::size_t>(Index) < Nodes.size())
    {
        for (const std::string& Slot : Authoring::InputChoicesAt(Nodes, static_cast<std::size_t>(Index), Kinds))
        {
            if (Slot != Names::Reserved)
            {
                List.Items.push_back({Slot, Slot, false});
            }
        }
        Stored = Nodes[static_cast<std::size_t>(Index)].Find(Field);
    }
    const bool IsPlayers = Stored == nullptr || (Stored->IsString() && Stored->AsText() == Names::Reserved);
    return Selected(std::move(List), IsPlayers ? Json() : *Stored);
}

ChoiceList InputsOf(
    const Json& Workflow, std::string_view NodeName, const NodeKindMap& Kinds, std::string_view Field)
{
    return Inputs(Workflow, IndexOf(Workflow, NodeName), Kinds, Field);
}

ChoiceList Exits(const Json& Workflow, const Json& Stored, bool WithEnd)
{
    ChoiceList List;
    if (WithEnd)
    {
        List.Items.push_back({"", std::string(End), false});
    }
    AddNames(List, ListOf(Workflow, "nodes"));
    return Selected(std::move(List), Stored);
}

ChoiceList Variables(const Json& Workflow, const Json& Stored)
{
    ChoiceList List;
    List.Items.push_back({"", "(none)", false});
    AddNames(List, ListOf(Workflow, "variables"));
    return Selected(std::move(List), Stored);
}

int IndexOf(const Json& Workflow, std::string_view NodeName) noexcept
{
    const std::vector<Json>& Nodes = ListOf(Workflow, "nodes");
    for (std::size_t Index = 0; Index < Nodes.size(); ++Index)
    {
        const Json* Name = Nodes[Index].Find("name");
        if (Name != nullptr && (Name->IsString() ? std::string_view(Name->AsText()) : "") == NodeName)
        {
            return static_cast<int>(Index);
        }
    }
    return -1;
}

} // namespace Parley::Choices
