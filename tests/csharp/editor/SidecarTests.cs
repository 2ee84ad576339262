// The windows that talk to a sidecar, against a real one that the editor starts as a project would.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Editor;
using PlayerTests;
using UnityEditor;
using UnityEngine;
using UnityStubs;

namespace EditorTests
{
    internal static class SidecarTests
    {
        private const string Tavern =
            "{\"start_node\": \"mira\", \"default_model\": \"slow\", \"variables\": [{\"name\": \"level\", \"type\": \"int\", \"value\": 1}],\n"
            + " \"nodes\": [{\"name\": \"mira\", \"type\": \"Generate\", \"system_prompt\": \"Mira keeps the inn.\", \"default_exit\": \"note\"},\n"
            + "  {\"name\": \"note\", \"type\": \"Transform\", \"template\": \"level {{var.level}}\", \"send\": \"Whole\"}]}";

        private static TestChatWindow Begin(string workflow)
        {
            var window = TestChatWindow.Open(Desk.Workflow(workflow));
            GuiScript.Press("Begin");
            GuiScript.Frame(window.OnGUI);
            return window;
        }

        private static void Say(TestChatWindow window, string line)
        {
            Desk.Until(() => window.Chat.CanSay, "a line can be said");
            GuiScript.Do("parley line", line);
            GuiScript.Press("Say");
            GuiScript.Frame(window.OnGUI);
        }

        private static void Answered(TestChatWindow window, int turns)
        {
            Desk.Until(
                delegate
                {
                    GuiScript.Frame(window.OnGUI);
                    return window.Chat.Turns.Count >= turns && !window.Chat.IsBusy;
                },
                turns + " turns; it stands so: " + window.Chat.Status);
        }

        private static List<ChatLine> Of(TestChatWindow window, string node)
        {
            return window.Chat.Lines.FindAll(line => line.NodeName == node);
        }

        [Test]
        private static void SeveralSpeakersStreamOutsidePlayMode()
        {
            Desk.WithSidecar(delegate
            {
                var window = Begin(Tavern);
                var lengths = new List<int>();
                window.Chat.Changed += delegate
                {
                    foreach (var line in Of(window, "mira"))
                    {
                        if (lengths.Count == 0 || line.Text.Length > lengths[lengths.Count - 1])
                        {
                            lengths.Add(line.Text.Length);
                        }
                    }
                };
                Say(window, "Good evening.");
                Check.Equal("> Good evening.", GuiScript.Frame(window.OnGUI).Find(control => control.Value.StartsWith("> ")).Value, "the player's line");
                Answered(window, 1);
                Check.Equal("word0 word1 word2", Of(window, "mira")[0].Text.Substring(0, 17), "what mira says");
                Check.That(lengths.Count > 5, "it came bit by bit");
                Check.Equal("level 1", Of(window, "note")[0].Text, "who speaks next");
                Check.That(!window.Chat.Lines.Exists(line => line.IsOpen), "all lines are closed");
                Check.Equal("ready", window.Chat.Status, "the status");

                GuiScript.Do("variables", true);
                GuiScript.Do("variable level", "many");
                var drawn = GuiScript.Frame(window.OnGUI);
                Check.That(drawn.Exists(control => control.Kind == "help Warning" && control.Value.Contains("whole number")), "what is no number is refused");
                GuiScript.Do("variable level", "7");
                Say(window, "And now?");
                Answered(window, 2);
                Check.Equal("level 7", Of(window, "note")[1].Text, "the next turn knows the variable");
                Check.That(FakeEngine.Log.TrueForAll(line => line.Type != LogType.Error), "no error is logged");
            });
        }

