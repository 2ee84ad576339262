// The inspector of a workflow: rows, edits, refusals, undo.
#include "Desk.h"

#include "EditorJson.h"
#include "TurnInspectorModel.h"

#include "Core/Generated/NodeTypes.h"

namespace
{

using namespace Parley;
using namespace Parley::Testing;

// Field order, an unknown field and odd spellings of numbers: all of it must come back from undo.
const char* const Two =
    "{\"version\":1,\"start_node\":\"mira\",\"default_model\":\"mock-echo\",\"studio\":{\"note\":1.50},\"nodes\":["
    "{\"name\":\"mira\",\"type\":\"Generate\",\"max_tokens\":64,\"sampling\":{\"temperature\":7e-1},\"default_exit\":\"bram\"},"
    "{\"type\":\"Generate\",\"name\":\"bram\",\"input\":\"mira\",\"template\":\"{{slot.mira}} and {{ slot.miracle }} mira\","
    "\"default_exit\":\"\"}]}";

std::string Replaced(std::string Text, const std::string& What, const std::string& By)
{
    const std::size_t At = Text.find(What);
    Check(At != std::string::npos, "nothing to replace");
    return Text.replace(At, What.size(), By);
}

std::string TextOf(const Json& Node, std::string_view FieldName)
{
    return Editor::EditorJson::Text(&Node, FieldName);
}

} // namespace

PARLEY_TEST(RenameIsOneGroupAndUndoesToTheByte)
{
    Desk Asset(Two);
    Cast Players({"mira", "bram", "stranger"});
    Cast Others({"stranger"});
    Asset.Casts = {&Players, &Others};
    WorkflowInspectorModel Model(Asset, Codec());

    Check(Model.Rename(0, " innkeeper "), "it changes something");

    Equal("innkeeper", TextOf(Asset.Now, "start_node"), "the start");
    Equal("innkeeper", TextOf(Asset.Node("bram"), "input"), "the input");
    Equal("{{slot.innkeeper}} and {{ slot.miracle }} mira", TextOf(Asset.Node("bram"), "template"), "the template");
    Equal("innkeeper|bram|stranger", Joined(Players.Nodes), "the cast");
    Equal("Rename mira", Joined(Asset.Labels), "the undo history");

    Asset.Undo();
    Equal(Two, Asset.Text(), "the asset after undo");
    Equal("mira|bram|stranger", Joined(Players.Nodes), "the cast after undo");
    Equal("mira", Field(Model, 0, "name").Text(), "what the inspector shows");
}

PARLEY_TEST(TheSameNameAgainIsNoEdit)
{
    Desk Asset(Two);
    WorkflowInspectorModel Model(Asset, Codec());
    Check(!Model.Rename(0, "mira"), "the same");
    Check(!Model.Rename(0, " mira "), "the same with blanks");
    Equal(Two, Asset.Text(), "the asset");
    Equal(0, static_cast<long long>(Asset.Labels.size()), "groups");
}

PARLEY_TEST(RefusedNamesChangeNothingAndSayWhy)
{
    Desk Asset(Two);
    WorkflowInspectorModel Model(Asset, Codec());
    for (const std::string& Name : {std::string("user_message"), std::string("2nd"), std::string(), std::string("mira!"),
             std::string("m\xC3\xAFra"), std::string(65, 'm')})
    {
        Check(!Model.Rename(0, Name), "'" + Name + "' is refused");
        Equal(Two, Asset.Text(), "the asset after '" + Name + "'");
        Check(Field(Model, 0, "name").Refusal.size() > 10, "the reason for '" + Name + "' is shown");
    }
    Equal(0, static_cast<long long>(Asset.Labels.size()), "groups");
    Check(Model.Rename(0, "bram"), "a name that is taken");
    Equal("bram_2", Field(Model, 0, "name").Text(), "a name that is taken");
    Equal("", Field(Model, 0, "name").Refusal, "the old refusal is gone");
}

