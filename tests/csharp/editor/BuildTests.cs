// What a build puts beside a player, and what it refuses.
using System;
using System.Collections.Generic;
using System.IO;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Editor;
using PlayerTests;
using UnityEditor;
using UnityEditor.Build;
using UnityEditor.Build.Reporting;
using UnityEditor.PackageManager.UI;
using UnityEngine;
using PackageInfo = UnityEditor.PackageManager.PackageInfo;
using UnityStubs;

namespace EditorTests
{
    internal static class BuildTests
    {
        private const string Odd = "Wirtshaus »Ölkännchen« 酒場 it's";

        /// A project with a packaged sidecar, two models of the hub, one of the game's own.
        private sealed class Project : IDisposable
        {
            public readonly string Folder = Path.Combine(Path.Combine(Path.GetTempPath(), "parley-build-" + Guid.NewGuid().ToString("N")), Odd);

            public Project(string platform = "linux-x64")
            {
                Write("sidecar/" + platform + "/sidecar.json", "{\"platform\": \"" + platform + "\", \"program\": \"parley\"}");
                Write("sidecar/" + platform + "/" + (platform.StartsWith("win") ? "parley.exe" : "parley"), "program");
                Write("sidecar/" + platform + "/models/came-along.gguf", "came along");
                Write("sidecar/" + platform + "/_internal/lib ö/libzmq.so", "library");
                Write(
                    "sidecar/" + platform + "/_internal/bridge/data/models.json",
                    "{\"models\": [{\"name\": \"hub\", \"engine\": \"llama-cpp\", \"source\": {\"huggingface\": \"Owner/A_Repo\", \"files\": [\"a.gguf\", \"b.gguf\"]}},"
                    + "{\"name\": \"starter\", \"engine\": \"llama-cpp\", \"source\": {\"package\": \"p\", \"file\": \"came-along.gguf\"}},"
                    + "{\"name\": \"mock-echo\", \"engine\": \"mock\"},"
                    + "{\"name\": \"evil\", \"engine\": \"llama-cpp\", \"source\": {\"huggingface\": \"../..\", \"files\": [\"../secret\"]}}]}");
                foreach (var part in new[] { "a.gguf", "b.gguf" })
                {
                    Write("models/Owner--A_Repo/" + part, "weights of " + part);
                    Write("models/Owner--A_Repo/" + part + ".parley.json", "{}");
                }
                Write("models.json", "{\"models\": [{\"name\": \"own\", \"engine\": \"llama-cpp\", \"source\": {\"path\": \"weights/own.gguf\"}}]}");
                Write("weights/own.gguf", "own weights");
            }

            public string At(string path)
            {
                return Path.Combine(Folder, path.Replace('/', Path.DirectorySeparatorChar));
            }

            public void Write(string path, string text)
            {
                Directory.CreateDirectory(Path.GetDirectoryName(At(path)));
                File.WriteAllText(At(path), text);
            }

            public StagingRequest Request(PlayerSystem system = PlayerSystem.Linux)
            {
                var request = new StagingRequest { System = system, CatalogFile = At("models.json"), ModelsFolder = At("models") };
                request.SidecarFolders.Add(At("sidecar"));
                request.Models.AddRange(new[] { "hub", "starter", "mock-echo", "hub" });
                request.Destination = BuildStaging.DestinationOf(system, At(system == PlayerSystem.MacOS ? "out/Game.app" : "out/Game.x86_64"));
                return request;
            }

            public void Dispose()
            {
                Directory.Delete(Path.GetDirectoryName(Folder), true);
            }
        }

        private static string[] Targets(StagingPlan plan)
        {
            var targets = new List<string>();
            foreach (var file in plan.Files)
            {
                targets.Add(file.Target);
            }
            targets.Sort(StringComparer.Ordinal);
            return targets.ToArray();
        }

