// Talks to a workflow without entering Play mode.
using System;
using System.Collections.Generic;
using UnityEditor;
using UnityEngine;

namespace Parley.Editor
{
    /// <summary>Draws ChatModel: what is said by whom as it comes, variables, tool calls, and a way into each turn.</summary>
    public sealed class TestChatWindow : EditorWindow
    {
        private const string LineName = "parley line";
        private static readonly Color[] Speakers =
        {
            new Color(0.55f, 0.8f, 1f), new Color(1f, 0.8f, 0.5f), new Color(0.7f, 1f, 0.7f), new Color(1f, 0.7f, 0.9f), new Color(0.85f, 0.85f, 0.6f)
        };

        [SerializeField]
        private ParleyWorkflow workflow;

        [SerializeField]
        private string line = "";

        [SerializeField]
        private string begunText = "";

        private readonly List<Action> _later = new List<Action>();
        private readonly List<string> _speakers = new List<string>();
        private ChatModel _chat;
        private ParleyCore _chatCore;
        [NonSerialized]
        private string _fault = "";
        private Vector2 _scroll;
        private bool _showsVariables, _takesFocus;

        /// <summary>The conversation; null: none was begun.</summary>
        public ChatModel Chat
        {
            get { return _chat; }
        }

        /// <summary>Opens the chat for a workflow.</summary>
        public static TestChatWindow Open(ParleyWorkflow workflow)
        {
            var window = GetWindow<TestChatWindow>("Parley Chat");
            if (!ReferenceEquals(window.workflow, workflow) && workflow != null)
            {
                window.End();
                window.workflow = workflow;
            }
            window.Show();
            return window;
        }

        [MenuItem("Window/Parley/Test Chat", false, 1)]
        private static void OpenSelected()
        {
            Open(Selection.activeObject as ParleyWorkflow);
        }

        private void OnEnable()
        {
            AssemblyReloadEvents.beforeAssemblyReload += BeforeReload;
            if (workflow != null && EditorSidecar.IsThere)
            {
                var chat = new ChatModel(EditorSidecar.Running);
                if (chat.Adopt(begunText))
                {
                    Show(chat, EditorSidecar.Running);
                }
                else
                {
                    chat.Dispose();
                }
            }
        }

        private void OnDisable()
        {
            AssemblyReloadEvents.beforeAssemblyReload -= BeforeReload;
            End();
        }

        private void BeforeReload()
        {
            if (_chat != null)
            {
                _chat.Leave();
                End();
            }
        }

        private void Show(ChatModel chat, ParleyCore core)
        {
            _chat = chat;
            _chat.Changed += OnChanged;
            _chat.Made += EditorModels.Ask;
            _chatCore = core;
        }

        /// <summary>Begins the conversation anew; `keepDialog`: with what was said.</summary>
        public void Begin(bool keepDialog)
        {
            if (workflow == null)
            {
                return;
            }
            try
            {
                var core = EditorSidecar.Start();
                if (!ReferenceEquals(core, _chatCore))
                {
                    End();
                    Show(new ChatModel(core), core);
                }
                _fault = "";
                begunText = workflow.Json;
                _chat.Begin(begunText, keepDialog);
            }
            catch (ParleyException fault)
            {
                _fault = fault.Message;
            }
        }

        private void OnChanged()
        {
            var turns = _chat.Turns;
            if (turns.Count > 0 && !ReferenceEquals(turns[turns.Count - 1], TurnInspectorWindow.Latest))
            {
                TurnInspectorWindow.Latest = turns[turns.Count - 1];
            }
            Repaint();
        }

        private void End()
        {
            if (_chat != null)
            {
                _chat.Dispose();
                _chat = null;
                _chatCore = null;
            }
        }

        /// <summary>Draws the window.</summary>
        public void OnGUI()
        {
            var sends = SendKey();
            DrawHead();
            if (_fault.Length > 0)
            {
                EditorGUILayout.HelpBox(_fault, MessageType.Error);
            }
            if (_chat != null)
            {
                FieldDrawer.DrawFindings(_chat.Findings);
                DrawVariables();
                DrawLines();
                DrawToolCalls();
                DrawInput(sends);
            }
            else
            {
                EditorGUILayout.HelpBox("Choose a workflow and press Begin. The sidecar starts by itself; no Play mode is needed.", MessageType.Info);
            }
            if (_later.Count > 0)
            {
                var edits = _later.ToArray();
                _later.Clear();
                foreach (var edit in edits)
                {
                    edit();
                }
                Repaint();
            }
        }

        /// Enter in the line: asked before the field takes the key.
        private bool SendKey()
        {
            var now = Event.current;
            var isEnter = now.type == EventType.KeyDown && (now.keyCode == KeyCode.Return || now.keyCode == KeyCode.KeypadEnter);
            if (!isEnter || GUI.GetNameOfFocusedControl() != LineName)
            {
                return false;
            }
            now.Use();
            return true;
        }

        private void DrawHead()
        {
            EditorGUILayout.BeginHorizontal();
            GUI.SetNextControlName("workflow");
            var chosen = EditorGUILayout.ObjectField("Workflow", workflow, typeof(ParleyWorkflow), false) as ParleyWorkflow;
            if (!ReferenceEquals(chosen, workflow))
            {
                _later.Add(delegate
                {
                    End();
                    workflow = chosen;
                });
            }
            EditorGUI.BeginDisabledGroup(workflow == null);
            if (GUILayout.Button(_chat == null ? "Begin" : "Begin Anew", GUILayout.Width(90f)))
            {
                _later.Add(delegate { Begin(false); });
            }
            EditorGUI.EndDisabledGroup();
            EditorGUI.BeginDisabledGroup(_chat == null || workflow == null || !_chat.IsStale(workflow.Json));
            if (GUILayout.Button("Take Edits", GUILayout.Width(90f)))
            {
                _later.Add(delegate { Begin(true); });
            }
            EditorGUI.EndDisabledGroup();
            EditorGUILayout.EndHorizontal();
            EditorGUILayout.LabelField(_chat == null ? "" : _chat.Status, EditorStyles.miniLabel);
        }

