// The inspector of a workflow asset.
using System;
using System.Collections.Generic;
using UnityEditor;
using UnityEngine;

namespace Parley.Editor
{
    /// <summary>Edits a workflow by the authoring rules: names are written once, everything else is picked.</summary>
    [CustomEditor(typeof(ParleyWorkflow))]
    public sealed class WorkflowInspector : UnityEditor.Editor
    {
        private const int MostShown = 15000;

        private WorkflowInspectorModel _model;
        private LiveValidation _validation;
        private FieldDrawer _drawer;
        [NonSerialized]
        private string[] _types;
        [NonSerialized]
        private string _draft;

        /// <summary>What the inspector shows.</summary>
        public WorkflowInspectorModel Model
        {
            get
            {
                Prepare();
                return _model;
            }
        }

        private void OnEnable()
        {
            Undo.undoRedoPerformed += OnUndo;
            EditorApplication.update += Tick;
        }

        private void OnDisable()
        {
            Undo.undoRedoPerformed -= OnUndo;
            EditorApplication.update -= Tick;
        }

        private void OnUndo()
        {
            EditorGUIUtility.editingTextField = false; // or the field would go on showing what was undone
            Repaint();
        }

        /// <inheritdoc/>
        public override void OnInspectorGUI()
        {
            Prepare();
            _model.Models = EditorModels.Known;
            _model.Refresh();
            DrawToolbar();
            if (_model.Fault.Length > 0)
            {
                DrawText();
            }
            else
            {
                FieldDrawer.DrawFindings(_model.WorkflowFindings);
                _drawer.Draw(_model.Fields, -1);
                EditorGUILayout.Space();
                EditorGUILayout.LabelField("Nodes", EditorStyles.boldLabel);
                foreach (var node in _model.Nodes)
                {
                    DrawNode(node);
                }
                DrawAdd();
            }
            if (_drawer.DoEdits(Repaint))
            {
                Repaint();
            }
        }

        private void Prepare()
        {
            if (_model != null)
            {
                return;
            }
            _model = new WorkflowInspectorModel(new WorkflowAssetStore((ParleyWorkflow)target));
            _drawer = new FieldDrawer(_model);
            _validation = new LiveValidation(_model, RunningCore);
            _validation.Changed += Repaint;
            _types = TypeNames("Add a node…");
        }

        internal static string[] TypeNames(string first)
        {
            var names = new List<string> { first };
            foreach (var type in NodeTypes.All)
            {
                names.Add(type.Name);
            }
            return names.ToArray();
        }

        private static ParleyCore RunningCore()
        {
            return EditorSidecar.Running;
        }

        private void Tick()
        {
            if (_validation != null && target != null)
            {
                _validation.Tick(EditorApplication.timeSinceStartup);
            }
        }

        private void DrawToolbar()
        {
            EditorGUILayout.BeginHorizontal();
            if (GUILayout.Button("Graph"))
            {
                _drawer.Later(delegate { WorkflowGraphWindow.Open((ParleyWorkflow)target); });
            }
            if (GUILayout.Button("Test Chat"))
            {
                _drawer.Later(delegate { TestChatWindow.Open((ParleyWorkflow)target); });
            }
            if (GUILayout.Button("Import…"))
            {
                _drawer.Rebuild(delegate { WorkflowFiles.ImportInto((ParleyWorkflow)target, _model); });
            }
            if (GUILayout.Button("Export…"))
            {
                _drawer.Later(delegate { WorkflowFiles.Export((ParleyWorkflow)target); });
            }
            EditorGUILayout.EndHorizontal();
            EditorGUILayout.BeginHorizontal();
            EditorGUILayout.LabelField(StateOfValidation(), EditorStyles.miniLabel);
            if (GUILayout.Button(EditorSidecar.IsThere ? "Validate Again" : "Start Sidecar", GUILayout.Width(110f)))
            {
                _drawer.Later(AskSidecar);
            }
            EditorGUILayout.EndHorizontal();
        }

        private string StateOfValidation()
        {
            if (_validation.Fault.Length > 0)
            {
                return _validation.Fault;
            }
            var found = _model.Found;
            var counts = found.ErrorCount + " errors, " + found.WarningCount + " warnings";
            return _model.IsValidated ? counts + " by the sidecar" : counts + " at first sight" + (EditorSidecar.IsThere ? "" : "; the sidecar sees more");
        }

