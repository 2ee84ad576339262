// A workflow as boxes and the exits between them: where everything is, and what a mouse does to it.
using System;
using System.Collections.Generic;
using System.Globalization;
using Newtonsoft.Json.Linq;

namespace Parley.Editor
{
    /// <summary>One exit of a box.</summary>
    public sealed class GraphPort
    {
        /// <summary>The exit, such as default.</summary>
        public string Exit = "";

        /// <summary>The field that names the next node.</summary>
        public string Field = "";

        /// <summary>The node that it names; empty: END.</summary>
        public string Target = "";

        /// <summary>The box that it leads to; -1: END, or no node of that name.</summary>
        public int TargetBox = -1;

        /// <summary>It names a node that is not there.</summary>
        public bool IsMissing;

        /// <summary>Its middle, in the graph's own units.</summary>
        public float X, Y;
    }

    /// <summary>One node as a box.</summary>
    public sealed class GraphBox
    {
        /// <summary>Its place in the workflow.</summary>
        public int Index;

        /// <summary>The node.</summary>
        public NodeRow Node;

        /// <summary>Where it is, in the graph's own units.</summary>
        public float X, Y, Width, Height;

        /// <summary>A turn can come here.</summary>
        public bool IsReachable;

        /// <summary>It may be moved and connected by its name: no other box has it, and it has one.</summary>
        public bool HasOwnName;

        /// <summary>Its exits, from top to bottom.</summary>
        public readonly List<GraphPort> Ports = new List<GraphPort>();

        /// <summary>Whether a point is on it.</summary>
        public bool Contains(float x, float y)
        {
            return x >= X && x < X + Width && y >= Y && y < Y + Height;
        }
    }

    /// <summary>One exit that leads to a node.</summary>
    public sealed class GraphLine
    {
        /// <summary>Where it comes from, and by which exit.</summary>
        public GraphBox From;

        /// <summary>The exit.</summary>
        public GraphPort Port;

        /// <summary>Where it leads.</summary>
        public GraphBox To;

        /// <summary>It leads back to where a turn has been: a cycle.</summary>
        public bool IsBack;
    }

    /// <summary>Keeps where a person put the boxes of one workflow.</summary>
    public interface IGraphPositions
    {
        /// <summary>What was kept; empty: nothing.</summary>
        string Text { get; set; }
    }

    /// <summary>The graph of the workflow that an inspector model holds.</summary>
    public sealed class GraphModel
    {
        /// <summary>The width of a box.</summary>
        public const float BoxWidth = 190f;

        private const string ExitSuffix = "_exit";
        private const float HeadHeight = 42f;
        private const float PortHeight = 20f;
        private const float ColumnStep = 270f;
        private const float RowGap = 28f;
        private const float Margin = 40f;
        private const float PortReach = 10f;

        private readonly WorkflowInspectorModel _workflow;
        private readonly IGraphPositions _positions;
        private string _builtFrom;
        private List<NodeRow> _builtRows;
        private Dictionary<string, GraphPoint> _placed;

        // What the mouse is doing.
        private GraphBox _held;
        private GraphPort _pulled;
        private float _heldX, _heldY;
        private bool _moved;

        /// <summary>The graph of a workflow. `positions` null: boxes are always placed anew.</summary>
        public GraphModel(WorkflowInspectorModel workflow, IGraphPositions positions = null)
        {
            _workflow = workflow;
            _positions = positions;
            Boxes = new List<GraphBox>();
            Edges = new List<GraphLine>();
            Selected = -1;
        }

        /// <summary>The boxes, in workflow order.</summary>
        public List<GraphBox> Boxes { get; private set; }

        /// <summary>The exits that lead to a box.</summary>
        public List<GraphLine> Edges { get; private set; }

        /// <summary>The selected box's place in the workflow; -1: none.</summary>
        public int Selected { get; set; }

        /// <summary>The workflow that is drawn.</summary>
        public WorkflowInspectorModel Workflow
        {
            get { return _workflow; }
        }

