// What became of one turn: every step, the prompt that the model read, what it cost.
using System;
using System.Collections.Generic;
using System.Globalization;
using UnityEditor;
using UnityEngine;

namespace Parley.Editor
{
    /// <summary>Draws TurnInspectorModel.</summary>
    public sealed class TurnInspectorWindow : EditorWindow
    {
        /// Unity cuts texts that are longer.
        private const int MostShown = 15000;

        private readonly HashSet<string> _open = new HashSet<string>(StringComparer.Ordinal);
        private readonly List<Action> _later = new List<Action>();
        private static TurnInspectorModel _latest;

        private TurnInspectorModel _turn;
        private bool _follows = true;
        [NonSerialized]
        private string _fault = "";
        private Vector2 _scroll;

        /// <summary>The turn that is shown; null: none.</summary>
        public TurnInspectorModel Turn
        {
            get { return _turn; }
        }

        /// <summary>The turn that ended last. Open windows show it, unless an older one was chosen.</summary>
        public static TurnInspectorModel Latest
        {
            get { return _latest; }
            set
            {
                _latest = value;
                if (LatestChanged != null)
                {
                    LatestChanged();
                }
            }
        }

        private static event Action LatestChanged;

        /// <summary>Opens the inspector for a turn.</summary>
        public static TurnInspectorWindow Open(TurnInspectorModel turn)
        {
            var window = GetWindow<TurnInspectorWindow>("Parley Turn");
            window._turn = turn;
            window._follows = turn == null || ReferenceEquals(turn, _latest);
            window.Show();
            return window;
        }

        private void OnEnable()
        {
            LatestChanged += Repaint;
        }

        private void OnDisable()
        {
            LatestChanged -= Repaint;
        }

        [MenuItem("Window/Parley/Turn Inspector", false, 3)]
        private static void OpenEmpty()
        {
            Open(_latest);
        }

        /// <summary>Draws the window.</summary>
        public void OnGUI()
        {
            if (_follows && _latest != null && Event.current.type == EventType.Layout)
            {
                _turn = _latest;
            }
            EditorGUILayout.BeginHorizontal();
            if (GUILayout.Button("From Clipboard"))
            {
                _later.Add(FromClipboard);
            }
            EditorGUI.BeginDisabledGroup(_turn == null);
            if (GUILayout.Button("Copy All"))
            {
                _later.Add(delegate { EditorGUIUtility.systemCopyBuffer = _turn.ToText(); });
            }
            EditorGUI.EndDisabledGroup();
            EditorGUILayout.EndHorizontal();
            if (_fault.Length > 0)
            {
                EditorGUILayout.HelpBox(_fault, MessageType.Error);
            }
            if (_turn == null)
            {
                EditorGUILayout.HelpBox(
                    "Press Inspect in the test chat, or copy the JSON of a TurnComplete (parley chat --json --diagnostics) and press From Clipboard.",
                    MessageType.Info);
            }
            else
            {
                _scroll = EditorGUILayout.BeginScrollView(_scroll);
                DrawTurn();
                EditorGUILayout.EndScrollView();
            }
            var edits = _later.ToArray();
            _later.Clear();
            foreach (var edit in edits)
            {
                edit();
                Repaint();
            }
        }

        private void FromClipboard()
        {
            string fault;
            var json = EditorJson.ParseObject(EditorGUIUtility.systemCopyBuffer, out fault);
            _fault = fault == null ? "" : "The clipboard holds no turn: " + fault;
            if (json != null)
            {
                // parley chat --json puts the message into "body".
                _turn = TurnInspectorModel.From(EditorJson.Object(json, "body") ?? json);
                _follows = false;
            }
        }

        private void DrawTurn()
        {
            EditorGUILayout.LabelField("Turn " + _turn.TurnId, _turn.Status + ", " + _turn.DurationMs.ToString("0.0", CultureInfo.InvariantCulture) + " ms");
            DrawText("> ", _turn.User);
            if (_turn.Error.Length > 0)
            {
                EditorGUILayout.HelpBox(_turn.Error, MessageType.Error);
            }
            if (!_turn.HasDebug)
            {
                EditorGUILayout.HelpBox("The agent was made without diagnostics: there is no more to see. Set Enable Diagnostics on it.", MessageType.Info);
            }
            foreach (var warning in _turn.Warnings)
            {
                EditorGUILayout.HelpBox(warning, MessageType.Warning);
            }
            DrawFacts(_turn.Facts);
            foreach (var step in _turn.Steps)
            {
                DrawStep(step);
            }
            if (Folds("slots", "Slots (" + _turn.Slots.Count + ")", false))
            {
                foreach (var slot in _turn.Slots)
                {
                    DrawText(slot.Name + " = ", slot.Value);
                }
            }
        }