        [Test]
        private static void EverythingGoesOnceAndOnlyOnce()
        {
            using (var project = new Project())
            {
                var request = project.Request();
                var plan = BuildStaging.Plan(request);
                Check.Texts(plan.Problems, "problems");
                Check.Texts(
                    Targets(plan), "what is staged", "models.json", "sidecar/_internal/bridge/data/models.json", "sidecar/_internal/lib ö/libzmq.so",
                    "sidecar/models/Owner--A_Repo/a.gguf", "sidecar/models/Owner--A_Repo/a.gguf.parley.json", "sidecar/models/Owner--A_Repo/b.gguf",
                    "sidecar/models/Owner--A_Repo/b.gguf.parley.json", "sidecar/models/came-along.gguf", "sidecar/parley", "sidecar/sidecar.json",
                    "weights/own.gguf");
                Check.Equal(plan.Files.Count, BuildStaging.Copy(plan, request.Destination), "files that were copied");
                Check.Equal(project.At("out/Parley"), request.Destination, "beside the player");
                Check.Equal("weights of b.gguf", File.ReadAllText(project.At("out/Parley/sidecar/models/Owner--A_Repo/b.gguf")), "a model");
                Check.Equal(0, BuildStaging.Copy(BuildStaging.Plan(request), request.Destination), "files that are copied again");
                var places = new GamePlaces { DataPath = project.At("out/Game_Data"), StreamingAssetsPath = project.At("out/Game_Data/StreamingAssets") };
                Check.Equal(project.At("out/Parley/sidecar/parley"), places.FindSidecar(""), "what the player finds");
                Check.Equal(project.At("out/Parley/models.json"), places.FindCatalog(""), "the catalog that the player finds");
                if (!Parley.Platform.IsWindows)
                {
                    Parley.Platform.FindProgram(places.FindSidecar("")); // refuses what is not executable
                }
            }
        }

        [Test]
        private static void TheNextBuildTakesAwayWhatItNoLongerNeeds()
        {
            using (var project = new Project())
            {
                var request = project.Request();
                BuildStaging.Copy(BuildStaging.Plan(request), request.Destination);
                File.WriteAllText(project.At("out/Parley/players-own.txt"), "keep");
                request.Models.Clear();
                File.WriteAllText(project.At("weights/own.gguf"), "other weights");
                Check.Equal(1, BuildStaging.Copy(BuildStaging.Plan(request), request.Destination), "only what changed is copied");
                Check.That(!File.Exists(project.At("out/Parley/sidecar/models/Owner--A_Repo/a.gguf")), "a model that is not used goes");
                Check.That(File.Exists(project.At("out/Parley/players-own.txt")), "what was not staged stays");
                Check.Equal("other weights", File.ReadAllText(project.At("out/Parley/weights/own.gguf")), "the new weights");
                File.WriteAllText(project.At("out/Parley/parley-staged.json"), "{\"files\": [\"../../models.json\", \"/etc/passwd\", 3, \"\"]}");
                BuildStaging.Copy(BuildStaging.Plan(request), request.Destination);
                Check.That(File.Exists(project.At("models.json")), "a list that names files outside removes none");
            }
        }

        [Test]
        private static void WhatIsMissingFailsTheBuildInWords()
        {
            using (var project = new Project())
            {
                var request = project.Request();
                request.SidecarFolders.Clear();
                request.SidecarFolders.Add(project.At("nowhere"));
                Told(request, "no sidecar for Linux", "parley package sidecar", "nowhere is not there");

                Told(project.Request(PlayerSystem.Windows), "no sidecar for Windows");
                Told(project.Request(PlayerSystem.None), "Windows, macOS and Linux only");

                request = project.Request();
                request.SidecarFolders[0] = project.At("sidecar/linux-x64");
                request.System = PlayerSystem.Windows;
                Told(request, "is for linux-x64");

                File.WriteAllText(project.At("sidecar/linux-x64/parley"), "");
                Told(project.Request(), "empty parley", "antivirus");
                File.Delete(project.At("sidecar/linux-x64/parley"));
                Told(project.Request(), "has no parley");
                project.Write("sidecar/linux-x64/parley", "program");

                request = project.Request();
                request.Models.Add("unheard-of");
                Told(request, "'unheard-of' is in no catalog");
                request = project.Request();
                request.Models.Add("evil");
                Told(request, "'evil'");
                File.Delete(project.At("models/Owner--A_Repo/b.gguf"));
                Told(project.Request(), "'hub' is not on this machine", "parley models pull hub");
                request = project.Request();
                request.MayDownload = true;
                Check.Texts(BuildStaging.Plan(request).Problems, "a model that players download is no problem");
                project.Write("models/Owner--A_Repo/b.gguf", "weights");
                File.Delete(project.At("models/Owner--A_Repo/b.gguf.parley.json"));
                Told(project.Request(), "not downloaded by Parley");

                File.Delete(project.At("weights/own.gguf"));
                Told(project.Request(), "own.gguf");
                project.Write(
                    "models.json",
                    "{\"models\": [1, {}, {\"name\": 3}, {\"name\": \"a\", \"source\": 5}, {\"name\": \"b\", \"source\": {\"huggingface\": \"o/r\", \"files\": [1, {}, \"../x\"]}}]}");
                Told(project.Request(), "which files the model 'a' has", "'b' is not on this machine");
                project.Write("models.json", "{\"models\": [{\"name\": \"own\", \"engine\": \"llama-cpp\", \"source\": {\"path\": \"/srv/own.gguf\"}}]}");
                Told(project.Request(), "not below its catalog");
                project.Write("models.json", "[");
                Told(project.Request(), "cannot be read");
                File.Delete(project.At("models.json"));
                Told(project.Request(), "models.json", "is not there");
            }
        }

