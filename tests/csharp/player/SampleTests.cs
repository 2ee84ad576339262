// The tavern: built by its menu, played with mock models, and read off the screen.
using System;
using System.Collections.Generic;
using System.IO;
using Parley;
using Parley.Samples.Tavern;
using Parley.Samples.Tavern.Editor;
using UnityEditor;
using UnityEditor.SceneManagement;
using UnityEngine;
using UnityEngine.UIElements;

namespace PlayerTests
{
    internal static class SampleTests
    {
        private const string Imported = "Assets/Samples/Parley/Tavern";

        [Test]
        private static void TheTavernOpensAndTalks()
        {
            Stage.Project();
            Directory.SetCurrentDirectory(Stage.Folder);
            AssetDatabase.Assets[Imported + "/TavernScreen.cs"] = Named(new MonoScript(), "TavernScreen");
            AssetDatabase.Assets[Imported + "/Tavern.uss"] = Named(new StyleSheet(), "Tavern");
            AssetDatabase.Assets[Imported + "/TavernTheme.tss"] = Named(new ThemeStyleSheet(), "TavernTheme");
            TavernBuilder.OpenTavern();
            Check.Equal(0, EditorUtility.Dialogs.Count, string.Join(" ", EditorUtility.Dialogs.ToArray()));
            Check.Equal(TavernBuilder.AssetFolder + "/Tavern.unity", EditorSceneManager.OpenPath, "the scene");
            Check.That(
                File.Exists("Assets/StreamingAssets/Parley/storage/tavern/lore.records.json"), "the files that the workflow names");
            ParleyWorkflow workflow = AssetDatabase.LoadAssetAtPath<ParleyWorkflow>(TavernBuilder.AssetFolder + "/Tavern.asset");
            Check.That(workflow.Json.Contains("\"tavern/guardrail.txt\""), "are named where they are");
            workflow.Json = workflow.Json.Replace("starter-chat", "mock-chat");
            File.WriteAllText("Assets/StreamingAssets/Parley/storage/tavern/refusals.txt", "Changed by the designer.");
            TavernBuilder.OpenTavern();
            Check.That(workflow.Json.Contains("mock-chat"), "what was changed stays");
            Check.Equal(
                "Changed by the designer.", File.ReadAllText("Assets/StreamingAssets/Parley/storage/tavern/refusals.txt"), "files too");

            FakePlayerLoop.Play();
            VisualElement screen = null;
            ParleyAgent agent = null;
            foreach (MonoBehaviour script in FakeEngine.Scripts())
            {
                UIDocument document = script as UIDocument;
                screen = document != null ? document.rootVisualElement : screen;
                agent = script as ParleyAgent ?? agent;
            }
            Notes notes = new Notes(agent);
            ParleyVoice voice = agent.GetComponent<ParleyVoice>();
            FakeSpeaker speaker = new FakeSpeaker(voice.Source);
            List<string> spoken = new List<string>();
            voice.OnFinished.AddListener(delegate(string node) { spoken.Add(node); });
            Stage.UntilReady();
            Label status = screen.FakeQuery<Label>("tavern__status")[0];
            Check.Equal("", status.text, "the status");
            TextField input = screen.FakeQuery<TextField>("tavern__input")[0];
            input.value = "  Good evening. <b>What</b> is there to eat? ";
            input.FakeSend(KeyDownEvent.Fake(KeyCode.Return));
            Check.Equal("", input.value, "the line is taken");
            notes.UntilTurns(1);
            input.FakeSend(KeyDownEvent.Fake(KeyCode.Return));
            for (int i = 0; i < 2000; i++)
            {
                FakePlayerLoop.Frame(0.016f);
                speaker.Step(0.016);
            }
            Check.That(Texts(screen, "tavern__text").Count >= 1 + notes.Speakers.Count, "all begin");
            Check.That(spoken.Contains("mira") && spoken.Contains("bram") && !voice.IsSpeaking, "who spoke: " + string.Join(", ", spoken.ToArray()));
            List<string> names = Texts(screen, "tavern__name");
            List<string> texts = Texts(screen, "tavern__text");
            Check.Equal("Guest: Good evening. <b>What</b> is there to eat?", names[0] + ": " + texts[0], "the player's line");
            Check.That(names.Contains("Mira") && names.Contains("Bram") && names.Contains(""), "speakers: " + string.Join(", ", names.ToArray()));
            Check.That(texts.Contains("There is mutton stew."), "what is said: " + string.Join("|", texts.ToArray()));
            foreach (Label label in screen.FakeQuery<Label>("tavern__text"))
            {
                Check.That(!label.enableRichText, "what a model writes is no markup");
            }
            Parley.Samples.Tavern.TavernScreen shown = agent.GetComponent<Parley.Samples.Tavern.TavernScreen>();
            shown.enabled = false;
            ParleyHub.Instance.OnLost.Invoke("while it is off");
            shown.enabled = true;
            Check.Equal(texts.Count, Texts(screen, "tavern__text").Count, "a screen that was off shows what was said");
            ParleyHub.Instance.OnLost.Invoke("a fault");
            Check.That(screen.FakeQuery<Label>("tavern__status")[0].text.StartsWith("One moment"), "and goes on telling how it stands");
            Parley.Samples.Tavern.TavernScreen empty = new GameObject("Empty").AddComponent<Parley.Samples.Tavern.TavernScreen>();
            Check.That(!empty.enabled && Stage.CountLog(LogType.Error, "'Empty' needs an agent") == 1, "one that nobody set up says so");
            Check.Equal(0, Stage.CountLog(LogType.Exception, ""), "exceptions\n" + FakePlayerLoop.Log());
            FakePlayerLoop.Stop();
        }

        private static List<string> Texts(VisualElement screen, string look)
        {
            List<string> texts = new List<string>();
            foreach (Label label in screen.FakeQuery<Label>(look))
            {
                texts.Add(label.text);
            }
            return texts;
        }

        private static T Named<T>(T asset, string name) where T : UnityEngine.Object
        {
            asset.name = name;
            return asset;
        }
    }
}
