// DialogueView and agents without a sidecar: what designers and scenes do to them.
using System;
using System.Collections.Generic;
using System.Threading.Tasks;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;
using UnityEngine;

namespace PlayerTests
{
    internal static class ViewTests
    {
        private static ParleyAgent Play(string name)
        {
            ParleySettings settings = ScriptableObject.CreateInstance<ParleySettings>();
            settings.AutoLaunch = false;
            FakeEngine.ResourceByPath[ParleySettings.ResourceName] = settings;
            FakePlayerLoop.Play();
            return Agent(name);
        }

        private static ParleyAgent Agent(string name)
        {
            ParleyAgent agent = new GameObject(name).AddComponent<ParleyAgent>();
            agent.Workflow = ParleyWorkflow.Create(ParleyWorkflow.EmptyJson);
            return agent;
        }

        private static void Answer(ParleyAgent agent, long turn, string text, bool isFinal)
        {
            SpeakerTests.Invoke(agent, "TakeAnswer", new AnswerText
            {
                AgentId = "a", TurnId = turn, Step = 1, NodeName = "mira", Text = text, IsDelta = true, IsFinal = isFinal,
            });
        }

        private static void Show(DialogueView view)
        {
            for (int i = 0; i < 200 && !view.IsIdle; i++)
            {
                FakePlayerLoop.Frame(0.05f);
            }
        }

        [Test]
        private static void AViewThatWasOffInTheMiddleOfALineGoesOn()
        {
            ParleyAgent agent = Play("Inn");
            DialogueView view = agent.gameObject.AddComponent<DialogueView>();
            Answer(agent, 1, "Welcome, trav", false);
            FakePlayerLoop.Frame(0.05f);
            agent.gameObject.SetActive(false);
            Answer(agent, 1, "eller.", true);
            agent.gameObject.SetActive(true);
            Answer(agent, 2, "What will it be?", true);
            Show(view);
            Check.That(view.IsIdle, "nothing waits for a line that nobody heard the end of");
            Check.Equal("[mira] Welcome, trav\n[mira] What will it be?\n", view.Transcript(), "what is shown");
            FakePlayerLoop.Stop();
        }

        /// <summary>A character whose node has a voice, and a view that follows it.</summary>
        private static DialogueView Voiced(out ParleyAgent agent, out ParleyVoice voice, out FakeSpeaker speaker)
        {
            agent = Play("Inn");
            agent.Workflow = ParleyWorkflow.Create(
                "{\"start_node\": \"mira\", \"nodes\": [{\"name\": \"mira\", \"type\": \"GenerateAndSpeak\", \"voice\": \"deep\"}, "
                + "{\"name\": \"bram\", \"type\": \"Generate\"}]}");
            voice = agent.gameObject.AddComponent<ParleyVoice>();
            voice.Source = agent.gameObject.AddComponent<AudioSource>();
            speaker = new FakeSpeaker(voice.Source);
            DialogueView view = agent.gameObject.AddComponent<DialogueView>();
            view.FollowVoice = true;
            view.CharactersPerSecond = 0;
            FakePlayerLoop.Frame(0.016f);
            return view;
        }

        private static void Voice(ParleyVoice voice, long turn, int index, string text, int samples, bool isFinal)
        {
            if (index == 0)
            {
                voice.Take(new AudioFormat { TurnId = turn, NodeName = "mira", SampleRate = 8000 });
            }
            voice.Take(new AudioChunk { TurnId = turn, NodeName = "mira", Index = index, Text = text, IsFinal = isFinal }, new byte[2 * samples]);
        }

        private static void Run(FakeSpeaker speaker, double seconds)
        {
            for (double clock = 0; clock < seconds; clock += 0.016)
            {
                FakePlayerLoop.Frame(0.016f);
                speaker.Step(0.016);
            }
        }

