// The one place of a game that has the sidecar.
using System;
using System.Collections.Generic;
using System.IO;
using Parley.Messages;
using UnityEngine;
using UnityEngine.Events;

namespace Parley
{
    /// <summary>
    /// Starts the sidecar, or connects to one, keeps it alive, and hands out what comes from it. There is one in a game;
    /// the first ParleyAgent makes it where no scene has one. It lives until the game ends.
    /// </summary>
    /// <remarks>
    /// Threading: the game's thread. Nothing here waits for the sidecar, but for the end of the game: then it is given
    /// less than a second to go. While the game is paused what comes is kept; while scripts are reloaded the sidecar and
    /// its turns go on, and the hub takes them up again.
    /// </remarks>
    [AddComponentMenu("Parley/Parley Hub")]
    [DisallowMultipleComponent]
    [DefaultExecutionOrder(-1000)]
    public sealed class ParleyHub : MonoBehaviour
    {
        private const int QuitMs = 900;

        /// <summary>No program is called so: to start it fails, as it must where the settings name none.</summary>
        private const string NoProgram = "no-parley-sidecar";

        private static readonly List<ParleyAgent> Agents = new List<ParleyAgent>();
        private static ParleyHub _instance;
        private static ParleySettings _settings;
        private static bool _isQuitting;

        [Tooltip("The sidecar is there, and all characters are.")]
        [SerializeField]
        private UnityEvent onReady = new UnityEvent();

        [Tooltip("The sidecar was lost, and why; another one is being started.")]
        [SerializeField]
        private TextEvent onLost = new TextEvent();

        [Tooltip("Another sidecar has all that the lost one had.")]
        [SerializeField]
        private UnityEvent onBack = new UnityEvent();

        [Tooltip("There is no sidecar and none will come, and why.")]
        [SerializeField]
        private ErrorEvent onError = new ErrorEvent();

        /// <summary>What goes through a reload of the scripts: where the sidecar is, and what it knows. Never saved.</summary>
        [HideInInspector]
        [SerializeField]
        private string detached = "";

        private readonly List<ParleyAgent> _disabled = new List<ParleyAgent>();
        [NonSerialized]
        private GamePlaces _places;
        [NonSerialized]
        private CoreOptions _options;
        [NonSerialized]
        private ParleyException _settingsFault;
        [NonSerialized]
        private bool _agentsAreBound;

        /// <summary>The hub; null: there is none yet.</summary>
        public static ParleyHub Instance
        {
            get { return _instance; }
        }

        /// <summary>
        /// The settings of the project. To use others set them before anything asks for the hub. Kept until the game ends.
        /// </summary>
        public static ParleySettings Settings
        {
            get
            {
                if (_settings == null)
                {
                    _settings = ParleySettings.Load();
                }
                return _settings;
            }
            set { _settings = value; }
        }

        /// <summary>The heart of it, which needs no engine: requests, storages, models, and its own events.</summary>
        public ParleyCore Core { get; private set; }

        /// <summary>How it stands with the sidecar.</summary>
        public CoreState State
        {
            get { return Core == null ? CoreState.Stopped : Core.State; }
        }

        /// <summary>The sidecar is there, and all characters are.</summary>
        public UnityEvent OnReady
        {
            get { return onReady; }
        }

        /// <summary>The sidecar was lost, and why; another one is being started.</summary>
        public TextEvent OnLost
        {
            get { return onLost; }
        }

        /// <summary>Another sidecar has all that the lost one had.</summary>
        public UnityEvent OnBack
        {
            get { return onBack; }
        }

        /// <summary>There is no sidecar and none will come, and why. StartSidecar tries again.</summary>
        public ErrorEvent OnError
        {
            get { return onError; }
        }

        /// <summary>The hub, made where there is none. Null outside play mode and while the game ends.</summary>
        public static ParleyHub Get()
        {
            if (_instance == null && !_isQuitting && Application.isPlaying)
            {
                TakeUpOneThatIsOff();
            }
            if (_instance == null && !_isQuitting && Application.isPlaying)
            {
                _instance = new GameObject("Parley").AddComponent<ParleyHub>();
            }
            return _isQuitting ? null : _instance;
        }

        /// <summary>Start the sidecar again after OnError or StopSidecar. Without effect while there is one.</summary>
        public void StartSidecar()
        {
            if (!IsOn())
            {
                return;
            }
            if (_options.Launch != null && !IsRunning)
            {
                // What was in its way may have been put right by now.
                _options.Launch = LaunchOf(Settings, _places);
            }
            Core.Start();
        }

        /// <summary>Connect to a sidecar of somebody else, where Auto Launch is off and no endpoint is set.</summary>
        public void Connect(string endpoint, string token)
        {
            if (!IsOn())
            {
                return;
            }
            _settingsFault = null;
            _options.Launch = null;
            _options.Endpoint = endpoint ?? "";
            _options.Token = token ?? "";
            Core.Start();
        }

        /// <summary>Begin to end the sidecar; turns are cancelled. Agents stay, and are there again after StartSidecar.</summary>
        public void StopSidecar()
        {
            if (IsOn())
            {
                Core.Stop();
            }
        }

