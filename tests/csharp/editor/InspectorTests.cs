// The inspector of a workflow, drawn as Unity draws it, with undo that undoes.
using System;
using System.Collections.Generic;
using System.IO;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Editor;
using PlayerTests;
using UnityEditor;
using UnityEngine;
using UnityStubs;

namespace EditorTests
{
    internal static class InspectorTests
    {
        // Field order, spacing, an unknown field and odd spellings of numbers: all of it must come back from undo.
        private const string Two =
            "{\"version\":1, \"start_node\":\"mira\",\r\n  \"default_model\": \"mock-echo\", \"studio\": {\"note\": 1.50},\n"
            + "  \"nodes\": [\n"
            + "   {\"name\":\"mira\",  \"type\":\"Generate\", \"max_tokens\": 64, \"sampling\": {\"temperature\": 7e-1}, \"default_exit\":\"bram\"},\n"
            + "   {\"type\":\"Generate\", \"name\":\"bram\", \"input\":\"mira\", \"template\":\"{{slot.mira}} and {{ slot.miracle }} mira\", "
            + "\"default_exit\":\"\"} ] }\n\n";

        [Test]
        private static void RenameIsOneGroupAndUndoesToTheByte()
        {
            var asset = Desk.Workflow(Two);
            var cast = Desk.Cast("cast", "mira", "bram", "stranger");
            var inspector = Desk.Inspect(asset);
            Desk.Do(inspector, "$.nodes[0]", true);

            Desk.Do(inspector, "$.nodes[0].name", " innkeeper ");

            Check.Equal("innkeeper", (string)asset.Read()["start_node"], "the start");
            Check.Equal("innkeeper", (string)Desk.Node(asset, "bram")["input"], "the input");
            Check.Equal("{{slot.innkeeper}} and {{ slot.miracle }} mira", (string)Desk.Node(asset, "bram")["template"], "the template");
            Check.Texts(Names(cast), "the cast", "innkeeper", "bram", "stranger");
            Check.That(EditorUtility.Dirty.Contains(asset) && EditorUtility.Dirty.Contains(cast), "both assets are to be saved");
            Check.Texts(Undo.Groups(), "the undo history", "Rename mira");

            Undo.PerformUndo();

            Check.Equal(Two, asset.Json, "the asset after undo");
            Check.Texts(Names(cast), "the cast after undo", "mira", "bram", "stranger");
            Check.Equal(0, Undo.Groups().Length, "what is left to undo");
            Check.Equal("mira", GuiScript.Find(Desk.Draw(inspector), "$.nodes[0].name").Value, "what the inspector shows");
        }

        [Test]
        private static void TheSameNameAgainIsNoEdit()
        {
            var asset = Desk.Workflow(Two);
            var inspector = Desk.Inspect(asset);
            Desk.Do(inspector, "$.nodes[0]", true);
            Desk.Do(inspector, "$.nodes[0].name", "mira");
            Desk.Do(inspector, "$.nodes[0].name", " mira ");
            Check.Equal(Two, asset.Json, "the asset");
            Check.Equal(0, Undo.Groups().Length, "undo groups");
        }

        [Test]
        private static void RefusedNamesChangeNothingAndSayWhy()
        {
            var asset = Desk.Workflow(Two);
            var inspector = Desk.Inspect(asset);
            Desk.Do(inspector, "$.nodes[0]", true);
            foreach (var name in new[] { "user_message", "2nd", "", "mira!", "mïra", new string('m', 65) })
            {
                var drawn = Desk.Do(inspector, "$.nodes[0].name", name);
                Check.Equal(Two, asset.Json, "the asset after '" + name + "'");
                Check.That(drawn.Exists(control => control.Kind == "help Warning" && control.Value.Length > 10), "the reason for '" + name + "' is shown");
            }
            Check.Equal(0, Undo.Groups().Length, "undo groups");
            var taken = Desk.Do(inspector, "$.nodes[0].name", "bram");
            Check.Equal("bram_2", GuiScript.Find(taken, "$.nodes[0].name").Value, "a name that is taken");
            Check.That(!taken.Exists(control => control.Kind == "help Warning" && control.Value.Contains("65")), "the old refusal is gone");
        }

        [Test]
        private static void SlotsAreRenamedAndCleared()
        {
            var asset = Desk.Workflow(Two);
            var cast = Desk.Cast("cast", "mira");
            var inspector = Desk.Inspect(asset);
            Desk.Do(inspector, "$.nodes[0]", true);
            Desk.Do(inspector, "$.nodes[0].output_name", "welcome");
            Check.Equal("welcome", (string)Desk.Node(asset, "mira")["output_name"], "the slot");
            Check.Equal("welcome", (string)Desk.Node(asset, "bram")["input"], "the input");
            Check.Equal("mira", (string)asset.Read()["start_node"], "the start stays");
            Check.Texts(Names(cast), "the cast stays", "mira");
            Desk.Do(inspector, "$.nodes[0].output_name", "");
            Check.Equal("mira", (string)Desk.Node(asset, "bram")["input"], "the input follows back");
            Check.Texts(Undo.Groups(), "the undo history", "Rename slot of mira", "Rename slot of mira");
            Undo.PerformUndo();
            Undo.PerformUndo();
            Check.Equal(Two, asset.Json, "the asset after undo");
        }

