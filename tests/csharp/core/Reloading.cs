// What a game does when its scripting domain is thrown away and made anew, in the editor.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Text;
using System.Threading;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;

public static class Reloading
{
    /// <summary>Reloads in the middle of a turn: it goes on, and every word of it comes once.</summary>
    public static JObject Reload(World world)
    {
        Character mira = world.Ready().Make("long", new AgentOptions { Key = "mira" });
        world.Core.MakeStorage(new CreateStringStorage { Name = "lines", Strings = new List<string> { "One." } });
        World.Equal(mira.Turn("First?").Status, TurnStatus.Success, "the first turn");
        int pid = world.Core.SidecarPid;
        mira.Agent.Say("Second?");
        mira.Agent.Say("Third?");
        string said = "";
        for (int reload = 0; reload < 3; reload++)
        {
            int before = mira.Frames.Count;
            world.Until(() => mira.Frames.Count > before, "the answer goes on");
            mira.Agent.SetVariable("level", 7 + reload);
            string state = world.Core.Detach();
            said += mira.Said(2, "mira");
            world = Again(world, state);
            mira = new Character(world, world.Core.FindAgent("mira"));
        }
        world.Until(() => mira.Ends.Count == 2, "both turns end");
        said += mira.Said(2, "mira");
        World.Equal(mira.Ends[0].Interaction.Outputs[0].Text, said, "what was said across the reloads");
        World.Equal(mira.Turns(), "First?/Success Second?/Success Third?/Success", "the dialog");
        World.Equal(mira.Said(mira.Ends[1].TurnId, "note"), "9", "the variable");
        World.Equal(world.Core.SidecarPid, pid, "the sidecar");
        World.Equal(world.Count("gone"), 0, "how often the game was told of a loss");
        World.Equal(world.Core.State, CoreState.Ready, "the state");

        world.Kill();
        world.Until(() => world.Core.State == CoreState.Gone, "it is gone");
        world.Until(() => world.Core.State == CoreState.Ready, "another one is there");
        Character canned = world.Make("canned");
        World.Equal(canned.Turn("Hello?").Status, TurnStatus.Success, "a turn with the storage of before");
        World.Equal(mira.Turn("Fourth?").Status, TurnStatus.Success, "the turn after that");
        World.Equal(mira.Said(mira.Ends[2].TurnId, "note"), "9", "the variable in the next sidecar");
        world.End();
        return new JObject();
    }

    /// <summary>The sidecar dies during the reload: as after any other loss.</summary>
    public static JObject Dead(World world)
    {
        Character mira = world.Ready().Make("long", new AgentOptions { Key = "mira" });
        World.Equal(mira.Turn("First?").Status, TurnStatus.Success, "the first turn");
        mira.Agent.Say("Second?");
        world.Until(() => mira.Frames.Exists(frame => frame.TurnId == 2), "the answer begins");
        int pid = world.Core.SidecarPid;
        string state = world.Core.Detach();
        string said = mira.Said(2, "mira");
        using (Process process = Process.GetProcessById(pid))
        {
            process.Kill();
            process.WaitForExit(5000);
        }
        world = Again(world, state);
        mira = new Character(world, world.Core.FindAgent("mira"));
        world.Until(() => world.Core.State == CoreState.Ready, "another one is there");
        World.Equal(world.Count("gone"), 1, "how often the game was told of the loss");
        World.Equal(world.Count("back"), 1, "how often it was told of the new one");
        World.Equal(mira.Ends.Count, 1, "ends");
        World.Equal(mira.Ends[0].Status, TurnStatus.Error, "the turn that was cut");
        World.Equal(mira.Ends[0].Interaction.Outputs[0].Text, said, "what was seen of it");
        World.Equal(mira.Turn("Third?").Status, TurnStatus.Success, "the turn after that");
        World.Equal(mira.Turns(), "First?/Success Second?/Error Third?/Success", "the dialog");
        world.End();
        return new JObject();
    }

    /// <summary>The reload took longer than the sidecar keeps a session.</summary>
    public static JObject Expired(World world)
    {
        Character mira = world.Ready().Make("long", new AgentOptions { Key = "mira" });
        World.Equal(mira.Turn("First?").Status, TurnStatus.Success, "the first turn");
        int pid = world.Core.SidecarPid;
        string state = world.Core.Detach();
        Thread.Sleep((int)world.Settings["reload_ms"]);
        world = Again(world, state);
        mira = new Character(world, world.Core.FindAgent("mira"));
        world.Until(() => world.Core.State == CoreState.Ready, "all is there again");
        World.Equal(world.Core.SidecarPid, pid, "the sidecar");
        World.Equal(world.Count("back"), 1, "how often it was told");
        World.Equal(mira.Turn("Second?").Status, TurnStatus.Success, "the turn after that");
        World.Equal(mira.Turns(), "First?/Success Second?/Success", "the dialog");
        world.End();
        return new JObject();
    }