        [Test]
        private static void CancelEndsTheTurnAndTheNextOneWorks()
        {
            Desk.WithSidecar(delegate
            {
                var window = Begin(Tavern);
                Say(window, "Tell me everything.");
                Desk.Until(() => Of(window, "mira").Count > 0, "the first word");
                GuiScript.Press("Cancel");
                GuiScript.Frame(window.OnGUI);
                Answered(window, 1);
                Check.Equal("Cancelled", window.Chat.Turns[0].Status, "the status of the turn");
                Check.That(window.Chat.Lines.Exists(line => line.Text == "cancelled"), "the chat says so");
                Check.That(!window.Chat.Lines.Exists(line => line.IsOpen), "all lines are closed");
                Say(window, "Good.");
                Answered(window, 2);
                Check.Equal("Success", window.Chat.Turns[1].Status, "the next turn");
            });
        }

        private static string SpeakersOf(string voice)
        {
            foreach (var model in EditorModels.Known)
            {
                if (model.Name == voice)
                {
                    return string.Join("|", new List<string>(model.Speakers).ToArray());
                }
            }
            return "";
        }

        [Test]
        private static void HowMuchSoundComesIsShown()
        {
            Desk.WithSidecar(delegate
            {
                var window = Begin(
                    "{\"start_node\": \"note\", \"nodes\": [{\"name\": \"note\", \"type\": \"Transform\", \"template\": \"Good evening, friend.\","
                    + " \"default_exit\": \"aloud\"}, {\"name\": \"aloud\", \"type\": \"Speak\", \"input\": \"note\", \"voice\": \"mock-voice\"}]}");
                Say(window, "Hello.");
                Answered(window, 1);
                var line = window.Chat.Lines.Find(one => one.Kind == ChatLineKind.Sound);
                Check.Equal("aloud: 1.3 s of sound", line.NodeName + ": " + line.Text, "21 letters of 60 ms");
                Check.That(!line.IsOpen, "it is whole");
                Desk.Until(() => SpeakersOf("mock-voice") == "low|middle|high", "inspectors know the voice's speakers");
                var drawn = GuiScript.Frame(window.OnGUI);
                Check.That(drawn.Exists(control => control.Value == "♪ aloud: 1.3 s of sound"), GuiScript.Shown(drawn));
            });
        }

        [Test]
        private static void ABrokenWorkflowTellsItsFindings()
        {
            Desk.WithSidecar(delegate
            {
                var window = Begin(Tavern.Replace("\"note\",", "\"nobody\",").Replace("{{var.level}}", "{{var.levle}}"));
                Desk.Until(() => window.Chat.Fault.Length > 0, "the workflow is refused");
                Check.That(window.Chat.Findings.Count >= 2, "findings");
                var drawn = GuiScript.Frame(window.OnGUI);
                Check.That(drawn.Exists(control => control.Kind == "help Error" && control.Value.Contains("levle")), GuiScript.Shown(drawn));
                Check.That(!GuiScript.Find(drawn, "Say").Enabled, "there is nobody to talk to");
            });
        }

        [Test]
        private static void EditsAreTakenWithTheDialog()
        {
            Desk.WithSidecar(delegate
            {
                var window = Begin(Tavern);
                Say(window, "My name is Ida.");
                Answered(window, 1);
                var asset = AssetDatabase.LoadAssetAtPath<ParleyWorkflow>("Assets/tavern.asset");
                Check.That(!GuiScript.Find(GuiScript.Frame(window.OnGUI), "Take Edits").Enabled, "nothing was edited");
                asset.Json = asset.Json.Replace("Mira keeps the inn.", "Mira keeps the harbour.");
                GuiScript.Press("Take Edits");
                GuiScript.Frame(window.OnGUI);
                Say(window, "Who am I?");
                Answered(window, 2);
                var prompt = window.Chat.Turns[1].Steps[0].Rendered;
                Check.That(prompt.Contains("Mira keeps the harbour.") && prompt.Contains("My name is Ida."), prompt);
            });
        }

