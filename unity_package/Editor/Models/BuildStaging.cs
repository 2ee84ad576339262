// What goes beside a built player: the sidecar's folder and the models that the game's workflows name.
using System;
using System.Collections.Generic;
using System.IO;
using Newtonsoft.Json.Linq;

namespace Parley.Editor
{
    /// <summary>Finds what a player needs, says what is missing, and copies what is not there yet.</summary>
    public static class BuildStaging
    {
        /// <summary>The folder of the sidecar, below the destination.</summary>
        public const string SidecarName = "sidecar";

        /// <summary>The game's catalog, below the destination.</summary>
        public const string CatalogName = "models.json";

        private const string Marker = "sidecar.json";
        private const string Program = "parley";
        private const int MaxDepth = 48;

        /// <summary>The folder in a built player that holds what is staged. Empty where a sidecar cannot run.</summary>
        /// <remarks>
        /// Windows and Linux: `Parley` beside the executable. macOS: inside the bundle, `Contents/Resources/Parley`,
        /// since players move a bundle as one thing.
        /// </remarks>
        public static string DestinationOf(PlayerSystem system, string outputPath)
        {
            if (system == PlayerSystem.None || string.IsNullOrEmpty(outputPath))
            {
                return "";
            }
            if (system == PlayerSystem.MacOS)
            {
                return Path.Combine(Path.Combine(Path.Combine(outputPath, "Contents"), "Resources"), "Parley");
            }
            var folder = Path.GetDirectoryName(Path.GetFullPath(outputPath)) ?? "";
            return Path.Combine(folder, "Parley");
        }

        /// <summary>The names of the models that a workflow asks for, as far as its JSON tells. Never throws.</summary>
        /// <remarks>`storageFolder`: where the configs of embedded storages lie, which name a model too; empty: not looked at.</remarks>
        public static List<string> ModelsOf(JObject workflow, string storageFolder)
        {
            var names = new List<string>();
            Add(names, EditorJson.Text(workflow, "default_model"));
            foreach (var item in EditorJson.Items(workflow, "nodes"))
            {
                var node = item as JObject;
                Add(names, EditorJson.Text(node, "model"));
                Add(names, EditorJson.Text(node, "voice"));
                var storage = EditorJson.Text(node, "embedded_storage");
                if (storage.Length > 0 && !string.IsNullOrEmpty(storageFolder) && IsBelow(storage))
                {
                    string fault;
                    var config = EditorJson.ReadObject(Path.Combine(storageFolder, storage), out fault);
                    Add(names, EditorJson.Text(config, "embedding_model"));
                }
            }
            return names;
        }

        /// <summary>Where Parley keeps models on this machine if no setting says otherwise.</summary>
        public static string DefaultModelsFolder()
        {
            var told = Environment.GetEnvironmentVariable("PARLEY_MODELS_FOLDER");
            if (!string.IsNullOrEmpty(told))
            {
                return told;
            }
            var home = Environment.GetEnvironmentVariable("HOME") ?? "";
            if (Parley.Platform.IsWindows)
            {
                var local = Environment.GetFolderPath(Environment.SpecialFolder.LocalApplicationData);
                return Path.Combine(local, Path.Combine("parley", Path.Combine("parley", Path.Combine("Cache", "models"))));
            }
            if (Directory.Exists("/System/Library"))
            {
                return Path.Combine(home, "Library/Caches/parley/models");
            }
            var cache = Environment.GetEnvironmentVariable("XDG_CACHE_HOME");
            return Path.Combine(string.IsNullOrEmpty(cache) ? Path.Combine(home, ".cache") : cache, "parley/models");
        }

        /// <summary>Says what would be copied, and everything that is missing. Copies nothing.</summary>
        public static StagingPlan Plan(StagingRequest request)
        {
            var plan = new StagingPlan();
            if (request.System == PlayerSystem.None)
            {
                plan.Problems.Add(
                    "Parley's sidecar runs on Windows, macOS and Linux only; build for one of them, or switch off Include Sidecar "
                    + "In Builds in Project Settings > Parley.");
                return plan;
            }
            plan.Problems.AddRange(request.Problems);
            var sidecar = FindSidecar(request, plan);
            var targets = new Dictionary<string, string>(StringComparer.Ordinal);
            if (sidecar != null)
            {
                AddFolder(plan, targets, sidecar, SidecarName, 0);
            }
            AddModels(request, plan, targets, sidecar);
            return plan;
        }

