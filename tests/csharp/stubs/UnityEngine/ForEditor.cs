// The immediate-mode GUI of UnityEngine as far as the editor code draws with it, and what a test sees of it.
// Each declaration was checked against Unity's public C# reference (github.com/Unity-Technologies/UnityCsReference,
// branches 2021.3 and 6000.7); the file is named above it.
using System;
using System.Collections.Generic;
using System.Globalization;
using UnityStubs;

namespace UnityEngine
{
    // Modules/IMGUI/EventEnums.cs
    public enum EventType
    {
        MouseDown = 0, MouseUp = 1, MouseMove = 2, MouseDrag = 3, KeyDown = 4, KeyUp = 5, ScrollWheel = 6, Repaint = 7,
        Layout = 8, Ignore = 11, Used = 12, ContextClick = 16
    }

    // Modules/IMGUI/Event.bindings.cs, Event.cs
    public sealed class Event
    {
        public static Event current { get; set; }
        public EventType type { get; set; }
        public Vector2 mousePosition { get; set; }
        public Vector2 delta { get; set; }
        public int button { get; set; }
        public int clickCount { get; set; }
        public KeyCode keyCode { get; set; }
        public bool shift { get; set; }
        public void Use() { type = EventType.Used; }
    }

    // Modules/IMGUI/GUIContent.cs
    public class GUIContent
    {
        public static GUIContent none = new GUIContent("");
        public GUIContent() { text = ""; tooltip = ""; }
        public GUIContent(string text) { this.text = text; tooltip = ""; }
        public GUIContent(string text, string tooltip) { this.text = text; this.tooltip = tooltip; }
        public string text { get; set; }
        public string tooltip { get; set; }
    }

    // Modules/IMGUI/GUIStyle.cs, GUIStyle.bindings.cs
    public class GUIStyle
    {
        public GUIStyle() { }
        public GUIStyle(GUIStyle other) { wordWrap = other.wordWrap; richText = other.richText; }
        public bool wordWrap { get; set; }
        public bool richText { get; set; }
        public FontStyle fontStyle { get; set; }
    }

    // Modules/IMGUI/GUILayoutOption.cs
    public sealed class GUILayoutOption { }

    // Modules/IMGUI/GUI.bindings.cs, GUI.cs
    public class GUI
    {
        public static Color color { get { return GuiScript.Color; } set { GuiScript.Color = value; } }
        public static Color backgroundColor { get { return GuiScript.BackgroundColor; } set { GuiScript.BackgroundColor = value; } }
        public static Color contentColor { get { return GuiScript.ContentColor; } set { GuiScript.ContentColor = value; } }
        public static bool enabled { get { return GuiScript.Enabled; } set { GuiScript.Enabled = value; } }
        public static bool changed { get; set; }
        public static void SetNextControlName(string name) { GuiScript.NameNext(name); }
        public static string GetNameOfFocusedControl() { return ""; }
        public static void FocusControl(string name) { if (string.IsNullOrEmpty(name)) { GuiScript.LoseFocus(); } }
        public static void Label(Rect position, string text) { GuiScript.Draw("label", text, text, position); }
        public static void Label(Rect position, GUIContent content) { GuiScript.Draw("label", content.text, content.text, position); }
        public static void Label(Rect position, string text, GUIStyle style) { GuiScript.Draw("label", text, text, position); }
        public static void Box(Rect position, string text) { GuiScript.Draw("box", text, text, position); }
        public static void Box(Rect position, GUIContent content) { GuiScript.Draw("box", content.text, content.text, position); }
        public static bool Button(Rect position, string text) { return GuiScript.Button(text, position); }
        public static void BeginGroup(Rect position) { GuiScript.Open("group"); }
        public static void EndGroup() { GuiScript.Close("group"); }
    }

