// Draws the rows of a workflow with the controls that their kinds ask for.
using System;
using System.Collections.Generic;
using System.Globalization;
using UnityEditor;
using UnityEngine;

namespace Parley.Editor
{
    /// <summary>Draws fields and collects what was edited. Edits are done after drawing: Unity's GUI lays out first.</summary>
    internal sealed class FieldDrawer
    {
        private const double SliderRange = 20;
        private const double IntSliderRange = 100;
        private static readonly Color Missing = new Color(1f, 0.35f, 0.35f);

        private readonly WorkflowInspectorModel _model;
        private readonly Dictionary<string, bool> _open = new Dictionary<string, bool>(StringComparer.Ordinal);
        private readonly List<Action> _later = new List<Action>();
        private readonly List<Action> _rebuilds = new List<Action>();
        private GUIStyle _lines;

        public FieldDrawer(WorkflowInspectorModel model)
        {
            _model = model;
        }

        /// An edit to do once everything is drawn.
        public void Later(Action edit)
        {
            _later.Add(edit);
        }

        /// The same of one after which other controls are drawn.
        /// A text that is still being typed belongs to a control by its place. It must be committed while that place is
        /// still that control's, or it would go to another one: so the focus is taken away first, Unity commits, and the
        /// edit is done after that.
        public void Rebuild(Action edit)
        {
            _rebuilds.Add(edit);
        }

        /// Does what was collected; true: something was. `repaint`: for what is done a moment later.
        public bool DoEdits(Action repaint)
        {
            // What the layout pass laid out must still be so in the pass that it was laid out for.
            if (Event.current.type == EventType.Layout || _later.Count + _rebuilds.Count == 0)
            {
                return false;
            }
            Do(_later);
            if (_rebuilds.Count > 0 && EditorGUIUtility.editingTextField)
            {
                var rebuilds = _rebuilds.ToArray();
                _rebuilds.Clear();
                GUI.FocusControl(null);
                EditorApplication.delayCall += delegate
                {
                    foreach (var rebuild in rebuilds)
                    {
                        rebuild();
                    }
                    repaint();
                };
                return true;
            }
            Do(_rebuilds);
            return true;
        }

        private static void Do(List<Action> edits)
        {
            var now = edits.ToArray();
            edits.Clear();
            foreach (var edit in now)
            {
                edit();
            }
        }

        public bool IsOpen(string path, bool byDefault = false)
        {
            bool isOpen;
            return _open.TryGetValue(path, out isOpen) ? isOpen : byDefault;
        }

        public void SetOpen(string path, bool isOpen)
        {
            if (isOpen != IsOpen(path))
            {
                Rebuild(delegate { _open[path] = isOpen; });
            }
        }

        /// Opens a foldout that is not drawn yet.
        public void Open(string path)
        {
            _open[path] = true;
        }

        public void Draw(List<FieldRow> rows, int nodeIndex)
        {
            foreach (var row in rows)
            {
                Draw(row, nodeIndex, false);
            }
        }

        public static void DrawFindings(IEnumerable<Finding> findings)
        {
            foreach (var finding in findings)
            {
                EditorGUILayout.HelpBox(finding.Message, finding.IsError ? MessageType.Error : MessageType.Warning);
            }
        }

        private void Draw(FieldRow row, int nodeIndex, bool isItem)
        {
            EditorGUILayout.BeginHorizontal();
            EditorGUILayout.BeginVertical();
            DrawControl(row, nodeIndex);
            EditorGUILayout.EndVertical();
            if (isItem)
            {
                DrawItemButtons(row);
            }
            else if (row.IsOptional && row.Stored != null && GUILayout.Button("×", GUILayout.Width(20f)))
            {
                Rebuild(delegate { _model.Clear(row); });
            }
            EditorGUILayout.EndHorizontal();
            if (row.Fault.Length > 0)
            {
                EditorGUILayout.HelpBox(row.Label + " " + row.Fault, MessageType.Error);
            }
            if (row.Refusal.Length > 0)
            {
                EditorGUILayout.HelpBox(row.Refusal, MessageType.Warning);
            }
            DrawFindings(row.Findings);
        }

        private void DrawItemButtons(FieldRow row)
        {
            GUI.SetNextControlName(row.Path + ".up");
            if (GUILayout.Button("▲", GUILayout.Width(22f)))
            {
                Rebuild(delegate { _model.MoveItem(row, -1); });
            }
            GUI.SetNextControlName(row.Path + ".down");
            if (GUILayout.Button("▼", GUILayout.Width(22f)))
            {
                Rebuild(delegate { _model.MoveItem(row, 1); });
            }
            GUI.SetNextControlName(row.Path + ".remove");
            if (GUILayout.Button("×", GUILayout.Width(20f)))
            {
                Rebuild(delegate { _model.Clear(row); });
            }
        }