        /// <summary>What will not fail the build, but may fail a player. Asked before Copy.</summary>
        /// <remarks>`isFromWindows`: the build is made on Windows, which cannot mark a file as a program for other systems.</remarks>
        public static List<string> WarningsOf(StagingPlan plan, StagingRequest request, bool isFromWindows)
        {
            var warnings = new List<string>();
            if (isFromWindows && request.System != PlayerSystem.Windows)
            {
                warnings.Add(
                    "Windows cannot mark " + plan.Program + " as a program for " + Words(request.System)
                    + "; on such a machine, before the game is packed, run: chmod +x \"" + plan.Program + "\"");
            }
            var before = StagingCopy.ProgramIn(request.Destination);
            if (before.Length > 0 && before != plan.Program)
            {
                warnings.Add(
                    "The sidecar for " + Words(request.System) + " takes the place of another system's in " + request.Destination
                    + ", so the player that was built there before is without one; build each system into a folder of its own.");
            }
            return warnings;
        }

        /// <summary>Copies what the plan says and is not there yet; takes away what an earlier build left. Throws IOException.</summary>
        /// <returns>How many files were copied.</returns>
        public static int Copy(StagingPlan plan, string destination, Action<StagedFile, long> onCopied = null)
        {
            return StagingCopy.Run(plan, destination, onCopied);
        }

        // ---- the sidecar ----

        private static string FindSidecar(StagingRequest request, StagingPlan plan)
        {
            var seen = new List<string>();
            foreach (var folder in request.SidecarFolders)
            {
                if (string.IsNullOrEmpty(folder))
                {
                    continue;
                }
                foreach (var candidate in Candidates(folder, request.System))
                {
                    string fault;
                    var marker = EditorJson.ReadObject(Path.Combine(candidate, Marker), out fault);
                    var platform = EditorJson.Text(marker, "platform");
                    if (marker == null || !platform.StartsWith(Prefix(request.System), StringComparison.Ordinal))
                    {
                        seen.Add(marker == null ? candidate + " has no " + Marker : candidate + " is for " + platform);
                        continue;
                    }
                    var name = request.System == PlayerSystem.Windows ? Program + ".exe" : Program;
                    var program = new FileInfo(Path.Combine(candidate, name));
                    if (!program.Exists || program.Length == 0)
                    {
                        plan.Problems.Add(
                            "The sidecar in " + candidate + (program.Exists ? " has an empty " : " has no ") + name
                            + "; was it taken away by an antivirus? Make the folder again with: parley package sidecar --out \"" + candidate + "\"");
                        return null;
                    }
                    plan.Program = SidecarName + "/" + name;
                    if (request.System == PlayerSystem.MacOS)
                    {
                        plan.Notes.Add(
                            "The sidecar is for " + platform + " only: on a Mac with another processor it does not start, even if the player itself is "
                            + "built for both. Make a build for each, and name the sidecar's own folder in Sidecar Folder.");
                    }
                    return candidate;
                }
                if (!Directory.Exists(folder))
                {
                    seen.Add(folder + " is not there");
                }
            }
            plan.Problems.Add(
                "There is no sidecar for " + Words(request.System) + " to put beside the player. On such a machine run: parley package "
                + "sidecar --out DIR, then name that folder in Project Settings > Parley > Sidecar Folder."
                + (seen.Count == 0 ? "" : " Looked at: " + string.Join("; ", seen.ToArray()) + "."));
            return null;
        }

        private static IEnumerable<string> Candidates(string folder, PlayerSystem system)
        {
            var found = new List<string>();
            if (!Directory.Exists(folder))
            {
                return found;
            }
            if (File.Exists(Path.Combine(folder, Marker)))
            {
                found.Add(folder);
                return found;
            }
            var inner = new List<string>(Directory.GetDirectories(folder, Prefix(system) + "*"));
            inner.Sort(StringComparer.Ordinal);
            if (system != PlayerSystem.MacOS)
            {
                inner.Reverse(); // x64 before arm64: the usual player
            }
            found.AddRange(inner);
            if (found.Count == 0)
            {
                found.Add(folder);
            }
            return found;
        }