    // Modules/IMGUI/GUILayout.cs
    public class GUILayout
    {
        public static void Label(string text, params GUILayoutOption[] options) { GuiScript.Draw("label", text, text); }
        public static void Label(string text, GUIStyle style, params GUILayoutOption[] options) { GuiScript.Draw("label", text, text); }
        public static bool Button(string text, params GUILayoutOption[] options) { return GuiScript.Button(text); }
        public static bool Button(GUIContent content, params GUILayoutOption[] options) { return GuiScript.Button(content.text); }
        public static bool Button(string text, GUIStyle style, params GUILayoutOption[] options) { return GuiScript.Button(text); }
        public static bool Toggle(bool value, string text, params GUILayoutOption[] options) { return GuiScript.Toggle(text, value); }
        public static bool Toggle(bool value, string text, GUIStyle style, params GUILayoutOption[] options) { return GuiScript.Toggle(text, value); }
        public static void Space(float pixels) { }
        public static void FlexibleSpace() { }
        public static GUILayoutOption Width(float width) { return new GUILayoutOption(); }
        public static GUILayoutOption MinWidth(float minWidth) { return new GUILayoutOption(); }
        public static GUILayoutOption MaxWidth(float maxWidth) { return new GUILayoutOption(); }
        public static GUILayoutOption Height(float height) { return new GUILayoutOption(); }
        public static GUILayoutOption MinHeight(float minHeight) { return new GUILayoutOption(); }
        public static GUILayoutOption ExpandWidth(bool expand) { return new GUILayoutOption(); }
        public static GUILayoutOption ExpandHeight(bool expand) { return new GUILayoutOption(); }
    }

    // Modules/IMGUI/GUILayoutUtility.cs
    public class GUILayoutUtility
    {
        public static Rect GetRect(float width, float height, params GUILayoutOption[] options)
        {
            GuiScript.Draw("rect", "", "");
            return new Rect(0f, 0f, Math.Max(width, 800f), Math.Max(height, 600f));
        }
    }
}

namespace UnityStubs
{
    using UnityEngine;

    /// <summary>One control as the last repaint drew it.</summary>
    public sealed class Drawn
    {
        public string Kind = "";
        /// <summary>What SetNextControlName said, else the label.</summary>
        public string Name = "";
        public string Label = "";
        public string Tooltip = "";
        public string Value = "";
        public string[] Options = new string[0];
        public bool Enabled;
        public Color Color;
        public double Min;
        public double Max;
        public Rect Position;

        public override string ToString() { return Kind + " " + Name + " = " + Value; }
    }

    /// <summary>Draws a GUI the way Unity does, pass by pass, types and picks for a test, and records what is shown.</summary>
    /// <remarks>
    /// Unity lays a GUI out in one pass and handles an event in a second one. Both must draw the same controls, and
    /// Begin and End must match; where they don't, Unity throws in the middle of an inspector, and so does this.
    /// </remarks>
    public static class GuiScript
    {
        public static Color Color = Color.white;
        public static Color BackgroundColor = Color.white;
        public static Color ContentColor = Color.white;
        public static bool Enabled = true;
        /// <summary>Called before each pass that handles an event; the undo stub begins a group there, as Unity does.</summary>
        public static Action BeforeEvent;

        /// <summary>Called after each pass that handled an event.</summary>
        public static Action AfterEvent;

        /// <summary>Some text field is being typed in.</summary>
        public static bool IsTyping;

        private sealed class Input
        {
            public string Name;
            public object Value;
            public bool Used;
            /// The place of the control in the pass; -1: it is meant by its name.
            public int Place = -1;
        }

        // A delayed text field that is typed in keeps its text until Enter, or until the focus leaves it; it is then known
        // by its place among the controls alone (Editor/Mono/EditorGUI.cs, DelayedTextEditor).
        private static Input typed;
        private static bool hasLostFocus;

        private static readonly Queue<Input> Inputs = new Queue<Input>();
        private static readonly Stack<string> OpenGroups = new Stack<string>();
        private static readonly Stack<bool> EnabledBefore = new Stack<bool>();
        private static List<Drawn> pass = new List<Drawn>();
        private static Input current;
        private static string nextName;

