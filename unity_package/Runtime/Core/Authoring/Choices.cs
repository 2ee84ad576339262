// What a designer may pick for a field that names something.
using System;
using System.Collections.Generic;
using Newtonsoft.Json.Linq;

namespace Parley
{
    /// <summary>One entry of a dropdown.</summary>
    public sealed class Choice
    {
        internal Choice(string value, string label, bool isMissing)
        {
            Value = value;
            Label = label;
            IsMissing = isMissing;
        }

        /// <summary>What the field stores.</summary>
        public string Value { get; }

        /// <summary>What the dropdown shows.</summary>
        public string Label { get; }

        /// <summary>The field stores it, but it is none of the choices: show it in red, and never drop it.</summary>
        public bool IsMissing { get; }
    }

    /// <summary>A dropdown for one field: its entries in order and which of them is stored.</summary>
    public sealed class ChoiceList
    {
        internal ChoiceList(IList<Choice> items, int selected)
        {
            Items = items;
            Selected = selected;
        }

        /// <summary>The entries; a missing value is the last of them.</summary>
        public IList<Choice> Items { get; }

        /// <summary>The index of the stored one.</summary>
        public int Selected { get; }
    }

    /// <summary>What the dropdowns of editors offer. They read any JSON: what is no node is passed over, and nothing is
    /// thrown.</summary>
    public static class Choices
    {
        /// <summary>How the player's line is called in dropdowns.</summary>
        public const string UserMessage = "User Message";

        /// <summary>How an exit is called that ends the turn.</summary>
        public const string End = "END";

        /// <summary>The choices of an input field of nodes[index]: the player's line, stored as empty, then the slots that
        /// are written before the node.</summary>
        public static ChoiceList Inputs(
            JToken workflow, int index, IDictionary<string, NodeKind> kinds, string field = "input")
        {
            IList<JObject> nodes = NodesOf(workflow);
            var items = new List<Choice> { new Choice("", UserMessage, false) };
            bool exists = index >= 0 && index < nodes.Count;
            if (exists)
            {
                foreach (string slot in Authoring.InputChoices(nodes, index, kinds))
                {
                    if (slot != Names.Reserved)
                    {
                        items.Add(new Choice(slot, slot, false));
                    }
                }
            }
            JToken stored = exists ? nodes[index][field] : null;
            return Selected(items, Authoring.TextOf(stored) == Names.Reserved ? null : stored);
        }

        /// <summary>The same for the first node of a name.</summary>
        public static ChoiceList Inputs(
            JToken workflow, string nodeName, IDictionary<string, NodeKind> kinds, string field = "input")
        {
            return Inputs(workflow, IndexOf(workflow, nodeName), kinds, field);
        }

        /// <summary>The choices of an exit, or of the workflow's start: the nodes in workflow order, each name once, and
        /// for an exit the end of the turn before them.</summary>
        public static ChoiceList Exits(JToken workflow, JToken stored, bool withEnd = true)
        {
            var items = new List<Choice>();
            if (withEnd)
            {
                items.Add(new Choice("", End, false));
            }
            var seen = new HashSet<string>(StringComparer.Ordinal);
            foreach (JObject node in NodesOf(workflow))
            {
                string name = Authoring.NameOf(node);
                if (name.Length > 0 && seen.Add(name))
                {
                    items.Add(new Choice(name, name, false));
                }
            }
            return Selected(items, stored);
        }

        /// <summary>The choices of a field that names a variable of the workflow, in their order; empty is none.</summary>
        public static ChoiceList Variables(JToken workflow, JToken stored)
        {
            var root = workflow as JObject;
            var declared = root == null ? null : root["variables"] as JArray;
            var items = new List<Choice> { new Choice("", "(none)", false) };
            var seen = new HashSet<string>(StringComparer.Ordinal);
            foreach (JToken item in declared ?? new JArray())
            {
                string name = item is JObject ? Authoring.NameOf((JObject)item) : "";
                if (name.Length > 0 && seen.Add(name))
                {
                    items.Add(new Choice(name, name, false));
                }
            }
            return Selected(items, stored);
        }

        /// <summary>The index in the workflow's nodes of the first of this name; -1: there is none.</summary>
        public static int IndexOf(JToken workflow, string nodeName)
        {
            IList<JObject> nodes = NodesOf(workflow);
            for (int index = 0; index < nodes.Count; index++)
            {
                if (Authoring.TextOf(nodes[index], "name") == nodeName && nodes[index].Property("name") != null)
                {
                    return index;
                }
            }
            return -1;
        }

        private static ChoiceList Selected(List<Choice> items, JToken stored)
        {
            string value = stored == null || stored.Type == JTokenType.Null ? ""
                : stored.Type == JTokenType.String ? (string)stored : JsonText.Shown(stored);
            bool isText = stored == null || stored.Type == JTokenType.Null || stored.Type == JTokenType.String;
            int selected = isText ? items.FindIndex(item => item.Value == value) : -1;
            if (selected < 0)
            {
                items.Add(new Choice(value, value.Length > 0 ? value + " (missing)" : "(none)", true));
                selected = items.Count - 1;
            }
            return new ChoiceList(items, selected);
        }

        /// <summary>The nodes at their places; an empty object stands for what is none.</summary>
        private static IList<JObject> NodesOf(JToken workflow)
        {
            var root = workflow as JObject;
            var items = root == null ? null : root["nodes"] as JArray;
            var nodes = new List<JObject>();
            if (items != null)
            {
                foreach (JToken item in items)
                {
                    nodes.Add(item as JObject ?? new JObject());
                }
            }
            return nodes;
        }
    }
}
