// Edits of a workflow's text, each of them one step.
using System;
using System.Collections.Generic;
using Newtonsoft.Json.Linq;

namespace Parley
{
    /// <summary>Edits of one workflow and of what knows its nodes by name, each edit one group of undo.</summary>
    /// <remarks>
    /// An edit is worked out in full before anything is touched: one that is refused (AuthoringException) or that changes
    /// nothing leaves text, casts and undo as they were. Since texts are kept whole, undoing restores them to the byte;
    /// the next edit reads them again, as it does what another window did. Between Begin and Commit all edits make one
    /// group.
    /// </remarks>
    public sealed class WorkflowEditing
    {
        private readonly IWorkflowText _text;
        private readonly IDictionary<string, NodeKind> _kinds;
        private readonly IEditUndo _undo;
        private readonly List<INodeNames> _followers = new List<INodeNames>();
        private WorkflowDocument _document;
        private string _known;
        private string _label;
        private List<AuthoringEdit> _pending;

        /// <summary>Edits `text`. JsonFormatException where it is no workflow's.</summary>
        public WorkflowEditing(IWorkflowText text, IDictionary<string, NodeKind> kinds, IEditUndo undo)
        {
            _text = text;
            _kinds = kinds;
            _undo = undo;
            Reload();
        }

        /// <summary>The workflow as it is after the edits so far; after an undo, as it is after Reload. Read it; change it
        /// by Change alone.</summary>
        public JObject Workflow
        {
            get { return _document.Root; }
        }

        /// <summary>What follows when a node is renamed, in the same group of undo.</summary>
        public ICollection<INodeNames> Followers
        {
            get { return _followers; }
        }

        /// <summary>Whether edits are being gathered.</summary>
        public bool IsOpen
        {
            get { return _label != null; }
        }

        /// <summary>Reads the text again, after an undo or a change from elsewhere. Edits that were being gathered are
        /// given up. JsonFormatException where the text is no workflow's any more; then nothing changes here.</summary>
        public void Reload()
        {
            string text = _text.Text;
            _document = WorkflowDocument.Parse(text);
            _known = text;
            _label = null;
            _pending = null;
        }

        /// <summary>Lets the edits that follow make one group.</summary>
        public void Begin(string label)
        {
            if (IsOpen)
            {
                throw new InvalidOperationException("'" + _label + "' is still open: commit or cancel it");
            }
            Refresh();
            _label = label;
            _pending = new List<AuthoringEdit>();
        }

        /// <summary>Applies what was gathered. Returns whether anything changed.</summary>
        /// <remarks>InvalidOperationException where the text was changed from elsewhere since Begin; then what was gathered
        /// is given up.</remarks>
        public bool Commit()
        {
            if (!IsOpen)
            {
                throw new InvalidOperationException("nothing was begun");
            }
            if (_text.Text != _known)
            {
                Reload();
                throw new InvalidOperationException("the workflow was changed elsewhere meanwhile; do this again");
            }
            string label = _label;
            List<AuthoringEdit> edits = _pending;
            _label = null;
            _pending = null;
            return Apply(label, edits);
        }

        /// <summary>Gives up what was gathered.</summary>
        public void Cancel()
        {
            Reload();
        }

        /// <summary>Renames a node with everything that refers to it, and lets the followers follow.</summary>
        public AuthoringEdit RenameNode(string nodeName, string to)
        {
            return Done("Rename " + nodeName, Authoring.RenameNode(Current(), nodeName, to, _kinds));
        }

        /// <summary>Renames the slot that a node writes, with inputs and tags.</summary>
        public AuthoringEdit RenameSlot(string nodeName, string to)
        {
            return Done("Rename slot of " + nodeName, Authoring.RenameSlot(Current(), nodeName, to, _kinds));
        }

        /// <summary>Deletes a node. Followers keep its name: what they hold under it is not lost.</summary>
        public AuthoringEdit DeleteNode(string nodeName)
        {
            return Done("Delete " + nodeName, Authoring.DeleteNode(Current(), nodeName, _kinds));
        }

        /// <summary>Adds a node of a type at the end, named like the type unless that is taken; returns its name.</summary>
        /// <remarks>A workflow without a start begins with it.</remarks>
        public string AddNode(string typeName)
        {
            string name = null;
            Change("Add " + typeName, workflow =>
            {
                var nodes = workflow["nodes"] as JArray;
                if (nodes == null && workflow["nodes"] != null && workflow["nodes"].Type != JTokenType.Null)
                {
                    throw new AuthoringException(
                        AuthoringReason.NotAWorkflow, "nodes is no list; put the nodes in [ ].");
                }
                if (nodes == null)
                {
                    workflow["nodes"] = nodes = new JArray();
                }
                name = Names.Unique(WantedName(typeName), Taken(nodes));
                nodes.Add(new JObject { { "name", name }, { "type", typeName } });
                if (Authoring.TextOf(workflow, "start_node").Length == 0 && nodes.Count == 1)
                {
                    workflow["start_node"] = name;
                }
            });
            return name;
        }

