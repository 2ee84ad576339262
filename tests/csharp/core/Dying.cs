// What a game does when its sidecar dies.
using System;
using System.Collections.Generic;
using System.Linq;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;

public static class Dying
{
    /// <summary>Killed in the middle of a turn: all is as before, the turn that was cut ends, the game is told once.</summary>
    public static JObject Killed(World world)
    {
        world.Ready();
        world.Core.Configure(new ConfigureSession { StorageFolder = (string)world.Settings["storage"], GameName = "test" });
        world.Core.MakeStorage(new CreateStringStorage { Name = "lines", Strings = new List<string> { "One.", "Two." } });
        ParleyException twice = world.Wait(
            done => world.Core.MakeStorage(
                new CreateStringStorage { Name = "lines", Strings = new List<string> { "Three." } }, done),
            "a storage of the same name");
        World.Equal(twice.Code, ErrorCode.StorageExists, "the fault");
        world.Core.PinModel("slow");
        Character mira = world.Make("slow");
        Character canned = world.Make("canned", new AgentOptions
        {
            SeedDialog = JsonText.Parse("[{\"user\": \"Hello.\", \"replies\": [{\"node_name\": \"c\", \"text\": \"Zero.\"}]}]"),
        });
        World.Equal(mira.Turn("First?").Status, TurnStatus.Success, "the first turn");
        mira.Agent.SetVariable("level", 7);
        mira.Agent.ChangeParams(
            "mira",
            new JObject { { "system_prompt", "Mira keeps the inn." }, { "sampling", new JObject { { "temperature", 0.5 } } } });
        ParleyException refused = world.Wait(
            done => mira.Agent.ChangeParams("mira", new JObject { { "sampling", new JObject { { "top_k", 3 } } } }, done),
            "a change");
        World.Check(refused == null, "" + refused);
        int pid = world.Core.SidecarPid;
        mira.Agent.Say("Second?");
        world.Until(() => mira.Said(2, "mira").Split(' ').Length > 6, "half of the answer");
        World.Equal(mira.Agent.Say("Third?"), SayOutcome.Queued, "the line that waits");
        world.Kill();
        world.Until(() => world.Core.State == CoreState.Gone, "the game is told");
        World.Equal(canned.Agent.Say("And?"), SayOutcome.Queued, "a line while there is nobody");
        string meanwhile = null;
        mira.Agent.SaveDialog((text, fault) => meanwhile = text);
        world.Until(() => meanwhile != null, "a dialog is saved while there is nobody");
        World.Equal(((JArray)JsonText.Parse(meanwhile)["interactions"]).Count, 2, "turns that are saved");
        double pause = world.Until(() => world.Core.State == CoreState.Ready, "it is back");
        World.Check(world.Core.SidecarPid != pid, "it is the same process");
        World.Check(!World.IsThere(pid), "the old process is still there");
        TurnComplete cut = mira.Ends[1];
        World.Equal(cut.Status, TurnStatus.Error, "the turn that was cut");
        World.Equal(cut.Error.Code, (long)ErrorCode.ShuttingDown, "its code");
        World.Equal(cut.Interaction.Outputs[0].Text, mira.Said(2, "mira"), "what was seen of it");
        World.Equal(cut.Interaction.Outputs[0].HistoryName, "Mira", "who said it");
        world.Until(() => mira.Ends.Count == 3 && canned.Ends.Count == 1, "what waited is answered");
        World.Equal(mira.Ends[2].Status, TurnStatus.Success, "the line that waited");
        World.Equal(mira.Turns(), "First?/Success Second?/Error Third?/Success", "the dialog");
        World.Equal(canned.Turns(), "Hello./Success And?/Success", "the other dialog");
        World.Check(canned.Said(canned.Ends[0].TurnId, "c") != "Three.", "the storage that was refused is there");
        World.Equal(mira.Said(mira.Ends[2].TurnId, "note"), "7", "the variable");
        Params found = null;
        mira.Agent.GetParams("mira", (reply, fault) => found = reply);
        world.Until(() => found != null, "the parameters");
        World.Equal((string)found.Content["system_prompt"], "Mira keeps the inn.", "a parameter");
        World.Equal((int)found.Content["sampling"]["top_k"], 3, "another");
        World.Equal((double)found.Content["sampling"]["temperature"], 0.5, "a third");
        string saved = null;
        mira.Agent.SaveDialog((text, fault) => saved = text);
        world.Until(() => saved != null, "the dialog is saved");
        World.Check(
            JToken.DeepEquals(
                JsonText.Parse(saved)["interactions"], DialogMirror.JsonOf(mira.Agent.Dialog.ToDocument())["interactions"]),
            "the sidecar has another dialog than the mirror");
        World.Equal(world.Count("gone"), 1, "how often the game was told that it is gone");
        World.Equal(world.Count("back"), 1, "how often the game was told that it is back");
        World.Check(world.Events.IndexOf("gone") < world.Events.IndexOf("complete Error"), "the turn ended before the news");
        Models models = null;
        world.Core.Request(new ListModels(), (reply, fault) => models = reply as Models);
        world.Until(() => models != null, "the models");
        World.Equal(models.Items.Find(model => model.Name == "slow").Status, ModelStatus.Loaded, "the pinned model");
        world.End();
        return new JObject { { "pause_s", pause }, { "longest_update_ms", world.Longest } };
    }

