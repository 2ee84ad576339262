// What a game does with a sidecar that lives.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;

public static class Talking
{
    /// <summary>The tavern: several speakers in one turn, streamed, and the dialog mirrored.</summary>
    public static JObject Tavern(World world)
    {
        world.Begin();
        List<string> told = new List<string>();
        world.Core.Configure(
            new ConfigureSession { StorageFolder = (string)world.Settings["storage"], GameName = "test" },
            fault => told.Add("" + fault));
        world.Core.MakeStorage(
            new CreateStringStorage { Name = "../outside", Strings = new List<string>() }, fault => told.Add("" + fault));
        Character tavern = world.Add("tavern");
        world.Core.Start();
        world.Until(() => world.Core.State == CoreState.Ready, "the tavern is open", 120);
        World.Check(tavern.Agent.State == AgentState.Ready, "" + tavern.Agent.Trouble);
        World.Equal(told.Count, 2, "answers");
        World.Equal(told[0], "", "what became of the settings");
        World.Check(told[1].Contains("InvalidStorageName"), told[1]);
        JObject found = new JObject();
        JArray turns = new JArray();
        foreach (JToken line in (JArray)world.Settings["lines"])
        {
            World.Equal(tavern.Agent.Say((string)line), SayOutcome.Sent, "a line");
            int before = tavern.Ends.Count;
            world.Until(() => tavern.Ends.Count > before, "the turn ends", 120);
            TurnComplete end = tavern.Ends[before];
            World.Check(end.Status == TurnStatus.Success, end.Error == null ? "" : end.Error.Message);
            List<string> speakers = new List<string>();
            int most = 0;
            foreach (Output output in end.Interaction.Outputs)
            {
                if (output.Send == Send.None)
                {
                    continue;
                }
                speakers.Add(output.NodeName);
                World.Equal(tavern.Said(end.TurnId, output.NodeName), output.Text, "what " + output.NodeName + " said");
                List<AnswerText> frames = tavern.Frames.FindAll(
                    frame => frame.TurnId == end.TurnId && frame.Step == output.Step);
                World.Equal(frames.Count(frame => frame.IsFinal), 1, "final frames of " + output.NodeName);
                World.Check(frames[frames.Count - 1].IsFinal, "the final frame is not the last");
                most = Math.Max(most, frames.Count);
            }
            turns.Add(new JObject { { "speakers", new JArray(speakers) }, { "frames", most } });
        }
        World.Equal(tavern.Agent.Dialog.Interactions.Count, turns.Count, "turns that are mirrored");
        string saved = null;
        tavern.Agent.SaveDialog((text, fault) => saved = text);
        world.Until(() => saved != null, "the dialog is saved");
        World.Check(
            JToken.DeepEquals(
                JsonText.Parse(saved)["interactions"], DialogMirror.JsonOf(tavern.Agent.Dialog.ToDocument())["interactions"]),
            "the mirror shows another dialog");
        Drop(world);
        found["turns"] = turns;
        found["longest_update_ms"] = world.Longest;
        world.End();
        return found;
    }

    /// <summary>The name of an embedded storage is free again once it is dropped.</summary>
    private static void Drop(World world)
    {
        Func<ParleyException> make = () => world.Wait(
            done => world.Core.MakeStorage(
                new CreateEmbeddedStorage
                {
                    Name = "topics", Strings = new List<string> { "Stew and ale." }, EmbeddingModel = "starter-embed",
                },
                done),
            "an embedded storage");
        World.Check(make() == null, "it was refused");
        World.Equal(make().Code, ErrorCode.EmbeddedStorageExists, "the fault of a second one");
        ParleyException fault = world.Wait(done => world.Core.DropEmbeddedStorage("topics", done), "it is dropped");
        World.Check(fault == null, "" + fault);
        World.Check(make() == null, "the name is still taken");
    }

