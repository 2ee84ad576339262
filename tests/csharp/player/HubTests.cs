// Hub and agents in a game's loop, with a real sidecar where it matters.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Threading;
using System.Threading.Tasks;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;
using UnityEngine;

namespace PlayerTests
{
    internal static class HubTests
    {
        /// <summary>No frame may take so long.</summary>
        private const double LongestMs = 50;

        /// <summary>Nor one of the first ones of a program that is compiled while it runs.</summary>
        private const double LongestFirstMs = 250;
        private const int FirstFrames = 10;

        /// <summary>How many empty drains may be as long as one of 200 frames.</summary>
        private const double MostEmptyDrains = 20000;

        [Test]
        private static void TwoAgentsOnOneHub()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent inn = Stage.Character("Inn", "inn");
            ParleyAgent guard = Stage.Character("Guard", "guard");
            Notes ofInn = new Notes(inn);
            Notes ofGuard = new Notes(guard);
            Check.Equal(SayOutcome.Queued, inn.TrySay("Good evening!"), "a line before there is a sidecar");
            guard.Say("Open the gate.");
            ofInn.UntilTurns(1);
            ofGuard.UntilTurns(1);
            Check.Equal("Welcome, traveller.|Ho there!|The fire cracks.|", ofInn.Text.ToString(), "the inn");
            Check.Texts(ofInn.Speakers, "speakers of the inn", "mira", "bram", "narrator");
            Check.Equal("Halt!|", ofGuard.Text.ToString(), "the guard");
            Check.Equal(TurnStatus.Success, ofInn.Turns[0].Status, "the turn");
            Check.That(ofInn.Frames > 4, "it was streamed");
            Check.Equal(0, ofInn.Errors.Count + ofGuard.Errors.Count, "errors");
            Check.Equal(1, UnityEngine.FakeEngine.Scripts().FindAll(delegate(MonoBehaviour one) { return one is ParleyHub; }).Count, "hubs");
            Task<TurnComplete> turn = guard.SayAsync("Again");
            FakePlayerLoop.Until(delegate { return turn.IsCompleted; }, "the task ends");
            Check.Equal(TurnStatus.Success, turn.Result.Status, "its turn");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void TheGameGoesOnWhateverTheSidecarDoes()
        {
            ParleySettings settings = Stage.Project();
            List<string> real = new List<string>(settings.EditorCommand);
            settings.EditorCommand.Clear();
            settings.EditorCommand.AddRange(new[] { real[0], "-c", "import time; time.sleep(60)" });
            Timed("starting", 60, delegate { Stage.Character("A", "slow").Say("Hello"); });
            settings.AutoLaunch = false;
            settings.Endpoint = "tcp://127.0.0.1:9";
            Timed("absent", 60, delegate { Stage.Character("A", "slow").Say("Hello"); });
            settings.AutoLaunch = true;
            settings.EditorCommand.Clear();
            settings.EditorCommand.Add(Path.Combine(Stage.Folder, "no such program"));
            Timed("missing", 60, delegate { Stage.Character("A", "slow").Say("Hello"); });
            settings.EditorCommand.Clear();
            settings.EditorCommand.AddRange(real);
            int pid = 0;
            Timed(
                "stopped",
                100,
                delegate
                {
                    ParleyAgent agent = Stage.Character("A", "slow");
                    Notes notes = new Notes(agent);
                    Stage.UntilReady();
                    agent.Say("Hello");
                    FakePlayerLoop.Until(delegate { return notes.Frames > 3; }, "it speaks");
                    pid = ParleyHub.Instance.Core.SidecarPid;
                    Stage.Signal("STOP", pid);
                    agent.Say("And again");
                });
            Check.That(!Stage.IsAlive(pid), "a stopped sidecar is gone too");
        }

        /// <summary>What stops the game stops it each time; a machine that is busy does not three times in a row.</summary>
        private static void Timed(string what, int frames, Action begin)
        {
            string fault = "";
            for (int round = 0; round < 3; round++)
            {
                fault = FaultOf(frames, begin);
                if (fault.Length == 0)
                {
                    return;
                }
            }
            throw new Failed(what + ": " + fault);
        }