        [Test]
        private static void ToolCallsAreAnsweredByHand()
        {
            Desk.WithSidecar(delegate
            {
                var window = Begin(
                    "{\"start_node\": \"door\", \"default_model\": \"calls\", \"nodes\": [{\"name\": \"door\", \"type\": \"ToolCall\", \"tool_call_format\": \"generic\","
                    + "\"tools\": [{\"name\": \"open_door\", \"description\": \"Opens a door.\", \"parameters\": {\"type\": \"object\", \"properties\": {\"door\": {\"type\": \"string\"}}}}],"
                    + "\"wait_for_result_s\": 20, \"tool_called_exit\": \"says\", \"no_tool_called_exit\": \"says\", \"send\": \"None\"},"
                    + "{\"name\": \"says\", \"type\": \"Transform\", \"template\": \"The door: {{slot.door}}\", \"send\": \"Whole\"}]}");
                Say(window, "Open the cellar.");
                Desk.Until(() => window.Chat.ToolCalls.Count > 0, "the call");
                GuiScript.Frame(window.OnGUI);
                GuiScript.Do("result " + window.Chat.ToolCalls[0].Call.CallId, "it is open");
                GuiScript.Press("Answer");
                GuiScript.Frame(window.OnGUI);
                Answered(window, 1);
                Check.Equal("The door: it is open", Of(window, "says")[0].Text, "what was made of the result");
            });
        }

        [Test]
        private static void ATurnIsLookedInto()
        {
            Desk.WithSidecar(delegate
            {
                var window = Begin(
                    "{\"start_node\": \"wish\", \"default_model\": \"slow\", \"nodes\": ["
                    + "{\"name\": \"wish\", \"type\": \"ClassifyIntentLLM\", \"threshold\": 0.1, \"margin\": 0, \"intents\": [{\"id\": \"room\", \"description\": \"asks what rooms cost\"}, "
                    + "{\"id\": \"food\", \"description\": \"is hungry\"}], \"found_exit\": \"lore\", \"not_found_exit\": \"lore\"},"
                    + "{\"name\": \"lore\", \"type\": \"Retrieve\", \"embedded_storage\": \"lore.json\", \"threshold\": 0, \"top_k\": 1, \"found_exit\": \"mira\", \"not_found_exit\": \"mira\"},"
                    + "{\"name\": \"mira\", \"type\": \"Generate\", \"max_tokens\": 20, \"template\": \"{{#knowledge_lore}}({{text}}) {{/knowledge_lore}}{{user_message}}\"}]}");
                Say(window, "What do rooms cost?");
                Answered(window, 1);
                GuiScript.Press("inspect " + window.Chat.Turns[0].TurnId);
                GuiScript.Frame(window.OnGUI);
                var inspector = TurnInspectorWindow.Open(null);
                GuiScript.Frame(inspector.OnGUI);
                var turn = inspector.Turn;
                Check.That(ReferenceEquals(turn, window.Chat.Turns[0]), "the last turn is shown by itself");
                Check.Equal(3, turn.Steps.Count, "steps");
                Check.Equal("room", turn.Steps[0].Chances[0].Label, "the likeliest label");
                Check.Equal(2, turn.Steps[0].Chances.Count, "labels");
                Check.That(turn.Steps[0].Chances[0].Probability > turn.Steps[0].Chances[1].Probability, "likeliest first");
                Check.Equal("r1", turn.Steps[1].Hits[0].Id, "the nearest passage");
                Check.That(turn.Steps[1].Hits[0].IsTaken, "it was taken");
                Check.That(turn.Steps[2].Rendered.Contains("(Rooms cost 3 silver.) What do rooms cost?"), turn.Steps[2].Rendered);
                Check.That(turn.Steps[2].Prompt.Count > 0 && turn.Steps[2].Usage.Exists(fact => fact.Name == "prompt_tokens"), "usage");
                Check.That(turn.Steps[2].Budget.Exists(fact => fact.Name == "prompt_budget"), "budget");
                Check.Equal("length", turn.Steps[2].Finish, "how it ended");
                var drawn = Desk.OpenAll(inspector.OnGUI);
                var shown = GuiScript.Shown(drawn);
                foreach (var text in new[] { "Rooms cost 3 silver.", "prompt_tokens", "context_size", "room", "r1", "slow, ended by length" })
                {
                    Check.That(shown.Contains(text), "'" + text + "' is shown:\n" + shown);
                }
                GuiScript.Press("Copy All");
                GuiScript.Frame(inspector.OnGUI);
                Check.That(EditorGUIUtility.systemCopyBuffer.Contains("Rooms cost 3 silver."), "the copy");
            });
        }