    /// <summary>Cancel: at once, later, and a line that waits.</summary>
    public static JObject Cancel(World world)
    {
        Character mira = world.Ready().Make("wordy");
        World.Equal(mira.Agent.Say("First?"), SayOutcome.Sent, "the first line");
        mira.Agent.Cancel();
        world.Until(() => mira.Ends.Count == 1, "the turn ends");
        World.Equal(mira.Ends[0].Status, TurnStatus.Cancelled, "the first end");
        mira.Agent.Say("Second?");
        World.Equal(mira.Agent.Say("Third?"), SayOutcome.Queued, "the line that waits");
        World.Equal(mira.Agent.Say("Fourth?"), SayOutcome.Busy, "one line too many");
        world.Until(() => mira.Frames.Exists(frame => frame.TurnId == 2), "the second answer begins");
        mira.Agent.Cancel();
        World.Equal(mira.Agent.Say("Fifth?"), SayOutcome.Queued, "a line behind a cancelled turn");
        world.Until(() => mira.Frames.Exists(frame => frame.TurnId == 3), "the fifth line is answered");
        World.Check(mira.Agent.IsBusy, "a turn runs");
        mira.Agent.Cancel();
        world.Until(() => !mira.Agent.IsBusy, "nothing runs");
        World.Equal(mira.Ends.Count, 4, "ends");
        World.Check(mira.Ends.TrueForAll(end => end.Status == TurnStatus.Cancelled), "an end is of another kind");
        World.Check(mira.Turns().EndsWith("Second?/Cancelled Fifth?/Cancelled"), mira.Turns());
        mira.Agent.WhenBusy = WhenBusy.Refuse;
        mira.Agent.Say("Sixth?");
        World.Equal(mira.Agent.Say("Seventh?"), SayOutcome.Busy, "a line that is refused");
        mira.Agent.Destroy();
        World.Equal(mira.Ends.Count, 5, "ends with the agent's");
        World.Equal(mira.Agent.Say("Eighth?"), SayOutcome.Unavailable, "a line to nobody");
        world.Until(() => world.Core.Session.Waiting == 0, "all is heard");
        world.End();
        return new JObject();
    }

    /// <summary>Calls of a tool: a result, an error, too late, twice, from another thread, and a handler that throws.</summary>
    public static JObject Tools(World world)
    {
        Character odo = world.Ready().Make("tools");
        Action<ToolCall> answer = call => call.Reply("open");
        odo.Agent.ToolCalled += call => { throw new InvalidOperationException("a handler with a fault"); };
        odo.Agent.ToolCalled += call => answer(call);
        TurnComplete end = odo.Turn("Open the door!");
        World.Equal(odo.Said(end.TurnId, "says"), "The door: open", "what is said of the result");
        World.Equal(odo.Calls[0].Tool, "open_door", "the tool");
        World.Equal((string)odo.Calls[0].Arguments["door"], "cellar", "its argument");
        World.Equal(end.Interaction.ToolCalls[0].Result, "open", "the result that is recorded");
        World.Check(world.Logged("a handler with a fault"), "the handler's fault is not in the log");

        answer = call => call.Fail("it is locked");
        end = odo.Turn("Open it again!");
        World.Equal(end.Interaction.ToolCalls[0].Error, "it is locked", "the error that is recorded");

        answer = call => new Thread(() => call.Reply("from afar")).Start();
        end = odo.Turn("And again!");
        World.Equal(end.Interaction.ToolCalls[0].Result, "from afar", "the result of another thread");

        ToolCall late = odo.Calls[2];
        late.Reply("twice");
        answer = call => odo.Agent.Cancel();
        end = odo.Turn("Once more!");
        World.Equal(end.Status, TurnStatus.Cancelled, "the turn that nobody answered");
        odo.Calls[3].Reply("too late");
        answer = call => call.Reply("fine");
        World.Equal(odo.Turn("Still there?").Status, TurnStatus.Success, "the turn after all that");
        world.End();
        return new JObject();
    }

