// Sessions that are lost, come back, are taken away, or never begin.
using System;
using System.Collections.Generic;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;

public static class Losing
{
    /// <summary>Says "quiet" on stdout; then whoever started this stops the sidecar until it reads "lost".</summary>
    public static JObject Silence(Dictionary<string, string> arguments)
    {
        Game game = new Game(Game.Options(arguments));
        game.UntilReady();
        string before = game.Session.Ready.SessionId;
        Console.Out.WriteLine("quiet");
        Console.Out.Flush();
        game.Until(() => game.States.Contains("Lost"), "the silence is noticed");
        Console.Out.WriteLine("lost");
        Console.Out.Flush();
        // Asked while nobody is there: answered once somebody is.
        Game.Check(game.Ask<Agents>(new ListAgents()).Items.Count == 0, "agents");
        Game.Check(game.States.Contains("Back"), "an answer without being back: " + game.Story());
        Game.Check(game.Session.Ready.Resumed && game.Session.Ready.SessionId == before, "another session");
        game.Session.Stop(true);
        return game.Report();
    }

    /// <summary>Two objects with one session: the second has it, the first hears so and leaves it alone.</summary>
    public static JObject Replaced(Dictionary<string, string> arguments)
    {
        Game first = new Game(Game.Options(arguments));
        first.UntilReady();
        SessionOptions options = Game.Options(arguments);
        options.ResumeKey = first.Session.SessionKey;
        Game second = new Game(options);
        second.UntilReady();
        Game.Check(second.Session.Ready.Resumed, "a new session");
        first.Until(() => first.Session.State == SessionState.Closed && first.States.Contains("Closed"), "replaced");
        Game.Check(first.Session.End == SessionEnd.Replaced, "the end is " + first.Session.End);
        Game.Check(second.Ask<Agents>(new ListAgents()).Items.Count == 0, "agents");
        second.Session.Stop(true);
        JObject report = first.Report();
        report["second"] = second.Report();
        return report;
    }

    /// <summary>A session that ends by itself: how.</summary>
    public static JObject Ends(Dictionary<string, string> arguments)
    {
        Game game;
        try
        {
            game = new Game(Game.Options(arguments));
        }
        catch (ParleyException fault)
        {
            return new JObject(
                new JProperty("code", (int)fault.Code), new JProperty("code_name", fault.CodeName),
                new JProperty("message", fault.Message));
        }
        bool isTold = false;
        game.Session.Request(
            new ListAgents(),
            TimeSpan.Zero,
            (reply, fault) =>
            {
                isTold = true;
                // Somebody who was there may have answered it.
                Game.Check(arguments.ContainsKey("answers") || fault == game.Session.Fault, "another reason: " + fault);
            });
        if (arguments.ContainsKey("announce"))
        {
            game.UntilReady();
            Console.Out.WriteLine("ready");
            Console.Out.Flush();
        }
        game.Until(() => game.States.Contains("Closed"), "the end");
        // Behind the end, where it was asked after it.
        game.Until(() => isTold, "an open request is told of the end", 1.0);
        game.Session.Stop();
        return game.Report();
    }

    /// <summary>Hears what a sidecar of the test's says until it says Goodbye.</summary>
    public static JObject Hear(Dictionary<string, string> arguments)
    {
        Game game = new Game(Game.Options(arguments));
        List<string> heard = new List<string>();
        bool isQuiet = arguments.ContainsKey("quiet");
        game.Hears = push =>
        {
            if (!isQuiet)
            {
                heard.Add(game.Session.LastSeq + " " + push.TypeName + " " + Said(push));
            }
        };
        game.Until(() => game.States.Contains("Closed"), "the end");
        JObject report = game.Report();
        report["heard"] = new JArray(heard.ToArray());
        return report;
    }

    private static string Said(Push push)
    {
        AnswerText answer = push as AnswerText;
        Gap gap = push as Gap;
        return answer != null ? answer.Text : gap != null ? gap.FromSeq + "-" + gap.ToSeq : "";
    }
}