        [Test]
        private static void AReloadKeepsTheConversation()
        {
            Desk.WithSidecar(delegate
            {
                var window = Begin(Tavern);
                Say(window, "My name is Ida.");
                Answered(window, 1);
                var pid = EditorSidecar.Running.SidecarPid;

                AssemblyReloadEvents.Raise();
                Call(window, "OnDisable");
                Check.That(!EditorSidecar.IsThere, "all that was known is gone");
                typeof(EditorSidecar).TypeInitializer.Invoke(null, null);
                var again = ScriptableObject.CreateInstance<TestChatWindow>();
                foreach (var field in typeof(TestChatWindow).GetFields(BindingFlags.Instance | BindingFlags.NonPublic))
                {
                    if (field.IsDefined(typeof(SerializeField), false))
                    {
                        field.SetValue(again, field.GetValue(window));
                    }
                }
                Call(again, "OnEnable");
                Check.That(again.Chat != null, "the conversation goes on");
                Check.Equal("My name is Ida.", again.Chat.Lines[0].Text, "what was said");
                Check.Equal("mira", again.Chat.Lines[1].NodeName, "who answered");
                Say(again, "Who am I?");
                Answered(again, 1);
                Check.Equal(pid, EditorSidecar.Running.SidecarPid, "the sidecar is the same");
                Check.That(again.Chat.Turns[0].Steps[0].Rendered.Contains("My name is Ida."), "the character remembers");
                Check.That(!again.Chat.IsStale(AssetDatabase.LoadAssetAtPath<ParleyWorkflow>("Assets/tavern.asset").Json), "no edit");
            });
        }

        [Test]
        private static void TheSidecarIsTakenUpOnceAssetsAreThere()
        {
            Desk.WithSidecar(delegate
            {
                var pid = 0;
                EditorSidecar.Start();
                Desk.Until(() => (pid = EditorSidecar.Running.SidecarPid) > 0 && EditorSidecar.Running.State == CoreState.Ready, "it is there");
                var settings = FakeEngine.ResourceByPath[ParleySettings.ResourceName];
                AssetDatabaseIsGone();
                Check.Equal(0, Asked(), "while scripts are loaded no asset is asked for");
                AssetDatabaseIsGone();
                Check.Equal(0, Asked(), "nor when that comes twice");
                FakeEngine.ResourceByPath[ParleySettings.ResourceName] = settings;
                EditorApplication.delayCall();
                EditorApplication.delayCall = null;
                Desk.Until(() => EditorSidecar.IsThere && EditorSidecar.Running.State == CoreState.Ready, "it goes on");
                Check.Equal(pid, EditorSidecar.Running.SidecarPid, "the same");
                EditorSidecar.Stop();
                Check.That(!EditorSidecar.IsThere, "and ends");
            });
        }

        private static void AssetDatabaseIsGone()
        {
            AssemblyReloadEvents.Raise();
            FakeEngine.ResourceByPath.Clear();
            FakeEngine.ResourcesAsked = 0;
            typeof(EditorSidecar).TypeInitializer.Invoke(null, null);
        }

        private static int Asked()
        {
            return FakeEngine.ResourcesAsked;
        }

        private static void Call(object target, string method)
        {
            target.GetType().GetMethod(method, BindingFlags.Instance | BindingFlags.NonPublic).Invoke(target, null);
        }

