// What a game should not do, and what happens at the wrong moment: the core bears it.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;

public static class Breaking
{
    /// <summary>Callbacks that run the loop, destroy whom they hear of, and throw.</summary>
    public static JObject Nested(World world)
    {
        world.Ready();
        int nested = 0;
        bool isPosted = false;
        world.Core.Post(() =>
        {
            world.Core.Post(() => nested++);
            World.Equal(world.Core.Update(1.0), 0, "frames that an Update within an Update took");
            world.Core.Post(() => isPosted = true);
        });
        world.Until(() => isPosted, "what a callback posted is done");
        World.Equal(nested, 1, "how often it was done");

        Character mira = world.Make("slow");
        mira.Agent.Answer += frame => world.Core.Update(double.PositiveInfinity);
        World.Equal(mira.Turn("Hello?").Status, TurnStatus.Success, "a turn whose handler runs the loop");

        for (int line = 0; line < 1200; line++)
        {
            world.Core.Post(() => { throw new InvalidOperationException("line"); });
        }
        int most = 0;
        world.Until(
            () =>
            {
                int before = world.Log.Count;
                world.Core.Update(double.PositiveInfinity);
                most = Math.Max(most, world.Log.Count - before);
                return world.Logged("log lines were left out");
            },
            "more is logged than is kept");
        World.Check(most <= 51, most + " lines in one Update");
        Frames(world, 50);
        world.Log.Clear();

        List<string> heard = new List<string>();
        foreach (string moment in new[] { "Made", "Answer", "NodeEvent", "TurnCompleted" })
        {
            Character gone = world.Add(moment == "NodeEvent" ? "tools" : "slow");
            CoreAgent agent = gone.Agent;
            agent.Made += made => End(agent, "Made", moment, heard);
            agent.Answer += frame => End(agent, "Answer", moment, heard);
            agent.NodeEvent += happened => End(agent, "NodeEvent", moment, heard);
            agent.TurnCompleted += complete => End(agent, "TurnCompleted", moment, heard);
            SayOutcome outcome = agent.Say("Hello?");
            World.Check(outcome == SayOutcome.Sent || outcome == SayOutcome.Queued, moment + ": " + outcome);
            world.Until(() => agent.State == AgentState.Destroyed, "it is destroyed in " + moment);
            World.Equal(gone.Ends.Count, 1, "ends of the line of whoever was destroyed in " + moment);
            World.Equal(gone.Calls.Count, 0, "calls of whoever was destroyed");
        }
        int frames = mira.Frames.Count;
        World.Equal(mira.Turn("Again?").Status, TurnStatus.Success, "a turn of another one");
        World.Check(mira.Frames.Count > frames, "nothing came");
        World.Check(!world.Logged("a callback threw") && !world.Logged("a fault inside"), world.Words());

        mira.Agent.TurnCompleted += complete => { throw new InvalidOperationException("on purpose"); };
        world.Core.Pushed += push => { throw new InvalidOperationException("on purpose"); };
        World.Equal(mira.Turn("And now?").Status, TurnStatus.Success, "a turn whose handlers throw");
        world.Core.Request(new GetStatus(), (reply, fault) => { throw new InvalidOperationException("on purpose"); });
        world.Until(() => world.Logged("a callback threw: System.InvalidOperationException: on purpose"), "it is told");
        Agents found = null;
        world.Core.Request(new ListAgents(), (reply, fault) => found = reply as Agents);
        world.Until(() => found != null, "the agents");
        World.Equal(found.Items.Count, 1, "agents that are left");
        world.End();
        return new JObject { { "heard", new JArray(heard) } };
    }

    private static void End(CoreAgent agent, string name, string moment, List<string> heard)
    {
        heard.Add(name + " for " + moment);
        if (name == moment)
        {
            agent.Destroy();
        }
    }