        [Test]
        private static void DeleteFlagsInputsAndEndsExits()
        {
            var asset = Desk.Workflow(Two);
            var inspector = Desk.Inspect(asset);
            Desk.Do(inspector, "$.nodes[0]", true);
            GuiScript.Press("$.nodes[0].delete");
            var drawn = Desk.OpenAll(inspector.OnInspectorGUI);
            Check.Equal(1, ((JArray)asset.Read()["nodes"]).Count, "nodes");
            Check.Equal("", (string)asset.Read()["start_node"], "the start is cleared");
            var input = GuiScript.Find(drawn, "$.nodes[0].input");
            Check.Equal("mira (missing)", input.Value, "the input keeps what it names");
            Check.That(input.Color.r > 0.9f && input.Color.g < 0.5f, "and is red");
            Check.That(drawn.Exists(control => control.Kind.StartsWith("help") && control.Value.Contains("mira")), "a finding says so");
            Undo.PerformUndo();
            Check.Equal(Two, asset.Json, "the asset after undo");
        }

        [Test]
        private static void MissingValuesStayUntilAnotherIsPicked()
        {
            var asset = Desk.Workflow(Two.Replace("\"input\":\"mira\"", "\"input\":\"gone\"").Replace("\"default_exit\":\"\"", "\"default_exit\":\"nowhere\""));
            var before = asset.Json;
            var inspector = Desk.Inspect(asset);
            var drawn = Desk.OpenAll(inspector.OnInspectorGUI);
            var input = GuiScript.Find(drawn, "$.nodes[1].input");
            Check.Texts(input.Options, "the inputs", "User Message", "mira", "gone (missing)");
            Check.Equal("gone (missing)", input.Value, "the input that is shown");
            var exit = GuiScript.Find(drawn, "$.nodes[1].default_exit");
            Check.Texts(exit.Options, "the exits", "END", "mira", "bram", "nowhere (missing)");
            Check.That(exit.Color.g < 0.5f, "a missing exit is red");
            Check.Equal(before, asset.Json, "looking changes nothing");

            Desk.Do(inspector, "$.nodes[1].history_name", "Bram");
            Check.Equal("gone", (string)Desk.Node(asset, "bram")["input"], "another edit drops nothing");
            Check.Equal("nowhere", (string)Desk.Node(asset, "bram")["default_exit"], "another edit drops nothing");

            drawn = Desk.Do(inspector, "$.nodes[1].input", "mira");
            Check.Texts(GuiScript.Find(drawn, "$.nodes[1].input").Options, "the inputs afterwards", "User Message", "mira");
            Desk.Do(inspector, "$.nodes[1].input", "User Message");
            Check.Equal("", (string)Desk.Node(asset, "bram")["input"], "the player's line is stored as empty");
            Desk.Do(inspector, "$.nodes[1].default_exit", "mira");
            drawn = Desk.Draw(inspector);
            Check.Texts(GuiScript.Find(drawn, "$.nodes[1].input").Options, "on a cycle the node itself counts", "User Message", "mira", "bram");
        }

        [Test]
        private static void EveryParameterOfEveryTypeIsDrawn()
        {
            var asset = Desk.Workflow(ParleyWorkflow.EmptyJson);
            var inspector = Desk.Inspect(asset);
            foreach (var type in NodeTypes.All)
            {
                GuiScript.Do("add node", type.Name);
                Desk.Draw(inspector);
            }
            var before = asset.Json;
            var drawn = Desk.OpenAll(inspector.OnInspectorGUI);
            for (var at = 0; at < NodeTypes.All.Count; at++)
            {
                foreach (var param in NodeTypes.All[at].Params)
                {
                    var control = GuiScript.Find(drawn, "$.nodes[" + at + "]." + param.Name);
                    if (control.Kind != "foldout" && control.Kind != "area" && control.Kind != "button")
                    {
                        Check.That(control.Tooltip.StartsWith(param.Meaning), NodeTypes.All[at].Name + "." + param.Name + " has its tooltip");
                    }
                }
            }
            Check.Equal(before, asset.Json, "drawing changes nothing");
            Check.Equal(NodeTypes.All.Count, Undo.Groups().Length, "one group for each node that was added");
            Check.Equal("canned_response", (string)asset.Read()["start_node"], "the first node is the start");
            while (Undo.Groups().Length > 0)
            {
                Undo.PerformUndo();
            }
            Check.Equal(ParleyWorkflow.EmptyJson, asset.Json, "all undone");
        }

