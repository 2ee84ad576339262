// Makes the tavern's assets and its scene.
using System;
using System.IO;
using Newtonsoft.Json.Linq;
using UnityEditor;
using UnityEditor.SceneManagement;
using UnityEngine;
using UnityEngine.SceneManagement;
using UnityEngine.UIElements;

namespace Parley.Samples.Tavern.Editor
{
    /// <summary>
    /// Opens the tavern; the first time it makes all that belongs to it. What is there already stays as it is, so what
    /// was changed in the tavern is not lost. To begin anew delete the folder of the assets.
    /// </summary>
    public static class TavernBuilder
    {
        /// <summary>Where the assets go.</summary>
        public const string AssetFolder = "Assets/ParleyTavern";

        /// <summary>Where the files go that the workflow names, below the storage folder.</summary>
        public const string StorageFolder = "tavern";

        private const string ScenePath = AssetFolder + "/Tavern.unity";
        private const string WorkflowPath = AssetFolder + "/Tavern.asset";
        private const string CastPath = AssetFolder + "/TavernCast.asset";
        private const string PanelPath = AssetFolder + "/TavernPanel.asset";

        /// <summary>Open the tavern, and make it where it is not there.</summary>
        [MenuItem("Window/Parley/Open the Tavern", false, 21)]
        public static void OpenTavern()
        {
            if (!EditorSceneManager.SaveCurrentModifiedScenesIfUserWantsTo())
            {
                return;
            }
            try
            {
                Open();
            }
            catch (Exception fault)
            {
                if (!(fault is IOException || fault is UnauthorizedAccessException || fault is JsonFormatException))
                {
                    throw;
                }
                EditorUtility.DisplayDialog("Parley", "The tavern could not be made: " + fault.Message, "OK");
            }
        }

        private static void Open()
        {
            string sample = SampleFolder();
            if (sample == null)
            {
                EditorUtility.DisplayDialog(
                    "Parley", "The files of the sample are not below Assets; import the tavern again in the Package Manager.", "OK");
                return;
            }
            Directory.CreateDirectory(AssetFolder);
            CopyStorage(sample + "/Storage");
            ParleyWorkflow workflow = MakeWorkflow(sample + "/tavern.workflow.json");
            DialogueCast cast = MakeCast();
            PanelSettings panel = MakePanel(sample + "/TavernTheme.tss");
            AssetDatabase.SaveAssets();
            AssetDatabase.Refresh();
            if (File.Exists(ScenePath))
            {
                EditorSceneManager.OpenScene(ScenePath);
                return;
            }
            Scene scene = EditorSceneManager.NewScene(NewSceneSetup.DefaultGameObjects, NewSceneMode.Single);
            Furnish(workflow, cast, panel, AssetDatabase.LoadAssetAtPath<StyleSheet>(sample + "/Tavern.uss"));
            EditorSceneManager.SaveScene(scene, ScenePath);
        }

        /// <summary>Where the sample was imported to, from the project on; null: it is not there.</summary>
        private static string SampleFolder()
        {
            foreach (string guid in AssetDatabase.FindAssets("TavernScreen t:MonoScript"))
            {
                string path = AssetDatabase.GUIDToAssetPath(guid).Replace('\\', '/');
                if (path.EndsWith("/TavernScreen.cs", StringComparison.Ordinal))
                {
                    return path.Substring(0, path.LastIndexOf('/'));
                }
            }
            return null;
        }

        private static void CopyStorage(string from)
        {
            string storage = ParleySettings.Load().StorageFolder;
            string root = Path.Combine(Application.streamingAssetsPath, storage.Length > 0 ? storage : "Parley/storage");
            string to = Path.Combine(root, StorageFolder);
            Directory.CreateDirectory(to);
            foreach (string file in Directory.GetFiles(from))
            {
                string target = Path.Combine(to, Path.GetFileName(file));
                if (!file.EndsWith(".meta", StringComparison.Ordinal) && !File.Exists(target))
                {
                    File.Copy(file, target);
                }
            }
        }

        private static ParleyWorkflow MakeWorkflow(string from)
        {
            ParleyWorkflow workflow = AssetDatabase.LoadAssetAtPath<ParleyWorkflow>(WorkflowPath);
            if (workflow != null)
            {
                return workflow;
            }
            WorkflowDocument document = WorkflowDocument.Load(from);
            foreach (JToken node in (JArray)document.Root["nodes"])
            {
                foreach (string field in new[] { "string_storage", "embedded_storage" })
                {
                    // Other files of a game may have the same names.
                    if (node[field] != null)
                    {
                        node[field] = StorageFolder + "/" + (string)node[field];
                    }
                }
            }
            workflow = ParleyWorkflow.Create(document.ToText());
            AssetDatabase.CreateAsset(workflow, WorkflowPath);
            return workflow;
        }

        private static DialogueCast MakeCast()
        {
            DialogueCast cast = AssetDatabase.LoadAssetAtPath<DialogueCast>(CastPath);
            if (cast != null)
            {
                return cast;
            }
            Color mira = new Color(0.96f, 0.72f, 0.45f);
            Color odo = new Color(0.62f, 0.74f, 0.86f);
            cast = ScriptableObject.CreateInstance<DialogueCast>();
            cast.Speakers.Add(new DialogueSpeaker("mira", "Mira", mira, false));
            cast.Speakers.Add(new DialogueSpeaker("refusal", "Mira", mira, false));
            cast.Speakers.Add(new DialogueSpeaker("bram", "Bram", new Color(0.68f, 0.86f, 0.58f), false));
            cast.Speakers.Add(new DialogueSpeaker("odo", "Odo", odo, false));
            cast.Speakers.Add(new DialogueSpeaker("odo_opens", "Odo", odo, false));
            cast.Speakers.Add(new DialogueSpeaker("odo_shrugs", "Odo", odo, false));
            cast.Speakers.Add(new DialogueSpeaker("narrator", "Narrator", Color.gray, true));
            AssetDatabase.CreateAsset(cast, CastPath);
            return cast;
        }

        private static PanelSettings MakePanel(string theme)
        {
            PanelSettings panel = AssetDatabase.LoadAssetAtPath<PanelSettings>(PanelPath);
            if (panel != null)
            {
                return panel;
            }
            panel = ScriptableObject.CreateInstance<PanelSettings>();
            panel.themeStyleSheet = AssetDatabase.LoadAssetAtPath<ThemeStyleSheet>(theme);
            panel.scaleMode = PanelScaleMode.ScaleWithScreenSize;
            panel.referenceResolution = new Vector2Int(1280, 720);
            AssetDatabase.CreateAsset(panel, PanelPath);
            return panel;
        }

        private static void Furnish(ParleyWorkflow workflow, DialogueCast cast, PanelSettings panel, StyleSheet style)
        {
            GameObject tavern = new GameObject("Tavern");
            // Nothing begins before all is set.
            tavern.SetActive(false);
            ParleyAgent agent = tavern.AddComponent<ParleyAgent>();
            agent.Workflow = workflow;
            tavern.AddComponent<TavernDoors>();
            DialogueView view = tavern.AddComponent<DialogueView>();
            view.Cast = cast;
            view.PlayerName = "Guest";
            view.FollowVoice = true;
            AudioSource source = tavern.AddComponent<AudioSource>();
            source.playOnAwake = false;
            tavern.AddComponent<ParleyVoice>().Source = source;
            UIDocument document = tavern.AddComponent<UIDocument>();
            document.panelSettings = panel;
            tavern.AddComponent<TavernScreen>().Show(agent, view, style);
            tavern.SetActive(true);
        }
    }
}
