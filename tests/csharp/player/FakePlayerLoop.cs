// The frames of a game without its engine: messages in Unity's order, time under the test's control.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Reflection;
using System.Threading;
using Newtonsoft.Json.Linq;
using UnityEngine;

namespace PlayerTests
{
    /// <summary>Plays the scene of FakeEngine. Threading: the game's thread, which is the one that begins to play.</summary>
    internal static class FakePlayerLoop
    {
        private static readonly List<MonoBehaviour> Scripts = new List<MonoBehaviour>();
        private static int _seenChanges = -1;

        /// <summary>Begin to play. Statics are as they were; a domain of its own makes them new.</summary>
        internal static void Play()
        {
            FakeEngine.TakeThread();
            FakeEngine.IsPlaying = true;
            FakeEngine.FrameCount = 0;
            Initialize(RuntimeInitializeLoadType.SubsystemRegistration);
            Initialize(RuntimeInitializeLoadType.AfterAssembliesLoaded);
            Initialize(RuntimeInitializeLoadType.BeforeSplashScreen);
            Initialize(RuntimeInitializeLoadType.BeforeSceneLoad);
            foreach (MonoBehaviour script in Sorted())
            {
                FakeEngine.Follow(script);
            }
            Initialize(RuntimeInitializeLoadType.AfterSceneLoad);
        }

        /// <summary>One frame. Allocates nothing as long as no script comes or goes.</summary>
        internal static void Frame(float seconds)
        {
            FakeEngine.FrameCount++;
            FakeEngine.DeltaTime = seconds;
            FakeEngine.UnscaledTime += seconds;
            FakeEngine.ScaledTime += seconds * FakeEngine.TimeScale;
            Gather();
            for (int i = 0; i < Scripts.Count; i++)
            {
                FakeMessages messages = FakeEngine.MessagesOf(Scripts[i]);
                if (!messages.IsStarted && messages.IsEnabled)
                {
                    messages.IsStarted = true;
                    messages.Run(messages.Start);
                }
            }
            Gather();
            for (int i = 0; i < Scripts.Count; i++)
            {
                FakeMessages messages = FakeEngine.MessagesOf(Scripts[i]);
                if (messages.IsEnabled && messages.IsStarted)
                {
                    messages.Run(messages.Update);
                }
            }
            for (int i = 0; i < Scripts.Count; i++)
            {
                FakeMessages messages = FakeEngine.MessagesOf(Scripts[i]);
                if (messages.IsEnabled && messages.IsStarted)
                {
                    messages.Run(messages.LateUpdate);
                }
            }
            FakeEngine.BuryDoomed();
        }

        /// <summary>Frames of 10 ms of the game, with real time between them, until something is so.</summary>
        internal static void Until(Func<bool> isSo, string what, int patienceMs = 20000)
        {
            Stopwatch clock = Stopwatch.StartNew();
            while (!isSo())
            {
                if (clock.ElapsedMilliseconds > patienceMs)
                {
                    throw new Failed("after " + patienceMs + " ms still not: " + what + "\n" + Log());
                }
                Frame(0.01f);
                Thread.Sleep(1);
            }
        }

        /// <summary>The player or the editor is paused, or goes on.</summary>
        internal static void Pause(bool isPaused)
        {
            foreach (MonoBehaviour script in Sorted())
            {
                FakeMessages messages = FakeEngine.MessagesOf(script);
                if (messages.IsEnabled && messages.OnApplicationPause != null)
                {
                    messages.OnApplicationPause(isPaused);
                }
            }
        }

        /// <summary>End the play as the editor does: quit, disable, destroy.</summary>
        internal static void Stop()
        {
            foreach (MonoBehaviour script in Sorted())
            {
                FakeMessages messages = FakeEngine.MessagesOf(script);
                if (messages.IsEnabled)
                {
                    messages.Run(messages.OnApplicationQuit);
                }
            }
            FakeEngine.TellQuitting();
            foreach (GameObject one in FakeEngine.Scene.ToArray())
            {
                FakeEngine.DestroyNow(one);
            }
            FakeEngine.BuryDoomed();
            FakeEngine.IsPlaying = false;
        }

        /// <summary>A new scene is loaded: all objects that were not kept go.</summary>
        internal static void LoadScene()
        {
            foreach (GameObject one in FakeEngine.Scene.ToArray())
            {
                if (!FakeEngine.IsKept(one))
                {
                    FakeEngine.DestroyNow(one);
                }
            }
        }

        /// <summary>What was logged, for messages.</summary>
        internal static string Log()
        {
            List<string> lines = new List<string>();
            lock (FakeEngine.Log)
            {
                foreach (FakeLogLine line in FakeEngine.Log)
                {
                    lines.Add(line.Type + ": " + line.Message);
                }
            }
            return string.Join("\n", lines.ToArray());
        }

        // ---- scripts are reloaded in the middle of a play ----

        /// <summary>
        /// All scripts are disabled, and what the engine would keep of the scene is written down: serialized fields, and
        /// nothing else.
        /// </summary>
        internal static string Suspend()
        {
            UnityEditor.AssemblyReloadEvents.Raise();
            foreach (MonoBehaviour script in Sorted())
            {
                FakeMessages messages = FakeEngine.MessagesOf(script);
                if (messages.IsEnabled)
                {
                    messages.Run(messages.OnDisable);
                }
            }
            return new SceneWriter().Write();
        }

        /// <summary>The scene is there again in a new domain; scripts are enabled, but neither awake nor started anew.</summary>
        internal static void Resume(string scene)
        {
            FakeEngine.TakeThread();
            new SceneReader(JObject.Parse(scene)).Read();
            FakeEngine.IsPlaying = true;
            foreach (MonoBehaviour script in Sorted())
            {
                FakeMessages messages = FakeEngine.MessagesOf(script);
                messages.IsAwake = true;
                messages.IsStarted = true;
                if (script.isActiveAndEnabled)
                {
                    messages.IsEnabled = true;
                    messages.Run(messages.OnEnable);
                }
            }
        }

        private static void Initialize(RuntimeInitializeLoadType when)
        {
            foreach (Type type in typeof(Parley.ParleyHub).Assembly.GetTypes())
            {
                foreach (MethodInfo method in type.GetMethods(BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic))
                {
                    object[] marks = method.GetCustomAttributes(typeof(RuntimeInitializeOnLoadMethodAttribute), false);
                    if (marks.Length > 0 && ((RuntimeInitializeOnLoadMethodAttribute)marks[0]).loadType == when)
                    {
                        method.Invoke(null, null);
                    }
                }
            }
        }

        private static List<MonoBehaviour> Sorted()
        {
            List<MonoBehaviour> scripts = FakeEngine.Scripts();
            List<MonoBehaviour> sorted = new List<MonoBehaviour>();
            // A stable sort: scripts of one order stay as they came.
            foreach (MonoBehaviour script in scripts)
            {
                int at = sorted.Count;
                while (at > 0 && FakeEngine.MessagesOf(sorted[at - 1]).Order > FakeEngine.MessagesOf(script).Order)
                {
                    at--;
                }
                sorted.Insert(at, script);
            }
            return sorted;
        }

        private static void Gather()
        {
            if (_seenChanges == FakeEngine.Changes)
            {
                return;
            }
            _seenChanges = FakeEngine.Changes;
            Scripts.Clear();
            Scripts.AddRange(Sorted());
        }
    }
}