        [Test]
        private static void NumbersStayWithinTheirBounds()
        {
            var asset = Desk.Workflow(Two);
            var inspector = Desk.Inspect(asset);
            Desk.OpenAll(inspector.OnInspectorGUI);
            var drawn = Desk.Do(inspector, "$.nodes[0].max_tokens", "0");
            Check.That(drawn.Exists(control => control.Kind == "help Warning" && control.Value.Contains("between 1 and 1048576")), "the bounds are told");
            Desk.Do(inspector, "$.nodes[0].max_tokens", "many");
            Check.Equal(Two, asset.Json, "refused numbers change nothing");
            Desk.Do(inspector, "$.nodes[0].max_tokens", "100");
            Check.That(asset.Json.Contains("\"max_tokens\": 100,"), "a whole number");
            Check.That(asset.Json.Contains("7e-1") && asset.Json.Contains("1.50"), "the spelling of the others stays");
            var slider = GuiScript.Find(Desk.Draw(inspector), "$.nodes[0].sampling.temperature");
            Check.Equal("slider", slider.Kind, "a number with bounds near each other");
            Check.Equal(10.0, slider.Max, "its bound");
            Desk.Do(inspector, "$.nodes[0].sampling.temperature", 0.3);
            Check.That(asset.Json.Contains("\"temperature\": 0.3}"), "a number of a slider is short: " + asset.Json);
            Desk.Do(inspector, "$.nodes[0].sampling.top_k", true);
            Check.Equal(1L, (long)Desk.Node(asset, "mira")["sampling"]["top_k"], "an unset field is set");
        }

        [Test]
        private static void ListsGrowMoveAndShrink()
        {
            var asset = Desk.Workflow(Two);
            var inspector = Desk.Inspect(asset);
            Desk.OpenAll(inspector.OnInspectorGUI);
            GuiScript.Press("$.nodes[0].examples.add");
            Desk.OpenAll(inspector.OnInspectorGUI);
            Desk.Do(inspector, "$.nodes[0].examples[0].speaker", "Mira");
            GuiScript.Press("$.nodes[0].examples.add");
            Desk.OpenAll(inspector.OnInspectorGUI);
            Desk.Do(inspector, "$.nodes[0].examples[1].speaker", "Bram");
            GuiScript.Press("$.nodes[0].examples[1].up");
            Desk.Draw(inspector);
            var examples = (JArray)Desk.Node(asset, "mira")["examples"];
            Check.Equal("Bram", (string)examples[0]["speaker"], "the one that was moved up");
            GuiScript.Press("$.nodes[0].examples[0].remove");
            Desk.Draw(inspector);
            examples = (JArray)Desk.Node(asset, "mira")["examples"];
            Check.Equal(1, examples.Count, "what is left");
            Check.Equal("Mira", (string)examples[0]["speaker"], "what is left");
            var fields = new List<string>();
            foreach (var field in Desk.Node(asset, "mira").Properties())
            {
                fields.Add(field.Name);
            }
            Check.Equal("default_exit", fields[fields.Count - 1], "exits stay last");
            while (Undo.Groups().Length > 0)
            {
                Undo.PerformUndo();
            }
            Check.Equal(Two, asset.Json, "all undone");
        }

        [Test]
        private static void TypingIsOneStepOfUndo()
        {
            var asset = Desk.Workflow(Two);
            var inspector = Desk.Inspect(asset);
            Desk.OpenAll(inspector.OnInspectorGUI);
            foreach (var text in new[] { "M", "Mi", "Mir", "Mira" })
            {
                Desk.Do(inspector, "$.nodes[0].system_prompt", text);
            }
            Desk.Do(inspector, "$.nodes[1].system_prompt", "B");
            Check.Texts(Undo.Groups(), "the undo history", "Change system_prompt", "Change system_prompt");
            Undo.PerformUndo();
            Check.Equal("Mira", (string)Desk.Node(asset, "mira")["system_prompt"], "the first text stays");
            Undo.PerformUndo();
            Check.Equal(Two, asset.Json, "all undone");
        }

        [Test]
        private static void NodesMove()
        {
            var asset = Desk.Workflow(Two);
            var inspector = Desk.Inspect(asset);
            Desk.Draw(inspector);
            GuiScript.Press("$.nodes[1].up");
            Desk.Draw(inspector);
            Check.Equal("bram", (string)asset.Read()["nodes"][0]["name"], "the first node");
            GuiScript.Press("$.nodes[0].up");
            Desk.Draw(inspector);
            Check.Equal(1, Undo.Groups().Length, "the first cannot go up");
            Undo.PerformUndo();
            Check.Equal(Two, asset.Json, "after undo");
        }