PARLEY_TEST(SlotsAreRenamedAndCleared)
{
    Desk Asset(Two);
    Cast Players({"mira"});
    Asset.Casts = {&Players};
    WorkflowInspectorModel Model(Asset, Codec());
    Check(Model.RenameSlot(0, "welcome"), "renamed");
    Equal("welcome", TextOf(Asset.Node("mira"), "output_name"), "the slot");
    Equal("welcome", TextOf(Asset.Node("bram"), "input"), "the input");
    Equal("mira", TextOf(Asset.Now, "start_node"), "the start stays");
    Equal("mira", Joined(Players.Nodes), "the cast stays");
    Check(Model.RenameSlot(0, ""), "cleared");
    Equal("mira", TextOf(Asset.Node("bram"), "input"), "the input follows back");
    Equal("Rename slot of mira|Rename slot of mira", Joined(Asset.Labels), "the undo history");
    Asset.Undo();
    Asset.Undo();
    Equal(Two, Asset.Text(), "the asset after undo");
}

PARLEY_TEST(DeleteFlagsInputsAndEndsExits)
{
    Desk Asset(Two);
    WorkflowInspectorModel Model(Asset, Codec());
    Check(Model.Delete(0), "deleted");
    Equal("", TextOf(Asset.Now, "start_node"), "the start is cleared");
    const FieldRow& Input = Field(Model, 0, "input");
    Equal("mira (missing)", Input.Choices->Labels[static_cast<std::size_t>(Input.Choices->Selected)], "the input keeps what it names");
    Check(Input.Choices->IsMissing, "and is red");
    bool IsTold = false;
    for (const Finding& Each : Input.Findings)
    {
        IsTold = IsTold || Contains(Each.Message, "mira");
    }
    Check(IsTold, "a finding says so, at the field");
    Check(Model.Nodes()[0].Errors > 0, "and the node counts it");
    Asset.Undo();
    Equal(Two, Asset.Text(), "the asset after undo");
}

PARLEY_TEST(MissingValuesStayUntilAnotherIsPicked)
{
    const std::string Before = Replaced(Replaced(Two, "\"input\":\"mira\"", "\"input\":\"gone\""), "\"default_exit\":\"\"", "\"default_exit\":\"nowhere\"");
    Desk Asset(Before);
    WorkflowInspectorModel Model(Asset, Codec());
    Equal("User Message|mira|gone (missing)", Joined(Field(Model, 1, "input").Choices->Labels), "the inputs");
    Equal("END|mira|bram|nowhere (missing)", Joined(Field(Model, 1, "default_exit").Choices->Labels), "the exits");
    Check(Field(Model, 1, "default_exit").Choices->IsMissing, "a missing exit is red");
    Equal(Before, Asset.Text(), "looking changes nothing");

    Check(Model.SetText(Field(Model, 1, "history_name"), "Bram"), "another edit");
    Equal("gone", TextOf(Asset.Node("bram"), "input"), "it drops nothing");
    Equal("nowhere", TextOf(Asset.Node("bram"), "default_exit"), "it drops nothing");

    Check(Model.SetText(Field(Model, 1, "input"), "mira"), "another is picked");
    Equal("User Message|mira", Joined(Field(Model, 1, "input").Choices->Labels), "the inputs afterwards");
    Check(Model.SetText(Field(Model, 1, "input"), ""), "the player's line");
    Equal("", TextOf(Asset.Node("bram"), "input"), "is stored as empty");
    Check(Model.SetText(Field(Model, 1, "default_exit"), "mira"), "a cycle");
    Equal("User Message|mira|bram", Joined(Field(Model, 1, "input").Choices->Labels), "on a cycle the node itself counts");
}

PARLEY_TEST(EveryParameterOfEveryTypeHasARow)
{
    const char* const Empty = "{\"version\":1,\"start_node\":\"\",\"nodes\":[]}";
    Desk Asset(Empty);
    WorkflowInspectorModel Model(Asset, Codec());
    for (const NodeType& Type : NodeTypes::All())
    {
        Check(!Model.Add(Type.Name).empty(), std::string(Type.Name) + " is added");
    }
    const std::string Before = Asset.Text();
    for (std::size_t At = 0; At < NodeTypes::All().size(); ++At)
    {
        for (const NodeParam& Param : NodeTypes::All()[At].Params)
        {
            const FieldRow& Row = Field(Model, At, Param.Name);
            Equal(std::string(Param.Meaning), Row.FullTooltip().substr(0, Param.Meaning.size()), Row.Path + " has its tooltip");
            Check(Row.Fault.empty(), Row.Path + ": " + Row.Fault);
        }
    }
    Equal(Before, Asset.Text(), "looking changes nothing");
    Equal(static_cast<long long>(NodeTypes::All().size()), static_cast<long long>(Asset.Labels.size()), "one group for each node");
    Equal("canned_response", TextOf(Asset.Now, "start_node"), "the first node is the start");
    Equal("END|" + std::string("canned_response"), Joined(Field(Model, 0, "default_exit").Choices->Labels).substr(0, 19), "exits");
    while (!Asset.Labels.empty())
    {
        Asset.Undo();
    }
    Equal(Empty, Asset.Text(), "all undone");
}