        private static string Prefix(PlayerSystem system)
        {
            return system == PlayerSystem.Windows ? "win-" : system == PlayerSystem.MacOS ? "macos-" : "linux-";
        }

        private static string Words(PlayerSystem system)
        {
            return system == PlayerSystem.Windows ? "Windows" : system == PlayerSystem.MacOS ? "macOS" : "Linux";
        }

        // ---- the models ----

        private static void AddModels(StagingRequest request, StagingPlan plan, Dictionary<string, string> targets, string sidecar)
        {
            var entries = new Dictionary<string, JObject>(StringComparer.Ordinal);
            if (sidecar != null)
            {
                foreach (var inner in new[] { "_internal/bridge/data/models.json", "bridge/data/models.json" })
                {
                    var packaged = Path.Combine(sidecar, inner.Replace('/', Path.DirectorySeparatorChar));
                    if (File.Exists(packaged))
                    {
                        ReadCatalog(packaged, entries, plan);
                        break;
                    }
                }
            }
            var own = new Dictionary<string, JObject>(StringComparer.Ordinal);
            if (!string.IsNullOrEmpty(request.CatalogFile))
            {
                if (File.Exists(request.CatalogFile))
                {
                    ReadCatalog(request.CatalogFile, own, plan);
                    AddFile(plan, targets, request.CatalogFile, CatalogName);
                }
                else
                {
                    plan.Problems.Add("The catalog " + request.CatalogFile + " of Project Settings > Parley is not there.");
                }
            }
            var names = new List<string>();
            foreach (var name in request.Models)
            {
                Add(names, name);
            }
            foreach (var name in own.Keys)
            {
                Add(names, name);
            }
            foreach (var name in names)
            {
                JObject entry;
                var isOwn = own.TryGetValue(name, out entry);
                if (!isOwn && !entries.TryGetValue(name, out entry))
                {
                    if (sidecar != null)
                    {
                        plan.Problems.Add(
                            "The model '" + name + "' is in no catalog; add it to the game's models.json, or correct the workflow that names it.");
                    }
                    continue;
                }
                AddModel(request, plan, targets, sidecar, name, entry, isOwn);
            }
        }

        private static void ReadCatalog(string path, Dictionary<string, JObject> entries, StagingPlan plan)
        {
            string fault;
            var catalog = EditorJson.ReadObject(path, out fault);
            if (catalog == null)
            {
                plan.Problems.Add("The catalog " + path + " cannot be read: " + fault + ".");
                return;
            }
            foreach (var item in EditorJson.Items(catalog, "models"))
            {
                var name = EditorJson.Text(item as JObject, "name");
                if (name.Length > 0)
                {
                    entries[name] = (JObject)item;
                }
            }
        }

        private static void AddModel(
            StagingRequest request, StagingPlan plan, Dictionary<string, string> targets, string sidecar, string name, JObject entry, bool isOwn)
        {
            if (EditorJson.Text(entry, "engine") == "mock")
            {
                plan.Notes.Add("The model '" + name + "' is a mock: it needs no files, and says nothing sensible to players.");
                return;
            }
            var source = EditorJson.Object(entry, "source");
            var path = EditorJson.Text(source, "path");
            if (path.Length > 0)
            {
                AddOwnFiles(request, plan, targets, name, source, path, isOwn);
                return;
            }
            var repository = EditorJson.Text(source, "huggingface");
            var files = new List<string>();
            if (repository.Length > 0)
            {
                foreach (var part in EditorJson.Texts(source, "files"))
                {
                    files.Add(repository.Replace("/", "--") + "/" + part);
                }
            }
            else if (EditorJson.Text(source, "file").Length > 0)
            {
                files.Add(EditorJson.Text(source, "file"));
            }
            if (files.Count == 0)
            {
                plan.Problems.Add("The catalog does not say which files the model '" + name + "' has; give its entry a source.");
            }
            foreach (var file in files)
            {
                var target = SidecarName + "/models/" + file;
                if (targets.ContainsKey(target))
                {
                    continue; // came with the sidecar, or with another model
                }
                var from = Path.Combine(request.ModelsFolder ?? "", file.Replace('/', Path.DirectorySeparatorChar));
                if (!IsBelow(file) || !File.Exists(from))
                {
                    if (request.MayDownload && repository.Length > 0)
                    {
                        plan.Notes.Add("The model '" + name + "' is not on this machine; players will download it.");
                        continue;
                    }
                    plan.Problems.Add(
                        "The model '" + name + "' is not on this machine (" + from + "); get it in Window > Parley > Models, or with: "
                        + (repository.Length > 0 ? "parley models pull " + name : "parley demo") + ".");
                    continue;
                }
                AddFile(plan, targets, from, target);
                if (File.Exists(from + ".parley.json"))
                {
                    AddFile(plan, targets, from + ".parley.json", target + ".parley.json");
                }
                else if (repository.Length > 0)
                {
                    plan.Problems.Add(
                        "The model '" + name + "' was not downloaded by Parley, so the player could not check it; get it with: parley models pull " + name + ".");
                }
            }
        }