        [Test]
        private static void ModelsArePickedOnceTheyAreKnown()
        {
            var asset = Desk.Workflow(Two);
            var inspector = Desk.Inspect(asset);
            var drawn = Desk.OpenAll(inspector.OnInspectorGUI);
            Check.Equal("delayed", GuiScript.Find(drawn, "$.nodes[0].model").Kind, "while no model is known its name is typed");
            EditorModels.Take(new[]
            {
                new KnownModel { Name = "owner/small", Type = "language" }, new KnownModel { Name = "embed", Type = "embedding" }
            });
            drawn = Desk.Draw(inspector);
            Check.Texts(GuiScript.Find(drawn, "$.nodes[0].model").Options, "the models", "Default: mock-echo", "owner\u2215small");
            var fallback = GuiScript.Find(drawn, "$.default_model");
            Check.Equal("mock-echo (missing)", fallback.Value, "a model that the catalog does not have");
            Check.That(fallback.Color.g < 0.5f, "is red");
            Desk.Do(inspector, "$.nodes[0].model", "owner\u2215small");
            Check.Equal("owner/small", (string)Desk.Node(asset, "mira")["model"], "the model");
        }

        [Test]
        private static void VoicesArePickedFromThoseOfTheCatalog()
        {
            var asset = Desk.Workflow("{\"nodes\": [{\"name\": \"mira\", \"type\": \"GenerateAndSpeak\", \"voice\": \"gone\"}]}");
            var inspector = Desk.Inspect(asset);
            Desk.OpenAll(inspector.OnInspectorGUI);
            EditorModels.Take(new[]
            {
                new KnownModel { Name = "small", Type = "language" }, new KnownModel { Name = "deep", Type = "tts" }
            });
            var drawn = Desk.Draw(inspector);
            var voice = GuiScript.Find(drawn, "$.nodes[0].voice");
            Check.Texts(voice.Options, "the voices", "(none)", "deep", "gone (missing)");
            Check.That(voice.Color.g < 0.5f, "one that the catalog does not have is red");
            Desk.Do(inspector, "$.nodes[0].voice", "deep");
            Check.Equal("deep", (string)Desk.Node(asset, "mira")["voice"], "the voice");
            Check.Equal("delayed", GuiScript.Find(Desk.Draw(inspector), "$.nodes[0].speaker_id").Kind, "while its speakers are not known a number is typed");
            EditorModels.Take(new[] { new KnownModel { Name = "deep", Type = "tts", Speakers = new[] { "Ada", "Bo/b" } } });
            drawn = Desk.Draw(inspector);
            var speaker = GuiScript.Find(drawn, "$.nodes[0].speaker_id");
            Check.Texts(speaker.Options, "the speakers", "0: Ada", "1: Bo\u2215b");
            Check.Equal("0: Ada", speaker.Value, "the first");
            Desk.Do(inspector, "$.nodes[0].speaker_id", "1: Bo\u2215b");
            Check.Equal("1", Desk.Node(asset, "mira")["speaker_id"].ToString(), "the speaker");
            Desk.Do(inspector, "$.nodes[0].voice", "(none)");
            Check.Equal("delayed", GuiScript.Find(Desk.Draw(inspector), "$.nodes[0].speaker_id").Kind, "no voice");
            asset.Json = asset.Json.Replace("\"voice\": \"\"", "\"voice\": \"deep\"").Replace("\"speaker_id\": 1", "\"speaker_id\": 7");
            speaker = GuiScript.Find(Desk.Draw(inspector), "$.nodes[0].speaker_id");
            Check.Equal("7 (missing)", speaker.Value, "a speaker that the voice does not have");
        }

        [Test]
        private static void FilesAreRelativeToTheStorageFolder()
        {
            var folder = Path.Combine(Path.GetTempPath(), "storage Ünï " + Guid.NewGuid().ToString("N"));
            Directory.CreateDirectory(Path.Combine(folder, "Assets/StreamingAssets/Parley/storage/lore"));
            FakeEngine.DataPath = Path.Combine(folder, "Assets");
            FakeEngine.StreamingAssetsPath = Path.Combine(folder, "Assets/StreamingAssets");
            var asset = Desk.Workflow("{\"nodes\": [{\"name\": \"g\", \"type\": \"HumanMessageGuardrail\"}]}");
            var inspector = Desk.Inspect(asset);
            Desk.OpenAll(inspector.OnInspectorGUI);
            try
            {
                EditorUtility.PanelAnswer = Path.Combine(folder, "Assets/StreamingAssets/Parley/storage/lore/words 酒.txt");
                GuiScript.Press("$.nodes[0].string_storage.pick");
                Desk.Draw(inspector);
                Check.Equal("lore/words 酒.txt", (string)Desk.Node(asset, "g")["string_storage"], "the file");
                var before = asset.Json;
                EditorUtility.PanelAnswer = Path.Combine(folder, "secrets.txt");
                GuiScript.Press("$.nodes[0].string_storage.pick");
                var drawn = Desk.Draw(inspector);
                Check.Equal(before, asset.Json, "a file outside changes nothing");
                Check.That(drawn.Exists(control => control.Kind == "help Warning" && control.Value.Contains("storage folder")), "the reason is shown");
            }
            finally
            {
                Directory.Delete(folder, true);
            }
        }

