// Play and stop, with a reload of the scripts between the plays, without one, and with one in the middle.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;
using UnityEngine;

namespace PlayerTests
{
    internal static class ReloadTests
    {
        private static int Plays
        {
            get { return (int)Stage.Given["plays"]; }
        }

        [Test]
        private static void PlaysInOneDomain()
        {
            int threads = 0;
            for (int play = 0; play < Plays; play++)
            {
                PlayOnce();
                threads = play == 0 ? Threads() : threads;
            }
            // Those of a thread pool come and go.
            Check.That(Threads() <= threads + 3, "threads: " + threads + " after the first play, " + Threads() + " after the last");
        }

        [Test]
        private static void PlaysInDomainsOfTheirOwn()
        {
            for (int play = 0; play < Plays; play++)
            {
                AppDomain domain = AppDomain.CreateDomain("play " + play, null, AppDomain.CurrentDomain.SetupInformation);
                InDomain(domain, PlayOnce);
                Stopwatch clock = Stopwatch.StartNew();
                AppDomain.Unload(domain);
                Console.WriteLine("unload " + clock.ElapsedMilliseconds + " ms");
                Check.That(clock.ElapsedMilliseconds < 2000, "the unload took " + clock.ElapsedMilliseconds + " ms");
            }
        }

        [Test]
        private static void StopWhileItStarts()
        {
            Stage.Project();
            for (int play = 0; play < 5; play++)
            {
                FakePlayerLoop.Play();
                Stage.Character("Note", "note").Say("a");
                for (int frame = 0; frame < play * 4; frame++)
                {
                    FakePlayerLoop.Frame(0.01f);
                    Thread.Sleep(20);
                }
                int pid = ParleyHub.Instance == null ? 0 : ParleyHub.Instance.Core.SidecarPid;
                StopInTime();
                Check.That(pid == 0 || !Stage.IsAlive(pid), "the sidecar is gone");
            }
        }

        /// <summary>Whoever runs it stops this process where it says so, until the sidecar takes the game for gone.</summary>
        [Test]
        private static void AGameThatStandsStillLosesNothing()
        {
            Stage.Project().AutoLaunch = false;
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Slow", "slow");
            Notes notes = new Notes(agent);
            ParleyHub.Get().Connect((string)Stage.Given["endpoint"], (string)Stage.Given["token"]);
            Stage.UntilReady();
            string key = ParleyHub.Instance.Core.Session.SessionKey;
            agent.Say("one");
            FakePlayerLoop.Until(delegate { return notes.Frames > 2; }, "it speaks");
            FakePlayerLoop.Pause(true);
            Console.WriteLine("paused");
            Console.In.ReadLine();
            FakePlayerLoop.Pause(false);
            notes.UntilTurns(1);
            Check.Equal((string)Stage.Given["words"] + "|", notes.Text.ToString(), "all of it");
            Check.Equal(key, ParleyHub.Instance.Core.Session.SessionKey, "the session");
            Check.Equal(0, notes.Errors.Count, "errors");
            FakePlayerLoop.Stop();
        }

        /// <summary>The same while a voice speaks: what is sent again is heard once.</summary>
        [Test]
        private static void AGameThatStandsStillHearsEverySampleOnce()
        {
            Stage.Project().AutoLaunch = false;
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Inn", "slowly_spoken");
            ParleyVoice voice = agent.gameObject.AddComponent<ParleyVoice>();
            voice.Source = agent.gameObject.AddComponent<AudioSource>();
            FakeSpeaker speaker = new FakeSpeaker(voice.Source);
            Notes notes = new Notes(agent);
            ParleyHub.Get().Connect((string)Stage.Given["endpoint"], (string)Stage.Given["token"]);
            Stage.UntilReady();
            List<float> came = new List<float>();
            string said = "";
            bool isOver = false;
            agent.Agent.Sound += delegate(SoundChunk chunk) { HubTests.AddSamples(came, chunk); };
            voice.SentenceStarted += delegate(VoiceSentence sentence) { said += sentence.Text; };
            voice.Finished += delegate { isOver = true; };
            agent.Say("one");
            HubTests.Until(speaker, delegate { return said.Length > 0; }, "it speaks");
            Check.That(notes.Turns.Count == 0, "more is to come");
            FakePlayerLoop.Pause(true);
            Console.WriteLine("paused");
            Console.In.ReadLine();
            FakePlayerLoop.Pause(false);
            HubTests.Until(speaker, delegate { return isOver && notes.Turns.Count == 1; }, "all is heard");
            Check.Equal((string)Stage.Given["tale"], said, "its sentences");
            Check.Equal((string)Stage.Given["tale"] + "|", notes.Text.ToString(), "its text");
            Check.Equal((long)Stage.Given["samples"], came.Count, "samples that came");
            Check.Equal(came.Count, HubTests.CountHeard(speaker.Outputs[0], came), "samples that are heard");
            Console.WriteLine("holes: " + voice.Underruns);
            FakePlayerLoop.Stop();
        }