        private static void Told(StagingRequest request, params string[] words)
        {
            var plan = BuildStaging.Plan(request);
            var problems = string.Join("\n", plan.Problems.ToArray());
            foreach (var word in words)
            {
                Check.That(problems.Contains(word), "'" + word + "' is said: " + problems);
            }
            Check.Throws<InvalidOperationException>(delegate { BuildStaging.Copy(plan, request.Destination); }, "a plan with problems");
            Check.That(!Directory.Exists(request.Destination), "nothing is copied");
        }

        [Test]
        private static void EachSystemHasItsPlace()
        {
            using (var project = new Project("macos-arm64"))
            {
                project.Write("sidecar/macos-x64/sidecar.json", "{\"platform\": \"macos-x64\"}");
                var request = project.Request(PlayerSystem.MacOS);
                Check.Equal(project.At("out/Game.app/Contents/Resources/Parley"), request.Destination, "in the bundle");
                var plan = BuildStaging.Plan(request);
                Check.That(plan.Notes.Exists(note => note.Contains("macos-arm64 only")), "for which Macs it is");
                BuildStaging.Copy(plan, request.Destination);
                var places = new GamePlaces { IsMac = true, DataPath = project.At("out/Game.app/Contents"), StreamingAssetsPath = project.At("out/s") };
                Check.Equal(project.At("out/Game.app/Contents/Resources/Parley/sidecar/parley"), places.FindSidecar(""), "what the player finds");
            }
            using (var project = new Project("win-x64"))
            {
                var request = project.Request(PlayerSystem.Windows);
                BuildStaging.Copy(BuildStaging.Plan(request), request.Destination);
                Check.That(File.Exists(project.At("out/Parley/sidecar/parley.exe")), "the program for Windows");
            }
            Check.Equal("", BuildStaging.DestinationOf(PlayerSystem.None, "out"), "no place");
        }

        [Test]
        private static void WhatMayFailAPlayerIsAWarning()
        {
            using (var project = new Project())
            {
                var request = project.Request();
                var plan = BuildStaging.Plan(request);
                Check.Equal(0, BuildStaging.WarningsOf(plan, request, false).Count, "nothing is amiss");
                var warnings = BuildStaging.WarningsOf(plan, request, true);
                Check.That(warnings.Count == 1 && warnings[0].Contains("chmod +x"), "a build for Linux that is made on Windows");
                BuildStaging.Copy(plan, request.Destination);
                Check.Equal(0, BuildStaging.WarningsOf(plan, request, false).Count, "the same build again");
                using (var windows = new Project("win-x64"))
                {
                    var second = windows.Request(PlayerSystem.Windows);
                    second.Destination = request.Destination;
                    warnings = BuildStaging.WarningsOf(BuildStaging.Plan(second), second, true);
                    Check.That(warnings.Count == 1 && warnings[0].Contains("a folder of its own"), "two systems in one folder");
                }
                File.WriteAllText(project.At("out/Parley/parley-staged.json"), "{\"program\": 5");
                Check.Equal(0, BuildStaging.WarningsOf(plan, request, false).Count, "a list that cannot be read");
            }
        }

