// Workflow files into assets and out of them.
using System;
using System.IO;
using UnityEditor;
using UnityEngine;

namespace Parley.Editor
{
    /// <summary>Imports and exports `.workflow.json` files. They go by menu: Unity imports every .json file as a text by itself.</summary>
    public static class WorkflowFiles
    {
        private const string Extension = ".workflow.json";
        private const string FromFile = "Assets/Create/Parley/Workflow from File…";
        private const string FromSelected = "Assets/Parley/Make Workflow Asset";
        private const string ToFile = "Assets/Parley/Export Workflow…";

        /// <summary>Makes an asset of a file. Null: it is none that can be read, and Unity's dialog says why.</summary>
        public static ParleyWorkflow Import(string path, string assetFolder)
        {
            WorkflowDocument document;
            try
            {
                document = WorkflowDocument.Load(path);
            }
            catch (Exception fault)
            {
                if (!IsExpected(fault))
                {
                    throw;
                }
                EditorUtility.DisplayDialog("Import Workflow", fault.Message, "OK");
                return null;
            }
            var asset = ParleyWorkflow.Create(document.ToText());
            AssetDatabase.CreateAsset(asset, AssetDatabase.GenerateUniqueAssetPath(assetFolder + "/" + NameOf(path) + ".asset"));
            AssetDatabase.SaveAssets();
            return asset;
        }

        /// <summary>Puts a file's text into an asset, as one step that can be undone.</summary>
        public static bool ImportInto(ParleyWorkflow asset, WorkflowInspectorModel model)
        {
            var path = EditorUtility.OpenFilePanel("Import Workflow", "", "json");
            if (string.IsNullOrEmpty(path))
            {
                return false;
            }
            try
            {
                return model.SetText(WorkflowDocument.Load(path).ToText());
            }
            catch (Exception fault)
            {
                if (!IsExpected(fault))
                {
                    throw;
                }
                EditorUtility.DisplayDialog("Import Workflow", fault.Message, "OK");
                return false;
            }
        }

        /// <summary>Writes an asset's text to a file that a person names.</summary>
        public static bool Export(ParleyWorkflow asset)
        {
            var path = EditorUtility.SaveFilePanel("Export Workflow", "", asset.name + Extension, "json");
            if (string.IsNullOrEmpty(path))
            {
                return false;
            }
            try
            {
                asset.Export(path);
                return true;
            }
            catch (Exception fault)
            {
                if (!IsExpected(fault))
                {
                    throw;
                }
                EditorUtility.DisplayDialog("Export Workflow", fault.Message, "OK");
                return false;
            }
        }

        [MenuItem(FromFile, false, 2)]
        private static void CreateFromFile()
        {
            var path = EditorUtility.OpenFilePanel("Workflow File", "", "json");
            if (!string.IsNullOrEmpty(path))
            {
                Show(Import(path, SelectedFolder()));
            }
        }

        [MenuItem(FromSelected, true)]
        private static bool CanMakeAsset()
        {
            return Selection.activeObject != null
                && AssetDatabase.GetAssetPath(Selection.activeObject).EndsWith(Extension, StringComparison.OrdinalIgnoreCase);
        }

        [MenuItem(FromSelected, false)]
        private static void MakeAsset()
        {
            var path = AssetDatabase.GetAssetPath(Selection.activeObject);
            Show(Import(Path.GetFullPath(path), SelectedFolder()));
        }

        [MenuItem(ToFile, true)]
        private static bool CanExport()
        {
            return Selection.activeObject is ParleyWorkflow;
        }

        [MenuItem(ToFile, false)]
        private static void ExportSelected()
        {
            Export((ParleyWorkflow)Selection.activeObject);
        }

        private static void Show(ParleyWorkflow asset)
        {
            if (asset != null)
            {
                ProjectWindowUtil.ShowCreatedAsset(asset);
            }
        }

        private static string SelectedFolder()
        {
            var path = Selection.activeObject == null ? "" : AssetDatabase.GetAssetPath(Selection.activeObject);
            if (string.IsNullOrEmpty(path))
            {
                return "Assets";
            }
            return AssetDatabase.IsValidFolder(path) ? path : (Path.GetDirectoryName(path) ?? "Assets").Replace('\\', '/');
        }

        private static string NameOf(string path)
        {
            var name = Path.GetFileName(path);
            return name.EndsWith(Extension, StringComparison.OrdinalIgnoreCase)
                ? name.Substring(0, name.Length - Extension.Length)
                : Path.GetFileNameWithoutExtension(name);
        }

        private static bool IsExpected(Exception fault)
        {
            return fault is JsonFormatException || fault is IOException || fault is UnauthorizedAccessException;
        }
    }
}
