// What the inspector of a workflow shows and does; the inspector itself only draws.
#include "WorkflowInspectorModel.h"

#include "EditorJson.h"

#include "Core/Authoring/Authoring.h"
#include "Core/Authoring/Choices.h"
#include "Core/Authoring/Names.h"
#include "Core/Authoring/NodeKind.h"
#include "Core/Authoring/QuickValidation.h"
#include "Core/Numbers.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace Parley::Editor
{

namespace WorkflowInspectorModelLocal
{

bool Refuse(AuthoringFault& Why, AuthoringReason Reason, std::string Text)
{
    Why.Reason = Reason;
    Why.Text = std::move(Text);
    return false;
}

std::string NodePath(std::size_t Index)
{
    return "$.nodes[" + std::to_string(Index) + "]";
}

std::string NodeField(std::size_t Index, const char* Field)
{
    return NodePath(Index) + "." + Field;
}

std::string Bound(const std::optional<double>& Value, const char* None)
{
    return Value ? Numbers::Shown(*Value) : None;
}

bool IsWithin(const FieldRow& Row, double Number)
{
    return (!Row.Least || Number >= *Row.Least) && (!Row.Most || Number <= *Row.Most);
}

/// The nodes for changing; null, with the fault, where they are no list.
std::vector<Json>* NodesOf(Json& Root, AuthoringFault& Why)
{
    Json* Nodes = Root.Find("nodes");
    if (Nodes == nullptr || !Nodes->IsArray())
    {
        Refuse(Why, AuthoringReason::NotAWorkflow, "'nodes' is no list; make it one first.");
        return nullptr;
    }
    return &Nodes->Items();
}

/// Names and slots of all nodes but one.
std::set<std::string, std::less<>> TakenBut(const Json& Root, std::size_t Index)
{
    std::set<std::string, std::less<>> Taken;
    const std::vector<Json>& Nodes = EditorJson::Items(&Root, "nodes");
    for (std::size_t At = 0; At < Nodes.size(); ++At)
    {
        if (At != Index)
        {
            Taken.insert(Authoring::TextOf(Nodes[At], "name"));
            Taken.insert(Authoring::SlotOf(Nodes[At], NodeKinds::Packaged()).value_or(""));
        }
    }
    return Taken;
}

/// Paths of one file system: Windows takes no notice of case.
bool StartsWith(std::string_view Path, std::string_view Folder)
{
    if (Path.size() < Folder.size())
    {
        return false;
    }
    for (std::size_t At = 0; At < Folder.size(); ++At)
    {
        char One = Path[At];
        char Other = Folder[At];
#if defined(_WIN32)
        One = One >= 'A' && One <= 'Z' ? static_cast<char>(One + 32) : One;
        Other = Other >= 'A' && Other <= 'Z' ? static_cast<char>(Other + 32) : Other;
#endif
        if (One != Other)
        {
            return false;
        }
    }
    return true;
}

} // namespace WorkflowInspectorModelLocal

WorkflowInspectorModel::WorkflowInspectorModel(WorkflowStore& InStore, const JsonCodec& InCodec)
    : Store(InStore), Codec(InCodec), Editing(InStore, NodeKinds::Packaged(), InStore)
{
    Refresh();
}

bool WorkflowInspectorModel::Refresh()
{
    Json Now = Store.Get();
    const bool IsAnother = Trouble != Store.GetFault() || !Authoring::IsSame(Now, Seen) || (Rows.empty() && Trouble.empty());
    if (!IsStale && !IsAnother)
    {
        return false;
    }
    IsStale = false;
    Editing.Reload(); // also where an edit was undone before anybody looked
    if (IsAnother)
    {
        Seen = std::move(Now);
        Trouble = Store.GetFault();
        Local = Trouble.empty() ? QuickValidation::Check(Seen) : Findings();
    }
    Build();
    return true;
}

std::string WorkflowInspectorModel::RefusalAt(const std::string& Path) const
{
    const auto Found = Refusals.find(Path);
    return Found == Refusals.end() ? std::string() : Found->second;
}

void WorkflowInspectorModel::SetModels(std::vector<KnownModel> Known)
{
    const auto IsSame = [](const KnownModel& One, const KnownModel& Other)
    {
        return One.Name == Other.Name && One.Type == Other.Type && One.Speakers == Other.Speakers;
    };
    if (!std::equal(Models.begin(), Models.end(), Known.begin(), Known.end(), IsSame))
    {
        Models = std::move(Known);
        IsStale = true;
    }
}

void WorkflowInspectorModel::TakeFindings(const Json& About, Findings News)
{
    if (!Authoring::IsSame(About, Store.Get()))
    {
        return;
    }
    ToldAbout = About;
    Told = std::move(News);
    IsStale = true;
}

// ---- edits

bool WorkflowInspectorModel::Replace(const Json& Other, std::string_view Label)
{
    return Try("$", [&](AuthoringFault& Why)
    {
        return Change(Label, [&](Json& Root, AuthoringFault&)
        {
            Root = Other;
            return true;
        }, Why);
    });
}

bool WorkflowInspectorModel::Rename(std::size_t Index, std::string_view To)
{
    return Try(WorkflowInspectorModelLocal::NodeField(Index, "name"), [&](AuthoringFault& Why)
    {
        const Json* Node = NodeAt(Index, Why);
        if (Node == nullptr)
        {
            return false;
        }
        const std::string Name = Authoring::TextOf(*Node, "name");
        if (To == Name)
        {
            return true;
        }
        if (!IsTheOne(Index, Name))
        {
            return RenameOnly(Index, Name, To, Why);
        }
        const std::vector<std::unique_ptr<INodeNames>> Followers = Store.FollowersOf(Name);
        for (const std::unique_ptr<INodeNames>& Each : Followers)
        {
            Editing.Followers().push_back(Each.get());
        }
        AuthoringEdit Made;
        const bool IsDone = Editing.RenameNode(Name, To, Made, Why);
        Editing.Followers().clear();
        return IsDone;
    });
}

/// Nothing means a node without a name, or the second of one name: it alone changes.
bool WorkflowInspectorModel::RenameOnly(std::size_t Index, const std::string& Name, std::string_view To, AuthoringFault& Why)
{
    std::string Renamed;
    if (!Names::Check(To, Renamed, Why))
    {
        return false;
    }
    if (Renamed == Name)
    {
        return true;
    }
    Renamed = Names::Unique(Renamed, WorkflowInspectorModelLocal::TakenBut(Editing.Workflow(), Index));
    return SetIn({"nodes", Index, "name"}, Json::String(Renamed), "Rename Node", Why);
}

bool WorkflowInspectorModel::RenameSlot(std::size_t Index, std::string_view To)
{
    return Try(WorkflowInspectorModelLocal::NodeField(Index, "output_name"), [&](AuthoringFault& Why)
    {
        const Json* Node = NodeAt(Index, Why);
        if (Node == nullptr)
        {
            return false;
        }
        const std::string Name = Authoring::TextOf(*Node, "name");
        if (To == Authoring::TextOf(*Node, "output_name"))
        {
            return true;
        }
        if (!IsTheOne(Index, Name))
        {
            return WorkflowInspectorModelLocal::Refuse(
                Why, AuthoringReason::UnknownNode,
                "The node has no name of its own; give it one first, so that its slot can follow.");
        }
        AuthoringEdit Made;
        return Editing.RenameSlot(Name, To, Made, Why);
    });
}

bool WorkflowInspectorModel::Delete(std::size_t Index)
{
    return Try(WorkflowInspectorModelLocal::NodePath(Index), [&](AuthoringFault& Why)
    {
        const std::vector<Json>& Nodes = EditorJson::Items(&Editing.Workflow(), "nodes");
        if (Index >= Nodes.size())
        {
            return true;
        }
        const std::string Name = Authoring::TextOf(Nodes[Index], "name");
        if (IsTheOne(Index, Name))
        {
            AuthoringEdit Made;
            return Editing.DeleteNode(Name, Made, Why);
        }
        return Change("Delete Node", [&](Json& Root, AuthoringFault&)
        {
            return JsonPlaces::Remove(Root, {"nodes", Index});
        }, Why);
    });
}

std::string WorkflowInspectorModel::Add(std::string_view TypeName)
{
    std::string Name;
    Try("$.nodes", [&](AuthoringFault& Why) { return Editing.AddNode(TypeName, Name, Why); });
    return Name;
}

bool WorkflowInspectorModel::Move(std::size_t Index, std::size_t To)
{
    return Try(WorkflowInspectorModelLocal::NodePath(Index), [&](AuthoringFault& Why)
    {
        return Change("Move Node", [&](Json& Root, AuthoringFault& Inner)
        {
            std::vector<Json>* Nodes = WorkflowInspectorModelLocal::NodesOf(Root, Inner);
            if (Nodes == nullptr)
            {
                return false;
            }
            if (Index < Nodes->size() && To < Nodes->size() && To != Index)
            {
                Json Node = std::move((*Nodes)[Index]);
                Nodes->erase(Nodes->begin() + static_cast<std::ptrdiff_t>(Index));
                Nodes->insert(Nodes->begin() + static_cast<std::ptrdiff_t>(To), std::move(Node));
            }
            return true;
        }, Why);
    });
}

bool WorkflowInspectorModel::Set(const FieldRow& Row, Json Value)
{
    return Try(Row.Path, [&](AuthoringFault& Why) { return SetIn(Row.Way, std::move(Value), "Change " + Row.Label, Why); });
}

bool WorkflowInspectorModel::SetText(const FieldRow& Row, std::string_view Text)
{
    const bool IsSame = Row.Stored && Row.Stored->IsString() && Row.Stored->AsText() == Text;
    return !IsSame && Set(Row, Json::String(std::string(Text)));
}

bool WorkflowInspectorModel::SetNumber(const FieldRow& Row, double Number)
{
    if (!std::isfinite(Number))
    {
        return false;
    }
    Number = Row.Least && Number < *Row.Least ? *Row.Least : Row.Most && Number > *Row.Most ? *Row.Most : Number;
    const bool IsWhole = Row.Control == FieldControl::Integer;
    Number = IsWhole ? std::round(Number) : Number;
    double Before = 0;
    if ((Row.Value && EditorJson::TryNumber(*Row.Value, Before) && Before == Number) || (IsWhole && std::fabs(Number) > 9e15))
    {
        return false;
    }
    return Set(Row, IsWhole ? Json::Integer(static_cast<std::int64_t>(Number)) : Json::Real(Number));
}

bool WorkflowInspectorModel::SetTyped(const FieldRow& Row, std::string_view Text)
{
    return Try(Row.Path, [&](AuthoringFault& Why)
    {
        const std::string_view Trimmed = Names::Trim(Text);
        const bool IsWhole = Row.Control == FieldControl::Integer;
        std::int64_t Whole = 0;
        double Real = 0;
        const bool IsRead = IsWhole ? Numbers::Read(Trimmed, Whole) : Numbers::ReadReal(Trimmed, Real) && std::isfinite(Real);
        if (!IsRead)
        {
            return WorkflowInspectorModelLocal::Refuse(
                Why, AuthoringReason::Grammar, Names::Shown(Text) + (IsWhole ? " is no whole number." : " is no number."));
        }
        if (!WorkflowInspectorModelLocal::IsWithin(Row, IsWhole ? static_cast<double>(Whole) : Real))
        {
            return WorkflowInspectorModelLocal::Refuse(
                Why, AuthoringReason::Grammar,
                std::string(Trimmed) + " is not between " + WorkflowInspectorModelLocal::Bound(Row.Least, "-\xE2\x88\x9E") + " and "
                    + WorkflowInspectorModelLocal::Bound(Row.Most, "\xE2\x88\x9E") + ".");
        }
        Json Value = IsWhole ? Json::Integer(Whole) : Json::Real(Real);
        // A number that is spelled otherwise is no edit.
        return (Row.Value && *Row.Value == Value) || SetIn(Row.Way, std::move(Value), "Change " + Row.Label, Why);
    });
}

bool WorkflowInspectorModel::SetJson(const FieldRow& Row, std::string_view Text)
{
    if (Text == JsonOf(Row))
    {
        return false;
    }
    return Try(Row.Path, [&](AuthoringFault& Why)
    {
        Json Value;
        std::string Reason;
        if (!Codec.Read(Text, Value, Reason))
        {
            return WorkflowInspectorModelLocal::Refuse(Why, AuthoringReason::Grammar, std::move(Reason));
        }
        return SetIn(Row.Way, std::move(Value), "Change " + Row.Label, Why);
    });
}

bool WorkflowInspectorModel::Clear(const FieldRow& Row)
{
    return Try(Row.Path, [&](AuthoringFault& Why)
    {
        return Change("Clear " + Row.Label, [&](Json& Root, AuthoringFault&)
        {
            JsonPlaces::Remove(Root, Row.Way);
            return true;
        }, Why);
    });
}

bool WorkflowInspectorModel::AddItem(const FieldRow& List)
{
    const std::size_t Count = List.Value ? List.Value->Items().size() : 0;
    return Try(List.Path, [&](AuthoringFault& Why)
    {
        // A list that is only a default is stored whole, with the new entry.
        Json Items = List.Value && List.Value->IsArray() ? *List.Value : Json::Array();
        if (List.Stored)
        {
            return SetIn(JsonPlaces::Under(List.Way, Count), List.NewItem, "Add to " + List.Label, Why);
        }
        Items.Add(List.NewItem);
        return SetIn(List.Way, std::move(Items), "Add to " + List.Label, Why);
    });
}

bool WorkflowInspectorModel::MoveItem(const FieldRow& Item, int By)
{
    return Try(Item.Path, [&](AuthoringFault& Why)
    {
        return Change("Move Entry", [&](Json& Root, AuthoringFault&)
        {
            Json* List = Item.Way.empty() ? nullptr : JsonPlaces::At(Root, Steps(Item.Way.begin(), Item.Way.end() - 1));
            if (List == nullptr || !List->IsArray() || !Item.Way.back().IsIndex)
            {
                return true;
            }
            std::vector<Json>& Items = List->Items();
            const std::size_t At = Item.Way.back().Index;
            const std::size_t To = At + static_cast<std::size_t>(By); // -1 wraps round to before the first
            if (At < Items.size() && To < Items.size())
            {
                std::swap(Items[At], Items[To]);
            }
            return true;
        }, Why);
    });
}

bool WorkflowInspectorModel::SetFile(const FieldRow& Row, std::string_view File, std::string_view StorageFolder)
{
    return Try(Row.Path, [&](AuthoringFault& Why)
    {
        if (StorageFolder.empty())
        {
            return WorkflowInspectorModelLocal::Refuse(
                Why, AuthoringReason::Grammar,
                "No storage folder is set; name one in Project Settings > Plugins > Parley, and put the file below it.");
        }
        const std::string Folder = std::string(StorageFolder) + (StorageFolder.back() == '/' ? "" : "/");
        if (!WorkflowInspectorModelLocal::StartsWith(File, Folder))
        {
            return WorkflowInspectorModelLocal::Refuse(
                Why, AuthoringReason::Grammar,
                "The file is not below the storage folder " + Folder + "; move it there: the sidecar reads no other.");
        }
        return SetIn(Row.Way, Json::String(std::string(File.substr(Folder.size()))), "Change " + Row.Label, Why);
    });
}

// ---- doing

/// Does an edit, or keeps why it was refused; whether the workflow changed.
bool WorkflowInspectorModel::Try(const std::string& Path, const Edit& Do)
{
    Refresh();
    Refusals.erase(Path);
    IsStale = true;
    const Json Before = Store.Get();
    AuthoringFault Why;
    Why.Text = Trouble;
    if (!Trouble.empty() || !Do(Why))
    {
        Refusals[Path] = Why.Text;
    }
    return !Authoring::IsSame(Store.Get(), Before);
}

bool WorkflowInspectorModel::Change(std::string_view Label, const Changer& Do, AuthoringFault& Why)
{
    bool IsChanged = false;
    return Editing.Change(Label, Do, IsChanged, Why);
}

bool WorkflowInspectorModel::SetIn(const Steps& Way, Json Value, const std::string& Label, AuthoringFault& Why)
{
    return Change(Label, [&](Json& Root, AuthoringFault& Inner)
    {
        Json* At = &Root;
        bool IsThere = true;
        for (std::size_t Index = 0; IsThere && Index + 1 < Way.size(); ++Index)
        {
            const Json* Next = JsonPlaces::Child(At, Way[Index]);
            if (Next == nullptr || Next->IsNull())
            {
                IsThere = JsonPlaces::Put(*At, Way[Index], Way[Index + 1].IsIndex ? Json::Array() : Json::Object());
            }
            At = JsonPlaces::Child(At, Way[Index]);
        }
        IsThere = IsThere && At != nullptr && JsonPlaces::Put(*At, Way.back(), std::move(Value));
        return IsThere
            || WorkflowInspectorModelLocal::Refuse(
                   Inner, AuthoringReason::NotAWorkflow,
                   "There is no place for " + JsonPlaces::PathOf(Way) + " in what is stored there; correct that first.");
    }, Why);
}

/// A node that is meant where its name is said: it has one, and is the first with it.
bool WorkflowInspectorModel::IsTheOne(std::size_t Index, const std::string& Name) const
{
    return !Name.empty() && Choices::IndexOf(Editing.Workflow(), Name) == static_cast<int>(Index);
}

const Json* WorkflowInspectorModel::NodeAt(std::size_t Index, AuthoringFault& Why) const
{
    const std::vector<Json>& Nodes = EditorJson::Items(&Editing.Workflow(), "nodes");
    if (Index < Nodes.size() && Nodes[Index].IsObject())
    {
        return &Nodes[Index];
    }
    WorkflowInspectorModelLocal::Refuse(
        Why, AuthoringReason::NotAWorkflow, "nodes[" + std::to_string(Index) + "] is no object; correct it as JSON first.");
    return nullptr;
}

// ---- rows

void WorkflowInspectorModel::Build()
{
    const auto Sources = std::make_shared<RowSources>(RowSources{Seen, Models, Refusals, &Codec});
    Rows.clear();
    NodeRows.clear();
    Loose.clear();
    if (!Trouble.empty())
    {
        return;
    }
    const RowBuilder Builder(Sources);
    Rows = Builder.Workflow();
    NodeRows = Builder.Nodes();
    for (const Finding& About : Found().All())
    {
        Place(About);
    }
}

void WorkflowInspectorModel::Place(const Finding& About)
{
    int Index = About.NodeIndex();
    if (Index < 0 && !About.NodeName.empty())
    {
        Index = Choices::IndexOf(Seen, About.NodeName);
    }
    if (Index >= 0 && static_cast<std::size_t>(Index) < NodeRows.size())
    {
        NodeRows[static_cast<std::size_t>(Index)].Tell(About);
        return;
    }
    FieldRow* Field = FieldRow::Deepest(Rows, About.Path);
    (Field == nullptr ? Loose : Field->Findings).push_back(About);
}

} // namespace Parley::Editor