    /// <summary>A second reload before the session of the first goes on: still nothing is lost.</summary>
    public static JObject Twice(World world)
    {
        Character mira = world.Ready().Make("long", new AgentOptions { Key = "mira" });
        World.Equal(mira.Turn("First?").Status, TurnStatus.Success, "the first turn");
        int pid = world.Core.SidecarPid;
        mira.Agent.Say("Second?");
        world.Until(() => mira.Frames.Exists(frame => frame.TurnId == 2), "the answer begins");
        string state = world.Core.Detach();
        string said = mira.Said(2, "mira");
        for (int reload = 0; reload < 3; reload++)
        {
            world = Again(world, state);
            // Detach hands on what came meanwhile.
            Character passing = new Character(world, world.Core.FindAgent("mira"));
            passing.Agent.SetVariable("level", 7 + reload);
            string name = reload == 2 ? "lines" : "lines " + reload;
            world.Core.MakeStorage(new CreateStringStorage { Name = name, Strings = new List<string> { "One." } });
            state = world.Core.Detach();
            said += passing.Said(2, "mira");
        }
        world = Again(world, state);
        mira = new Character(world, world.Core.FindAgent("mira"));
        world.Until(() => mira.Ends.Count == 1, "the turn ends");
        World.Equal(mira.Ends[0].Interaction.Outputs[0].Text, said + mira.Said(2, "mira"), "what was said");
        World.Equal(world.Core.SidecarPid, pid, "the sidecar");
        World.Equal(world.Count("gone"), 0, "how often the game was told of a loss");
        World.Equal(mira.Turn("Third?").Status, TurnStatus.Success, "the turn after that");
        World.Equal(mira.Said(3, "note"), "9", "the variable");
        World.Equal(world.Make("canned").Turn("Hello?").Status, TurnStatus.Success, "a turn with the storage");
        world.End();
        return new JObject();
    }

    /// <summary>What is asked before the session goes on is done as soon as it does.</summary>
    public static JObject Asking(World world)
    {
        Character mira = world.Ready().Make("long", new AgentOptions { Key = "mira" });
        world.Core.MakeStorage(new CreateStringStorage { Name = "lines", Strings = new List<string> { "Old." } });
        World.Equal(mira.Turn("First?").Status, TurnStatus.Success, "the first turn");
        mira.Agent.Say("Second?");
        world.Until(() => mira.Frames.Exists(frame => frame.TurnId == 2), "the answer begins");
        int pid = world.Core.SidecarPid;
        world = Again(world, world.Core.Detach());
        mira = new Character(world, world.Core.FindAgent("mira"));
        List<string> answers = new List<string>();
        Action<ParleyException> note = fault => answers.Add("" + fault);
        mira.Agent.Cancel();
        mira.Agent.SetVariable("level", 5, note);
        world.Core.Configure(new ConfigureSession { StorageFolder = (string)world.Settings["storage"] }, note);
        world.Core.DropStringStorage("lines", note);
        world.Core.MakeStorage(new CreateStringStorage { Name = "lines", Strings = new List<string> { "New." } }, note);
        world.Core.PinModel("slow", note);
        world.Core.Request(new ListModels(), (reply, fault) => answers.Add("" + fault));
        world.Until(() => answers.Count == 6, "all of it is answered");
        World.Check(answers.TrueForAll(answer => answer.Length == 0), string.Join("\n", answers.ToArray()));
        world.Until(() => mira.Ends.Count == 1, "the turn ends");
        World.Equal(mira.Ends[0].Status, TurnStatus.Cancelled, "the turn that was cancelled before the session went on");
        World.Equal(world.Core.SidecarPid, pid, "the sidecar");
        Character canned = world.Make("canned");
        World.Equal(canned.Turn("Hello?").Status, TurnStatus.Success, "a turn with the storage");
        World.Equal(canned.Said(1, "c"), "New.", "what it says");
        world.End();
        return new JObject();
    }

