// Does the edits of a file of cases and writes what came of them, for tests that compare it with the sidecar's own rules.
//
// authoring cases <file of cases, a JSON object> <file for the results> [<locale>]
// authoring tests [<part of a name>]: what needs no other side
#include "Checks.h"
#include "Core/Authoring/Authoring.h"
#include "Core/Authoring/Choices.h"
#include "Core/Authoring/Names.h"
#include "Core/Authoring/QuickValidation.h"
#include "Core/Authoring/WorkflowDocument.h"
#include "Core/Generated/Messages.h"
#include "EditingCase.h"
#include "NlohmannCodec.h"

#include <clocale>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace Parley;

namespace
{

const NlohmannCodec Codec;

std::string TextOf(const Json& Given, std::string_view Field)
{
    return Authoring::TextOf(Given, Field);
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

template <class Texts>
Json ListOf(const Texts& Given)
{
    return List(std::vector<std::string>(Given.begin(), Given.end()));
}

std::vector<std::string> TextsOf(const Json& Items)
{
    std::vector<std::string> Made;
    for (const Json& Item : Items.Items())
    {
        Made.push_back(Item.AsText());
    }
    return Made;
}

Json Refused(const AuthoringFault& Fault)
{
    Json Made = Json::Object();
    Made.Set("error", Json::String(std::string(Fault.ReasonName())));
    Made.Set("message", Json::String(Fault.Text));
    return Made;
}

Json Faulty(const std::string& Fault)
{
    Json Made = Json::Object();
    Made.Set("fault", Json::String(Fault));
    return Made;
}

NodeKindMap KindsOf(const Json& Set)
{
    NodeKindMap Kinds;
    for (const JsonMember& Given : Set.Members())
    {
        const std::vector<std::string> Templates = TextsOf(*Given.Value.Find("template_fields"));
        const std::vector<std::string> Inputs = TextsOf(*Given.Value.Find("input_fields"));
        NodeKind Kind;
        Kind.Produces = Given.Value.Find("produces")->AsBoolean();
        Kind.TemplateFields = {Templates.begin(), Templates.end()};
        Kind.InputFields = {Inputs.begin(), Inputs.end()};
        Kind.TagFamily = TextOf(Given.Value, "tag_family");
        Kind.TagNameField = TextOf(Given.Value, "tag_name_field");
        Kinds[Given.Name] = Kind;
    }
    return Kinds;
}

Json Described(const NodeKindMap& Kinds)
{
    Json Told = Json::Object();
    for (const auto& [Name, Kind] : Kinds)
    {
        Json Facts = Json::Object();
        Facts.Set("produces", Json::Boolean(Kind.Produces));
        Facts.Set("template_fields", ListOf(Kind.TemplateFields));
        Facts.Set("input_fields", ListOf(Kind.InputFields));
        Facts.Set("tag_family", Json::String(Kind.TagFamily));
        Facts.Set("tag_name_field", Json::String(Kind.TagNameField));
        Told.Set(Name, std::move(Facts));
    }
    return Told;
}

Json Told(const AuthoringEdit& Edit, const Json& Given)
{
    Json Made = Json::Object();
    Made.Set("workflow", Edit.Workflow);
    Made.Set("to", Json::String(Edit.To));
    Made.Set("flagged", List(Edit.Flagged));
    if (const Json* Cast = Given.Find("cast"))
    {
        Made.Set("cast", List(Edit.Follow(TextsOf(*Cast))));
    }
    return Made;
}

Json Told(const ChoiceList& Choices)
{
    Json Items = Json::Array();
    for (const Choice& One : Choices.Items)
    {
        Items.Add(Json::Array({Json::String(One.Value), Json::String(One.Label), Json::Boolean(One.IsMissing)}));
    }
    Json Made = Json::Object();
    Made.Set("items", std::move(Items));
    Made.Set("selected", Json::Integer(Choices.Selected));
    return Made;
}

Json Told(const Findings& Found)
{
    Json Made = Json::Array();
    for (const Finding& One : Found.All())
    {
        Json Facts = Json::Object();
        Facts.Set("severity", Json::String(One.IsError ? "error" : "warning"));
        Facts.Set("code", Json::Integer(static_cast<int>(One.Code)));
        Facts.Set("node_name", Json::String(One.NodeName));
        Facts.Set("field", Json::String(One.Field));
        Facts.Set("path", Json::String(One.Path));
        Facts.Set("message", Json::String(One.Message));
        Made.Add(std::move(Facts));
    }
    return Made;
}

Json Messages(const std::vector<Finding>& Found)
{
    Json Made = Json::Array();
    for (const Finding& One : Found)
    {
        Made.Add(Json::String(One.Message));
    }
    return Made;
}

Json Grouped(const Json& Reply)
{
    Parley::Messages::Validation Read;
    std::string Fault;
    if (!Parley::Messages::Validation::FromJson(Reply, Read, Fault))
    {
        return Faulty(Fault);
    }
    const Findings Found = Findings::Of(Read);
    Json Nodes = Json::Array();
    for (const NodeFindings& Node : Found.Nodes())
    {
        Json Fields = Json::Object();
        for (const FieldFindings& Field : Node.Fields)
        {
            Fields.Set(Field.Field, Messages(Field.Items));
        }
        Nodes.Add(Json::Array(
            {Json::Integer(Node.NodeIndex), Json::String(Node.NodeName), Json::Boolean(Node.HasError), Fields}));
    }
    Json Made = Json::Object();
    Made.Set("nodes", std::move(Nodes));
    Made.Set("order", Messages(Found.All()));
    Made.Set("counts", Json::Array({Json::Integer(Found.ErrorCount()), Json::Integer(Found.WarningCount())}));
    Made.Set("field", Messages(Found.OfField(1, "b")));
    Made.Set("nothing", Messages(Found.OfField(9, "b")));
    return Made;
}

/// Reads a text, edits it where it is told how, and writes it.
Json Trip(const Json& Given, const NodeKindMap& Kinds)
{
    WorkflowDocument Document;
    std::string Fault;
    if (!WorkflowDocument::Parse(Codec, TextOf(Given, "text"), Document, Fault))
    {
        return Faulty(Fault);
    }
    const std::string Node = TextOf(Given, "node");
    AuthoringEdit Edit;
    AuthoringFault Refusal;
    if (!Node.empty())
    {
        const bool IsDone = Given.Find("to") != nullptr
            ? Authoring::RenameNode(Document.Root, Node, TextOf(Given, "to"), Kinds, Edit, Refusal)
            : Authoring::DeleteNode(Document.Root, Node, Kinds, Edit, Refusal);
        if (!IsDone)
        {
            return Refused(Refusal);
        }
        Document.Root = Edit.Workflow;
    }
    return Json::String(Document.ToText(Codec));
}

/// A file as its bytes, each as a character of Latin-1.
Json Read(const Json& Given)
{
    std::string Bytes;
    for (const Json& Byte : Given.Find("data")->Items())
    {
        std::int64_t Value = 0;
        Byte.ToInt64(Value);
        Bytes.push_back(static_cast<char>(Value));
    }
    std::int64_t More = 0;
    if (const Json* Repeated = Given.Find("more"))
    {
        Repeated->ToInt64(More);
        Bytes.append(static_cast<std::size_t>(More), ' ');
    }
    WorkflowDocument Document;
    std::string Fault;
    if (!WorkflowDocument::Parse(Codec, Bytes, Document, Fault))
    {
        return Faulty(Fault);
    }
    return Json::Boolean(Document.ToText(Codec) == Bytes);
}

Json Load(const Json& Given)
{
    WorkflowDocument Document;
    std::string Fault;
    return WorkflowDocument::Load(Codec, TextOf(Given, "path"), Document, Fault)
        ? Json::String(Document.ToText(Codec))
        : Faulty(Fault);
}

/// Over what is there, with its line ends and indentation, where there is something.
Json Save(const Json& Given)
{
    const std::string Path = TextOf(Given, "path");
    WorkflowDocument Document;
    std::string Fault;
    WorkflowDocument::Load(Codec, Path, Document, Fault);
    Document.Root = *Given.Find("workflow");
    bool Written = false;
    return Document.Save(Codec, Path, Written, Fault) ? Json::Boolean(Written) : Faulty(Fault);
}

Json Edited(const Json& Given, const Json& Flow, const NodeKindMap& Kinds)
{
    const std::string What = TextOf(Given, "op"), Node = TextOf(Given, "node"), To = TextOf(Given, "to");
    const Json* Field = Given.Find("stored");
    const Json Stored = Field != nullptr ? *Field : Json();
    AuthoringEdit Edit;
    AuthoringFault Fault;
    std::string Name;
    if (What == "check_name")
    {
        const bool IsName = Names::Check(To, Name, Fault);
        Checks::That(Names::IsName(To) == (IsName && Name == To), "IsName says otherwise of " + To);
        return IsName ? Json::String(Name) : Refused(Fault);
    }
    if (What == "unique")
    {
        const std::vector<std::string> Taken = TextsOf(*Given.Find("taken"));
        return Json::String(Names::Unique(To, {Taken.begin(), Taken.end()}));
    }
    if (What == "slot")
    {
        const std::optional<std::string> Slot = Authoring::SlotOf(Flow, Kinds);
        return Slot ? Json::String(*Slot) : Json();
    }
    if (What == "inputs")
    {
        std::vector<std::string> Inputs;
        return Authoring::InputChoices(Flow, Node, Kinds, Inputs, Fault) ? List(Inputs) : Refused(Fault);
    }
    if (What == "rename_node")
    {
        return Authoring::RenameNode(Flow, Node, To, Kinds, Edit, Fault) ? Told(Edit, Given) : Refused(Fault);
    }
    if (What == "rename_slot")
    {
        return Authoring::RenameSlot(Flow, Node, To, Kinds, Edit, Fault) ? Told(Edit, Given) : Refused(Fault);
    }
    if (What == "delete_node")
    {
        return Authoring::DeleteNode(Flow, Node, Kinds, Edit, Fault) ? Told(Edit, Given) : Refused(Fault);
    }
    if (What == "input_choices")
    {
        return Told(Choices::InputsOf(Flow, Node, Kinds));
    }
    if (What == "exit_choices")
    {
        return Told(Choices::Exits(Flow, Stored, Given.Find("end") == nullptr));
    }
    if (What == "variable_choices")
    {
        return Told(Choices::Variables(Flow, Stored));
    }
    if (What == "validate")
    {
        return Told(QuickValidation::Check(Flow));
    }
    if (What == "group")
    {
        return Grouped(*Given.Find("reply"));
    }
    if (What == "packaged")
    {
        return Described(NodeKinds::Packaged());
    }
    if (What == "editing")
    {
        return RunEditing(Given, Kinds);
    }
    if (What == "trip" || What == "edit_text")
    {
        return Trip(Given, Kinds);
    }
    if (What == "read")
    {
        return Read(Given);
    }
    if (What == "load")
    {
        return Load(Given);
    }
    if (What == "save")
    {
        return Save(Given);
    }
    return Faulty("there is no op " + What);
}

int RunCases(const char* From, const char* Into)
{
    std::ifstream Source(From, std::ios::binary);
    const std::string Text{std::istreambuf_iterator<char>(Source), std::istreambuf_iterator<char>()};
    Json File;
    std::string Fault;
    if (!Codec.Read(Text, File, Fault))
    {
        std::cerr << From << ": " << Fault << "\n";
        return 2;
    }
    std::map<std::string, NodeKindMap> Sets;
    for (const JsonMember& Set : File.Find("kinds")->Members())
    {
        Sets[Set.Name] = KindsOf(Set.Value);
    }
    Json Results = Json::Array();
    for (const Json& Given : File.Find("cases")->Items())
    {
        const Json* Flow = Given.Find("workflow");
        const Json Before = Flow != nullptr ? *Flow : Json();
        Json Result = Edited(Given, Before, Sets[TextOf(Given, "kinds")]);
        Checks::That(
            Flow == nullptr || Authoring::IsSame(*Flow, Before), "the workflow that was edited is another now");
        Results.Add(std::move(Result));
    }
    std::ofstream(Into, std::ios::binary) << Codec.Write(Results);
    return 0;
}

} // namespace

int main(int Count, char** Arguments)
{
    const std::string What = Count > 1 ? Arguments[1] : "";
    if (What == "tests")
    {
        return Checks::RunAll(Count > 2 ? Arguments[2] : "") == 0 ? 0 : 1;
    }
    if (What == "cases" && Count >= 4)
    {
        std::setlocale(LC_ALL, Count > 4 ? Arguments[4] : "C");
        return RunCases(Arguments[2], Arguments[3]);
    }
    std::cerr << "say cases or tests\n";
    return 2;
}