        private void AskSidecar()
        {
            try
            {
                EditorSidecar.Start();
                EditorModels.Ask();
                _validation.AskNow();
            }
            catch (ParleyException fault)
            {
                EditorUtility.DisplayDialog("Parley", fault.Message, "OK");
            }
        }

        private void DrawText()
        {
            EditorGUILayout.HelpBox("This text is no workflow: " + _model.Fault, MessageType.Error);
            var text = _model.Text;
            if (text.Length > MostShown)
            {
                EditorGUILayout.HelpBox("It is too long to be edited here; export it, correct the file and import it again.", MessageType.Info);
                return;
            }
            var before = _draft ?? text;
            GUI.SetNextControlName("text");
            var after = EditorGUILayout.TextArea(before, EditorStyles.textArea, GUILayout.MinHeight(200f));
            if (after != before)
            {
                _drawer.Later(delegate { _draft = after; });
            }
            EditorGUI.BeginDisabledGroup(before == text);
            if (GUILayout.Button("Apply"))
            {
                _drawer.Rebuild(delegate
                {
                    _draft = null;
                    _model.SetText(before);
                });
            }
            EditorGUI.EndDisabledGroup();
        }

        private void DrawNode(NodeRow node)
        {
            var path = "$.nodes[" + node.Index + "]";
            EditorGUILayout.BeginVertical(EditorStyles.helpBox);
            EditorGUILayout.BeginHorizontal();
            GUI.SetNextControlName(path);
            var title = (node.IsStart ? "▶ " : "") + node.Title + Badge(node);
            var isOpen = EditorGUILayout.Foldout(_drawer.IsOpen(path), new GUIContent(title, node.Type == null ? "" : node.Type.Summary), true);
            _drawer.SetOpen(path, isOpen);
            GUI.SetNextControlName(path + ".up");
            if (GUILayout.Button("▲", GUILayout.Width(22f)))
            {
                _drawer.Rebuild(delegate { _model.Move(node.Index, node.Index - 1); });
            }
            GUI.SetNextControlName(path + ".down");
            if (GUILayout.Button("▼", GUILayout.Width(22f)))
            {
                _drawer.Rebuild(delegate { _model.Move(node.Index, node.Index + 1); });
            }
            GUI.SetNextControlName(path + ".delete");
            if (GUILayout.Button("Delete", GUILayout.Width(54f)))
            {
                _drawer.Rebuild(delegate { _model.Delete(node.Index); });
            }
            EditorGUILayout.EndHorizontal();
            if (_drawer.IsOpen(path))
            {
                if (node.Type == null && node.TypeName.Length > 0)
                {
                    EditorGUILayout.HelpBox(
                        "This package does not know the node type " + node.TypeName + "; a sidecar may. Its fields are shown as they stand.", MessageType.Info);
                }
                FieldDrawer.DrawFindings(node.Findings);
                _drawer.Draw(node.Fields, node.Index);
            }
            var refusal = _model.RefusalAt(path);
            if (refusal.Length > 0)
            {
                EditorGUILayout.HelpBox(refusal, MessageType.Warning);
            }
            EditorGUILayout.EndVertical();
        }

        private static string Badge(NodeRow node)
        {
            return (node.Errors > 0 ? "   ✖ " + node.Errors : "") + (node.Warnings > 0 ? "   ⚠ " + node.Warnings : "");
        }

        private void DrawAdd()
        {
            GUI.SetNextControlName("add node");
            var at = EditorGUILayout.Popup(0, _types);
            if (at > 0)
            {
                var type = _types[at];
                _drawer.Rebuild(delegate
                {
                    if (_model.Add(type) != null)
                    {
                        _model.Refresh();
                        _drawer.Open("$.nodes[" + (_model.Nodes.Count - 1) + "]");
                    }
                });
            }
            var refusal = _model.RefusalAt("$.nodes");
            if (refusal.Length > 0)
            {
                EditorGUILayout.HelpBox(refusal, MessageType.Warning);
            }
        }
    }
}
