// The graph of a workflow: nodes as boxes, exits as edges, the selected node's fields beside it.
using System;
using UnityEditor;
using UnityEngine;

namespace Parley.Editor
{
    /// <summary>Draws GraphModel and hands it the mouse. Drag from an exit to a node to connect, to nowhere for END.</summary>
    public sealed class WorkflowGraphWindow : EditorWindow
    {
        private const float SideWidth = 360f;
        private const float BarHeight = 22f;
        private static readonly Color Line = new Color(0.6f, 0.75f, 0.95f);
        private static readonly Color BackLine = new Color(0.95f, 0.75f, 0.4f);
        private static readonly Color Faulty = new Color(1f, 0.45f, 0.45f);
        private static readonly Color Unreachable = new Color(0.6f, 0.6f, 0.6f);

        [SerializeField]
        private ParleyWorkflow workflow;

        private WorkflowInspectorModel _model;
        private GraphModel _graph;
        private LiveValidation _validation;
        private FieldDrawer _drawer;
        [NonSerialized]
        private ParleyWorkflow _shown;
        private Vector2 _pan, _side;
        [NonSerialized]
        private string[] _types;

        /// <summary>What the window shows; null: no workflow.</summary>
        public GraphModel Graph
        {
            get
            {
                Prepare();
                return _graph;
            }
        }

        /// <summary>Opens the graph of a workflow.</summary>
        public static WorkflowGraphWindow Open(ParleyWorkflow workflow)
        {
            var window = GetWindow<WorkflowGraphWindow>("Parley Graph");
            window.workflow = workflow;
            window.Show();
            return window;
        }

