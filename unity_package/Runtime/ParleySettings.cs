// How the game has its sidecar: one asset, which Project Settings > Parley edits.
using System;
using System.Collections.Generic;
using System.IO;
using UnityEngine;

namespace Parley
{
    /// <summary>The settings of the project: an asset called ParleySettings in a Resources folder.</summary>
    public sealed class ParleySettings : ScriptableObject
    {
        /// <summary>What Resources.Load finds it by.</summary>
        public const string ResourceName = "ParleySettings";

        private const float LeastBudgetMs = 0.1f;
        private const float MostBudgetMs = 10f;

        /// <summary>What a project without the asset has; one for all who ask, since nobody would destroy it.</summary>
        private static ParleySettings _unsaved;

        [Header("Sidecar")]
        [Tooltip("Start a sidecar with the game. Off: connect to Endpoint.")]
        [SerializeField]
        private bool autoLaunch = true;

        [Tooltip("Where a sidecar of somebody else listens, such as tcp://127.0.0.1:5600. Only with Auto Launch off.")]
        [SerializeField]
        private string endpoint = "";

        [Tooltip("The token of that sidecar. It would be in every copy of a built game: for development only.")]
        [SerializeField]
        private string token = "";

        [Tooltip("The public key of that sidecar where it encrypts. Empty: it does not.")]
        [SerializeField]
        private string serverPublicKey = "";

        [Tooltip("In the editor: the folder that `parley package sidecar` made, whole or from the project on. "
            + "A build copies it beside the player.")]
        [SerializeField]
        private string sidecarFolder = "";

        [Tooltip("In the editor, instead of Sidecar Folder: a program and its arguments, one an entry, such as "
            + "python, -m, bridge. Players never use it.")]
        [SerializeField]
        private List<string> editorCommand = new List<string>();

        [Tooltip("More arguments of `parley serve`, one an entry.")]
        [SerializeField]
        private List<string> serveArguments = new List<string>();

        [Tooltip("Put the sidecar and the models of the game's workflows beside a built player.")]
        [SerializeField]
        private bool includeSidecarInBuilds = true;

        [Header("Files")]
        [Tooltip("The game's own catalog of models (models.json), whole or from the project on. Empty: it has none.")]
        [SerializeField]
        private string catalogFile = "";

        [Tooltip("In the editor: where models are kept. Empty: in the user's cache folder.")]
        [SerializeField]
        private string modelsFolder = "";

        [Tooltip("The folder below StreamingAssets with the files that workflows name. Empty: they name none.")]
        [SerializeField]
        private string storageFolder = "Parley/storage";

        [Tooltip("Whether a running game may download models.")]
        [SerializeField]
        private bool allowModelDownload = false;

        [Header("Game")]
        [Tooltip("What the sidecar's log calls the game. Empty: the product name.")]
        [SerializeField]
        private string gameName = "";

        [Tooltip("Milliseconds of a frame that answers may take.")]
        [Range(LeastBudgetMs, MostBudgetMs)]
        [SerializeField]
        private float budgetMs = 1f;

        [Tooltip("What of Parley's log comes into the console.")]
        [SerializeField]
        private LogLevel logLevel = LogLevel.Warning;

        /// <summary>Start a sidecar with the game.</summary>
        public bool AutoLaunch
        {
            get { return autoLaunch; }
            set { autoLaunch = value; }
        }

        /// <summary>Where a sidecar of somebody else listens.</summary>
        public string Endpoint
        {
            get { return endpoint; }
            set { endpoint = value ?? ""; }
        }

        /// <summary>The token of that sidecar.</summary>
        public string Token
        {
            get { return token; }
            set { token = value ?? ""; }
        }

        /// <summary>The public key of that sidecar; empty: it does not encrypt.</summary>
        public string ServerPublicKey
        {
            get { return serverPublicKey; }
            set { serverPublicKey = value ?? ""; }
        }

        /// <summary>In the editor: the folder that `parley package sidecar` made.</summary>
        public string SidecarFolder
        {
            get { return Clean(sidecarFolder); }
            set { sidecarFolder = value ?? ""; }
        }

        /// <summary>In the editor, instead of SidecarFolder: a program and its arguments.</summary>
        public List<string> EditorCommand
        {
            get { return editorCommand; }
        }

        /// <summary>More arguments of `parley serve`.</summary>
        public List<string> ServeArguments
        {
            get { return serveArguments; }
        }

        /// <summary>Put the sidecar and the models beside a built player.</summary>
        public bool IncludeSidecarInBuilds
        {
            get { return includeSidecarInBuilds; }
            set { includeSidecarInBuilds = value; }
        }