    /// <summary>What cannot be written is refused by itself, and stands in nobody's way.</summary>
    public static JObject Unwritable(World world)
    {
        world.Begin();
        Character mira = world.Add("slow");
        List<ParleyException> faults = new List<ParleyException>();
        mira.Agent.EditDialog(0, "x", new List<ShortReply> { null }, faults.Add);
        ParleyException storage = null;
        CreateStringStorage lines = new CreateStringStorage { Name = "lines", Strings = new List<string> { "One." } };
        world.Core.MakeStorage(lines, fault => storage = fault);
        lines.Name = "changed afterwards";
        lines.Strings.Clear();
        world.Core.Start();
        world.Until(() => world.Core.State == CoreState.Ready, "it is ready all the same");
        World.Equal(faults.Count, 1, "answers");
        World.Equal(faults[0].Code, ErrorCode.InvalidValue, "the fault");
        World.Check(storage == null, "" + storage);
        Character canned = world.Make("canned");
        World.Equal(canned.Turn("Hello?").Status, TurnStatus.Success, "a turn with the storage as it was asked for");
        World.Equal(mira.Turn("Hello?").Status, TurnStatus.Success, "a turn");
        mira.Agent.EditDialog(0, "x", new List<ShortReply> { null }, faults.Add);
        world.Until(() => faults.Count == 2, "the second answer");
        world.End();
        return new JObject();
    }

    /// <summary>A handler of the loss ends it all: whoever still waits for an answer is told so.</summary>
    public static JObject StopWhenGone(World world)
    {
        Character mira = world.Ready().Make("slow");
        world.Core.StateChanged += state =>
        {
            if (state == CoreState.Gone)
            {
                world.Core.Stop();
            }
        };
        Signal("STOP", world.Core.SidecarPid);
        List<string> faults = new List<string>();
        mira.Agent.SetVariable("level", 3, fault => faults.Add("" + fault));
        world.Core.Request(new ListModels(), (reply, fault) => faults.Add("" + fault));
        Task<TurnComplete> said = mira.Agent.SayAsync("Hello?");
        Task<TurnComplete> waits = mira.Agent.SayAsync("Hello again?");
        Frames(world, 10);
        world.Kill();
        world.Until(() => world.Core.State == CoreState.Stopped, "the handler ended it");
        world.Until(() => faults.Count == 2, "both requests are answered");
        World.Check(faults.TrueForAll(fault => fault.Contains("SidecarFailed")), string.Join("\n", faults.ToArray()));
        World.Check(said.IsCompleted && waits.IsCompleted, "somebody waits for ever");
        World.Equal(mira.Ends.Count, 2, "ends");
        return new JObject();
    }

    /// <summary>Stopped, started and stopped at once: the end that is waited for is that of both.</summary>
    public static JObject StopTwice(World world)
    {
        world.Ready();
        int first = world.Core.SidecarPid;
        Signal("STOP", first);
        world.Core.Stop();
        world.Core.Start();
        world.Until(() => world.Core.SidecarPid != 0, "another process is there");
        int second = world.Core.SidecarPid;
        World.Check(world.Core.Stop(10000), "the end does not come");
        World.Check(!World.IsThere(first), "the first process is still there");
        World.Check(!World.IsThere(second), "the second process is still there");
        World.Equal(world.Core.State, CoreState.Stopped, "the state");
        return new JObject();
    }

    /// <summary>A session that expires, and a handler that begins anew at once: one session comes of it.</summary>
    public static JObject Expires(World world)
    {
        world.Begin();
        bool isFirst = true;
        world.Core.Gone += why =>
        {
            if (isFirst)
            {
                isFirst = false;
                world.Core.Stop();
                world.Core.Start();
            }
        };
        world.Core.Start();
        world.Until(() => world.Core.State == CoreState.Ready, "the first session is there");
        world.Core.Request(new ListModels(), (reply, fault) => { });
        world.Until(() => world.Count("gone") == 1, "the session expires");
        world.Until(() => world.Core.State == CoreState.Ready, "another session is there");
        Frames(world, 100);
        world.Core.Stop(5000);
        return new JObject();
    }