PARLEY_TEST(NumbersStayWithinTheirBounds)
{
    Desk Asset(Two);
    WorkflowInspectorModel Model(Asset, Codec());
    Check(!Model.SetTyped(Field(Model, 0, "max_tokens"), "0"), "too small");
    Check(Contains(Field(Model, 0, "max_tokens").Refusal, "between 1 and 1048576"), Field(Model, 0, "max_tokens").Refusal);
    for (const char* Wrong : {"many", "1.5", "1e3", "", "99999999999999999999"})
    {
        Check(!Model.SetTyped(Field(Model, 0, "max_tokens"), Wrong), Wrong);
    }
    Equal(Two, Asset.Text(), "refused numbers change nothing");
    Check(Model.SetTyped(Field(Model, 0, "max_tokens"), " 100 "), "a whole number");
    Equal("", Field(Model, 0, "max_tokens").Refusal, "the old refusal is gone");
    Check(Contains(Asset.Text(), "\"max_tokens\":100,"), "a whole number stays one");
    Check(Contains(Asset.Text(), "7e-1") && Contains(Asset.Text(), "1.50"), "the spelling of the others stays");
    FieldRow& Temperature = Child(Field(Model, 0, "sampling"), "temperature");
    Equal(10, static_cast<long long>(*Temperature.Most), "its bound");
    Check(!Model.SetNumber(Temperature, 0.7), "the same number spelled otherwise is no edit");
    Check(Model.SetNumber(Child(Field(Model, 0, "sampling"), "temperature"), 0.3), "another");
    Check(Contains(Asset.Text(), "\"temperature\":0.3}"), "a number of a slider is short: " + Asset.Text());
    Check(Model.SetNumber(Child(Field(Model, 0, "sampling"), "temperature"), 1000.0), "beyond its bound");
    Check(Contains(Asset.Text(), "\"temperature\":10"), "is the bound: " + Asset.Text());
    FieldRow& TopK = Child(Field(Model, 0, "sampling"), "top_k");
    Check(!TopK.Value && TopK.IsOptional, "not set");
    Check(Model.Set(TopK, TopK.First()), "set");
    Equal("1", Child(Field(Model, 0, "sampling"), "top_k").Value->AsText(), "an unset field is set");
    Check(Model.Clear(Child(Field(Model, 0, "sampling"), "top_k")), "cleared");
    Check(!Child(Field(Model, 0, "sampling"), "top_k").Stored, "and gone");
}

PARLEY_TEST(ListsGrowMoveAndShrink)
{
    Desk Asset(Two);
    WorkflowInspectorModel Model(Asset, Codec());
    Check(Model.AddItem(Field(Model, 0, "examples")), "one");
    Check(Model.SetText(Child(Child(Field(Model, 0, "examples"), "0"), "speaker"), "Mira"), "its speaker");
    Check(Model.AddItem(Field(Model, 0, "examples")), "two");
    Check(Model.SetText(Child(Child(Field(Model, 0, "examples"), "1"), "speaker"), "Bram"), "its speaker");
    Check(Model.MoveItem(Child(Field(Model, 0, "examples"), "1"), -1), "up");
    Equal("Bram", Child(Child(Field(Model, 0, "examples"), "0"), "speaker").Text(), "the one that was moved up");
    Check(!Model.MoveItem(Child(Field(Model, 0, "examples"), "0"), -1), "the first cannot go up");
    Check(!Model.MoveItem(Child(Field(Model, 0, "examples"), "1"), 1), "the last cannot go down");
    Check(Model.Clear(Child(Field(Model, 0, "examples"), "0")), "removed");
    Equal(1, static_cast<long long>(Field(Model, 0, "examples").Children.size()), "what is left");
    Equal("Mira", Child(Child(Field(Model, 0, "examples"), "0"), "speaker").Text(), "what is left");
    Equal("default_exit", Asset.Node("mira").Members().back().Name, "exits stay last");
    while (!Asset.Labels.empty())
    {
        Asset.Undo();
    }
    Equal(Two, Asset.Text(), "all undone");
}

