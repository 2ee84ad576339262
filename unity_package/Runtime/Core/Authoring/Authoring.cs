// The authoring rules: rename, delete, connect.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Newtonsoft.Json.Linq;

namespace Parley
{
    /// <summary>Edits to a workflow that keep every reference right: names, renames, deletion, the choices for input.
    /// </summary>
    /// <remarks>
    /// Raw JSON in, new raw JSON out: the input is never changed, the order of fields, unknown fields and the spelling
    /// of numbers are kept. A workflow need not compile; what is required of it is a list of nodes, each an object whose
    /// name and output_name, where given, are texts. AuthoringException says what else is wrong; nothing else is thrown.
    /// A broken workflow may hold two nodes of one name. An edit then means the first of them, and a reference stays as
    /// it is while another node still answers to it.
    /// </remarks>
    public static class Authoring
    {
        private const string InstructionFamily = "instruction_";
        private const string KnowledgeFamily = "knowledge_";
        private static readonly NodeKind UnknownKind = new NodeKind(false);
        private static readonly string[] Families = { InstructionFamily, KnowledgeFamily };
        private static readonly Dictionary<string, string> None = new Dictionary<string, string>();

        // ---- Names

        /// <summary>Returns the trimmed name; AuthoringException when it may not be used.</summary>
        public static string CheckName(string text)
        {
            return Names.Check(text);
        }

        // ---- Reading

        /// <summary>Returns the slot that the node writes: output_name, else its name; null when it writes none.</summary>
        /// <remarks>A type that <paramref name="kinds"/> does not know writes a slot exactly when the node has an
        /// output_name, even an empty one.</remarks>
        public static string SlotOf(JObject node, IDictionary<string, NodeKind> kinds)
        {
            NodeKind kind = KindOf(node, kinds);
            if (!(kind == null ? node.Property("output_name") != null : kind.Produces))
            {
                return null;
            }
            string slot = TextOf(node, "output_name");
            slot = slot.Length > 0 ? slot : TextOf(node, "name");
            return slot.Length > 0 ? slot : null;
        }

        /// <summary>Returns what the node's input may name: user_message, then the slots written before it, in workflow
        /// order, each once.</summary>
        /// <remarks>A slot counts when the node can be reached along exits from a node that writes it, the node itself on
        /// a cycle included.</remarks>
        public static IList<string> InputChoices(JToken workflow, string nodeName, IDictionary<string, NodeKind> kinds)
        {
            IList<JObject> nodes = NodesOf(RootOf(workflow));
            return InputChoices(nodes, Find(nodes, nodeName), kinds);
        }

        internal static IList<string> InputChoices(IList<JObject> nodes, int at, IDictionary<string, NodeKind> kinds)
        {
            HashSet<int> upstream = Upstream(nodes, at);
            var choices = new List<string> { Names.Reserved };
            var seen = new HashSet<string>(choices, StringComparer.Ordinal);
            for (int index = 0; index < nodes.Count; index++)
            {
                string slot = upstream.Contains(index) ? SlotOf(nodes[index], kinds) : null;
                if (slot != null && seen.Add(slot))
                {
                    choices.Add(slot);
                }
            }
            return choices;
        }

        // ---- Edits

        /// <summary>Renames a node and everything that meant it by name. If another node or slot has the new name, it
        /// gets a suffix. A node given the name of its own slot has its output_name stored as empty.</summary>
        public static AuthoringEdit RenameNode(
            JToken workflow, string nodeName, string to, IDictionary<string, NodeKind> kinds)
        {
            JObject root = RootOf(workflow);
            IList<JObject> nodes = NodesOf(root);
            int at = Find(nodes, nodeName);
            JObject node = nodes[at];
            List<JObject> others = Without(nodes, at);
            string name = CheckName(to);
            // A name box that loses focus commits its old name: that must do nothing, even where another node writes a
            // slot of this name.
            if (name != nodeName)
            {
                name = Names.Unique(name, Taken(others, kinds));
            }
            if (name == nodeName)
            {
                return new AuthoringEdit(Rewritten(root, -1, kinds, None, None, None), nodeName, name, false, new string[0]);
            }
            bool followsSlot = SlotOf(node, kinds) == nodeName && TextOf(node, "output_name").Length == 0;
            Dictionary<string, string> targets = Renamed(nodeName, name, others.Select(NameOf));
            JObject result = Rewritten(
                root,
                -1,
                kinds,
                targets,
                followsSlot ? RenamedSlot(nodeName, name, others, kinds) : None,
                RenamedTags(node, name, others, kinds));
            var renamed = (JObject)((JArray)result["nodes"])[at];
            renamed["name"] = name;
            if (TextOf(renamed, "output_name") == name && SlotOf(node, kinds) != null)
            {
                renamed["output_name"] = "";
            }
            return new AuthoringEdit(result, nodeName, name, targets.Count > 0, new string[0]);
        }

