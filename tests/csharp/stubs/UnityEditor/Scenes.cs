// Scenes of the editor as far as the sample's builder makes one.
// Checked against Unity-Technologies/UnityCsReference: Editor/Mono/EditorSceneManager.cs, EditorSceneManager.bindings.cs
using System.IO;
using UnityEngine;
using UnityEngine.SceneManagement;

namespace UnityEditor
{
    /// <summary>Editor/Mono/MonoScript.bindings.cs</summary>
    public class MonoScript : TextAsset
    {
        public MonoScript()
            : base("")
        {
        }
    }
}

namespace UnityEditor.SceneManagement
{
    public enum NewSceneSetup
    {
        EmptyScene,
        DefaultGameObjects
    }

    public enum NewSceneMode
    {
        Single,
        Additive
    }

    public sealed class EditorSceneManager
    {
        /// <summary>The scene that is open; what a test looks at.</summary>
        public static string OpenPath = "";

        public static bool SaveCurrentModifiedScenesIfUserWantsTo()
        {
            return true;
        }

        public static Scene NewScene(NewSceneSetup setup, NewSceneMode mode)
        {
            OpenPath = "";
            foreach (UnityEngine.GameObject one in UnityEngine.FakeEngine.Scene.ToArray())
            {
                UnityEngine.Object.DestroyImmediate(one);
            }
            return new Scene();
        }

        public static Scene OpenScene(string scenePath)
        {
            OpenPath = scenePath;
            return new Scene { path = scenePath };
        }

        public static bool SaveScene(Scene scene, string dstScenePath)
        {
            OpenPath = dstScenePath;
            File.WriteAllText(dstScenePath, "a scene");
            return true;
        }
    }
}
