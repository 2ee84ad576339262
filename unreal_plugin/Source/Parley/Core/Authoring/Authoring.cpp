// The bodies of Authoring.h.
#include "Core/Authoring/Authoring.h"

#include "Core/Authoring/Names.h"
#include "Core/Authoring/TemplateTags.h"
#include "Core/Generated/Protocol.h"
#include "Core/Numbers.h"

#include <algorithm>
#include <set>
#include <utility>

static_assert(Parley::Authoring::MaxDepth == Parley::Protocol::MaxJsonDepth - 1, "as the sidecar has it");

namespace Parley::AuthoringLocal
{

constexpr std::string_view InstructionFamily = "instruction_";
constexpr std::string_view KnowledgeFamily = "knowledge_";

/// The nodes of a workflow beside the one that is edited.
using NodeList = std::vector<const Json*>;
/// What other nodes still answer to.
using NameSet = std::set<std::string, std::less<>>;

const NodeKind& UnknownKind()
{
    static const NodeKind Unknown;
    return Unknown;
}

bool Refuse(AuthoringFault& Fault, AuthoringReason Reason, std::string Text)
{
    Fault.Reason = Reason;
    Fault.Text = std::move(Text);
    return false;
}

const char* Described(const Json& Value) noexcept
{
    switch (Value.GetKind())
    {
    case Json::Kind::Object:
        return "an object";
    case Json::Kind::Array:
        return "a list";
    case Json::Kind::Boolean:
        return "true or false";
    case Json::Kind::Null:
        return "null";
    case Json::Kind::Number:
        return "a number";
    case Json::Kind::String:
        break;
    }
    return "a text";
}

bool RefuseWorkflow(
    AuthoringFault& Fault, const std::string& Path, const Json& Value, const char* Wanted, const char* Remedy)
{
    return Refuse(
        Fault,
        AuthoringReason::NotAWorkflow,
        Path + " is " + Described(Value) + ", not " + Wanted + "; " + Remedy + ".");
}

const std::string& NameOf(const Json& Node) noexcept
{
    return Authoring::TextOf(Node, "name");
}

/// The nodes, checked as far as the rules rest on them.
bool NodesOf(const Json& Workflow, const std::vector<Json>*& Nodes, AuthoringFault& Fault)
{
    if (!Workflow.IsObject())
    {
        return RefuseWorkflow(Fault, "The workflow", Workflow, "an object", "put it in { }");
    }
    const Json* Items = Workflow.Find("nodes");
    if (Items == nullptr)
    {
        return Refuse(
            Fault, AuthoringReason::NotAWorkflow, "The workflow has no 'nodes'; give it a list of nodes.");
    }
    if (!Items->IsArray())
    {
        return RefuseWorkflow(Fault, "nodes", *Items, "a list", "put the nodes in [ ]");
    }
    for (std::size_t Index = 0; Index < Items->Items().size(); ++Index)
    {
        const Json& Node = Items->Items()[Index];
        const std::string Path = "nodes[" + Numbers::Of(Index) + "]";
        if (!Node.IsObject())
        {
            return RefuseWorkflow(Fault, Path, Node, "an object", "give it a name and a type, or remove it");
        }
        const Json* Name = Node.Find("name");
        if (Name != nullptr && !Name->IsString())
        {
            return RefuseWorkflow(Fault, Path + ".name", *Name, "a text", "put a name in quotes");
        }
        // Writers of JSON that know no missing text write null for it.
        const Json* Slot = Node.Find("output_name");
        if (Slot != nullptr && !Slot->IsNull() && !Slot->IsString())
        {
            return RefuseWorkflow(Fault, Path + ".output_name", *Slot, "a text", "put a name in quotes");
        }
    }
    Nodes = &Items->Items();
    return true;
}

bool FindNode(const std::vector<Json>& Nodes, std::string_view NodeName, std::size_t& At, AuthoringFault& Fault)
{
    for (At = 0; At < Nodes.size(); ++At)
    {
        const Json* Name = Nodes[At].Find("name");
        if (Name != nullptr && Name->AsText() == NodeName)
        {
            return true;
        }
    }
    constexpr std::size_t MostShown = 12;
    std::string Remedy = Nodes.empty() ? "add it first" : "choose one of ";
    for (std::size_t Index = 0; Index < Nodes.size() && Index < MostShown; ++Index)
    {
        Remedy += (Index == 0 ? "" : ", ") + Names::Shown(NameOf(Nodes[Index]));
    }
    Remedy += Nodes.size() > MostShown ? ", \xE2\x80\xA6" : ""; // …
    return Refuse(
        Fault,
        AuthoringReason::UnknownNode,
        "The workflow has no node called " + Names::Shown(NodeName) + "; " + Remedy + ".");
}

NodeList Without(const std::vector<Json>& Nodes, std::size_t At)
{
    NodeList Others;
    for (std::size_t Index = 0; Index < Nodes.size(); ++Index)
    {
        if (Index != At)
        {
            Others.push_back(&Nodes[Index]);
        }
    }
    return Others;
}

NameSet NamesIn(const NodeList& Nodes)
{
    NameSet Found;
    for (const Json* Node : Nodes)
    {
        Found.insert(NameOf(*Node));
    }
    return Found;
}

NameSet SlotsIn(const NodeList& Nodes, const NodeKindMap& Kinds)
{
    NameSet Found;
    for (const Json* Node : Nodes)
    {
        if (std::optional<std::string> Slot = Authoring::SlotOf(*Node, Kinds))
        {
            Found.insert(std::move(*Slot));
        }
    }
    return Found;
}

NameSet Taken(const NodeList& Nodes, const NodeKindMap& Kinds)
{
    NameSet Found = NamesIn(Nodes);
    Found.merge(SlotsIn(Nodes, Kinds));
    return Found;
}

// ---- What follows a rename: each returns old -> new, empty when nothing does

/// Empty is no name (an empty exit is END), and a name that another still has stays with that other.
RenameMap Renamed(std::string_view Old, std::string_view Name, const NameSet& Kept)
{
    RenameMap Made;
    if (!Old.empty() && Old != Name && Kept.find(Old) == Kept.end())
    {
        Made.emplace(Old, Name);
    }
    return Made;
}

/// The reserved slot is the player's line, whatever a broken node claims to write.
RenameMap RenamedSlot(std::string_view Old, std::string_view Name, const NodeList& Others, const NodeKindMap& Kinds)
{
    return Old == Names::Reserved ? RenameMap() : Renamed(Old, Name, SlotsIn(Others, Kinds));
}

/// The name that the node makes readable in this family of tags, and whether that is its own by default. A type that is
/// not known may belong to either family.
const std::string& TagNameOf(
    const Json& Node, const NodeKindMap& Kinds, std::string_view Family, bool& ByDefault) noexcept
{
    static const std::string NoTag;
    ByDefault = false;
    const NodeKind* Kind = Authoring::KindOf(Node, Kinds);
    if (Kind != nullptr && Kind->TagFamily != Family)
    {
        return NoTag;
    }
    const std::string_view Field = Kind != nullptr ? std::string_view(Kind->TagNameField)
        : Family == InstructionFamily              ? std::string_view("instruction_name")
        : Family == KnowledgeFamily                ? std::string_view("source")
                                                   : std::string_view();
    const Json* Given = Field.empty() ? nullptr : Node.Find(Field);
    ByDefault = Given == nullptr || Given->IsNull() || (Given->IsString() && Given->AsText().empty());
    return ByDefault ? NameOf(Node) : Authoring::TextOf(Node, Field);
}

RenameMap RenamedTags(const Json& Node, std::string_view Name, const NodeList& Others, const NodeKindMap& Kinds)
{
    RenameMap Tags;
    const NodeKind* Kind = Authoring::KindOf(Node, Kinds);
    const std::vector<std::string_view> Families = Kind != nullptr
        ? std::vector<std::string_view>{Kind->TagFamily}
        : std::vector<std::string_view>{InstructionFamily, KnowledgeFamily};
    for (const std::string_view Family : Families)
    {
        bool ByDefault = false;
        const std::string& Old = TagNameOf(Node, Kinds, Family, ByDefault);
        if (Family.empty() || !ByDefault)
        {
            continue;
        }
        NameSet Kept;
        bool Ignored = false;
        for (const Json* Other : Others)
        {
            Kept.insert(TagNameOf(*Other, Kinds, Family, Ignored));
        }
        for (const RenameMap::value_type& Item : Renamed(Old, Name, Kept))
        {
            Tags.emplace(std::string(Family) + Item.first, std::string(Family) + Item.second);
        }
    }
    return Tags;
}

// ---- Raw JSON

struct References
{
    /// Names of nodes.
    RenameMap Targets;
    RenameMap Slots;
    /// Whole tag keys.
    RenameMap Tags;
};

const std::string* Lookup(const RenameMap& Map, std::string_view Old) noexcept
{
    const auto Found = Map.find(Old);
    return Found == Map.end() ? nullptr : &Found->second;
}

void Rewrite(Json& Node, const NodeKindMap& Kinds, const References& Follow)
{
    const NodeKind* Known = Authoring::KindOf(Node, Kinds);
    const NodeKind& Kind = Known != nullptr ? *Known : UnknownKind();
    for (JsonMember& Field : Node.Members())
    {
        if (!Field.Value.IsString())
        {
            continue;
        }
        const std::string& Before = Field.Value.AsText();
        const std::string* After = nullptr;
        std::string Made;
        if (Authoring::IsExit(Field.Name))
        {
            After = Lookup(Follow.Targets, Before);
        }
        else if (Kind.InputFields.find(Field.Name) != Kind.InputFields.end())
        {
            After = Lookup(Follow.Slots, Before);
        }
        else if (Kind.TemplateFields.find(Field.Name) != Kind.TemplateFields.end())
        {
            Made = TemplateTags::Renamed(Before, Follow.Tags);
            After = &Made;
        }
        if (After != nullptr && *After != Before)
        {
            Field.Value = Json::String(*After);
        }
    }
}

/// Replaces references in a copy of the workflow, whose nodes were checked.
void RewriteAll(Json& Workflow, const NodeKindMap& Kinds, References Follow)
{
    for (const RenameMap::value_type& Slot : Follow.Slots)
    {
        Follow.Tags.emplace("slot." + Slot.first, "slot." + Slot.second);
    }
    for (Json& Node : Workflow.Find("nodes")->Items())
    {
        Rewrite(Node, Kinds, Follow);
    }
    if (const std::string* Start = Lookup(Follow.Targets, Authoring::TextOf(Workflow, "start_node")))
    {
        Workflow.Set("start_node", Json::String(*Start));
    }
}

bool IsDeeper(const Json& Value, int Levels) noexcept
{
    const bool IsContainer = Value.IsArray() || Value.IsObject();
    if (!IsContainer || Levels == 0)
    {
        return IsContainer;
    }
    const auto Inner = [&](const Json& Item) { return IsDeeper(Item, Levels - 1); };
    const auto InnerField = [&](const JsonMember& Field) { return IsDeeper(Field.Value, Levels - 1); };
    return std::any_of(Value.Items().begin(), Value.Items().end(), Inner)
        || std::any_of(Value.Members().begin(), Value.Members().end(), InnerField);
}

/// Whether each node leads to nodes[At] by one exit or more. What is no object leads nowhere.
std::vector<bool> Upstream(const std::vector<Json>& Nodes, std::size_t At)
{
    std::map<std::string_view, std::vector<std::size_t>> Before;
    for (std::size_t Index = 0; Index < Nodes.size(); ++Index)
    {
        for (const JsonMember& Field : Nodes[Index].Members())
        {
            if (Authoring::IsExit(Field.Name) && Field.Value.IsString() && !Field.Value.AsText().empty())
            {
                Before[Field.Value.AsText()].push_back(Index);
            }
        }
    }
    std::vector<bool> Found(Nodes.size());
    std::vector<std::string_view> Waiting{NameOf(Nodes[At])};
    while (!Waiting.empty())
    {
        const auto Leading = Before.find(Waiting.back());
        Waiting.pop_back();
        if (Leading == Before.end())
        {
            continue;
        }
        for (const std::size_t Index : Leading->second)
        {
            if (!Found[Index])
            {
                Found[Index] = true;
                Waiting.push_back(NameOf(Nodes[Index]));
            }
        }
        Before.erase(Leading);
    }
    return Found;
}

} // namespace Parley::AuthoringLocal

