// The bodies of WorkflowEditing.h and EditTargets.h.
#include "Core/Editing/WorkflowEditing.h"

#include "Core/Authoring/Names.h"
#include "Core/Authoring/ParamChecks.h"
#include "Core/Numbers.h"

#include <algorithm>
#include <set>
#include <utility>

namespace Parley::WorkflowEditingLocal
{

bool Refuse(AuthoringFault& Fault, AuthoringReason Reason, std::string Text)
{
    Fault.Reason = Reason;
    Fault.Text = std::move(Text);
    return false;
}

/// CannedResponse becomes canned_response.
std::string WantedName(std::string_view TypeName)
{
    const auto IsCapital = [](char Letter) { return Letter >= 'A' && Letter <= 'Z'; };
    std::string Name;
    for (std::size_t At = 0; At < TypeName.size() && Name.size() < Names::MaxLength; ++At)
    {
        const char Letter = TypeName[At];
        if (IsCapital(Letter) && At > 0 && !IsCapital(TypeName[At - 1]) && Name.back() != '_')
        {
            Name.push_back('_');
        }
        Name.push_back(IsCapital(Letter) ? static_cast<char>(Letter + 32) : Letter);
    }
    Name.resize((std::min)(Name.size(), Names::MaxLength));
    return Names::IsName(Name) ? Name : "node";
}

std::set<std::string, std::less<>> Taken(const std::vector<Json>& Nodes, const NodeKindMap& Kinds)
{
    std::set<std::string, std::less<>> Found{std::string(Names::Reserved)};
    for (const Json& Node : Nodes)
    {
        if (Node.IsObject())
        {
            Found.insert(Authoring::TextOf(Node, "name"));
            Found.insert(Authoring::SlotOf(Node, Kinds).value_or(""));
        }
    }
    return Found;
}

/// Whether a field has this value already; a number may be spelled otherwise, unless that makes it another kind.
bool Has(const Json* Given, const Json& Value)
{
    if (Given == nullptr)
    {
        return false;
    }
    const bool IsNumber = Given->IsNumber() && Value.IsNumber();
    return Authoring::IsSame(*Given, Value)
        || (IsNumber && *Given == Value && ParamChecks::IsWhole(*Given) == ParamChecks::IsWhole(Value));
}

} // namespace Parley::WorkflowEditingLocal