        private static string FaultOf(int frames, Action begin)
        {
            FakePlayerLoop.Play();
            begin();
            List<double> took = new List<double>();
            for (int i = 0; i < frames; i++)
            {
                Stopwatch clock = Stopwatch.StartNew();
                FakePlayerLoop.Frame(0.01f);
                took.Add(clock.Elapsed.TotalMilliseconds);
                Thread.Sleep(2);
            }
            Stopwatch stop = Stopwatch.StartNew();
            FakePlayerLoop.Stop();
            List<double> first = took.GetRange(0, FirstFrames);
            took.RemoveRange(0, FirstFrames);
            first.Sort();
            took.Sort();
            string all = "frames took up to " + took[took.Count - 1].ToString("F2") + " ms, usually up to "
                + took[took.Count * 3 / 4].ToString("F2") + ", the first ones " + first[FirstFrames - 1].ToString("F2")
                + ", the end " + stop.ElapsedMilliseconds;
            Console.WriteLine(all);
            bool isGood = took[took.Count - 1] < LongestMs && took[took.Count * 3 / 4] < 5 && first[FirstFrames - 1] < LongestFirstMs
                && stop.ElapsedMilliseconds < 1000;
            return isGood ? "" : all;
        }

        [Test]
        private static void AFrameWithNothingToDoAllocatesNothing()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Inn", "inn");
            DialogueView view = agent.gameObject.AddComponent<DialogueView>();
            agent.gameObject.AddComponent<ParleyVoice>();
            Notes notes = new Notes(agent);
            agent.Say("Good evening!");
            notes.UntilTurns(1);
            view.SkipToEnd();
            for (int i = 0; i < 50; i++)
            {
                FakePlayerLoop.Frame(0.01f);
                Thread.Sleep(2);
            }
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int i = 0; i < 1000; i++)
            {
                FakePlayerLoop.Frame(0.01f);
            }
            long bytes = GC.GetAllocatedBytesForCurrentThread() - before;
            Check.Equal(0L, bytes, "bytes of a thousand frames");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void DrainingTakesNoTime()
        {
            ParleySettings settings = Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Talker", "long");
            Notes notes = new Notes(agent);
            Stage.UntilReady();
            double best = double.MaxValue;
            double idle = double.MaxValue;
            int frames = 0;
            for (int round = 0; round < 3; round++)
            {
                int had = notes.Turns.Count;
                agent.Say("Talk");
                ParleyHub hub = ParleyHub.Instance;
                // What came waits on the session's own thread until the game asks for it.
                Stopwatch patience = Stopwatch.StartNew();
                while (hub.Core.Session.Waiting < 210)
                {
                    Check.That(patience.ElapsedMilliseconds < 20000, "frames that wait: " + hub.Core.Session.Waiting);
                    Thread.Sleep(1);
                }
                int framesBefore = notes.Frames;
                Stopwatch clock = Stopwatch.StartNew();
                hub.Core.Update(1000);
                double took = clock.Elapsed.TotalMilliseconds;
                frames = notes.Frames - framesBefore;
                if (frames >= 200)
                {
                    best = Math.Min(best, took * 200 / frames);
                }
                notes.UntilTurns(had + 1);
                clock = Stopwatch.StartNew();
                for (int i = 0; i < 1000; i++)
                {
                    hub.Core.Update(settings.BudgetMs);
                }
                idle = Math.Min(idle, clock.Elapsed.TotalMilliseconds / 1000);
            }
            Console.WriteLine(
                "200 frames: " + best.ToString("F3") + " ms; an empty drain: " + (idle * 1000).ToString("F3") + " us; ratio "
                + (best / idle).ToString("F0"));
            Check.That(best < 1, "200 frames took " + best + " ms");
            Check.That(best / idle < MostEmptyDrains, "200 frames took as long as " + best / idle + " empty drains");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void TheSidecarsLogIsInTheEngines()
        {
            ParleySettings settings = Stage.Project();
            foreach (LogLevel level in new[] { LogLevel.Warning, LogLevel.Info })
            {
                settings.LogLevel = level;
                FakePlayerLoop.Play();
                ParleyHub.Get();
                Stage.UntilReady();
                FakePlayerLoop.Stop();
                bool isThere = Stage.CountLog(LogType.Log, "[Parley] ") > 0 && Stage.CountLog(LogType.Log, " INFO ") > 0;
                Check.Equal(level == LogLevel.Info, isThere, "lines of the sidecar at " + level + ":\n" + FakePlayerLoop.Log());
            }
        }

        [Test]
        private static void AGameThatConnectedByItselfIsToldOfTheEnd()
        {
            ParleySettings settings = Stage.Project();
            List<string> real = new List<string>(settings.EditorCommand);
            FakePlayerLoop.Play();
            ParleyHub hub = ParleyHub.Get();
            List<string> told = new List<string>();
            hub.OnError.AddListener(delegate(ParleyException fault) { told.Add(fault.CodeName); });
            hub.StopSidecar();
            FakePlayerLoop.Until(delegate { return hub.State == CoreState.Stopped; }, "it has stopped");
            settings.EditorCommand.Clear();
            hub.Connect((string)Stage.Given["endpoint"], "another token");
            FakePlayerLoop.Until(delegate { return told.Count > 0; }, "the game is told");
            Check.Texts(told, "what it is told", "SidecarFailed");
            Check.Equal(0, Stage.CountLog(LogType.Exception, ""), "exceptions\n" + FakePlayerLoop.Log());
            settings.EditorCommand.AddRange(real);
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void AListenerThatThrowsHarmsNobody()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Inn", "inn");
            int thrown = 0;
            agent.OnAnswer.AddListener(delegate
            {
                thrown++;
                throw new InvalidOperationException("the game's own fault");
            });
            agent.Answered += delegate { throw new InvalidOperationException("and another"); };
            agent.OnTurnComplete.AddListener(delegate { throw new InvalidOperationException("a third"); });
            List<string> heard = new List<string>();
            agent.Answered += delegate(AnswerText answer)
            {
                if (answer.IsFinal)
                {
                    heard.Add(answer.NodeName);
                }
            };
            int turns = 0;
            agent.TurnEnded += delegate { turns++; };
            agent.Say("Good evening!");
            FakePlayerLoop.Until(delegate { return turns == 1; }, "the turn ends");
            Check.Texts(heard, "all came", "mira", "bram", "narrator");
            Check.That(thrown >= 3, "it was called each time");
            Check.That(Stage.CountLog(LogType.Exception, "the game's own fault") == thrown, "each is in the console");
            agent.Say("Once more");
            FakePlayerLoop.Until(delegate { return turns == 2; }, "the next turn ends");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void BusyAgentsQueueOneLineOrRefuse()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Slow", "slow");
            Notes notes = new Notes(agent);
            Stage.UntilReady();
            Check.Equal(SayOutcome.Sent, agent.TrySay("one"), "the first");
            Check.Equal(SayOutcome.Queued, agent.TrySay("two"), "the second");
            Check.Equal(SayOutcome.Busy, agent.TrySay("three"), "the third");
            agent.Say("four");
            Check.Equal("AgentBusy", notes.Errors[0].CodeName, "the fourth");
            Task cancelled = agent.CancelAsync();
            FakePlayerLoop.Until(delegate { return cancelled.IsCompleted; }, "all is cancelled");
            Check.Equal(2, notes.Turns.Count, "turns that ended");
            Check.Equal(TurnStatus.Cancelled, notes.Turns[1].Status, "cancelled");
            agent.WhenBusy = WhenBusy.Refuse;
            agent.Say("five");
            Check.Equal(SayOutcome.Busy, agent.TrySay("six"), "the sixth");
            agent.Cancel();
            notes.UntilTurns(3);
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void DisabledAgentsAreSilentAndKeepTheirDialog()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Slow", "slow");
            Notes notes = new Notes(agent);
            Stage.UntilReady();
            agent.Say("one");
            FakePlayerLoop.Until(delegate { return notes.Frames > 2; }, "it speaks");
            agent.enabled = false;
            agent.enabled = true;
            FakePlayerLoop.Frame(0.01f);
            Check.That(agent.IsBusy, "a blink cancels nothing");
            agent.gameObject.SetActive(false);
            Check.Equal(SayOutcome.Unavailable, agent.TrySay("two"), "a line to one that is not there");
            FakePlayerLoop.Until(delegate { return notes.Turns.Count == 1; }, "its turn ends");
            Check.Equal(TurnStatus.Cancelled, notes.Turns[0].Status, "cancelled");
            Task<TurnComplete> refused = agent.SayAsync("three");
            Check.That(refused.IsFaulted, "refused");
            agent.gameObject.SetActive(true);
            Task<string> saved = agent.SaveDialogAsync();
            FakePlayerLoop.Until(delegate { return saved.IsCompleted; }, "saved");
            Check.That(saved.Result.Contains("\"one\""), "the dialog is kept");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void AgentsGoWithTheirObjects()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Slow", "slow");
            ParleyAgent other = Stage.Character("Inn", "inn");
            Notes notes = new Notes(agent);
            Stage.UntilReady();
            agent.Say("one");
            FakePlayerLoop.Until(delegate { return notes.Frames > 2; }, "it speaks");
            UnityEngine.Object.Destroy(agent.gameObject);
            FakePlayerLoop.Frame(0.01f);
            Check.Equal(1, notes.Turns.Count, "its turn ended");
            Check.Equal(TurnStatus.Cancelled, notes.Turns[0].Status, "cancelled");
            Agents left = null;
            FakePlayerLoop.Until(
                delegate
                {
                    Task<Reply> asked = ParleyHub.Instance.Core.RequestAsync(new ListAgents());
                    FakePlayerLoop.Until(delegate { return asked.IsCompleted; }, "agents are listed");
                    left = (Agents)asked.Result;
                    return left.Items.Count == 1;
                },
                "the sidecar forgets it");
            FakePlayerLoop.LoadScene();
            Check.That(other == null, "the next scene has no characters");
            Check.That(ParleyHub.Instance != null && ParleyHub.Instance.State == CoreState.Ready, "the hub is kept");
            new GameObject("A second hub").AddComponent<ParleyHub>();
            FakePlayerLoop.Frame(0.01f);
            Check.Equal(1, FakeEngine.Scripts().FindAll(delegate(MonoBehaviour one) { return one is ParleyHub; }).Count, "hubs");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void AHubThatIsDestroyedIsMadeAgain()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Note", "note");
            Notes notes = new Notes(agent);
            agent.Say("a");
            notes.UntilTurns(1);
            UnityEngine.Object.Destroy(ParleyHub.Instance.gameObject);
            FakePlayerLoop.Frame(0.01f);
            Check.That(ParleyHub.Instance == null, "it is gone");
            agent.Say("b");
            notes.UntilTurns(2);
            Check.Equal("1|1|", notes.Text.ToString(), "what it says");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void WhatIsMissingIsAnError()
        {
            ParleySettings settings = Stage.Project();
            List<string> real = new List<string>(settings.EditorCommand);
            settings.EditorCommand.Clear();
            FakeEngine.IsEditor = false;
            FakeEngine.DataPath = Path.Combine(Stage.Folder, "Game_Data");
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Inn", "inn");
            Notes notes = new Notes(agent);
            ParleyException told = null;
            ParleyHub.Get().OnError.AddListener(delegate(ParleyException fault) { told = fault; });
            agent.Say("Hello");
            FakePlayerLoop.Until(delegate { return told != null; }, "the hub says it");
            Check.Equal("SidecarMissing", told.CodeName, "what is missing");
            Check.That(told.Message.Contains(Path.Combine("Parley", "sidecar")), "where: " + told.Message);
            Check.Equal("SidecarMissing", notes.Errors[notes.Errors.Count - 1].CodeName, "the agent says it too");
            Check.Equal(1, notes.Turns.Count, "the line ends");
            Check.Equal(SayOutcome.Unavailable, agent.TrySay("Again"), "a line with nobody to hear it");
            FakePlayerLoop.Stop();

            FakeEngine.IsEditor = true;
            settings.EditorCommand.AddRange(real);
            FakePlayerLoop.Play();
            ParleyAgent nobody = Stage.Character("No model", "no_model");
            ParleyAgent empty = new GameObject("No workflow").AddComponent<ParleyAgent>();
            ParleyAgent broken = new GameObject("Broken").AddComponent<ParleyAgent>();
            broken.Workflow = ParleyWorkflow.Create("{\"nodes\": [");
            Notes ofNobody = new Notes(nobody);
            Notes ofEmpty = new Notes(empty);
            Notes ofBroken = new Notes(broken);
            FakePlayerLoop.Until(delegate { return ofNobody.Errors.Count > 0; }, "there is no such model");
            Check.That(ofNobody.Errors[0].Message.Contains("no-such-model"), "it says which: " + ofNobody.Errors[0].Message);
            Check.That(ofEmpty.Errors[0].Message.Contains("'No workflow' has no workflow"), "no workflow: " + ofEmpty.Errors[0].Message);
            Check.That(ofBroken.Errors[0].Message.Contains("line 1"), "no JSON: " + ofBroken.Errors[0].Message);
            Check.Equal(1, ofEmpty.Errors.Count, "it is said once");
            Task<TurnComplete> refused = empty.SayAsync("Hello");
            Check.Equal("WorkflowInvalid", ((ParleyException)refused.Exception.InnerException).CodeName, "and to whoever asks");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void SettingsThatAreNoneAreAnErrorAndMayBeMended()
        {
            ParleySettings settings = Stage.Project();
            List<string> real = new List<string>(settings.EditorCommand);
            settings.EditorCommand.Clear();
            settings.SidecarFolder = "side\0car";
            settings.StorageFolder = "stor\0age";
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Note", "note");
            Notes notes = new Notes(agent);
            ParleyException told = null;
            ParleyHub hub = ParleyHub.Get();
            hub.OnError.AddListener(delegate(ParleyException fault) { told = fault; });
            agent.Say("Hello");
            FakePlayerLoop.Until(delegate { return told != null; }, "the hub says it");
            Check.Equal("SettingsInvalid", told.CodeName, "what it is");
            Check.Equal(1, notes.Turns.Count, "the line ends");
            Check.That(notes.Errors.Exists(delegate(ParleyException one) { return one.CodeName == "SettingsInvalid"; }), "the agent says it");
            Check.Equal(0, Stage.CountLog(LogType.Exception, ""), "exceptions\n" + FakePlayerLoop.Log());
            settings.EditorCommand.AddRange(real);
            hub.StartSidecar();
            agent.Say("And now?");
            notes.UntilTurns(2);
            Check.Equal("1|", notes.Text.ToString(), "what it says once they are right");
            hub.StopSidecar();
            FakePlayerLoop.Until(delegate { return hub.State == CoreState.Stopped; }, "it is stopped");
            // Auto Launch is still on, and the game connects by itself to what is not there.
            told = null;
            hub.Connect("no endpoint", "");
            SpeakerTests.Invoke(hub, "TakeEnd", "nobody is there");
            Check.Equal("SidecarFailed", told.CodeName, "what it is then");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void AHubThatIsOffEndsWithTheGame()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Slow", "slow");
            Notes notes = new Notes(agent);
            Stage.UntilReady();
            agent.Say("one");
            FakePlayerLoop.Until(delegate { return notes.Frames > 2; }, "it speaks");
            int pid = ParleyHub.Instance.Core.SidecarPid;
            ParleyHub.Instance.enabled = false;
            Stopwatch clock = Stopwatch.StartNew();
            FakePlayerLoop.Stop();
            Check.That(clock.ElapsedMilliseconds < 2000, "the end took " + clock.ElapsedMilliseconds + " ms");
            Check.That(!Stage.IsAlive(pid), "the sidecar is gone");
            Check.Equal(1, notes.Turns.Count, "the turn ended");
        }

        [Test]
        private static void ThirtyCopiesTalkAtOnceAndHalfOfThemGo()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            GameObject prefab = new GameObject("Villager");
            prefab.SetActive(false);
            prefab.AddComponent<ParleyAgent>().Workflow =
                ParleyWorkflow.Create(((JObject)Stage.Given["workflows"]["note"]).ToString());
            List<ParleyAgent> villagers = new List<ParleyAgent>();
            List<Notes> notes = new List<Notes>();
            for (int i = 0; i < 30; i++)
            {
                GameObject one = UnityEngine.Object.Instantiate(prefab);
                one.SetActive(true);
                villagers.Add(one.GetComponent<ParleyAgent>());
                notes.Add(new Notes(villagers[i]));
                villagers[i].SetVariable("level", i);
                villagers[i].Say("Hello");
            }
            for (int i = 0; i < 30; i += 2)
            {
                UnityEngine.Object.Destroy(villagers[i].gameObject);
            }
            FakePlayerLoop.Until(
                delegate { return notes.TrueForAll(delegate(Notes one) { return one.Turns.Count == 1; }); }, "every line ends");
            for (int i = 0; i < 30; i++)
            {
                Check.Equal(i % 2 == 0 ? "" : i + "|", notes[i].Text.ToString(), "what number " + i + " says");
                Check.Equal(i % 2 == 0 ? TurnStatus.Cancelled : TurnStatus.Success, notes[i].Turns[0].Status, "its turn");
                Check.Equal(0, notes[i].Errors.Count, "errors");
            }
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void VariablesParametersAndDialog()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Note", "note");
            Notes notes = new Notes(agent);
            agent.SetVariable("level", 3);
            agent.Say("a");
            notes.UntilTurns(1);
            agent.SetVariable("level", 4);
            agent.Say("b");
            notes.UntilTurns(2);
            Task<Params> before = agent.GetParamsAsync("note");
            FakePlayerLoop.Until(delegate { return before.IsCompleted; }, "parameters");
            agent.ChangeParams("note", new JObject { { "template", "L{{var.level}}!" } });
            agent.Say("c");
            notes.UntilTurns(3);
            Check.Equal("3|4|L4!|", notes.Text.ToString(), "what it says");
            agent.SetVariable("no such", 1);
            agent.ChangeParams("nobody", new JObject());
            FakePlayerLoop.Until(delegate { return notes.Errors.Count == 2; }, "both are refused");
            string saved = null;
            agent.SaveDialog(delegate(string text) { saved = text; });
            FakePlayerLoop.Until(delegate { return saved != null; }, "saved");
            ParleyAgent other = Stage.Character("Other", "note");
            Task loaded = other.LoadDialogAsync(saved);
            FakePlayerLoop.Until(delegate { return loaded.IsCompleted; }, "loaded");
            Check.Equal(3, other.Agent.Dialog.Interactions.Count, "turns");
            agent.LoadDialog("no dialog");
            FakePlayerLoop.Until(delegate { return notes.Errors.Count == 3; }, "no dialog");
            Check.Equal("InvalidDialog", notes.Errors[2].CodeName, "why");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void ToolsAreAnsweredWithinTheTurn()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Door", "tools");
            Notes notes = new Notes(agent);
            agent.ToolCalled += delegate(ToolCall call) { call.Reply("open"); };
            agent.Say("Open the door");
            notes.UntilTurns(1);
            Check.Equal("open_door", notes.Tools[0].Tool, "the tool");
            Check.Equal("The door: open|", notes.Text.ToString(), "what became of it");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void FilesOfTheGameAreFound()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Canned", "canned");
            Notes notes = new Notes(agent);
            agent.Say("Hello");
            notes.UntilTurns(1);
            Check.Equal("From a file.|", notes.Text.ToString(), "the line");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void AKilledSidecarIsReplaced()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Note", "note");
            Notes notes = new Notes(agent);
            List<string> told = new List<string>();
            ParleyHub hub = ParleyHub.Get();
            hub.OnReady.AddListener(delegate { told.Add("ready"); });
            hub.OnLost.AddListener(delegate { told.Add("lost"); });
            hub.OnBack.AddListener(delegate { told.Add("back"); });
            agent.Say("a");
            notes.UntilTurns(1);
            Stage.Signal("KILL", hub.Core.SidecarPid);
            FakePlayerLoop.Until(delegate { return told.Contains("back"); }, "another sidecar");
            Check.Texts(told, "the game is told", "ready", "lost", "ready", "back");
            agent.Say("b");
            notes.UntilTurns(2);
            Check.Equal(2, agent.Agent.Dialog.Interactions.Count, "the dialog goes on");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void SeveralSpeakersAreShownInTheirOrder()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Inn", "inn");
            DialogueCast cast = ScriptableObject.CreateInstance<DialogueCast>();
            cast.Speakers.Add(new DialogueSpeaker("mira", "Mira", Color.yellow, false));
            cast.Speakers.Add(new DialogueSpeaker("narrator", "", Color.gray, true));
            DialogueView view = new GameObject("View").AddComponent<DialogueView>();
            view.Cast = cast;
            view.Listen(agent);
            view.CharactersPerSecond = 200;
            view.PlayerName = "Guest";
            List<string> order = new List<string>();
            view.LineBegan += delegate(DialogueLine line) { order.Add(view.NameOf(line)); };
            string last = "";
            view.OnLine.AddListener(delegate(string name, string text, bool isDone) { last = name + ":" + text + ":" + isDone; });
            agent.Say("Good evening!");
            Notes notes = new Notes(agent);
            notes.UntilTurns(1);
            FakeEngine.TimeScale = 0f;
            FakePlayerLoop.Until(delegate { return view.IsIdle; }, "all is shown");
            FakeEngine.TimeScale = 1f;
            Check.Texts(order, "who speaks", "Guest", "Mira", "bram", "narrator");
            Check.Equal(
                "[Guest] Good evening!\n[Mira] Welcome, traveller.\n[bram] Ho there!\n[narrator] The fire cracks.\n",
                view.Transcript(),
                "what is shown");
            Check.Equal("narrator:The fire cracks.:True", last, "the last event");
            Check.That(view.SpeakerOf(view.Lines[3]).IsNarrator, "nobody speaks");
            Check.Equal(Color.yellow, view.SpeakerOf(view.Lines[1]).Colour, "Mira's colour");
            Check.Equal("bram", view.SpeakerOf(view.Lines[2]).DisplayName, "one that the cast does not know");
            view.enabled = false;
            agent.Say("And?");
            notes.UntilTurns(2);
            view.enabled = true;
            Check.Equal(4, view.Lines.Count, "a view that is off takes nothing");
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void EverySpeakerHasItsVoice()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Inn", "slow");
            ParleyAgent other = Stage.Character("Guard", "guard");
            ParleyVoice mira = agent.gameObject.AddComponent<ParleyVoice>();
            mira.Speaker = "mira";
            ParleyVoice anybody = new GameObject("Room").AddComponent<ParleyVoice>();
            anybody.Agent = agent;
            ParleyVoice guard = other.gameObject.AddComponent<ParleyVoice>();
            List<string> heard = new List<string>();
            mira.Started += delegate(string speaker) { heard.Add("mira's:" + speaker); };
            anybody.OnStarted.AddListener(delegate(string speaker) { heard.Add("the room's:" + speaker); });
            guard.Started += delegate(string speaker) { heard.Add("the guard's:" + speaker); };
            Notes notes = new Notes(agent);
            agent.Say("Hello");
            FakePlayerLoop.Until(delegate { return agent.Agent != null && agent.Agent.TurnId > 0; }, "the turn runs");
            Sound(agent, agent.Agent.TurnId, "mira", 1);
            Sound(agent, agent.Agent.TurnId, "bram", 2);
            Sound(agent, agent.Agent.TurnId + 1, "bram", 3);
            FakePlayerLoop.Frame(0.01f);
            Check.Texts(heard, "who is heard where", "mira's:mira", "the room's:bram");
            Check.That(mira.GetComponent<AudioSource>().isPlaying, "a source was made for it");

            agent.Cancel();
            Check.That(!mira.IsSpeaking && !anybody.IsSpeaking, "silence at once");
            Sound(agent, agent.Agent.TurnId, "mira", 4);
            FakePlayerLoop.Frame(0.01f);
            Check.Equal(2, heard.Count, "what still comes of the turn is not heard");
            notes.UntilTurns(1);
            Check.Equal(TurnStatus.Cancelled, notes.Turns[0].Status, "the turn");
            Sound(agent, notes.Turns[0].TurnId, "mira", 5);
            agent.Say("Again");
            FakePlayerLoop.Until(delegate { return agent.Agent.TurnId > notes.Turns[0].TurnId; }, "the next turn runs");
            Sound(agent, agent.Agent.TurnId, "mira", 1);
            FakePlayerLoop.Frame(0.01f);
            Check.Texts(heard, "the next turn is heard", "mira's:mira", "the room's:bram", "mira's:mira");
            agent.Remake();
            Check.That(!mira.IsSpeaking, "another conversation");
            UnityEngine.Object.Destroy(other.gameObject);
            FakePlayerLoop.Frame(0.01f);
            FakePlayerLoop.Stop();
        }

        /// <summary>Samples of a text, of which each character sounds for 60 ms at the mock voice's rate.</summary>
        private static int SamplesOf(params string[] spoken)
        {
            return string.Join("", spoken).Length * 960;
        }

        internal static void AddSamples(List<float> samples, SoundChunk chunk)
        {
            byte[] pcm = chunk.Samples ?? new byte[0];
            for (int i = 0; i < pcm.Length; i += 2)
            {
                samples.Add((short)(pcm[i] | (pcm[i + 1] << 8)) / 32768f);
            }
        }

        /// <summary>How many of the samples that came are heard in their order, with nothing but silence between them.</summary>
        internal static int CountHeard(List<float> heard, List<float> came)
        {
            int next = 0;
            foreach (float sample in heard)
            {
                if (next < came.Count && sample == came[next])
                {
                    next++;
                }
                else if (sample != 0f)
                {
                    throw new Failed("sample " + next + " is heard as " + sample);
                }
            }
            return next;
        }

        [Test]
        private static void AVoiceIsHeardAsTheSidecarSentIt()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Inn", "spoken");
            ParleyVoice voice = agent.gameObject.AddComponent<ParleyVoice>();
            voice.Source = agent.gameObject.AddComponent<AudioSource>();
            FakeSpeaker speaker = new FakeSpeaker(voice.Source);
            DialogueView view = agent.gameObject.AddComponent<DialogueView>();
            view.FollowVoice = true;
            view.CharactersPerSecond = 0;
            view.ShowPlayer = false;
            Stage.UntilReady();
            List<List<float>> came = new List<List<float>>();
            List<string> told = new List<string>();
            string heard = "";
            agent.Agent.SoundStarted += delegate { came.Add(new List<float>()); };
            agent.Agent.Sound += delegate(SoundChunk chunk)
            {
                AddSamples(came[came.Count - 1], chunk);
            };
            voice.OnStarted.AddListener(delegate(string node) { told.Add("> " + node); });
            voice.OnFinished.AddListener(delegate(string node) { told.Add("< " + node); });
            voice.SentenceStarted += delegate(VoiceSentence sentence)
            {
                told.Add(sentence.Text);
                Check.That(view.Lines[0].Shown.Length <= heard.Length, "the text is not ahead of the voice: " + view.Lines[0].Shown);
                heard += sentence.Step == 1 ? sentence.Text : "";
            };
            Notes notes = new Notes(agent);
            agent.Say("Tell me.");
            Until(speaker, delegate { return notes.Turns.Count == 1 && told.FindAll(IsEnd).Count == 2; }, "all is heard");
            Check.Texts(
                told,
                "told",
                "> mira", "Sit down by the fire, friend. ", "*She nods.* The stew is hot today!", "< mira",
                "> bram", "Sit down by the fire, friend. ", "*She nods.* The stew is hot today!", "< bram");
            Check.Equal("Sit down by the fire, friend. *She nods.* The stew is hot today!", view.Lines[0].Shown, "what is shown");
            int samples = SamplesOf("Sit down by the fire, friend.", "The stew is hot today!");
            Check.Equal(samples, came[0].Count, "samples that came of the first");
            Check.Equal(samples / 2, came[1].Count, "and of the second, which speaks twice as fast");
            Check.Equal(samples, CountHeard(speaker.Outputs[0], came[0]), "samples that are heard of the first");
            Check.Equal(samples / 2, CountHeard(speaker.Outputs[1], came[1]), "and of the second");

            told.Clear();
            agent.Say("Again!");
            Until(speaker, delegate { return voice.Sentence.Length > 0; }, "it speaks again");
            agent.Cancel();
            Check.That(!voice.IsSpeaking, "cancelled: silence");
            Until(speaker, delegate { return notes.Turns.Count == 2 && !agent.IsBusy; }, "the turn is over");
            Check.Texts(told, "told of it", "> mira", "Sit down by the fire, friend. ", "< mira");
            int clips = speaker.Outputs.Count;
            int steps = came.Count;
            agent.Say("And now?");
            Until(speaker, delegate { return notes.Turns.Count == 3 && told.FindAll(IsEnd).Count == 3; }, "the next turn is heard");
            Check.Equal(samples, CountHeard(speaker.Outputs[clips], came[steps]), "its own sound");
            Check.Equal(0, Stage.CountLog(LogType.Warning, ""), "warnings\n" + FakePlayerLoop.Log());
            Check.Equal(0, Stage.CountLog(LogType.Exception, ""), "exceptions\n" + FakePlayerLoop.Log());
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void AVoiceThatFailsHoldsNoTextBack()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Inn", "hoarse");
            ParleyVoice voice = agent.gameObject.AddComponent<ParleyVoice>();
            voice.Source = agent.gameObject.AddComponent<AudioSource>();
            FakeSpeaker speaker = new FakeSpeaker(voice.Source);
            DialogueView view = agent.gameObject.AddComponent<DialogueView>();
            view.FollowVoice = true;
            view.ShowPlayer = false;
            int shown = 0;
            view.LineDone += delegate { shown++; };
            Notes notes = new Notes(agent);
            agent.Say("Well?");
            Until(speaker, delegate { return shown == 1; }, "the line is shown");
            notes.UntilTurns(1);
            Check.Equal(TurnStatus.Success, notes.Turns[0].Status, "the turn");
            Check.Equal(1, Stage.CountLog(LogType.Warning, "mira: "), "a warning\n" + FakePlayerLoop.Log());
            Check.That(!agent.Agent.MaySpeak("mira") && !agent.Agent.MaySpeak("nobody"), "it is known");
            agent.Say("Again?");
            FakePlayerLoop.Until(delegate { return view.Lines.Count == 2; }, "the next line");
            Check.That(!view.Lines[1].IsHeld, "waits for no voice");
            FakePlayerLoop.Stop();
        }

        private static bool IsEnd(string told)
        {
            return told.StartsWith("< ", StringComparison.Ordinal);
        }

        internal static void Until(FakeSpeaker speaker, Func<bool> isSo, string what)
        {
            FakePlayerLoop.Until(
                delegate
                {
                    speaker.Step(0.01);
                    return isSo();
                },
                what);
        }

        private static void Sound(ParleyAgent agent, long turnId, string speaker, long step)
        {
            string agentId = agent.Agent.AgentId;
            AudioFormat format = new AudioFormat { AgentId = agentId, TurnId = turnId, NodeName = speaker, Step = step, SampleRate = 24000 };
            SpeakerTests.Invoke(ParleyHub.Instance.Core, "Dispatch", format, null);
            AudioChunk chunk = new AudioChunk { AgentId = agentId, TurnId = turnId, NodeName = speaker, Step = step, IsFinal = true };
            SpeakerTests.Invoke(ParleyHub.Instance.Core, "Dispatch", chunk, new byte[4800]);
        }

        [Test]
        private static void WithoutAutoLaunchTheGameConnects()
        {
            ParleySettings settings = Stage.Project();
            settings.AutoLaunch = false;
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Note", "note");
            Notes notes = new Notes(agent);
            FakePlayerLoop.Frame(0.01f);
            Check.Equal(CoreState.Stopped, ParleyHub.Instance.State, "nothing is started");
            ParleyHub.Instance.Connect((string)Stage.Given["endpoint"], (string)Stage.Given["token"]);
            agent.Say("a");
            notes.UntilTurns(1);
            Check.Equal(0, ParleyHub.Instance.Core.SidecarPid, "it is somebody else's");
            FakePlayerLoop.Stop();
        }
    }
}
