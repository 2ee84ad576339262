// What the inspector of a workflow shows and does; the inspector itself only draws.
using System;
using System.Collections.Generic;
using System.Globalization;
using Newtonsoft.Json.Linq;

namespace Parley.Editor
{
    /// <summary>A model that a dropdown offers.</summary>
    public sealed class KnownModel
    {
        /// <summary>What workflows call it.</summary>
        public string Name = "";

        /// <summary>language, embedding or tts.</summary>
        public string Type = "";

        /// <summary>Of a voice: those it can speak as, by their numbers; empty: not known.</summary>
        public IList<string> Speakers = new string[0];

        /// <summary>One as ListModels tells of it.</summary>
        public static KnownModel Of(Parley.Messages.ModelInfo info)
        {
            return new KnownModel { Name = info.Name, Type = ModelManagerModel.Word(info.Type), Speakers = info.Speakers };
        }
    }

    /// <summary>A workflow as rows of fields, and its edits.</summary>
    /// <remarks>
    /// The text of the store is the truth. It may be anything: what is no JSON is shown as text, what is no node as JSON,
    /// and nothing is lost by looking. An edit that is refused changes nothing; Refusal says why. Nodes are meant by their
    /// place, since a broken workflow may hold two of one name.
    /// </remarks>
    public sealed class WorkflowInspectorModel
    {
        private readonly IWorkflowStore _store;
        private readonly Dictionary<string, string> _refusals = new Dictionary<string, string>(StringComparer.Ordinal);
        private Findings _local = new Findings(new Finding[0]);
        private Findings _told;
        private string _toldAbout;
        private string _text;
        private WorkflowEditing _editing;
        private bool _isStale = true;
        private IList<KnownModel> _models = new KnownModel[0];

        /// <summary>A model of the workflow in a store.</summary>
        public WorkflowInspectorModel(IWorkflowStore store)
        {
            _store = store;
            Nodes = new List<NodeRow>();
            Fields = new List<FieldRow>();
            Found = _local;
            WorkflowFindings = new List<Finding>();
            Fault = "";
        }

        /// <summary>Why the text cannot be shown as a workflow; empty: it can.</summary>
        public string Fault { get; private set; }

        /// <summary>The fields of the workflow itself.</summary>
        public List<FieldRow> Fields { get; private set; }

        /// <summary>Its nodes, in their order.</summary>
        public List<NodeRow> Nodes { get; private set; }

        /// <summary>All findings, errors first: the sidecar's where it has seen this text, else the editor's own.</summary>
        public Findings Found { get; private set; }

        /// <summary>The findings that belong to no node.</summary>
        public List<Finding> WorkflowFindings { get; private set; }

        /// <summary>The sidecar's findings are about the text as it is now.</summary>
        public bool IsValidated
        {
            get { return _toldAbout != null && _toldAbout == _store.Text; }
        }

        /// <summary>The text as it is now.</summary>
        public string Text
        {
            get { return _store.Text; }
        }

        /// <summary>The workflow's JSON; null where the text is none.</summary>
        public JObject Json
        {
            get
            {
                Refresh();
                return Workflow;
            }
        }

        /// <summary>The models that dropdowns offer; none: names of models are typed.</summary>
        public IList<KnownModel> Models
        {
            get { return _models; }
            set
            {
                _models = value ?? new KnownModel[0];
                _isStale = true;
            }
        }

        /// <summary>Reads the text again where it changed, by an edit or by undo. Cheap otherwise.</summary>
        public void Refresh()
        {
            var text = _store.Text ?? "";
            if (!_isStale && (ReferenceEquals(text, _text) || text == _text))
            {
                return;
            }
            _isStale = false;
            if (text != _text)
            {
                _text = text;
                Read();
                _local = Workflow == null ? new Findings(new Finding[0]) : QuickValidation.Check(Workflow);
            }
            Build();
        }

        private JObject Workflow
        {
            get { return _editing == null ? null : _editing.Workflow; }
        }

        private void Read()
        {
            Fault = "";
            try
            {
                if (_editing == null)
                {
                    _editing = new WorkflowEditing(_store, NodeKinds.Packaged, _store);
                }
                else
                {
                    _editing.Reload();
                }
            }
            catch (JsonFormatException fault)
            {
                _editing = null;
                Fault = fault.Message;
            }
        }

