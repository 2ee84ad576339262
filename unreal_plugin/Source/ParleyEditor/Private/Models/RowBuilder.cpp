// Makes the rows of an inspector out of a workflow's JSON and the descriptions of its node types.
#include "RowBuilder.h"

#include "EditorJson.h"

#include "Core/Authoring/Authoring.h"
#include "Core/Authoring/NodeKind.h"
#include "Core/Generated/NodeTypes.h"

#include <algorithm>
#include <set>

namespace Parley::Editor
{

namespace RowBuilderLocal
{

const std::vector<std::string> VariableTypes = {"int", "float", "string", "bool", "string_set"};

void AsJson(FieldRow& Row, const char* Fault)
{
    Row.Control = FieldControl::Json;
    Row.Fault = Fault;
}

/// Leaves the control as it is where nothing is stored, or what is wanted.
void Check(FieldRow& Row, FieldControl Control, Json::Kind Wanted, const char* Fault)
{
    Row.Control = Control;
    if (Row.Stored && Row.Stored->GetKind() != Wanted)
    {
        AsJson(Row, Fault);
    }
}

void CheckText(FieldRow& Row)
{
    Check(Row, FieldControl::Text, Json::Kind::String, "must be a text");
}

void CheckFlag(FieldRow& Row)
{
    Check(Row, FieldControl::Boolean, Json::Kind::Boolean, "must be true or false");
}

void CheckWhole(FieldRow& Row)
{
    Row.Control = FieldControl::Integer;
    if (Row.Stored && !EditorJson::IsWhole(*Row.Stored))
    {
        AsJson(Row, "must be a whole number");
    }
}

void CheckNumber(FieldRow& Row)
{
    Row.Control = FieldControl::Number;
    double Ignored = 0;
    if (Row.Stored && !EditorJson::TryNumber(*Row.Stored, Ignored))
    {
        AsJson(Row, "must be a number");
    }
}

void Choose(FieldRow& Row, Dropdown Choices)
{
    Row.Control = FieldControl::Dropdown;
    Row.Choices = std::move(Choices);
    Row.Fault.clear();
    Row.IsOptional = false;
}

const Json& Stored(const Json* Value)
{
    static const Json Nothing;
    return Value == nullptr ? Nothing : *Value;
}

Json NewItem(const NodeParam& Item)
{
    switch (Item.Type)
    {
    case ParamType::Text:
        return Json::String("");
    case ParamType::Boolean:
        return Json::Boolean(false);
    case ParamType::Integer:
        return Json::Integer(static_cast<std::int64_t>(Item.Least.value_or(0)));
    case ParamType::Number:
        return Json::Real(Item.Least.value_or(0));
    case ParamType::Choice:
        return Json::String(std::string(Item.Choices.front()));
    case ParamType::List:
        return Json::Array();
    default:
        break;
    }
    Json Record = Json::Object();
    for (const NodeParam& Field : Item.Fields)
    {
        if (Item.Type == ParamType::Record && Field.IsRequired)
        {
            Record.Set(Field.Name, NewItem(Field));
        }
    }
    return Record;
}

Json NewVariable()
{
    Json Made = Json::Object();
    Made.Set("name", Json::String("variable"));
    Made.Set("type", Json::String("int"));
    Made.Set("value", Json::Integer(0));
    return Made;
}

} // namespace RowBuilderLocal

RowBuilder::RowBuilder(std::shared_ptr<const RowSources> InSources)
    : Sources(std::move(InSources)), Root(Sources->Root), DefaultModel(EditorJson::Text(&Root, "default_model"))
{
}

// ---- the workflow itself

std::vector<FieldRow> RowBuilder::Workflow() const
{
    std::vector<FieldRow> Rows;
    FieldRow Start = Row({"start_node"}, "start_node", "The node that a turn begins with.");
    Start.Control = FieldControl::Dropdown;
    Start.Choices = Dropdown::Of(Choices::Exits(Root, RowBuilderLocal::Stored(Root.Find("start_node")), false));
    Rows.push_back(std::move(Start));
    FieldRow Model = Row({"default_model"}, "default_model", "Model of nodes that name none.");
    ModelChoices(Model, "language", "(none)");
    Rows.push_back(std::move(Model));
    FieldRow Player = Row({"player_name"}, "player_name", "The player's label in scripts (transcript format).");
    RowBuilderLocal::CheckText(Player);
    Player.Value = Player.Stored ? Player.Stored : Json::String("Player");
    Rows.push_back(std::move(Player));
    Rows.push_back(Variables());
    static const std::set<std::string> Known = {"version", "nodes", "start_node", "default_model", "player_name", "variables"};
    for (const JsonMember& Field : Root.Members())
    {
        if (Known.count(Field.Name) == 0)
        {
            Rows.push_back(Unknown({Field.Name}, Field.Name));
        }
    }
    const Json* Nodes = Root.Find("nodes");
    if (Nodes != nullptr && !Nodes->IsArray())
    {
        Rows.push_back(Unknown({"nodes"}, "nodes"));
        Rows.back().Fault = "must be a list of nodes";
    }
    return Rows;
}

FieldRow RowBuilder::Variables() const
{
    FieldRow List = Row({"variables"}, "variables", "What the game lets templates and filters read.");
    RowBuilderLocal::Check(List, FieldControl::List, Json::Kind::Array, "must be a list");
    List.NewItem = RowBuilderLocal::NewVariable();
    const std::vector<Json>& Items = EditorJson::Items(&Root, "variables");
    for (std::size_t At = 0; At < Items.size(); ++At)
    {
        List.Children.push_back(Variable(At, Items[At]));
    }
    return List;
}

FieldRow RowBuilder::Variable(std::size_t At, const Json& Item) const
{
    const Steps Way = {"variables", At};
    FieldRow Record = Row(Way, Item.IsObject() ? EditorJson::Text(&Item, "name") : std::to_string(At), "");
    RowBuilderLocal::Check(Record, FieldControl::Record, Json::Kind::Object, "must be an object");
    if (!Item.IsObject())
    {
        return Record;
    }
    FieldRow Name = Row(JsonPlaces::Under(Way, "name"), "name", "What templates and filters call it.");
    RowBuilderLocal::CheckText(Name);
    Record.Children.push_back(std::move(Name));
    FieldRow Type = Row(JsonPlaces::Under(Way, "type"), "type", "What it holds.");
    Type.Control = FieldControl::Dropdown;
    Type.Choices = Words(RowBuilderLocal::VariableTypes, Type.Stored);
    Record.Children.push_back(std::move(Type));
    Record.Children.push_back(VariableValue(Way, EditorJson::Text(&Item, "type")));
    AddUnknown(Record, &Item, {"name", "type", "value"});
    return Record;
}

FieldRow RowBuilder::VariableValue(const Steps& Way, const std::string& Type) const
{
    FieldRow Value = Row(JsonPlaces::Under(Way, "value"), "value", "What it is until the game says otherwise.");
    if (Type == "bool")
    {
        RowBuilderLocal::CheckFlag(Value);
    }
    else if (Type == "int")
    {
        RowBuilderLocal::CheckWhole(Value);
    }
    else if (Type == "float")
    {
        RowBuilderLocal::CheckNumber(Value);
    }
    else if (Type == "string")
    {
        RowBuilderLocal::CheckText(Value);
    }
    else if (Type == "string_set")
    {
        Texts(Value);
    }
    return Value;
}

void RowBuilder::Texts(FieldRow& List) const
{
    RowBuilderLocal::Check(List, FieldControl::List, Json::Kind::Array, "must be a list");
    List.NewItem = Json::String("");
    const std::size_t Count = List.Stored ? List.Stored->Items().size() : 0;
    for (std::size_t At = 0; At < Count; ++At)
    {
        FieldRow Item = Row(JsonPlaces::Under(List.Way, At), std::to_string(At), "");
        RowBuilderLocal::CheckText(Item);
        List.Children.push_back(std::move(Item));
    }
}

// ---- nodes

std::vector<NodeRow> RowBuilder::Nodes() const
{
    std::vector<NodeRow> Rows;
    const std::string& Start = EditorJson::Text(&Root, "start_node");
    const std::vector<Json>& Items = EditorJson::Items(&Root, "nodes");
    for (std::size_t At = 0; At < Items.size(); ++At)
    {
        NodeRow Node([Kept = Sources, At] { return RowBuilder(Kept).FieldsOf(At); });
        Node.Index = At;
        Node.Name = EditorJson::Text(&Items[At], "name");
        Node.TypeName = EditorJson::Text(&Items[At], "type");
        Node.Type = NodeTypes::Find(Node.TypeName);
        Node.IsStart = !Node.Name.empty() && Node.Name == Start;
        Rows.push_back(std::move(Node));
    }
    return Rows;
}

std::vector<FieldRow> RowBuilder::FieldsOf(std::size_t Index) const
{
    const Steps Way = {"nodes", Index};
    const Json& Node = EditorJson::Items(&Root, "nodes")[Index];
    std::vector<FieldRow> Fields;
    if (!Node.IsObject())
    {
        Fields.push_back(Unknown(Way, "node"));
        Fields.back().Fault = "must be an object";
        return Fields;
    }
    const NodeType* Type = NodeTypes::Find(EditorJson::Text(&Node, "type"));
    std::set<std::string, std::less<>> Seen;
    if (Type == nullptr)
    {
        Fields.push_back(Field(Index, *NodeTypes::All().front().Param("name")));
        Seen.insert("name");
    }
    else
    {
        Seen.insert("type");
        for (const NodeParam& Param : Type->Params)
        {
            Fields.push_back(Field(Index, Param));
            Seen.insert(std::string(Param.Name));
        }
    }
    for (const JsonMember& Member : Node.Members())
    {
        if (Seen.count(Member.Name) == 0)
        {
            Fields.push_back(Type == nullptr ? Guessed(Index, Member) : Unknown(JsonPlaces::Under(Way, Member.Name), Member.Name));
        }
    }
    return Fields;
}

/// A node type of a studio's own is shown by what its fields are called and hold.
FieldRow RowBuilder::Guessed(std::size_t Index, const JsonMember& Member) const
{
    FieldRow Field = Unknown({"nodes", Index, Member.Name}, Member.Name);
    if (Authoring::IsExit(Member.Name))
    {
        Field.Control = FieldControl::Dropdown;
        Field.Choices = Dropdown::Of(Choices::Exits(Root, Member.Value));
    }
    else if (Member.Name == "input")
    {
        Field.Control = FieldControl::Dropdown;
        Field.Choices = Dropdown::Of(Choices::Inputs(Root, static_cast<int>(Index), NodeKinds::Packaged(), Member.Name));
    }
    else if (Member.Value.IsString() && Member.Name == "output_name")
    {
        Field.Control = FieldControl::Slot;
    }
    else if (Member.Value.IsString())
    {
        const bool IsLong = Member.Name == "template" || Member.Name == "instruction"
            || Member.Value.AsText().find('\n') != std::string::npos;
        Field.Control = IsLong ? FieldControl::Template : FieldControl::Text;
    }
    else if (Member.Value.IsBoolean())
    {
        Field.Control = FieldControl::Boolean;
    }
    else if (EditorJson::IsWhole(Member.Value))
    {
        Field.Control = FieldControl::Integer;
    }
    return Field;
}

FieldRow RowBuilder::Field(std::size_t Index, const NodeParam& Param) const
{
    FieldRow Made = Of({"nodes", Index, std::string(Param.Name)}, Param, std::string(Param.Name));
    if (!Made.Fault.empty() && Param.Kind != ParamKind::SlotInput && Param.Kind != ParamKind::Exit)
    {
        return Made;
    }
    switch (Param.Kind)
    {
    case ParamKind::Name:
        Made.Control = FieldControl::Name;
        Made.IsOptional = false;
        break;
    case ParamKind::SlotOutput:
        Made.Control = FieldControl::Slot;
        Made.IsOptional = false;
        break;
    case ParamKind::SlotInput:
        RowBuilderLocal::Choose(Made, Dropdown::Of(Choices::Inputs(Root, static_cast<int>(Index), NodeKinds::Packaged(), Param.Name)));
        break;
    case ParamKind::Exit:
        RowBuilderLocal::Choose(Made, Dropdown::Of(Choices::Exits(Root, RowBuilderLocal::Stored(Made.Stored ? &*Made.Stored : nullptr))));
        break;
    case ParamKind::Model:
        ModelChoices(Made, "language", DefaultModel.empty() ? "Default" : "Default: " + DefaultModel);
        break;
    case ParamKind::Voice:
        ModelChoices(Made, "tts", "(none)");
        break;
    case ParamKind::Plain:
        if (Param.Name == "speaker_id" && Made.Control == FieldControl::Integer)
        {
            Made.Choices = SpeakerChoices(EditorJson::Text(&EditorJson::Items(&Root, "nodes")[Index], "voice"), Made.Value);
        }
        break;
    case ParamKind::Variable:
        RowBuilderLocal::Choose(Made, VariableChoices(Made.Text()));
        break;
    case ParamKind::Text:
        Made.Control = FieldControl::Lines;
        break;
    case ParamKind::Template:
        Made.Control = FieldControl::Template;
        break;
    case ParamKind::StringStorage:
    case ParamKind::EmbeddedStorage:
    case ParamKind::File:
        Made.Control = FieldControl::File;
        break;
    default:
        break;
    }
    return Made;
}

Dropdown RowBuilder::VariableChoices(const std::string& Stored) const
{
    Dropdown Choices;
    Choices.Add("", "(none)");
    for (const Json& Item : EditorJson::Items(&Root, "variables"))
    {
        const std::string& Name = EditorJson::Text(&Item, "name");
        if (!Name.empty() && Choices.IndexOf(Name) < 0)
        {
            Choices.Add(Name, Name);
        }
    }
    Choices.Select(Stored);
    return Choices;
}

void RowBuilder::ModelChoices(FieldRow& Field, const char* Type, const std::string& None) const
{
    RowBuilderLocal::CheckText(Field);
    if (!Field.Fault.empty())
    {
        return;
    }
    if (Sources->Models.empty())
    {
        return; // nobody said yet which models there are: their names are typed
    }
    Dropdown Choices;
    Choices.Add("", None);
    for (const KnownModel& Each : Sources->Models)
    {
        if (Each.Type == Type)
        {
            Choices.Add(Each.Name, Each.Name);
        }
    }
    Choices.Select(Field.Text());
    RowBuilderLocal::Choose(Field, std::move(Choices));
    Field.Control = FieldControl::Model;
}

/// The speakers of a voice by their numbers; nothing: nobody said yet which there are.
std::optional<Dropdown> RowBuilder::SpeakerChoices(std::string_view Voice, const std::optional<Json>& Stored) const
{
    const auto Found = std::find_if(Sources->Models.begin(), Sources->Models.end(), [Voice](const KnownModel& Each)
    {
        return Each.Type == "tts" && Each.Name == Voice;
    });
    if (Found == Sources->Models.end() || Found->Speakers.empty())
    {
        return std::nullopt;
    }
    Dropdown Choices;
    for (std::size_t At = 0; At < Found->Speakers.size(); ++At)
    {
        const std::string Number = std::to_string(At);
        Choices.Add(Number, Number + ": " + Found->Speakers[At]);
    }
    Choices.Select(Stored ? Sources->Codec->Write(*Stored) : "0");
    return Choices;
}

// ---- by description

FieldRow RowBuilder::Of(const Steps& Way, const NodeParam& Param, const std::string& Label) const
{
    FieldRow Made = Row(Way, Label, std::string(Param.Meaning));
    Made.IsKnown = true;
    Made.IsStructural = !Param.IsMutable();
    Made.IsOptional = !Param.IsRequired;
    Made.Least = Param.Least;
    Made.Most = Param.Most;
    if (!Made.Stored && !Param.IsRequired && !Param.IsOptional)
    {
        Made.Value = Param.Default;
    }
    if (Param.IsOptional && Made.Stored && Made.Stored->IsNull())
    {
        Made.Stored.reset();
        Made.Value.reset();
    }
    switch (Param.Type)
    {
    case ParamType::Text:
        RowBuilderLocal::CheckText(Made);
        break;
    case ParamType::Boolean:
        RowBuilderLocal::CheckFlag(Made);
        break;
    case ParamType::Integer:
        RowBuilderLocal::CheckWhole(Made);
        break;
    case ParamType::Number:
        RowBuilderLocal::CheckNumber(Made);
        break;
    case ParamType::Choice:
        Made.Control = FieldControl::Dropdown;
        Made.Choices = Words(std::vector<std::string>(Param.Choices.begin(), Param.Choices.end()), Made.Value);
        break;
    case ParamType::List:
        ListOf(Made, Param);
        break;
    case ParamType::Record:
        RecordOf(Made, Param);
        break;
    default:
        Made.Control = FieldControl::Json;
        break;
    }
    return Made;
}

void RowBuilder::ListOf(FieldRow& List, const NodeParam& Param) const
{
    RowBuilderLocal::Check(List, FieldControl::List, Json::Kind::Array, "must be a list");
    List.NewItem = RowBuilderLocal::NewItem(*Param.Item);
    const std::size_t Count = List.Value ? List.Value->Items().size() : 0;
    for (std::size_t At = 0; At < Count; ++At)
    {
        FieldRow Item = Of(JsonPlaces::Under(List.Way, At), *Param.Item, std::to_string(At));
        Item.IsOptional = false;
        List.Children.push_back(std::move(Item));
    }
}

void RowBuilder::RecordOf(FieldRow& Record, const NodeParam& Param) const
{
    RowBuilderLocal::Check(Record, FieldControl::Record, Json::Kind::Object, "must be an object");
    if (!Record.Fault.empty())
    {
        return;
    }
    std::vector<std::string> Names;
    for (const NodeParam& Field : Param.Fields)
    {
        Names.push_back(std::string(Field.Name));
        Record.Children.push_back(Of(JsonPlaces::Under(Record.Way, Names.back()), Field, Names.back()));
    }
    AddUnknown(Record, Record.Stored ? &*Record.Stored : nullptr, Names);
}

void RowBuilder::AddUnknown(FieldRow& Record, const Json* Stored, const std::vector<std::string>& Known) const
{
    if (Stored == nullptr)
    {
        return;
    }
    for (const JsonMember& Member : Stored->Members())
    {
        if (std::find(Known.begin(), Known.end(), Member.Name) == Known.end())
        {
            Record.Children.push_back(Unknown(JsonPlaces::Under(Record.Way, Member.Name), Member.Name));
        }
    }
}

Dropdown RowBuilder::Words(const std::vector<std::string>& List, const std::optional<Json>& Stored) const
{
    Dropdown Choices;
    for (const std::string& Word : List)
    {
        Choices.Add(Word, Word);
    }
    Choices.Select(!Stored ? "" : Stored->IsString() ? Stored->AsText() : Sources->Codec->Write(*Stored));
    return Choices;
}

FieldRow RowBuilder::Row(const Steps& Way, const std::string& Label, const std::string& Tooltip) const
{
    FieldRow Made;
    Made.Way = Way;
    Made.Path = JsonPlaces::PathOf(Way);
    Made.Label = Label;
    Made.Tooltip = Tooltip;
    if (const Json* Stored = JsonPlaces::At(Root, Way))
    {
        Made.Stored = *Stored;
        Made.Value = *Stored;
    }
    const auto Refusal = Sources->Refusals.find(Made.Path);
    if (Refusal != Sources->Refusals.end())
    {
        Made.Refusal = Refusal->second;
    }
    return Made;
}

FieldRow RowBuilder::Unknown(const Steps& Way, const std::string& Label) const
{
    FieldRow Made = Row(Way, Label, "");
    Made.Control = FieldControl::Json;
    Made.IsOptional = true;
    return Made;
}

} // namespace Parley::Editor