        [Test]
        private static void WithoutASidecarItSaysWhatToDo()
        {
            var settings = Desk.Settings();
            var command = settings.EditorCommand.ToArray();
            settings.EditorCommand.Clear();
            settings.EditorCommand.Add(Path.Combine(Desk.Text("folder"), "no-such-program"));
            var window = Begin(Tavern);
            try
            {
                Desk.Until(
                    delegate
                    {
                        var drawn = GuiScript.Frame(window.OnGUI);
                        return GuiScript.Shown(drawn).Contains("no-such-program");
                    },
                    "the missing program is told");
                settings.EditorCommand.Clear();
                settings.EditorCommand.AddRange(command);
                GuiScript.Press("Begin Anew");
                GuiScript.Frame(window.OnGUI);
                Say(window, "Good evening.");
                Answered(window, 1);
                Check.Equal("Success", window.Chat.Turns[0].Status, "with better settings it works");
            }
            finally
            {
                EditorSidecar.Stop();
            }
        }

        [Test]
        private static void TheSidecarsFindingsStandInTheInspector()
        {
            Desk.WithSidecar(delegate
            {
                var asset = Desk.Workflow(Tavern.Replace("{{var.level}}", "{{var.levle}}"));
                var inspector = Desk.Inspect(asset);
                Desk.OpenAll(inspector.OnInspectorGUI);
                Check.Equal(0, inspector.Model.Found.ErrorCount, "at first sight there is nothing wrong");
                GuiScript.Press("Start Sidecar");
                Desk.Draw(inspector);
                Desk.Until(() => inspector.Model.IsValidated, "the sidecar has looked");
                var drawn = Desk.Draw(inspector);
                Check.That(drawn.Exists(control => control.Kind == "help Error" && control.Value.Contains("levle")), "its finding is shown");
                Check.Equal(1, inspector.Model.Nodes[1].Field("template").Findings.Count, "at its field");
                Check.That(GuiScript.Shown(drawn).Contains("1 errors, 0 warnings by the sidecar"), "and counted");
                Check.Equal("popup", GuiScript.Find(drawn, "$.default_model").Kind, "models are picked now");

                Desk.Do(inspector, "$.nodes[1].template", "level {{var.level}}");
                Check.That(!inspector.Model.IsValidated, "an edit is a new text");
                Desk.Until(() => inspector.Model.IsValidated, "the sidecar has looked again");
                Check.Equal(0, inspector.Model.Found.ErrorCount, "nothing is wrong any more");
                Undo.PerformUndo();
                Desk.Draw(inspector);
                Desk.Until(() => inspector.Model.IsValidated, "undo is looked at too");
                Check.Equal(1, inspector.Model.Found.ErrorCount, "it is wrong again");
            });
        }

        [Test]
        private static void TheSidecarsFindingsStandInTheGraph()
        {
            Desk.WithSidecar(delegate
            {
                const string Right = "{\"start_node\": \"note\", \"variables\": [{\"name\": \"level\", \"type\": \"int\", \"value\": 1}],"
                    + " \"nodes\": [{\"name\": \"note\", \"type\": \"Transform\", \"template\": \"{{var.level}}\"}]}";
                var asset = Desk.Workflow(Right.Replace("{{var.level}}", "{{var.levle}}"));
                var window = WorkflowGraphWindow.Open(asset);
                Call(window, "OnEnable");
                EditorSidecar.Start();
                Shown(window, "✖ 1", true);
                var box = window.Graph.Boxes[0];
                GuiScript.Frame(window.OnGUI, new Event { type = EventType.MouseDown, mousePosition = new Vector2(box.X + 60f, box.Y + 9f) });
                GuiScript.Frame(window.OnGUI, new Event { type = EventType.MouseUp, mousePosition = new Vector2(box.X + 60f, box.Y + 9f) });
                var drawn = GuiScript.Frame(window.OnGUI);
                Check.That(drawn.Exists(control => control.Kind == "help Error" && control.Value.Contains("levle")), GuiScript.Shown(drawn));
                GuiScript.Do("$.nodes[0].template", "{{var.level}}");
                GuiScript.Frame(window.OnGUI);
                Check.Equal(Right, asset.Json, "the edit");
                Shown(window, "✖", false);
                Undo.PerformUndo();
                Shown(window, "✖ 1", true);
            });
        }