        [MenuItem("Window/Parley/Workflow Graph", false, 2)]
        private static void OpenSelected()
        {
            Open(Selection.activeObject as ParleyWorkflow);
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

        private void Prepare()
        {
            // An asset that was deleted meanwhile is still the same reference, and equal to null.
            if (ReferenceEquals(_shown, workflow) && _model != null && workflow != null)
            {
                return;
            }
            _shown = workflow;
            _model = null;
            _graph = null;
            if (workflow == null)
            {
                return;
            }
            _model = new WorkflowInspectorModel(new WorkflowAssetStore(workflow));
            _graph = new GraphModel(_model, new KeptPositions(workflow));
            _drawer = new FieldDrawer(_model);
            _validation = new LiveValidation(_model, delegate { return EditorSidecar.Running; });
            _validation.Changed += Repaint;
            _types = WorkflowInspector.TypeNames("Add a node…");
            _pan = new Vector2(0f, 0f);
        }

        private void Tick()
        {
            if (_validation != null && _shown != null)
            {
                _validation.Tick(EditorApplication.timeSinceStartup);
            }
        }

        /// <summary>Draws the window.</summary>
        public void OnGUI()
        {
            Prepare();
            if (_graph == null)
            {
                var chosen = EditorGUILayout.ObjectField("Workflow", workflow, typeof(ParleyWorkflow), false) as ParleyWorkflow;
                EditorGUILayout.HelpBox("Choose a workflow to see its graph.", MessageType.Info);
                if (!ReferenceEquals(chosen, workflow))
                {
                    workflow = chosen;
                    Repaint();
                }
                return;
            }
            _model.Models = EditorModels.Known;
            _graph.Refresh();
            EditorGUILayout.BeginHorizontal();
            EditorGUILayout.BeginVertical(GUILayout.Width(Math.Max(100f, position.width - SideWidth)));
            DrawBar();
            var area = GUILayoutUtility.GetRect(200f, 200f, GUILayout.ExpandWidth(true), GUILayout.ExpandHeight(true));
            HandleMouse(area);
            DrawGraph(area);
            EditorGUILayout.EndVertical();
            DrawSide();
            EditorGUILayout.EndHorizontal();
            if (_drawer.DoEdits(Repaint))
            {
                Repaint();
            }
        }

        private void DrawBar()
        {
            EditorGUILayout.BeginHorizontal(EditorStyles.toolbar, GUILayout.Height(BarHeight));
            GUI.SetNextControlName("add node");
            var at = EditorGUILayout.Popup(0, _types, GUILayout.Width(130f));
            if (at > 0)
            {
                var type = _types[at];
                _drawer.Rebuild(delegate { _graph.Add(type, _pan.x + 60f, _pan.y + 60f); });
            }
            if (GUILayout.Button("Arrange", EditorStyles.toolbarButton))
            {
                _drawer.Rebuild(_graph.Arrange);
            }
            EditorGUI.BeginDisabledGroup(_graph.Selected < 0);
            if (GUILayout.Button("Start Here", EditorStyles.toolbarButton))
            {
                _drawer.Rebuild(delegate { _graph.SetStart(_graph.Selected); });
            }
            if (GUILayout.Button("Delete", EditorStyles.toolbarButton))
            {
                _drawer.Rebuild(delegate { _graph.Delete(_graph.Selected); });
            }
            EditorGUI.EndDisabledGroup();
            GUILayout.FlexibleSpace();
            GUILayout.Label(_model.Fault.Length > 0 ? "no workflow: " + _model.Fault : _graph.Summary, EditorStyles.miniLabel);
            EditorGUILayout.EndHorizontal();
        }

        private void HandleMouse(Rect area)
        {
            var now = Event.current;
            var x = now.mousePosition.x - area.x + _pan.x;
            var y = now.mousePosition.y - area.y + _pan.y;
            var isInside = area.Contains(now.mousePosition);
            switch (now.type)
            {
                case EventType.MouseDown:
                    if (isInside && now.button == 0)
                    {
                        _drawer.Rebuild(delegate { _graph.Press(x, y); }); // selects, and so changes what is drawn
                        Take(now);
                    }
                    break;
                case EventType.MouseDrag:
                    if (now.button == 2 && isInside)
                    {
                        _pan = new Vector2(Math.Max(0f, _pan.x - now.delta.x), Math.Max(0f, _pan.y - now.delta.y));
                        Take(now);
                    }
                    else if (now.button == 0 && _graph.Drag(x, y))
                    {
                        Take(now);
                    }
                    break;
                case EventType.MouseUp:
                    if (now.button == 0)
                    {
                        _drawer.Rebuild(delegate
                        {
                            if (_graph.Release(x, y))
                            {
                                Repaint();
                            }
                        });
                    }
                    break;
                case EventType.ScrollWheel:
                    if (isInside)
                    {
                        _pan = new Vector2(
                            Clamp(_pan.x + (now.shift ? now.delta.y * 12f : 0f), _graph.Width), Clamp(_pan.y + (now.shift ? 0f : now.delta.y * 12f), _graph.Height));
                        Take(now);
                    }
                    break;
                case EventType.KeyDown:
                    if (now.keyCode == KeyCode.Delete && _graph.Selected >= 0 && GUI.GetNameOfFocusedControl().Length == 0)
                    {
                        _drawer.Rebuild(delegate { _graph.Delete(_graph.Selected); });
                        Take(now);
                    }
                    break;
            }
        }

        private void Take(Event what)
        {
            what.Use();
            Repaint();
        }

        private static float Clamp(float value, float most)
        {
            return Math.Max(0f, Math.Min(value, Math.Max(0f, most - 100f)));
        }

        private void DrawGraph(Rect area)
        {
            GUI.BeginGroup(area);
            foreach (var edge in _graph.Edges)
            {
                Curve(edge.Port.X, edge.Port.Y, edge.To.X, edge.To.Y + 18f, edge.IsBack ? BackLine : Line);
            }
            if (_graph.Pulled != null)
            {
                Curve(_graph.Pulled.X, _graph.Pulled.Y, _graph.PulledX, _graph.PulledY, Color.white);
            }
            foreach (var box in _graph.Boxes)
            {
                DrawBox(box);
            }
            GUI.EndGroup();
        }

        private void Curve(float fromX, float fromY, float toX, float toY, Color colour)
        {
            var from = new Vector3(fromX - _pan.x, fromY - _pan.y, 0f);
            var to = new Vector3(toX - _pan.x, toY - _pan.y, 0f);
            var pull = Math.Max(40f, Math.Abs(to.x - from.x) * 0.5f);
            Handles.DrawBezier(from, to, new Vector3(from.x + pull, from.y, 0f), new Vector3(to.x - pull, to.y, 0f), colour, null, 3f);
        }

        private void DrawBox(GraphBox box)
        {
            var colour = GUI.backgroundColor;
            if (box.Node.Errors > 0)
            {
                GUI.backgroundColor = Faulty;
            }
            else if (!box.IsReachable)
            {
                GUI.backgroundColor = Unreachable;
            }
            else if (box.Index == _graph.Selected)
            {
                GUI.backgroundColor = Line;
            }
            var at = new Rect(box.X - _pan.x, box.Y - _pan.y, box.Width, box.Height);
            GUI.Box(at, "");
            GUI.backgroundColor = colour;
            GUI.Label(new Rect(at.x + 8f, at.y + 3f, at.width - 12f, 18f), (box.Node.IsStart ? "▶ " : "") + box.Node.Name, EditorStyles.boldLabel);
            GUI.Label(new Rect(at.x + 8f, at.y + 20f, at.width - 12f, 16f), box.Node.TypeName + Badge(box.Node), EditorStyles.miniLabel);
            foreach (var port in box.Ports)
            {
                var x = port.X - _pan.x;
                var y = port.Y - _pan.y;
                var words = port.Exit + (port.Target.Length == 0 ? " → END" : port.IsMissing ? " → " + port.Target + " (missing)" : "");
                var text = GUI.contentColor;
                if (port.IsMissing)
                {
                    GUI.contentColor = Faulty;
                }
                GUI.Label(new Rect(at.x + 8f, y - 8f, at.width - 24f, 16f), words, EditorStyles.miniLabel);
                GUI.contentColor = text;
                EditorGUI.DrawRect(new Rect(x - 10f, y - 4f, 8f, 8f), port.IsMissing ? Faulty : port.TargetBox >= 0 ? Line : Unreachable);
            }
        }

        private static string Badge(NodeRow node)
        {
            return (node.Errors > 0 ? "   ✖ " + node.Errors : "") + (node.Warnings > 0 ? "   ⚠ " + node.Warnings : "");
        }

        private void DrawSide()
        {
            EditorGUILayout.BeginVertical(GUILayout.Width(SideWidth - 10f));
            _side = EditorGUILayout.BeginScrollView(_side);
            if (_graph.Selected >= 0 && _graph.Selected < _model.Nodes.Count)
            {
                var node = _model.Nodes[_graph.Selected];
                EditorGUILayout.LabelField(node.Title, EditorStyles.boldLabel);
                FieldDrawer.DrawFindings(node.Findings);
                _drawer.Draw(node.Fields, node.Index);
            }
            else
            {
                EditorGUILayout.LabelField(workflow.name, EditorStyles.boldLabel);
                FieldDrawer.DrawFindings(_model.WorkflowFindings);
                _drawer.Draw(_model.Fields, -1);
                EditorGUILayout.HelpBox(
                    "Drag from the square of an exit to a node to connect it, to the background for END. Drag the background with the middle button.",
                    MessageType.None);
            }
            EditorGUILayout.EndScrollView();
            EditorGUILayout.EndVertical();
        }

        /// Where boxes are is one person's matter: it is kept with the project's user settings, not in the workflow.
        private sealed class KeptPositions : IGraphPositions
        {
            private readonly string _key;

            public KeptPositions(ParleyWorkflow workflow)
            {
                var path = AssetDatabase.GetAssetPath(workflow);
                _key = string.IsNullOrEmpty(path) ? "" : "parley.graph." + AssetDatabase.AssetPathToGUID(path);
            }

            public string Text
            {
                get { return _key.Length == 0 ? "" : EditorUserSettings.GetConfigValue(_key) ?? ""; }
                set
                {
                    if (_key.Length > 0)
                    {
                        EditorUserSettings.SetConfigValue(_key, value);
                    }
                }
            }
        }
    }
}