        private void DrawControl(FieldRow row, int nodeIndex)
        {
            var label = new GUIContent(row.Label, Tooltip(row));
            if (row.Value == null && row.IsOptional && IsPlain(row.Control))
            {
                DrawUnset(row);
                return;
            }
            switch (row.Control)
            {
                case FieldControl.Name:
                    Delayed(row, label, row.Text, delegate(string text) { _model.Rename(nodeIndex, text); });
                    break;
                case FieldControl.Slot:
                    Delayed(row, label, row.Text, delegate(string text) { _model.RenameSlot(nodeIndex, text); });
                    break;
                case FieldControl.Text:
                    Delayed(row, label, row.Text, delegate(string text) { _model.SetText(row, text); });
                    break;
                case FieldControl.File:
                    DrawFile(row, label);
                    break;
                case FieldControl.Lines:
                case FieldControl.Template:
                    DrawLines(row, label);
                    break;
                case FieldControl.Dropdown:
                    DrawDropdown(row, label, delegate(string value) { _model.SetText(row, value); });
                    break;
                case FieldControl.Boolean:
                    GUI.SetNextControlName(row.Path);
                    var flag = EditorGUILayout.Toggle(label, row.Flag);
                    if (flag != row.Flag)
                    {
                        Later(delegate { _model.Set(row, new Newtonsoft.Json.Linq.JValue(flag)); });
                    }
                    break;
                case FieldControl.Integer:
                    DrawInteger(row, label);
                    break;
                case FieldControl.Number:
                    DrawNumber(row, label);
                    break;
                case FieldControl.List:
                    DrawList(row, nodeIndex);
                    break;
                case FieldControl.Record:
                    DrawRecord(row, nodeIndex);
                    break;
                default:
                    Delayed(row, label, row.Json, delegate(string text) { _model.SetJson(row, text); });
                    break;
            }
        }

        private void Delayed(FieldRow row, GUIContent label, string before, Action<string> commit)
        {
            GUI.SetNextControlName(row.Path);
            var after = EditorGUILayout.DelayedTextField(label, before);
            if (after != before)
            {
                Later(delegate { commit(after); });
            }
        }

        private void DrawUnset(FieldRow row)
        {
            EditorGUILayout.BeginHorizontal();
            EditorGUILayout.LabelField(new GUIContent(row.Label, Tooltip(row)), new GUIContent("(as the catalog says)"));
            GUI.SetNextControlName(row.Path);
            if (GUILayout.Button("Set", GUILayout.Width(40f)))
            {
                Rebuild(delegate { _model.Set(row, First(row)); });
            }
            EditorGUILayout.EndHorizontal();
        }

        private static Newtonsoft.Json.Linq.JToken First(FieldRow row)
        {
            switch (row.Control)
            {
                case FieldControl.Boolean:
                    return new Newtonsoft.Json.Linq.JValue(true);
                case FieldControl.Integer:
                    return new Newtonsoft.Json.Linq.JValue((long)Within(row, 1));
                case FieldControl.Number:
                    return new Newtonsoft.Json.Linq.JValue(Within(row, 1));
                default:
                    return new Newtonsoft.Json.Linq.JValue("");
            }
        }

        private static double Within(FieldRow row, double number)
        {
            return row.Least.HasValue && number < row.Least.Value ? row.Least.Value : row.Most.HasValue && number > row.Most.Value ? row.Most.Value : number;
        }

        private static bool IsPlain(FieldControl control)
        {
            return control == FieldControl.Integer || control == FieldControl.Number || control == FieldControl.Boolean || control == FieldControl.Text;
        }

        private void DrawFile(FieldRow row, GUIContent label)
        {
            EditorGUILayout.BeginHorizontal();
            Delayed(row, label, row.Text, delegate(string text) { _model.SetText(row, text); });
            GUI.SetNextControlName(row.Path + ".pick");
            if (GUILayout.Button("…", GUILayout.Width(24f)))
            {
                Later(delegate
                {
                    var folder = EditorSidecar.StorageFolder();
                    var path = EditorUtility.OpenFilePanel("Choose a file of the storage folder", folder, "");
                    if (!string.IsNullOrEmpty(path))
                    {
                        _model.SetFile(row, path, folder);
                    }
                });
            }
            EditorGUILayout.EndHorizontal();
        }

        private void DrawLines(FieldRow row, GUIContent label)
        {
            if (_lines == null)
            {
                _lines = new GUIStyle(EditorStyles.textArea) { wordWrap = true };
            }
            EditorGUILayout.LabelField(label, GUIContent.none);
            GUI.SetNextControlName(row.Path);
            var after = EditorGUILayout.TextArea(row.Text, _lines, GUILayout.MinHeight(38f));
            if (after != row.Text)
            {
                Later(delegate { _model.SetText(row, after); });
            }
        }