        private void DrawVariables()
        {
            if (_chat.Variables.Count == 0)
            {
                return;
            }
            GUI.SetNextControlName("variables");
            var shows = EditorGUILayout.Foldout(_showsVariables, "Variables", true);
            if (shows != _showsVariables)
            {
                _later.Add(delegate { _showsVariables = shows; });
            }
            if (!_showsVariables)
            {
                return;
            }
            EditorGUI.indentLevel++;
            foreach (var variable in _chat.Variables)
            {
                var edited = variable;
                GUI.SetNextControlName("variable " + variable.Name);
                var text = EditorGUILayout.DelayedTextField(new GUIContent(variable.Name, variable.Type), variable.Text);
                if (text != variable.Text)
                {
                    _later.Add(delegate { _chat.SetVariable(edited, text); });
                }
                if (variable.Refusal.Length > 0)
                {
                    EditorGUILayout.HelpBox(variable.Refusal, MessageType.Warning);
                }
            }
            EditorGUI.indentLevel--;
        }

        private void DrawLines()
        {
            _scroll = EditorGUILayout.BeginScrollView(_scroll);
            var turn = 0;
            foreach (var said in _chat.Lines)
            {
                var colour = GUI.contentColor;
                GUI.contentColor = ColourOf(said);
                EditorGUILayout.LabelField(TextOf(said), EditorStyles.wordWrappedLabel);
                GUI.contentColor = colour;
                turn = said.Kind == ChatLineKind.Player ? turn + 1 : turn;
            }
            for (var at = Math.Max(0, _chat.Turns.Count - 5); at < _chat.Turns.Count; at++)
            {
                var shown = _chat.Turns[at];
                GUI.SetNextControlName("inspect " + shown.TurnId);
                if (GUILayout.Button("Inspect turn " + shown.TurnId + " (" + shown.Status + ")", GUILayout.MaxWidth(240f)))
                {
                    _later.Add(delegate { TurnInspectorWindow.Open(shown); });
                }
            }
            EditorGUILayout.EndScrollView();
        }

        private static string TextOf(ChatLine said)
        {
            switch (said.Kind)
            {
                case ChatLineKind.Player:
                    return "> " + said.Text;
                case ChatLineKind.Speaker:
                    return said.NodeName + ": " + said.Text + (said.IsOpen ? " …" : "");
                case ChatLineKind.Sound:
                    return "♪ " + said.NodeName + ": " + said.Text + (said.IsOpen ? " …" : "");
                default:
                    return said.Text;
            }
        }

        private Color ColourOf(ChatLine said)
        {
            if (said.Kind == ChatLineKind.Error)
            {
                return new Color(1f, 0.45f, 0.45f);
            }
            if (said.Kind == ChatLineKind.Note || said.Kind == ChatLineKind.Sound)
            {
                return new Color(0.65f, 0.65f, 0.65f);
            }
            if (said.Kind == ChatLineKind.Player)
            {
                return Color.white;
            }
            var at = _speakers.IndexOf(said.NodeName);
            if (at < 0)
            {
                at = _speakers.Count;
                _speakers.Add(said.NodeName);
            }
            return Speakers[at % Speakers.Length];
        }

        private void DrawToolCalls()
        {
            foreach (var call in _chat.ToolCalls)
            {
                var answered = call;
                EditorGUILayout.BeginHorizontal();
                GUI.SetNextControlName("result " + call.Call.CallId);
                call.Result = EditorGUILayout.TextField("Result of " + call.Call.Tool, call.Result);
                if (GUILayout.Button("Answer", GUILayout.Width(60f)))
                {
                    _later.Add(delegate { _chat.Answer(answered); });
                }
                if (GUILayout.Button("Fail", GUILayout.Width(44f)))
                {
                    _later.Add(delegate { _chat.Refuse(answered); });
                }
                EditorGUILayout.EndHorizontal();
            }
        }

        private void DrawInput(bool sends)
        {
            EditorGUILayout.BeginHorizontal();
            GUI.SetNextControlName(LineName);
            line = EditorGUILayout.TextField(line);
            if (_takesFocus && Event.current.type == EventType.Repaint)
            {
                _takesFocus = false;
                EditorGUI.FocusTextInControl(LineName);
            }
            EditorGUI.BeginDisabledGroup(!_chat.CanSay);
            if (GUILayout.Button("Say", GUILayout.Width(50f)) || (sends && _chat.CanSay))
            {
                _later.Add(Say);
            }
            EditorGUI.EndDisabledGroup();
            EditorGUI.BeginDisabledGroup(!_chat.IsBusy);
            if (GUILayout.Button("Cancel", GUILayout.Width(60f)))
            {
                _later.Add(_chat.Cancel);
            }
            EditorGUI.EndDisabledGroup();
            EditorGUILayout.EndHorizontal();
        }

        private void Say()
        {
            if (_chat.Say(line))
            {
                line = "";
                GUI.FocusControl(null); // a field that has the focus goes on showing what was typed
                _takesFocus = true;
                _scroll = new Vector2(0f, float.MaxValue);
            }
        }
    }
}