namespace Parley
{

std::vector<std::string> AuthoringEdit::Follow(const std::vector<std::string>& CastNames) const
{
    std::vector<std::string> Followed;
    Followed.reserve(CastNames.size());
    for (const std::string& Name : CastNames)
    {
        Followed.push_back(NameFollows && Name == From ? To : Name);
    }
    return Followed;
}

} // namespace Parley

namespace Parley::Authoring
{

using namespace AuthoringLocal;

std::optional<std::string> SlotOf(const Json& Node, const NodeKindMap& Kinds)
{
    const NodeKind* Kind = KindOf(Node, Kinds);
    if (!(Kind != nullptr ? Kind->Produces : Node.Find("output_name") != nullptr))
    {
        return std::nullopt;
    }
    const std::string& Given = TextOf(Node, "output_name");
    const std::string& Slot = Given.empty() ? NameOf(Node) : Given;
    return Slot.empty() ? std::nullopt : std::optional<std::string>(Slot);
}

bool InputChoices(
    const Json& Workflow,
    std::string_view NodeName,
    const NodeKindMap& Kinds,
    std::vector<std::string>& Choices,
    AuthoringFault& Fault)
{
    const std::vector<Json>* Nodes = nullptr;
    std::size_t At = 0;
    if (!NodesOf(Workflow, Nodes, Fault) || !FindNode(*Nodes, NodeName, At, Fault))
    {
        return false;
    }
    Choices = InputChoicesAt(*Nodes, At, Kinds);
    return true;
}

std::vector<std::string> InputChoicesAt(const std::vector<Json>& Nodes, std::size_t Index, const NodeKindMap& Kinds)
{
    const std::vector<bool> Leads = Upstream(Nodes, Index);
    std::vector<std::string> Choices{std::string(Names::Reserved)};
    NameSet Seen{Choices.front()};
    for (std::size_t At = 0; At < Nodes.size(); ++At)
    {
        if (!Leads[At])
        {
            continue;
        }
        std::optional<std::string> Slot = SlotOf(Nodes[At], Kinds);
        if (Slot && Seen.insert(*Slot).second)
        {
            Choices.push_back(std::move(*Slot));
        }
    }
    return Choices;
}

bool RenameNode(
    const Json& Workflow,
    std::string_view NodeName,
    std::string_view To,
    const NodeKindMap& Kinds,
    AuthoringEdit& Edit,
    AuthoringFault& Fault)
{
    const std::vector<Json>* Nodes = nullptr;
    std::size_t At = 0;
    std::string Name;
    if (!NodesOf(Workflow, Nodes, Fault) || !FindNode(*Nodes, NodeName, At, Fault) || !Names::Check(To, Name, Fault))
    {
        return false;
    }
    const Json& Node = (*Nodes)[At];
    const NodeList Others = Without(*Nodes, At);
    // A name box that loses focus commits its old name: that must do nothing, even where another node writes a slot of
    // this name.
    if (Name != NodeName)
    {
        Name = Names::Unique(Name, Taken(Others, Kinds));
    }
    AuthoringEdit Made;
    Made.Workflow = Workflow;
    Made.From.assign(NodeName);
    Made.To = Name;
    if (Name != NodeName)
    {
        const std::optional<std::string> Slot = SlotOf(Node, Kinds);
        References Follow;
        Follow.Targets = Renamed(NodeName, Name, NamesIn(Others));
        if (Slot && *Slot == NodeName && TextOf(Node, "output_name").empty())
        {
            Follow.Slots = RenamedSlot(NodeName, Name, Others, Kinds);
        }
        Follow.Tags = RenamedTags(Node, Name, Others, Kinds);
        Made.NameFollows = !Follow.Targets.empty();
        RewriteAll(Made.Workflow, Kinds, std::move(Follow));
        Json& NewNode = Made.Workflow.Find("nodes")->Items()[At];
        NewNode.Set("name", Json::String(Name));
        if (Slot && TextOf(NewNode, "output_name") == Name)
        {
            NewNode.Set("output_name", Json::String(""));
        }
    }
    Edit = std::move(Made);
    return true;
}

bool RenameSlot(
    const Json& Workflow,
    std::string_view NodeName,
    std::string_view To,
    const NodeKindMap& Kinds,
    AuthoringEdit& Edit,
    AuthoringFault& Fault)
{
    const std::vector<Json>* Nodes = nullptr;
    std::size_t At = 0;
    if (!NodesOf(Workflow, Nodes, Fault) || !FindNode(*Nodes, NodeName, At, Fault))
    {
        return false;
    }
    const Json& Node = (*Nodes)[At];
    const NodeList Others = Without(*Nodes, At);
    const NodeKind* Kind = KindOf(Node, Kinds);
    if (Kind != nullptr && !Kind->Produces)
    {
        return Refuse(
            Fault,
            AuthoringReason::UnknownNode,
            "Node " + Names::Shown(NodeName) + " is a " + TextOf(Node, "type")
                + ", which writes no slot; choose a node that does.");
    }
    const std::string& Given = TextOf(Node, "output_name");
    std::string Old(Given.empty() ? NodeName : std::string_view(Given));
    const bool IsCleared = Names::Trim(To).empty();
    std::string Name;
    // A broken name, user_message above all, must not become a slot.
    if (!Names::Check(IsCleared ? NodeName : To, Name, Fault))
    {
        return false;
    }
    if (IsCleared)
    {
        Name.assign(NodeName);
    }
    else if (Name != NodeName && Name != Old)
    {
        Name = Names::Unique(Name, Taken(Others, Kinds));
    }
    AuthoringEdit Made;
    Made.Workflow = Workflow;
    References Follow;
    Follow.Slots = RenamedSlot(Old, Name, Others, Kinds);
    RewriteAll(Made.Workflow, Kinds, std::move(Follow));
    const std::string Stored = Name == NodeName ? std::string() : Name;
    if (Stored != Given)
    {
        Made.Workflow.Find("nodes")->Items()[At].Set("output_name", Json::String(Stored));
    }
    Made.From = std::move(Old);
    Made.To = std::move(Name);
    Edit = std::move(Made);
    return true;
}

bool DeleteNode(
    const Json& Workflow,
    std::string_view NodeName,
    const NodeKindMap& Kinds,
    AuthoringEdit& Edit,
    AuthoringFault& Fault)
{
    const std::vector<Json>* Nodes = nullptr;
    std::size_t At = 0;
    if (!NodesOf(Workflow, Nodes, Fault) || !FindNode(*Nodes, NodeName, At, Fault))
    {
        return false;
    }
    const NodeList Others = Without(*Nodes, At);
    const RenameMap Lost = RenamedSlot(SlotOf((*Nodes)[At], Kinds).value_or(""), "", Others, Kinds);
    AuthoringEdit Made;
    for (std::size_t Index = 0; Index < Others.size(); ++Index)
    {
        const Json& Other = *Others[Index];
        const NodeKind* Known = KindOf(Other, Kinds);
        const NodeKind& Kind = Known != nullptr ? *Known : UnknownKind();
        const auto HasLost = [&](const std::string& Field) { return Lost.find(TextOf(Other, Field)) != Lost.end(); };
        if (std::any_of(Kind.InputFields.begin(), Kind.InputFields.end(), HasLost))
        {
            const std::string& Name = NameOf(Other);
            Made.Flagged.push_back(Name.empty() ? "nodes[" + Numbers::Of(Index) + "]" : Name);
        }
    }
    Made.From.assign(NodeName);
    Made.Workflow = Workflow;
    std::vector<Json>& Left = Made.Workflow.Find("nodes")->Items();
    Left.erase(Left.begin() + static_cast<std::ptrdiff_t>(At));
    References Follow;
    Follow.Targets = Renamed(NodeName, "", NamesIn(Others));
    RewriteAll(Made.Workflow, Kinds, std::move(Follow));
    Edit = std::move(Made);
    return true;
}

bool IsExit(std::string_view Field) noexcept
{
    constexpr std::string_view Ending = "_exit";
    return Field.size() >= Ending.size() && Field.substr(Field.size() - Ending.size()) == Ending;
}

const std::string& TextOf(const Json& Node, std::string_view Field) noexcept
{
    static const std::string Nothing;
    const Json* Value = Node.Find(Field);
    return Value != nullptr && Value->IsString() ? Value->AsText() : Nothing;
}

const NodeKind* KindOf(const Json& Node, const NodeKindMap& Kinds) noexcept
{
    const auto Found = Kinds.find(TextOf(Node, "type"));
    return Found == Kinds.end() ? nullptr : &Found->second;
}

bool IsSame(const Json& One, const Json& Other) noexcept
{
    if (One.GetKind() != Other.GetKind())
    {
        return false;
    }
    switch (One.GetKind())
    {
    case Json::Kind::Null:
        return true;
    case Json::Kind::Boolean:
        return One.AsBoolean() == Other.AsBoolean();
    case Json::Kind::Number:
    case Json::Kind::String:
        return One.AsText() == Other.AsText();
    case Json::Kind::Array:
        return std::equal(
            One.Items().begin(), One.Items().end(), Other.Items().begin(), Other.Items().end(), IsSame);
    case Json::Kind::Object:
        break;
    }
    return std::equal(
        One.Members().begin(),
        One.Members().end(),
        Other.Members().begin(),
        Other.Members().end(),
        [](const JsonMember& A, const JsonMember& B) { return A.Name == B.Name && IsSame(A.Value, B.Value); });
}

bool IsTooDeep(const Json& Workflow) noexcept
{
    return IsDeeper(Workflow, MaxDepth);
}

} // namespace Parley::Authoring