        [Test]
        private static void FindingsStandAtTheirFields()
        {
            var asset = Desk.Workflow(Two.Replace("\"default_exit\":\"bram\"", "\"default_exit\":\"nobody\", \"max_tokens\": 0"));
            asset = Desk.Workflow(Two.Replace("\"max_tokens\": 64", "\"max_tokens\": 0").Replace("\"default_exit\":\"bram\"", "\"default_exit\":\"nobody\""), "two");
            var model = new WorkflowInspectorModel(new WorkflowAssetStore(asset));
            model.Refresh();
            Check.That(model.Nodes[0].Field("max_tokens").Findings.Count == 1, "max_tokens has a finding");
            Check.That(model.Nodes[0].Field("default_exit").Findings.Count == 1, "the exit has a finding");
            Check.Equal(2, model.Nodes[0].Errors, "errors of the node");
            Check.Equal(0, model.Nodes[0].Findings.Count, "none of them stands at the node");
            Check.That(!model.IsValidated, "no sidecar has seen it");
        }

        [Test]
        private static void CastsOfSeveralWorkflowsKeepBothNames()
        {
            var asset = Desk.Workflow(Two);
            Desk.Workflow(Two, "other");
            var cast = Desk.Cast("cast", "mira", "bram");
            cast.Speakers[0].Portrait = new Sprite();
            var inspector = Desk.Inspect(asset);
            Desk.Do(inspector, "$.nodes[0]", true);
            Desk.Do(inspector, "$.nodes[0].name", "innkeeper");
            Check.Texts(Names(cast), "the cast", "mira", "bram", "innkeeper");
            Check.Equal("MIRA", cast.Find("innkeeper").DisplayName, "what the player reads stays");
            Check.That(cast.Find("innkeeper").Portrait == cast.Find("mira").Portrait, "the portrait too");
            Check.Equal(1, Undo.Groups().Length, "undo groups");
            Undo.PerformUndo();
            Check.Texts(Names(cast), "the cast after undo", "mira", "bram");
        }

        [Test]
        private static void FilesComeInAndGoOutToTheByte()
        {
            var folder = Path.Combine(Path.GetTempPath(), "files " + Guid.NewGuid().ToString("N"));
            Directory.CreateDirectory(folder);
            try
            {
                var path = Path.Combine(folder, "Zum Kessel.workflow.json");
                File.WriteAllText(path, Two);
                var asset = WorkflowFiles.Import(path, "Assets/Workflows");
                Check.Equal("Assets/Workflows/Zum Kessel.asset", AssetDatabase.GetAssetPath(asset), "where the asset is");
                EditorUtility.PanelAnswer = Path.Combine(folder, "out.workflow.json");
                Check.That(WorkflowFiles.Export(asset), "exported");
                Check.Equal(Two, File.ReadAllText(EditorUtility.PanelAnswer), "the file");
                File.WriteAllText(path, "{ no");
                Check.That(WorkflowFiles.Import(path, "Assets") == null, "what is none is no asset");
                Check.That(EditorUtility.Dialogs[0].Contains("Zum Kessel"), "and is told: " + EditorUtility.Dialogs[0]);
                var model = new WorkflowInspectorModel(new WorkflowAssetStore(asset));
                EditorUtility.PanelAnswer = path;
                Check.That(!WorkflowFiles.ImportInto(asset, model), "nothing comes in");
                Check.Equal(Two, asset.Json, "the asset");
                File.WriteAllText(path, ParleyWorkflow.EmptyJson);
                Check.That(WorkflowFiles.ImportInto(asset, model), "another text comes in");
                Undo.PerformUndo();
                Check.Equal(Two, asset.Json, "and goes by undo");
            }
            finally
            {
                Directory.Delete(folder, true);
            }
        }