        [Test]
        private static void SettingsThatAreNoPathsFailTheBuildInWords()
        {
            using (var project = new Project())
            {
                FakeEngine.DataPath = project.At("Assets");
                FakeEngine.StreamingAssetsPath = project.At("Assets/StreamingAssets");
                var report = new BuildReport
                {
                    summary = new BuildSummary { platform = BuildTarget.StandaloneLinux64, outputPath = project.At("out/Game.x86_64") }
                };
                foreach (var field in new[] { "SidecarFolder", "CatalogFile", "ModelsFolder", "StorageFolder" })
                {
                    var settings = ScriptableObject.CreateInstance<ParleySettings>();
                    settings.SidecarFolder = "\"sidecar\"";
                    typeof(ParleySettings).GetProperty(field).SetValue(settings, "a\0b", null);
                    FakeEngine.ResourceByPath[ParleySettings.ResourceName] = settings;
                    var fault = Check.Throws<BuildFailedException>(delegate { new BuildProcessor().OnPreprocessBuild(report); }, field);
                    Check.That(fault.Message.Contains("Project Settings > Parley"), fault.Message);
                    AssetDatabase.Assets.Clear();
                    AssetDatabase.CreateAsset(settings, "Assets/Parley/Resources/ParleySettings.asset");
                    var page = ParleySettingsProvider.Create();
                    var drawn = GuiScript.Frame(delegate { page.guiHandler(""); });
                    if (field == "StorageFolder")
                    {
                        Check.Equal("", EditorSidecar.StorageFolder(), "the editor has no storages then");
                    }
                    else
                    {
                        Check.That(GuiScript.Shown(drawn).Contains("cannot be used"), "the page with the settings says it: " + field);
                    }
                }
            }
        }

        [Test]
        private static void DeepWorkflowsCountAndUnreadableOnesFailTheBuild()
        {
            using (var project = new Project())
            {
                var settings = ScriptableObject.CreateInstance<ParleySettings>();
                settings.SidecarFolder = "sidecar";
                settings.ModelsFolder = "models";
                FakeEngine.ResourceByPath[ParleySettings.ResourceName] = settings;
                FakeEngine.DataPath = project.At("Assets");
                FakeEngine.StreamingAssetsPath = project.At("Assets/StreamingAssets");
                var schema = new JObject();
                for (var level = 0; level < 80; level++)
                {
                    schema = new JObject { { "items", schema } };
                }
                var tool = new JObject { { "name", "t" }, { "parameters", schema } };
                var node = new JObject { { "name", "n" }, { "type", "ToolCall" }, { "model", "hub" }, { "tools", new JArray(tool) } };
                Desk.Workflow(new JObject { { "nodes", new JArray(node) } }.ToString());
                Check.Texts(BuildProcessor.Request(settings, PlayerSystem.Linux, project.At("out/Game.x86_64")).Models, "the models", "hub");

                Desk.Workflow("{\"nodes\": [", "torn");
                var report = new BuildReport
                {
                    summary = new BuildSummary { platform = BuildTarget.StandaloneLinux64, outputPath = project.At("out/Game.x86_64") }
                };
                var fault = Check.Throws<BuildFailedException>(delegate { new BuildProcessor().OnPreprocessBuild(report); }, "a torn workflow");
                Check.That(fault.Message.Contains("Assets/torn.asset") && fault.Message.Contains("line 1"), fault.Message);
            }
        }

        [Test]
        private static void TheLinkerGetsThePackagesLinkXml()
        {
            var type = typeof(BuildProcessor).Assembly.GetType("Parley.Editor.LinkXml", true);
            var linking = (IUnityLinkerProcessor)Activator.CreateInstance(type, true);
            try
            {
                PackageInfo.Found = null;
                Check.Equal(null, linking.GenerateAdditionalLinkXmlFile(new BuildReport(), null), "no package");
                PackageInfo.Found = new PackageInfo { name = "com.parley.bridge", resolvedPath = Desk.Text("package") };
                var path = linking.GenerateAdditionalLinkXmlFile(new BuildReport(), null);
                Check.Equal(Path.Combine(Desk.Text("package"), "link.xml"), path, "the file");
                Check.That(File.ReadAllText(path).Contains("<linker>"), "what is in it");
                PackageInfo.Found.resolvedPath = Path.Combine(Desk.Text("package"), "Editor");
                Check.Equal(null, linking.GenerateAdditionalLinkXmlFile(new BuildReport(), null), "a package that lacks it");
            }
            finally
            {
                PackageInfo.Found = null;
            }
        }

