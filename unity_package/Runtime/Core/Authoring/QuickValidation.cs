// What can be told of a workflow without a sidecar.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Newtonsoft.Json.Linq;
using Parley.Messages;

namespace Parley
{
    /// <summary>What can be said of a workflow at once and without a sidecar: names, start, exits, inputs, and the types
    /// and bounds of parameters.</summary>
    /// <remarks>
    /// Any JSON will do; nothing is thrown. What is an error here is an error for the sidecar too; templates, patterns,
    /// filters, storages and models are for the sidecar alone to judge. A node type that is not known here may be
    /// installed there: that is a warning, and so is whatever may depend on it.
    /// </remarks>
    public sealed class QuickValidation
    {
        private static readonly string[] WorkflowFields =
        {
            "version", "start_node", "default_model", "player_name", "variables", "nodes",
        };

        private static readonly string[] VariableFields = { "name", "type", "value" };
        private static readonly string[] VariableTypes = { "int", "float", "string", "bool", "string_set" };

        private readonly IEnumerable<NodeType> _types;
        private readonly List<Finding> _found = new List<Finding>();
        private readonly List<Draft> _drafts = new List<Draft>();

        private QuickValidation(IEnumerable<NodeType> types)
        {
            _types = types;
        }

        /// <summary>Every finding, by the node types that Parley comes with.</summary>
        public static Findings Check(JToken workflow)
        {
            return Check(workflow, NodeTypes.All);
        }

        /// <summary>Every finding, by these node types.</summary>
        public static Findings Check(JToken workflow, IEnumerable<NodeType> types)
        {
            var validation = new QuickValidation(types);
            validation.Run(workflow);
            return new Findings(validation._found);
        }

        private sealed class Draft
        {
            public int Index;
            public JObject Raw;
            public string Name = "";
            public NodeType Type;

            /// <summary>The sidecar may know the type.</summary>
            public bool MayBeInstalled;
            public string Slot = "";
            public readonly HashSet<string> Faulty = new HashSet<string>(StringComparer.Ordinal);
        }

        private void Run(JToken workflow)
        {
            var raw = workflow as JObject;
            if (raw == null)
            {
                Report("a workflow is a JSON object, not " + ParamChecks.Shown(workflow), null, "");
                return;
            }
            if (!CheckVersion(raw))
            {
                return;
            }
            foreach (JProperty field in raw.Properties())
            {
                if (!WorkflowFields.Contains(field.Name))
                {
                    Report(
                        "unknown field " + Names.Shown(field.Name) + "; known: " + string.Join(", ", WorkflowFields),
                        null, field.Name);
                }
            }
            string defaultModel = TextOf(raw, "default_model");
            if (ParamChecks.Length(TextOf(raw, "player_name")) > 200)
            {
                Report("player_name is longer than 200 characters", null, "player_name", ErrorCode.InvalidValue);
            }
            CheckVariables(raw);
            MakeDrafts(raw["nodes"]);
            string start = CheckStart(raw);
            CheckExits();
            CheckModels(defaultModel);
            CheckVoices();
            CheckInputs();
            CheckReachable(start);
        }

        // ---- The workflow itself

        private bool CheckVersion(JObject raw)
        {
            JToken version = raw["version"];
            if (version == null)
            {
                return true;
            }
            if (version.Type != JTokenType.Integer || ParamChecks.NumberOf(version) < 1)
            {
                Report("version must be " + Digits(Protocol.WorkflowVersion) + ", not " + ParamChecks.Shown(version),
                    null, "version", ErrorCode.InvalidValue);
                return true;
            }
            if (ParamChecks.NumberOf(version) > Protocol.WorkflowVersion)
            {
                Report(
                    "this workflow is of version " + ParamChecks.Shown(version) + "; this package knows version "
                    + Digits(Protocol.WorkflowVersion) + ": update Parley", null, "version");
                return false;
            }
            return true;
        }

        private string TextOf(JObject raw, string field)
        {
            JToken value = raw[field];
            if (value != null && value.Type != JTokenType.String)
            {
                Report(field + " must be a text, not " + ParamChecks.Shown(value), null, field);
            }
            return Authoring.TextOf(value);
        }

