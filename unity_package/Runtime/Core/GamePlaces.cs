// Where a game has its sidecar, its catalog and its storages: beside the player, or on a developer's machine.
using System;
using System.Collections.Generic;
using System.IO;

namespace Parley
{
    /// <summary>Finds the folders that a game needs. Made of plain paths, so that it asks no engine. Any thread.</summary>
    public sealed class GamePlaces
    {
        /// <summary>The folder of everything that a build puts beside a player.</summary>
        public const string PlayerFolder = "Parley";

        private const string SidecarFolder = "sidecar";
        private const string CatalogName = "models.json";
        private const string Marker = "sidecar.json";
        private const string Program = "parley";

        /// <summary>This is the editor, not a built player.</summary>
        public bool IsEditor;

        /// <summary>This is macOS.</summary>
        public bool IsMac;

        /// <summary>
        /// As Application.dataPath: the project's Assets folder in the editor, Game_Data beside a player, Contents in a
        /// bundle of macOS.
        /// </summary>
        public string DataPath = "";

        /// <summary>As Application.streamingAssetsPath.</summary>
        public string StreamingAssetsPath = "";

        /// <summary>Where the package lies; empty in a player.</summary>
        public string PackageFolder = "";

        /// <summary>The project in the editor, the folder of the executable in a player.</summary>
        public string Root
        {
            get { return Path.GetDirectoryName(DataPath.TrimEnd('/', '\\')) ?? ""; }
        }

        /// <summary>Folders in which a sidecar may be, the first one first.</summary>
        /// <param name="sidecarFolder">What the settings say, for the editor: whole, or from the project on; empty: nothing.</param>
        public List<string> SidecarFolders(string sidecarFolder)
        {
            List<string> folders = new List<string>();
            if (IsEditor)
            {
                if (!string.IsNullOrEmpty(sidecarFolder))
                {
                    folders.Add(Path.GetFullPath(Path.Combine(Root, sidecarFolder)));
                }
                if (PackageFolder.Length > 0)
                {
                    folders.Add(Path.Combine(PackageFolder, "Sidecar~"));
                }
                return folders;
            }
            foreach (string folder in PlayerFolders())
            {
                folders.Add(Path.Combine(folder, SidecarFolder));
            }
            return folders;
        }

        /// <summary>
        /// The program to start. Null: there is none in any of the folders.
        /// </summary>
        public string FindSidecar(string sidecarFolder)
        {
            foreach (string folder in SidecarFolders(sidecarFolder))
            {
                foreach (string candidate in Inside(folder))
                {
                    string program = Path.Combine(candidate, Platform.IsWindows ? Program + ".exe" : Program);
                    if (File.Exists(program))
                    {
                        return program;
                    }
                }
            }
            return null;
        }

        /// <summary>What to try where FindSidecar found nothing: in the editor PATH, in a player where it should be.</summary>
        public string DefaultSidecar(string sidecarFolder)
        {
            string program = Platform.IsWindows ? Program + ".exe" : Program;
            return IsEditor ? Program : Path.Combine(SidecarFolders(sidecarFolder)[0], program);
        }

        /// <summary>What to tell a developer, or a player, where there is no sidecar.</summary>
        public string NoSidecar(string sidecarFolder)
        {
            List<string> folders = SidecarFolders(sidecarFolder);
            string looked = folders.Count == 0 ? "nowhere" : "in " + string.Join(" and ", folders.ToArray());
            return "Parley's sidecar is not there; it was looked for " + looked + (IsEditor
                ? " and on the PATH. Make it with `parley package sidecar --out DIR` and name that folder in Project "
                    + "Settings > Parley > Sidecar Folder, or name a command in Editor Command."
                : ". Was the whole folder of the game copied?");
        }

        /// <summary>The game's catalog of models; empty: it has none.</summary>
        /// <param name="catalogFile">What the settings say, for the editor: whole, or from the project on.</param>
        public string FindCatalog(string catalogFile)
        {
            if (IsEditor)
            {
                return string.IsNullOrEmpty(catalogFile) ? "" : Path.GetFullPath(Path.Combine(Root, catalogFile));
            }
            foreach (string folder in PlayerFolders())
            {
                string catalog = Path.Combine(folder, CatalogName);
                if (File.Exists(catalog))
                {
                    return catalog;
                }
            }
            return "";
        }

        /// <summary>The folder of storages, whole; empty: the game has none.</summary>
        /// <param name="storageFolder">What the settings say: whole, or from the streaming assets on.</param>
        public string FindStorage(string storageFolder)
        {
            return string.IsNullOrEmpty(storageFolder)
                ? ""
                : Path.GetFullPath(Path.Combine(StreamingAssetsPath, storageFolder));
        }

        private List<string> PlayerFolders()
        {
            List<string> folders = new List<string>();
            if (IsMac)
            {
                folders.Add(Path.Combine(Path.Combine(DataPath, "Resources"), PlayerFolder));
            }
            folders.Add(Path.Combine(Root, PlayerFolder));
            folders.Add(Path.Combine(StreamingAssetsPath, PlayerFolder));
            return folders;
        }

        /// <summary>The folder, or those in it that are for machines like this.</summary>
        private List<string> Inside(string folder)
        {
            List<string> found = new List<string>();
            if (!Directory.Exists(folder))
            {
                return found;
            }
            if (!File.Exists(Path.Combine(folder, Marker)))
            {
                string prefix = Platform.IsWindows ? "win-" : IsMac ? "macos-" : "linux-";
                found.AddRange(Directory.GetDirectories(folder, prefix + "*"));
                found.Sort(StringComparer.Ordinal);
                if (!IsMac)
                {
                    // x64 goes before arm64.
                    found.Reverse();
                }
            }
            found.Add(folder);
            return found;
        }
    }
}