        [Test]
        private static void ValuesOfAnotherKindAreShownAsTheyStand()
        {
            var asset = Desk.Workflow(
                "{\"nodes\": [{\"name\": \"a\", \"type\": \"Generate\", \"template\": 3, \"strip_reasoning\": \"yes\", \"max_tokens\": \"many\", "
                + "\"sampling\": [1], \"stop\": \"x\", \"send\": 7, \"input\": {\"b\": 1}, \"extra\": {\"c\": 2}}]}");
            var inspector = Desk.Inspect(asset);
            var drawn = Desk.OpenAll(inspector.OnInspectorGUI);
            foreach (var shown in new Dictionary<string, string>
            {
                { "template", "3" }, { "strip_reasoning", "\"yes\"" }, { "max_tokens", "\"many\"" }, { "sampling", "[1]" }, { "stop", "\"x\"" },
                { "send", "7 (missing)" }, { "input", "{…} (missing)" }, { "extra", "{\"c\":2}" }
            })
            {
                Check.Equal(shown.Value, GuiScript.Find(drawn, "$.nodes[0]." + shown.Key).Value, shown.Key);
            }
            drawn = Desk.Do(inspector, "$.nodes[0].sampling", "{");
            Check.That(drawn.Exists(control => control.Kind == "help Warning"), "what is no JSON is refused");
            Desk.Do(inspector, "$.nodes[0].sampling", "{\"top_k\": 3}");
            Check.Equal(3L, (long)Desk.Node(asset, "a")["sampling"]["top_k"], "it is mended");
            Desk.Do(inspector, "$.nodes[0].send", "Whole");
            Check.Equal("Whole", (string)Desk.Node(asset, "a")["send"], "so is this");
        }

        [Test]
        private static void ATextThatIsStillTypedGoesToItsOwnNode()
        {
            var asset = Desk.Workflow(Two);
            var inspector = Desk.Inspect(asset);
            Desk.OpenAll(inspector.OnInspectorGUI);
            GuiScript.Type("$.nodes[0].history_name", "Mira");
            GuiScript.Press("$.nodes[1].up");
            Desk.Draw(inspector);
            Check.Equal("bram", (string)asset.Read()["nodes"][0]["name"], "the nodes have changed places");
            Check.Equal("Mira", (string)Desk.Node(asset, "mira")["history_name"], "the text is mira's");
            Check.That(Desk.Node(asset, "bram")["history_name"] == null, "and not bram's");

            var window = WorkflowGraphWindow.Open(asset);
            window.Graph.Refresh();
            window.Graph.Selected = 0;
            GuiScript.Frame(window.OnGUI);
            GuiScript.Type("$.nodes[0].name", "landlord");
            var box = window.Graph.Boxes[1];
            GuiScript.Frame(window.OnGUI, new Event { type = EventType.MouseDown, mousePosition = new Vector2(box.X + 5f, box.Y + 5f) });
            Check.Equal("landlord", (string)asset.Read()["nodes"][0]["name"], "the node that was selected");
            Check.Equal("mira", (string)asset.Read()["nodes"][1]["name"], "the one that is now");
            Check.Equal(1, window.Graph.Selected, "the selection");
        }

        // ---- hostile assets

        private static IEnumerable<string> Hostile()
        {
            yield return "";
            yield return "   ";
            yield return "not json";
            yield return "[]";
            yield return "null";
            yield return "42";
            yield return "\"text\"";
            yield return "{";
            yield return "{\"nodes\": [}";
            yield return "{} trailing";
            yield return "{\"a\": 1, \"a\": 2}";
            yield return "{// comment\n}";
            yield return "\ufeff{\"nodes\": []}";
            yield return "{}";
            yield return "{\"nodes\": 5}";
            yield return "{\"nodes\": null, \"variables\": 7, \"start_node\": [1], \"default_model\": {}, \"player_name\": false}";
            yield return "{\"nodes\": {\"mira\": {}}}";
            yield return "{\"nodes\": [1, null, \"x\", [], {}, {\"name\": 5}, {\"type\": \"Generate\"}, {\"name\": null, \"type\": null}]}";
            yield return "{\"nodes\": [{\"name\": \"a\", \"type\": \"NoSuch\", \"input\": \"b\", \"foo_exit\": \"zz\", \"bar_exit\": 3, \"deep\": {\"x\": [1, {}]}, \"on\": true, \"n\": 4, \"t\": \"a\\nb\", \"output_name\": \"s\"}]}";
            yield return "{\"nodes\": [{\"name\": \"a\", \"type\": \"Generate\", \"sampling\": 5, \"stop\": \"x\", \"examples\": {}, \"max_tokens\": \"many\", \"context_size\": 1.5, \"send\": 7, \"strip_reasoning\": \"yes\", \"input\": [], \"default_exit\": {}, \"template\": 3, \"model\": 9, \"output_name\": 1, \"placement\": \"Nowhere\"}]}";
            yield return "{\"nodes\": [{\"name\": \"a\", \"type\": \"Generate\", \"sampling\": {\"temperature\": 1e400, \"top_k\": 99999999999999999999999, \"seed\": -1, \"x\": null}, \"stop\": [1, null, \"s\"], \"examples\": [1, {}, {\"speaker\": 3, \"z\": 1}]}]}";
            yield return "{\"nodes\": [{\"name\": \"a\", \"type\": \"Generate\"}, {\"name\": \"a\", \"type\": \"Generate\", \"default_exit\": \"a\"}, {\"name\": \"user_message\", \"type\": \"Transform\"}, {\"name\": \"no name!\", \"type\": \"Transform\"}]}";
            yield return "{\"variables\": [1, {}, {\"name\": 3, \"type\": \"int\", \"value\": \"x\"}, {\"name\": \"v\", \"type\": \"gold\", \"value\": {}}, {\"name\": \"s\", \"type\": \"string_set\", \"value\": [1, \"a\"]}, {\"name\": \"b\", \"type\": \"bool\", \"value\": 1, \"w\": 2}, {\"name\": \"f\", \"type\": \"float\", \"value\": 1e999}]}";
            yield return "{\"nodes\": [{\"name\": \"c\", \"type\": \"ClassifyAttributesLLM\", \"attributes\": [{\"name\": \"x\", \"labels\": 3}, {\"labels\": [{\"id\": 1}, 2]}]}, {\"name\": \"t\", \"type\": \"ToolCall\", \"tools\": [{\"name\": \"n\", \"parameters\": []}, 1]}, {\"name\": \"r\", \"type\": \"Retrieve\", \"filter\": \"all\"}]}";
            yield return "{\"nodes\": [" + new string('[', 60) + new string(']', 60) + "]}";
            yield return new string('[', 5000) + new string(']', 5000);
            yield return "{\"\\u0000\": \"\\ud800\", \"nodes\": [{\"name\": \"\\u202emira\", \"type\": \"a/b\"}]}";
        }