    /// <summary>Requests that are asked of a sidecar that is dead already wait for the next one.</summary>
    public static JObject Idle(World world)
    {
        Character mira = world.Ready().Make("slow");
        world.Kill();
        mira.Agent.SetVariable("level", 3);
        ParleyException fault = world.Wait(
            done => mira.Agent.ChangeParams("mira", new JObject { { "history_name", "M" } }, done), "a change");
        World.Check(fault == null, "" + fault);
        Character other = world.Make("slow");
        World.Equal(mira.Turn("Hello?").Status, TurnStatus.Success, "the turn");
        World.Equal(mira.Said(1, "note"), "3", "the variable");
        World.Equal(other.Turn("Hello?").Status, TurnStatus.Success, "the turn of the new one");
        world.End();
        return new JObject();
    }

    /// <summary>Killed again and again: it is given up in words, and comes back when it is asked for.</summary>
    public static JObject GivenUp(World world)
    {
        CoreOptions options = world.Options();
        options.RestartPausesS = new[] { 0.0, 0.05 };
        world.Begin(new ParleyCore(options)).Core.Start();
        Character mira = world.Make("slow");
        world.Until(() => world.Core.State == CoreState.Ready, "it is ready");
        World.Equal(mira.Turn("First?").Status, TurnStatus.Success, "the turn");
        for (int time = 0; time < 3; time++)
        {
            world.Kill();
            world.Until(() => world.Core.State == CoreState.Gone, "it is gone");
            world.Until(() => world.Core.State == CoreState.Ready, "it is back");
            World.Equal(world.Core.Restarts, time + 1, "restarts");
        }
        mira.Agent.Say("Second?");
        world.Kill();
        world.Until(() => world.Core.State == CoreState.Down, "it is given up");
        World.Equal(world.Count("gave up"), 1, "how often the game was told");
        World.Check(world.Core.Trouble.Contains("4 times in a row"), world.Core.Trouble);
        World.Check(world.Core.Trouble.Contains("SIGKILL"), world.Core.Trouble);
        World.Equal(mira.Ends[1].Status, TurnStatus.Error, "the turn");
        World.Equal(mira.Agent.Say("Third?"), SayOutcome.Unavailable, "a line to nobody");
        ParleyException fault = world.Wait(done => mira.Agent.SetVariable("level", 3, done), "a change");
        World.Equal(fault.CodeName, "SidecarFailed", "the fault");
        for (int frame = 0; frame < 100; frame++)
        {
            world.Frame();
            System.Threading.Thread.Sleep(2);
        }
        World.Equal(world.Core.State, CoreState.Down, "the state after a while");
        world.Core.Start();
        world.Until(() => world.Core.State == CoreState.Ready, "it is back when it is asked for");
        World.Equal(mira.Turn("Fourth?").Status, TurnStatus.Success, "the turn after that");
        world.End();
        return new JObject { { "trouble", world.Core.Trouble } };
    }

    /// <summary>Killed before it is ready: the next one is started, and the game sees but one start.</summary>
    public static JObject WhileStarting(World world)
    {
        world.Begin();
        Character mira = world.Add("slow");
        world.Core.Start();
        world.Until(() => world.Core.SidecarPid != 0, "a process is there");
        world.Kill();
        world.Until(() => world.Core.State == CoreState.Ready, "it is ready");
        World.Equal(world.Core.Restarts, 1, "restarts");
        World.Equal(world.Count("gone"), 0, "how often the game was told of a loss");
        World.Equal(mira.Turn("Hello?").Status, TurnStatus.Success, "the turn");
        world.End();
        return new JObject();
    }

    /// <summary>The sidecar cannot be had: one sentence says why, at once or after as many tries as there are.</summary>
    public static JObject Hopeless(World world)
    {
        CoreOptions options = world.Options();
        double[] usual = options.RestartPausesS;
        JToken pauses = world.Settings["pauses"];
        options.RestartPausesS = pauses == null ? new[] { 0.0 } : pauses.Select(pause => (double)pause).ToArray();
        options.Launch.StartTimeoutS = (double?)world.Settings["start_timeout_s"] ?? options.Launch.StartTimeoutS;
        world.Begin(new ParleyCore(options));
        Character mira = world.Add("slow");
        mira.Agent.Say("Hello?");
        world.Core.Start();
        double took = world.Until(() => world.Core.State == CoreState.Down, "it is given up");
        World.Equal(mira.Ends.Count, 1, "ends of the line that waited");
        World.Equal(mira.Ends[0].Error.Name, "SidecarFailed", "how it ended");
        World.Equal(world.Count("gone"), 0, "how often the game was told of a loss");
        world.End();
        return new JObject
        {
            { "trouble", world.Core.Trouble }, { "restarts", world.Core.Restarts }, { "took_s", took },
            { "usual_pauses", new JArray(usual) },
        };
    }

