// Requests: answered, refused, late, given up, too large; and very many frames.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;

public static class Asking
{
    /// <summary>Against a sidecar with fake sessions.</summary>
    public static JObject Requests(Dictionary<string, string> arguments)
    {
        SessionOptions options = Game.Options(arguments);
        options.MaxJsonBytes = 100000;
        Game game = new Game(options);
        string agent = "agent1";
        // Asked before there is a session: it waits for one.
        Agents agents = game.Ask<Agents>(new ListAgents());
        Game.Check(agents.Items.Count == 0, "agents");
        Game.Check(game.States[0] == "Ready", "an answer before Ready: " + game.Story());

        ParleyException busy = Refusal(game, new SendMessage { AgentId = agent, Text = "busy" });
        Game.Check(busy.Code == ErrorCode.AgentBusy && busy.CodeName == "AgentBusy", "busy: " + busy);
        Game.Check(busy.AgentId == agent, "the error does not name the agent");
        ParleyException invalid = Refusal(game, new CreateAgent { Workflow = new JObject() });
        Game.Check(invalid.Code == ErrorCode.WorkflowInvalid && invalid.Problems.Count == 1, "invalid: " + invalid);
        Game.Check(invalid.Problems[0].Path == "$.name", "its path: " + invalid.Problems[0].Path);
        ParleyException bug = Refusal(game, new SendMessage { AgentId = agent, Text = "raise" });
        Game.Check(bug.Code == 0 && bug.CodeName == "InternalError", "a bug: " + bug);

        ParleyException late = Refusal(game, new SendMessage { AgentId = agent, Text = "never" }, 0.2);
        Game.Check(late.CodeName == LocalFaults.TimedOut && late.Message.Contains("0.2 s"), "late: " + late);

        ParleyException large = Refusal(
            game, new SendMessage { AgentId = agent, Text = new string('x', options.MaxJsonBytes) });
        Game.Check(large.Code == ErrorCode.MessageTooLarge && large.Message.Contains("100000"), "large: " + large);

        Given(game, agent);
        // A reply that nobody waits for any more is told of.
        ParleyException slow = Refusal(game, new SendMessage { AgentId = agent, Text = "block 0.3" }, 0.1);
        Game.Check(slow.CodeName == LocalFaults.TimedOut, "slow: " + slow);
        game.Until(() => game.Orphans.Count > 0, "the late reply");
        Game.Check(game.Orphans[0].EndsWith(" Ok", StringComparison.Ordinal), "the late reply: " + game.Orphans[0]);

        // In order, and each once, though all are on their way together.
        List<int> order = new List<int>();
        for (int i = 0; i < 3000; i++)
        {
            int number = i;
            game.Session.Request(
                new ValidateWorkflow { Workflow = new JObject() },
                TimeSpan.Zero,
                (reply, fault) =>
                {
                    Game.Check(reply is Validation, "validation: " + fault);
                    game.Numbered(game.Session.LastSeq);
                    order.Add(number);
                });
        }
        game.Until(() => order.Count == 3000, "3000 answers");
        for (int i = 0; i < order.Count; i++)
        {
            Game.Check(order[i] == i, "answers out of order");
        }

        Task<Reply> open = game.Session.RequestAsync(new SendMessage { AgentId = agent, Text = "never" });
        game.Session.Stop(true);
        ParleyException closed = Refusal(game, new ListAgents());
        Game.Check(closed.CodeName == LocalFaults.SessionClosed, "closed: " + closed);
        Game.Check(open.IsFaulted, "what was open when the session ended was not told");
        Game.Check(game.Session.End == SessionEnd.Bye, "the end is " + game.Session.End);
        return game.Report();
    }

    /// <summary>Tens of thousands of frames, while the game looks only now and then.</summary>
    public static JObject Many(Dictionary<string, string> arguments)
    {
        int count = int.Parse(arguments["count"]);
        Game game = new Game(Game.Options(arguments));
        game.UntilReady();
        int heard = 0;
        game.Hears = push =>
        {
            AnswerText answer = push as AnswerText;
            if (answer != null)
            {
                Game.Check(answer.Text == heard + " ", "frame " + heard + " says " + answer.Text);
                heard++;
            }
            game.Texts.Clear();
        };
        game.Ask<TurnStarted>(new SendMessage { AgentId = "agent1", Text = "say " + count });
        game.Until(() => game.Completes.Count > 0, "the end of the turn", 60.0);
        Game.Check(heard == count, "heard " + heard);
        game.Session.Stop(true);
        JObject report = game.Report();
        report["seqs"] = game.Seqs.Count;
        report["last"] = game.Seqs[game.Seqs.Count - 1];
        return report;
    }