        private void CheckVariables(JObject raw)
        {
            JToken variables = raw["variables"];
            var items = variables as JArray;
            if (variables != null && items == null)
            {
                Report("variables must be a list, not " + ParamChecks.Shown(variables), null, "variables");
            }
            var found = new HashSet<string>(StringComparer.Ordinal);
            for (int index = 0; items != null && index < items.Count; index++)
            {
                CheckVariable(items[index], "variables[" + Digits(index) + "]", found);
            }
        }

        private void CheckVariable(JToken item, string place, HashSet<string> found)
        {
            var raw = item as JObject;
            if (raw == null)
            {
                Report("a variable is an object with name, type and value, not " + ParamChecks.Shown(item),
                    null, "variables", place: place);
                return;
            }
            foreach (JProperty field in raw.Properties())
            {
                if (!VariableFields.Contains(field.Name))
                {
                    Report("unknown field " + Names.Shown(field.Name) + "; known: name, type, value",
                        null, "variables", place: place + "." + ParamChecks.Cut(field.Name));
                }
            }
            string name = CheckName(raw["name"] ?? new JValue((object)null), null, "variables", place + ".name");
            string type = Authoring.TextOf(raw, "type");
            if (!VariableTypes.Contains(type))
            {
                Report("type must be int, float, string, bool or string_set, not " + ParamChecks.Shown(raw["type"]),
                    null, "variables", ErrorCode.InvalidValue, place + ".type");
                return;
            }
            JToken value = raw["value"];
            if (value == null)
            {
                Report("a variable needs a value", null, "variables", place: place + ".value");
                return;
            }
            if (!IsOf(type, value))
            {
                Report(
                    ParamChecks.Shown(value) + " must be " + (type == "string_set" ? "a list of texts" : "of type " + type),
                    null, "variables", ErrorCode.InvalidValue, place + ".value");
                return;
            }
            if (name.Length > 0 && !found.Add(name))
            {
                Report("the variable '" + name + "' is declared twice", null, "variables", place: place + ".name");
            }
        }

        private static bool IsOf(string type, JToken value)
        {
            switch (type)
            {
                case "int":
                    return value.Type == JTokenType.Integer;
                case "float":
                    return value.Type == JTokenType.Integer || value.Type == JTokenType.Float;
                case "string":
                    return value.Type == JTokenType.String;
                case "bool":
                    return value.Type == JTokenType.Boolean;
                default:
                    return value.Type == JTokenType.Array && value.All(item => item.Type == JTokenType.String);
            }
        }

        private string CheckStart(JObject raw)
        {
            string start = TextOf(raw, "start_node");
            JToken given = raw["start_node"];
            if (start.Length == 0)
            {
                if (given == null || given.Type == JTokenType.String)
                {
                    Report("a workflow needs a start_node", null, "start_node");
                }
            }
            else if (_drafts.Count > 0 && _drafts.All(draft => draft.Name != start))
            {
                Report("start_node names no node: " + Names.Shown(start), null, "start_node");
            }
            return start;
        }

        // ---- Each node

        private void MakeDrafts(JToken nodes)
        {
            var items = nodes as JArray;
            if (items == null)
            {
                bool isMissing = nodes == null || nodes.Type == JTokenType.Null;
                string wrong = isMissing ? "a workflow needs nodes" : "nodes must be a list, not " + ParamChecks.Shown(nodes);
                Report(wrong, null, "nodes");
                return;
            }
            if (items.Count == 0)
            {
                Report("a workflow needs at least one node", null, "nodes");
            }
            if (items.Count > Protocol.MaxNodes)
            {
                Report(
                    Digits(items.Count) + " nodes are more than a sidecar allows that was not set up otherwise (max_nodes "
                    + Digits(Protocol.MaxNodes) + ")", null, "nodes", ErrorCode.LimitExceeded, isError: false);
                return;
            }
            var first = new Dictionary<string, int>(StringComparer.Ordinal);
            foreach (JToken item in items)
            {
                var draft = new Draft { Index = _drafts.Count, Raw = item as JObject ?? new JObject() };
                _drafts.Add(draft);
                if (!(item is JObject))
                {
                    Report("a node is a JSON object, not " + ParamChecks.Shown(item), draft, "");
                    continue;
                }
                draft.Name = CheckName(draft.Raw["name"] ?? new JValue(""), draft, "name", "name");
                int other;
                if (first.TryGetValue(draft.Name, out other))
                {
                    Report(
                        "two nodes are called '" + draft.Name + "'; the other is $.nodes[" + Digits(other) + "]",
                        draft, "name");
                }
                else if (draft.Name.Length > 0)
                {
                    first[draft.Name] = draft.Index;
                }
                CheckParameters(draft);
            }
        }

