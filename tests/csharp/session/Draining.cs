// What a game's frame costs: nothing where nothing came, and not more than its budget where much did.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;

public static class Draining
{
    private const int IdleFrames = 1000000;

    /// <summary>
    /// A million frames of a game in which nothing comes. One object in each would make the collector run, as the control
    /// shows.
    /// </summary>
    public static JObject Idle(Dictionary<string, string> arguments)
    {
        Game game = new Game(Game.Options(arguments));
        game.UntilReady();
        game.Session.Drain(game, 1.0);
        GC.Collect();
        int before = GC.CollectionCount(0);
        Stopwatch watch = Stopwatch.StartNew();
        int handed = 0;
        for (int i = 0; i < IdleFrames; i++)
        {
            handed += game.Session.Drain(game, 1.0);
        }
        double seconds = watch.Elapsed.TotalSeconds;
        int collections = GC.CollectionCount(0) - before;
        before = GC.CollectionCount(0);
        object[] kept = new object[16];
        for (int i = 0; i < IdleFrames; i++)
        {
            kept[i % kept.Length] = new object();
        }
        int ofControl = GC.CollectionCount(0) - before;
        game.Session.Stop(true);
        return new JObject(
            new JProperty("handed", handed),
            new JProperty("collections", collections),
            new JProperty("collections_of_control", ofControl),
            new JProperty("us", seconds * 1e6 / IdleFrames));
    }

    /// <summary>200 frames wait; they are drained at once, and with a budget.</summary>
    public static JObject Burst(Dictionary<string, string> arguments)
    {
        Game game = new Game(Game.Options(arguments));
        game.UntilReady();
        int heard = 0;
        game.Hears = push => heard++;
        JArray took = new JArray();
        for (int round = 0; round < 5; round++)
        {
            heard = 0;
            Gather(game, 200);
            Stopwatch watch = Stopwatch.StartNew();
            game.Session.Drain(game, double.PositiveInfinity);
            took.Add(watch.Elapsed.TotalMilliseconds);
            Game.Check(heard == 201, "heard " + heard);
        }
        // A receiver that takes 2 ms for each frame gets one a time.
        heard = 0;
        game.Hears = push =>
        {
            heard++;
            Stopwatch slow = Stopwatch.StartNew();
            while (slow.Elapsed.TotalMilliseconds < 2.0)
            {
            }
        };
        Gather(game, 20);
        // The reply, which nobody takes, and one frame.
        Game.Check(game.Session.Drain(game, 1.0) == 2 && heard == 1, "more or less than the budget allows");
        Game.Check(game.Session.Drain(game, 5.0) <= 3, "far more than the budget allows");
        game.Session.Stop(true);
        return new JObject(new JProperty("ms", took));
    }

    /// <summary>Waits, without draining, until a turn of so many frames is there, with its end and its reply.</summary>
    private static void Gather(Game game, int frames)
    {
        game.Session.Request(new SendMessage { AgentId = "agent1", Text = "say " + frames }, TimeSpan.Zero, null);
        while (game.Session.Waiting < frames + 2)
        {
            Thread.Sleep(1);
        }
    }

    /// <summary>A receiver that throws loses nobody anything.</summary>
    public static JObject Throwing(Dictionary<string, string> arguments)
    {
        Game game = new Game(Game.Options(arguments));
        game.UntilReady();
        List<string> heard = new List<string>();
        game.Hears = push =>
        {
            AnswerText answer = push as AnswerText;
            if (answer != null)
            {
                heard.Add(answer.Text);
                throw new InvalidOperationException("a bug of the game's");
            }
        };
        int thrown = 0;
        game.Session.Request(
            new SendMessage { AgentId = "agent1", Text = "say 5" },
            TimeSpan.Zero,
            (reply, fault) =>
            {
                game.Numbered(game.Session.LastSeq);
                // Drained while it is drained: nothing, not out of order.
                Game.Check(game.Session.Drain(game, 1.0) == 0, "drained inside itself");
            });
        Stopwatch watch = Stopwatch.StartNew();
        while (game.Completes.Count == 0)
        {
            Game.Check(watch.Elapsed.TotalSeconds < 30.0, "no end");
            try
            {
                game.Frame();
            }
            catch (InvalidOperationException)
            {
                thrown++;
            }
        }
        Game.Check(thrown == 5 && heard.Count == 5, "thrown " + thrown + ", heard " + heard.Count);
        game.Session.Stop(true);
        return game.Report();
    }
}