    /// <summary>A session ends while an agent is made: it is made in the next one.</summary>
    public static JObject MadeAtLast(World world)
    {
        world.Begin();
        Character mira = world.Add("slow");
        world.Core.Start();
        world.Until(() => world.Core.State == CoreState.Ready, "it is ready at last");
        World.Equal(mira.Agent.State, AgentState.Ready, "the agent");
        World.Check(world.Logged("AnswerText: $."), world.Words());
        world.Core.Stop(5000);
        return new JObject();
    }

    /// <summary>Frames of turns that nobody asked for, and ends that come twice: each line still ends once.</summary>
    public static JObject Strangers(World world)
    {
        Character mira = world.Ready().Make("slow");
        TurnComplete end = mira.Turn("Hello?");
        World.Equal(end.TurnId, 1L, "the turn that ended");
        Frames(world, 50);
        World.Equal(mira.Ends.Count, 1, "ends");
        World.Equal(mira.Said(1, "n"), "right", "what was said");
        World.Equal(mira.Frames.Count, 1, "frames");
        World.Check(!mira.Agent.IsBusy, "it is busy");
        world.Core.Stop(5000);
        return new JObject { { "turns", mira.Agent.Dialog.Interactions.Count } };
    }

    /// <summary>A sidecar that says anything at all: no Update throws, and what it says wrong is its own affair.</summary>
    public static JObject Babble(World world)
    {
        world.Begin();
        List<Character> all = new List<Character>();
        for (int index = 0; index < 3; index++)
        {
            all.Add(world.Add("slow", new AgentOptions { Key = "" + index }));
        }
        world.Core.Start();
        int answers = 0;
        int asked = 0;
        Stopwatch watch = Stopwatch.StartNew();
        while (watch.Elapsed.TotalSeconds < (double)world.Settings["seconds"])
        {
            foreach (Character one in all)
            {
                one.Agent.Say("Hello?");
                one.Agent.SetVariable("level", 3, fault => answers++);
                one.Agent.SaveDialog((text, fault) => answers++);
                one.Agent.TruncateDialog(1, fault => answers++);
                one.Agent.GetParams("mira", (found, fault) => answers++);
                one.Agent.LoadDialog("[]", fault => answers++);
                asked += 5;
            }
            world.Core.Request(new ListAgents(), (reply, fault) => answers++);
            asked++;
            Frames(world, 5);
        }
        World.Check(world.Core.IsConnected, "the session is over: " + world.Words());
        world.Core.Stop();
        world.Until(() => world.Core.State == CoreState.Stopped && answers == asked, "all of it is answered");
        World.Check(!world.Logged("a fault inside") && !world.Logged("threw"), world.Words());
        return new JObject { { "asked", asked } };
    }

    /// <summary>Tokens that are cancelled before, during and after, here and on other threads.</summary>
    public static JObject Tokens(World world)
    {
        Character mira = world.Ready().Make("slow");
        CancellationTokenSource before = new CancellationTokenSource();
        before.Cancel();
        Task<TurnComplete> first = mira.Agent.SayAsync("First?", before.Token);
        world.Until(() => first.IsCompleted, "the turn of a token that was cancelled before ends");
        World.Equal(first.Result.Status, TurnStatus.Cancelled, "its status");
        CancellationTokenSource during = new CancellationTokenSource();
        Task<TurnComplete> second = mira.Agent.SayAsync("Second?", during.Token);
        Task<TurnComplete> third = mira.Agent.SayAsync("Third?", during.Token);
        ThreadPool.QueueUserWorkItem(state => during.Cancel());
        world.Until(() => second.IsCompleted && third.IsCompleted, "both end");
        World.Equal(third.Result.Status, TurnStatus.Cancelled, "the status of the one that waited");
        CancellationTokenSource after = new CancellationTokenSource();
        Task<TurnComplete> fourth = mira.Agent.SayAsync("Fourth?", after.Token);
        world.Until(() => fourth.IsCompleted, "the fourth ends");
        after.Cancel();
        World.Equal(fourth.Result.Status, TurnStatus.Success, "its status");
        Task<Reply> asked = world.Core.RequestAsync(new GetStatus(), before.Token);
        world.Until(() => asked.IsCompleted, "a request that nobody waits for");
        World.Check(asked.IsCanceled, "it is not cancelled");
        Task<CoreAgent> made = world.Core.CreateAgentAsync(new AgentOptions { Key = "x", Workflow = world.Workflow("slow") });
        world.Core.FindAgent("x").Destroy();
        World.Check(made.IsFaulted, "the making of whoever is destroyed does not end");
        int level = 0;
        Thread[] threads = new Thread[4];
        for (int index = 0; index < threads.Length; index++)
        {
            threads[index] = new Thread(() =>
            {
                for (int time = 0; time < 250; time++)
                {
                    world.Core.Post(() => level++);
                }
            });
            threads[index].Start();
        }
        world.Until(() => level == 1000, "what other threads post is done");
        World.Equal(mira.Turn("Fifth?").Status, TurnStatus.Success, "the turn after that");
        Task left = mira.Agent.SetVariablesAsync(new JObject { { "level", 5 } });
        world.End();
        World.Check(left.IsCompleted, "a task is left behind");
        return new JObject();
    }