        /// <summary>Queues what the user does next: a text that is committed, an option that is picked, a button.</summary>
        public static void Do(string name, object value)
        {
            Inputs.Enqueue(new Input { Name = name, Value = value });
        }

        public static void Press(string name) { Do(name, true); }

        /// <summary>The user types into a delayed text field that the last pass drew, and does not commit it.</summary>
        public static void Type(string name, string text)
        {
            typed = new Input { Name = name, Value = text, Place = pass.FindIndex(control => control.Name == name) };
            IsTyping = true;
        }

        public static void LoseFocus()
        {
            hasLostFocus = typed != null;
            IsTyping = false;
        }

        /// <summary>Lets the user do what is queued, and draws; returns what the last repaint shows.</summary>
        public static List<Drawn> Frame(Action draw)
        {
            while (Inputs.Count > 0)
            {
                var input = Inputs.Dequeue();
                Handle(draw, new Event { type = EventType.MouseUp }, input);
                if (!input.Used)
                {
                    throw new InvalidOperationException("nothing enabled is called '" + input.Name + "'; there are: " + string.Join(", ", Names(pass)));
                }
            }
            return Pair(draw, new Event { type = EventType.Repaint }, null);
        }

        private static void Handle(Action draw, Event what, Input input)
        {
            if (BeforeEvent != null)
            {
                BeforeEvent();
            }
            Pair(draw, what, input);
            if (hasLostFocus)
            {
                hasLostFocus = false;
                var commit = typed;
                typed = null;
                Pair(draw, new Event { type = EventType.KeyUp }, commit);
            }
            if (AfterEvent != null)
            {
                AfterEvent();
            }
        }

        /// <summary>One event of the mouse or the keyboard that the window handles itself, and a repaint.</summary>
        public static List<Drawn> Frame(Action draw, Event what)
        {
            Handle(draw, what, null);
            return Frame(draw);
        }

        private static string[] Names(List<Drawn> drawn)
        {
            var names = new List<string>();
            foreach (var control in drawn)
            {
                if (control.Kind != "label")
                {
                    names.Add(control.Name);
                }
            }
            return names.ToArray();
        }

        private static List<Drawn> Pair(Action draw, Event what, Input input)
        {
            var planned = Pass(draw, new Event { type = EventType.Layout }, null);
            var handled = Pass(draw, what, input);
            if (planned.Count != handled.Count)
            {
                throw new InvalidOperationException(
                    "the layout pass drew " + planned.Count + " controls, the pass of the event " + handled.Count);
            }
            for (var at = 0; at < planned.Count; at++)
            {
                // What kind of message a help box shows makes no difference to the layout.
                if (planned[at].Kind.Split(' ')[0] != handled[at].Kind.Split(' ')[0])
                {
                    throw new InvalidOperationException("the layout pass drew " + planned[at] + ", the pass of the event " + handled[at]);
                }
            }
            return handled;
        }

        private static List<Drawn> Pass(Action draw, Event what, Input input)
        {
            pass = new List<Drawn>();
            current = input;
            Color = BackgroundColor = ContentColor = Color.white;
            Enabled = true;
            nextName = null;
            OpenGroups.Clear();
            EnabledBefore.Clear();
            Event.current = what;
            draw();
            current = null;
            if (OpenGroups.Count > 0)
            {
                throw new InvalidOperationException("Begin without End: " + string.Join(", ", OpenGroups.ToArray()));
            }
            if (Color != Color.white || BackgroundColor != Color.white || ContentColor != Color.white || !Enabled)
            {
                throw new InvalidOperationException("a colour, or enabled, is not as it was before");
            }
            return pass;
        }

        public static void NameNext(string name) { nextName = name; }