        /// <summary>The game's own catalog of models.</summary>
        public string CatalogFile
        {
            get { return Clean(catalogFile); }
            set { catalogFile = value ?? ""; }
        }

        /// <summary>In the editor: where models are kept; empty: in the user's cache folder.</summary>
        public string ModelsFolder
        {
            get { return Clean(modelsFolder); }
            set { modelsFolder = value ?? ""; }
        }

        /// <summary>The folder below StreamingAssets with the files that workflows name.</summary>
        public string StorageFolder
        {
            get { return Clean(storageFolder); }
            set { storageFolder = value ?? ""; }
        }

        /// <summary>Whether a running game may download models.</summary>
        public bool AllowModelDownload
        {
            get { return allowModelDownload; }
            set { allowModelDownload = value; }
        }

        /// <summary>What the sidecar's log calls the game.</summary>
        public string GameName
        {
            get { return gameName; }
            set { gameName = value ?? ""; }
        }

        /// <summary>Milliseconds of a frame that answers may take.</summary>
        public float BudgetMs
        {
            // An asset may have been written by hand or by a script.
            get { return budgetMs >= LeastBudgetMs ? Mathf.Clamp(budgetMs, LeastBudgetMs, MostBudgetMs) : LeastBudgetMs; }
            set { budgetMs = Mathf.Clamp(value, LeastBudgetMs, MostBudgetMs); }
        }

        /// <summary>What of Parley's log comes into the console.</summary>
        public LogLevel LogLevel
        {
            get { return logLevel; }
            set { logLevel = value; }
        }

        /// <summary>The asset of the project; where it has none, one in memory as it would be new.</summary>
        public static ParleySettings Load()
        {
            ParleySettings found = Resources.Load<ParleySettings>(ResourceName);
            if (found != null)
            {
                return found;
            }
            if (_unsaved == null)
            {
                _unsaved = CreateInstance<ParleySettings>();
            }
            return _unsaved;
        }

        /// <summary>Where scripts are not reloaded, what a game changed in memory must not reach the next play.</summary>
        internal static void ForgetUnsaved()
        {
            _unsaved = null;
        }

        /// <summary>
        /// What starts the sidecar on this machine. Where none is found it names the first place that was looked at.
        /// ParleyException where a path in the settings is none.
        /// </summary>
        public SidecarOptions ToLaunch(GamePlaces places)
        {
            try
            {
                return Launch(places);
            }
            catch (ArgumentException fault)
            {
                throw Unreadable(fault);
            }
            catch (NotSupportedException fault)
            {
                throw Unreadable(fault);
            }
            catch (IOException fault)
            {
                throw Unreadable(fault);
            }
            catch (UnauthorizedAccessException fault)
            {
                throw Unreadable(fault);
            }
        }

        /// <summary>The editor starts a command rather than a packaged sidecar.</summary>
        internal bool UsesCommand(GamePlaces places)
        {
            return places.IsEditor && editorCommand.Count > 0 && !string.IsNullOrEmpty(Clean(editorCommand[0]));
        }

        private SidecarOptions Launch(GamePlaces places)
        {
            SidecarOptions launch = new SidecarOptions();
            launch.Arguments.Clear();
            if (UsesCommand(places))
            {
                launch.Executable = Clean(editorCommand[0]);
                launch.Arguments.AddRange(editorCommand.GetRange(1, editorCommand.Count - 1));
            }
            else
            {
                launch.Executable = places.FindSidecar(SidecarFolder) ?? places.DefaultSidecar(SidecarFolder);
            }
            launch.Arguments.Add("serve");
            launch.Arguments.AddRange(serveArguments);
            // An entry that was added to a list and never filled in.
            launch.Arguments.RemoveAll(string.IsNullOrEmpty);
            string catalog = places.FindCatalog(CatalogFile);
            if (catalog.Length > 0)
            {
                launch.Environment["PARLEY_CATALOG"] = catalog;
            }
            if (places.IsEditor && ModelsFolder.Length > 0)
            {
                launch.Environment["PARLEY_MODELS_FOLDER"] = Path.GetFullPath(Path.Combine(places.Root, ModelsFolder));
            }
            return launch;
        }

        /// <summary>What was pasted into a field often has spaces around it, or the quotes that Windows copies a path with.</summary>
        private static string Clean(string path)
        {
            return path == null ? "" : path.Trim().Trim('"').Trim();
        }

        private static ParleyException Unreadable(Exception fault)
        {
            return new ParleyException(
                "SettingsInvalid", "a path in Project Settings > Parley cannot be used: " + fault.Message, fault);
        }
    }
}
