// The editor's GUI calls as far as the package draws with them. Each declaration was checked against Unity's public C#
// reference (github.com/Unity-Technologies/UnityCsReference, branches 2021.3 and 6000.7); the file is named above it.
using System;
using UnityEngine;
using UnityStubs;
using Object = UnityEngine.Object;

namespace UnityEditor
{
    // Editor/Mono/EditorGUI.cs
    public enum MessageType { None = 0, Info = 1, Warning = 2, Error = 3 }

    // Editor/Mono/EditorGUI.cs
    public sealed class EditorGUI
    {
        public static int indentLevel { get; set; }
        public static void BeginDisabledGroup(bool disabled) { GuiScript.BeginDisabled(disabled); }
        public static void EndDisabledGroup() { GuiScript.EndDisabled(); }
        public static void ProgressBar(Rect position, float value, string text)
        {
            GuiScript.Draw("progress", text, value.ToString(System.Globalization.CultureInfo.InvariantCulture), position);
        }
        public static void FocusTextInControl(string name) { GUI.FocusControl(name); EditorGUIUtility.editingTextField = true; }
        public static void DrawRect(Rect rect, Color color) { GuiScript.Draw("fill", "", "", rect).Color = color; }
    }

    // Editor/Mono/EditorGUILayout.cs
    public sealed class EditorGUILayout
    {
        public static void LabelField(string label, params GUILayoutOption[] options) { GuiScript.Draw("label", label, label); }
        public static void LabelField(string label, GUIStyle style, params GUILayoutOption[] options) { GuiScript.Draw("label", label, label); }
        public static void LabelField(string label, string label2, params GUILayoutOption[] options) { GuiScript.Draw("label", label, label2); }
        public static void LabelField(GUIContent label, GUIContent label2, params GUILayoutOption[] options)
        {
            GuiScript.Draw("label", label.text, label2.text).Tooltip = label.tooltip;
        }
        public static void SelectableLabel(string text, GUIStyle style, params GUILayoutOption[] options) { GuiScript.Draw("selectable", "", text); }
        public static bool Foldout(bool foldout, string content, bool toggleOnLabelClick) { return GuiScript.Toggle(content, foldout, "foldout"); }
        public static bool Foldout(bool foldout, GUIContent content, bool toggleOnLabelClick) { return GuiScript.Toggle(content.text, foldout, "foldout"); }
        public static bool Toggle(GUIContent label, bool value, params GUILayoutOption[] options) { return GuiScript.Toggle(label.text, value, "toggle", label.tooltip); }
        public static bool Toggle(string label, bool value, params GUILayoutOption[] options) { return GuiScript.Toggle(label, value); }
        public static string TextField(string text, params GUILayoutOption[] options) { return GuiScript.Text("text", "", text); }
        public static string TextField(string label, string text, params GUILayoutOption[] options) { return GuiScript.Text("text", label, text); }
        public static string DelayedTextField(string text, params GUILayoutOption[] options) { return GuiScript.Text("delayed", "", text); }
        public static string DelayedTextField(GUIContent label, string text, params GUILayoutOption[] options) { return GuiScript.Text("delayed", label.text, text, label.tooltip); }
        public static string TextArea(string text, GUIStyle style, params GUILayoutOption[] options) { return GuiScript.Text("area", "", text); }
        public static int IntSlider(GUIContent label, int value, int leftValue, int rightValue, params GUILayoutOption[] options)
        {
            return Clamped((int)GuiScript.Number("int slider", label.text, value, label.tooltip, leftValue, rightValue), leftValue, rightValue);
        }
        public static float Slider(GUIContent label, float value, float leftValue, float rightValue, params GUILayoutOption[] options)
        {
            var set = (float)GuiScript.Number("slider", label.text, value, label.tooltip, leftValue, rightValue);
            return set < leftValue ? leftValue : set > rightValue ? rightValue : set;
        }
        public static double DelayedDoubleField(GUIContent label, double value, params GUILayoutOption[] options)
        {
            return GuiScript.Number("double", label.text, value, label.tooltip);
        }
        public static long LongField(GUIContent label, long value, params GUILayoutOption[] options)
        {
            return (long)GuiScript.Number("long", label.text, value, label.tooltip);
        }
        public static int Popup(int selectedIndex, string[] displayedOptions, params GUILayoutOption[] options)
        {
            return GuiScript.Popup("", selectedIndex, displayedOptions);
        }
        public static int Popup(string label, int selectedIndex, string[] displayedOptions, params GUILayoutOption[] options)
        {
            return GuiScript.Popup(label, selectedIndex, displayedOptions);
        }
        public static int Popup(GUIContent label, int selectedIndex, string[] displayedOptions, params GUILayoutOption[] options)
        {
            return GuiScript.Popup(label.text, selectedIndex, displayedOptions, label.tooltip);
        }
        public static Object ObjectField(string label, Object obj, Type objType, bool allowSceneObjects, params GUILayoutOption[] options)
        {
            return GuiScript.Reference(label, obj);
        }
        public static void HelpBox(string message, MessageType type) { GuiScript.Draw("help " + type, "", message); }
        public static void Space() { }
        public static Rect BeginHorizontal(params GUILayoutOption[] options) { GuiScript.Open("horizontal"); return new Rect(); }
        public static Rect BeginHorizontal(GUIStyle style, params GUILayoutOption[] options) { GuiScript.Open("horizontal"); return new Rect(); }
        public static void EndHorizontal() { GuiScript.Close("horizontal"); }
        public static Rect BeginVertical(params GUILayoutOption[] options) { GuiScript.Open("vertical"); return new Rect(); }
        public static Rect BeginVertical(GUIStyle style, params GUILayoutOption[] options) { GuiScript.Open("vertical"); return new Rect(); }
        public static void EndVertical() { GuiScript.Close("vertical"); }
        public static Vector2 BeginScrollView(Vector2 scrollPosition, params GUILayoutOption[] options) { GuiScript.Open("scroll"); return scrollPosition; }
        public static void EndScrollView() { GuiScript.Close("scroll"); }
        public static bool PropertyField(SerializedProperty property, bool includeChildren, params GUILayoutOption[] options)
        {
            property.Draw();
            return true;
        }

