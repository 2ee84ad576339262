// Makes the rows of an inspector out of a workflow's JSON and the descriptions of its node types.
using System;
using System.Collections.Generic;
using System.Globalization;
using Newtonsoft.Json.Linq;

namespace Parley.Editor
{
    /// <summary>One reading of a workflow. Throws at nothing: what fits no control is drawn as JSON.</summary>
    internal sealed class RowBuilder
    {
        private static readonly string[] VariableTypes = { "int", "float", "string", "bool", "string_set" };

        private readonly JObject _root;
        private readonly IList<KnownModel> _models;
        private readonly IDictionary<string, string> _refusals;
        private readonly string _defaultModel;

        public RowBuilder(JObject root, IList<KnownModel> models, IDictionary<string, string> refusals)
        {
            _root = root;
            _models = models;
            _refusals = refusals;
            _defaultModel = EditorJson.Text(root, "default_model");
        }

        // ---- the workflow itself

        public List<FieldRow> Workflow()
        {
            var rows = new List<FieldRow>();
            var start = Row(new object[] { "start_node" }, "start_node", "The node that a turn begins with.");
            start.Control = FieldControl.Dropdown;
            start.Choices = Dropdown.Of(Choices.Exits(_root, start.Stored, false));
            rows.Add(start);
            var model = Row(new object[] { "default_model" }, "default_model", "Model of nodes that name none.");
            ModelChoices(model, "language", "(none)");
            rows.Add(model);
            var player = Row(new object[] { "player_name" }, "player_name", "The player's label in scripts (transcript format).");
            player.Control = FieldControl.Text;
            player.Value = player.Stored ?? new JValue("Player");
            Check(player, JTokenType.String, "a text");
            rows.Add(player);
            rows.Add(Variables());
            foreach (var property in _root.Properties())
            {
                switch (property.Name)
                {
                    case "version":
                    case "nodes":
                    case "start_node":
                    case "default_model":
                    case "player_name":
                    case "variables":
                        break;
                    default:
                        rows.Add(Unknown(new object[] { property.Name }, property.Name));
                        break;
                }
            }
            JToken nodes;
            if (_root.TryGetValue("nodes", out nodes) && !(nodes is JArray))
            {
                var row = Unknown(new object[] { "nodes" }, "nodes");
                row.Fault = "must be a list of nodes";
                rows.Add(row);
            }
            return rows;
        }

        private FieldRow Variables()
        {
            var list = Row(new object[] { "variables" }, "variables", "What the game lets templates and filters read.");
            list.Control = FieldControl.List;
            list.NewItem = JToken.Parse("{\"name\": \"variable\", \"type\": \"int\", \"value\": 0}");
            var items = list.Stored as JArray;
            if (list.Stored != null && items == null)
            {
                AsJson(list, "must be a list");
                return list;
            }
            for (var at = 0; items != null && at < items.Count; at++)
            {
                var steps = new object[] { "variables", at };
                var variable = items[at] as JObject;
                var row = Row(steps, variable == null ? Digits(at) : EditorJson.Text(variable, "name"), "");
                if (variable == null)
                {
                    AsJson(row, "must be an object");
                    list.Children.Add(row);
                    continue;
                }
                row.Control = FieldControl.Record;
                var name = Row(Under(steps, "name"), "name", "What templates and filters call it.");
                name.Control = FieldControl.Text;
                Check(name, JTokenType.String, "a text");
                row.Children.Add(name);
                var type = Row(Under(steps, "type"), "type", "What it holds.");
                type.Control = FieldControl.Dropdown;
                type.Choices = Words(VariableTypes, type.Stored);
                row.Children.Add(type);
                row.Children.Add(VariableValue(steps, EditorJson.Text(variable, "type")));
                AddUnknown(row, variable, steps, "name", "type", "value");
                list.Children.Add(row);
            }
            return list;
        }

        private FieldRow VariableValue(object[] steps, string type)
        {
            var row = Row(Under(steps, "value"), "value", "What it is until the game says otherwise.");
            switch (type)
            {
                case "bool":
                    row.Control = FieldControl.Boolean;
                    Check(row, JTokenType.Boolean, "true or false");
                    break;
                case "int":
                    row.Control = FieldControl.Integer;
                    Check(row, JTokenType.Integer, "a whole number");
                    break;
                case "float":
                    row.Control = FieldControl.Number;
                    CheckNumber(row);
                    break;
                case "string":
                    row.Control = FieldControl.Text;
                    Check(row, JTokenType.String, "a text");
                    break;
                case "string_set":
                    Texts(row);
                    break;
                default:
                    row.Control = FieldControl.Json;
                    break;
            }
            return row;
        }