    /// <summary>
    /// Killed at any moment, also while it starts and while agents are made: each line ends once, and the dialog is what
    /// was seen.
    /// </summary>
    public static JObject Anytime(World world)
    {
        Random dice = new Random((int)world.Settings["seed"]);
        CoreOptions options = world.Options();
        options.RestartPausesS = new[] { 0.0 };
        options.MaxRestarts = int.MaxValue;
        world.Begin(new ParleyCore(options));
        List<Character> all = new List<Character>();
        for (int index = 0; index < 3; index++)
        {
            all.Add(world.Add("slow"));
        }
        int[] taken = new int[all.Count];
        int level = 0;
        int[] levels = { 1, 1, 1 };
        world.Core.Start();
        long killed = 0;
        for (int kill = 0; kill < (int)world.Settings["kills"]; kill++)
        {
            bool waitsForAgents = dice.Next(3) > 0;
            if (waitsForAgents)
            {
                world.Until(() => world.Core.State == CoreState.Ready, "all is there");
            }
            else
            {
                world.Until(() => world.Core.SidecarPid != 0, "a process is there");
            }
            for (int frame = dice.Next(waitsForAgents ? 300 : 150); frame > 0; frame--)
            {
                world.Frame();
                int who = dice.Next(all.Count);
                if (dice.Next(8) == 0)
                {
                    SayOutcome outcome = all[who].Agent.Say("Line " + taken[who] + " of " + who);
                    taken[who] += outcome == SayOutcome.Sent || outcome == SayOutcome.Queued ? 1 : 0;
                }
                else if (dice.Next(20) == 0)
                {
                    all[who].Agent.SetVariable("level", ++level);
                    all[who].Agent.SetVariable("level", ++level);
                    levels[who] = level;
                }
                else if (dice.Next(60) == 0)
                {
                    all[who].Agent.Cancel();
                }
                System.Threading.Thread.Sleep(2);
            }
            if (World.IsThere(world.Core.SidecarPid))
            {
                killed = world.Core.SidecarPid;
                world.Kill();
            }
        }
        // One that was killed a moment ago still counts as ready until somebody notices.
        world.Until(
            () => world.Core.State == CoreState.Ready && world.Core.SidecarPid != killed, "all is there at last");
        world.Until(() => all.TrueForAll(one => !one.Agent.IsBusy), "nothing runs");
        for (int who = 0; who < all.Count; who++)
        {
            Character one = all[who];
            World.Equal(one.Ends.Count, taken[who], "ends of lines");
            foreach (TurnComplete end in one.Ends)
            {
                if (end.Interaction != null)
                {
                    World.Check(one.Agent.Dialog.Interactions.Contains(end.Interaction), "a turn is not in the dialog");
                }
            }
            HashSet<string> lines = new HashSet<string>();
            foreach (Interaction turn in one.Agent.Dialog.Interactions)
            {
                World.Check(lines.Add(turn.User), "a line is twice in the dialog: " + turn.User);
            }
            string saved = null;
            one.Agent.SaveDialog((text, fault) => saved = text);
            world.Until(() => saved != null, "the dialog is saved");
            World.Check(
                JToken.DeepEquals(
                    JsonText.Parse(saved)["interactions"],
                    DialogMirror.JsonOf(one.Agent.Dialog.ToDocument())["interactions"]),
                "the sidecar has another dialog than the mirror");
            int before = one.Ends.Count;
            World.Equal(one.Turn("The last one").Status, TurnStatus.Success, "the last turn");
            World.Equal(one.Said(one.Ends[before].TurnId, "note"), "" + levels[who], "the variable");
        }
        Agents found = null;
        world.Core.Request(new ListAgents(), (reply, fault) => found = reply as Agents);
        world.Until(() => found != null, "the agents");
        World.Equal(found.Items.Count, all.Count, "agents in the sidecar");
        string told = "";
        foreach (string happened in world.Events)
        {
            told += happened == "gone" ? "g" : happened == "back" ? "b" : "";
        }
        World.Check(!told.Contains("gg") && !told.Contains("bb") && !told.StartsWith("b") && !told.EndsWith("g"), told);
        world.End();
        return new JObject { { "told", told }, { "lines", new JArray(taken) }, { "longest_update_ms", world.Longest } };
    }