        /// <summary>The exit that is being pulled to a node; null: none.</summary>
        public GraphPort Pulled
        {
            get { return _pulled; }
        }

        /// <summary>Where the pulled exit is now.</summary>
        public float PulledX { get; private set; }

        /// <summary>Where the pulled exit is now.</summary>
        public float PulledY { get; private set; }

        /// <summary>The size of all boxes together, with a margin.</summary>
        public float Width { get; private set; }

        /// <summary>The size of all boxes together, with a margin.</summary>
        public float Height { get; private set; }

        /// <summary>Reads the workflow again where it changed. Cheap otherwise.</summary>
        public void Refresh()
        {
            _workflow.Refresh();
            if (_builtFrom == _workflow.Text && ReferenceEquals(_builtRows, _workflow.Nodes))
            {
                return;
            }
            _builtFrom = _workflow.Text;
            _builtRows = _workflow.Nodes;
            Build();
        }

        /// <summary>Forgets where a person put the boxes.</summary>
        public void Arrange()
        {
            _placed = new Dictionary<string, GraphPoint>(StringComparer.Ordinal);
            Keep();
            _builtFrom = null;
            Refresh();
        }

        // ---- edits: each returns whether the workflow changed

        /// <summary>Leads an exit to a node; `target` -1: to END.</summary>
        public bool Connect(GraphBox from, GraphPort port, int target)
        {
            var name = target < 0 ? "" : Boxes[target].Node.Name;
            if (target >= 0 && !Boxes[target].HasOwnName)
            {
                return false; // its name would mean another node, or none
            }
            var row = from.Node.Field(port.Field);
            if (row == null || name == port.Target)
            {
                return false;
            }
            return _workflow.SetText(row, name);
        }

        /// <summary>Lets turns begin at a node.</summary>
        public bool SetStart(int index)
        {
            Refresh();
            foreach (var field in _workflow.Fields)
            {
                if (field.Path == "$.start_node" && Boxes[index].HasOwnName)
                {
                    return _workflow.SetText(field, Boxes[index].Node.Name);
                }
            }
            return false;
        }

        /// <summary>Renames a node; its box stays where it is.</summary>
        public bool Rename(int index, string to)
        {
            Refresh();
            var before = Boxes[index].Node.Name;
            if (!_workflow.Rename(index, to))
            {
                return false;
            }
            _workflow.Refresh();
            GraphPoint place;
            if (Placed().TryGetValue(before, out place))
            {
                _placed.Remove(before);
                _placed[_workflow.Nodes[index].Name] = place;
                Keep();
            }
            return true;
        }

        /// <summary>Adds a node of a type and puts its box somewhere.</summary>
        public bool Add(string typeName, float x, float y)
        {
            var name = _workflow.Add(typeName);
            if (name == null)
            {
                return false;
            }
            Placed()[name] = new GraphPoint(x, y);
            Keep();
            Refresh();
            Selected = Boxes.Count - 1;
            return true;
        }

        /// <summary>Removes a node.</summary>
        public bool Delete(int index)
        {
            if (!_workflow.Delete(index))
            {
                return false;
            }
            Selected = -1;
            return true;
        }

        // ---- the mouse: each returns whether the graph must be drawn again

        /// <summary>The button goes down: takes hold of an exit or a box, or selects nothing.</summary>
        public bool Press(float x, float y)
        {
            Refresh();
            _held = null;
            _pulled = null;
            _moved = false;
            for (var at = Boxes.Count - 1; at >= 0; at--)
            {
                foreach (var port in Boxes[at].Ports)
                {
                    if (Math.Abs(port.X - x) <= PortReach && Math.Abs(port.Y - y) <= PortReach)
                    {
                        _held = Boxes[at];
                        _pulled = port;
                        PulledX = x;
                        PulledY = y;
                        Selected = at;
                        return true;
                    }
                }
                if (Boxes[at].Contains(x, y))
                {
                    _held = Boxes[at];
                    _heldX = x - _held.X;
                    _heldY = y - _held.Y;
                    Selected = at;
                    return true;
                }
            }
            var had = Selected >= 0;
            Selected = -1;
            return had;
        }