        /// <summary>Takes the findings of a sidecar about a text; dropped where the text has changed meanwhile.</summary>
        public void TakeFindings(string aboutText, Findings findings)
        {
            if (aboutText != _store.Text)
            {
                return;
            }
            _toldAbout = aboutText;
            _told = findings;
            _isStale = true;
            Refresh();
        }

        /// <summary>Why the last edit at a path was refused; empty: it was not.</summary>
        public string RefusalAt(string path)
        {
            string refusal;
            return _refusals.TryGetValue(path, out refusal) ? refusal : "";
        }

        // ---- edits: each returns whether the text changed

        /// <summary>Puts another text in the workflow's place, whatever it is.</summary>
        public bool SetText(string text)
        {
            if (text == _store.Text)
            {
                return false;
            }
            _store.MergeKey = "";
            _store.Begin("Edit Workflow Text");
            try
            {
                _store.Keep(_store);
                _store.Text = text;
            }
            finally
            {
                _store.End();
            }
            _isStale = true;
            return true;
        }

        /// <summary>Renames a node; all that meant it by name follows.</summary>
        public bool Rename(int index, string to)
        {
            return Try(NodePath(index) + ".name", "", delegate
            {
                var name = EditorJson.Text(NodeAt(index), "name");
                if (to == name)
                {
                    return;
                }
                if (IsTheOne(index, name))
                {
                    _editing.Followers.Clear();
                    foreach (var follower in _store.FollowersOf(name))
                    {
                        _editing.Followers.Add(follower);
                    }
                    _editing.RenameNode(name, to);
                    return;
                }
                // Nothing means a node without a name, or the second of one name: it alone changes.
                var renamed = Names.Check(to);
                if (renamed != name)
                {
                    renamed = Names.Unique(renamed, TakenBut(index));
                    SetIn(new object[] { "nodes", index, "name" }, new JValue(renamed), "Rename Node");
                }
            });
        }

        /// <summary>Gives the slot that a node writes another name; empty: the node's own. Inputs and tags follow.</summary>
        public bool RenameSlot(int index, string to)
        {
            return Try(NodePath(index) + ".output_name", "", delegate
            {
                var node = NodeAt(index);
                var name = EditorJson.Text(node, "name");
                if (to == EditorJson.Text(node, "output_name"))
                {
                    return;
                }
                if (!IsTheOne(index, name))
                {
                    throw new AuthoringException(
                        AuthoringReason.UnknownNode, "The node has no name of its own; give it one first, so that its slot can follow.");
                }
                _editing.RenameSlot(name, to);
            });
        }

        /// <summary>Removes a node: exits to it become END, inputs that named its slot keep the name and are flagged.</summary>
        public bool Delete(int index)
        {
            return Try(NodePath(index), "", delegate
            {
                var nodes = NodesOf(Workflow);
                if (index < 0 || index >= nodes.Count)
                {
                    return;
                }
                var name = EditorJson.Text(nodes[index] as JObject, "name");
                if (IsTheOne(index, name))
                {
                    _editing.DeleteNode(name);
                    return;
                }
                _editing.Change("Delete Node", delegate(JObject root) { NodesOf(root).RemoveAt(index); });
            });
        }

        /// <summary>Adds a node of a type at the end; returns its name, null where it was refused.</summary>
        public string Add(string typeName)
        {
            string name = null;
            Try("$.nodes", "", delegate { name = _editing.AddNode(typeName); });
            return name;
        }

        /// <summary>Moves a node to another place; its order means nothing to a turn, but lists follow it.</summary>
        public bool Move(int index, int to)
        {
            return Try(NodePath(index), "", delegate
            {
                _editing.Change("Move Node", delegate(JObject root)
                {
                    var nodes = NodesOf(root);
                    if (index < 0 || index >= nodes.Count || to < 0 || to >= nodes.Count || to == index)
                    {
                        return;
                    }
                    var node = nodes[index];
                    nodes.RemoveAt(index);
                    nodes.Insert(to, node);
                });
            });
        }

        /// <summary>Stores a value in a field; containers on the way are made.</summary>
        public bool Set(FieldRow row, JToken value)
        {
            return Try(row.Path, row.Path, delegate { SetIn(row.Steps, value, "Change " + row.Label); });
        }