        /// <summary>An agent takes part; one that was there before a reload is bound again before anything is handed out.</summary>
        internal static void Join(ParleyAgent agent)
        {
            if (!Agents.Contains(agent))
            {
                Agents.Add(agent);
            }
            if (_instance != null)
            {
                _instance._agentsAreBound = false;
            }
        }

        /// <summary>An agent was disabled; where it still is in the next frame, its turn is cancelled.</summary>
        internal static void Disabled(ParleyAgent agent)
        {
            if (_instance != null)
            {
                _instance._disabled.Add(agent);
            }
        }

        internal static void Leave(ParleyAgent agent)
        {
            Agents.Remove(agent);
        }

        /// <summary>
        /// A hub that was off when scripts were reloaded is not told of it, but has the sidecar. Off it stays.
        /// </summary>
        private static void TakeUpOneThatIsOff()
        {
            foreach (ParleyHub hub in Resources.FindObjectsOfTypeAll<ParleyHub>())
            {
                if (hub.detached.Length > 0)
                {
                    hub.OnEnable();
                    return;
                }
            }
        }

        /// <summary>Where scripts are not reloaded between two plays, this makes up for it.</summary>
        [RuntimeInitializeOnLoadMethod(RuntimeInitializeLoadType.SubsystemRegistration)]
        private static void ForgetLastPlay()
        {
            Agents.Clear();
            _instance = null;
            _settings = null;
            ParleySettings.ForgetUnsaved();
            _isQuitting = false;
        }

        private void Awake()
        {
            if (_instance != null && _instance != this)
            {
                // A scene with a hub was loaded again.
                Destroy(this);
                return;
            }
            _instance = this;
            if (transform.parent != null)
            {
                transform.SetParent(null, true);
            }
            DontDestroyOnLoad(gameObject);
        }

        private void OnEnable()
        {
            if (_instance == null)
            {
                // Scripts were reloaded: Awake does not come again.
                _instance = this;
            }
            if (_instance != this)
            {
                return;
            }
            Application.quitting -= Quit;
            Application.quitting += Quit;
#if UNITY_EDITOR
            UnityEditor.AssemblyReloadEvents.beforeAssemblyReload -= DetachForReload;
            UnityEditor.AssemblyReloadEvents.beforeAssemblyReload += DetachForReload;
#endif
            if (Core == null)
            {
                Begin();
            }
        }

        private void Update()
        {
            if (Core == null)
            {
                return;
            }
            LetGoOfDestroyed();
            if (!_agentsAreBound)
            {
                BindAgents();
            }
            if (_disabled.Count > 0)
            {
                CancelDisabled();
            }
            Core.Update(Settings.BudgetMs);
        }

        private void OnApplicationQuit()
        {
            Quit();
        }

        /// <summary>The game ends. A hub that is off is told by the event alone.</summary>
        private void Quit()
        {
            if (_isQuitting)
            {
                return;
            }
            _isQuitting = true;
            if (Core != null)
            {
                Core.Stop(QuitMs);
                Core.Update(0);
            }
        }

        private void OnDestroy()
        {
            Application.quitting -= Quit;
#if UNITY_EDITOR
            UnityEditor.AssemblyReloadEvents.beforeAssemblyReload -= DetachForReload;
#endif
            if (_instance != this)
            {
                return;
            }
            _instance = null;
            if (Core != null)
            {
                Core.Stop();
                Core = null;
            }
            if (!_isQuitting)
            {
                // Whoever talks next has a new hub made, and begins anew there.
                foreach (ParleyAgent agent in Agents.ToArray())
                {
                    agent.Part();
                }
            }
        }

        private void Begin()
        {
            _places = PlacesOf();
            _options = OptionsOf(Settings, _places);
            string state = detached;
            detached = "";
            if (state.Length > 0)
            {
                Core = TakeUp(state);
            }
            if (Core != null)
            {
                Listen();
                return;
            }
            Core = new ParleyCore(_options);
            Listen();
            Core.Configure(new ConfigureSession
            {
                StorageFolder = StorageOf(Settings, _places),
                AllowModelDownload = Settings.AllowModelDownload,
                GameName = Settings.GameName.Length > 0 ? Settings.GameName : Application.productName,
            });
            if (_options.Launch != null || _options.Endpoint.Length > 0)
            {
                Core.Start();
            }
        }

        private ParleyCore TakeUp(string state)
        {
            try
            {
                return ParleyCore.Attach(_options, state);
            }
            catch (MalformedMessageException fault)
            {
                Debug.LogWarning("[Parley] what was before the reload cannot be taken up: " + fault.Message, this);
                return null;
            }
        }

        private void Listen()
        {
            Core.StateChanged += TakeState;
            Core.Gone += delegate(string why) { Calls.Raise(onLost, why, this); };
            Core.Back += delegate { Calls.Raise(onBack, this); };
            Core.GaveUp += TakeEnd;
        }

#if UNITY_EDITOR
        private void DetachForReload()
        {
            if (Core != null)
            {
                foreach (ParleyAgent agent in Agents)
                {
                    agent.KeepKey();
                }
                detached = Core.Detach();
                Core = null;
            }
        }
#endif