        private static int Clamped(int value, int low, int high) { return value < low ? low : value > high ? high : value; }
    }

    // Editor/Mono/GUI/EditorStyles.cs
    public sealed class EditorStyles
    {
        private static readonly GUIStyle Style = new GUIStyle();
        public static GUIStyle boldLabel { get { return Style; } }
        public static GUIStyle miniLabel { get { return Style; } }
        public static GUIStyle wordWrappedLabel { get { return Style; } }
        public static GUIStyle textArea { get { return Style; } }
        public static GUIStyle helpBox { get { return Style; } }
        public static GUIStyle toolbar { get { return Style; } }
        public static GUIStyle toolbarButton { get { return Style; } }
    }

    // Editor/Mono/EditorGUIUtility.cs, EditorGUIUtility.bindings.cs
    public sealed class EditorGUIUtility
    {
        public static float singleLineHeight { get { return 18f; } }
        public static bool isProSkin { get { return true; } }
        public static bool editingTextField { get { return GuiScript.IsTyping; } set { GuiScript.IsTyping = value; } }
        public static string systemCopyBuffer { get; set; }
        public static void PingObject(Object obj) { }
    }

    // Editor/Mono/Handles.cs (Editor/Mono/Handles/Handles.cs in 6000.7), Handles.bindings.cs
    public sealed class Handles
    {
        public static Color color { get; set; }
        public static void DrawBezier(
            Vector3 startPosition, Vector3 endPosition, Vector3 startTangent, Vector3 endTangent, Color color, Texture2D texture, float width)
        {
            var drawn = GuiScript.Draw("curve", "", "", new Rect(startPosition.x, startPosition.y, endPosition.x, endPosition.y));
            drawn.Color = color;
        }
    }
}