        [Test]
        private static void StopInAnyState()
        {
            string[] states = { "a turn runs", "a line waits", "killed", "hanging", "stopped", "no sidecar", "no agent" };
            foreach (string state in states)
            {
                ParleySettings settings = Stage.Project();
                if (state == "no sidecar")
                {
                    settings.EditorCommand.Clear();
                    settings.EditorCommand.Add("no such program");
                }
                FakePlayerLoop.Play();
                ParleyAgent agent = Stage.Character("Slow", "slow");
                Notes notes = new Notes(agent);
                FakePlayerLoop.Frame(0.01f);
                ParleyCore core = ParleyHub.Instance.Core;
                FakePlayerLoop.Until(
                    delegate { return core.State == (state == "no sidecar" ? CoreState.Down : CoreState.Ready); }, state);
                int pid = core.SidecarPid;
                int lines = agent.TrySay("one") == SayOutcome.Sent ? 1 : 0;
                FakePlayerLoop.Until(delegate { return lines == 0 || notes.Frames > 2; }, "it speaks");
                if (state == "a line waits")
                {
                    lines += agent.TrySay("two") == SayOutcome.Queued ? 1 : 0;
                }
                else if (state == "killed")
                {
                    Stage.Signal("KILL", pid);
                    FakePlayerLoop.Until(delegate { return core.State == CoreState.Gone; }, "it is missed");
                }
                else if (state == "hanging")
                {
                    Stage.Signal("STOP", pid);
                }
                else if (state == "stopped")
                {
                    ParleyHub.Instance.StopSidecar();
                }
                else if (state == "no agent")
                {
                    UnityEngine.Object.Destroy(agent.gameObject);
                }
                Stopwatch clock = Stopwatch.StartNew();
                FakePlayerLoop.Stop();
                Console.WriteLine(state + ": end " + clock.ElapsedMilliseconds + " ms");
                Check.That(clock.ElapsedMilliseconds < 2000, state + ": the end took " + clock.ElapsedMilliseconds + " ms");
                Check.Equal(lines, notes.Turns.Count, state + ": lines that ended");
                Check.Equal(0, FakeEngine.Scene.Count, state + ": objects that are left");
                Check.Equal(0, Stage.CountLog(LogType.Exception, ""), state + ": exceptions\n" + FakePlayerLoop.Log());
                Stopwatch patience = Stopwatch.StartNew();
                while (pid != 0 && Stage.IsAlive(pid) && patience.ElapsedMilliseconds < 5000)
                {
                    Thread.Sleep(20);
                }
                Check.That(pid == 0 || !Stage.IsAlive(pid), state + ": the sidecar is still there");
            }
        }

        [Test]
        private static void AReloadInTheMiddleOfATurn()
        {
            Reload(false);
        }

        [Test]
        private static void AReloadWhileTheHubIsOff()
        {
            Reload(true);
        }

        /// <summary>
        /// Scripts are reloaded while a character speaks: another domain goes on with what the engine keeps of the scene.
        /// </summary>
        private static void Reload(bool isHubOff)
        {
            AppDomain first = AppDomain.CreateDomain("before", null, AppDomain.CurrentDomain.SetupInformation);
            first.SetData("off", isHubOff);
            InDomain(first, BeforeReload);
            string scene = (string)first.GetData("scene");
            string heard = (string)first.GetData("heard");
            int pid = (int)first.GetData("pid");
            AppDomain.Unload(first);
            Check.That(Stage.IsAlive(pid), "the sidecar goes on");
            AppDomain second = AppDomain.CreateDomain("after", null, AppDomain.CurrentDomain.SetupInformation);
            second.SetData("scene", scene);
            InDomain(second, AfterReload);
            string rest = (string)second.GetData("heard");
            AppDomain.Unload(second);
            Check.Equal((string)Stage.Given["words"] + "|", heard + rest, "what was heard before and after");
            Check.That(heard.Length > 0 && rest.Length > 20, "some of it before, more of it after");
            Check.That(!Stage.IsAlive(pid), "the sidecar ends with the game");
        }