PARLEY_TEST(NodesMove)
{
    Desk Asset(Two);
    WorkflowInspectorModel Model(Asset, Codec());
    Check(Model.Move(1, 0), "up");
    Equal("bram", TextOf(Asset.Now.Find("nodes")->Items()[0], "name"), "the first node");
    Check(!Model.Move(0, static_cast<std::size_t>(0) - 1), "the first cannot go up");
    Check(!Model.Move(1, 2), "the last cannot go down");
    Equal(1, static_cast<long long>(Asset.Labels.size()), "groups");
    Asset.Undo();
    Equal(Two, Asset.Text(), "after undo");
}

PARLEY_TEST(ModelsArePickedOnceTheyAreKnown)
{
    Desk Asset(Two);
    WorkflowInspectorModel Model(Asset, Codec());
    Check(Field(Model, 0, "model").Control == FieldControl::Text, "while no model is known its name is typed");
    Model.SetModels({{"owner/small", "language"}, {"embed", "embedding"}});
    FieldRow& Row = Field(Model, 0, "model");
    Check(Row.Control == FieldControl::Model, "then it can be picked, and typed");
    Equal("Default: mock-echo|owner/small", Joined(Row.Choices->Labels), "the models");
    Check(Field(Model, "default_model").Choices->IsMissing, "a model that the catalog does not have is red");
    Check(Model.SetText(Row, "owner/small"), "picked");
    Equal("owner/small", TextOf(Asset.Node("mira"), "model"), "stored");
    Check(Model.SetText(Field(Model, 0, "model"), "not there yet"), "typed");
    Check(Field(Model, 0, "model").Choices->IsMissing, "kept and red");
}

PARLEY_TEST(VoicesAndTheirSpeakersArePicked)
{
    Desk Asset("{\"nodes\":[{\"name\":\"mira\",\"type\":\"GenerateAndSpeak\",\"voice\":\"gone\"}]}");
    WorkflowInspectorModel Model(Asset, Codec());
    Check(!Field(Model, 0, "speaker_id").Choices, "a number, while no voice is known");
    Model.SetModels({{"small", "language"}, {"deep", "tts", {"low", "high"}}});
    FieldRow& Voice = Field(Model, 0, "voice");
    Equal("(none)|deep|gone (missing)", Joined(Voice.Choices->Labels), "the voices");
    Check(Voice.Choices->IsMissing, "one that the catalog does not have is red");
    Check(!Field(Model, 0, "speaker_id").Choices, "of such a voice nobody knows the speakers");
    Check(Model.SetText(Voice, "deep"), "picked");
    const FieldRow& Speaker = Field(Model, 0, "speaker_id");
    Check(Speaker.Control == FieldControl::Integer && Speaker.Choices, "then they are known");
    Equal("0: low|1: high", Joined(Speaker.Choices->Labels), "the speakers");
    Equal(0, Speaker.Choices->Selected, "the first is the default");
    Check(Model.SetTyped(Speaker, Speaker.Choices->Values[1]), "picked");
    Check(*Asset.Node("mira").Find("speaker_id") == Json::Integer(1), "stored as a number");
    Check(Model.SetTyped(Field(Model, 0, "speaker_id"), "7"), "another voice's");
    Check(Field(Model, 0, "speaker_id").Choices->IsMissing, "kept and red");
}