        /// <summary>The mouse moves with the button down.</summary>
        public bool Drag(float x, float y)
        {
            if (_pulled != null)
            {
                PulledX = x;
                PulledY = y;
                return true;
            }
            if (_held == null)
            {
                return false;
            }
            MoveTo(_held, Math.Max(0f, x - _heldX), Math.Max(0f, y - _heldY));
            _moved = true;
            return true;
        }

        /// <summary>The button goes up: a pulled exit leads to the box below the mouse, or to END where there is none.</summary>
        public bool Release(float x, float y)
        {
            var held = _held;
            var pulled = _pulled;
            _held = null;
            _pulled = null;
            if (pulled != null)
            {
                var target = BoxAt(x, y);
                if (target != null || Math.Abs(x - pulled.X) > PortReach || Math.Abs(y - pulled.Y) > PortReach)
                {
                    // A box whose own exit is let go over it leads to itself: a cycle is legal.
                    Connect(held, pulled, target == null ? -1 : target.Index);
                }
                return true;
            }
            if (held != null && _moved && held.HasOwnName)
            {
                Placed()[held.Node.Name] = new GraphPoint(held.X, held.Y);
                Keep();
            }
            return held != null;
        }

        /// <summary>The box at a point; null: none.</summary>
        public GraphBox BoxAt(float x, float y)
        {
            for (var at = Boxes.Count - 1; at >= 0; at--)
            {
                if (Boxes[at].Contains(x, y))
                {
                    return Boxes[at];
                }
            }
            return null;
        }

        // ---- building

        private void Build()
        {
            Boxes = new List<GraphBox>();
            Edges = new List<GraphLine>();
            var byName = new Dictionary<string, int>(StringComparer.Ordinal);
            var twice = new HashSet<string>(StringComparer.Ordinal);
            foreach (var node in _workflow.Nodes)
            {
                if (node.Name.Length > 0)
                {
                    if (byName.ContainsKey(node.Name))
                    {
                        twice.Add(node.Name);
                    }
                    else
                    {
                        byName[node.Name] = node.Index;
                    }
                }
            }
            foreach (var node in _workflow.Nodes)
            {
                var box = new GraphBox { Index = node.Index, Node = node, Width = BoxWidth };
                box.HasOwnName = node.Name.Length > 0 && !twice.Contains(node.Name);
                AddPorts(box, byName);
                box.Height = HeadHeight + Math.Max(1, box.Ports.Count) * PortHeight + 6f;
                Boxes.Add(box);
            }
            int start;
            if (byName.TryGetValue(EditorJson.Text(_workflow.Json, "start_node"), out start))
            {
                Reach(start);
            }
            var layout = GraphLayout.Of(_workflow.Json);
            Place(layout);
            foreach (var box in Boxes)
            {
                foreach (var port in box.Ports)
                {
                    if (port.TargetBox >= 0)
                    {
                        var isBack = layout.Column(port.TargetBox) <= layout.Column(box.Index);
                        Edges.Add(new GraphLine { From = box, Port = port, To = Boxes[port.TargetBox], IsBack = isBack });
                    }
                }
            }
            if (Selected >= Boxes.Count)
            {
                Selected = -1;
            }
        }