        /// <summary>Lets the node write slot <paramref name="to"/>; inputs and slot tags follow. Empty, or the node's own
        /// name, stores an empty output_name.</summary>
        /// <remarks>A type that <paramref name="kinds"/> does not know is taken to write a slot, since it is asked to; one
        /// that is known to write none is refused.</remarks>
        public static AuthoringEdit RenameSlot(
            JToken workflow, string nodeName, string to, IDictionary<string, NodeKind> kinds)
        {
            JObject root = RootOf(workflow);
            IList<JObject> nodes = NodesOf(root);
            int at = Find(nodes, nodeName);
            JObject node = nodes[at];
            List<JObject> others = Without(nodes, at);
            NodeKind kind = KindOf(node, kinds);
            if (kind != null && !kind.Produces)
            {
                throw new AuthoringException(
                    AuthoringReason.UnknownNode,
                    "Node " + Names.Shown(nodeName) + " is a " + TextOf(node, "type")
                    + ", which writes no slot; choose a node that does.");
            }
            string old = TextOf(node, "output_name");
            old = old.Length > 0 ? old : nodeName;
            string name;
            if (Names.Trim(to ?? "").Length > 0)
            {
                name = CheckName(to);
                if (name != nodeName && name != old)
                {
                    name = Names.Unique(name, Taken(others, kinds));
                }
            }
            else
            {
                CheckName(nodeName); // a broken name, user_message above all, must not become a slot
                name = nodeName;
            }
            JObject result = Rewritten(root, -1, kinds, None, RenamedSlot(old, name, others, kinds), None);
            string stored = name == nodeName ? "" : name;
            if (stored != TextOf(node, "output_name"))
            {
                ((JArray)result["nodes"])[at]["output_name"] = stored;
            }
            return new AuthoringEdit(result, old, name, false, new string[0]);
        }

        /// <summary>Removes a node: exits to it become END and a start there is cleared; inputs that named its slot keep
        /// what they name and are flagged.</summary>
        public static AuthoringEdit DeleteNode(JToken workflow, string nodeName, IDictionary<string, NodeKind> kinds)
        {
            JObject root = RootOf(workflow);
            IList<JObject> nodes = NodesOf(root);
            int at = Find(nodes, nodeName);
            List<JObject> others = Without(nodes, at);
            Dictionary<string, string> targets = Renamed(nodeName, "", others.Select(NameOf));
            Dictionary<string, string> lost = RenamedSlot(SlotOf(nodes[at], kinds) ?? "", "", others, kinds);
            var flagged = new List<string>();
            for (int index = 0; index < others.Count; index++)
            {
                JObject other = others[index];
                NodeKind kind = KindOf(other, kinds) ?? UnknownKind;
                if (kind.InputFields.Any(field => lost.ContainsKey(TextOf(other, field))))
                {
                    string name = NameOf(other);
                    flagged.Add(name.Length > 0 ? name : "nodes[" + Digits(index) + "]");
                }
            }
            return new AuthoringEdit(
                Rewritten(root, at, kinds, targets, None, None), nodeName, "", false, flagged);
        }

        // ---- What follows a rename: each returns old -> new, empty when nothing does

        /// <summary>Empty is no name (an empty exit is END), and a name that another still has stays with that other.
        /// </summary>
        private static Dictionary<string, string> Renamed(string old, string name, IEnumerable<string> kept)
        {
            var renamed = new Dictionary<string, string>(StringComparer.Ordinal);
            if (!string.IsNullOrEmpty(old) && old != name && !kept.Contains(old))
            {
                renamed[old] = name;
            }
            return renamed;
        }

        /// <summary>The reserved slot is the player's line, whatever a broken node claims to write.</summary>
        private static Dictionary<string, string> RenamedSlot(
            string old, string name, IEnumerable<JObject> others, IDictionary<string, NodeKind> kinds)
        {
            return old == Names.Reserved ? None : Renamed(old, name, others.Select(other => SlotOf(other, kinds)));
        }

        private static Dictionary<string, string> RenamedTags(
            JObject node, string name, IList<JObject> others, IDictionary<string, NodeKind> kinds)
        {
            var tags = new Dictionary<string, string>(StringComparer.Ordinal);
            NodeKind kind = KindOf(node, kinds);
            foreach (string family in kind == null ? Families : new[] { kind.TagFamily })
            {
                bool byDefault;
                string old = family.Length > 0 ? TagNameOf(node, kinds, family, out byDefault) : NoTag(out byDefault);
                if (!byDefault)
                {
                    continue;
                }
                bool ignored;
                IEnumerable<string> kept = others.Select(other => TagNameOf(other, kinds, family, out ignored)).ToList();
                foreach (KeyValuePair<string, string> item in Renamed(old, name, kept))
                {
                    tags[family + item.Key] = family + item.Value;
                }
            }
            return tags;
        }

