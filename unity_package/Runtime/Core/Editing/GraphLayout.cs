// Where the boxes of a workflow's graph stand.
using System;
using System.Collections.Generic;
using System.Linq;
using Newtonsoft.Json.Linq;

namespace Parley
{
    /// <summary>A place in a graph window; y grows downwards.</summary>
    public struct GraphPoint
    {
        /// <summary>To the right.</summary>
        public readonly double X;

        /// <summary>Down.</summary>
        public readonly double Y;

        /// <summary>A place.</summary>
        public GraphPoint(double x, double y)
        {
            X = x;
            Y = y;
        }
    }

    /// <summary>An exit that is set: what a graph draws as an edge.</summary>
    public sealed class GraphEdge
    {
        internal GraphEdge(int from, string field, int to, string target)
        {
            From = from;
            Field = field;
            To = to;
            Target = target;
        }

        /// <summary>The index of the node that it leaves.</summary>
        public int From { get; }

        /// <summary>The exit's field.</summary>
        public string Field { get; }

        /// <summary>The index of the node that it leads to; -1: there is no such node, show it as missing.</summary>
        public int To { get; }

        /// <summary>The name that the exit holds.</summary>
        public string Target { get; }
    }

    /// <summary>Where the nodes of a workflow stand in a graph window: from the start to the right, one column a step.
    /// </summary>
    /// <remarks>
    /// The same workflow always looks the same. Any JSON will do; what is no node is passed over and stands nowhere.
    /// Places are never kept in the workflow, where the sidecar refuses fields that it does not know, but beside it, by
    /// node name.
    /// </remarks>
    public sealed class GraphLayout
    {
        private const int Sweeps = 4;

        private readonly List<JObject> _nodes = new List<JObject>();
        private readonly List<GraphEdge> _edges = new List<GraphEdge>();
        private readonly List<List<int>> _after = new List<List<int>>();
        private readonly List<List<int>> _before = new List<List<int>>();
        private readonly int[] _column;
        private readonly double[] _row;

        private GraphLayout(JToken workflow)
        {
            var root = workflow as JObject;
            ReadNodes(root == null ? null : root["nodes"] as JArray);
            _column = new int[_nodes.Count];
            _row = new double[_nodes.Count];
            Place(root == null ? "" : Authoring.TextOf(root, "start_node"));
        }

        /// <summary>Lays out a workflow.</summary>
        public static GraphLayout Of(JToken workflow)
        {
            return new GraphLayout(workflow);
        }

        /// <summary>Entries of the workflow's nodes, those that are none included.</summary>
        public int Count
        {
            get { return _nodes.Count; }
        }

        /// <summary>Every exit that leads somewhere, in workflow order.</summary>
        public IList<GraphEdge> Edges
        {
            get { return _edges; }
        }

        /// <summary>Whether nodes[index] is an object, so that there is something to draw.</summary>
        public bool IsNode(int index)
        {
            return _nodes[index] != null;
        }

        /// <summary>The column of nodes[index], from 0: the most steps that lead to it without going round.</summary>
        public int Column(int index)
        {
            return _column[index];
        }

        /// <summary>The row of nodes[index]; columns are centred, so it may be a half.</summary>
        public double Row(int index)
        {
            return _row[index];
        }

        /// <summary>A place for each node by index: the kept one where its name has one (of two with one name, the first),
        /// else the laid-out one, moved down until it covers no other.</summary>
        /// <param name="kept">Places by node name.</param>
        /// <param name="width">From column to column.</param>
        /// <param name="height">From row to row.</param>
        public IList<GraphPoint> Arrange(IDictionary<string, GraphPoint> kept, double width, double height)
        {
            var points = new GraphPoint[_nodes.Count];
            var isPlaced = new bool[_nodes.Count];
            var named = new HashSet<string>(StringComparer.Ordinal);
            for (int index = 0; index < points.Length; index++)
            {
                string name = _nodes[index] == null ? "" : Authoring.NameOf(_nodes[index]);
                isPlaced[index] = name.Length > 0 && kept.ContainsKey(name) && named.Add(name);
                points[index] = isPlaced[index] ? kept[name] : new GraphPoint(_column[index] * width, _row[index] * height);
            }
            for (int index = 0; index < points.Length; index++)
            {
                if (isPlaced[index] || _nodes[index] == null)
                {
                    continue;
                }
                for (int other = 0; other < points.Length; other++)
                {
                    if (isPlaced[other] && Covers(points[index], points[other], width, height))
                    {
                        points[index] = new GraphPoint(points[index].X, points[other].Y + height);
                        other = -1; // it may cover one that was looked at before
                    }
                }
                isPlaced[index] = true;
            }
            return points;
        }

        private static bool Covers(GraphPoint one, GraphPoint other, double width, double height)
        {
            // A kept place may be anything; one that is no number covers nothing.
            return Math.Abs(one.X - other.X) < width * 0.9 && Math.Abs(one.Y - other.Y) < height * 0.9
                && other.Y + height > one.Y;
        }

        private void ReadNodes(JArray items)
        {
            var index = new Dictionary<string, int>(StringComparer.Ordinal);
            foreach (JToken item in items ?? new JArray())
            {
                var node = item as JObject;
                string name = node == null ? "" : Authoring.NameOf(node);
                if (name.Length > 0 && !index.ContainsKey(name))
                {
                    index[name] = _nodes.Count;
                }
                _nodes.Add(node);
                _after.Add(new List<int>());
                _before.Add(new List<int>());
            }
            for (int from = 0; from < _nodes.Count; from++)
            {
                if (_nodes[from] == null)
                {
                    continue;
                }
                foreach (JProperty field in _nodes[from].Properties())
                {
                    string target = Authoring.IsExit(field.Name) ? Authoring.TextOf(field.Value) : "";
                    if (target.Length > 0)
                    {
                        int to;
                        to = index.TryGetValue(target, out to) ? to : -1;
                        _edges.Add(new GraphEdge(from, field.Name, to, target));
                        if (to >= 0 && !_after[from].Contains(to))
                        {
                            _after[from].Add(to);
                        }
                    }
                }
            }
        }

