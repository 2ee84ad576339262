// The engine behind these stubs: what is in the scene, what was logged, what time it is. No part of Unity's API.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Threading;

namespace UnityEngine
{
    /// <summary>One line of the console.</summary>
    public sealed class FakeLogLine
    {
        public LogType Type;
        public string Message;
        public Object Context;
    }

    /// <summary>
    /// What a test sets and looks at. Threading: the game's thread, but for the log, which takes a lock.
    /// </summary>
    public static class FakeEngine
    {
        public static bool IsPlaying;
        public static bool IsEditor = true;
        public static string DataPath = "";
        public static string StreamingAssetsPath = "";
        public static string PersistentDataPath = "";
        public static string ProductName = "Fake Game";
        public static RuntimePlatform Platform = RuntimePlatform.LinuxEditor;
        public static double UnscaledTime;
        public static double ScaledTime;
        public static float DeltaTime;
        public static float TimeScale = 1f;
        public static int FrameCount;

        /// <summary>How often something of Resources was asked for.</summary>
        public static int ResourcesAsked;

        /// <summary>Rises whenever a script comes or goes.</summary>
        public static int Changes;

        public static readonly List<GameObject> Scene = new List<GameObject>();
        public static readonly Dictionary<string, Object> ResourceByPath = new Dictionary<string, Object>();
        public static readonly List<FakeLogLine> Log = new List<FakeLogLine>();
        private static readonly List<Object> Doomed = new List<Object>();
        private static int _mainThread;

        /// <summary>Whoever calls this is the game's thread from now on.</summary>
        public static void TakeThread()
        {
            _mainThread = Thread.CurrentThread.ManagedThreadId;
        }

        /// <summary>Refuse, as the engine does, what comes from another thread.</summary>
        public static void MainThreadOnly(string what)
        {
            if (_mainThread != 0 && Thread.CurrentThread.ManagedThreadId != _mainThread)
            {
                throw new UnityException(what + " can only be called from the main thread.");
            }
        }

        public static void Logged(LogType type, object message, Object context)
        {
            lock (Log)
            {
                Log.Add(new FakeLogLine { Type = type, Message = Convert.ToString(message), Context = context });
            }
        }

        /// <summary>All components of the scene that scripts made, in the order in which they came.</summary>
        public static List<MonoBehaviour> Scripts()
        {
            List<MonoBehaviour> scripts = new List<MonoBehaviour>();
            foreach (GameObject one in Scene)
            {
                foreach (Component component in one.Components)
                {
                    MonoBehaviour script = component as MonoBehaviour;
                    if (script != null && !script.IsDestroyed)
                    {
                        scripts.Add(script);
                    }
                }
            }
            return scripts;
        }

        public static FakeMessages MessagesOf(MonoBehaviour script)
        {
            return script.Messages;
        }

        public static bool IsKept(GameObject one)
        {
            return one.IsKept;
        }

        public static void Keep(GameObject one)
        {
            one.IsKept = true;
        }

        public static IList<Component> ComponentsOf(GameObject one)
        {
            return one.Components;
        }

        public static bool IsDestroyed(Object one)
        {
            return one.IsDestroyed;
        }

        public static void TellQuitting()
        {
            Application.TellQuitting();
        }

        internal static void Added(Component component)
        {
            MonoBehaviour script = component as MonoBehaviour;
            if (script == null)
            {
                return;
            }
            Changes++;
            script.Messages = new FakeMessages(script);
            if (IsPlaying)
            {
                Follow(script);
            }
        }

        /// <summary>Awake and enable, or disable, as the state of the object asks.</summary>
        public static void Follow(Behaviour behaviour)
        {
            behaviour.Switched();
            MonoBehaviour script = behaviour as MonoBehaviour;
            if (script == null || !IsPlaying)
            {
                return;
            }
            FakeMessages messages = script.Messages;
            if (script.gameObject.activeInHierarchy && !messages.IsAwake)
            {
                messages.IsAwake = true;
                messages.Run(messages.Awake);
            }
            // Awake may have destroyed or disabled it.
            if (script.IsOn != messages.IsEnabled && messages.IsAwake)
            {
                messages.IsEnabled = script.IsOn;
                messages.Run(messages.IsEnabled ? messages.OnEnable : messages.OnDisable);
            }
        }

        internal static void Follow(GameObject owner)
        {
            foreach (Component component in owner.Components.ToArray())
            {
                Behaviour behaviour = component as Behaviour;
                if (behaviour != null)
                {
                    Follow(behaviour);
                }
            }
            foreach (GameObject child in Scene.ToArray())
            {
                if (child != owner && child.transform != null && child.transform.parent == owner.transform)
                {
                    Follow(child);
                }
            }
        }