        private void CheckParameters(Draft draft)
        {
            JToken type = draft.Raw["type"];
            draft.Type = _types.FirstOrDefault(known => known.Name == Authoring.TextOf(type));
            if (draft.Type == null)
            {
                draft.MayBeInstalled = type != null && type.Type == JTokenType.String;
                Report(
                    type == null ? "a node needs a type"
                        : "unknown node type " + ParamChecks.Shown(type)
                            + (draft.MayBeInstalled ? "; the sidecar may know it" : ""),
                    draft, "type", isError: !draft.MayBeInstalled);
                string output = Authoring.TextOf(draft.Raw, "output_name");
                draft.Slot = output.Length > 0 || draft.Raw["output_name"] == null ? output : draft.Name;
                return;
            }
            foreach (JProperty field in draft.Raw.Properties())
            {
                if (field.Name != "type" && draft.Type.Param(field.Name) == null)
                {
                    Report(draft.Type.Name + " has no parameter " + Names.Shown(field.Name), draft, field.Name);
                }
            }
            foreach (NodeParam param in draft.Type.Params)
            {
                CheckParameter(draft, param, draft.Raw[param.Name]);
            }
            List<string> outputs = draft.Type.FieldsOf(ParamKind.SlotOutput);
            if (outputs.Count > 0)
            {
                string output = Authoring.TextOf(draft.Raw, outputs[0]);
                draft.Slot = output.Length > 0 ? output : draft.Name;
            }
        }

        private void CheckParameter(Draft draft, NodeParam param, JToken value)
        {
            if (param.Name == "name")
            {
                return;
            }
            if (value == null)
            {
                if (param.IsRequired)
                {
                    Report("it is needed, and missing", draft, param.Name);
                }
                return;
            }
            ParamChecks.Check(param, value, param.Name, (message, code, place) =>
            {
                draft.Faulty.Add(param.Name);
                Report(message, draft, param.Name, code, place);
            });
            bool isName = param.Kind == ParamKind.Name || param.Kind == ParamKind.SlotOutput;
            if (isName && Authoring.TextOf(value).Length > 0)
            {
                CheckName(value, draft, param.Name, param.Name);
            }
        }

        /// <summary>The name, or empty with a finding.</summary>
        private string CheckName(JToken value, Draft draft, string field, string place)
        {
            if (value.Type != JTokenType.String)
            {
                Report("a name must be a text, not " + ParamChecks.Shown(value), draft, field, place: place);
                return "";
            }
            var name = (string)value;
            try
            {
                if (Names.Check(name) == name)
                {
                    return name;
                }
                Report(Names.Shown(name) + " has white space around it; remove it.", draft, field, place: place);
            }
            catch (AuthoringException fault)
            {
                Report(fault.Message, draft, field, place: place);
            }
            return "";
        }

        // ---- How they hang together

        private void CheckExits()
        {
            var names = new HashSet<string>(_drafts.Select(draft => draft.Name), StringComparer.Ordinal);
            foreach (Draft draft in _drafts)
            {
                foreach (KeyValuePair<string, string> exit in ExitsOf(draft))
                {
                    if (exit.Value.Length > 0 && !names.Contains(exit.Value))
                    {
                        Report(exit.Key + " names no node: " + Names.Shown(exit.Value) + " (empty ends the turn)",
                            draft, exit.Key, ErrorCode.InvalidExitTarget);
                    }
                }
            }
        }

        private static IEnumerable<KeyValuePair<string, string>> ExitsOf(Draft draft)
        {
            foreach (JProperty field in draft.Raw.Properties())
            {
                bool known = draft.Type == null || draft.Type.Exits.Any(exit => exit.Field == field.Name);
                if (Authoring.IsExit(field.Name) && known)
                {
                    yield return new KeyValuePair<string, string>(field.Name, Authoring.TextOf(field.Value));
                }
            }
        }