        /// <summary>Sets a field of nodes[index], or of the workflow itself for -1. Null takes the field away.</summary>
        /// <remarks>For names and output_name use the renames.</remarks>
        public bool SetField(int index, string field, JToken value)
        {
            return Change("Set " + field, workflow =>
            {
                var nodes = workflow["nodes"] as JArray;
                bool exists = nodes != null && index < nodes.Count;
                JObject owner = index < 0 ? workflow : exists ? nodes[index] as JObject : null;
                if (owner == null)
                {
                    throw new AuthoringException(
                        AuthoringReason.NotAWorkflow, "There is no node at this place any more; look at the workflow again.");
                }
                if (value == null)
                {
                    owner.Remove(field);
                }
                else if (!JToken.DeepEquals(owner[field], value))
                {
                    owner[field] = JsonText.Copy(value);
                }
            });
        }

        /// <summary>Any other edit: `change` gets a copy of the workflow and changes it in place. Returns whether anything
        /// changed; while edits are gathered, whether this one changed anything.</summary>
        public bool Change(string label, Action<JObject> change)
        {
            var workflow = (JObject)JsonText.Copy(Current());
            string before = _document.ToText();
            change(workflow);
            Done(label, new AuthoringEdit(workflow, "", "", false, new string[0]));
            return _document.ToText() != before;
        }

        private JObject Current()
        {
            Refresh();
            return Workflow;
        }

        private void Refresh()
        {
            if (!IsOpen && _text.Text != _known)
            {
                Reload();
            }
        }

        private AuthoringEdit Done(string label, AuthoringEdit edit)
        {
            JObject before = _document.Root;
            _document.Root = edit.Workflow;
            try
            {
                _document.ToText();
            }
            catch (JsonFormatException)
            {
                _document.Root = before; // a value that no file can hold
                throw;
            }
            if (IsOpen)
            {
                _pending.Add(edit);
            }
            else
            {
                Apply(label, new[] { edit });
            }
            return edit;
        }

        private bool Apply(string label, IEnumerable<AuthoringEdit> edits)
        {
            string text = _document.ToText();
            var renames = new Dictionary<INodeNames, IList<string>>();
            foreach (INodeNames follower in _followers)
            {
                IList<string> names = follower.Names;
                foreach (AuthoringEdit edit in edits)
                {
                    names = edit.Follow(names);
                }
                if (Differs(names, follower.Names))
                {
                    renames[follower] = names;
                }
            }
            bool isChanged = text != _text.Text;
            if (!isChanged && renames.Count == 0)
            {
                return false;
            }
            _undo.Begin(label);
            try
            {
                if (isChanged)
                {
                    _undo.Keep(_text);
                    _text.Text = text;
                    _known = text;
                }
                foreach (KeyValuePair<INodeNames, IList<string>> item in renames)
                {
                    _undo.Keep(item.Key);
                    IList<string> before = item.Key.Names;
                    for (int index = 0; index < item.Value.Count; index++)
                    {
                        if (item.Value[index] != before[index])
                        {
                            item.Key.Rename(index, item.Value[index]);
                        }
                    }
                }
            }
            finally
            {
                _undo.End();
            }
            return true;
        }

        private static bool Differs(IList<string> one, IList<string> other)
        {
            for (int index = 0; index < one.Count; index++)
            {
                if (one[index] != other[index])
                {
                    return true;
                }
            }
            return false;
        }

        private HashSet<string> Taken(JArray nodes)
        {
            var taken = new HashSet<string>(StringComparer.Ordinal) { Names.Reserved };
            foreach (JToken item in nodes)
            {
                var node = item as JObject;
                if (node != null)
                {
                    taken.Add(Authoring.NameOf(node));
                    taken.Add(Authoring.SlotOf(node, _kinds) ?? "");
                }
            }
            return taken;
        }

        /// <summary>CannedResponse becomes canned_response.</summary>
        private static string WantedName(string typeName)
        {
            var name = new System.Text.StringBuilder();
            for (int at = 0; at < typeName.Length; at++)
            {
                char letter = typeName[at];
                bool isCapital = letter >= 'A' && letter <= 'Z';
                bool afterSmall = at > 0 && !(typeName[at - 1] >= 'A' && typeName[at - 1] <= 'Z');
                if (isCapital && afterSmall && name.Length > 0 && name[name.Length - 1] != '_')
                {
                    name.Append('_');
                }
                name.Append(isCapital ? (char)(letter + 32) : letter);
            }
            string wanted = name.ToString();
            wanted = wanted.Length > Names.MaxLength ? wanted.Substring(0, Names.MaxLength) : wanted;
            return Names.IsName(wanted) ? wanted : "node";
        }
    }
}