        private void Texts(FieldRow row)
        {
            row.Control = FieldControl.List;
            row.NewItem = new JValue("");
            var items = row.Stored as JArray;
            if (row.Stored != null && items == null)
            {
                AsJson(row, "must be a list");
                return;
            }
            for (var at = 0; items != null && at < items.Count; at++)
            {
                var item = Row(Under(row.Steps, at), Digits(at), "");
                item.Control = FieldControl.Text;
                Check(item, JTokenType.String, "a text");
                row.Children.Add(item);
            }
        }

        // ---- nodes

        public List<NodeRow> Nodes()
        {
            var rows = new List<NodeRow>();
            var start = EditorJson.Text(_root, "start_node");
            var at = 0;
            foreach (var item in EditorJson.Items(_root, "nodes"))
            {
                rows.Add(Node(at, item, start));
                at++;
            }
            return rows;
        }

        private NodeRow Node(int index, JToken item, string start)
        {
            var node = item as JObject;
            var row = new NodeRow(delegate { return FieldsOf(index, node); });
            row.Index = index;
            row.Name = EditorJson.Text(node, "name");
            row.TypeName = EditorJson.Text(node, "type");
            row.Type = NodeTypes.Find(row.TypeName);
            row.IsStart = row.Name.Length > 0 && row.Name == start;
            return row;
        }

        private List<FieldRow> FieldsOf(int index, JObject node)
        {
            var steps = new object[] { "nodes", index };
            var fields = new List<FieldRow>();
            if (node == null)
            {
                var whole = Unknown(steps, "node");
                whole.Fault = "must be an object";
                fields.Add(whole);
                return fields;
            }
            var type = NodeTypes.Find(EditorJson.Text(node, "type"));
            var seen = new HashSet<string>(StringComparer.Ordinal);
            if (type == null)
            {
                fields.Add(Field(node, index, NameParam()));
                seen.Add("name");
            }
            else
            {
                seen.Add("type");
                foreach (var param in type.Params)
                {
                    fields.Add(Field(node, index, param));
                    seen.Add(param.Name);
                }
            }
            foreach (var property in node.Properties())
            {
                if (!seen.Contains(property.Name))
                {
                    fields.Add(type == null ? Guessed(index, property) : Unknown(Under(steps, property.Name), property.Name));
                }
            }
            return fields;
        }

        private static NodeParam NameParam()
        {
            return NodeTypes.All[0].Param("name");
        }

        /// A node type of a studio's own is drawn by what its fields are called and hold.
        private FieldRow Guessed(int index, JProperty property)
        {
            var row = Unknown(new object[] { "nodes", index, property.Name }, property.Name);
            var isText = property.Value.Type == JTokenType.String;
            if (property.Name.EndsWith("_exit", StringComparison.Ordinal))
            {
                row.Control = FieldControl.Dropdown;
                row.Choices = Dropdown.Of(Choices.Exits(_root, property.Value));
            }
            else if (property.Name == "input")
            {
                row.Control = FieldControl.Dropdown;
                row.Choices = Dropdown.Of(Choices.Inputs(_root, index, NodeKinds.Packaged, property.Name));
            }
            else if (isText && property.Name == "output_name")
            {
                row.Control = FieldControl.Slot;
            }
            else if (isText)
            {
                var isLong = property.Name == "template" || property.Name == "instruction" || ((string)property.Value).IndexOf('\n') >= 0;
                row.Control = isLong ? FieldControl.Template : FieldControl.Text;
            }
            else if (property.Value.Type == JTokenType.Boolean)
            {
                row.Control = FieldControl.Boolean;
            }
            else if (Numbers.IsWhole(property.Value))
            {
                row.Control = FieldControl.Integer;
            }
            return row;
        }

        private FieldRow Field(JObject node, int index, NodeParam param)
        {
            var row = Of(new object[] { "nodes", index, param.Name }, param, param.Name);
            if (row.Fault.Length > 0 && param.Kind != ParamKind.SlotInput && param.Kind != ParamKind.Exit)
            {
                return row;
            }
            switch (param.Kind)
            {
                case ParamKind.Name:
                    row.Control = FieldControl.Name;
                    row.IsOptional = false;
                    break;
                case ParamKind.SlotOutput:
                    row.Control = FieldControl.Slot;
                    row.IsOptional = false;
                    break;
                case ParamKind.SlotInput:
                    Choose(row, Dropdown.Of(Choices.Inputs(_root, index, NodeKinds.Packaged, param.Name)));
                    break;
                case ParamKind.Exit:
                    Choose(row, Dropdown.Of(Choices.Exits(_root, row.Stored)));
                    break;
                case ParamKind.Model:
                    ModelChoices(row, "language", "Default" + (_defaultModel.Length > 0 ? ": " + _defaultModel : ""));
                    break;
                case ParamKind.Voice:
                    ModelChoices(row, "tts", "(none)");
                    break;
                case ParamKind.Variable:
                    Choose(row, VariableChoices(row.Text));
                    break;
                case ParamKind.Plain:
                    if (param.Name == "speaker_id" && row.Control == FieldControl.Integer)
                    {
                        row.Choices = SpeakerChoices(EditorJson.Text(node, "voice"), row.Value);
                    }
                    break;
                case ParamKind.Text:
                    row.Control = FieldControl.Lines;
                    break;
                case ParamKind.Template:
                    row.Control = FieldControl.Template;
                    break;
                case ParamKind.StringStorage:
                case ParamKind.EmbeddedStorage:
                case ParamKind.File:
                    row.Control = FieldControl.File;
                    break;
            }
            return row;
        }

