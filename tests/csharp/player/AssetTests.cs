// Workflows and casts as assets, and where a game has its files.
using System;
using System.IO;
using System.Text;
using Parley;
using UnityEngine;

namespace PlayerTests
{
    internal static class AssetTests
    {
        [Test]
        private static void WorkflowsComeBackToTheByte()
        {
            string folder = NewFolder();
            string file = Path.Combine(folder, "a.workflow.json");
            byte[] bytes = Encoding.UTF8.GetBytes(
                "{\r\n\t\"nodes\": [ {\"name\":\"a\", \"of the future\": 1.50e3, \"text\": \"\\u00e9\u00e9\"} ],\r\n\t\"start_node\": \"a\"\r\n}");
            File.WriteAllBytes(file, bytes);
            ParleyWorkflow workflow = ScriptableObject.CreateInstance<ParleyWorkflow>();
            workflow.Import(file);
            string copy = Path.Combine(folder, "b.workflow.json");
            workflow.Export(copy);
            Check.Equal(Convert.ToBase64String(bytes), Convert.ToBase64String(File.ReadAllBytes(copy)), "the bytes");
            Check.Equal("a", (string)workflow.Read()["start_node"], "the workflow");
            File.WriteAllText(file, "[]");
            Check.Throws<JsonFormatException>(delegate { workflow.Import(file); }, "no workflow");
            Check.Equal("a", (string)workflow.Read()["start_node"], "it stays as it is");
            workflow.Json = "{";
            Check.Throws<JsonFormatException>(delegate { workflow.Export(copy); }, "no JSON");
            Check.Equal(bytes.Length, File.ReadAllBytes(copy).Length, "the file stays as it is");
        }

        [Test]
        private static void NewWorkflowsAreWhole()
        {
            Check.Equal("", (string)ScriptableObject.CreateInstance<ParleyWorkflow>().Read()["start_node"], "nobody speaks yet");
        }

        [Test]
        private static void CastsKnowWhoSpeaks()
        {
            DialogueCast cast = ScriptableObject.CreateInstance<DialogueCast>();
            cast.Speakers.Add(new DialogueSpeaker("mira", "Mira", Color.yellow, false));
            cast.Speakers.Add(new DialogueSpeaker("mira", "A second one", Color.red, false));
            cast.Speakers.Add(new DialogueSpeaker("bram", "", Color.red, false));
            cast.Speakers.Add(null);
            Check.Equal("Mira", cast.Find("mira").DisplayName, "the first counts");
            Check.Equal("bram", cast.Find("bram").DisplayName, "no name");
            Check.Equal("guard", cast.Find("guard").DisplayName, "one that is not in it");
            Check.Equal(Color.white, cast.Find("guard").Colour, "its colour");
            Check.That(ReferenceEquals(cast.Find("guard"), cast.Find("guard")), "made once");
            Check.Equal("", cast.Find(null).DisplayName, "nobody");
            Check.That(cast.Knows("mira") && !cast.Knows("guard"), "known");
            Check.That(cast.Rename("mira", "innkeeper"), "followed");
            Check.Equal("Mira", cast.Find("innkeeper").DisplayName, "under the new name");
            Check.That(!cast.Rename("nobody", "x"), "nothing followed");
            Check.Equal(4, cast.Speakers.Count, "speakers");
        }

