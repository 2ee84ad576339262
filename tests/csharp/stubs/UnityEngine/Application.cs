// Application, Debug, Time and Resources as the package uses them; a test sets what they say through FakeEngine.
// Checked against Unity-Technologies/UnityCsReference: Runtime/Export/Application/Application.{bindings.,}cs,
// Runtime/Export/Debug/Debug.bindings.cs, Runtime/Export/Time/Time.bindings.cs,
// Runtime/Export/Resources/Resources.bindings.cs, Runtime/Export/Application/RuntimePlatform (docs.unity3d.com/
// ScriptReference/RuntimePlatform.html), Runtime/Export/Scripting/UnityException.cs
using System;

namespace UnityEngine
{
    public enum RuntimePlatform
    {
        OSXEditor = 0,
        OSXPlayer = 1,
        WindowsPlayer = 2,
        WindowsEditor = 7,
        IPhonePlayer = 8,
        Android = 11,
        LinuxPlayer = 13,
        LinuxEditor = 16,
        WebGLPlayer = 17
    }

    public enum LogType
    {
        Error = 0,
        Assert = 1,
        Warning = 2,
        Log = 3,
        Exception = 4
    }

    public class UnityException : SystemException
    {
        public UnityException(string message)
            : base(message)
        {
        }
    }

    public partial class Application
    {
        public static event Action quitting;

        public static bool isPlaying
        {
            get { FakeEngine.MainThreadOnly("isPlaying"); return FakeEngine.IsPlaying; }
        }

        public static bool isEditor
        {
            get { return FakeEngine.IsEditor; }
        }

        public static bool runInBackground { get; set; }

        public static string dataPath
        {
            get { FakeEngine.MainThreadOnly("dataPath"); return FakeEngine.DataPath; }
        }

        public static string streamingAssetsPath
        {
            get { FakeEngine.MainThreadOnly("streamingAssetsPath"); return FakeEngine.StreamingAssetsPath; }
        }

        public static string persistentDataPath
        {
            get { FakeEngine.MainThreadOnly("persistentDataPath"); return FakeEngine.PersistentDataPath; }
        }

        public static string productName
        {
            get { FakeEngine.MainThreadOnly("productName"); return FakeEngine.ProductName; }
        }

        public static string unityVersion
        {
            get { return "2021.3.0f1"; }
        }

        public static RuntimePlatform platform
        {
            get { return FakeEngine.Platform; }
        }

        internal static void TellQuitting()
        {
            Action told = quitting;
            if (told != null)
            {
                told();
            }
        }
    }

    /// <summary>Any thread.</summary>
    public partial class Debug
    {
        public static void Log(object message)
        {
            FakeEngine.Logged(LogType.Log, message, null);
        }

        public static void Log(object message, Object context)
        {
            FakeEngine.Logged(LogType.Log, message, context);
        }

        public static void LogWarning(object message)
        {
            FakeEngine.Logged(LogType.Warning, message, null);
        }

        public static void LogWarning(object message, Object context)
        {
            FakeEngine.Logged(LogType.Warning, message, context);
        }

        public static void LogError(object message)
        {
            FakeEngine.Logged(LogType.Error, message, null);
        }

        public static void LogError(object message, Object context)
        {
            FakeEngine.Logged(LogType.Error, message, context);
        }

        public static void LogException(Exception exception)
        {
            FakeEngine.Logged(LogType.Exception, exception, null);
        }

        public static void LogException(Exception exception, Object context)
        {
            FakeEngine.Logged(LogType.Exception, exception, context);
        }
    }

    public partial class Time
    {
        public static float time
        {
            get { FakeEngine.MainThreadOnly("get_time"); return (float)FakeEngine.ScaledTime; }
        }

        public static float deltaTime
        {
            get { FakeEngine.MainThreadOnly("get_deltaTime"); return FakeEngine.DeltaTime * FakeEngine.TimeScale; }
        }

        public static float unscaledTime
        {
            get { FakeEngine.MainThreadOnly("get_unscaledTime"); return (float)FakeEngine.UnscaledTime; }
        }

        public static float unscaledDeltaTime
        {
            get { FakeEngine.MainThreadOnly("get_unscaledDeltaTime"); return FakeEngine.DeltaTime; }
        }

        public static float realtimeSinceStartup
        {
            get { return (float)FakeEngine.UnscaledTime; }
        }

        public static float timeScale
        {
            get { return FakeEngine.TimeScale; }
            set { FakeEngine.TimeScale = value; }
        }

        public static int frameCount
        {
            get { return FakeEngine.FrameCount; }
        }
    }

    public sealed partial class Resources
    {
        public static T Load<T>(string path) where T : Object
        {
            FakeEngine.MainThreadOnly("Load");
            FakeEngine.ResourcesAsked++;
            Object found;
            return FakeEngine.ResourceByPath.TryGetValue(path, out found) ? found as T : null;
        }

        /// <summary>Those that are off too, and in the engine those of prefabs.</summary>
        public static T[] FindObjectsOfTypeAll<T>() where T : Object
        {
            FakeEngine.MainThreadOnly("FindObjectsOfTypeAll");
            System.Collections.Generic.List<T> found = new System.Collections.Generic.List<T>();
            foreach (MonoBehaviour script in FakeEngine.Scripts())
            {
                T one = script as T;
                if (one != null)
                {
                    found.Add(one);
                }
            }
            return found.ToArray();
        }
    }

    /// <summary>Runtime/Export/Scripting/TextAsset.cs</summary>
    public partial class TextAsset : Object
    {
        private readonly string _text;

        public TextAsset(string text)
        {
            _text = text;
        }

        public string text
        {
            get { return _text; }
        }
    }
}