        [Test]
        private static void HostileAssetsAreDrawnAndLoseNothing()
        {
            var number = 0;
            foreach (var text in Hostile())
            {
                var asset = Desk.Workflow(text, "hostile " + number++);
                try
                {
                    Desk.OpenAll(Desk.Inspect(asset).OnInspectorGUI);
                    var window = WorkflowGraphWindow.Open(asset);
                    GuiScript.Frame(window.OnGUI);
                    for (var at = 0; at < window.Graph.Boxes.Count; at++)
                    {
                        window.Graph.Selected = at;
                        Desk.OpenAll(window.OnGUI);
                    }
                    var chat = TestChatWindow.Open(asset);
                    GuiScript.Frame(chat.OnGUI);
                    BuildStaging.ModelsOf(new WorkflowInspectorModel(new WorkflowAssetStore(asset)).Json, "");
                }
                catch (Exception fault)
                {
                    throw new Failed("with " + text.Substring(0, Math.Min(120, text.Length)) + ": " + fault);
                }
                Check.Equal(text, asset.Json, "the asset");
            }
            Check.Equal(0, Undo.Groups().Length, "looking is no edit");
        }

        /// Whatever is done to a hostile asset ends well: done, or refused; and undo brings every byte back.
        [Test]
        private static void HostileAssetsSurviveEdits()
        {
            foreach (var text in Hostile())
            {
                var asset = Desk.Workflow(text, "hostile");
                var model = new WorkflowInspectorModel(new WorkflowAssetStore(asset));
                model.Refresh();
                var nodes = model.Nodes.Count;
                for (var at = -1; at <= nodes; at++)
                {
                    var index = at;
                    foreach (var edit in new Action[]
                    {
                        delegate { model.Rename(index, "fresh"); }, delegate { model.RenameSlot(index, "slot"); },
                        delegate { model.Move(index, 0); }, delegate { model.Add("Generate"); },
                        delegate { Edit(model, index); }, delegate { if (index >= 0 && index < model.Nodes.Count) { model.Delete(index); } }
                    })
                    {
                        try
                        {
                            edit();
                            model.Refresh();
                        }
                        catch (Exception fault)
                        {
                            throw new Failed("with " + text.Substring(0, Math.Min(160, text.Length)) + " at " + index + ": " + fault);
                        }
                    }
                }
                while (Undo.Groups().Length > 0)
                {
                    Undo.PerformUndo();
                }
                Check.Equal(text, asset.Json, "the asset after undo");
            }
        }

        private static void Edit(WorkflowInspectorModel model, int index)
        {
            if (index < 0 || index >= model.Nodes.Count)
            {
                return;
            }
            foreach (var row in model.Nodes[index].Fields.ToArray())
            {
                model.Set(row, new JValue("x"));
                model.SetNumber(row, 3.5);
                model.SetTyped(row, "7");
                model.SetJson(row, "{\"a\": [1]}");
                model.SetJson(row, "{");
                if (row.Control == FieldControl.List)
                {
                    model.AddItem(row);
                }
                model.Clear(row);
                model.Refresh();
            }
        }

        [Test]
        private static void ATextThatIsNoWorkflowCanBeMended()
        {
            var asset = Desk.Workflow("{\"nodes\": [}");
            var inspector = Desk.Inspect(asset);
            var drawn = Desk.Draw(inspector);
            Check.That(drawn.Exists(control => control.Kind == "help Error" && control.Value.Contains("line 1")), "where it is wrong");
            Desk.Do(inspector, "text", "{\"nodes\": []}");
            Check.Equal("{\"nodes\": [}", asset.Json, "a draft is none yet");
            GuiScript.Press("Apply");
            Desk.Draw(inspector);
            Check.Equal("{\"nodes\": []}", asset.Json, "it is applied");
            Undo.PerformUndo();
            Check.Equal("{\"nodes\": [}", asset.Json, "and undone");
        }