    /// <summary>Two cores in one process know nothing of each other.</summary>
    public static JObject Two(World world)
    {
        World other = new World(world.Settings);
        Character mira = world.Ready().Make("wordy");
        Character bram = other.Ready().Make("wordy");
        mira.Agent.Say("Hello?");
        bram.Agent.Say("Hello?");
        world.Until(() => mira.Frames.Count > 0, "the first answers");
        other.Until(() => bram.Frames.Count > 0, "the second answers");
        other.End();
        World.Equal(bram.Ends[0].Status, TurnStatus.Cancelled, "the turn of the second");
        world.Until(() => mira.Ends.Count == 1, "the first goes on");
        World.Equal(mira.Ends[0].Status, TurnStatus.Success, "its turn");
        other.Core.Start();
        other.Until(() => bram.Agent.State == AgentState.Ready, "the second begins again");
        world.End();
        World.Equal(bram.Turn("Again?").Status, TurnStatus.Success, "the second goes on");
        other.End();
        return new JObject();
    }

    /// <summary>The process stands still while a sidecar starts, for longer than that may take.</summary>
    public static JObject Paused(World world)
    {
        SidecarOptions launch = world.Launch();
        launch.OwnerPid = -1;
        launch.StartTimeoutS = 1.0;
        SidecarProcess process = new SidecarProcess(launch, null);
        process.Start();
        while (process.Pid == 0)
        {
            Thread.Sleep(5);
        }
        Console.Out.WriteLine("go");
        Console.Out.Flush();
        for (int look = 0; look < 1000 && process.State == SidecarState.Starting; look++)
        {
            Thread.Sleep(5);
        }
        World.Check(process.State == SidecarState.Ready, process.State + ": " + process.Why);
        process.Stop(0);
        World.Check(process.WaitUntilEnded(5000), "it does not end");
        return new JObject();
    }

    /// <summary>A long dialog in the mirror, in a state of Detach and in the next sidecar.</summary>
    public static JObject LongDialog(World world)
    {
        int count = (int)world.Settings["count"];
        JArray turns = new JArray();
        for (int index = 0; index < count; index++)
        {
            turns.Add(new JObject
            {
                { "user", "Line " + index + " »酒場« " + new string('x', 60) },
                { "replies", new JArray(new JObject { { "node_name", "mira" }, { "text", new string('y', 120) } }) },
            });
        }
        Character mira = world.Ready().Make("slow", new AgentOptions { Key = "mira", SeedDialog = turns });
        World.Equal(mira.Agent.Dialog.Interactions.Count, count, "turns");
        Stopwatch watch = Stopwatch.StartNew();
        string state = world.Core.Detach();
        double detach = watch.Elapsed.TotalMilliseconds;
        watch = Stopwatch.StartNew();
        World next = new World(world.Settings);
        next.Begin(ParleyCore.Attach(next.Options(), state));
        double attach = watch.Elapsed.TotalMilliseconds;
        next.Until(() => next.Core.State == CoreState.Ready, "it goes on");
        next.Kill();
        next.Until(() => next.Core.State == CoreState.Gone, "it is gone");
        double again = next.Until(() => next.Core.State == CoreState.Ready, "another one has the dialog");
        mira = new Character(next, next.Core.FindAgent("mira"));
        string saved = null;
        mira.Agent.SaveDialog((text, fault) => saved = text);
        next.Until(() => saved != null, "the dialog is saved");
        World.Equal(((JArray)JsonText.Parse(saved)["interactions"]).Count, count, "turns that are saved");
        next.End();
        return new JObject
        {
            { "detach_ms", detach }, { "attach_ms", attach }, { "again_s", again }, { "longest_update_ms", next.Longest },
            { "state_chars", state.Length },
        };
    }