PARLEY_TEST(VariablesAreMadeAndPicked)
{
    Desk Asset("{\"nodes\":[{\"name\":\"pick\",\"type\":\"ConditionalInstruction\"}]}");
    WorkflowInspectorModel Model(Asset, Codec());
    Check(Model.AddItem(Field(Model, "variables")), "one");
    FieldRow& Variable = Field(Model, "variables").Children[0];
    Equal("name|type|value", Variable.Children[0].Label + "|" + Variable.Children[1].Label + "|" + Variable.Children[2].Label, "its fields");
    Check(Model.SetText(Child(Variable, "type"), "string_set"), "another type");
    FieldRow& Value = Child(Field(Model, "variables").Children[0], "value");
    Check(Value.Control == FieldControl::Json && Value.Fault == "must be a list", "what is stored is of the old type: " + Value.Fault);
    Check(!Model.SetJson(Value, "[\"a\""), "no JSON");
    Check(!Field(Model, "variables").Children.empty(), "it stays");
    Check(Child(Field(Model, "variables").Children[0], "value").Refusal.size() > 3, "and the reason is shown");
    Check(Model.SetJson(Child(Field(Model, "variables").Children[0], "value"), "[\"a\"]"), "JSON");
    Check(Child(Field(Model, "variables").Children[0], "value").Control == FieldControl::List, "a list now");
    for (NodeRow& Node : Model.Nodes())
    {
        for (FieldRow& Row : Node.Fields())
        {
            Check(Row.Choices == std::nullopt || Row.Choices->Selected >= 0, Row.Path + " has a choice");
        }
    }
}

PARLEY_TEST(WhateverIsStoredIsShown)
{
    const std::string Odd = "{\"nodes\":[3,{\"name\":\"a\",\"type\":\"Studio\",\"next_exit\":\"gone\",\"input\":\"x\",\"template\":\"t\",\"n\":5,\"on\":true},"
        "{\"name\":\"b\",\"type\":\"Generate\",\"max_tokens\":\"many\",\"sampling\":[1],\"input\":4,\"odd\":[1.0]},"
        "{\"name\":\"b\",\"type\":\"Generate\"}],\"extra\":{\"a\":null}}";
    Desk Asset(Odd);
    WorkflowInspectorModel Model(Asset, Codec());
    Equal("must be an object", Model.Nodes()[0].Fields()[0].Fault, "no node");
    Check(Field(Model, 1, "next_exit").Choices->IsMissing, "an exit of a studio's own type");
    Check(Field(Model, 1, "template").Control == FieldControl::Template && Field(Model, 1, "n").Control == FieldControl::Integer
        && Field(Model, 1, "on").Control == FieldControl::Boolean, "guessed controls");
    Equal("must be a whole number", Field(Model, 2, "max_tokens").Fault, "another kind");
    Equal("must be an object", Field(Model, 2, "sampling").Fault, "another kind");
    Check(Field(Model, 2, "odd").Control == FieldControl::Json, "an unknown field");
    Check(!Field(Model, "extra").Path.empty(), "an unknown field of the workflow");
    Equal(Odd, Asset.Text(), "nothing is lost by looking");
}

PARLEY_TEST(TwoOfOneNameAreMeantByTheirPlace)
{
    Desk Asset("{\"start_node\":\"b\",\"nodes\":[{\"name\":\"b\",\"type\":\"Generate\"},{\"name\":\"b\",\"type\":\"Generate\"}]}");
    Cast Players({"b"});
    Asset.Casts = {&Players};
    WorkflowInspectorModel Model(Asset, Codec());
    Check(Model.Rename(1, "c"), "the second alone");
    Equal("b", TextOf(Asset.Now, "start_node"), "the start means the first");
    Equal("b", Joined(Players.Nodes), "so does the cast");
    Asset.Undo();
    Check(Model.Delete(1), "the second goes");
    Equal("b", TextOf(Asset.Now, "start_node"), "the start stays");
    Check(!Model.RenameSlot(5, "x"), "there is no such node");
    Check(!Model.RefusalAt("$.nodes[5].output_name").empty(), "which is told");
}

PARLEY_TEST(FilesLieBelowTheStorageFolder)
{
    Desk Asset("{\"nodes\":[{\"name\":\"lines\",\"type\":\"CannedResponse\"}]}");
    WorkflowInspectorModel Model(Asset, Codec());
    FieldRow* File = nullptr;
    for (FieldRow& Row : Model.Nodes()[0].Fields())
    {
        File = Row.Control == FieldControl::File ? &Row : File;
    }
    Check(File != nullptr, "a field for a file");
    const FieldRow Row = *File;
    Check(!Model.SetFile(Row, "/game/x.txt", ""), "no folder");
    Check(Contains(Model.RefusalAt(Row.Path), "Project Settings"), "what to do");
    Check(!Model.SetFile(Row, "/games/x.txt", "/game"), "beside it");
    Check(Contains(Model.RefusalAt(Row.Path), "/game/"), "which folder");
    Check(Model.SetFile(Row, "/game/l\xC3\xB6re/x.txt", "/game"), "below it");
    Check(Contains(Asset.Text(), "\"l\xC3\xB6re/x.txt\""), Asset.Text());
}

