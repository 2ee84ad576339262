// Project Settings > Parley.
using System.Collections.Generic;
using System.IO;
using UnityEditor;
using UnityEngine;

namespace Parley.Editor
{
    /// <summary>Shows the asset with the project's settings, and makes it where there is none.</summary>
    public static class ParleySettingsProvider
    {
        /// <summary>Where it stands in Project Settings.</summary>
        public const string SettingsPath = "Project/Parley";

        private const string AssetFolder = "Assets/Parley/Resources";

        /// <summary>What Unity asks for.</summary>
        [SettingsProvider]
        public static SettingsProvider Create()
        {
            return new SettingsProvider(SettingsPath, SettingsScope.Project, new HashSet<string> { "Parley", "sidecar", "model", "dialogue", "LLM" })
            {
                label = "Parley",
                guiHandler = Draw
            };
        }

        /// <summary>The project's settings; null: the project has no such asset yet.</summary>
        public static ParleySettings Find()
        {
            foreach (var guid in AssetDatabase.FindAssets("t:ParleySettings"))
            {
                var path = AssetDatabase.GUIDToAssetPath(guid).Replace('\\', '/');
                var isLoaded = path.EndsWith("/Resources/" + ParleySettings.ResourceName + ".asset", System.StringComparison.Ordinal);
                if (isLoaded)
                {
                    return AssetDatabase.LoadAssetAtPath<ParleySettings>(path);
                }
            }
            return null;
        }

        /// <summary>The project's settings, made where there are none.</summary>
        public static ParleySettings FindOrMake()
        {
            var found = Find();
            if (found != null)
            {
                return found;
            }
            Directory.CreateDirectory(AssetFolder);
            var made = ScriptableObject.CreateInstance<ParleySettings>();
            AssetDatabase.CreateAsset(made, AssetFolder + "/" + ParleySettings.ResourceName + ".asset");
            AssetDatabase.SaveAssets();
            return made;
        }

        private static void Draw(string search)
        {
            var settings = Find();
            if (settings == null)
            {
                EditorGUILayout.HelpBox("The project has no settings of its own; the defaults hold.", MessageType.Info);
                if (GUILayout.Button("Make Settings", GUILayout.Width(140f)))
                {
                    FindOrMake();
                }
                return;
            }
            using (var edited = new SerializedObject(settings))
            {
                edited.Update();
                var property = edited.GetIterator();
                for (var isFirst = true; property.NextVisible(isFirst); isFirst = false)
                {
                    if (property.name == "m_Script")
                    {
                        continue;
                    }
                    GUI.SetNextControlName(property.name);
                    EditorGUILayout.PropertyField(property, true);
                }
                edited.ApplyModifiedProperties();
            }
            DrawSidecar(settings);
        }

        private static void DrawSidecar(ParleySettings settings)
        {
            EditorGUILayout.Space();
            string trouble = null, program = null;
            if (settings.AutoLaunch)
            {
                try
                {
                    program = Parley.Platform.FindProgram(settings.ToLaunch(EditorSidecar.Places()).Executable);
                }
                catch (ParleyException fault)
                {
                    trouble = fault.Message;
                }
                catch (IOException fault)
                {
                    trouble = fault.Message + ". " + EditorSidecar.Places().NoSidecar(settings.SidecarFolder);
                }
            }
            EditorGUILayout.HelpBox(
                trouble ?? (program == null ? "The editor connects to " + settings.Endpoint + "." : "The editor starts " + program + "."),
                trouble == null ? MessageType.None : MessageType.Warning);
            EditorGUI.BeginDisabledGroup(!EditorSidecar.IsThere);
            if (GUILayout.Button("Stop the Editor's Sidecar", GUILayout.Width(200f)))
            {
                EditorSidecar.Stop();
            }
            EditorGUI.EndDisabledGroup();
        }
    }
}
