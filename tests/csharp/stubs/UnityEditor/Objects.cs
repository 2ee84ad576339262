// Editors, windows, undo, assets and menus of UnityEditor as far as the package uses them. Each declaration was checked
// against Unity's public C# reference (github.com/Unity-Technologies/UnityCsReference, branches 2021.3 and 6000.7); the
// file is named above it.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Reflection;
using UnityEngine;
using UnityStubs;
using Object = UnityEngine.Object;

namespace UnityEditor
{
    // Editor/Mono/Inspector/Editor.cs, ScriptBindings/Editor.bindings.cs
    public class Editor : ScriptableObject
    {
        private Object inspected;
        public Object target { get { return inspected; } set { inspected = value; } }
        public Object[] targets { get { return new[] { inspected }; } }
        public virtual void OnInspectorGUI() { }
        public void Repaint() { }
    }

    // Editor/Mono/CustomEditorAttributes.cs (Inspector/Core/CustomEditor.cs in 6000.7)
    public class CustomEditor : Attribute
    {
        public CustomEditor(Type inspectedType) { }
    }

    // Editor/Mono/EditorWindow.cs
    public class EditorWindow : ScriptableObject
    {
        public GUIContent titleContent { get; set; }
        public Vector2 minSize { get; set; }
        public Rect position { get; set; }
        public bool wantsMouseMove { get; set; }
        public void Repaint() { }
        public void Show() { }
        public void Focus() { }
        public void Close() { }
        public static T GetWindow<T>(string title) where T : EditorWindow
        {
            var window = CreateInstance<T>();
            window.titleContent = new GUIContent(title);
            window.position = new Rect(0f, 0f, 800f, 600f);
            return window;
        }
    }

    // Editor/Mono/MenuItem.cs
    [AttributeUsage(AttributeTargets.Method, AllowMultiple = true)]
    public sealed class MenuItem : Attribute
    {
        public MenuItem(string itemName) : this(itemName, false, 1000) { }
        public MenuItem(string itemName, bool isValidateFunction) : this(itemName, isValidateFunction, 1000) { }
        public MenuItem(string itemName, bool isValidateFunction, int priority) { menuItem = itemName; }
        public string menuItem;
    }

    // Editor/Mono/InitializeOnLoadAttribute.cs
    [AttributeUsage(AttributeTargets.Class)]
    public class InitializeOnLoadAttribute : Attribute { }

    // Editor/Mono/Selection.bindings.cs
    public sealed class Selection
    {
        public static Object activeObject { get; set; }
    }

    // Editor/Mono/EditorApplication.cs, EditorApplication.bindings.cs
    public sealed class EditorApplication
    {
        public delegate void CallbackFunction();
        public static CallbackFunction update;
        public static CallbackFunction delayCall;
        static EditorApplication()
        {
            GuiScript.AfterEvent = delegate
            {
                var calls = delayCall;
                delayCall = null;
                if (calls != null)
                {
                    calls();
                }
            };
        }
        public static event Action quitting;
        public static double timeSinceStartup { get { return Environment.TickCount / 1000.0; } }
        public static void Quit() { if (quitting != null) { quitting(); } }
    }

    // Editor/Mono/AssemblyReloadEvents.cs
    public static class AssemblyReloadEvents
    {
        public delegate void AssemblyReloadCallback();
        public static event AssemblyReloadCallback beforeAssemblyReload;
        public static void Raise() { if (beforeAssemblyReload != null) { beforeAssemblyReload(); } }
    }

    // Editor/Mono/EditorGUIUtility.bindings.cs
    public class SessionState
    {
        private static readonly Dictionary<string, string> Values = new Dictionary<string, string>();
        public static void SetString(string key, string value) { Values[key] = value; }
        public static string GetString(string key, string defaultValue)
        {
            string value;
            return Values.TryGetValue(key, out value) ? value : defaultValue;
        }
        public static void EraseString(string key) { Values.Remove(key); }
    }

    // Editor/Mono/EditorUtility.bindings.cs, EditorUtility.cs. A test sets the answers.
    public class EditorUtility
    {
        public static bool DialogAnswer = true;
        public static string PanelAnswer = "";
        public static readonly List<string> Dialogs = new List<string>();
        public static readonly List<Object> Dirty = new List<Object>();
        public static void SetDirty(Object target) { Dirty.Add(target); }
        public static bool DisplayDialog(string title, string message, string ok) { Dialogs.Add(message); return true; }
        public static bool DisplayDialog(string title, string message, string ok, string cancel) { Dialogs.Add(message); return DialogAnswer; }
        public static string OpenFilePanel(string title, string directory, string extension) { return PanelAnswer; }
        public static string OpenFolderPanel(string title, string folder, string defaultName) { return PanelAnswer; }
        public static string SaveFilePanel(string title, string directory, string defaultName, string extension) { return PanelAnswer; }
        public static void RevealInFinder(string path) { }
        public static void DisplayProgressBar(string title, string info, float progress) { }
        public static void ClearProgressBar() { }
    }

