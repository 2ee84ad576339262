// What an inspector draws for one field: the control, the value, the choices, what is wrong with it.
using System;
using System.Collections.Generic;
using Newtonsoft.Json.Linq;

namespace Parley.Editor
{
    /// <summary>The control that a field is drawn with.</summary>
    public enum FieldControl
    {
        /// <summary>One line, committed on Enter or when the focus leaves it; a node's name.</summary>
        Name,
        /// <summary>One line, committed likewise; the slot that a node writes.</summary>
        Slot,
        /// <summary>One line.</summary>
        Text,
        /// <summary>Several lines.</summary>
        Lines,
        /// <summary>Several lines with Mustache tags.</summary>
        Template,
        /// <summary>One of some values.</summary>
        Dropdown,
        /// <summary>A file below the storage folder, or a storage that the game makes.</summary>
        File,
        /// <summary>Yes or no.</summary>
        Boolean,
        /// <summary>A whole number.</summary>
        Integer,
        /// <summary>A number.</summary>
        Number,
        /// <summary>Entries one below the other.</summary>
        List,
        /// <summary>Fields of its own.</summary>
        Record,
        /// <summary>JSON as it stands.</summary>
        Json
    }

    /// <summary>The entries of a dropdown. A stored value that is none of them is one more entry, marked as missing.</summary>
    public sealed class Dropdown
    {
        /// <summary>What is stored for each entry.</summary>
        public readonly List<string> Values = new List<string>();

        /// <summary>What each entry shows.</summary>
        public readonly List<string> Labels = new List<string>();

        /// <summary>The entry that is stored.</summary>
        public int Selected = -1;

        /// <summary>What is stored is none of the choices: it is shown in red.</summary>
        public bool IsMissing;

        /// <summary>Adds an entry.</summary>
        public void Add(string value, string label)
        {
            Values.Add(value);
            Labels.Add(label);
        }

        /// <summary>Selects what is stored; adds it as missing where it is none of the entries.</summary>
        public void Select(string value)
        {
            Selected = Values.IndexOf(value);
            if (Selected < 0)
            {
                Add(value, value.Length > 0 ? value + " (missing)" : "(none)");
                Selected = Values.Count - 1;
                IsMissing = true;
            }
        }

        internal static Dropdown Of(ChoiceList choices)
        {
            var dropdown = new Dropdown { Selected = choices.Selected };
            foreach (var item in choices.Items)
            {
                dropdown.Add(item.Value, item.Label);
            }
            dropdown.IsMissing = choices.Selected >= 0 && choices.Items[choices.Selected].IsMissing;
            return dropdown;
        }
    }

    /// <summary>One field of a workflow, a node, a record or a list.</summary>
    public sealed class FieldRow
    {
        /// <summary>Where it is, such as $.nodes[0].input.</summary>
        public string Path = "";

        /// <summary>The same as field names and indexes from the workflow's root.</summary>
        public object[] Steps = new object[0];

        /// <summary>What stands before the control.</summary>
        public string Label = "";

        /// <summary>What the field means; empty: not known.</summary>
        public string Tooltip = "";

        /// <summary>How it is drawn.</summary>
        public FieldControl Control;

        /// <summary>What is stored; null: nothing, the default holds.</summary>
        public JToken Stored;

        /// <summary>What the control shows: what is stored, else the default; null: neither.</summary>
        public JToken Value;

        /// <summary>It may be left out or taken away, and then means something.</summary>
        public bool IsOptional;

        /// <summary>Fixed when the agent is made; a running conversation does not notice an edit.</summary>
        public bool IsStructural;

        /// <summary>The node type declares it.</summary>
        public bool IsKnown;

        /// <summary>The bounds of a number; null: none.</summary>
        public double? Least, Most;

        /// <summary>The entries of a dropdown; null: it is none.</summary>
        public Dropdown Choices;

        /// <summary>The fields of a record, the entries of a list.</summary>
        public readonly List<FieldRow> Children = new List<FieldRow>();

        /// <summary>What an entry that is added to a list begins as.</summary>
        public JToken NewItem;

        /// <summary>What is stored is of another kind than the field; the control is JSON then.</summary>
        public string Fault = "";

        /// <summary>What validation says of it.</summary>
        public readonly List<Finding> Findings = new List<Finding>();

        /// <summary>Why the last edit of it was refused; empty: it was not.</summary>
        public string Refusal = "";