    /// <summary>What was asked of an agent that is not made yet is asked again.</summary>
    public static JObject Making(World world)
    {
        world.Begin().Add("slow", new AgentOptions { Key = "early" }).Agent.SetVariable("level", 8);
        world = Again(world, world.Core.Detach());
        Character early = new Character(world, world.Core.FindAgent("early"));
        world.Core.Start();
        world.Until(() => early.Agent.State == AgentState.Ready, "the one of before the start is made");
        World.Equal(early.Turn("Hello?").Status, TurnStatus.Success, "its turn");
        World.Equal(early.Said(1, "note"), "8", "its variable");
        Character mira = world.Add("slow", new AgentOptions { Key = "mira" });
        mira.Agent.SetVariable("level", 4);
        mira.Agent.ChangeParams("mira", new JObject { { "history_name", "M" } });
        mira.Agent.LoadDialog("[{\"user\": \"Before?\", \"replies\": [{\"node_name\": \"mira\", \"text\": \"Aye.\"}]}]");
        mira.Agent.Say("Hello?");
        world = Again(world, world.Core.Detach());
        mira = new Character(world, world.Core.FindAgent("mira"));
        world.Until(() => mira.Ends.Count == 1, "the line that waited is answered");
        world.Until(() => mira.Agent.Dialog.Interactions.Count == 2, "the dialog is there");
        World.Equal(mira.Said(mira.Ends[0].TurnId, "note"), "4", "the variable");
        World.Equal(mira.Turns(), "Before?/Success Hello?/Success", "the dialog");
        Params found = null;
        mira.Agent.GetParams("mira", (reply, fault) => found = reply);
        world.Until(() => found != null, "the parameters");
        World.Equal((string)found.Content["history_name"], "M", "a parameter");

        mira.Agent.LoadDialog("[{\"user\": \"Once?\", \"replies\": []}]");
        World.Equal(mira.Agent.Say("And then?"), SayOutcome.Queued, "a line behind a dialog that is being loaded");
        world.Until(() => mira.Ends.Count == 2, "it is answered");
        World.Equal(mira.Turns(), "Once?/Success And then?/Success", "the dialog");
        mira.Agent.LoadDialog("[{\"user\": \"Another?\", \"replies\": []}]");
        Breaking.Frames(world, 1);
        world = Again(world, world.Core.Detach());
        mira = new Character(world, world.Core.FindAgent("mira"));
        world.Until(() => mira.Turns() == "Another?/Success", "the dialog that was being loaded");
        mira.Agent.TruncateDialog(0);
        world = Again(world, world.Core.Detach());
        mira = new Character(world, world.Core.FindAgent("mira"));
        world.Until(() => mira.Turns() == "", "the dialog that was being cut");
        world.End();
        return new JObject();
    }

    /// <summary>An agent that could not be made says why after a reload too.</summary>
    public static JObject Failed(World world)
    {
        Character broken = world.Ready().Add("broken", new AgentOptions { Key = "broken" });
        world.Until(() => broken.Agent.State == AgentState.Failed, "it is refused");
        string why = broken.Agent.Trouble.ToString();
        int problems = broken.Agent.Trouble.Problems.Count;
        Character mira = world.Make("slow", new AgentOptions { Key = "mira" });
        ParleyException endless = world.Wait(
            done => mira.Agent.SetVariable("level", double.PositiveInfinity, done), "a number without a form");
        World.Equal(endless.Code, ErrorCode.InvalidValue, "the fault");
        JArray deep = new JArray();
        for (int depth = 0; depth < 200; depth++)
        {
            JArray outer = new JArray();
            outer.Add(deep);
            deep = outer;
        }
        world.Core.CreateAgent(new AgentOptions { Key = "deep", Workflow = new JObject { { "nodes", deep } } });
        world.Core.CreateAgent(new AgentOptions
        {
            Key = "endless", Workflow = world.Workflow("slow"), Variables = new JObject { { "level", double.NaN } },
        });
        World.Equal(mira.Agent.Say("half a letter: \ud83d"), SayOutcome.Sent, "a line");
        world = Again(world, world.Core.Detach());
        CoreAgent agent = world.Core.FindAgent("broken");
        World.Equal(agent.State, AgentState.Failed, "the state");
        World.Equal(agent.Trouble.ToString(), why, "why");
        World.Equal(agent.Trouble.Problems.Count, problems, "the findings");
        ParleyException fault = world.Wait(done => agent.SetVariable("level", 3, done), "a change");
        World.Equal(fault.Code, ErrorCode.WorkflowInvalid, "the fault");
        World.Check(agent.SayAsync("Hello?").IsFaulted, "a line is said");
        mira = new Character(world, world.Core.FindAgent("mira"));
        world.Until(() => !mira.Agent.IsBusy, "the turn ends");
        World.Equal(mira.Turns(), "half a letter: \ufffd/Success", "the dialog");
        World.Check(world.Core.FindAgent("deep") == null, "what is nested too deeply is there");
        World.Check(world.Core.FindAgent("endless") == null, "what has a number without a form is there");
        world.End();
        return new JObject();
    }