        /// <summary>Places what the start leads to, then, below, what each node leads to that is still without a place.
        /// </summary>
        private void Place(string start)
        {
            var isSeen = new bool[_nodes.Count];
            double top = 0;
            int first = _nodes.FindIndex(node => node != null && start.Length > 0 && Authoring.NameOf(node) == start);
            var roots = new List<int>();
            if (first >= 0)
            {
                roots.Add(first);
            }
            // Where nothing else leads to a node it is a better beginning than one in the middle of a chain.
            var isTarget = new HashSet<int>(_after.SelectMany((targets, from) => targets.Where(to => to != from)));
            roots.AddRange(Enumerable.Range(0, _nodes.Count).Where(index => !isTarget.Contains(index)));
            roots.AddRange(Enumerable.Range(0, _nodes.Count));
            foreach (int root in roots)
            {
                if (!isSeen[root] && _nodes[root] != null)
                {
                    top = PlaceGroup(root, isSeen, top);
                }
            }
        }

        private double PlaceGroup(int root, bool[] isSeen, double top)
        {
            List<int> order = Order(root, isSeen);
            var inGroup = new HashSet<int>(order);
            var rank = new Dictionary<int, int>();
            for (int at = 0; at < order.Count; at++)
            {
                rank[order[at]] = at;
            }
            // In this order every edge that does not go back leads on, so columns are final when they are used.
            foreach (int from in order)
            {
                foreach (int to in _after[from].Where(to => inGroup.Contains(to) && rank[to] > rank[from]))
                {
                    _column[to] = Math.Max(_column[to], _column[from] + 1);
                    _before[to].Add(from);
                }
            }
            List<List<int>> columns = Columns(order);
            int tallest = columns.Max(column => column.Count);
            foreach (List<int> column in columns)
            {
                for (int at = 0; at < column.Count; at++)
                {
                    _row[column[at]] = top + at + ((tallest - column.Count) / 2.0);
                }
            }
            return top + tallest;
        }

        /// <summary>The nodes that the root leads to, each behind all that lead to it but for those on a way back.</summary>
        private List<int> Order(int root, bool[] isSeen)
        {
            var order = new List<int>();
            var way = new Stack<KeyValuePair<int, int>>();
            isSeen[root] = true;
            way.Push(new KeyValuePair<int, int>(root, 0));
            while (way.Count > 0)
            {
                KeyValuePair<int, int> step = way.Pop();
                List<int> targets = _after[step.Key];
                if (step.Value == targets.Count)
                {
                    order.Add(step.Key);
                    continue;
                }
                way.Push(new KeyValuePair<int, int>(step.Key, step.Value + 1));
                // From the last exit to the first, so that the first exit's nodes come first once the order is turned.
                int target = targets[targets.Count - 1 - step.Value];
                if (!isSeen[target])
                {
                    isSeen[target] = true;
                    way.Push(new KeyValuePair<int, int>(target, 0));
                }
            }
            order.Reverse();
            return order;
        }

        /// <summary>The columns, each in the order of rows that lets few edges cross.</summary>
        private List<List<int>> Columns(List<int> order)
        {
            var columns = new List<List<int>>();
            foreach (int node in order)
            {
                while (columns.Count <= _column[node])
                {
                    columns.Add(new List<int>());
                }
                columns[_column[node]].Add(node);
            }
            List<List<int>> best = Copied(columns);
            int fewest = Crossings(columns);
            for (int sweep = 0; sweep < Sweeps && fewest > 0; sweep++)
            {
                bool forwards = sweep % 2 == 0;
                for (int step = 1; step < columns.Count; step++)
                {
                    int at = forwards ? step : columns.Count - 1 - step;
                    Dictionary<int, int> rows = Rows(columns[forwards ? at - 1 : at + 1]);
                    Dictionary<int, int> own = Rows(columns[at]);
                    columns[at] = columns[at]
                        .OrderBy(node => Middle(forwards ? _before[node] : _after[node], rows, own[node]))
                        .ToList(); // a stable sort
                }
                int crossings = Crossings(columns);
                if (crossings < fewest)
                {
                    fewest = crossings;
                    best = Copied(columns);
                }
            }
            return best;
        }

        private static double Middle(IEnumerable<int> neighbours, Dictionary<int, int> rows, int own)
        {
            List<int> places = neighbours.Where(rows.ContainsKey).Select(node => rows[node]).ToList();
            return places.Count == 0 ? own : places.Average();
        }

        private static Dictionary<int, int> Rows(List<int> column)
        {
            var rows = new Dictionary<int, int>();
            for (int at = 0; at < column.Count; at++)
            {
                rows[column[at]] = at;
            }
            return rows;
        }

        private int Crossings(List<List<int>> columns)
        {
            int crossings = 0;
            for (int at = 0; at + 1 < columns.Count; at++)
            {
                Dictionary<int, int> rows = Rows(columns[at + 1]);
                var earlier = new List<int>();
                foreach (int node in columns[at])
                {
                    List<int> ends = _after[node].Where(rows.ContainsKey).Select(to => rows[to]).ToList();
                    crossings += ends.Sum(end => earlier.Count(other => other > end));
                    earlier.AddRange(ends);
                }
            }
            return crossings;
        }

        private static List<List<int>> Copied(List<List<int>> columns)
        {
            return columns.Select(column => column.ToList()).ToList();
        }
    }
}