        private static GamePlaces PlacesOf()
        {
            return new GamePlaces
            {
                IsEditor = Application.isEditor,
                IsMac = Application.platform == RuntimePlatform.OSXEditor || Application.platform == RuntimePlatform.OSXPlayer,
                DataPath = Application.dataPath,
                StreamingAssetsPath = Application.streamingAssetsPath,
                // The editor finds packages under this path wherever they lie.
                PackageFolder = Application.isEditor ? Path.GetFullPath("Packages/com.parley.bridge") : "",
            };
        }

        private CoreOptions OptionsOf(ParleySettings settings, GamePlaces places)
        {
            return new CoreOptions
            {
                Launch = settings.AutoLaunch ? LaunchOf(settings, places) : null,
                Endpoint = settings.Endpoint,
                Token = settings.Token,
                ServerPublicKey = settings.ServerPublicKey,
                ClientName = "unity " + Application.unityVersion,
                Log = Write,
            };
        }

        /// <summary>What starts the sidecar. Where the settings cannot be used it fails to start, and OnError says why.</summary>
        private SidecarOptions LaunchOf(ParleySettings settings, GamePlaces places)
        {
            try
            {
                _settingsFault = null;
                return settings.ToLaunch(places);
            }
            catch (ParleyException fault)
            {
                _settingsFault = fault;
                return new SidecarOptions { Executable = NoProgram };
            }
        }

        /// <summary>The folder of storages; null: the game has none.</summary>
        private string StorageOf(ParleySettings settings, GamePlaces places)
        {
            try
            {
                string storage = places.FindStorage(settings.StorageFolder);
                return storage.Length > 0 && Directory.Exists(storage) ? storage : null;
            }
            catch (Exception fault)
            {
                if (!(fault is ArgumentException || fault is NotSupportedException || fault is IOException))
                {
                    throw;
                }
                Debug.LogWarning("[Parley] Storage Folder in Project Settings > Parley cannot be used: " + fault.Message, this);
                return null;
            }
        }

        /// <summary>Why there is no sidecar; empty: there is one, or nobody asked for it.</summary>
        internal string Trouble
        {
            get { return _settingsFault != null ? _settingsFault.Message : Core.Trouble; }
        }

        private bool IsRunning
        {
            get { return Core.State != CoreState.Down && Core.State != CoreState.Stopped && Core.State != CoreState.Stopping; }
        }

        private bool IsOn()
        {
            if (Core == null)
            {
                Debug.LogWarning("[Parley] this hub has no part in the game: it is off, or another one was there first", this);
            }
            return Core != null;
        }

        private void Write(LogLevel level, string text)
        {
            if (level < Settings.LogLevel)
            {
                return;
            }
            string line = "[Parley] " + text;
            if (level == LogLevel.Error)
            {
                Debug.LogError(line, this);
            }
            else if (level == LogLevel.Warning)
            {
                Debug.LogWarning(line, this);
            }
            else
            {
                Debug.Log(line, this);
            }
        }

        private void BindAgents()
        {
            _agentsAreBound = true;
            foreach (ParleyAgent agent in Agents.ToArray())
            {
                agent.BindAgain();
            }
        }

        /// <summary>What was never active is not told that it is destroyed, but may have a conversation.</summary>
        private static void LetGoOfDestroyed()
        {
            for (int i = Agents.Count - 1; i >= 0; i--)
            {
                // A listener that hears of the end may destroy others.
                ParleyAgent agent = i < Agents.Count ? Agents[i] : null;
                if (agent == null && !ReferenceEquals(agent, null))
                {
                    Agents.RemoveAt(i);
                    agent.Part();
                }
            }
        }

        private void CancelDisabled()
        {
            foreach (ParleyAgent agent in _disabled)
            {
                if (agent != null && !agent.isActiveAndEnabled)
                {
                    agent.Cancel();
                }
            }
            _disabled.Clear();
        }

        private void TakeState(CoreState state)
        {
            if (state == CoreState.Ready)
            {
                Calls.Raise(onReady, this);
            }
        }

        private void TakeEnd(string why)
        {
            ParleyException fault = _settingsFault ?? FaultOf(why);
            Calls.Raise(onError, fault, this);
            foreach (ParleyAgent agent in Agents.ToArray())
            {
                agent.Fail(fault);
            }
        }

        private ParleyException FaultOf(string why)
        {
            // Nothing is to be started where the game connected to a sidecar by itself.
            bool isMissing = _options.Launch != null && !Settings.UsesCommand(_places)
                && !File.Exists(_options.Launch.Executable) && _places.FindSidecar(Settings.SidecarFolder) == null;
            return isMissing
                ? new ParleyException("SidecarMissing", _places.NoSidecar(Settings.SidecarFolder) + " (" + why + ")")
                : new ParleyException("SidecarFailed", why);
        }
    }
}