        [Test]
        private static void EditorsAndPlayersFindTheirSidecar()
        {
            string folder = NewFolder();
            string program = Parley.Platform.IsWindows ? "parley.exe" : "parley";
            GamePlaces places = new GamePlaces
            {
                IsEditor = true,
                DataPath = Path.Combine(folder, "Assets"),
                StreamingAssetsPath = Path.Combine(folder, "Assets/StreamingAssets"),
                PackageFolder = Path.Combine(folder, "Packages/com.parley.bridge"),
            };
            Check.Equal(null, places.FindSidecar("build"), "nothing there");
            Check.Equal("parley", places.DefaultSidecar("build"), "what PATH knows is left");
            Check.That(places.NoSidecar("build").Contains(Path.Combine(folder, "build")), "where it was looked for");
            string slot = Path.Combine(places.PackageFolder, "Sidecar~");
            string prefix = Parley.Platform.IsWindows ? "win-" : "linux-";
            Touch(Path.Combine(slot, prefix + "arm64", program));
            Touch(Path.Combine(slot, prefix + "x64", program));
            Touch(Path.Combine(slot, "other-x64", program));
            Check.Equal(Path.Combine(slot, prefix + "x64", program), places.FindSidecar(""), "the package's slot");
            Touch(Path.Combine(folder, "build", program));
            Touch(Path.Combine(folder, "build", "sidecar.json"));
            Check.Equal(Path.Combine(folder, "build", program), places.FindSidecar("build"), "the settings' folder goes first");
            Check.Equal(Path.Combine(folder, "game/models.json"), places.FindCatalog("game/models.json"), "the catalog");
            Check.Equal("", places.FindCatalog(""), "no catalog");
            Check.Equal(Path.Combine(places.StreamingAssetsPath, "Parley/storage"), places.FindStorage("Parley/storage"), "storages");
            Check.Equal("", places.FindStorage(""), "no storages");

            places.IsEditor = false;
            places.DataPath = Path.Combine(folder, "Game_Data");
            places.StreamingAssetsPath = Path.Combine(places.DataPath, "StreamingAssets");
            Check.Equal(null, places.FindSidecar("build"), "players do not look in the project");
            Touch(Path.Combine(places.StreamingAssetsPath, "Parley/sidecar", program));
            Check.Equal(Path.Combine(places.StreamingAssetsPath, "Parley/sidecar", program), places.FindSidecar(""), "streaming assets");
            Touch(Path.Combine(folder, "Parley/sidecar", program));
            Touch(Path.Combine(folder, "Parley/models.json"));
            Check.Equal(Path.Combine(folder, "Parley/sidecar", program), places.FindSidecar(""), "beside the player");
            Check.Equal(Path.Combine(folder, "Parley/models.json"), places.FindCatalog("game/models.json"), "its catalog");

            places.IsMac = true;
            places.DataPath = Path.Combine(folder, "Game.app/Contents");
            string inBundle = Path.Combine(places.DataPath, "Resources/Parley/sidecar");
            Check.Equal(inBundle, places.SidecarFolders("")[0], "within the bundle");
        }

        [Test]
        private static void SettingsSayHowToStart()
        {
            ParleySettings settings = ParleySettings.Load();
            Check.That(settings.AutoLaunch && settings.IncludeSidecarInBuilds && !settings.AllowModelDownload, "as they are new");
            GamePlaces places = new GamePlaces { IsEditor = true, DataPath = Path.Combine(NewFolder(), "Assets") };
            settings.EditorCommand.AddRange(new[] { "python3", "-m", "bridge" });
            settings.ServeArguments.Add("--no-auth");
            settings.CatalogFile = "models.json";
            settings.ModelsFolder = "models";
            SidecarOptions launch = settings.ToLaunch(places);
            Check.Equal("python3", launch.Executable, "the program");
            Check.Texts(launch.Arguments, "its arguments", "-m", "bridge", "serve", "--no-auth");
            Check.Equal(Path.Combine(places.Root, "models.json"), launch.Environment["PARLEY_CATALOG"], "the catalog");
            Check.Equal(Path.Combine(places.Root, "models"), launch.Environment["PARLEY_MODELS_FOLDER"], "the models");
            places.IsEditor = false;
            launch = settings.ToLaunch(places);
            Check.That(!launch.Executable.Contains("python"), "players do not use the command");
            Check.Texts(launch.Arguments, "their arguments", "serve", "--no-auth");
            Check.Equal(0, launch.Environment.Count, "nor the folders of a developer");
            Check.Equal(1f, settings.BudgetMs, "what a frame gives as it is new");
            settings.BudgetMs = 500f;
            Check.Equal(10f, settings.BudgetMs, "a frame is not given away");
        }

