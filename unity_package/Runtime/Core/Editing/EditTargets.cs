// What an edit of a workflow may change besides its JSON.
using System.Collections.Generic;

namespace Parley
{
    /// <summary>Where the workflow that is edited lives: an asset, a file, a field of a test.</summary>
    public interface IWorkflowText
    {
        /// <summary>The text of the .workflow.json, whole.</summary>
        string Text { get; set; }
    }

    /// <summary>Something outside a workflow that knows its nodes by name: a cast, the positions of a graph.</summary>
    public interface INodeNames
    {
        /// <summary>The names in an order that lasts until the next edit.</summary>
        IList<string> Names { get; }

        /// <summary>Gives one of them another name.</summary>
        void Rename(int index, string name);
    }

    /// <summary>The editor's undo: what one edit changes is one group.</summary>
    public interface IEditUndo
    {
        /// <summary>A group begins. Called only when there is something to change.</summary>
        void Begin(string label);

        /// <summary>This target (an IWorkflowText or INodeNames) is about to be changed; keep how it is.</summary>
        void Keep(object target);

        /// <summary>The group is complete.</summary>
        void End();
    }
}
