// The one sidecar that all windows of the editor share.
using System;
using System.Collections.Generic;
using System.IO;
using Parley.Messages;
using UnityEditor;
using UnityEngine;

namespace Parley.Editor
{
    /// <summary>Starts a sidecar for the editor when a window first needs it, and keeps it over script reloads.</summary>
    /// <remarks>
    /// It is not the game's: a game in Play mode starts its own. Threading: the editor's main thread.
    /// </remarks>
    [InitializeOnLoad]
    public static class EditorSidecar
    {
        private const string StateKey = "Parley.EditorSidecar";
        private const double BudgetMs = 4.0;
        private const int StopMs = 900;
        private const int KeptLines = 200;

        private static readonly Queue<string> Lines = new Queue<string>();
        private static ParleyCore _core;
        private static string _kept;

        static EditorSidecar()
        {
            AssemblyReloadEvents.beforeAssemblyReload += BeforeReload;
            EditorApplication.quitting += Stop;
            _kept = UnityEditor.SessionState.GetString(StateKey, "");
            UnityEditor.SessionState.EraseString(StateKey);
            if (_kept.Length > 0)
            {
                // Not now: it takes the settings, and assets may not be there yet while scripts are being loaded.
                EditorApplication.delayCall += TakeUp;
            }
        }

        /// <summary>There is a core: a sidecar runs, or is to.</summary>
        public static bool IsThere
        {
            get { return Running != null; }
        }

        /// <summary>The core; null while no window needed one.</summary>
        public static ParleyCore Running
        {
            get
            {
                TakeUp();
                return _core;
            }
        }

        /// <summary>What the sidecar logged last, oldest first.</summary>
        public static IEnumerable<string> Log
        {
            get { return Lines; }
        }

        /// <summary>The core, with its sidecar starting. ParleyException where the settings name none that could be started.</summary>
        public static ParleyCore Start()
        {
            TakeUp();
            if (_core != null && _core.State == CoreState.Down)
            {
                Stop(); // the settings that were in its way may be better by now
            }
            if (_core == null)
            {
                _core = new ParleyCore(Options());
                Configure();
                EditorApplication.update += Tick;
            }
            _core.Start();
            return _core;
        }

        /// <summary>Ends the sidecar, in less than a second.</summary>
        public static void Stop()
        {
            TakeUp();
            if (_core == null)
            {
                return;
            }
            EditorApplication.update -= Tick;
            var core = _core;
            _core = null;
            core.Stop(StopMs);
        }

        /// <summary>What starts it, for programs beside it. ParleyException where the settings name none.</summary>
        public static SidecarOptions Launch()
        {
            return ParleySettings.Load().ToLaunch(Places());
        }

        /// <summary>Where things are on this machine.</summary>
        public static GamePlaces Places()
        {
            return new GamePlaces
            {
                IsEditor = true,
                IsMac = Application.platform == RuntimePlatform.OSXEditor,
                DataPath = Application.dataPath,
                StreamingAssetsPath = Application.streamingAssetsPath,
                PackageFolder = Path.GetFullPath("Packages/com.parley.bridge")
            };
        }

        /// <summary>The folder of the files that workflows name, whole; empty: none is set, or what is set is no path.</summary>
        public static string StorageFolder()
        {
            try
            {
                return Places().FindStorage(ParleySettings.Load().StorageFolder);
            }
            catch (Exception fault)
            {
                if (!IsBadPath(fault))
                {
                    throw;
                }
                return "";
            }
        }

        /// <summary>What the system throws for a text that is no path.</summary>
        internal static bool IsBadPath(Exception fault)
        {
            return fault is ArgumentException || fault is NotSupportedException || fault is PathTooLongException;
        }

        private static CoreOptions Options()
        {
            var settings = ParleySettings.Load();
            return new CoreOptions
            {
                Launch = settings.AutoLaunch ? settings.ToLaunch(Places()) : null,
                Endpoint = settings.Endpoint,
                Token = settings.Token,
                ServerPublicKey = settings.ServerPublicKey,
                ClientName = "unity editor " + Application.unityVersion,
                Log = Write
            };
        }

        private static void Configure()
        {
            var settings = ParleySettings.Load();
            var storage = StorageFolder();
            var name = settings.GameName.Length > 0 ? settings.GameName : Application.productName;
            _core.Configure(new ConfigureSession
            {
                StorageFolder = storage.Length > 0 && Directory.Exists(storage) ? storage : null,
                AllowModelDownload = true, // it is a developer who presses Download
                GameName = name + " (editor)"
            });
        }

        /// Goes on with the sidecar of before the reload; the second time it does nothing.
        private static void TakeUp()
        {
            if (_kept.Length == 0)
            {
                return;
            }
            var state = _kept;
            _kept = "";
            try
            {
                _core = ParleyCore.Attach(Options(), state);
                EditorApplication.update += Tick;
            }
            catch (ParleyException fault)
            {
                TellLost(fault); // the settings are others by now
            }
            catch (MalformedMessageException fault)
            {
                TellLost(fault); // another version of the package wrote it
            }
        }

        private static void TellLost(Exception fault)
        {
            // The sidecar itself ends with the editor at the latest.
            Debug.LogWarning("[Parley] the editor's sidecar could not be taken up again: " + fault.Message);
        }

        private static void BeforeReload()
        {
            if (_core == null)
            {
                if (_kept.Length > 0)
                {
                    UnityEditor.SessionState.SetString(StateKey, _kept);
                }
                return;
            }
            EditorApplication.update -= Tick;
            UnityEditor.SessionState.SetString(StateKey, _core.Detach());
            _core = null;
        }

        private static void Tick()
        {
            _core.Update(BudgetMs);
        }

        private static void Write(LogLevel level, string text)
        {
            Lines.Enqueue(text);
            while (Lines.Count > KeptLines)
            {
                Lines.Dequeue();
            }
            if (level < ParleySettings.Load().LogLevel)
            {
                return;
            }
            var line = "[Parley] " + text;
            if (level == LogLevel.Error)
            {
                Debug.LogError(line);
            }
            else if (level == LogLevel.Warning)
            {
                Debug.LogWarning(line);
            }
            else
            {
                Debug.Log(line);
            }
        }
    }
}