    // Modules/AssetDatabase/Editor/ScriptBindings/AssetDatabase.bindings.cs, Editor/Mono/AssetDatabase/AssetDatabaseSearching.cs
    public class AssetDatabase
    {
        public static readonly Dictionary<string, Object> Assets = new Dictionary<string, Object>();
        public static int Saves;
        public static void CreateAsset(Object asset, string path) { Assets[path] = asset; }
        public static string GenerateUniqueAssetPath(string path)
        {
            var unique = path;
            for (var number = 1; Assets.ContainsKey(unique); number++)
            {
                unique = path.Insert(path.LastIndexOf('.'), " " + number);
            }
            return unique;
        }
        public static string GetAssetPath(Object assetObject)
        {
            foreach (var asset in Assets)
            {
                if (ReferenceEquals(asset.Value, assetObject))
                {
                    return asset.Key;
                }
            }
            return "";
        }
        public static T LoadAssetAtPath<T>(string assetPath) where T : Object
        {
            Object found;
            return Assets.TryGetValue(assetPath, out found) ? found as T : null;
        }
        public static string[] FindAssets(string filter)
        {
            var found = new List<string>();
            foreach (var asset in Assets)
            {
                var isNamed = filter == asset.Value.name + " t:" + asset.Value.GetType().Name;
                if (isNamed || filter == "t:" + asset.Value.GetType().Name)
                {
                    found.Add(asset.Key);
                }
            }
            return found.ToArray();
        }
        public static string GUIDToAssetPath(string guid) { return guid; }
        public static string AssetPathToGUID(string path) { return path; }
        public static bool IsValidFolder(string path) { return true; }
        public static void SaveAssets() { Saves++; }
        public static void SaveAssetIfDirty(Object obj) { Saves++; }
        public static void Refresh() { }
    }

    // Editor/Mono/EditorUserSettings.bindings.cs. Kept for one person and one project.
    public sealed class EditorUserSettings
    {
        private static readonly Dictionary<string, string> Values = new Dictionary<string, string>();
        public static string GetConfigValue(string name)
        {
            string value;
            return Values.TryGetValue(name, out value) ? value : "";
        }
        public static void SetConfigValue(string name, string value) { Values[name] = value; }
    }

    // Editor/Mono/ProjectWindow/ProjectWindowUtil.cs
    public class ProjectWindowUtil
    {
        public static void ShowCreatedAsset(Object o) { Selection.activeObject = o; }
    }

    // Editor/Mono/SerializedObject.bindings.cs, SerializedProperty.bindings.cs
    public class SerializedObject : IDisposable
    {
        internal readonly Object Target;
        internal readonly Dictionary<FieldInfo, object> Changes = new Dictionary<FieldInfo, object>();
        public SerializedObject(Object obj) { Target = obj; }
        public void Update() { }
        public bool ApplyModifiedProperties()
        {
            if (Changes.Count == 0)
            {
                return false;
            }
            Undo.RegisterCompleteObjectUndo(Target, "Inspector");
            foreach (var change in Changes)
            {
                change.Key.SetValue(Target, change.Value);
            }
            Changes.Clear();
            return true;
        }
        public SerializedProperty GetIterator() { return new SerializedProperty(this); }
        public void Dispose() { }
    }

    // Editor/Mono/SerializedProperty.bindings.cs
    public class SerializedProperty
    {
        private readonly SerializedObject owner;
        private readonly List<FieldInfo> fields;
        private int at = -1;
        internal SerializedProperty(SerializedObject owner)
        {
            this.owner = owner;
            fields = Serialized.Fields(owner.Target.GetType());
        }
        public string name { get { return at < 0 ? "m_Script" : fields[at].Name; } }
        public string displayName { get { return name; } }
        /// Unity visits m_Script first; this does not.
        public bool NextVisible(bool enterChildren) { at++; return at < fields.Count; }
        internal void Draw()
        {
            var before = fields[at].GetValue(owner.Target);
            object after = before;
            if (before is bool)
            {
                after = GuiScript.Toggle(name, (bool)before);
            }
            else if (before is string || fields[at].FieldType == typeof(string))
            {
                after = GuiScript.Text("text", name, (string)before);
            }
            else if (before is int || before is float || before is double || before is long)
            {
                after = Convert.ChangeType(GuiScript.Number("number", name, Convert.ToDouble(before)), fields[at].FieldType);
            }
            else
            {
                GuiScript.Draw("property", name, "" + before);
            }
            if (!Equals(before, after))
            {
                owner.Changes[fields[at]] = after;
            }
        }
    }

