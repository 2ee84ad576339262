// The end of a session on the game's side: soon, in every state, and as often as one likes.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Threading;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;

public static class Stopping
{
    /// <summary>
    /// Stops right after the start, once ready, in the middle of a turn, from a callback, and where nobody is at
    /// `nobody` or somebody at `mute` never answers. Then says "stop it", and stops two sessions of a sidecar that
    /// stands still.
    /// </summary>
    public static JObject Stops(Dictionary<string, string> arguments)
    {
        JObject took = new JObject();
        foreach (bool sayBye in new[] { false, true })
        {
            string bye = sayBye ? " with Bye" : "";
            Game soon = new Game(Game.Options(arguments));
            took["at once" + bye] = Stopped(soon, sayBye);
            Game.Check(sayBye || soon.Session.End == SessionEnd.Stopped, "end " + soon.Session.End);
            Game ready = new Game(Game.Options(arguments));
            ready.UntilReady();
            took["ready" + bye] = Stopped(ready, sayBye);
            Game.Check(ready.Session.End == (sayBye ? SessionEnd.Bye : SessionEnd.Stopped), "end " + ready.Session.End);
            took["again" + bye] = Stopped(ready, sayBye);
            Game busy = new Game(Game.Options(arguments));
            busy.UntilReady();
            busy.Ask<TurnStarted>(new SendMessage { AgentId = "agent1", Text = "hold" });
            took["in a turn" + bye] = Stopped(busy, sayBye);
            foreach (string where in new[] { "nobody", "mute" })
            {
                SessionOptions options = Game.Options(arguments);
                options.Endpoint = arguments[where];
                Game game = new Game(options);
                Thread.Sleep(50);
                took[where + bye] = Stopped(game, sayBye);
            }
            Game inside = new Game(Game.Options(arguments));
            inside.UntilReady();
            double seconds = 0.0;
            inside.Session.Request(new ListAgents(), TimeSpan.Zero, (reply, fault) => seconds = Stopped(inside, sayBye));
            inside.Until(() => inside.States.Contains("Closed"), "the end");
            took["in a callback" + bye] = seconds;
        }
        Game[] still = { new Game(Game.Options(arguments)), new Game(Game.Options(arguments)) };
        still[0].UntilReady();
        still[1].UntilReady();
        Console.Out.WriteLine("stop it");
        Console.Out.Flush();
        Console.In.ReadLine();
        took["standing still"] = Stopped(still[0], false);
        took["standing still with Bye"] = Stopped(still[1], true);
        took["standing still, at once"] = Stopped(new Game(Game.Options(arguments)), true);
        return took;
    }

    /// <summary>Ten sessions, one after the other, and what is left of them.</summary>
    public static JObject Cycles(Dictionary<string, string> arguments)
    {
        JArray took = new JArray();
        for (int i = 0; i < 2; i++)
        {
            Cycle(arguments);
        }
        int threads = Threads();
        int files = Files();
        for (int i = 0; i < 10; i++)
        {
            took.Add(Cycle(arguments));
        }
        return new JObject(
            new JProperty("took", took),
            new JProperty("threads", Threads() - threads),
            new JProperty("files", Files() - files));
    }

    private static double Cycle(Dictionary<string, string> arguments)
    {
        Game game = new Game(Game.Options(arguments));
        game.UntilReady();
        game.Ask<Agents>(new ListAgents());
        return Stopped(game, true);
    }

    private static double Stopped(Game game, bool sayBye)
    {
        Stopwatch watch = Stopwatch.StartNew();
        game.Session.Stop(sayBye);
        double seconds = watch.Elapsed.TotalSeconds;
        Game.Check(game.Session.State == SessionState.Closed, "not closed but " + game.Session.State);
        game.Session.Drain(game, double.PositiveInfinity);
        return seconds;
    }

    private static int Threads()
    {
        return Directory.Exists("/proc/self/task") ? Directory.GetDirectories("/proc/self/task").Length : 0;
    }

    private static int Files()
    {
        return Directory.Exists("/proc/self/fd") ? Directory.GetFiles("/proc/self/fd").Length : 0;
    }
}