        /// Whatever a person clicks and types, each step is one of undo, and every one of them brings back what was there.
        [Test]
        private static void RandomEditsUndoStepByStep()
        {
            for (var seed = 1; seed <= 4; seed++)
            {
                Undo.ClearAll();
                var random = new Random(seed);
                var asset = Desk.Workflow(Two, "random " + seed);
                var inspector = Desk.Inspect(asset);
                var before = new Stack<string>();
                for (var round = 0; round < 150; round++)
                {
                    var drawn = Desk.Draw(inspector);
                    var text = asset.Json;
                    var groups = Undo.Groups().Length;
                    if (random.Next(8) == 0 && before.Count > 0)
                    {
                        Undo.PerformUndo();
                        Check.Equal(before.Pop(), asset.Json, "seed " + seed + ", round " + round + ": the text after undo");
                        continue;
                    }
                    var control = Pick(drawn, random);
                    try
                    {
                        Desk.Do(inspector, control.Name, Value(control, random));
                    }
                    catch (Exception fault)
                    {
                        throw new Failed("seed " + seed + ", round " + round + ", " + control + ": " + fault + "\n" + text);
                    }
                    if (Undo.Groups().Length > groups)
                    {
                        before.Push(text);
                    }
                    else if (before.Count == 0)
                    {
                        Check.Equal(text, asset.Json, "seed " + seed + ", round " + round + ", " + control + ": an edit without undo");
                    }
                    Check.That(Undo.Groups().Length <= groups + 1, "seed " + seed + ", round " + round + ", " + control + ": one step");
                    asset.Read();
                }
                while (Undo.Groups().Length > 0)
                {
                    Undo.PerformUndo();
                }
                Check.Equal(Two, asset.Json, "seed " + seed + ": all undone");
            }
        }

        private static Drawn Pick(List<Drawn> drawn, Random random)
        {
            var others = new HashSet<string> { "Graph", "Test Chat", "Import…", "Export…", "Start Sidecar", "Validate Again", "" };
            var controls = drawn.FindAll(control =>
                control.Enabled && !others.Contains(control.Name) && !control.Name.EndsWith(".pick") && !control.Kind.StartsWith("begin")
                && !control.Kind.StartsWith("end") && !control.Kind.StartsWith("help") && control.Kind != "label" && control.Kind != "fill"
                && drawn.FindAll(other => other.Name == control.Name).Count == 1);
            return controls[random.Next(controls.Count)];
        }

        private static object Value(Drawn control, Random random)
        {
            var texts = new[] { "mira", "bram", "fresh", "a b", "", "{{slot.mira}} {{slot.bram}}", "user_message", "17", "-1", "[1, 2]", "{\"a\": 1.50}", "ünï 酒", "\"" };
            switch (control.Kind)
            {
                case "popup":
                    return control.Options[random.Next(control.Options.Length)];
                case "toggle":
                case "foldout":
                    return control.Value == "false";
                case "button":
                    return true;
                case "slider":
                case "int slider":
                case "double":
                    return (double)random.Next(-2, 30) / 4;
                default:
                    return texts[random.Next(texts.Length)];
            }
        }

        /// A name that another node has too is nobody's: only the node itself changes.
        [Test]
        private static void TheSecondOfTwoNamesakesIsRenamedAlone()
        {
            var text = "{\"start_node\": \"a\", \"nodes\": [{\"name\": \"a\", \"type\": \"Generate\"}, {\"name\": \"a\", \"type\": \"Generate\", \"default_exit\": \"a\"}]}";
            var asset = Desk.Workflow(text);
            var model = new WorkflowInspectorModel(new WorkflowAssetStore(asset));
            Check.That(model.Rename(1, "b"), "renamed");
            Check.Equal("a", (string)asset.Read()["start_node"], "the start stays with the first");
            Check.Equal("a", (string)asset.Read()["nodes"][0]["name"], "the first keeps its name");
            Check.Equal("b", (string)asset.Read()["nodes"][1]["name"], "the second");
            model.Refresh();
            Undo.PerformUndo();
            Check.That(model.Delete(1), "deleted");
            Check.Equal(1, ((JArray)asset.Read()["nodes"]).Count, "one is left");
            Check.Equal("a", (string)asset.Read()["start_node"], "the start stays");
        }

        private static string[] Names(DialogueCast cast)
        {
            var names = new List<string>();
            foreach (var speaker in cast.Speakers)
            {
                names.Add(speaker.NodeName);
            }
            return names.ToArray();
        }
    }
}
