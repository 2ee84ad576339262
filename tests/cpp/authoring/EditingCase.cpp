// The body of EditingCase.h.
#include "EditingCase.h"

#include "Core/Editing/WorkflowEditing.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace Parley;

namespace
{

std::string TextAt(const Json& Step, std::size_t Index)
{
    return Index < Step.Items().size() && Step.Items()[Index].IsString() ? Step.Items()[Index].AsText() : std::string();
}

Json List(const std::vector<std::string>& Texts)
{
    Json Made = Json::Array();
    for (const std::string& Text : Texts)
    {
        Made.Add(Json::String(Text));
    }
    return Made;
}

class Desk : public IWorkflowPlace, public INodeNames, public IEditUndo
{
public:
    Desk(const Json& Given, const NodeKindMap& Kinds)
        : Flow(*Given.Find("workflow"))
        , Editing(*this, Kinds, *this)
    {
        for (const Json& Name : Given.Find("cast")->Items())
        {
            Cast.push_back(Name.AsText());
        }
        Editing.Followers().push_back(this);
    }

    Json Get() const override { return Flow; }
    void Set(const Json& Workflow) override { Flow = Workflow; }
    std::vector<std::string> Names() const override { return Cast; }
    void Rename(std::size_t Index, std::string_view Name) override { Cast[Index].assign(Name); }

    void Begin(std::string_view Label) override
    {
        Told.push_back("begin " + std::string(Label));
        Groups.emplace_back();
    }

    void Keep(IEditTarget& Target) override
    {
        const bool IsFlow = &Target == static_cast<IWorkflowPlace*>(this);
        Told.push_back(IsFlow ? "keep workflow" : "keep cast");
        Groups.back().push_back([this, IsFlow, Before = Flow, CastBefore = Cast] {
            if (IsFlow)
            {
                Flow = Before;
            }
            else
            {
                Cast = CastBefore;
            }
        });
    }

    void End() override { Told.push_back("end"); }

    Json Do(const Json& Step)
    {
        Told.clear();
        AuthoringFault Fault;
        if (!Edit(Step, Fault))
        {
            Told.push_back(std::string(Fault.ReasonName()) + ": " + Fault.Text);
        }
        Json Made = Json::Array();
        Made.Add(List(Told));
        Made.Add(Flow);
        Made.Add(List(Cast));
        return Made;
    }

private:
    bool Edit(const Json& Step, AuthoringFault& Fault)
    {
        const std::string What = TextAt(Step, 0), One = TextAt(Step, 1), Other = TextAt(Step, 2);
        AuthoringEdit Made;
        bool Changed = false;
        bool IsDone = true;
        if (What == "rename_node")
        {
            return Editing.RenameNode(One, Other, Made, Fault);
        }
        if (What == "rename_slot")
        {
            return Editing.RenameSlot(One, Other, Made, Fault);
        }
        if (What == "delete_node")
        {
            return Editing.DeleteNode(One, Made, Fault);
        }
        if (What == "begin")
        {
            return Editing.Begin(One, Fault);
        }
        if (What == "add_node")
        {
            std::string Name;
            IsDone = Editing.AddNode(One, Name, Fault);
            Told.push_back(Name);
            return IsDone;
        }
        if (What == "set")
        {
            std::int64_t Index = 0;
            Step.Items()[1].ToInt64(Index);
            IsDone = Step.Items().size() > 3
                ? Editing.SetField(static_cast<int>(Index), Other, Step.Items()[3], Changed, Fault)
                : Editing.EraseField(static_cast<int>(Index), Other, Changed, Fault);
        }
        else if (What == "set_deep")
        {
            Json Deep = Json::Array();
            for (int Depth = 0; Depth < 98; ++Depth)
            {
                Json Outer = Json::Array();
                Outer.Add(std::move(Deep));
                Deep = std::move(Outer);
            }
            IsDone = Editing.SetField(0, "filter", Deep, Changed, Fault);
        }
        else if (What == "commit")
        {
            IsDone = Editing.Commit(Changed, Fault);
        }
        else if (What == "cancel")
        {
            Editing.Cancel();
            return true;
        }
        else if (What == "elsewhere")
        {
            Flow = Step.Items()[1];
            return true;
        }
        else if (What == "undo")
        {
            for (auto Restore = Groups.back().rbegin(); Restore != Groups.back().rend(); ++Restore)
            {
                (*Restore)();
            }
            Groups.pop_back();
            return true;
        }
        else
        {
            Fault.Text = "no such step";
            return false;
        }
        if (IsDone)
        {
            Told.push_back(Changed ? "changed" : "as it was");
        }
        return IsDone;
    }

    Json Flow;
    std::vector<std::string> Cast;
    std::vector<std::string> Told;
    std::vector<std::vector<std::function<void()>>> Groups;
    WorkflowEditing Editing;
};

} // namespace

Json RunEditing(const Json& Given, const NodeKindMap& Kinds)
{
    Desk One(Given, Kinds);
    Json Told = Json::Array();
    for (const Json& Step : Given.Find("steps")->Items())
    {
        Told.Add(One.Do(Step));
    }
    return Told;
}