        private static void Choose(FieldRow row, Dropdown choices)
        {
            row.Control = FieldControl.Dropdown;
            row.Choices = choices;
            row.Fault = "";
            row.IsOptional = false;
        }

        private Dropdown VariableChoices(string stored)
        {
            var choices = new Dropdown();
            choices.Add("", "(none)");
            foreach (var item in EditorJson.Items(_root, "variables"))
            {
                var name = EditorJson.Text(item as JObject, "name");
                if (name.Length > 0 && !choices.Values.Contains(name))
                {
                    choices.Add(name, name);
                }
            }
            choices.Select(stored);
            return choices;
        }

        /// The speakers of a voice by their numbers; null: nobody said yet which there are.
        private Dropdown SpeakerChoices(string voice, JToken stored)
        {
            foreach (var model in _models)
            {
                if (model.Type == "tts" && model.Name == voice && model.Speakers.Count > 0)
                {
                    var choices = new Dropdown();
                    for (var at = 0; at < model.Speakers.Count; at++)
                    {
                        var number = at.ToString(CultureInfo.InvariantCulture);
                        choices.Add(number, number + ": " + model.Speakers[at]);
                    }
                    choices.Select(stored == null ? "0" : JsonText.Compact(stored));
                    return choices;
                }
            }
            return null;
        }

        private void ModelChoices(FieldRow row, string type, string none)
        {
            if (row.Stored != null && row.Stored.Type != JTokenType.String)
            {
                AsJson(row, "must be a text");
                return;
            }
            var choices = new Dropdown();
            choices.Add("", none);
            foreach (var model in _models)
            {
                if (model.Type == type)
                {
                    choices.Add(model.Name, model.Name);
                }
            }
            if (_models.Count == 0)
            {
                row.Control = FieldControl.Text; // nobody said yet which models there are
                return;
            }
            row.Control = FieldControl.Dropdown;
            choices.Select(row.Text);
            row.Choices = choices;
            row.IsOptional = false;
        }

        // ---- by description

        private FieldRow Of(object[] steps, NodeParam param, string label)
        {
            var row = Row(steps, label, param.Meaning);
            row.IsKnown = true;
            row.IsStructural = !param.IsMutable;
            row.IsOptional = !param.IsRequired;
            row.Least = param.Least;
            row.Most = param.Most;
            if (row.Stored == null && !param.IsRequired && !param.IsOptional)
            {
                row.Value = param.Default();
            }
            if (param.IsOptional && row.Stored != null && row.Stored.Type == JTokenType.Null)
            {
                row.Stored = row.Value = null;
            }
            switch (param.Type)
            {
                case ParamType.Text:
                    row.Control = FieldControl.Text;
                    Check(row, JTokenType.String, "a text");
                    break;
                case ParamType.Boolean:
                    row.Control = FieldControl.Boolean;
                    Check(row, JTokenType.Boolean, "true or false");
                    break;
                case ParamType.Integer:
                    row.Control = FieldControl.Integer;
                    if (row.Stored != null && !Numbers.IsWhole(row.Stored))
                    {
                        AsJson(row, "must be a whole number");
                    }
                    break;
                case ParamType.Number:
                    row.Control = FieldControl.Number;
                    CheckNumber(row);
                    break;
                case ParamType.Choice:
                    row.Control = FieldControl.Dropdown;
                    row.Choices = Words(param.Choices, row.Value);
                    break;
                case ParamType.List:
                    ListOf(row, param);
                    break;
                case ParamType.Record:
                    RecordOf(row, param);
                    break;
                default:
                    row.Control = FieldControl.Json;
                    break;
            }
            return row;
        }