        private void CheckModels(string defaultModel)
        {
            foreach (Draft draft in _drafts)
            {
                if (draft.Type == null || !draft.Type.UsesModel)
                {
                    continue;
                }
                if (defaultModel.Length == 0 && Authoring.TextOf(draft.Raw, "model").Length == 0)
                {
                    Report("the node names no model and the workflow has no default_model", draft, "model");
                }
                double window = WholeOf(draft, "context_size"), longest = WholeOf(draft, "max_tokens");
                if (window > 0 && longest >= window)
                {
                    Report("max_tokens " + Digits(longest) + " must be below the context_size " + Digits(window),
                        draft, "max_tokens", ErrorCode.InvalidValue);
                }
            }
        }

        private void CheckVoices()
        {
            foreach (Draft draft in _drafts)
            {
                foreach (string field in draft.Type == null ? new List<string>() : draft.Type.FieldsOf(ParamKind.Voice))
                {
                    if (Authoring.TextOf(draft.Raw, field).Length == 0)
                    {
                        Report("the node names no voice", draft, field, ErrorCode.ModelNotFound);
                    }
                }
            }
        }

        private static double WholeOf(Draft draft, string field)
        {
            NodeParam param = draft.Type.Param(field);
            JToken given = draft.Raw[field];
            JToken value = given == null || draft.Faulty.Contains(field) ? param == null ? null : param.Default() : given;
            return value != null && value.Type == JTokenType.Integer ? ParamChecks.NumberOf(value) : 0;
        }

        private void CheckInputs()
        {
            var written = new HashSet<string>(_drafts.Select(draft => draft.Slot), StringComparer.Ordinal);
            written.UnionWith(new[] { "", Names.Reserved });
            // A type that is not known here may write any slot.
            bool isSure = !_drafts.Any(draft => draft.MayBeInstalled);
            foreach (Draft draft in _drafts)
            {
                foreach (string field in draft.Type == null ? new List<string>() : draft.Type.FieldsOf(ParamKind.SlotInput))
                {
                    string slot = Authoring.TextOf(draft.Raw, field);
                    if (!written.Contains(slot))
                    {
                        Report("no node writes the slot " + Names.Shown(slot), draft, field, isError: isSure);
                    }
                }
            }
        }

        private void CheckReachable(string start)
        {
            var exits = new Dictionary<string, List<string>>(StringComparer.Ordinal);
            foreach (Draft draft in _drafts)
            {
                if (draft.Name.Length > 0)
                {
                    exits[draft.Name] = ExitsOf(draft).Select(exit => exit.Value).ToList();
                }
            }
            if (!exits.ContainsKey(start))
            {
                return;
            }
            var reached = new HashSet<string>(StringComparer.Ordinal);
            var waiting = new Stack<string>();
            waiting.Push(start);
            while (waiting.Count > 0)
            {
                string name = waiting.Pop();
                if (exits.ContainsKey(name) && reached.Add(name))
                {
                    exits[name].ForEach(waiting.Push);
                }
            }
            foreach (Draft draft in _drafts)
            {
                if (draft.Name.Length > 0 && !reached.Contains(draft.Name))
                {
                    Report("no exit leads from '" + start + "' to this node", draft, "name", isError: false);
                }
            }
        }

        private void Report(
            string message,
            Draft draft,
            string field,
            ErrorCode code = ErrorCode.WorkflowInvalid,
            string place = "",
            bool isError = true)
        {
            string root = draft == null ? "$" : "$.nodes[" + Digits(draft.Index) + "]";
            string where = place.Length > 0 ? place : ParamChecks.Cut(field);
            _found.Add(new Finding(
                isError ? Severity.Error : Severity.Warning,
                code,
                message,
                ParamChecks.Cut(where.Length > 0 ? root + "." + where : root),
                draft == null ? "" : draft.Name,
                ParamChecks.Cut(field)));
        }

        private static string Digits(double number)
        {
            return number.ToString(CultureInfo.InvariantCulture);
        }
    }
}