    /// The state of an object that Unity would write into its asset.
    internal static class Serialized
    {
        public static List<FieldInfo> Fields(Type type)
        {
            var fields = new List<FieldInfo>();
            for (var level = type; level != null && level != typeof(Object) && level != typeof(object); level = level.BaseType)
            {
                foreach (var field in level.GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly))
                {
                    var isKept = field.IsPublic ? !field.IsDefined(typeof(NonSerializedAttribute), false) : field.IsDefined(typeof(SerializeField), false);
                    if (isKept && !typeof(Delegate).IsAssignableFrom(field.FieldType))
                    {
                        fields.Add(field);
                    }
                }
            }
            return fields;
        }

        public static Dictionary<FieldInfo, object> Take(object from)
        {
            var state = new Dictionary<FieldInfo, object>();
            foreach (var field in Fields(from.GetType()))
            {
                state[field] = Copy(field.GetValue(from));
            }
            return state;
        }

        public static void Put(object into, Dictionary<FieldInfo, object> state)
        {
            foreach (var field in state)
            {
                field.Key.SetValue(into, Copy(field.Value));
            }
        }

        private static object Copy(object value)
        {
            if (value == null || value is string || value is Object || value.GetType().IsValueType)
            {
                return value;
            }
            var list = value as IList;
            if (list != null)
            {
                var array = value as Array;
                var copy = array != null
                    ? Array.CreateInstance(value.GetType().GetElementType(), array.Length)
                    : (IList)Activator.CreateInstance(value.GetType());
                for (var at = 0; at < list.Count; at++)
                {
                    if (array != null)
                    {
                        copy[at] = Copy(list[at]);
                    }
                    else
                    {
                        copy.Add(Copy(list[at]));
                    }
                }
                return copy;
            }
            if (!value.GetType().IsDefined(typeof(SerializableAttribute), false))
            {
                return value;
            }
            var made = Activator.CreateInstance(value.GetType());
            Put(made, Take(value));
            return made;
        }
    }

    // Editor/Mono/Undo/Undo.bindings.cs. Unity begins a group with each event of the mouse and the keyboard.
    public class Undo
    {
        public delegate void UndoRedoCallback();
        public static UndoRedoCallback undoRedoPerformed;

        private sealed class Record
        {
            public int Group;
            public Object Target;
            public Dictionary<FieldInfo, object> State;
        }

        private static readonly List<Record> Done = new List<Record>();
        private static readonly Dictionary<int, string> GroupNames = new Dictionary<int, string>();
        private static int group;

        static Undo()
        {
            GuiScript.BeforeEvent = IncrementCurrentGroup;
        }

        public static void RegisterCompleteObjectUndo(Object objectToUndo, string name)
        {
            Done.Add(new Record { Group = group, Target = objectToUndo, State = Serialized.Take(objectToUndo) });
            GroupNames[group] = name;
        }

        public static void RecordObject(Object objectToUndo, string name) { RegisterCompleteObjectUndo(objectToUndo, name); }
        public static int GetCurrentGroup() { return group; }
        public static void IncrementCurrentGroup() { group++; }
        public static void SetCurrentGroupName(string name) { GroupNames[group] = name; }

        public static void CollapseUndoOperations(int groupIndex)
        {
            foreach (var record in Done)
            {
                if (record.Group > groupIndex)
                {
                    record.Group = groupIndex;
                }
            }
            string last;
            if (GroupNames.TryGetValue(group, out last))
            {
                GroupNames[groupIndex] = last;
            }
        }

        public static void PerformUndo()
        {
            if (Done.Count == 0)
            {
                return;
            }
            var undone = Done[Done.Count - 1].Group;
            for (var at = Done.Count - 1; at >= 0 && Done[at].Group == undone; at--)
            {
                Serialized.Put(Done[at].Target, Done[at].State);
                Done.RemoveAt(at);
            }
            if (undoRedoPerformed != null)
            {
                undoRedoPerformed();
            }
        }

        /// The names of the groups that can be undone, oldest first: one for each step of the user.
        public static string[] Groups()
        {
            var names = new List<string>();
            var last = -1;
            foreach (var record in Done)
            {
                if (record.Group != last)
                {
                    names.Add(GroupNames[record.Group]);
                    last = record.Group;
                }
            }
            return names.ToArray();
        }

        public static void ClearAll() { Done.Clear(); }
    }

    // Editor/Mono/Settings/SettingsProvider.cs
    public enum SettingsScope { User, Project }

    // Editor/Mono/Settings/SettingsProvider.cs
    public class SettingsProvider
    {
        public SettingsProvider(string path, SettingsScope scopes, IEnumerable<string> keywords = null)
        {
            settingsPath = path;
            scope = scopes;
            this.keywords = keywords;
        }
        public string label { get; set; }
        public string settingsPath { get; private set; }
        public SettingsScope scope { get; private set; }
        public IEnumerable<string> keywords { get; set; }
        public Action<string> guiHandler { get; set; }
    }

    // Editor/Mono/Settings/SettingsProviderAttribute.cs
    [AttributeUsage(AttributeTargets.Method)]
    public sealed class SettingsProviderAttribute : Attribute { }

    // Editor/Mono/Settings/SettingsService.cs
    public static class SettingsService
    {
        public static EditorWindow OpenProjectSettings(string settingsPath = null) { return null; }
    }

    // Editor/Mono/BuildTarget.cs
    public enum BuildTarget
    {
        StandaloneOSX = 2, StandaloneWindows = 5, iOS = 9, Android = 13, StandaloneWindows64 = 19, WebGL = 20, StandaloneLinux64 = 24
    }
}

