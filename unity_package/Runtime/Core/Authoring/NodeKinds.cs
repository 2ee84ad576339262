// The node types that this package knows, for the authoring rules.
using System;
using System.Collections.Generic;

namespace Parley
{
    /// <summary>What the authoring rules know of the node types.</summary>
    public static class NodeKinds
    {
        /// <summary>The types that Parley comes with, by name. Do not change it; a game with types of its own makes a
        /// dictionary of its own.</summary>
        public static readonly IDictionary<string, NodeKind> Packaged = Of(NodeTypes.All);

        /// <summary>The same of any types.</summary>
        public static Dictionary<string, NodeKind> Of(IEnumerable<NodeType> types)
        {
            var kinds = new Dictionary<string, NodeKind>(StringComparer.Ordinal);
            foreach (NodeType type in types)
            {
                kinds[type.Name] = new NodeKind(
                    type.Produces,
                    type.FieldsOf(ParamKind.Template),
                    type.FieldsOf(ParamKind.SlotInput),
                    type.TagFamily,
                    type.TagNameField);
            }
            return kinds;
        }
    }
}