    /// <summary>Variables, parameters, saved dialogs, faults of requests.</summary>
    public static JObject Changes(World world)
    {
        Character mira = world.Ready().Make("slow");
        mira.Agent.SetVariable("level", 7);
        World.Equal(world.Wait(done => mira.Agent.SetVariables(new JObject { { "name", "x" } }, done), "no variable") == null,
            false, "a variable that there is not");
        World.Equal(mira.Turn("Hello?").Status, TurnStatus.Success, "the turn");
        World.Equal(mira.Said(1, "note"), "7", "the variable");
        JObject changes = new JObject { { "system_prompt", "Mira keeps the inn." }, { "sampling", new JObject { { "top_k", 3 } } } };
        World.Check(world.Wait(done => mira.Agent.ChangeParams("mira", changes, done), "a change") == null, "refused");
        Params found = null;
        mira.Agent.GetParams("mira", (reply, fault) => found = reply);
        world.Until(() => found != null, "the parameters");
        World.Equal((string)found.Content["system_prompt"], "Mira keeps the inn.", "the parameter");
        mira.Agent.Say("Busy?");
        ParleyException busy = world.Wait(done => mira.Agent.ChangeParams("mira", changes, done), "a change while busy");
        World.Equal(busy.Code, ErrorCode.AgentBusy, "the fault");
        mira.Agent.Cancel();
        world.Until(() => !mira.Agent.IsBusy, "nothing runs");

        string saved = null;
        mira.Agent.SaveDialog((text, fault) => saved = text);
        world.Until(() => saved != null, "the dialog is saved");
        Character other = world.Make("slow");
        World.Check(world.Wait(done => other.Agent.LoadDialog(saved, done), "loading") == null, "not loaded");
        World.Equal(other.Turns(), mira.Turns(), "the dialog");
        string again = null;
        other.Agent.SaveDialog((text, fault) => again = text);
        world.Until(() => again != null, "the dialog is saved again");
        World.Equal(again, saved, "the dialog that was loaded");
        ParleyException bad = world.Wait(done => other.Agent.LoadDialog("{", done), "no JSON");
        World.Equal(bad.Code, ErrorCode.InvalidDialog, "the fault");
        bad = world.Wait(done => other.Agent.LoadDialog("{\"interactions\": 3}", done), "no dialog");
        World.Equal(bad.Code, ErrorCode.InvalidDialog, "the fault");
        World.Equal(other.Turns(), mira.Turns(), "the dialog after that");
        World.Check(world.Wait(done => other.Agent.EditDialog(0, "Good day?", null, done), "an edit") == null, "refused");
        World.Check(world.Wait(done => other.Agent.TruncateDialog(1, done), "a cut") == null, "refused");
        World.Equal(other.Turns(), "Good day?/Success", "the dialog that was changed");

        Character seeded = world.Make("slow", new AgentOptions
        {
            SeedDialog = JsonText.Parse("[{\"user\": \"Hi\", \"replies\": [{\"node_name\": \"mira\", \"text\": \"Ho\"}]}]"),
        });
        World.Equal(seeded.Turns(), "Hi/Success", "the dialog that it began with");
        Character broken = world.Add("broken");
        world.Until(() => broken.Agent.State == AgentState.Failed, "the workflow is refused");
        World.Equal(broken.Agent.Trouble.Code, ErrorCode.WorkflowInvalid, "the fault");
        World.Check(broken.Agent.Trouble.Problems.Count > 0, "no findings");
        World.Equal(broken.Agent.Say("?"), SayOutcome.Unavailable, "a line to it");
        world.End();
        return new JObject();
    }

    /// <summary>The same with await: all of it goes on on the game's thread.</summary>
    public static JObject Async(World world)
    {
        world.Begin();
        Task<int> story = Story(world);
        world.Until(() => story.IsCompleted, "the story ends");
        World.Equal(story.Result, 1, "how it ended");
        return new JObject();
    }

    private static async Task<int> Story(World world)
    {
        Task starting = world.Core.StartAsync();
        CoreAgent mira = await world.Core.CreateAgentAsync(new AgentOptions { Workflow = world.Workflow("slow") });
        world.Event("made");
        await starting;
        world.Event("started");
        TurnComplete end = await mira.SayAsync("Hello?");
        world.Event("said");
        World.Equal(end.Status, TurnStatus.Success, "the turn");
        await mira.SetVariablesAsync(new JObject { { "level", 3 } });
        await mira.ChangeParamsAsync("mira", new JObject { { "history_name", "Mira" } });
        World.Equal((string)(await mira.GetParamsAsync("mira")).Content["history_name"], "Mira", "the parameter");
        world.Event("changed");
        CancellationTokenSource cancel = new CancellationTokenSource();
        Task<TurnComplete> cancelled = mira.SayAsync("A long one?", cancel.Token);
        Task<TurnComplete> queued = mira.SayAsync("And then?");
        Task<TurnComplete> refused = mira.SayAsync("No.");
        World.Equal(((ParleyException)refused.Exception.InnerException).Code, ErrorCode.AgentBusy, "the fault");
        ThreadPool.QueueUserWorkItem(state => cancel.Cancel());
        World.Equal((await cancelled).Status, TurnStatus.Cancelled, "the turn that was cancelled");
        world.Event("cancelled");
        World.Equal((await queued).Status, TurnStatus.Success, "the turn that waited");
        string saved = await mira.SaveDialogAsync();
        world.Event("saved");
        await mira.LoadDialogAsync(saved);
        world.Event("loaded");
        bool isRefused = false;
        try
        {
            await world.Core.CreateAgentAsync(new AgentOptions { Workflow = world.Workflow("broken") });
        }
        catch (ParleyException fault)
        {
            world.Event("refused");
            isRefused = fault.Code == ErrorCode.WorkflowInvalid;
        }
        World.Check(isRefused, "a broken workflow was taken");
        Reply status = await world.Core.RequestAsync(new GetStatus());
        world.Event("status");
        await world.Core.StopAsync();
        world.Event("stopped");
        return status is Status ? 1 : 0;
    }
}