        private static void BeforeReload()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Slow", "slow");
            Stage.Character("Inn", "inn");
            Notes notes = new Notes(agent);
            Stage.UntilReady();
            agent.Say("one");
            FakePlayerLoop.Until(delegate { return notes.Frames > 5; }, "it speaks");
            AppDomain.CurrentDomain.SetData("pid", ParleyHub.Instance.Core.SidecarPid);
            ParleyHub.Instance.enabled = !(bool)AppDomain.CurrentDomain.GetData("off");
            string scene = FakePlayerLoop.Suspend();
            AppDomain.CurrentDomain.SetData("scene", scene);
            AppDomain.CurrentDomain.SetData("heard", notes.Text.ToString());
        }

        private static void AfterReload()
        {
            Stage.Project();
            FakePlayerLoop.Resume((string)AppDomain.CurrentDomain.GetData("scene"));
            // Whoever asks for the hub now, on or off, gets the one that has the sidecar.
            Check.That(ParleyHub.Get().Core != null, "the hub is there");
            Check.Equal(1, Resources.FindObjectsOfTypeAll<ParleyHub>().Length, "hubs");
            ParleyAgent agent = null;
            ParleyAgent other = null;
            foreach (MonoBehaviour script in FakeEngine.Scripts())
            {
                ParleyAgent found = script as ParleyAgent;
                if (found != null && found.name == "Slow")
                {
                    agent = found;
                }
                other = found != null && found.name == "Inn" ? found : other;
                script.enabled = true;
            }
            Notes notes = new Notes(agent);
            Notes ofOther = new Notes(other);
            notes.UntilTurns(1);
            Check.Equal(TurnStatus.Success, notes.Turns[0].Status, "the turn");
            Check.Equal(1, agent.Agent.Dialog.Interactions.Count, "the dialog");
            other.Say("Good evening!");
            ofOther.UntilTurns(1);
            Check.Equal("Welcome, traveller.|Ho there!|The fire cracks.|", ofOther.Text.ToString(), "the other goes on too");
            Check.Equal(0, notes.Errors.Count + ofOther.Errors.Count, "errors");
            AppDomain.CurrentDomain.SetData("heard", notes.Text.ToString());
            FakePlayerLoop.Stop();
        }

        private static void PlayOnce()
        {
            Stage.Project();
            FakePlayerLoop.Play();
            ParleyAgent agent = Stage.Character("Inn", "inn");
            Notes notes = new Notes(agent);
            agent.Say("Good evening!");
            notes.UntilTurns(1);
            Check.Equal("Welcome, traveller.|Ho there!|The fire cracks.|", notes.Text.ToString(), "what is said");
            int pid = ParleyHub.Instance.Core.SidecarPid;
            StopInTime();
            Check.That(!Stage.IsAlive(pid), "the sidecar is gone");
            Check.That(ParleyHub.Instance == null && ParleyHub.Get() == null, "there is no hub outside a play");
            Check.Equal(0, Stage.CountLog(LogType.Exception, ""), "exceptions\n" + FakePlayerLoop.Log());
        }

        /// <summary>The end of a play takes less than a second, whatever the sidecar is at.</summary>
        private static void StopInTime()
        {
            Stopwatch clock = Stopwatch.StartNew();
            FakePlayerLoop.Stop();
            Check.That(clock.ElapsedMilliseconds < 1000, "the end took " + clock.ElapsedMilliseconds + " ms");
            Console.WriteLine("end " + clock.ElapsedMilliseconds + " ms");
        }

        private static void InDomain(AppDomain domain, Action work)
        {
            domain.SetData("work", work.Method.Name);
            domain.DoCallBack(RunHere);
            string fault = (string)domain.GetData("fault");
            if (fault != null)
            {
                throw new Failed(domain.FriendlyName + ": " + fault);
            }
        }

        private static void RunHere()
        {
            try
            {
                string name = (string)AppDomain.CurrentDomain.GetData("work");
                typeof(ReloadTests).GetMethod(
                    name, System.Reflection.BindingFlags.Static | System.Reflection.BindingFlags.NonPublic).Invoke(null, null);
            }
            catch (Exception fault)
            {
                AppDomain.CurrentDomain.SetData("fault", "" + (fault.InnerException ?? fault) + "\n" + FakePlayerLoop.Log());
            }
        }

        private static int Threads()
        {
            Thread.Sleep(200);
            return System.IO.Directory.Exists("/proc/self/task") ? System.IO.Directory.GetDirectories("/proc/self/task").Length : 0;
        }
    }
}