        public static void Open(string kind)
        {
            OpenGroups.Push(kind);
            pass.Add(new Drawn { Kind = "begin " + kind });
        }

        public static void Close(string kind)
        {
            if (OpenGroups.Count == 0 || OpenGroups.Pop() != kind)
            {
                throw new InvalidOperationException("End of " + kind + " without its Begin");
            }
            pass.Add(new Drawn { Kind = "end " + kind });
        }

        public static void BeginDisabled(bool disabled)
        {
            Open("disabled");
            EnabledBefore.Push(Enabled);
            Enabled = Enabled && !disabled;
        }

        public static void EndDisabled()
        {
            Close("disabled");
            Enabled = EnabledBefore.Pop();
        }

        public static Drawn Draw(string kind, string label, string value, Rect position = new Rect())
        {
            var drawn = new Drawn
            {
                Kind = kind, Label = label ?? "", Name = nextName ?? label ?? "", Value = value ?? "", Enabled = Enabled,
                Color = ContentColor != Color.white ? ContentColor : Color, Position = position
            };
            nextName = null;
            pass.Add(drawn);
            return drawn;
        }

        private static bool Takes(Drawn drawn)
        {
            if (current == null || current.Used || !drawn.Enabled || (current.Place >= 0 ? current.Place != pass.Count - 1 : drawn.Name != current.Name))
            {
                return false;
            }
            current.Used = true;
            GUI.changed = true;
            return true;
        }

        public static bool Button(string label, Rect position = new Rect()) { return Takes(Draw("button", label, "", position)); }

        public static bool Toggle(string label, bool value, string kind = "toggle", string tooltip = "")
        {
            var drawn = Draw(kind, label, value ? "true" : "false");
            drawn.Tooltip = tooltip;
            return Takes(drawn) ? (bool)current.Value : value;
        }

        public static string Text(string kind, string label, string value, string tooltip = "")
        {
            var drawn = Draw(kind, label, value);
            drawn.Tooltip = tooltip;
            return Takes(drawn) ? (string)current.Value : value;
        }

        public static double Number(string kind, string label, double value, string tooltip = "", double min = 0, double max = 0)
        {
            var drawn = Draw(kind, label, value.ToString("R", CultureInfo.InvariantCulture));
            drawn.Tooltip = tooltip;
            drawn.Min = min;
            drawn.Max = max;
            return Takes(drawn) ? Convert.ToDouble(current.Value, CultureInfo.InvariantCulture) : value;
        }

        public static int Popup(string label, int selected, string[] options, string tooltip = "")
        {
            var drawn = Draw("popup", label, selected >= 0 && selected < options.Length ? options[selected] : "");
            drawn.Options = (string[])options.Clone();
            drawn.Tooltip = tooltip;
            if (!Takes(drawn))
            {
                return selected;
            }
            var at = Array.IndexOf(options, (string)current.Value);
            if (at < 0)
            {
                throw new InvalidOperationException(
                    "'" + drawn.Name + "' has no option '" + current.Value + "'; it has: " + string.Join(", ", options));
            }
            return at;
        }

        public static Object Reference(string label, Object value)
        {
            var drawn = Draw("object", label, value == null ? "" : value.name);
            return Takes(drawn) ? (Object)current.Value : value;
        }

        /// <summary>The one control of this name in what was drawn.</summary>
        public static Drawn Find(List<Drawn> drawn, string name)
        {
            foreach (var control in drawn)
            {
                if (control.Name == name)
                {
                    return control;
                }
            }
            throw new InvalidOperationException("nothing is called '" + name + "'; there are: " + string.Join(", ", Names(drawn)));
        }

        /// <summary>All texts that are shown, one a line.</summary>
        public static string Shown(List<Drawn> drawn)
        {
            var lines = new List<string>();
            foreach (var control in drawn)
            {
                lines.Add(control.Kind + "|" + control.Label + "|" + control.Value);
            }
            return string.Join("\n", lines.ToArray());
        }
    }
}