        private static void Shown(WorkflowGraphWindow window, string badge, bool isThere)
        {
            Desk.Until(
                () => GuiScript.Shown(GuiScript.Frame(window.OnGUI)).Contains(badge) == isThere, badge + (isThere ? " is shown" : " is gone"));
        }

        [Test]
        private static void ModelsAreListedAndLoaded()
        {
            Desk.WithSidecar(delegate
            {
                ParleySettings.Load().LogLevel = LogLevel.Info;
                var window = ModelManagerWindow.Open();
                GuiScript.Frame(window.OnGUI);
                GuiScript.Press("Show Models");
                GuiScript.Frame(window.OnGUI);
                Desk.Until(() => window.Models.Find("slow") != null, "the list");
                GuiScript.Press("Load slow");
                GuiScript.Frame(window.OnGUI);
                Desk.Until(() => window.Models.Find("slow").Info.Status == Parley.Messages.ModelStatus.Loaded, "it is loaded");
                Check.That(window.Models.Find("slow").IsPinned, "and kept");
                Check.That(EditorModelsKnow("slow"), "inspectors know it");
                GuiScript.Press("Unload slow");
                GuiScript.Frame(window.OnGUI);
                Desk.Until(() => window.Models.Find("slow").Task.Length == 0 && !window.Models.Find("slow").IsPinned, "it is let go");
                Check.That(
                    FakeEngine.Log.Exists(line => line.Type == LogType.Log && line.Message.StartsWith("[Parley] ") && line.Message.Contains(" INFO ")),
                    "the sidecar's log is in the editor's");
            });
        }

        private static bool EditorModelsKnow(string name)
        {
            foreach (var model in EditorModels.Known)
            {
                if (model.Name == name)
                {
                    return true;
                }
            }
            return false;
        }

        /// The hub holds the first download back until the file `cancelled` is there.
        [Test]
        private static void ModelsAreDownloadedCancelledCheckedAndRemoved()
        {
            Desk.WithSidecar(delegate
            {
                var window = ModelManagerWindow.Open();
                window.Ask();
                Desk.Until(() => window.Models.Find("hub-model") != null, "the list");
                var row = window.Models.Find("hub-model");
                GuiScript.Press("Download hub-model");
                var drawn = GuiScript.Frame(window.OnGUI);
                Check.That(!GuiScript.Find(drawn, "Download hub-model").Enabled, "once is enough");
                Desk.Until(() => row.Done > 0 && row.Total > row.Done, "some of it has come");
                drawn = GuiScript.Frame(window.OnGUI);
                var bar = drawn.Find(control => control.Kind == "progress");
                Check.That(bar != null && bar.Label.StartsWith("download "), "the progress is shown");
                GuiScript.Press("Cancel hub-model");
                GuiScript.Frame(window.OnGUI);
                Desk.Until(() => row.Task.Length == 0, "it has stopped");
                Check.That(row.HasFailed && row.Outcome.Length > 0, "and says so");
                File.WriteAllText(Desk.Text("cancelled"), "");

                Desk.Until(() => row.CanDownload, "it can be had again");
                GuiScript.Press("Download hub-model");
                GuiScript.Frame(window.OnGUI);
                Desk.Until(() => row.Task.Length == 0 && row.Info.Status == Parley.Messages.ModelStatus.Downloaded, "it is there; " + row.Outcome);
                GuiScript.Press("Verify hub-model");
                GuiScript.Frame(window.OnGUI);
                Desk.Until(() => row.Task.Length == 0 && row.Outcome.Length > 0, "it is checked");
                Check.Equal("hub-model: ok", row.Outcome, "what the check says");
                Check.That(!row.HasFailed, "it is whole");

                File.WriteAllText(Desk.Text("model_file"), "no model at all");
                GuiScript.Press("Verify hub-model");
                GuiScript.Frame(window.OnGUI);
                Desk.Until(() => row.Task.Length == 0 && row.HasFailed, "the damage is found");
                Check.That(row.Outcome.Contains("bytes"), row.Outcome);

                EditorUtility.DialogAnswer = false;
                Desk.Until(() => row.CanDelete, "it can be removed");
                GuiScript.Press("Delete hub-model");
                GuiScript.Frame(window.OnGUI);
                Check.That(File.Exists(Desk.Text("model_file")), "not without a yes");
                EditorUtility.DialogAnswer = true;
                GuiScript.Press("Delete hub-model");
                GuiScript.Frame(window.OnGUI);
                Desk.Until(() => row.Info.Status == Parley.Messages.ModelStatus.Absent && row.Task.Length == 0, "it is gone");
                Check.That(!File.Exists(Desk.Text("model_file")), "its file too");
            });
        }