        /// The exits that the type declares, then those of a type that is not known here.
        private void AddPorts(GraphBox box, Dictionary<string, int> byName)
        {
            var json = ((JArray)_workflow.Json["nodes"])[box.Index] as JObject;
            var fields = new List<string>();
            if (box.Node.Type != null)
            {
                foreach (var exit in box.Node.Type.Exits)
                {
                    fields.Add(exit.Field);
                }
            }
            foreach (var property in json == null ? new JProperty[0] : json.Properties())
            {
                if (property.Name.EndsWith(ExitSuffix, StringComparison.Ordinal) && !fields.Contains(property.Name))
                {
                    fields.Add(property.Name);
                }
            }
            foreach (var field in fields)
            {
                var stored = json[field];
                var port = new GraphPort { Field = field, Exit = field.Substring(0, field.Length - ExitSuffix.Length) };
                port.IsMissing = stored != null && stored.Type != JTokenType.Null && stored.Type != JTokenType.String;
                port.Target = port.IsMissing ? JsonText.Compact(stored) : EditorJson.Text(json, field);
                int target;
                if (!port.IsMissing && byName.TryGetValue(port.Target, out target))
                {
                    port.TargetBox = target;
                }
                port.IsMissing = port.IsMissing || (port.Target.Length > 0 && port.TargetBox < 0);
                box.Ports.Add(port);
            }
        }

        private void Reach(int start)
        {
            var next = new Queue<int>();
            Boxes[start].IsReachable = true;
            next.Enqueue(start);
            while (next.Count > 0)
            {
                foreach (var port in Boxes[next.Dequeue()].Ports)
                {
                    if (port.TargetBox >= 0 && !Boxes[port.TargetBox].IsReachable)
                    {
                        Boxes[port.TargetBox].IsReachable = true;
                        next.Enqueue(port.TargetBox);
                    }
                }
            }
        }

        private void Place(GraphLayout layout)
        {
            float highest = 0f;
            foreach (var box in Boxes)
            {
                highest = Math.Max(highest, box.Height);
            }
            var points = layout.Arrange(Placed(), ColumnStep, highest + RowGap);
            Width = Height = 0f;
            foreach (var box in Boxes)
            {
                var isPlaced = Placed().ContainsKey(box.Node.Name);
                MoveTo(box, (float)points[box.Index].X + (isPlaced ? 0f : Margin), (float)points[box.Index].Y + (isPlaced ? 0f : Margin));
                Width = Math.Max(Width, box.X + box.Width + Margin);
                Height = Math.Max(Height, box.Y + box.Height + Margin);
            }
        }

        private static void MoveTo(GraphBox box, float x, float y)
        {
            box.X = x;
            box.Y = y;
            for (var at = 0; at < box.Ports.Count; at++)
            {
                box.Ports[at].X = x + box.Width;
                box.Ports[at].Y = y + HeadHeight + (at + 0.5f) * PortHeight;
            }
        }

        // ---- where a person put them

        private Dictionary<string, GraphPoint> Placed()
        {
            if (_placed != null)
            {
                return _placed;
            }
            _placed = new Dictionary<string, GraphPoint>(StringComparer.Ordinal);
            string fault;
            var kept = _positions == null || string.IsNullOrEmpty(_positions.Text) ? null : EditorJson.ParseObject(_positions.Text, out fault);
            if (kept == null)
            {
                return _placed;
            }
            foreach (var property in kept.Properties())
            {
                var pair = property.Value as JArray;
                double x, y;
                if (pair != null && pair.Count == 2 && Numbers.TryRead(pair[0], out x) && Numbers.TryRead(pair[1], out y))
                {
                    _placed[property.Name] = new GraphPoint(x, y);
                }
            }
            return _placed;
        }

        private void Keep()
        {
            if (_positions == null)
            {
                return;
            }
            var kept = new JObject();
            foreach (var place in Placed())
            {
                kept[place.Key] = new JArray(Math.Round(place.Value.X), Math.Round(place.Value.Y));
            }
            _positions.Text = kept.Count == 0 ? "" : kept.ToString(Newtonsoft.Json.Formatting.None);
        }

        /// <summary>The graph's facts on one line, for its title.</summary>
        public string Summary
        {
            get
            {
                return string.Format(
                    CultureInfo.InvariantCulture, "{0} nodes, {1} errors, {2} warnings",
                    Boxes.Count, _workflow.Found.ErrorCount, _workflow.Found.WarningCount);
            }
        }
    }
}