        internal static void DestroyLater(Object one)
        {
            if (one != null && !Doomed.Contains(one))
            {
                Doomed.Add(one);
            }
        }

        /// <summary>What was marked with Destroy goes; at the end of a frame.</summary>
        public static void BuryDoomed()
        {
            while (Doomed.Count > 0)
            {
                Object one = Doomed[0];
                Doomed.RemoveAt(0);
                DestroyNow(one);
            }
        }

        public static void DestroyNow(Object one)
        {
            if (one == null)
            {
                return;
            }
            GameObject owner = one as GameObject;
            if (owner == null)
            {
                Bury(one);
                return;
            }
            foreach (GameObject other in Scene.ToArray())
            {
                if (other.transform != null && other.transform.parent == owner.transform && other != owner)
                {
                    DestroyNow(other);
                }
            }
            // All are disabled before the first is destroyed.
            foreach (Component component in owner.Components.ToArray())
            {
                Disable(component as MonoBehaviour);
            }
            foreach (Component component in owner.Components.ToArray())
            {
                Bury(component);
            }
            Scene.Remove(owner);
            owner.IsDestroyed = true;
        }

        private static void Disable(MonoBehaviour script)
        {
            if (!ReferenceEquals(script, null) && script.Messages.IsEnabled)
            {
                script.Messages.IsEnabled = false;
                script.Messages.Run(script.Messages.OnDisable);
            }
        }

        private static void Bury(Object one)
        {
            MonoBehaviour script = one as MonoBehaviour;
            if (!ReferenceEquals(script, null) && !script.IsDestroyed)
            {
                Disable(script);
                if (script.Messages.IsAwake)
                {
                    script.Messages.Run(script.Messages.OnDestroy);
                }
            }
            Component component = one as Component;
            if (!ReferenceEquals(component, null))
            {
                component.Owner.Components.Remove(component);
            }
            one.IsDestroyed = true;
            Changes++;
        }
    }

    /// <summary>The messages of one script, looked up once so that a frame of the loop allocates nothing.</summary>
    public sealed class FakeMessages
    {
        public readonly Action Awake;
        public readonly Action OnEnable;
        public readonly Action Start;
        public readonly Action Update;
        public readonly Action LateUpdate;
        public readonly Action OnDisable;
        public readonly Action OnDestroy;
        public readonly Action OnApplicationQuit;
        public readonly Action<bool> OnApplicationPause;
        public readonly int Order;
        public bool IsAwake;
        public bool IsEnabled;
        public bool IsStarted;
        private readonly MonoBehaviour _script;

        public FakeMessages(MonoBehaviour script)
        {
            _script = script;
            Awake = Find(script, "Awake");
            OnEnable = Find(script, "OnEnable");
            Start = Find(script, "Start");
            Update = Find(script, "Update");
            LateUpdate = Find(script, "LateUpdate");
            OnDisable = Find(script, "OnDisable");
            OnDestroy = Find(script, "OnDestroy");
            OnApplicationQuit = Find(script, "OnApplicationQuit");
            MethodInfo pause = Method(script.GetType(), "OnApplicationPause");
            if (pause != null)
            {
                OnApplicationPause = (Action<bool>)Delegate.CreateDelegate(typeof(Action<bool>), script, pause);
            }
            object[] orders = script.GetType().GetCustomAttributes(typeof(DefaultExecutionOrder), true);
            Order = orders.Length > 0 ? ((DefaultExecutionOrder)orders[0]).order : 0;
        }

        /// <summary>A script that throws is logged, and the others go on.</summary>
        public void Run(Action message)
        {
            if (message == null)
            {
                return;
            }
            try
            {
                message();
            }
            catch (Exception fault)
            {
                Debug.LogException(fault, _script);
            }
        }

        public static void Call(Object target, string name)
        {
            Action message = Find(target, name);
            if (message != null)
            {
                message();
            }
        }

        private static Action Find(Object target, string name)
        {
            MethodInfo method = Method(target.GetType(), name);
            return method == null ? null : (Action)Delegate.CreateDelegate(typeof(Action), target, method);
        }

        private static MethodInfo Method(Type type, string name)
        {
            for (; type != null && type != typeof(MonoBehaviour); type = type.BaseType)
            {
                MethodInfo method = type.GetMethod(
                    name,
                    BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly);
                if (method != null)
                {
                    return method;
                }
            }
            return null;
        }
    }
}