namespace Parley
{

IEditTarget::~IEditTarget() = default;

IEditUndo::~IEditUndo() = default;

WorkflowEditing::WorkflowEditing(IWorkflowPlace& Place, const NodeKindMap& Kinds, IEditUndo& InUndo)
    : Home(Place)
    , Known(Kinds)
    , Undo(InUndo)
{
    Reload();
}

void WorkflowEditing::Reload()
{
    AtHome = Home.Get();
    Current = AtHome;
    Gathers = false;
    OpenLabel.clear();
    Pending.clear();
}

bool WorkflowEditing::Begin(std::string_view Label, AuthoringFault& Fault)
{
    if (Gathers)
    {
        return WorkflowEditingLocal::Refuse(
            Fault, AuthoringReason::NotNow, "'" + OpenLabel + "' is still open: commit or cancel it");
    }
    Refresh();
    Gathers = true;
    OpenLabel.assign(Label);
    return true;
}

bool WorkflowEditing::Commit(bool& Changed, AuthoringFault& Fault)
{
    Changed = false;
    if (!Gathers)
    {
        return WorkflowEditingLocal::Refuse(Fault, AuthoringReason::NotNow, "nothing was begun");
    }
    if (!Authoring::IsSame(Home.Get(), AtHome))
    {
        Reload();
        return WorkflowEditingLocal::Refuse(
            Fault, AuthoringReason::NotNow, "the workflow was changed elsewhere meanwhile; do this again");
    }
    Gathers = false;
    Changed = Apply(std::exchange(OpenLabel, {}), std::exchange(Pending, {}));
    return true;
}

void WorkflowEditing::Cancel()
{
    Reload();
}

bool WorkflowEditing::RenameNode(
    std::string_view NodeName, std::string_view To, AuthoringEdit& Edit, AuthoringFault& Fault)
{
    Refresh();
    return Authoring::RenameNode(Current, NodeName, To, Known, Edit, Fault)
        && Done("Rename " + std::string(NodeName), Edit, Fault);
}

bool WorkflowEditing::RenameSlot(
    std::string_view NodeName, std::string_view To, AuthoringEdit& Edit, AuthoringFault& Fault)
{
    Refresh();
    return Authoring::RenameSlot(Current, NodeName, To, Known, Edit, Fault)
        && Done("Rename slot of " + std::string(NodeName), Edit, Fault);
}

bool WorkflowEditing::DeleteNode(std::string_view NodeName, AuthoringEdit& Edit, AuthoringFault& Fault)
{
    Refresh();
    return Authoring::DeleteNode(Current, NodeName, Known, Edit, Fault)
        && Done("Delete " + std::string(NodeName), Edit, Fault);
}

bool WorkflowEditing::AddNode(std::string_view TypeName, std::string& Name, AuthoringFault& Fault)
{
    std::string Made;
    const auto Add = [&](Json& Workflow, AuthoringFault& Refusal) {
        const Json* Given = Workflow.Find("nodes");
        if (Given != nullptr && !Given->IsNull() && !Given->IsArray())
        {
            return WorkflowEditingLocal::Refuse(Refusal, AuthoringReason::NotAWorkflow, "nodes is no list; put the nodes in [ ].");
        }
        Json& Nodes = Given != nullptr && Given->IsArray() ? *Workflow.Find("nodes") : Workflow.Set("nodes", Json::Array());
        Made = Names::Unique(WorkflowEditingLocal::WantedName(TypeName), WorkflowEditingLocal::Taken(Nodes.Items(), Known));
        Json Node = Json::Object();
        Node.Set("name", Json::String(Made));
        Node.Set("type", Json::String(std::string(TypeName)));
        Nodes.Add(std::move(Node));
        const bool IsOnly = Nodes.Items().size() == 1;
        if (IsOnly && Authoring::TextOf(Workflow, "start_node").empty())
        {
            Workflow.Set("start_node", Json::String(Made));
        }
        return true;
    };
    bool Changed = false;
    if (!Change("Add " + std::string(TypeName), Add, Changed, Fault))
    {
        return false;
    }
    Name = std::move(Made);
    return true;
}

bool WorkflowEditing::SetField(
    int Index, std::string_view Field, const Json& Value, bool& Changed, AuthoringFault& Fault)
{
    const auto Set = [&](Json& Owner) {
        if (!WorkflowEditingLocal::Has(Owner.Find(Field), Value))
        {
            Owner.Set(Field, Value);
        }
    };
    return Owned("Set " + std::string(Field), Index, Set, Changed, Fault);
}

bool WorkflowEditing::EraseField(int Index, std::string_view Field, bool& Changed, AuthoringFault& Fault)
{
    const auto Erase = [&](Json& Owner) { Owner.Erase(Field); };
    return Owned("Set " + std::string(Field), Index, Erase, Changed, Fault);
}

bool WorkflowEditing::Owned(
    std::string_view Label,
    int Index,
    const std::function<void(Json& Owner)>& Edit,
    bool& Changed,
    AuthoringFault& Fault)
{
    const auto EditOwner = [&](Json& Workflow, AuthoringFault& Refusal) {
        Json* Owner = Index < 0 ? &Workflow : nullptr;
        Json* Nodes = Workflow.Find("nodes");
        if (Index >= 0 && Nodes != nullptr && Nodes->IsArray()
            && static_cast<std::size_t>(Index) < Nodes->Items().size())
        {
            Owner = &Nodes->Items()[static_cast<std::size_t>(Index)];
        }
        if (Owner == nullptr || !Owner->IsObject())
        {
            return WorkflowEditingLocal::Refuse(
                Refusal,
                AuthoringReason::NotAWorkflow,
                "There is no node at this place any more; look at the workflow again.");
        }
        Edit(*Owner);
        return true;
    };
    return Change(Label, EditOwner, Changed, Fault);
}

bool WorkflowEditing::Change(
    std::string_view Label,
    const std::function<bool(Json& Workflow, AuthoringFault& Fault)>& Edit,
    bool& Changed,
    AuthoringFault& Fault)
{
    Changed = false;
    Refresh();
    const Json Before = Current;
    AuthoringEdit Made;
    Made.Workflow = Current;
    if (!Edit(Made.Workflow, Fault) || !Done(Label, Made, Fault))
    {
        return false;
    }
    Changed = !Authoring::IsSame(Before, Current);
    return true;
}

void WorkflowEditing::Refresh()
{
    if (!Gathers && !Authoring::IsSame(Home.Get(), AtHome))
    {
        Reload();
    }
}

bool WorkflowEditing::Done(std::string_view Label, const AuthoringEdit& Edit, AuthoringFault& Fault)
{
    if (Authoring::IsTooDeep(Edit.Workflow))
    {
        return WorkflowEditingLocal::Refuse(
            Fault,
            AuthoringReason::NotAWorkflow,
            "the JSON is nested deeper than " + Numbers::Of(Authoring::MaxDepth) + " levels");
    }
    Current = Edit.Workflow;
    if (Gathers)
    {
        Pending.push_back(Edit);
    }
    else
    {
        Apply(std::string(Label), {Edit});
    }
    return true;
}

bool WorkflowEditing::Apply(const std::string& Label, const std::vector<AuthoringEdit>& Edits)
{
    std::vector<std::pair<INodeNames*, std::vector<std::string>>> Renames;
    for (INodeNames* Follower : Following)
    {
        std::vector<std::string> Followed = Follower->Names();
        for (const AuthoringEdit& Edit : Edits)
        {
            Followed = Edit.Follow(Followed);
        }
        if (Followed != Follower->Names())
        {
            Renames.emplace_back(Follower, std::move(Followed));
        }
    }
    const bool IsChanged = !Authoring::IsSame(Current, AtHome);
    if (!IsChanged && Renames.empty())
    {
        return false;
    }
    Undo.Begin(Label);
    if (IsChanged)
    {
        Undo.Keep(Home);
        Home.Set(Current);
        // What is kept there may be written otherwise, for example without fields that say what they say by default.
        AtHome = Home.Get();
        Current = AtHome;
    }
    for (const auto& [Follower, Followed] : Renames)
    {
        Undo.Keep(*Follower);
        const std::vector<std::string> Before = Follower->Names();
        for (std::size_t Index = 0; Index < Followed.size() && Index < Before.size(); ++Index)
        {
            if (Followed[Index] != Before[Index])
            {
                Follower->Rename(Index, Followed[Index]);
            }
        }
    }
    Undo.End();
    return true;
}

} // namespace Parley