        private void DrawStep(StepView step)
        {
            EditorGUILayout.BeginVertical(EditorStyles.helpBox);
            var key = "step " + step.Number;
            if (Folds(key, step.Title, true))
            {
                if (step.InputSlot.Length > 0)
                {
                    DrawText(step.InputSlot + " → ", step.InputText);
                }
                foreach (var chance in step.Chances)
                {
                    EditorGUILayout.LabelField(
                        (chance.Question.Length > 0 ? chance.Question + ": " : "") + chance.Label, chance.Probability.ToString("0.000", CultureInfo.InvariantCulture));
                }
                foreach (var hit in step.Hits)
                {
                    EditorGUILayout.LabelField(
                        (hit.IsTaken ? "✔ " : "") + hit.Id + (hit.Intent.Length > 0 ? " (" + hit.Intent + ")" : ""),
                        hit.Distance.ToString("0.000", CultureInfo.InvariantCulture) + "  " + hit.Text);
                }
                if (step.OutputSlot.Length > 0)
                {
                    DrawText("→ " + step.OutputSlot + " = ", step.OutputText);
                    EditorGUILayout.LabelField("send, history", step.Send + ", " + step.HistoryRole);
                }
                if (step.Model.Length > 0)
                {
                    EditorGUILayout.LabelField("model", step.Model + (step.Finish.Length > 0 ? ", ended by " + step.Finish : ""));
                }
                DrawGroup(key, "Usage", step.Usage);
                DrawGroup(key, "Budget", step.Budget);
                DrawGroup(key, "Details", step.Details);
                DrawPrompt(key, step);
                if (step.Reasoning.Length > 0 && Folds(key + " reasoning", "Reasoning", false))
                {
                    DrawText("", step.Reasoning);
                }
            }
            EditorGUILayout.EndVertical();
        }

        private void DrawPrompt(string key, StepView step)
        {
            if (step.Prompt.Count > 0 && Folds(key + " prompt", "Prompt, as messages (" + step.Prompt.Count + ")", false))
            {
                foreach (var message in step.Prompt)
                {
                    DrawText(message.Role + ": ", message.Content);
                }
            }
            if (step.Rendered.Length > 0 && Folds(key + " rendered", "Prompt, as the model read it (" + step.Rendered.Length + " characters)", false))
            {
                DrawText("", step.Rendered);
                GUI.SetNextControlName(key + " copy");
                if (GUILayout.Button("Copy Prompt", GUILayout.Width(100f)))
                {
                    _later.Add(delegate { EditorGUIUtility.systemCopyBuffer = step.Rendered; });
                }
            }
        }

        private void DrawGroup(string key, string name, List<Fact> facts)
        {
            if (facts.Count > 0 && Folds(key + " " + name, name, name == "Usage"))
            {
                DrawFacts(facts);
            }
        }

        private static void DrawFacts(List<Fact> facts)
        {
            foreach (var fact in facts)
            {
                EditorGUILayout.LabelField(fact.Name, Cut(fact.Value));
            }
        }

        private static void DrawText(string before, string text)
        {
            EditorGUILayout.LabelField(before + Cut(text), EditorStyles.wordWrappedLabel);
        }

        private static string Cut(string text)
        {
            return text.Length <= MostShown ? text : text.Substring(0, MostShown) + " … (" + text.Length + " characters; Copy shows all)";
        }

        /// Open or closed is remembered where it differs from what it is at first.
        private bool Folds(string key, string title, bool isOpenAtFirst)
        {
            var isOpen = _open.Contains(key) != isOpenAtFirst;
            GUI.SetNextControlName(key);
            if (EditorGUILayout.Foldout(isOpen, title, true) != isOpen)
            {
                _later.Add(delegate
                {
                    if (!_open.Remove(key))
                    {
                        _open.Add(key);
                    }
                });
            }
            return isOpen;
        }
    }
}