        /// <summary>Stores a text.</summary>
        public bool SetText(FieldRow row, string text)
        {
            var isSame = text == row.Text && row.Stored != null && row.Stored.Type == JTokenType.String;
            return !isSame && Set(row, new JValue(text));
        }

        /// <summary>Stores a number within the field's bounds. A whole number stays one.</summary>
        public bool SetNumber(FieldRow row, double number)
        {
            if (row.Least.HasValue && number < row.Least.Value)
            {
                number = row.Least.Value;
            }
            if (row.Most.HasValue && number > row.Most.Value)
            {
                number = row.Most.Value;
            }
            var isWhole = row.Control == FieldControl.Integer;
            double before;
            if (Numbers.TryRead(row.Value, out before) && before.Equals(isWhole ? Math.Round(number) : number))
            {
                return false;
            }
            return Set(row, isWhole ? new JValue((long)Math.Round(number)) : new JValue(number));
        }

        /// <summary>Stores a whole number that is typed; refuses what is none, or out of bounds.</summary>
        public bool SetTyped(FieldRow row, string text)
        {
            return Try(row.Path, row.Path, delegate
            {
                long number;
                if (!long.TryParse(Names.Trim(text), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out number))
                {
                    throw new AuthoringException(AuthoringReason.Grammar, "'" + text + "' is no whole number.");
                }
                if ((row.Least.HasValue && number < row.Least.Value) || (row.Most.HasValue && number > row.Most.Value))
                {
                    throw new AuthoringException(
                        AuthoringReason.Grammar,
                        number.ToString(CultureInfo.InvariantCulture) + " is not between " + Bound(row.Least, "-∞") + " and " + Bound(row.Most, "∞") + ".");
                }
                var stored = row.Value as JValue;
                if (stored == null || !Equals(stored.Value, number))
                {
                    SetIn(row.Steps, new JValue(number), "Change " + row.Label);
                }
            });
        }

        /// <summary>Stores what is typed as JSON; refuses what is none.</summary>
        public bool SetJson(FieldRow row, string json)
        {
            return json != row.Json && Try(row.Path, "", delegate { SetIn(row.Steps, JsonText.Parse(json), "Change " + row.Label); });
        }

        /// <summary>Takes a field away: its default holds again. An entry of a list goes.</summary>
        public bool Clear(FieldRow row)
        {
            return Try(row.Path, "", delegate
            {
                _editing.Change("Clear " + row.Label, delegate(JObject root)
                {
                    var token = JsonPlaces.At(root, row.Steps);
                    if (token != null)
                    {
                        (token.Parent is JProperty ? token.Parent : token).Remove();
                    }
                });
            });
        }

        /// <summary>Puts one more entry at the end of a list.</summary>
        public bool AddItem(FieldRow list)
        {
            return Try(list.Path, "", delegate
            {
                var items = list.Value as JArray;
                var steps = new List<object>(list.Steps);
                steps.Add(items == null ? 0 : items.Count);
                SetIn(steps.ToArray(), JsonText.Copy(list.NewItem ?? new JValue("")), "Add to " + list.Label);
            });
        }

        /// <summary>Moves an entry of a list up (-1) or down (1).</summary>
        public bool MoveItem(FieldRow item, int by)
        {
            return Try(item.Path, "", delegate
            {
                _editing.Change("Move Entry", delegate(JObject root)
                {
                    var token = JsonPlaces.At(root, item.Steps);
                    var list = token == null ? null : token.Parent as JArray;
                    var at = list == null ? -1 : (int)item.Steps[item.Steps.Length - 1];
                    if (list != null && at + by >= 0 && at + by < list.Count)
                    {
                        list.RemoveAt(at);
                        list.Insert(at + by, token);
                    }
                });
            });
        }

        /// <summary>A path that a person chose, as a workflow writes it: relative to the storage folder, with `/`.</summary>
        public bool SetFile(FieldRow row, string path, string storageFolder)
        {
            return Try(row.Path, "", delegate
            {
                if (string.IsNullOrEmpty(storageFolder))
                {
                    throw new AuthoringException(
                        AuthoringReason.Grammar, "No storage folder is set; name one in Project Settings > Parley, and put the file below it.");
                }
                var folder = System.IO.Path.GetFullPath(storageFolder).Replace('\\', '/').TrimEnd('/') + "/";
                var file = System.IO.Path.GetFullPath(path).Replace('\\', '/');
                if (!file.StartsWith(folder, Platform.IsWindows ? StringComparison.OrdinalIgnoreCase : StringComparison.Ordinal))
                {
                    throw new AuthoringException(
                        AuthoringReason.Grammar, "The file is not below the storage folder " + folder + "; move it there: the sidecar reads no other.");
                }
                SetIn(row.Steps, new JValue(file.Substring(folder.Length)), "Change " + row.Label);
            });
        }