    /// <summary>The reload comes while the connection is broken: what never came to the sidecar is said again.</summary>
    public static JObject Unsent(World world)
    {
        Character mira = world.Ready().Make("slow", new AgentOptions { Key = "mira" });
        Console.Out.WriteLine("go");
        Console.Out.Flush();
        world.Until(() => world.Count("link lost") > 0, "the connection is lost");
        mira.Agent.SetVariable("level", 6);
        World.Equal(mira.Agent.Say("First?"), SayOutcome.Sent, "a line");
        Breaking.Frames(world, 5);
        world = Again(world, world.Core.Detach());
        mira = new Character(world, world.Core.FindAgent("mira"));
        world.Until(() => mira.Ends.Count == 1, "the turn ends");
        World.Equal(mira.Ends[0].Status, TurnStatus.Success, "its status");
        World.Equal(mira.Said(1, "note"), "6", "the variable");
        World.Equal(mira.Turns(), "First?/Success", "the dialog");
        World.Equal(world.Count("gone"), 0, "how often the sidecar was taken for lost");
        world.End();
        return new JObject();
    }

    /// <summary>Real domains: one is unloaded in the middle of a turn, with threads that read and wait.</summary>
    public static JObject Domains(World world)
    {
        string settings = world.Settings.ToString(Formatting.None);
        JArray unloads = new JArray();
        string state = null;
        string said = "";
        for (int round = 0; round < 3; round++)
        {
            AppDomain domain = AppDomain.CreateDomain("round " + round);
            Inside inside = (Inside)domain.CreateInstanceAndUnwrap(typeof(Inside).Assembly.FullName, typeof(Inside).FullName);
            JObject told = JObject.Parse(inside.Play(settings, state, round == 2));
            said += (string)told["said"];
            state = (string)told["state"];
            Stopwatch watch = Stopwatch.StartNew();
            AppDomain.Unload(domain);
            unloads.Add(watch.Elapsed.TotalMilliseconds);
            if (round == 2)
            {
                World.Equal((string)told["whole"], said, "what was said across the domains");
                World.Check(!World.IsThere((int)told["pid"]), "the process is still there");
            }
        }
        return new JObject { { "unloads_ms", unloads } };
    }

    /// <summary>A domain is thrown away without a word: it goes, and so does the sidecar in the end.</summary>
    public static JObject Unasked(World world)
    {
        AppDomain domain = AppDomain.CreateDomain("rude");
        Inside inside = (Inside)domain.CreateInstanceAndUnwrap(typeof(Inside).Assembly.FullName, typeof(Inside).FullName);
        int pid = inside.Leave(world.Settings.ToString(Formatting.None));
        Stopwatch watch = Stopwatch.StartNew();
        AppDomain.Unload(domain);
        double unload = watch.Elapsed.TotalMilliseconds;
        World.Check(World.IsThere(pid), "the sidecar is gone with the domain");
        Character mira = world.Ready().Make("slow");
        World.Equal(mira.Turn("Hello?").Status, TurnStatus.Success, "the turn in the next domain");
        world.End();
        return new JObject { { "unload_ms", unload }, { "pid", pid } };
    }

    /// <summary>A game that goes on where another one left off.</summary>
    public static World Again(World world, string state)
    {
        World next = new World(world.Settings);
        next.Begin(ParleyCore.Attach(next.Options(), state));
        return next;
    }

    /// <summary>A game within one domain.</summary>
    public sealed class Inside : MarshalByRefObject
    {
        public string Play(string settings, string state, bool isLast)
        {
            try
            {
                return Played(settings, state, isLast);
            }
            catch (Failed fault)
            {
                // Of a type that every domain has.
                throw new InvalidOperationException(fault.Message + fault.StackTrace + World.Last.Words());
            }
        }

        public int Leave(string settings)
        {
            World world = new World(JObject.Parse(settings));
            world.Ready().Make("long").Agent.Say("Hello?");
            world.Until(() => world.Count("answer") > 0, "the answer begins");
            return world.Core.SidecarPid;
        }

        private static string Played(string settings, string state, bool isLast)
        {
            World world = new World(JObject.Parse(settings));
            Character mira;
            if (state == null)
            {
                mira = world.Ready().Make("long", new AgentOptions { Key = "mira" });
                World.Equal(mira.Turn("First?").Status, TurnStatus.Success, "the first turn");
                mira.Agent.Say("Second?");
            }
            else
            {
                world.Begin(ParleyCore.Attach(world.Options(), state));
                mira = new Character(world, world.Core.FindAgent("mira"));
            }
            JObject told = new JObject { { "pid", world.Core.SidecarPid } };
            if (isLast)
            {
                world.Until(() => mira.Ends.Count == 1, "the turn ends");
                told["said"] = mira.Said(2, "mira");
                told["whole"] = mira.Ends[0].Interaction.Outputs[0].Text;
                world.End();
                return told.ToString(Formatting.None);
            }
            world.Until(() => mira.Frames.FindAll(frame => frame.TurnId == 2).Count > 3, "some of the answer is there");
            told["state"] = world.Core.Detach();
            told["said"] = mira.Said(2, "mira");
            return told.ToString(Formatting.None);
        }
    }
}