        private void DrawDropdown(FieldRow row, GUIContent label, Action<string> commit)
        {
            var colour = GUI.contentColor;
            if (row.Choices.IsMissing)
            {
                GUI.contentColor = Missing;
            }
            GUI.SetNextControlName(row.Path);
            var at = EditorGUILayout.Popup(label, row.Choices.Selected, Labels(row.Choices));
            GUI.contentColor = colour;
            if (at != row.Choices.Selected)
            {
                var value = row.Choices.Values[at];
                Later(delegate { commit(value); });
            }
        }

        /// A slash would open a submenu.
        internal static string[] Labels(Dropdown choices)
        {
            var labels = choices.Labels.ToArray();
            for (var at = 0; at < labels.Length; at++)
            {
                labels[at] = labels[at].Replace('/', '\u2215');
            }
            return labels;
        }

        private void DrawInteger(FieldRow row, GUIContent label)
        {
            if (row.Choices != null)
            {
                DrawDropdown(row, label, delegate(string value) { _model.SetTyped(row, value); });
                return;
            }
            if (row.Least.HasValue && row.Most.HasValue && row.Most.Value - row.Least.Value <= IntSliderRange
                && row.Number >= row.Least.Value && row.Number <= row.Most.Value)
            {
                GUI.SetNextControlName(row.Path);
                var after = EditorGUILayout.IntSlider(label, (int)row.Number, (int)row.Least.Value, (int)row.Most.Value);
                if (after != (int)row.Number)
                {
                    Later(delegate { _model.SetNumber(row, after); });
                }
                return;
            }
            Delayed(row, label, row.Json, delegate(string text) { _model.SetTyped(row, text); });
        }

        private void DrawNumber(FieldRow row, GUIContent label)
        {
            GUI.SetNextControlName(row.Path);
            if (row.Least.HasValue && row.Most.HasValue && row.Most.Value - row.Least.Value <= SliderRange
                && row.Number >= row.Least.Value && row.Number <= row.Most.Value)
            {
                var before = (float)row.Number;
                var after = EditorGUILayout.Slider(label, before, (float)row.Least.Value, (float)row.Most.Value);
                if (!after.Equals(before))
                {
                    // By way of its shortest text: 0.7f is 0.699999988079071 as a double.
                    var number = double.Parse(after.ToString("R", CultureInfo.InvariantCulture), CultureInfo.InvariantCulture);
                    Later(delegate { _model.SetNumber(row, number); });
                }
                return;
            }
            var typed = EditorGUILayout.DelayedDoubleField(label, row.Number);
            if (!typed.Equals(row.Number))
            {
                Later(delegate { _model.SetNumber(row, typed); });
            }
        }

        private void DrawList(FieldRow row, int nodeIndex)
        {
            GUI.SetNextControlName(row.Path);
            var isOpen = EditorGUILayout.Foldout(IsOpen(row.Path), new GUIContent(row.Label + " (" + row.Children.Count + ")", Tooltip(row)), true);
            SetOpen(row.Path, isOpen);
            if (!IsOpen(row.Path))
            {
                return;
            }
            EditorGUI.indentLevel++;
            foreach (var child in row.Children)
            {
                Draw(child, nodeIndex, true);
            }
            GUI.SetNextControlName(row.Path + ".add");
            if (GUILayout.Button("Add", GUILayout.Width(60f)))
            {
                Rebuild(delegate { _model.AddItem(row); });
            }
            EditorGUI.indentLevel--;
        }

        private void DrawRecord(FieldRow row, int nodeIndex)
        {
            GUI.SetNextControlName(row.Path);
            var isOpen = EditorGUILayout.Foldout(IsOpen(row.Path), new GUIContent(row.Label, Tooltip(row)), true);
            SetOpen(row.Path, isOpen);
            if (!IsOpen(row.Path))
            {
                return;
            }
            EditorGUI.indentLevel++;
            foreach (var child in row.Children)
            {
                Draw(child, nodeIndex, false);
            }
            EditorGUI.indentLevel--;
        }

        private static string Tooltip(FieldRow row)
        {
            var text = row.Tooltip;
            if (row.Least.HasValue || row.Most.HasValue)
            {
                text += " (" + (row.Least.HasValue ? "from " + Digits(row.Least.Value) : "") + (row.Least.HasValue && row.Most.HasValue ? " " : "")
                    + (row.Most.HasValue ? "to " + Digits(row.Most.Value) : "") + ")";
            }
            return row.IsStructural && row.IsKnown ? text + " Fixed while a conversation runs." : text;
        }

        private static string Digits(double number)
        {
            return number.ToString("R", CultureInfo.InvariantCulture);
        }
    }
}