    /// <summary>Many turns: what is left on the heap beside the dialog, and the threads and files there are.</summary>
    public static JObject ManyTurns(World world)
    {
        Character mira = world.Ready().Make("slow");
        JArray heaps = new JArray();
        int turns = (int)world.Settings["turns"];
        for (int turn = 0; turn < turns; turn++)
        {
            mira.Turn("Line " + turn);
            mira.Frames.Clear();
            mira.Ends.Clear();
            world.Events.Clear();
            world.Log.Clear();
            if (turn % 50 == 49)
            {
                bool isEmpty = false;
                mira.Agent.TruncateDialog(0, fault => isEmpty = true);
                world.Until(() => isEmpty, "the dialog is forgotten");
            }
            if (turn % (turns / 5) == turns / 5 - 1)
            {
                heaps.Add(GC.GetTotalMemory(true));
            }
        }
        world.End();
        return new JObject { { "heaps", heaps } };
    }

    /// <summary>The sidecar stands still for a while, in the middle of a turn.</summary>
    public static JObject StandsStill(World world)
    {
        Character mira = world.Ready().Make("slow");
        mira.Agent.Say("One.");
        world.Until(() => mira.Ends.Count == 1, "the first turn");
        mira.Agent.Say("Two.");
        world.Until(() => mira.Frames.Exists(frame => frame.TurnId == 2), "the second answer begins");
        int pid = world.Core.SidecarPid;
        Signal("STOP", pid);
        Stopwatch watch = Stopwatch.StartNew();
        double seconds = (double)world.Settings["seconds"];
        world.Until(() => watch.Elapsed.TotalSeconds > seconds, "time goes by", seconds + 10);
        Signal("CONT", pid);
        world.Until(() => mira.Ends.Count == 2, "the turn ends");
        World.Equal(mira.Ends[1].Status, TurnStatus.Success, "its status");
        World.Equal(mira.Said(2, "mira"), mira.Ends[1].Interaction.Outputs[0].Text, "what was said");
        World.Equal(world.Core.SidecarPid, pid, "the process");
        World.Equal(world.Count("gone"), 0, "how often it was taken for lost");
        world.End();
        return new JObject { { "lost", world.Count("link lost") }, { "longest_update_ms", world.Longest } };
    }

    /// <summary>Nothing happens for a while: what that costs.</summary>
    public static JObject Rest(World world)
    {
        world.Ready().Make("slow");
        Process own = Process.GetCurrentProcess();
        double before = own.TotalProcessorTime.TotalMilliseconds;
        Stopwatch watch = Stopwatch.StartNew();
        while (watch.Elapsed.TotalSeconds < (double)world.Settings["seconds"])
        {
            world.Core.Update(1.0);
            Thread.Sleep(16);
        }
        own.Refresh();
        double used = own.TotalProcessorTime.TotalMilliseconds - before;
        world.End();
        return new JObject { { "cpu_ms_per_s", used / (double)world.Settings["seconds"] } };
    }

    public static void Frames(World world, int count)
    {
        for (int frame = 0; frame < count; frame++)
        {
            world.Frame();
            Thread.Sleep(2);
        }
    }

    public static void Signal(string name, int pid)
    {
        using (Process kill = Process.Start(new ProcessStartInfo("kill", "-" + name + " " + pid) { UseShellExecute = false }))
        {
            kill.WaitForExit();
            World.Equal(kill.ExitCode, 0, "kill");
        }
    }
}