        [Test]
        private static void TheTavernIsImportedFromTheMenu()
        {
            try
            {
                PackageInfo.Found = null;
                SampleMenu.ImportTavern();
                Check.That(EditorUtility.Dialogs[0].Contains("by hand"), "no package: " + EditorUtility.Dialogs[0]);
                PackageInfo.Found = new PackageInfo { name = "com.parley.bridge", version = "0.1.0" };
                Sample.Known.Add(new Sample { displayName = "Another" });
                SampleMenu.ImportTavern();
                Check.That(EditorUtility.Dialogs[1].Contains("no tavern"), "no sample: " + EditorUtility.Dialogs[1]);
                Sample.Known.Add(new Sample { displayName = "Tavern", importPath = "Assets/Samples/Parley/Tavern" });
                SampleMenu.ImportTavern();
                Check.Texts(Sample.Imported, "what was imported", "Tavern");
                Check.Equal(2, EditorUtility.Dialogs.Count, "nothing went wrong");
                Check.That(FakeEngine.Log.Exists(line => line.Message.Contains("Assets/Samples/Parley/Tavern")), "where it is");
                Sample.Known[1] = new Sample { displayName = "Tavern", importPath = "Assets/Samples/Parley/Tavern", isImported = true };
                SampleMenu.ImportTavern();
                Check.Equal(1, Sample.Imported.Count, "what is there already is left alone");
            }
            finally
            {
                PackageInfo.Found = null;
            }
        }

        [Test]
        private static void UnityBuildsGoThroughIt()
        {
            using (var project = new Project())
            {
                var settings = ScriptableObject.CreateInstance<ParleySettings>();
                settings.SidecarFolder = "sidecar";
                settings.CatalogFile = "models.json";
                settings.ModelsFolder = "models";
                FakeEngine.ResourceByPath[ParleySettings.ResourceName] = settings;
                FakeEngine.DataPath = project.At("Assets");
                FakeEngine.StreamingAssetsPath = project.At("Assets/StreamingAssets");
                project.Write("Assets/StreamingAssets/Parley/storage/lore.json", "{\"embedding_model\": \"starter\"}");
                Desk.Workflow(
                    "{\"default_model\": \"hub\", \"nodes\": [{\"name\": \"r\", \"type\": \"Retrieve\", \"embedded_storage\": \"lore.json\"},"
                    + "{\"name\": \"g\", \"type\": \"Generate\", \"model\": \"own\"}]}");
                var aside = ParleyWorkflow.Create("{\"default_model\": \"unheard-of\"}");
                AssetDatabase.CreateAsset(aside, "Assets/Editor/aside.asset");
                var report = new BuildReport
                {
                    summary = new BuildSummary { platform = BuildTarget.StandaloneLinux64, outputPath = project.At("out/Game.x86_64") }
                };
                var build = new BuildProcessor();
                build.OnPreprocessBuild(report);
                Check.That(!Directory.Exists(project.At("out")), "nothing is copied before the player is there");
                Directory.CreateDirectory(project.At("out"));
                build.OnPostprocessBuild(report);
                Check.That(File.Exists(project.At("out/Parley/sidecar/models/Owner--A_Repo/a.gguf")), "the model of the workflow");

                report.summary = new BuildSummary { platform = BuildTarget.Android, outputPath = project.At("out/game.apk") };
                var fault = Check.Throws<BuildFailedException>(delegate { build.OnPreprocessBuild(report); }, "a build for Android");
                Check.That(fault.Message.Contains("Include Sidecar"), fault.Message);
                settings.IncludeSidecarInBuilds = false;
                build.OnPreprocessBuild(report);
                build.OnPostprocessBuild(report);
                settings.IncludeSidecarInBuilds = true;
                File.Delete(project.At("models/Owner--A_Repo/a.gguf"));
                report.summary = new BuildSummary { platform = BuildTarget.StandaloneLinux64, outputPath = project.At("out/Game.x86_64") };
                fault = Check.Throws<BuildFailedException>(delegate { build.OnPreprocessBuild(report); }, "a model that is missing");
                Check.That(fault.Message.Contains("'hub'"), fault.Message);
            }
        }
    }
}
