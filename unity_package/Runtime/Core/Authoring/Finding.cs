// What is wrong with a workflow, and where.
using System;
using System.Collections.Generic;
using System.Globalization;
using Parley.Messages;

namespace Parley
{
    /// <summary>Something to say about a workflow, by the sidecar's compiler or by QuickValidation.</summary>
    public sealed class Finding
    {
        private const string NodePath = "$.nodes[";

        /// <summary>A finding; its node is told by its path.</summary>
        public Finding(Severity severity, ErrorCode code, string message, string path, string nodeName, string field)
        {
            Severity = severity;
            Code = code;
            Message = message;
            Path = path;
            NodeName = nodeName;
            Field = field;
            NodeIndex = IndexIn(path);
        }

        /// <summary>An error stops the workflow from running; a warning never does.</summary>
        public Severity Severity { get; }

        /// <summary>The kind of finding.</summary>
        public ErrorCode Code { get; }

        /// <summary>What is wrong and what would be right.</summary>
        public string Message { get; }

        /// <summary>Where in the workflow's JSON, such as $.nodes[2].template.</summary>
        public string Path { get; }

        /// <summary>The node it is about; empty: the workflow itself, or a node without a name.</summary>
        public string NodeName { get; }

        /// <summary>The parameter it is about; empty: the whole node or workflow.</summary>
        public string Field { get; }

        /// <summary>The place of its node in the workflow; -1: the workflow itself. Of two nodes with one name this tells
        /// which is meant.</summary>
        public int NodeIndex { get; }

        /// <summary>Whether it stops the workflow from running.</summary>
        public bool IsError
        {
            get { return Severity == Severity.Error; }
        }

        /// <summary>A finding of the sidecar's.</summary>
        public static Finding Of(Problem problem)
        {
            return new Finding(
                problem.Severity, (ErrorCode)problem.Code, problem.Message, problem.Path, problem.NodeName, problem.Field);
        }

        private static int IndexIn(string path)
        {
            int index;
            int close = path.StartsWith(NodePath, StringComparison.Ordinal) ? path.IndexOf(']') : -1;
            string digits = close > 0 ? path.Substring(NodePath.Length, close - NodePath.Length) : "";
            return int.TryParse(digits, NumberStyles.None, CultureInfo.InvariantCulture, out index) ? index : -1;
        }
    }

    /// <summary>The findings about one field, errors first.</summary>
    public sealed class FieldFindings
    {
        internal FieldFindings(string field)
        {
            Field = field;
            Items = new List<Finding>();
        }

        /// <summary>The field; empty: the whole node or workflow.</summary>
        public string Field { get; }

        /// <summary>At least one.</summary>
        public IList<Finding> Items { get; }
    }

    /// <summary>The findings about one node, by field.</summary>
    public sealed class NodeFindings
    {
        internal NodeFindings(int nodeIndex, string nodeName)
        {
            NodeIndex = nodeIndex;
            NodeName = nodeName;
            Fields = new List<FieldFindings>();
            ByName = new Dictionary<string, FieldFindings>();
        }

        /// <summary>The node's place in the workflow; -1: the workflow itself.</summary>
        public int NodeIndex { get; }

        /// <summary>The node's name; empty where it has none.</summary>
        public string NodeName { get; }

        /// <summary>Fields in the order in which they were found faulty.</summary>
        public IList<FieldFindings> Fields { get; }

        /// <summary>Whether one of them stops the workflow from running.</summary>
        public bool HasError { get; internal set; }

        /// <summary>The same fields: a file of a hostile maker has as many of them as fit.</summary>
        internal Dictionary<string, FieldFindings> ByName { get; }
    }

    /// <summary>All findings about a workflow: errors first, each kind in workflow order, and grouped by node and field.
    /// </summary>
    public sealed class Findings
    {
        private static readonly Finding[] Nothing = new Finding[0];
        private readonly List<Finding> _all = new List<Finding>();
        private readonly SortedDictionary<int, NodeFindings> _nodes = new SortedDictionary<int, NodeFindings>();

        /// <summary>Sorts and groups findings.</summary>
        public Findings(IEnumerable<Finding> findings)
        {
            // List.Sort keeps no order among equals, so the place is part of what is compared.
            var given = new List<KeyValuePair<int, Finding>>();
            foreach (Finding finding in findings)
            {
                given.Add(new KeyValuePair<int, Finding>(given.Count, finding));
            }
            given.Sort(InOrder);
            foreach (KeyValuePair<int, Finding> item in given)
            {
                Add(item.Value);
            }
        }

        /// <summary>Errors first, each kind in workflow order.</summary>
        public IList<Finding> All
        {
            get { return _all; }
        }

        /// <summary>By node, in workflow order; the workflow itself comes first.</summary>
        public IEnumerable<NodeFindings> Nodes
        {
            get { return _nodes.Values; }
        }

        /// <summary>How many stop the workflow from running.</summary>
        public int ErrorCount { get; private set; }

        /// <summary>How many do not.</summary>
        public int WarningCount { get; private set; }

        /// <summary>What the sidecar answered to ValidateWorkflow.</summary>
        public static Findings Of(Messages.Validation reply)
        {
            return Of(reply.Problems);
        }

        /// <summary>What an error of the sidecar carries.</summary>
        public static Findings Of(IEnumerable<Problem> problems)
        {
            var findings = new List<Finding>();
            foreach (Problem problem in problems)
            {
                findings.Add(Finding.Of(problem));
            }
            return new Findings(findings);
        }

        /// <summary>The findings about one node, -1: about the workflow itself; null: there are none.</summary>
        public NodeFindings OfNode(int nodeIndex)
        {
            NodeFindings found;
            return _nodes.TryGetValue(nodeIndex, out found) ? found : null;
        }

        /// <summary>The findings about one field of a node.</summary>
        public IList<Finding> OfField(int nodeIndex, string field)
        {
            NodeFindings node = OfNode(nodeIndex);
            if (node != null)
            {
                foreach (FieldFindings group in node.Fields)
                {
                    if (group.Field == field)
                    {
                        return group.Items;
                    }
                }
            }
            return Nothing;
        }

        private void Add(Finding finding)
        {
            _all.Add(finding);
            NodeFindings node;
            if (!_nodes.TryGetValue(finding.NodeIndex, out node))
            {
                _nodes[finding.NodeIndex] = node = new NodeFindings(finding.NodeIndex, finding.NodeName);
            }
            FieldFindings field;
            string name = finding.Field ?? "";
            if (!node.ByName.TryGetValue(name, out field))
            {
                node.ByName[name] = field = new FieldFindings(finding.Field);
                node.Fields.Add(field);
            }
            field.Items.Add(finding);
            node.HasError |= finding.IsError;
            ErrorCount += finding.IsError ? 1 : 0;
            WarningCount += finding.IsError ? 0 : 1;
        }

        private static int InOrder(KeyValuePair<int, Finding> one, KeyValuePair<int, Finding> other)
        {
            int order = other.Value.IsError.CompareTo(one.Value.IsError);
            order = order != 0 ? order : one.Value.NodeIndex.CompareTo(other.Value.NodeIndex);
            return order != 0 ? order : one.Key.CompareTo(other.Key);
        }
    }
}