    /// <summary>A sidecar of somebody else ends, and another one comes in its place.</summary>
    public static JObject Elsewhere(World world)
    {
        Character mira = world.Ready().Make("long");
        World.Equal(mira.Turn("First?").Status, TurnStatus.Success, "the first turn");
        mira.Agent.Say("Second?");
        world.Until(() => mira.Frames.Exists(frame => frame.TurnId == 2), "the answer begins");
        Console.Out.WriteLine("go");
        Console.Out.Flush();
        world.Until(() => world.Count("link lost") > 0, "the connection is lost");
        world.Until(() => world.Count("back") == 1 && world.Core.State == CoreState.Ready, "another one is there");
        World.Equal(mira.Ends[1].Status, TurnStatus.Error, "the turn that was cut");
        World.Equal(mira.Turn("Third?").Status, TurnStatus.Success, "the turn with the next one");
        World.Equal(mira.Turns(), "First?/Success Second?/Error Third?/Success", "the dialog");
        World.Equal(world.Count("gone"), 1, "how often the game was told");
        world.End();
        return new JObject();
    }

    /// <summary>Handlers that do what handlers do: end it all, begin it again, speak, destroy.</summary>
    public static JObject Handlers(World world)
    {
        world.Ready();
        Character mira = world.Add("slow");
        mira.Agent.Made += made => made.Say("As soon as it is made");
        world.Until(() => mira.Ends.Count == 1, "the line of the handler is answered");
        Action<TurnComplete> again = null;
        List<SayOutcome> outcomes = new List<SayOutcome>();
        again = complete =>
        {
            mira.Agent.TurnCompleted -= again;
            outcomes.Add(mira.Agent.Say("Behind the one that waits"));
        };
        mira.Agent.TurnCompleted += again;
        mira.Agent.Say("One");
        mira.Agent.Say("Two");
        world.Until(() => mira.Ends.Count == 4, "three more turns");
        World.Equal(outcomes[0], SayOutcome.Queued, "the line of the second handler");
        World.Check(mira.Turns().EndsWith("One/Success Two/Success Behind the one that waits/Success"), mira.Turns());

        Action<string> end = why => world.Core.Stop();
        world.Core.Gone += end;
        mira.Agent.Say("Cut");
        world.Kill();
        world.Until(() => world.Core.State == CoreState.Stopped, "the handler ended it");
        for (int frame = 0; frame < 50; frame++)
        {
            world.Frame();
            System.Threading.Thread.Sleep(2);
        }
        World.Equal(world.Core.State, CoreState.Stopped, "the state after a while");
        World.Equal(world.Core.SidecarPid, 0, "a process");
        World.Equal(mira.Ends.Count, 5, "ends");
        world.Core.Gone -= end;

        world.Core.Start();
        world.Until(() => world.Core.State == CoreState.Ready && mira.Ends.Count == 6, "it is there again, and said so");
        mira.Agent.Answer += frame =>
        {
            if (frame.TurnId == mira.Agent.TurnId)
            {
                mira.Agent.Destroy();
            }
        };
        mira.Agent.Say("The last one");
        world.Until(() => mira.Agent.State == AgentState.Destroyed, "the handler destroyed it");
        World.Equal(mira.Ends.Count, 7, "ends");
        World.Equal(mira.Ends[6].Status, TurnStatus.Cancelled, "the last end");
        Action<TurnComplete> stop = complete => world.Core.Stop();
        Character other = world.Make("slow");
        other.Agent.TurnCompleted += stop;
        other.Agent.Say("Ends it");
        world.Until(() => world.Core.State == CoreState.Stopped, "the handler of a turn ended it");
        World.Equal(other.Ends.Count, 1, "ends of the other");
        World.Check(!world.Logged("threw") && !world.Logged("a fault inside"), world.Words());
        return new JObject();
    }

    /// <summary>A connection that is cut in the middle of turns: nothing is lost, nothing comes twice.</summary>
    public static JObject Cut(World world)
    {
        Character mira = world.Ready().Make("slow");
        int turns = (int)world.Settings["turns"];
        for (int turn = 1; turn <= turns; turn++)
        {
            TurnComplete end = mira.Turn("Line " + turn + "?");
            World.Equal(end.Status, TurnStatus.Success, "a turn");
            foreach (Output output in end.Interaction.Outputs)
            {
                World.Equal(mira.Said(end.TurnId, output.NodeName), output.Text, "what was said");
            }
        }
        World.Equal(mira.Agent.Dialog.Interactions.Count, turns, "turns");
        World.Equal(world.Count("gone"), 0, "how often the sidecar was taken for lost");
        int lost = world.Count("link lost");
        world.Until(() => world.Count("link back") == lost, "the link is back");
        world.End();
        return new JObject { { "lost", lost } };
    }
}
