// The bodies of QuickValidation.h.
#include "Core/Authoring/QuickValidation.h"

#include "Core/Authoring/Authoring.h"
#include "Core/Authoring/Names.h"
#include "Core/Authoring/ParamChecks.h"
#include "Core/CodePoints.h"
#include "Core/Generated/NodeTypes.h"
#include "Core/Generated/Protocol.h"
#include "Core/Numbers.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace Parley::QuickValidationLocal
{

constexpr std::string_view WorkflowFields[] = {
    "version", "start_node", "default_model", "player_name", "variables", "nodes"};
constexpr std::string_view VariableFields[] = {"name", "type", "value"};
constexpr std::string_view VariableTypes[] = {"int", "float", "string", "bool", "string_set"};
constexpr std::size_t LongestPlayerName = 200;

template <class List>
bool Contains(const List& Texts, std::string_view Text) noexcept
{
    return std::find(std::begin(Texts), std::end(Texts), Text) != std::end(Texts);
}

const std::string& TextOf(const Json* Value) noexcept
{
    static const std::string Nothing;
    return Value != nullptr && Value->IsString() ? Value->AsText() : Nothing;
}

const Json& ValueOf(const Json* Value) noexcept
{
    static const Json Null;
    return Value != nullptr ? *Value : Null;
}

bool IsOf(std::string_view Type, const Json& Value)
{
    if (Type == "int")
    {
        return ParamChecks::IsWhole(Value);
    }
    if (Type == "float")
    {
        return Value.IsNumber();
    }
    if (Type == "string")
    {
        return Value.IsString();
    }
    if (Type == "bool")
    {
        return Value.IsBoolean();
    }
    const auto IsText = [](const Json& Item) { return Item.IsString(); };
    return Value.IsArray() && std::all_of(Value.Items().begin(), Value.Items().end(), IsText);
}

struct Draft
{
    std::size_t Index = 0;
    const Json* Raw = nullptr;
    std::string Name;
    const NodeType* Type = nullptr;
    /// The sidecar may know the type.
    bool MayBeInstalled = false;
    std::string Slot;
    std::set<std::string_view> Faulty;
};

/// One validation of one workflow.
class Validation
{
public:
    explicit Validation(const std::vector<NodeType>& InTypes)
        : Types(InTypes)
    {
    }

    Findings Run(const Json& Workflow)
    {
        if (!Workflow.IsObject())
        {
            Report("a workflow is a JSON object, not " + ParamChecks::Shown(Workflow), nullptr, "");
        }
        else if (CheckVersion(Workflow))
        {
            CheckAll(Workflow);
        }
        return Findings(std::move(Found));
    }

private:
    void CheckAll(const Json& Workflow)
    {
        for (const JsonMember& Field : Workflow.Members())
        {
            if (!Contains(WorkflowFields, Field.Name))
            {
                Report(
                    "unknown field " + Names::Shown(Field.Name)
                        + "; known: version, start_node, default_model, player_name, variables, nodes",
                    nullptr,
                    Field.Name);
            }
        }
        const std::string DefaultModel = CheckText(Workflow, "default_model");
        if (CodePoints::Count(CheckText(Workflow, "player_name")) > LongestPlayerName)
        {
            Report("player_name is longer than 200 characters", nullptr, "player_name", ErrorCode::InvalidValue);
        }
        CheckVariables(Workflow.Find("variables"));
        MakeDrafts(Workflow.Find("nodes"));
        const std::string Start = CheckStart(Workflow);
        CheckExits();
        CheckModels(DefaultModel);
        CheckVoices();
        CheckInputs();
        CheckReachable(Start);
    }

    // ---- The workflow itself

    bool CheckVersion(const Json& Workflow)
    {
        const Json* Version = Workflow.Find("version");
        if (Version == nullptr)
        {
            return true;
        }
        const std::string Known = Numbers::Of(Protocol::WorkflowVersion);
        if (!ParamChecks::IsWhole(*Version) || ParamChecks::NumberOf(*Version) < 1)
        {
            Report(
                "version must be " + Known + ", not " + ParamChecks::Shown(*Version),
                nullptr,
                "version",
                ErrorCode::InvalidValue);
            return true;
        }
        if (ParamChecks::NumberOf(*Version) > Protocol::WorkflowVersion)
        {
            Report(
                "this workflow is of version " + ParamChecks::Shown(*Version) + "; this plugin knows version " + Known
                    + ": update Parley",
                nullptr,
                "version");
            return false;
        }
        return true;
    }

    std::string CheckText(const Json& Workflow, const char* Field)
    {
        const Json* Value = Workflow.Find(Field);
        if (Value != nullptr && !Value->IsString())
        {
            Report(std::string(Field) + " must be a text, not " + ParamChecks::Shown(*Value), nullptr, Field);
        }
        return TextOf(Value);
    }

    void CheckVariables(const Json* Variables)
    {
        if (Variables == nullptr)
        {
            return;
        }
        if (!Variables->IsArray())
        {
            Report("variables must be a list, not " + ParamChecks::Shown(*Variables), nullptr, "variables");
        }
        std::set<std::string> Declared;
        for (std::size_t Index = 0; Index < Variables->Items().size(); ++Index)
        {
            CheckVariable(Variables->Items()[Index], "variables[" + Numbers::Of(Index) + "]", Declared);
        }
    }

    void CheckVariable(const Json& Item, const std::string& Place, std::set<std::string>& Declared)
    {
        constexpr const char* Field = "variables";
        if (!Item.IsObject())
        {
            Report(
                "a variable is an object with name, type and value, not " + ParamChecks::Shown(Item),
                nullptr,
                Field,
                ErrorCode::WorkflowInvalid,
                Place);
            return;
        }
        for (const JsonMember& Given : Item.Members())
        {
            if (!Contains(VariableFields, Given.Name))
            {
                Report(
                    "unknown field " + Names::Shown(Given.Name) + "; known: name, type, value",
                    nullptr,
                    Field,
                    ErrorCode::WorkflowInvalid,
                    Place + "." + ParamChecks::Cut(Given.Name));
            }
        }
        std::string Name = CheckName(ValueOf(Item.Find("name")), nullptr, Field, Place + ".name");
        const std::string& Type = Authoring::TextOf(Item, "type");
        if (!Contains(VariableTypes, Type))
        {
            Report(
                "type must be int, float, string, bool or string_set, not " + ParamChecks::Shown(ValueOf(Item.Find("type"))),
                nullptr,
                Field,
                ErrorCode::InvalidValue,
                Place + ".type");
            return;
        }
        const Json* Value = Item.Find("value");
        if (Value == nullptr)
        {
            Report("a variable needs a value", nullptr, Field, ErrorCode::WorkflowInvalid, Place + ".value");
            return;
        }
        if (!IsOf(Type, *Value))
        {
            Report(
                ParamChecks::Shown(*Value) + " must be "
                    + (Type == "string_set" ? "a list of texts" : "of type " + Type),
                nullptr,
                Field,
                ErrorCode::InvalidValue,
                Place + ".value");
            return;
        }
        if (!Name.empty() && !Declared.insert(Name).second)
        {
            Report(
                "the variable '" + Name + "' is declared twice",
                nullptr,
                Field,
                ErrorCode::WorkflowInvalid,
                Place + ".name");
        }
    }

    std::string CheckStart(const Json& Workflow)
    {
        std::string Start = CheckText(Workflow, "start_node");
        const Json* Given = Workflow.Find("start_node");
        const auto IsIt = [&](const Draft& One) { return One.Name == Start; };
        if (Start.empty())
        {
            if (Given == nullptr || Given->IsString())
            {
                Report("a workflow needs a start_node", nullptr, "start_node");
            }
        }
        else if (!Drafts.empty() && std::none_of(Drafts.begin(), Drafts.end(), IsIt))
        {
            Report("start_node names no node: " + Names::Shown(Start), nullptr, "start_node");
        }
        return Start;
    }

    // ---- Each node

    void MakeDrafts(const Json* Nodes)
    {
        if (Nodes == nullptr || !Nodes->IsArray())
        {
            const bool IsMissing = Nodes == nullptr || Nodes->IsNull();
            Report(
                IsMissing ? "a workflow needs nodes" : "nodes must be a list, not " + ParamChecks::Shown(*Nodes),
                nullptr,
                "nodes");
            return;
        }
        const std::vector<Json>& Items = Nodes->Items();
        if (Items.empty())
        {
            Report("a workflow needs at least one node", nullptr, "nodes");
        }
        if (Items.size() > static_cast<std::size_t>(Protocol::MaxNodes))
        {
            Report(
                Numbers::Of(Items.size())
                    + " nodes are more than a sidecar allows that was not set up otherwise (max_nodes "
                    + Numbers::Of(Protocol::MaxNodes) + ")",
                nullptr,
                "nodes",
                ErrorCode::LimitExceeded,
                "",
                false);
            return;
        }
        Drafts.reserve(Items.size());
        std::map<std::string, std::size_t> First;
        for (const Json& Item : Items)
        {
            Draft& Made = Drafts.emplace_back();
            Made.Index = Drafts.size() - 1;
            Made.Raw = &Item;
            if (!Item.IsObject())
            {
                Report("a node is a JSON object, not " + ParamChecks::Shown(Item), &Made, "");
                continue;
            }
            const Json* Name = Item.Find("name");
            Made.Name = CheckName(Name != nullptr ? *Name : Json::String(""), &Made, "name", "name");
            if (!Made.Name.empty())
            {
                const auto [Other, IsNew] = First.emplace(Made.Name, Made.Index);
                if (!IsNew)
                {
                    Report(
                        "two nodes are called '" + Made.Name + "'; the other is $.nodes[" + Numbers::Of(Other->second)
                            + "]",
                        &Made,
                        "name");
                }
            }
            CheckParameters(Made);
        }
    }

    void CheckParameters(Draft& Node)
    {
        const Json* Type = Node.Raw->Find("type");
        const auto IsIt = [&](const NodeType& Known) { return Known.Name == TextOf(Type); };
        const auto Known = std::find_if(Types.begin(), Types.end(), IsIt);
        if (Known == Types.end())
        {
            CheckUnknown(Node, Type);
            return;
        }
        Node.Type = &*Known;
        for (const JsonMember& Field : Node.Raw->Members())
        {
            if (Field.Name != "type" && Known->Param(Field.Name) == nullptr)
            {
                Report(
                    std::string(Known->Name) + " has no parameter " + Names::Shown(Field.Name), &Node, Field.Name);
            }
        }
        for (const NodeParam& Param : Known->Params)
        {
            CheckParameter(Node, Param, Node.Raw->Find(Param.Name));
        }
        const std::vector<std::string_view> Outputs = Known->FieldsOf(ParamKind::SlotOutput);
        if (!Outputs.empty())
        {
            const std::string& Output = Authoring::TextOf(*Node.Raw, Outputs.front());
            Node.Slot = Output.empty() ? Node.Name : Output;
        }
    }

    void CheckUnknown(Draft& Node, const Json* Type)
    {
        Node.MayBeInstalled = Type != nullptr && Type->IsString();
        Report(
            Type == nullptr ? "a node needs a type"
                            : "unknown node type " + ParamChecks::Shown(*Type)
                    + (Node.MayBeInstalled ? "; the sidecar may know it" : ""),
            &Node,
            "type",
            ErrorCode::WorkflowInvalid,
            "",
            !Node.MayBeInstalled);
        const std::string& Output = Authoring::TextOf(*Node.Raw, "output_name");
        Node.Slot = !Output.empty() || Node.Raw->Find("output_name") == nullptr ? Output : Node.Name;
    }

    void CheckParameter(Draft& Node, const NodeParam& Param, const Json* Value)
    {
        if (Param.Name == "name")
        {
            return;
        }
        const std::string Field(Param.Name);
        if (Value == nullptr)
        {
            if (Param.IsRequired)
            {
                Report("it is needed, and missing", &Node, Field);
            }
            return;
        }
        ParamChecks::Check(
            Param, *Value, Field, [&](std::string Message, ErrorCode Code, const std::string& Place) {
                Node.Faulty.insert(Param.Name);
                Report(std::move(Message), &Node, Field, Code, Place);
            });
        const bool IsName = Param.Kind == ParamKind::Name || Param.Kind == ParamKind::SlotOutput;
        if (IsName && !TextOf(Value).empty())
        {
            CheckName(*Value, &Node, Field, Field);
        }
    }

    /// The name, or empty with a finding.
    std::string CheckName(const Json& Value, const Draft* Node, const std::string& Field, const std::string& Place)
    {
        std::string Wrong;
        if (!Value.IsString())
        {
            Wrong = "a name must be a text, not " + ParamChecks::Shown(Value);
        }
        else
        {
            std::string Name;
            AuthoringFault Fault;
            if (!Names::Check(Value.AsText(), Name, Fault))
            {
                Wrong = std::move(Fault.Text);
            }
            else if (Name == Value.AsText())
            {
                return Name;
            }
            else
            {
                Wrong = Names::Shown(Value.AsText()) + " has white space around it; remove it.";
            }
        }
        Report(std::move(Wrong), Node, Field, ErrorCode::WorkflowInvalid, Place);
        return std::string();
    }

    // ---- How they hang together

    template <class Visit>
    static void EachExit(const Draft& Node, const Visit& Tell)
    {
        for (const JsonMember& Field : Node.Raw->Members())
        {
            const auto IsIt = [&](const NodeExit& Exit) { return Exit.Field == Field.Name; };
            const bool IsKnown = Node.Type == nullptr
                || std::any_of(Node.Type->Exits.begin(), Node.Type->Exits.end(), IsIt);
            if (Authoring::IsExit(Field.Name) && IsKnown)
            {
                Tell(Field.Name, TextOf(&Field.Value));
            }
        }
    }

    void CheckExits()
    {
        std::set<std::string_view> Known;
        for (const Draft& Node : Drafts)
        {
            Known.insert(Node.Name);
        }
        for (const Draft& Node : Drafts)
        {
            EachExit(Node, [&](const std::string& Field, const std::string& Target) {
                if (!Target.empty() && Known.find(Target) == Known.end())
                {
                    Report(
                        Field + " names no node: " + Names::Shown(Target) + " (empty ends the turn)",
                        &Node,
                        Field,
                        ErrorCode::InvalidExitTarget);
                }
            });
        }
    }

    void CheckModels(const std::string& DefaultModel)
    {
        for (const Draft& Node : Drafts)
        {
            if (Node.Type == nullptr || !Node.Type->UsesModel)
            {
                continue;
            }
            if (DefaultModel.empty() && Authoring::TextOf(*Node.Raw, "model").empty())
            {
                Report("the node names no model and the workflow has no default_model", &Node, "model");
            }
            const double Window = WholeOf(Node, "context_size"), Longest = WholeOf(Node, "max_tokens");
            if (Window > 0 && Longest >= Window)
            {
                Report(
                    "max_tokens " + ParamChecks::Digits(Longest) + " must be below the context_size "
                        + ParamChecks::Digits(Window),
                    &Node,
                    "max_tokens",
                    ErrorCode::InvalidValue);
            }
        }
    }

    void CheckVoices()
    {
        for (const Draft& Node : Drafts)
        {
            if (Node.Type == nullptr)
            {
                continue;
            }
            for (const std::string_view Field : Node.Type->FieldsOf(ParamKind::Voice))
            {
                if (Authoring::TextOf(*Node.Raw, Field).empty())
                {
                    Report("the node names no voice", &Node, std::string(Field), ErrorCode::ModelNotFound);
                }
            }
        }
    }

    static double WholeOf(const Draft& Node, std::string_view Field)
    {
        const NodeParam* Param = Node.Type->Param(Field);
        const Json* Given = Node.Raw->Find(Field);
        if (Given == nullptr || Node.Faulty.find(Field) != Node.Faulty.end())
        {
            Given = Param == nullptr ? nullptr : &Param->Default;
        }
        return Given != nullptr && ParamChecks::IsWhole(*Given) ? ParamChecks::NumberOf(*Given) : 0;
    }

    void CheckInputs()
    {
        std::set<std::string_view> Written{"", Names::Reserved};
        // A type that is not known here may write any slot.
        bool IsSure = true;
        for (const Draft& Node : Drafts)
        {
            Written.insert(Node.Slot);
            IsSure = IsSure && !Node.MayBeInstalled;
        }
        for (const Draft& Node : Drafts)
        {
            if (Node.Type == nullptr)
            {
                continue;
            }
            for (const std::string_view Field : Node.Type->FieldsOf(ParamKind::SlotInput))
            {
                const std::string& Slot = Authoring::TextOf(*Node.Raw, Field);
                if (Written.find(Slot) == Written.end())
                {
                    Report(
                        "no node writes the slot " + Names::Shown(Slot),
                        &Node,
                        std::string(Field),
                        ErrorCode::WorkflowInvalid,
                        "",
                        IsSure);
                }
            }
        }
    }

    void CheckReachable(const std::string& Start)
    {
        std::map<std::string_view, std::vector<std::string_view>> Exits;
        for (const Draft& Node : Drafts)
        {
            if (!Node.Name.empty())
            {
                std::vector<std::string_view>& Targets = Exits[Node.Name];
                Targets.clear();
                EachExit(Node, [&](const std::string&, const std::string& Target) { Targets.push_back(Target); });
            }
        }
        if (Exits.find(Start) == Exits.end())
        {
            return;
        }
        std::set<std::string_view> Reached;
        std::vector<std::string_view> Waiting{Start};
        while (!Waiting.empty())
        {
            const auto Next = Exits.find(Waiting.back());
            Waiting.pop_back();
            if (Next != Exits.end() && Reached.insert(Next->first).second)
            {
                Waiting.insert(Waiting.end(), Next->second.begin(), Next->second.end());
            }
        }
        for (const Draft& Node : Drafts)
        {
            if (!Node.Name.empty() && Reached.find(Node.Name) == Reached.end())
            {
                Report(
                    "no exit leads from '" + Start + "' to this node",
                    &Node,
                    "name",
                    ErrorCode::WorkflowInvalid,
                    "",
                    false);
            }
        }
    }

    void Report(
        std::string Message,
        const Draft* Node,
        const std::string& Field,
        ErrorCode Code = ErrorCode::WorkflowInvalid,
        const std::string& Place = "",
        bool IsError = true)
    {
        const std::string Root = Node == nullptr ? "$" : "$.nodes[" + Numbers::Of(Node->Index) + "]";
        const std::string Where = Place.empty() ? ParamChecks::Cut(Field) : Place;
        Finding Made;
        Made.IsError = IsError;
        Made.Code = Code;
        Made.Message = std::move(Message);
        Made.Path = ParamChecks::Cut(Where.empty() ? Root : Root + "." + Where);
        Made.NodeName = Node == nullptr ? std::string() : Node->Name;
        Made.Field = ParamChecks::Cut(Field);
        Found.push_back(std::move(Made));
    }

    const std::vector<NodeType>& Types;
    std::vector<Finding> Found;
    std::vector<Draft> Drafts;
};

} // namespace Parley::QuickValidationLocal

namespace Parley::QuickValidation
{

Findings Check(const Json& Workflow)
{
    return Check(Workflow, NodeTypes::All());
}

Findings Check(const Json& Workflow, const std::vector<NodeType>& Types)
{
    return QuickValidationLocal::Validation(Types).Run(Workflow);
}

} // namespace Parley::QuickValidation
