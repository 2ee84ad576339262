// A conversation with two agents at once, whole or in two lives.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Threading;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;

public static class Talking
{
    private const int CancelledLine = 2;

    /// <summary>Five turns of two agents; the third of the first is cancelled.</summary>
    public static JObject Talk(Dictionary<string, string> arguments)
    {
        Game game = new Game(Game.Options(arguments));
        game.UntilReady();
        string[] agents = { game.Agent(Workflow("innkeeper")), game.Agent(Workflow("guard")) };
        JObject turns = new JObject();
        string[] names = { "innkeeper", "guard" };
        JArray[] said = { new JArray(), new JArray() };
        for (int line = 0; line < 5; line++)
        {
            game.Ask<Ok>(
                new SetVariables { AgentId = agents[0], Values = new JObject(new JProperty("mood", "mood" + line)) });
            long[] ids = new long[2];
            for (int who = 0; who < 2; who++)
            {
                ids[who] = game.Ask<TurnStarted>(
                    new SendMessage { AgentId = agents[who], Text = names[who] + " line " + line }).TurnId;
            }
            if (line == 1 && arguments.ContainsKey("announce"))
            {
                Console.Out.WriteLine("talking");
                Console.Out.Flush();
            }
            if (line == CancelledLine)
            {
                game.Until(() => game.TextsOf(agents[0], ids[0]).Count > 0, "the turn to be cancelled says something");
                game.Ask<Ok>(new CancelTurn { AgentId = agents[0], TurnId = ids[0] });
            }
            for (int who = 0; who < 2; who++)
            {
                int at = who;
                game.Until(() => game.TurnsOf(agents[at]).Count == line + 1, "the end of line " + line);
                JObject complete = game.TurnsOf(agents[who])[line];
                Game.Check((long)complete["turn_id"] == ids[who], "another turn's end");
                bool isCancelled = line == CancelledLine && who == 0;
                said[who].Add(
                    new JObject(
                        // Where the connection broke, it may be over before it is cancelled.
                        new JProperty("status", isCancelled ? "any" : complete["status"]),
                        new JProperty("texts", isCancelled ? new JArray() : game.TextsOf(agents[who], ids[who]))));
                CheckOutputs(complete, game.TextsOf(agents[who], ids[who]));
            }
        }
        for (int who = 0; who < 2; who++)
        {
            Dialog dialog = game.Ask<Dialog>(new ExportDialog { AgentId = agents[who] });
            Game.Check(dialog.Total == 5, "the dialog has " + dialog.Total + " turns");
            for (int line = 0; line < 5; line++)
            {
                Game.Check(
                    JToken.DeepEquals(dialog.Content.Interactions[line].ToJson(), game.TurnsOf(agents[who])[line]["interaction"]),
                    "the dialog has something else than the turn's end told");
            }
            turns[names[who]] = said[who];
        }
        game.Session.Stop(true);
        game.Session.Drain(game, double.PositiveInfinity);
        JObject report = game.Report();
        report["turns"] = turns;
        return report;
    }

    /// <summary>Begins a turn, hears some of it, tells what another life needs, and dies without a word.</summary>
    public static JObject Leave(Dictionary<string, string> arguments)
    {
        Game game = new Game(Game.Options(arguments));
        game.UntilReady();
        string agent = game.Agent(Workflow("innkeeper"));
        long turn = Begin(game, agent);
        // Read but not handed on, for some heartbeats: this must not count as what the game had.
        int before = game.Session.Waiting;
        Stopwatch watch = Stopwatch.StartNew();
        while (game.Session.Waiting < before + 3 || watch.Elapsed.TotalSeconds < 0.5)
        {
            Thread.Sleep(5);
        }
        JObject left = game.Report();
        left["agent_id"] = agent;
        left["turn_id"] = turn;
        left["texts"] = game.TextsOf(agent, turn);
        Console.Out.WriteLine(left.ToString(Newtonsoft.Json.Formatting.None));
        Console.Out.Flush();
        Process.GetCurrentProcess().Kill();
        return left;
    }

    /// <summary>Takes up what Leave left; the turn's end must come, and another turn must go.</summary>
    public static JObject Follow(Dictionary<string, string> arguments)
    {
        return Follow(Game.Options(arguments), arguments["agent_id"], long.Parse(arguments["turn_id"]), arguments["texts"]);
    }

    /// <summary>Stops in the middle of a turn, throws everything away, and goes on with another object.</summary>
    public static JObject Reload(Dictionary<string, string> arguments)
    {
        Game game = new Game(Game.Options(arguments));
        game.UntilReady();
        string agent = game.Agent(Workflow("innkeeper"));
        long turn = Begin(game, agent);
        game.Session.Stop();
        Game.Check(game.Session.End == SessionEnd.Stopped, "the end is " + game.Session.End);
        game.Session.Drain(game, double.PositiveInfinity);
        Game.Check(game.TurnsOf(agent).Count == 0, "the turn was over too soon for this test");
        SessionOptions options = Game.Options(arguments);
        options.ResumeKey = game.Session.SessionKey;
        options.LastSeq = game.Session.LastSeq;
        options.LastRequestId = game.Session.LastRequestId;
        return Follow(options, agent, turn, (string)game.TextsOf(agent, turn)[0]);
    }

    private static JObject Follow(SessionOptions options, string agent, long turn, string heard)
    {
        Game game = new Game(options);
        game.Texts[agent + "/" + turn + "/1"] = heard;
        game.UntilReady();
        Game.Check(game.Session.Ready.Resumed, "a new session");
        game.Until(() => game.TurnsOf(agent).Count == 1, "the end of the turn");
        CheckOutputs(game.TurnsOf(agent)[0], game.TextsOf(agent, turn));
        game.Ask<TurnStarted>(new SendMessage { AgentId = agent, Text = "another" });
        game.Until(() => game.TurnsOf(agent).Count == 2, "the end of the next turn");
        game.Session.Stop(true);
        JObject report = game.Report();
        report["texts"] = game.TextsOf(agent, turn);
        return report;
    }

    private static long Begin(Game game, string agent)
    {
        long turn = game.Ask<TurnStarted>(new SendMessage { AgentId = agent, Text = "tell me" }).TurnId;
        string key = agent + "/" + turn + "/1";
        game.Until(() => game.Texts.ContainsKey(key) && game.Texts[key].Length > 10, "some of the turn's text");
        return turn;
    }

    private static void CheckOutputs(JObject complete, JArray texts)
    {
        JArray outputs = (JArray)complete["interaction"]["outputs"];
        Game.Check(outputs.Count == texts.Count, "steps: " + outputs + " and " + texts);
        for (int step = 0; step < outputs.Count; step++)
        {
            Game.Check(
                (string)outputs[step]["text"] == (string)texts[step], "heard '" + texts[step] + "' of " + outputs[step]);
        }
    }

    private static JObject Workflow(string model)
    {
        return JObject.Parse(
            "{\"version\": 1, \"start_node\": \"speaker\","
            + "\"variables\": [{\"name\": \"mood\", \"type\": \"string\", \"value\": \"calm\"}],"
            + "\"default_model\": \"" + model + "\", \"nodes\": ["
            + "{\"name\": \"speaker\", \"type\": \"Generate\", \"default_exit\": \"closing\"},"
            + "{\"name\": \"closing\", \"type\": \"Transform\", \"send\": \"Whole\","
            + " \"template\": \"[{{var.mood}}] {{slot.speaker}}\"}]}");
    }
}