        /// Files of the game's own, whose paths are relative to its catalog, keep that place beside the staged catalog.
        private static void AddOwnFiles(
            StagingRequest request, StagingPlan plan, Dictionary<string, string> targets, string name, JObject source, string path, bool isOwn)
        {
            var portable = path.Replace('\\', '/');
            if (!isOwn || !IsBelow(portable))
            {
                plan.Problems.Add(
                    "The path of the model '" + name + "' (" + path + ") is not below its catalog, so it would not be there on a player's machine; move the "
                    + "file beside models.json and write a relative path.");
                return;
            }
            var inner = new List<string>();
            foreach (var part in EditorJson.Texts(source, "files"))
            {
                inner.Add(portable.TrimEnd('/') + "/" + part);
            }
            if (inner.Count == 0)
            {
                inner.Add(portable);
            }
            foreach (var file in inner)
            {
                var from = Path.Combine(Path.GetDirectoryName(Path.GetFullPath(request.CatalogFile)), file.Replace('/', Path.DirectorySeparatorChar));
                if (!IsBelow(file) || !File.Exists(from))
                {
                    plan.Problems.Add("The file of the model '" + name + "' is not there: " + from + ".");
                }
                else
                {
                    AddFile(plan, targets, from, file);
                }
            }
        }

        // ---- files ----

        private static void AddFolder(StagingPlan plan, Dictionary<string, string> targets, string folder, string target, int depth)
        {
            if (depth > MaxDepth)
            {
                plan.Problems.Add("The sidecar's folder is nested too deep at " + folder + "; is there a link to a folder above it?");
                return;
            }
            foreach (var file in Sorted(Directory.GetFiles(folder)))
            {
                AddFile(plan, targets, file, target + "/" + Path.GetFileName(file));
            }
            foreach (var inner in Sorted(Directory.GetDirectories(folder)))
            {
                AddFolder(plan, targets, inner, target + "/" + Path.GetFileName(inner), depth + 1);
            }
        }

        private static void AddFile(StagingPlan plan, Dictionary<string, string> targets, string source, string target)
        {
            if (targets.ContainsKey(target))
            {
                return;
            }
            targets.Add(target, source);
            plan.Files.Add(new StagedFile { Source = source, Target = target, Bytes = new FileInfo(source).Length });
        }

        /// Relative, and without a step upwards: a catalog or a workflow must not name files of this machine.
        internal static bool IsBelow(string path)
        {
            if (string.IsNullOrEmpty(path) || path.IndexOf('\0') >= 0 || path.IndexOf(':') >= 0 || path[0] == '/' || path[0] == '\\')
            {
                return false;
            }
            foreach (var part in path.Split('/', '\\'))
            {
                if (part == "..")
                {
                    return false;
                }
            }
            return true;
        }

        private static void Add(List<string> names, string name)
        {
            if (!string.IsNullOrEmpty(name) && !names.Contains(name))
            {
                names.Add(name);
            }
        }

        private static string[] Sorted(string[] paths)
        {
            Array.Sort(paths, StringComparer.Ordinal);
            return paths;
        }
    }
}