        [Test]
        private static void SettingsAreMadeAndEdited()
        {
            Desk.Settings();
            FakeEngine.ResourceByPath.Clear();
            var folder = Directory.GetCurrentDirectory();
            Directory.SetCurrentDirectory(Desk.Text("folder"));
            try
            {
                var provider = ParleySettingsProvider.Create();
                Check.Equal("Project/Parley", provider.settingsPath, "where they stand");
                GuiScript.Press("Make Settings");
                GuiScript.Frame(delegate { provider.guiHandler(""); });
                var settings = ParleySettingsProvider.Find();
                Check.That(settings != null, "the asset is there");
                Check.That(ReferenceEquals(settings, ParleySettingsProvider.FindOrMake()), "and is made once");
                GuiScript.Do("autoLaunch", false);
                GuiScript.Do("endpoint", "tcp://127.0.0.1:5600");
                var drawn = GuiScript.Frame(delegate { provider.guiHandler(""); });
                Check.Equal("tcp://127.0.0.1:5600", settings.Endpoint, "the endpoint");
                Check.That(GuiScript.Shown(drawn).Contains("connects to tcp://127.0.0.1:5600"), "what the editor does");
                Undo.PerformUndo();
                Undo.PerformUndo();
                Check.That(settings.AutoLaunch && settings.Endpoint.Length == 0, "undone");
                settings.SidecarFolder = "nowhere";
                drawn = GuiScript.Frame(delegate { provider.guiHandler(""); });
                Check.That(GuiScript.Shown(drawn).Contains("parley"), "what would be started");
            }
            finally
            {
                Directory.SetCurrentDirectory(folder);
            }
        }

        [Test]
        private static void TurnsFromElsewhereAreShownAsFarAsTheyGo()
        {
            var window = TurnInspectorWindow.Open(null);
            GuiScript.Frame(window.OnGUI);
            foreach (var text in new[]
            {
                "", "[]", "{", "{}", "{\"debug\": 3}", "{\"debug\": {\"steps\": [1, {}, {\"input\": [], \"usage\": 4, \"details\": {\"probabilities\": {\"a\": {\"b\": {\"c\": 1}}, \"d\": \"e\"}, \"hits\": [1, {}], \"nearest\": 5}}], \"slots\": [], \"attributes\": {\"x\": [1]}, \"warnings\": [{}, null]}}",
                "{\"type\": \"TurnComplete\", \"body\": {\"turn_id\": 4, \"status\": \"Error\", \"error\": {\"code\": 4001, \"name\": \"InferenceFailed\", \"message\": \"no\"}}}",
                new JObject { { "debug", new JObject { { "slots", new JObject { { "long", new string('x', 200000) } } } } } }.ToString()
            })
            {
                EditorGUIUtility.systemCopyBuffer = text;
                GuiScript.Press("From Clipboard");
                foreach (var control in Desk.OpenAll(window.OnGUI))
                {
                    Check.That(control.Value.Length < 16000, "texts that Unity can draw");
                }
            }
        }
    }
}
