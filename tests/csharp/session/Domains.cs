// A reload of the game's code, as an editor does it: everything of one domain goes, and another begins from nothing.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;

/// <summary>What lives in a domain of its own.</summary>
public sealed class Life : MarshalByRefObject
{
    /// <summary>Begins a session and a turn, and leaves both running.</summary>
    public string Begin(Dictionary<string, string> arguments)
    {
        Game game = new Game(Game.Options(arguments));
        game.UntilReady();
        game.Ask<TurnStarted>(new SendMessage { AgentId = "agent1", Text = "hold" });
        game.Until(() => game.Texts.Count > 0, "some text");
        return game.Report().ToString();
    }

    /// <summary>Takes it up, and ends the turn.</summary>
    public string GoOn(Dictionary<string, string> arguments)
    {
        Game game = new Game(Game.Options(arguments));
        game.UntilReady();
        Game.Check(game.Session.Ready.Resumed, "a new session");
        game.Ask<Ok>(new CancelTurn { AgentId = "agent1" });
        game.Until(() => game.Completes.Count > 0, "the end of the turn");
        game.Session.Stop(true);
        return game.Report().ToString();
    }
}

public static class Domains
{
    /// <summary>Unloads a domain whose session nobody stopped; the next domain goes on.</summary>
    public static JObject Run(Dictionary<string, string> arguments)
    {
        AppDomain first = AppDomain.CreateDomain("first");
        JObject left = JObject.Parse(New(first).Begin(arguments));
        Stopwatch watch = Stopwatch.StartNew();
        AppDomain.Unload(first);
        double seconds = watch.Elapsed.TotalSeconds;
        AppDomain second = AppDomain.CreateDomain("second");
        arguments["resume"] = (string)left["session_key"];
        arguments["last_seq"] = (string)left["last_seq"];
        arguments["last_request_id"] = (string)left["last_request_id"];
        JObject report = JObject.Parse(New(second).GoOn(arguments));
        AppDomain.Unload(second);
        report["took"] = seconds;
        report["left"] = left;
        return report;
    }

    private static Life New(AppDomain domain)
    {
        return (Life)domain.CreateInstanceAndUnwrap(typeof(Life).Assembly.FullName, typeof(Life).FullName);
    }
}
