// The description of a node type and its parameters, for editors.
using System;
using System.Collections.Generic;
using Newtonsoft.Json.Linq;

namespace Parley
{
    /// <summary>What the JSON of a parameter is.</summary>
    public enum ParamType
    {
        /// <summary>Whatever JSON there is.</summary>
        Json,

        /// <summary>A text.</summary>
        Text,

        /// <summary>A whole number.</summary>
        Integer,

        /// <summary>A number.</summary>
        Number,

        /// <summary>True or false.</summary>
        Boolean,

        /// <summary>One of the texts in Choices.</summary>
        Choice,

        /// <summary>A list; Item describes each entry.</summary>
        List,

        /// <summary>An object with the fields in Fields.</summary>
        Record,

        /// <summary>An object with whatever is in it.</summary>
        Object,
    }

    /// <summary>One parameter of a node type, or one field of a record inside a parameter. Never changes.</summary>
    public sealed class NodeParam
    {
        private static readonly NodeParam[] NoParams = new NodeParam[0];
        private static readonly string[] NoChoices = new string[0];

        internal NodeParam()
        {
            Name = "";
            Meaning = "";
            DefaultJson = "null";
            Choices = NoChoices;
            Fields = NoParams;
        }

        /// <summary>The field in the workflow's JSON; empty for the entries of a list.</summary>
        public string Name { get; internal set; }

        /// <summary>What its JSON is.</summary>
        public ParamType Type { get; internal set; }

        /// <summary>Which picker it wants.</summary>
        public ParamKind Kind { get; internal set; }

        /// <summary>What it is for: the tooltip.</summary>
        public string Meaning { get; internal set; }

        /// <summary>It is set when the agent is made, and ChangeParams refuses to change it.</summary>
        public bool IsFixed { get; internal set; }

        /// <summary>ChangeParams may change it between turns.</summary>
        public bool IsMutable
        {
            get { return !IsFixed; }
        }

        /// <summary>It must be there.</summary>
        public bool IsRequired { get; internal set; }

        /// <summary>It may be null, which is also what it is when it is not there.</summary>
        public bool IsOptional { get; internal set; }

        /// <summary>What it is when it is not there, as JSON; <c>null</c> where it is required.</summary>
        public string DefaultJson { get; internal set; }

        /// <summary>The least number; null: no bound.</summary>
        public double? Least { get; internal set; }

        /// <summary>The greatest number; null: no bound.</summary>
        public double? Most { get; internal set; }

        /// <summary>It must be above Least.</summary>
        public bool LeastIsExcluded { get; internal set; }

        /// <summary>It must be below Most.</summary>
        public bool MostIsExcluded { get; internal set; }

        /// <summary>The least number of characters or entries; null: no bound.</summary>
        public int? LeastLength { get; internal set; }

        /// <summary>The greatest number of characters or entries; null: no bound.</summary>
        public int? MostLength { get; internal set; }

        /// <summary>The texts to choose from, where it is a Choice.</summary>
        public IReadOnlyList<string> Choices { get; internal set; }

        /// <summary>What each entry is, where it is a List; else null.</summary>
        public NodeParam Item { get; internal set; }

        /// <summary>What is in it, where it is a Record.</summary>
        public IReadOnlyList<NodeParam> Fields { get; internal set; }

        /// <summary>What it is when it is not there. A new token each time.</summary>
        public JToken Default()
        {
            return JsonText.Parse(DefaultJson);
        }
    }

    /// <summary>A way out of a node.</summary>
    public sealed class NodeExit
    {
        /// <summary>Such as <c>default</c>.</summary>
        public string Name { get; internal set; }

        /// <summary>The field that names the next node, such as <c>default_exit</c>.</summary>
        public string Field { get; internal set; }

        /// <summary>When it is taken: the tooltip.</summary>
        public string Meaning { get; internal set; }
    }

    /// <summary>Something with a name and a sentence about it: a template tag, or a NodeEvent.</summary>
    public sealed class NodeNote
    {
        /// <summary>The tag as a template has it, or the event's name.</summary>
        public string Name { get; internal set; }

        /// <summary>What the tag stands for, or what the event's data holds.</summary>
        public string Meaning { get; internal set; }
    }

    /// <summary>What an editor must know to draw nodes of a type. Never changes.</summary>
    public sealed class NodeType
    {
        private static readonly NodeNote[] NoNotes = new NodeNote[0];
        private static readonly NodeExit[] NoExits = new NodeExit[0];
        private static readonly NodeParam[] NoParams = new NodeParam[0];

        internal NodeType()
        {
            TagFamily = "";
            TagNameField = "";
            Offers = NoNotes;
            Events = NoNotes;
            Exits = NoExits;
            Params = NoParams;
        }

        /// <summary>The <c>type</c> of its nodes.</summary>
        public string Name { get; internal set; }

        /// <summary>All that is to be said about it.</summary>
        public string Meaning { get; internal set; }

        /// <summary>The first sentences of that.</summary>
        public string Summary { get; internal set; }

        /// <summary>Its nodes write a slot.</summary>
        public bool Produces { get; internal set; }

        /// <summary>Its nodes have a language model.</summary>
        public bool UsesModel { get; internal set; }

        /// <summary>instruction_ or knowledge_: the tags that the node's name makes readable; empty for none.</summary>
        public string TagFamily { get; internal set; }

        /// <summary>The field that, when not empty, gives the tag its name in place of the node's name.</summary>
        public string TagNameField { get; internal set; }

        /// <summary>Other template tags that it fills.</summary>
        public IReadOnlyList<NodeNote> Offers { get; internal set; }

        /// <summary>The NodeEvents that it pushes.</summary>
        public IReadOnlyList<NodeNote> Events { get; internal set; }

        /// <summary>The ways out of its nodes.</summary>
        public IReadOnlyList<NodeExit> Exits { get; internal set; }

        /// <summary>Every field beside <c>type</c>, exits included, in the order in which they are written.</summary>
        public IReadOnlyList<NodeParam> Params { get; internal set; }

        /// <summary>A parameter by its field; null: there is none.</summary>
        public NodeParam Param(string name)
        {
            foreach (var param in Params)
            {
                if (string.Equals(param.Name, name, StringComparison.Ordinal))
                {
                    return param;
                }
            }
            return null;
        }

        /// <summary>The fields of one kind.</summary>
        public List<string> FieldsOf(ParamKind kind)
        {
            var found = new List<string>();
            foreach (var param in Params)
            {
                if (param.Kind == kind)
                {
                    found.Add(param.Name);
                }
            }
            return found;
        }
    }

    /// <summary>The node types. Threading: read from anywhere.</summary>
    public static partial class NodeTypes
    {
        private static readonly NodeType[] Known = Describe();

        /// <summary>In the order of their names.</summary>
        public static IReadOnlyList<NodeType> All
        {
            get { return Known; }
        }

        /// <summary>A type by its name; null: it is not known here.</summary>
        public static NodeType Find(string name)
        {
            foreach (var type in Known)
            {
                if (string.Equals(type.Name, name, StringComparison.Ordinal))
                {
                    return type;
                }
            }
            return null;
        }
    }
}