        private static string NoTag(out bool byDefault)
        {
            byDefault = false;
            return "";
        }

        /// <summary>The name that the node makes readable in this family of tags, and whether that is its own by default.
        /// </summary>
        /// <remarks>A type that is not known may belong to either family.</remarks>
        private static string TagNameOf(
            JObject node, IDictionary<string, NodeKind> kinds, string family, out bool byDefault)
        {
            NodeKind kind = KindOf(node, kinds);
            if (kind != null && kind.TagFamily != family)
            {
                return NoTag(out byDefault);
            }
            string field = kind != null ? kind.TagNameField
                : family == InstructionFamily ? "instruction_name" : family == KnowledgeFamily ? "source" : "";
            JToken given = field.Length > 0 ? node[field] : null;
            byDefault = given == null || given.Type == JTokenType.Null
                || (given.Type == JTokenType.String && ((string)given).Length == 0);
            return byDefault ? NameOf(node) : TextOf(node, field);
        }

        // ---- Raw JSON

        /// <summary>A copy of the workflow, without the node at `removed` (-1: with all), references replaced: node
        /// names, slots, and whole tag keys.</summary>
        private static JObject Rewritten(
            JObject root,
            int removed,
            IDictionary<string, NodeKind> kinds,
            IDictionary<string, string> targets,
            IDictionary<string, string> slots,
            IDictionary<string, string> tags)
        {
            var keys = new Dictionary<string, string>(tags, StringComparer.Ordinal);
            foreach (KeyValuePair<string, string> slot in slots)
            {
                keys["slot." + slot.Key] = "slot." + slot.Value;
            }
            JObject result = Copied(root);
            var nodes = (JArray)result["nodes"];
            if (removed >= 0)
            {
                nodes.RemoveAt(removed);
            }
            foreach (JToken node in nodes)
            {
                NodeKind kind = KindOf((JObject)node, kinds) ?? UnknownKind;
                foreach (JProperty field in ((JObject)node).Properties())
                {
                    if (field.Value.Type != JTokenType.String)
                    {
                        continue;
                    }
                    var before = (string)field.Value;
                    string after = Replaced(kind, field.Name, before, targets, slots, keys);
                    if (after != before)
                    {
                        field.Value = new JValue(after);
                    }
                }
            }
            string start;
            if (targets.TryGetValue(TextOf(root, "start_node"), out start))
            {
                result["start_node"] = start;
            }
            return result;
        }

        private static string Replaced(
            NodeKind kind,
            string field,
            string value,
            IDictionary<string, string> targets,
            IDictionary<string, string> slots,
            IDictionary<string, string> keys)
        {
            string other;
            if (IsExit(field))
            {
                return targets.TryGetValue(value, out other) ? other : value;
            }
            if (kind.InputFields.Contains(field))
            {
                return slots.TryGetValue(value, out other) ? other : value;
            }
            return kind.TemplateFields.Contains(field) ? TemplateTags.Renamed(value, keys) : value;
        }

        private static JObject Copied(JObject root)
        {
            try
            {
                return (JObject)JsonText.Copy(root);
            }
            catch (JsonFormatException fault)
            {
                throw new AuthoringException(
                    AuthoringReason.NotAWorkflow, "The workflow cannot be edited: " + fault.Message + ".");
            }
        }

        /// <summary>The indexes of the nodes from which nodes[at] can be reached by one exit or more.</summary>
        private static HashSet<int> Upstream(IList<JObject> nodes, int at)
        {
            var before = new Dictionary<string, List<int>>(StringComparer.Ordinal);
            for (int index = 0; index < nodes.Count; index++)
            {
                foreach (JProperty field in nodes[index].Properties())
                {
                    string target = IsExit(field.Name) ? TextOf(field.Value) : "";
                    if (target.Length == 0)
                    {
                        continue;
                    }
                    List<int> leading;
                    if (!before.TryGetValue(target, out leading))
                    {
                        before[target] = leading = new List<int>();
                    }
                    leading.Add(index);
                }
            }
            var found = new HashSet<int>();
            var names = new Stack<string>();
            names.Push(NameOf(nodes[at]));
            while (names.Count > 0)
            {
                string name = names.Pop();
                List<int> leading;
                if (!before.TryGetValue(name, out leading))
                {
                    continue;
                }
                before.Remove(name);
                foreach (int index in leading)
                {
                    if (found.Add(index))
                    {
                        names.Push(NameOf(nodes[index]));
                    }
                }
            }
            return found;
        }

