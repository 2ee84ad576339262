// Where an edited workflow lives in the editor, and what else knows its nodes.
using System.Collections.Generic;

namespace Parley.Editor
{
    /// <summary>Holds the text of one workflow and the undo history of its edits. An asset in the editor, a field in tests.</summary>
    public interface IWorkflowStore : IWorkflowText, IEditUndo
    {
        /// <summary>
        /// What the next edit is about. Edits about the same, one right behind the other, undo together: a text that is
        /// typed, a slider that is dragged. Empty: the edit stands alone.
        /// </summary>
        string MergeKey { get; set; }

        /// <summary>What knows a node by its name from outside the workflow, and follows when it is renamed.</summary>
        IEnumerable<INodeNames> FollowersOf(string nodeName);
    }
}