    /// <summary>Far more than a game that looks away may have waiting: the rest waits in the sidecar, and all of it comes.</summary>
    public static JObject Backlog(Dictionary<string, string> arguments)
    {
        int count = int.Parse(arguments["count"]);
        int padding = int.Parse(arguments["padding"]);
        Game game = new Game(Game.Options(arguments));
        game.UntilReady();
        int next = 0;
        game.Hears = push =>
        {
            AnswerText answer = push as AnswerText;
            if (answer != null)
            {
                // Frames that were merged: their texts, one behind the other.
                foreach (string number in answer.Text.Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries))
                {
                    Game.Check(int.Parse(number) == next, number + " where " + next + " was due");
                    next++;
                }
                game.Texts.Clear();
            }
            Gap gap = push as Gap;
            Game.Check(gap == null || gap.Reason == GapReason.Merged, "frames are lost");
        };
        game.Ask<TurnStarted>(new SendMessage { AgentId = "agent1", Text = "say " + count + " " + padding });
        long most = 0;
        int still = 0;
        while (still < 100)
        {
            Thread.Sleep(5);
            still = game.Session.Waiting == most ? still + 1 : 0;
            most = Math.Max(most, game.Session.Waiting);
        }
        Game.Check(game.Session.State == SessionState.Ready, "state " + game.Session.State);
        game.Until(() => game.Completes.Count > 0, "the end of the turn", 60.0);
        Game.Check(next == count, "heard " + next);
        game.Session.Stop(true);
        return new JObject(new JProperty("most", most), new JProperty("states", new JArray(game.States.ToArray())));
    }

    /// <summary>How long a request takes there and back, in milliseconds.</summary>
    public static JObject Latency(Dictionary<string, string> arguments)
    {
        Game game = new Game(Game.Options(arguments));
        game.UntilReady();
        List<double> took = new List<double>();
        for (int i = 0; i < 200; i++)
        {
            bool isThere = false;
            Stopwatch watch = Stopwatch.StartNew();
            game.Session.Request(
                new ValidateWorkflow { Workflow = new JObject() }, TimeSpan.Zero, (reply, fault) => isThere = true);
            while (!isThere)
            {
                game.Session.Drain(game, 1.0);
                Thread.Yield();
            }
            took.Add(watch.Elapsed.TotalMilliseconds);
        }
        TimeSpan before = Process.GetCurrentProcess().TotalProcessorTime;
        Thread.Sleep(1000);
        TimeSpan idle = Process.GetCurrentProcess().TotalProcessorTime - before;
        game.Session.Stop(true);
        took.Sort();
        return new JObject(
            new JProperty("median", took[took.Count / 2]),
            new JProperty("p90", took[took.Count * 9 / 10]),
            new JProperty("idle_ms", idle.TotalMilliseconds));
    }

    private static void Given(Game game, string agent)
    {
        using (CancellationTokenSource given = new CancellationTokenSource())
        {
            Task<Reply> task = game.Session.RequestAsync(new SendMessage { AgentId = agent, Text = "never" }, given.Token);
            game.Frame();
            Game.Check(!task.IsCompleted, "done before it was given up");
            given.Cancel();
            Game.Check(task.IsCanceled, "not given up");
            Task<Reply> never = game.Session.RequestAsync(new SendMessage { AgentId = agent, Text = "hold" }, given.Token);
            Game.Check(never.IsCanceled, "given up before it began");
        }
        Task<Reply> answered = game.Session.RequestAsync(new ListAgents());
        game.Until(() => answered.IsCompleted, "an awaited answer");
        game.Numbered(game.Session.LastSeq);
        Game.Check(answered.Result is Agents, "its kind");
        Task<Reply> refused = game.Session.RequestAsync(new SendMessage { AgentId = agent, Text = "unknown" });
        game.Until(() => refused.IsCompleted, "an awaited refusal");
        game.Numbered(game.Session.LastSeq);
        ParleyException why = (ParleyException)refused.Exception.InnerException;
        Game.Check(why.Code == ErrorCode.InvalidAgentId, "why: " + why);
    }

    private static ParleyException Refusal(Game game, Request request, double seconds = 0.0)
    {
        try
        {
            game.Ask(request, TimeSpan.FromSeconds(seconds));
        }
        catch (ParleyException fault)
        {
            return fault;
        }
        throw new Failed("not refused: " + request.TypeName);
    }
}