        [Test]
        private static void SettingsOfAProjectWithoutThemAreMadeOnceForEachPlay()
        {
            ParleySettings settings = ParleySettings.Load();
            Check.That(ReferenceEquals(settings, ParleySettings.Load()), "not one for each who asks");
            settings.AutoLaunch = false;
            FakePlayerLoop.Play();
            Check.That(ParleyHub.Settings.AutoLaunch, "what was changed before does not reach the play");
            ParleyHub.Settings.AutoLaunch = false;
            FakePlayerLoop.Stop();
            FakePlayerLoop.Play();
            Check.That(ParleyHub.Settings.AutoLaunch, "nor the next one");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void NothingOfAMomentOutlivesAReload()
        {
            int count = 0;
            foreach (Type script in typeof(ParleyHub).Assembly.GetTypes())
            {
                count += typeof(MonoBehaviour).IsAssignableFrom(script) ? CheckFields(script) : 0;
            }
            foreach (Type script in typeof(Parley.Samples.Tavern.TavernScreen).Assembly.GetTypes())
            {
                count += typeof(MonoBehaviour).IsAssignableFrom(script) ? CheckFields(script) : 0;
            }
            Check.That(count > 10, "fields that were looked at: " + count);
        }

        /// <summary>Private fields go through a reload of scripts too, and say then what was so before it.</summary>
        private static int CheckFields(Type script)
        {
            int count = 0;
            foreach (System.Reflection.FieldInfo field in script.GetFields(
                System.Reflection.BindingFlags.Instance | System.Reflection.BindingFlags.NonPublic | System.Reflection.BindingFlags.DeclaredOnly))
            {
                bool isOfTheMoment = !field.IsInitOnly && !field.IsDefined(typeof(SerializeField), false)
                    && !field.Name.StartsWith("<", StringComparison.Ordinal) && !typeof(Delegate).IsAssignableFrom(field.FieldType);
                Check.That(!isOfTheMoment || field.IsNotSerialized, script.Name + "." + field.Name + " lacks [NonSerialized]");
                count += isOfTheMoment ? 1 : 0;
            }
            return count;
        }

        [Test]
        private static void SettingsMayBeFilledInCarelessly()
        {
            ParleySettings settings = ParleySettings.Load();
            string folder = NewFolder();
            GamePlaces places = new GamePlaces { IsEditor = true, DataPath = Path.Combine(folder, "Assets") };
            string program = Path.Combine(folder, "side car ö", Parley.Platform.IsWindows ? "parley.exe" : "parley");
            Touch(program);
            Touch(Path.Combine(folder, "side car ö", "sidecar.json"));
            settings.SidecarFolder = " \"side car ö\" ";
            settings.CatalogFile = "  ";
            settings.ModelsFolder = "\"models\"\n";
            settings.EditorCommand.Add("");
            settings.ServeArguments.Add("");
            SidecarOptions launch = settings.ToLaunch(places);
            Check.Equal(program, launch.Executable, "quotes and spaces");
            Check.Texts(launch.Arguments, "entries without a text", "serve");
            Check.Equal(Path.Combine(folder, "models"), launch.Environment["PARLEY_MODELS_FOLDER"], "the models");
            Check.That(!launch.Environment.ContainsKey("PARLEY_CATALOG"), "no catalog");
            settings.SidecarFolder = "side\0car";
            ParleyException fault = Check.Throws<ParleyException>(delegate { settings.ToLaunch(places); }, "no path");
            Check.Equal("SettingsInvalid", fault.CodeName, "what it is");
            Check.That(fault.Message.Contains("Project Settings > Parley"), "where: " + fault.Message);
            foreach (float budget in new[] { 0f, -5f, float.NaN, float.PositiveInfinity })
            {
                typeof(ParleySettings).GetField(
                    "budgetMs", System.Reflection.BindingFlags.Instance | System.Reflection.BindingFlags.NonPublic).SetValue(settings, budget);
                Check.That(settings.BudgetMs >= 0.1f && settings.BudgetMs <= 10f, "a budget of " + budget + " is " + settings.BudgetMs);
            }
        }

        private static string NewFolder()
        {
            string folder = Path.Combine(Path.GetTempPath(), "parley-" + Guid.NewGuid().ToString("N"));
            Directory.CreateDirectory(folder);
            AppDomain.CurrentDomain.ProcessExit += delegate { Directory.Delete(folder, true); };
            return folder;
        }

        private static void Touch(string file)
        {
            Directory.CreateDirectory(Path.GetDirectoryName(file));
            File.WriteAllText(file, "x");
        }
    }
}
