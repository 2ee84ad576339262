// Edits a workflow step by step, with a cast that follows and an undo that records.
using System;
using System.Collections.Generic;
using System.Linq;
using Newtonsoft.Json.Linq;
using Parley;

internal sealed class EditingCase : IWorkflowText, INodeNames, IEditUndo
{
    private readonly List<string> _cast;
    private readonly Stack<List<Action>> _groups = new Stack<List<Action>>();
    private readonly JArray _told = new JArray();
    private readonly WorkflowEditing _editing;

    private EditingCase(JObject given, IDictionary<string, NodeKind> kinds)
    {
        Text = (string)given["text"];
        _cast = given["cast"].Select(name => (string)name).ToList();
        _editing = new WorkflowEditing(this, kinds, this);
        _editing.Followers.Add(this);
    }

    public string Text { get; set; }

    IList<string> INodeNames.Names
    {
        get { return _cast; }
    }

    void INodeNames.Rename(int index, string name)
    {
        _cast[index] = name;
    }

    void IEditUndo.Begin(string label)
    {
        _told.Add("begin " + label);
        _groups.Push(new List<Action>());
    }

    void IEditUndo.Keep(object target)
    {
        string text = Text;
        string[] cast = _cast.ToArray();
        _groups.Peek().Add(() =>
        {
            Text = text;
            for (int at = 0; at < cast.Length; at++)
            {
                _cast[at] = cast[at];
            }
        });
    }

    void IEditUndo.End()
    {
        _told.Add("end");
    }

    /// <summary>What each step told, then text and cast after it.</summary>
    public static JToken Run(JObject given, IDictionary<string, NodeKind> kinds)
    {
        var edited = new EditingCase(given, kinds);
        var told = new JArray();
        foreach (JToken step in (JArray)given["steps"])
        {
            edited._told.Clear();
            try
            {
                edited.Do((JArray)step);
            }
            catch (Exception fault)
            {
                if (!(fault is AuthoringException || fault is InvalidOperationException || fault is JsonFormatException))
                {
                    throw;
                }
                edited._told.Add(fault.Message);
            }
            told.Add(new JArray(new JArray(edited._told), edited.Text, new JArray(edited._cast.ToArray())));
        }
        return told;
    }

    private void Do(JArray step)
    {
        string one = step.Count > 1 ? (string)step[1] : "";
        string other = step.Count > 2 && step[2].Type == JTokenType.String ? (string)step[2] : "";
        switch ((string)step[0])
        {
            case "rename_node":
                _editing.RenameNode(one, other);
                break;
            case "rename_slot":
                _editing.RenameSlot(one, other);
                break;
            case "delete_node":
                _editing.DeleteNode(one);
                break;
            case "add_node":
                _told.Add(_editing.AddNode(one));
                break;
            case "set":
                _told.Add(_editing.SetField((int)step[1], other, step.Count > 3 ? step[3] : null));
                break;
            case "set_deep":
                JToken deep = new JArray();
                for (int depth = 0; depth < 98; depth++)
                {
                    deep = new JArray(deep);
                }
                _editing.SetField(0, "filter", deep);
                break;
            case "begin":
                _editing.Begin(one);
                break;
            case "commit":
                _told.Add(_editing.Commit());
                break;
            case "cancel":
                _editing.Cancel();
                break;
            case "elsewhere":
                Text = one;
                break;
            case "undo":
                List<Action> group = _groups.Pop();
                group.Reverse();
                group.ForEach(restore => restore());
                break;
            default:
                throw new ArgumentException((string)step[0]);
        }
    }
}
