// What an authoring rule has done.
using System.Collections.Generic;
using Newtonsoft.Json.Linq;

namespace Parley
{
    /// <summary>What an edit made of a workflow.</summary>
    public sealed class AuthoringEdit
    {
        internal AuthoringEdit(JObject workflow, string from, string to, bool nameFollows, IList<string> flagged)
        {
            Workflow = workflow;
            From = from;
            To = to;
            NameFollows = nameFollows;
            Flagged = flagged;
        }

        /// <summary>The new workflow; the one that was edited is as it was.</summary>
        public JObject Workflow { get; }

        /// <summary>The node's or slot's old name.</summary>
        public string From { get; }

        /// <summary>The new name, which may have got a suffix; empty after a deletion.</summary>
        public string To { get; }

        /// <summary>The node has a new name and no other answers to the old one, so what knows it by name from outside
        /// the workflow, such as a cast, must follow.</summary>
        public bool NameFollows { get; }

        /// <summary>After a deletion: the nodes whose input lost its only writer, by name, else by JSON path.</summary>
        public IList<string> Flagged { get; }

        /// <summary>The node names of a cast as they must be after this edit, in the cast's order; unknown ones stay.
        /// </summary>
        public IList<string> Follow(IEnumerable<string> castNames)
        {
            var names = new List<string>();
            foreach (string name in castNames)
            {
                names.Add(NameFollows && name == From ? To : name);
            }
            return names;
        }
    }
}