        /// <summary>The value as a text; empty where it is none.</summary>
        public string Text
        {
            get { return Value != null && Value.Type == JTokenType.String ? (string)Value : ""; }
        }

        /// <summary>The value as yes or no.</summary>
        public bool Flag
        {
            get { return Value != null && Value.Type == JTokenType.Boolean && (bool)Value; }
        }

        /// <summary>The value as a number; 0 where it is none.</summary>
        public double Number
        {
            get
            {
                double number;
                return Numbers.TryRead(Value, out number) ? number : 0;
            }
        }

        /// The row whose path is the longest beginning of a finding's; null: none.
        internal static FieldRow Deepest(List<FieldRow> rows, string path)
        {
            foreach (var row in rows)
            {
                if (path.StartsWith(row.Path, StringComparison.Ordinal)
                    && (path.Length == row.Path.Length || path[row.Path.Length] == '.' || path[row.Path.Length] == '['))
                {
                    return Deepest(row.Children, path) ?? row;
                }
            }
            return null;
        }

        /// <summary>The value as JSON on one line.</summary>
        public string Json
        {
            get { return Value == null ? "" : JsonText.Compact(Value); }
        }
    }

    /// <summary>One node of a workflow.</summary>
    public sealed class NodeRow
    {
        private readonly List<Finding> _told = new List<Finding>();
        private readonly List<Finding> _findings = new List<Finding>();
        private readonly Func<List<FieldRow>> _make;
        private List<FieldRow> _fields;

        internal NodeRow(Func<List<FieldRow>> make)
        {
            _make = make;
        }

        /// <summary>Its place in the workflow.</summary>
        public int Index;

        /// <summary>Its name; empty: it has none.</summary>
        public string Name = "";

        /// <summary>Its type, as stored.</summary>
        public string TypeName = "";

        /// <summary>What is known of the type; null: nothing.</summary>
        public NodeType Type;

        /// <summary>A turn begins here.</summary>
        public bool IsStart;

        /// <summary>Its fields, in the order in which the type declares them, then the others. Made when they are asked for.</summary>
        public List<FieldRow> Fields
        {
            get
            {
                Make();
                return _fields;
            }
        }

        /// <summary>What validation says of the node and not of one of its fields.</summary>
        public List<Finding> Findings
        {
            get
            {
                Make();
                return _findings;
            }
        }

        /// <summary>How many of all findings about it are errors, and warnings.</summary>
        public int Errors, Warnings;

        /// <summary>The node as one line.</summary>
        public string Title
        {
            get { return (Name.Length > 0 ? Name : "(no name)") + "  ·  " + (TypeName.Length > 0 ? TypeName : "(no type)"); }
        }

        internal void Tell(Finding finding)
        {
            _told.Add(finding);
            Errors += finding.IsError ? 1 : 0;
            Warnings += finding.IsError ? 0 : 1;
        }

        private void Make()
        {
            if (_fields != null)
            {
                return;
            }
            _fields = _make();
            foreach (var finding in _told)
            {
                var row = FieldRow.Deepest(_fields, finding.Path) ?? (finding.Field.Length > 0 ? Field(finding.Field) : null);
                (row == null ? _findings : row.Findings).Add(finding);
            }
        }

        /// <summary>A field by its name; null: it has none.</summary>
        public FieldRow Field(string name)
        {
            foreach (var field in Fields)
            {
                if (field.Steps.Length > 0 && Equals(field.Steps[field.Steps.Length - 1], name))
                {
                    return field;
                }
            }
            return null;
        }
    }

    /// <summary>Numbers out of JSON.</summary>
    internal static class Numbers
    {
        /// Big integers and the like are none that a control can show: they stay JSON.
        public static bool TryRead(JToken token, out double number)
        {
            var value = token as JValue;
            var held = value == null ? null : value.Value;
            if (held is long || held is int)
            {
                number = Convert.ToDouble(held, System.Globalization.CultureInfo.InvariantCulture);
                return true;
            }
            if (held is double || held is float || held is decimal)
            {
                number = Convert.ToDouble(held, System.Globalization.CultureInfo.InvariantCulture);
                return !double.IsNaN(number) && !double.IsInfinity(number);
            }
            number = 0;
            return false;
        }

        public static bool IsWhole(JToken token)
        {
            var value = token as JValue;
            return value != null && (value.Value is long || value.Value is int);
        }
    }
}