        [Test]
        private static void AViewMayFollowAVoice()
        {
            ParleyAgent agent;
            ParleyVoice voice;
            FakeSpeaker speaker;
            DialogueView view = Voiced(out agent, out voice, out speaker);
            Answer(agent, 1, "Sit down. Eat", false);
            Answer(agent, 1, "! Drink.", true);
            Run(speaker, 2);
            Check.Equal("", view.Lines[0].Shown, "nothing is heard yet");
            Voice(voice, 1, 0, "Sit down. ", 8000, false);
            Voice(voice, 1, 1, "Eat! ", 8000, false);
            Voice(voice, 1, 2, "Drink.", 8000, true);
            Run(speaker, 0.5);
            Check.Equal("Sit down. ", view.Lines[0].Shown, "the first sentence is heard");
            Run(speaker, 1);
            Check.Equal("Sit down. Eat! ", view.Lines[0].Shown, "and the second");
            voice.Stop();
            Run(speaker, 0.1);
            Check.Equal("Sit down. Eat! Drink.", view.Lines[0].Shown, "a voice that is stopped holds nothing back");
            Check.That(view.IsIdle, "it is whole");

            Answer(agent, 2, "Sit down. Eat!", true);
            Voice(voice, 2, 0, "Sit down. ", 8000, false);
            Voice(voice, 2, 1, "Eat!", 8000, true);
            Run(speaker, 0.5);
            Check.Equal("Sit down. ", view.Lines[1].Shown, "the next turn");
            view.Skip();
            Check.Equal("Sit down. Eat!", view.Lines[1].Shown, "who presses the button need not listen");
            Run(speaker, 0.5);
            Check.Equal("Sit down. Eat!", view.Lines[1].Shown, "and it stays");
            voice.Stop();

            view.CharactersPerSecond = 20;
            Run(speaker, 0.1);
            Answer(agent, 3, "Sit down. Eat!", true);
            Voice(voice, 3, 0, "Sit down. ", 16000, false);
            Voice(voice, 3, 1, "Eat!", 8000, true);
            Answer(agent, 4, "Drink!", true);
            Voice(voice, 4, 0, "Drink!", 8000, true);
            Run(speaker, 0.3);
            Check.That(view.Lines[2].Shown.Length > 2 && view.Lines[2].Shown.Length < 9, "letter by letter: " + view.Lines[2].Shown);
            Run(speaker, 1.2);
            Check.Equal("Sit down. ", view.Lines[2].Shown, "but not ahead of the voice");
            voice.Stop();
            Run(speaker, 1.2);
            Check.Equal("Sit down. Eat!|Drink!", view.Lines[2].Shown + "|" + view.Lines[3].Shown, "lines that are not heard any more do not wait");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void AViewThatFollowsAVoiceWaitsForNoneThatNeverComes()
        {
            ParleyAgent agent;
            ParleyVoice voice;
            FakeSpeaker speaker;
            DialogueView view = Voiced(out agent, out voice, out speaker);
            Answer(agent, 1, "Sit down.", true);
            Run(speaker, 2.5);
            Check.Equal("", view.Lines[0].Shown, "it waits");
            Run(speaker, 1);
            Check.Equal("Sit down.", view.Lines[0].Shown, "but not for ever");

            Answer(agent, 2, "Eat", false);
            Run(speaker, 4);
            Check.Equal("", view.Lines[1].Shown, "what is not whole may still be spoken");
            SpeakerTests.Invoke(agent, "TakeEnd", new TurnComplete { AgentId = "", TurnId = 2, Status = TurnStatus.Success });
            Run(speaker, 0.1);
            Check.Equal("Eat", view.Lines[1].Shown, "the turn is over, so no sound comes");

            view.FollowVoice = false;
            Answer(agent, 3, "Drink.", true);
            Run(speaker, 0.1);
            Check.Equal("Drink.", view.Lines[2].Shown, "a view that does not follow");
            view.FollowVoice = true;
            SpeakerTests.Invoke(
                agent, "TakeAnswer", new AnswerText { TurnId = 4, Step = 1, NodeName = "bram", Text = "Ho!", IsDelta = true, IsFinal = true });
            Run(speaker, 0.1);
            Check.Equal("Ho!", view.Lines[3].Shown, "one who has no voice");
            voice.enabled = false;
            Answer(agent, 5, "Rest.", true);
            Run(speaker, 0.1);
            Check.Equal("Rest.", view.Lines[4].Shown, "a voice that is off");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void AnAgentThatIsIgnoredHoldsNobodyUp()
        {
            ParleyAgent agent = Play("Inn");
            ParleyAgent guard = Agent("Guard");
            DialogueView view = new GameObject("View").AddComponent<DialogueView>();
            view.Listen(agent);
            view.Listen(guard);
            Answer(agent, 1, "I was go", false);
            FakePlayerLoop.Frame(0.05f);
            Answer(guard, 1, "Halt!", true);
            view.Ignore(agent);
            Show(view);
            Check.Equal("[mira] I was go\n[mira] Halt!\n", view.Transcript(), "what is shown");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void ThePlayersLinesAreShownWhereTheyAreWanted()
        {
            ParleyAgent agent = Play("Inn");
            ParleyAgent guard = Agent("Guard");
            DialogueView view = new GameObject("View").AddComponent<DialogueView>();
            view.Listen(agent);
            view.Listen(guard);
            view.ShowPlayer = false;
            Check.Equal(SayOutcome.Queued, agent.TrySay("Good evening!"), "a line");
            Check.Equal(0, view.Lines.Count, "lines of a player who is not to be shown");
            view.ShowPlayer = true;
            view.PlayerName = "Anna";
            Check.Equal(SayOutcome.Queued, guard.TrySay("Open the gate."), "another line");
            Show(view);
            Check.Equal("[Anna] Open the gate.\n", view.Transcript(), "what is shown");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void AgentsThatComeAndGoAreForgotten()
        {
            Play("Inn");
            DialogueView view = new GameObject("View").AddComponent<DialogueView>();
            for (int i = 0; i < 20; i++)
            {
                ParleyAgent passer = Agent("Passer-by");
                view.Listen(passer);
                UnityEngine.Object.Destroy(passer.gameObject);
                FakePlayerLoop.Frame(0.05f);
            }
            foreach (string list in new[] { "agents", "_listeners" })
            {
                object kept = typeof(DialogueView).GetField(
                    list, System.Reflection.BindingFlags.Instance | System.Reflection.BindingFlags.NonPublic).GetValue(view);
                int count = ((System.Collections.ICollection)kept).Count;
                Check.That(count <= 1, list + " keeps " + count);
            }
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void AnyNameFormatIsShown()
        {
            ParleyAgent agent = Play("Inn");
            DialogueView view = agent.gameObject.AddComponent<DialogueView>();
            Answer(agent, 1, "Welcome.", true);
            Show(view);
            string[] formats = { "{0}:", "{1}", "{", "{0", "{0} {0}", "" };
            string[] headings = { "mira:", "{1}", "{", "{0", "mira mira", "" };
            for (int i = 0; i < formats.Length; i++)
            {
                typeof(DialogueView).GetField(
                    "nameFormat", System.Reflection.BindingFlags.Instance | System.Reflection.BindingFlags.NonPublic).SetValue(view, formats[i]);
                Check.Equal(headings[i], view.HeadingOf(view.Lines[0]), formats[i]);
            }
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void ALineThatIsNotTakenIsAnError()
        {
            ParleyAgent agent = Play("Inn");
            Notes notes = new Notes(agent);
            agent.enabled = false;
            agent.Say("Hello");
            Check.Equal("AgentDisabled", notes.Errors[0].CodeName, "an agent that was never on");
            agent.enabled = true;
            ParleyHub hub = ParleyHub.Get();
            UnityEngine.Object.DestroyImmediate(hub.gameObject);
            ParleyHub off = NewOff();
            agent.Say("Hello");
            Check.Equal(2, notes.Errors.Count, "a hub that is off");
            Check.That(notes.Errors[1].Message.Contains("the Parley Hub on 'Off' is off"), notes.Errors[1].Message);
            agent.ChangeParams("mira", new JObject());
            agent.LoadDialog("{}");
            agent.SaveDialog(delegate { });
            Check.Equal(5, notes.Errors.Count, "and all else that cannot be done");
            Task<TurnComplete> refused = agent.SayAsync("Hello");
            Check.That(refused.Exception.InnerException.Message.Contains("is off"), "a task says it too");
            off.StartSidecar();
            off.StopSidecar();
            off.Connect("tcp://127.0.0.1:9", "");
            Check.Equal(3, Stage.CountLog(LogType.Warning, "has no part in the game"), "buttons of a hub that is off");
            off.enabled = true;
            Check.Equal(SayOutcome.Queued, agent.TrySay("Hello"), "once it is on");
            FakePlayerLoop.Stop();
        }

        private static ParleyHub NewOff()
        {
            GameObject owner = new GameObject("Off");
            owner.SetActive(false);
            ParleyHub off = owner.AddComponent<ParleyHub>();
            off.enabled = false;
            owner.SetActive(true);
            return off;
        }

        /// <summary>Says something when it is destroyed, as the scripts of a game may.</summary>
        internal sealed class LastWords : MonoBehaviour
        {
            internal ParleyAgent Agent;

            private void OnDestroy()
            {
                ParleyHub.Get();
                Agent.TrySay("Farewell");
            }
        }

        [Test]
        private static void NoHubIsMadeWhileTheGameEnds()
        {
            ParleyAgent agent = Play("Inn");
            FakePlayerLoop.Frame(0.01f);
            LastWords script = new GameObject("Last").AddComponent<LastWords>();
            script.Agent = agent;
            ParleyHub.Instance.enabled = false;
            ParleyHub.Instance.transform.SetParent(null, true);
            FakePlayerLoop.Stop();
            Check.Equal(0, FakeEngine.Scene.Count, "objects that are left");
            Check.That(ParleyHub.Instance == null, "the hub is gone");
        }

        [Test]
        private static void TwoScenesWithAHubEachHaveOne()
        {
            ParleyAgent agent = Play("Inn");
            ParleyHub first = ParleyHub.Get();
            // A scene that is added: its hub lies below another object, and an agent with it.
            GameObject root = new GameObject("Second scene");
            ParleyHub second = new GameObject("Hub").AddComponent<ParleyHub>();
            second.transform.SetParent(root.transform, true);
            ParleyAgent other = Agent("Other");
            FakePlayerLoop.Frame(0.01f);
            Check.That(second == null && ReferenceEquals(ParleyHub.Instance, first), "the first stays");
            Check.That(agent.Agent != null && other.Agent != null, "both talk by it");
            Check.Equal(2, new List<CoreAgent>(first.Core.Agents).Count, "agents");
            UnityEngine.Object.Destroy(root);
            UnityEngine.Object.Destroy(other.gameObject);
            FakePlayerLoop.Frame(0.01f);
            Check.Equal(1, new List<CoreAgent>(first.Core.Agents).Count, "agents once it is unloaded");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void CopiesOfAPrefabAreCharactersOfTheirOwn()
        {
            Play("Inn");
            GameObject prefab = new GameObject("Villager");
            prefab.SetActive(false);
            ParleyAgent pattern = prefab.AddComponent<ParleyAgent>();
            pattern.Workflow = ParleyWorkflow.Create(ParleyWorkflow.EmptyJson);
            prefab.AddComponent<DialogueView>().Listen(pattern);
            List<ParleyAgent> villagers = new List<ParleyAgent>();
            for (int i = 0; i < 30; i++)
            {
                GameObject one = UnityEngine.Object.Instantiate(prefab);
                one.SetActive(true);
                villagers.Add(one.GetComponent<ParleyAgent>());
            }
            FakePlayerLoop.Frame(0.01f);
            HashSet<string> keys = new HashSet<string>();
            foreach (ParleyAgent villager in villagers)
            {
                keys.Add(villager.Agent.Key);
                Answer(villager, 1, villager.name, true);
            }
            Check.Equal(30, keys.Count, "conversations");
            Check.That(pattern.Agent == null, "the prefab is none");
            foreach (ParleyAgent villager in villagers)
            {
                Show(villager.GetComponent<DialogueView>());
                Check.Equal("[mira] Villager(Clone)\n", villager.GetComponent<DialogueView>().Transcript(), "each view has its own");
                UnityEngine.Object.Destroy(villager.gameObject);
            }
            FakePlayerLoop.Frame(0.01f);
            Check.Equal(1, new List<CoreAgent>(ParleyHub.Instance.Core.Agents).Count, "none is left behind");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void LongAnswersAreTakenAsFastAsShortOnes()
        {
            double[] best = { double.MaxValue, double.MaxValue };
            int[] counts = { 200, 1600 };
            for (int round = 0; round < 5; round++)
            {
                for (int size = 0; size < 2; size++)
                {
                    DialogueLines lines = new DialogueLines();
                    System.Diagnostics.Stopwatch clock = System.Diagnostics.Stopwatch.StartNew();
                    for (int i = 0; i < counts[size]; i++)
                    {
                        lines.Take("a", 1, 1, "mira", " wörd 🙂", true, i == counts[size] - 1);
                    }
                    lines.Advance(0.016);
                    best[size] = Math.Min(best[size], clock.Elapsed.TotalMilliseconds * 200 / counts[size]);
                }
            }
            Console.WriteLine("200 frames: " + best[0].ToString("F3") + " ms; of a long answer: " + best[1].ToString("F3") + " ms");
            Check.That(best[0] < 1, "200 frames took " + best[0] + " ms");
            Check.That(best[1] < 4, "200 frames of a long answer took " + best[1] + " ms");
        }

        [Test]
        private static void WhatWasNeverActiveLeavesNoConversation()
        {
            ParleyAgent agent = Play("Inn");
            FakePlayerLoop.Frame(0.01f);
            GameObject pooled = new GameObject("Pooled");
            pooled.SetActive(false);
            ParleyAgent asleep = pooled.AddComponent<ParleyAgent>();
            asleep.Workflow = ParleyWorkflow.Create(ParleyWorkflow.EmptyJson);
            asleep.LoadDialog("[]");
            Check.Equal(2, new List<CoreAgent>(ParleyHub.Instance.Core.Agents).Count, "its dialog is loaded");
            Check.That(asleep.Agent != null, "so it has a conversation");
            UnityEngine.Object.Destroy(pooled);
            FakePlayerLoop.Frame(0.01f);
            FakePlayerLoop.Frame(0.01f);
            Check.Equal(1, new List<CoreAgent>(ParleyHub.Instance.Core.Agents).Count, "conversations that are left");
            Check.That(agent.Agent != null, "the other has its own");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void AListenerMayRemoveItself()
        {
            ParleyAgent agent = Play("Inn");
            int first = 0;
            int second = 0;
            UnityEngine.Events.UnityAction<string, string, bool> once = null;
            once = delegate
            {
                first++;
                agent.OnAnswer.RemoveListener(once);
            };
            agent.OnAnswer.AddListener(once);
            agent.OnAnswer.AddListener(delegate { second++; });
            Answer(agent, 1, "a", false);
            Answer(agent, 1, "b", true);
            Check.That(first == 1 && second == 2, "calls: " + first + " and " + second);
            FakePlayerLoop.Stop();
        }
    }
}