namespace UnityEditor.Build
{
    // Editor/Mono/BuildPipeline/BuildPipelineInterfaces.cs
    public interface IOrderedCallback
    {
        int callbackOrder { get; }
    }

    // Editor/Mono/BuildPipeline/BuildPipelineInterfaces.cs
    public interface IPreprocessBuildWithReport : IOrderedCallback
    {
        void OnPreprocessBuild(Reporting.BuildReport report);
    }

    // Editor/Mono/BuildPipeline/BuildPipelineInterfaces.cs
    public interface IPostprocessBuildWithReport : IOrderedCallback
    {
        void OnPostprocessBuild(Reporting.BuildReport report);
    }

    // Editor/Mono/BuildPipeline/BuildPipelineInterfaces.cs
    public interface IUnityLinkerProcessor : IOrderedCallback
    {
        string GenerateAdditionalLinkXmlFile(Reporting.BuildReport report, UnityLinker.UnityLinkerBuildPipelineData data);
    }

    // Editor/Mono/BuildPipeline/BuildFailedException.cs
    public class BuildFailedException : Exception
    {
        public BuildFailedException(string message) : base(message) { }
        public BuildFailedException(Exception innerException) : base(null, innerException) { }
    }
}

namespace UnityEditor.UnityLinker
{
    // Editor/Mono/BuildPipeline/UnityLinker/UnityLinkerBuildPipelineData.cs
    public sealed class UnityLinkerBuildPipelineData { }
}

namespace UnityEditor.Build.Reporting
{
    // Modules/BuildReportingEditor/Managed/BuildReport.bindings.cs. The setter is the test's.
    public sealed class BuildReport : Object
    {
        public BuildSummary summary { get; set; }
    }

    // Modules/BuildReportingEditor/Managed/BuildSummary.cs. The setters are the test's.
    public struct BuildSummary
    {
        public BuildTarget platform { get; set; }
        public string outputPath { get; set; }
    }
}

namespace UnityEditor.PackageManager
{
    // Modules/PackageManager/Editor/Managed/PackageInfo.cs
    public class PackageInfo
    {
        /// What FindForAssembly answers; the test's.
        public static PackageInfo Found;
        public string name { get; set; }
        public string version { get; set; }
        public string resolvedPath { get; set; }
        public static PackageInfo FindForAssembly(Assembly assembly) { return Found; }
    }
}

namespace UnityEditor.PackageManager.UI
{
    // Modules/PackageManagerUI/Editor/Services/Packages/PackageSample.cs (Services/Samples in 6000.7)
    public struct Sample
    {
        [Flags]
        public enum ImportOptions { None = 0x0, OverridePreviousImports = 0x1, HideImportWindow = 0x2 }
        /// What FindByPackage finds, and the names of those that were imported; the test's.
        public static readonly List<Sample> Known = new List<Sample>();
        public static readonly List<string> Imported = new List<string>();
        public string displayName { get; set; }
        public string importPath { get; set; }
        public bool isImported { get; set; }
        public static IEnumerable<Sample> FindByPackage(string packageName, string packageVersion) { return Known; }
        public bool Import(ImportOptions options = ImportOptions.None) { Imported.Add(displayName); return true; }
    }
}