        private static HashSet<string> Taken(IEnumerable<JObject> others, IDictionary<string, NodeKind> kinds)
        {
            var taken = new HashSet<string>(StringComparer.Ordinal);
            foreach (JObject other in others)
            {
                taken.Add(NameOf(other));
                taken.Add(SlotOf(other, kinds) ?? "");
            }
            return taken;
        }

        internal static bool IsExit(string field)
        {
            return field.EndsWith("_exit", StringComparison.Ordinal);
        }

        internal static NodeKind KindOf(JObject node, IDictionary<string, NodeKind> kinds)
        {
            NodeKind kind;
            return kinds.TryGetValue(TextOf(node, "type"), out kind) ? kind : null;
        }

        internal static string NameOf(JObject node)
        {
            return TextOf(node, "name");
        }

        /// <summary>The field's text; empty when it is missing, null or of another type.</summary>
        internal static string TextOf(JObject node, string field)
        {
            return TextOf(node[field]);
        }

        internal static string TextOf(JToken value)
        {
            return value != null && value.Type == JTokenType.String ? (string)value : "";
        }

        private static List<JObject> Without(IList<JObject> nodes, int at)
        {
            var others = new List<JObject>(nodes);
            others.RemoveAt(at);
            return others;
        }

        private static int Find(IList<JObject> nodes, string nodeName)
        {
            for (int at = 0; at < nodes.Count; at++)
            {
                if (nodes[at].Property("name") != null && NameOf(nodes[at]) == nodeName)
                {
                    return at;
                }
            }
            string names = string.Join(", ", nodes.Take(12).Select(node => Names.Shown(NameOf(node))).ToArray())
                + (nodes.Count > 12 ? ", …" : "");
            string remedy = nodes.Count > 0 ? "choose one of " + names : "add it first";
            throw new AuthoringException(
                AuthoringReason.UnknownNode,
                "The workflow has no node called " + Names.Shown(nodeName ?? "") + "; " + remedy + ".");
        }

        private static JObject RootOf(JToken workflow)
        {
            var root = workflow as JObject;
            if (root == null)
            {
                throw NotAWorkflow("The workflow", workflow, "an object", "put it in { }");
            }
            return root;
        }

        /// <summary>The nodes, checked as far as the rules rest on them.</summary>
        private static IList<JObject> NodesOf(JObject root)
        {
            if (root.Property("nodes") == null)
            {
                throw new AuthoringException(
                    AuthoringReason.NotAWorkflow, "The workflow has no 'nodes'; give it a list of nodes.");
            }
            var items = root["nodes"] as JArray;
            if (items == null)
            {
                throw NotAWorkflow("nodes", root["nodes"], "a list", "put the nodes in [ ]");
            }
            var nodes = new List<JObject>(items.Count);
            foreach (JToken item in items)
            {
                string path = "nodes[" + Digits(nodes.Count) + "]";
                var node = item as JObject;
                if (node == null)
                {
                    throw NotAWorkflow(path, item, "an object", "give it a name and a type, or remove it");
                }
                if (node.Property("name") != null && node["name"].Type != JTokenType.String)
                {
                    throw NotAWorkflow(path + ".name", node["name"], "a text", "put a name in quotes");
                }
                // Writers of JSON that know no missing text write null for it.
                JToken slot = node["output_name"];
                if (slot != null && slot.Type != JTokenType.Null && slot.Type != JTokenType.String)
                {
                    throw NotAWorkflow(path + ".output_name", slot, "a text", "put a name in quotes");
                }
                nodes.Add(node);
            }
            return nodes;
        }

        private static AuthoringException NotAWorkflow(string path, JToken value, string wanted, string remedy)
        {
            return new AuthoringException(
                AuthoringReason.NotAWorkflow, path + " is " + Described(value) + ", not " + wanted + "; " + remedy + ".");
        }

        private static string Described(JToken value)
        {
            switch (value == null ? JTokenType.Null : value.Type)
            {
                case JTokenType.Object:
                    return "an object";
                case JTokenType.Array:
                    return "a list";
                case JTokenType.Boolean:
                    return "true or false";
                case JTokenType.Null:
                case JTokenType.Undefined:
                    return "null";
                case JTokenType.Integer:
                case JTokenType.Float:
                    return "a number";
                default:
                    return "a text";
            }
        }

        private static string Digits(int number)
        {
            return number.ToString(CultureInfo.InvariantCulture);
        }
    }
}
