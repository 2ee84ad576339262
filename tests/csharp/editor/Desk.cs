// What the editor's tests have before them: assets, a way to draw them, a sidecar that is started as a project would.
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using System.Threading;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Editor;
using PlayerTests;
using UnityEditor;
using UnityEngine;
using UnityStubs;

namespace EditorTests
{
    internal static class Desk
    {
        private const double PatienceS = 60.0;

        /// What the test of Python says, as one file of JSON.
        internal static readonly JObject Told = ReadTold();

        private static JObject ReadTold()
        {
            var path = Environment.GetEnvironmentVariable("EDITOR_TEST");
            return string.IsNullOrEmpty(path) ? new JObject() : JObject.Parse(File.ReadAllText(path, Encoding.UTF8));
        }

        /// An editor that was just started, as far as the stubs can forget.
        [BeforeEach]
        private static void BeginAnew()
        {
            AssetDatabase.Assets.Clear();
            Undo.ClearAll();
            Undo.undoRedoPerformed = null;
            EditorUtility.Dialogs.Clear();
            EditorUtility.DialogAnswer = true;
            EditorUtility.PanelAnswer = "";
            FakeEngine.ResourceByPath.Clear();
            FakeEngine.Log.Clear();
            FakeEngine.DataPath = "";
            FakeEngine.StreamingAssetsPath = "";
            Selection.activeObject = null;
        }

        internal static string Text(string name)
        {
            return (string)Told[name];
        }

        /// An asset of the project with this workflow.
        internal static ParleyWorkflow Workflow(string json, string name = "tavern")
        {
            var asset = ParleyWorkflow.Create(json);
            asset.name = name;
            AssetDatabase.CreateAsset(asset, "Assets/" + name + ".asset");
            return asset;
        }

        internal static DialogueCast Cast(string name, params string[] nodes)
        {
            var cast = ScriptableObject.CreateInstance<DialogueCast>();
            foreach (var node in nodes)
            {
                cast.Speakers.Add(new DialogueSpeaker(node, node.ToUpperInvariant(), Color.red, false));
            }
            AssetDatabase.CreateAsset(cast, "Assets/" + name + ".asset");
            return cast;
        }

        internal static WorkflowInspector Inspect(ParleyWorkflow asset)
        {
            var inspector = ScriptableObject.CreateInstance<WorkflowInspector>();
            inspector.target = asset;
            return inspector;
        }

        internal static List<Drawn> Draw(WorkflowInspector inspector)
        {
            return GuiScript.Frame(inspector.OnInspectorGUI);
        }

        /// The user does one thing, and looks.
        internal static List<Drawn> Do(WorkflowInspector inspector, string control, object value)
        {
            GuiScript.Do(control, value);
            return Draw(inspector);
        }

        /// Opens every foldout, and those inside.
        internal static List<Drawn> OpenAll(Action draw)
        {
            var drawn = GuiScript.Frame(draw);
            for (var round = 0; round < 400; round++)
            {
                Drawn closed = null;
                foreach (var control in drawn)
                {
                    if (control.Kind == "foldout" && control.Value == "false" && closed == null)
                    {
                        closed = control;
                    }
                }
                if (closed == null)
                {
                    return drawn;
                }
                GuiScript.Do(closed.Name, true);
                drawn = GuiScript.Frame(draw);
            }
            throw new Failed("foldouts without end");
        }

        internal static bool Has(List<Drawn> drawn, string name)
        {
            return drawn.Exists(control => control.Name == name);
        }

        internal static JObject Node(ParleyWorkflow asset, string name)
        {
            foreach (var node in (JArray)asset.Read()["nodes"])
            {
                if ((string)node["name"] == name)
                {
                    return (JObject)node;
                }
            }
            throw new Failed("there is no node " + name + " in " + asset.Json);
        }

        // ---- a sidecar

        /// The project's settings, with the command that starts a sidecar.
        internal static ParleySettings Settings()
        {
            var settings = ScriptableObject.CreateInstance<ParleySettings>();
            foreach (var word in (JArray)Told["command"])
            {
                settings.EditorCommand.Add((string)word);
            }
            foreach (var word in (JArray)Told["arguments"])
            {
                settings.ServeArguments.Add((string)word);
            }
            FakeEngine.ResourceByPath[ParleySettings.ResourceName] = settings;
            FakeEngine.DataPath = Path.Combine(Text("folder"), "Assets");
            FakeEngine.StreamingAssetsPath = Path.Combine(FakeEngine.DataPath, "StreamingAssets");
            settings.StorageFolder = Text("storage") ?? "";
            return settings;
        }

        /// Lets the editor go on until something is so.
        internal static void Until(Func<bool> isSo, string what)
        {
            var begun = DateTime.UtcNow;
            while (!isSo())
            {
                if ((DateTime.UtcNow - begun).TotalSeconds > PatienceS)
                {
                    var log = new List<string>(EditorSidecar.Log);
                    throw new Failed("not within " + PatienceS + " s: " + what + "\n" + string.Join("\n", log.ToArray()));
                }
                if (EditorApplication.update != null)
                {
                    EditorApplication.update();
                }
                Thread.Sleep(2);
            }
        }

        /// A test with a sidecar, which is ended whatever happens.
        internal static void WithSidecar(Action test)
        {
            Settings();
            try
            {
                test();
            }
            finally
            {
                EditorSidecar.Stop();
            }
        }
    }
}