PARLEY_TEST(AWorkflowThatCannotBeReadIsNotEdited)
{
    Desk Asset(Two);
    WorkflowInspectorModel Model(Asset, Codec());
    Asset.Trouble = "nodes[1] holds no JSON";
    Check(Model.Refresh(), "something else to show");
    Equal(Asset.Trouble, Model.GetFault(), "why");
    Check(Model.Fields().empty() && Model.Nodes().empty(), "nothing to edit");
    Check(!Model.Rename(0, "x"), "refused");
    Equal(Two, Asset.Text(), "nothing changed");
    Asset.Trouble.clear();
    Check(Model.Refresh() && Model.Nodes().size() == 2, "and back");
}

PARLEY_TEST(FindingsOfTheSidecarAreAboutWhatItSaw)
{
    Desk Asset(Two);
    WorkflowInspectorModel Model(Asset, Codec());
    Finding Said;
    Said.Message = "Far too dear.";
    Said.Path = "$.nodes[0].max_tokens";
    Said.NodeName = "mira";
    Said.Field = "max_tokens";
    Model.TakeFindings(Asset.Now, Findings({Said}));
    Equal("Far too dear.", Field(Model, 0, "max_tokens").Findings[0].Message, "at its field");
    Check(Model.IsValidated(), "validated");
    Model.SetTyped(Field(Model, 0, "max_tokens"), "5");
    Check(Field(Model, 0, "max_tokens").Findings.empty() && !Model.IsValidated(), "another text, other findings");
    Model.TakeFindings(Parsed(Two), Findings({Said}));
    Check(!Model.IsValidated(), "a late answer is dropped");
}

PARLEY_TEST(TurnsFromElsewhereAreShownAsFarAsTheyGo)
{
    for (const char* Text : {"[]", "{}", "3", "{\"debug\": 3}",
             "{\"debug\": {\"steps\": [1, {}, {\"input\": [], \"usage\": 4, \"details\": {\"probabilities\": {\"a\": {\"b\": {\"c\": 1}}, "
             "\"d\": \"e\"}, \"hits\": [1, {}], \"nearest\": 5}}], \"slots\": [], \"attributes\": {\"x\": [1]}, \"warnings\": [{}, null]}}",
             "{\"turn_id\": 1e300, \"debug\": {\"duration_ms\": 1e300}}"})
    {
        Check(!Editor::TurnInspectorModel::From(Parsed(Text), Codec()).ToText().empty(), Text);
    }
    const Editor::TurnInspectorModel Turn = Editor::TurnInspectorModel::From(
        Parsed("{\"turn_id\":4,\"status\":\"Error\",\"error\":{\"code\":4001,\"name\":\"InferenceFailed\",\"message\":\"no\"},"
               "\"interaction\":{\"user\":\"hi\"},\"debug\":{\"duration_ms\":12.345,\"steps\":[{\"step\":1,\"node_name\":\"mira\","
               "\"type\":\"Generate\",\"exit\":\"default\",\"duration_ms\":9.96,\"usage\":{\"prompt_tokens\":7},"
               "\"input\":{\"rendered\":\"<user>hi\",\"prompt\":[{\"role\":\"user\",\"content\":\"hi\"}]},"
               "\"details\":{\"probabilities\":{\"a\":0.25,\"b\":0.75},\"hits\":[{\"id\":\"r1\",\"distance\":0.5}],"
               "\"nearest\":[{\"id\":\"r2\",\"distance\":0.4},{\"id\":\"r1\"}]}}]}}"),
        Codec());
    Equal("InferenceFailed (4001): no", Turn.Error, "the error");
    Equal("1  mira (Generate)  \xE2\x86\x92 default  10.0 ms", Turn.Steps[0].Title(), "the title");
    Equal("b", Turn.Steps[0].Chances[0].Label, "the likeliest first");
    Check(!Turn.Steps[0].Hits[0].IsTaken && Turn.Steps[0].Hits[1].IsTaken, "what was taken");
    Check(Contains(Turn.ToText(), "prompt_tokens: 7") && Contains(Turn.ToText(), "<user>hi"), "the copy");
}
