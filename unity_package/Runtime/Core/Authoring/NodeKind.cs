// What the authoring rules need to know of a node type.
using System;
using System.Collections.Generic;

namespace Parley
{
    /// <summary>What the authoring rules must know of a node type.</summary>
    public sealed class NodeKind
    {
        private static readonly string[] DefaultTemplates = { "template", "instruction" };
        private static readonly string[] DefaultInputs = { "input" };

        /// <summary>A type of node. Null fields: those that the packaged types have.</summary>
        public NodeKind(
            bool produces,
            IEnumerable<string> templateFields = null,
            IEnumerable<string> inputFields = null,
            string tagFamily = "",
            string tagNameField = "")
        {
            Produces = produces;
            TemplateFields = new HashSet<string>(templateFields ?? DefaultTemplates, StringComparer.Ordinal);
            InputFields = new HashSet<string>(inputFields ?? DefaultInputs, StringComparer.Ordinal);
            TagFamily = tagFamily;
            TagNameField = tagNameField;
        }

        /// <summary>The type writes a slot.</summary>
        public bool Produces { get; }

        /// <summary>The fields with Mustache tags.</summary>
        public ICollection<string> TemplateFields { get; }

        /// <summary>The fields that name a slot to read.</summary>
        public ICollection<string> InputFields { get; }

        /// <summary>instruction_ or knowledge_: the tags that the node's name makes readable; empty for none.</summary>
        public string TagFamily { get; }

        /// <summary>The field that, when not empty, gives the tag its name in place of the node's name.</summary>
        public string TagNameField { get; }
    }
}