        // ---- doing

        /// Does an edit, or keeps why it was refused; whether the text changed.
        private bool Try(string path, string mergeKey, Action edit)
        {
            Refresh();
            _refusals.Remove(path);
            _isStale = true;
            if (_editing == null)
            {
                _refusals[path] = Fault;
                return false;
            }
            var before = _store.Text;
            _store.MergeKey = mergeKey;
            try
            {
                edit();
            }
            catch (AuthoringException refusal)
            {
                _refusals[path] = refusal.Message;
            }
            catch (JsonFormatException fault)
            {
                _refusals[path] = fault.Message;
            }
            return _store.Text != before;
        }

        private void SetIn(object[] steps, JToken value, string label)
        {
            _editing.Change(label, delegate(JObject root)
            {
                JToken at = root;
                for (var index = 0; index < steps.Length - 1; index++)
                {
                    var next = JsonPlaces.Child(at, steps[index]);
                    if (next == null || next.Type == JTokenType.Null)
                    {
                        JsonPlaces.Put(at, steps[index], steps[index + 1] is int ? new JArray() : (JToken)new JObject());
                        next = JsonPlaces.Child(at, steps[index]);
                    }
                    at = next;
                }
                JsonPlaces.Put(at, steps[steps.Length - 1], value);
            });
        }

        /// A node that is meant where its name is said: it has one, and is the first with it.
        private bool IsTheOne(int index, string name)
        {
            return name.Length > 0 && Choices.IndexOf(Workflow, name) == index;
        }

        private static JArray NodesOf(JObject root)
        {
            var nodes = root["nodes"] as JArray;
            if (nodes == null)
            {
                throw new AuthoringException(AuthoringReason.NotAWorkflow, "'nodes' is no list; make it one first.");
            }
            return nodes;
        }

        private JObject NodeAt(int index)
        {
            var nodes = NodesOf(Workflow);
            var node = index >= 0 && index < nodes.Count ? nodes[index] as JObject : null;
            if (node == null)
            {
                throw new AuthoringException(AuthoringReason.NotAWorkflow, NodePath(index).Substring(2) + " is no object; correct it as JSON first.");
            }
            return node;
        }

        private HashSet<string> TakenBut(int index)
        {
            var taken = new HashSet<string>(StringComparer.Ordinal);
            var at = 0;
            foreach (var item in EditorJson.Items(Workflow, "nodes"))
            {
                var node = item as JObject;
                if (node != null && at != index)
                {
                    taken.Add(EditorJson.Text(node, "name"));
                    taken.Add(Authoring.SlotOf(node, NodeKinds.Packaged) ?? "");
                }
                at++;
            }
            return taken;
        }

        private static string Bound(double? bound, string none)
        {
            return bound.HasValue ? bound.Value.ToString("R", CultureInfo.InvariantCulture) : none;
        }

        private static string NodePath(int index)
        {
            return "$.nodes[" + index.ToString(CultureInfo.InvariantCulture) + "]";
        }

        // ---- rows

        private void Build()
        {
            Fields = new List<FieldRow>();
            Nodes = new List<NodeRow>();
            Found = IsValidated ? _told : _local;
            WorkflowFindings = new List<Finding>();
            if (Workflow != null)
            {
                var rows = new RowBuilder(Workflow, _models, _refusals);
                Fields = rows.Workflow();
                Nodes = rows.Nodes();
            }
            foreach (var finding in Found.All)
            {
                Place(finding);
            }
        }

        private void Place(Finding finding)
        {
            var index = finding.NodeIndex;
            if (index < 0 && finding.NodeName.Length > 0 && Workflow != null)
            {
                index = Choices.IndexOf(Workflow, finding.NodeName);
            }
            if (index >= 0 && index < Nodes.Count)
            {
                Nodes[index].Tell(finding);
                return;
            }
            var field = FieldRow.Deepest(Fields, finding.Path);
            (field == null ? WorkflowFindings : field.Findings).Add(finding);
        }
    }
}