        private void ListOf(FieldRow row, NodeParam param)
        {
            row.Control = FieldControl.List;
            row.NewItem = NewItem(param.Item);
            var items = row.Value as JArray;
            if (row.Value != null && items == null)
            {
                AsJson(row, "must be a list");
                return;
            }
            for (var at = 0; items != null && at < items.Count; at++)
            {
                var item = Of(Under(row.Steps, at), param.Item, Digits(at));
                item.IsOptional = false;
                row.Children.Add(item);
            }
        }

        private void RecordOf(FieldRow row, NodeParam param)
        {
            row.Control = FieldControl.Record;
            var record = row.Value as JObject;
            if (row.Value != null && record == null)
            {
                AsJson(row, "must be an object");
                return;
            }
            var names = new List<string>();
            foreach (var field in param.Fields)
            {
                row.Children.Add(Of(Under(row.Steps, field.Name), field, field.Name));
                names.Add(field.Name);
            }
            AddUnknown(row, row.Stored as JObject, row.Steps, names.ToArray());
        }

        private void AddUnknown(FieldRow row, JObject stored, object[] steps, params string[] known)
        {
            if (stored == null)
            {
                return;
            }
            foreach (var property in stored.Properties())
            {
                if (Array.IndexOf(known, property.Name) < 0)
                {
                    row.Children.Add(Unknown(Under(steps, property.Name), property.Name));
                }
            }
        }

        private static JToken NewItem(NodeParam item)
        {
            switch (item.Type)
            {
                case ParamType.Text:
                    return new JValue("");
                case ParamType.Boolean:
                    return new JValue(false);
                case ParamType.Integer:
                    return new JValue((long)(item.Least ?? 0));
                case ParamType.Number:
                    return new JValue(item.Least ?? 0.0);
                case ParamType.Choice:
                    return new JValue(item.Choices[0]);
                case ParamType.List:
                    return new JArray();
                case ParamType.Record:
                    var record = new JObject();
                    foreach (var field in item.Fields)
                    {
                        if (field.IsRequired)
                        {
                            record[field.Name] = NewItem(field);
                        }
                    }
                    return record;
                default:
                    return new JObject();
            }
        }

        private static Dropdown Words(IEnumerable<string> words, JToken stored)
        {
            var choices = new Dropdown();
            foreach (var word in words)
            {
                choices.Add(word, word);
            }
            var isText = stored != null && stored.Type == JTokenType.String;
            choices.Select(isText ? (string)stored : stored == null ? "" : JsonText.Compact(stored));
            return choices;
        }

        // ---- rows

        private FieldRow Row(object[] steps, string label, string tooltip)
        {
            JToken stored = _root;
            foreach (var step in steps)
            {
                var members = stored as JObject;
                var items = stored as JArray;
                stored = members != null && step is string ? members[(string)step]
                    : items != null && step is int && (int)step < items.Count ? items[(int)step] : null;
            }
            var row = new FieldRow { Steps = steps, Path = PathOf(steps), Label = label, Tooltip = tooltip, Stored = stored, Value = stored };
            string refusal;
            if (_refusals.TryGetValue(row.Path, out refusal))
            {
                row.Refusal = refusal;
            }
            return row;
        }

        private FieldRow Unknown(object[] steps, string label)
        {
            var row = Row(steps, label, "");
            row.Control = FieldControl.Json;
            row.IsOptional = true;
            return row;
        }

        private static void Check(FieldRow row, JTokenType wanted, string words)
        {
            if (row.Stored != null && row.Stored.Type != wanted)
            {
                AsJson(row, "must be " + words);
            }
            else if (wanted == JTokenType.Integer && row.Stored != null && !Numbers.IsWhole(row.Stored))
            {
                AsJson(row, "is too large a number");
            }
        }

        private static void CheckNumber(FieldRow row)
        {
            double ignored;
            if (row.Stored != null && !Numbers.TryRead(row.Stored, out ignored))
            {
                AsJson(row, "must be a number");
            }
        }

        private static void AsJson(FieldRow row, string fault)
        {
            row.Control = FieldControl.Json;
            row.Fault = fault;
        }

        private static object[] Under(object[] steps, object step)
        {
            var under = new object[steps.Length + 1];
            Array.Copy(steps, under, steps.Length);
            under[steps.Length] = step;
            return under;
        }

        private static string PathOf(object[] steps)
        {
            var path = new System.Text.StringBuilder("$");
            foreach (var step in steps)
            {
                if (step is int)
                {
                    path.Append('[').Append(Digits((int)step)).Append(']');
                }
                else
                {
                    path.Append('.').Append((string)step);
                }
            }
            return path.ToString();
        }

        private static string Digits(int number)
        {
            return number.ToString(CultureInfo.InvariantCulture);
        }
    }
}
