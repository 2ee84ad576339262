// Runs one scenario by its name; exit code 0 and one line of JSON: all was as it should be.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Text;
using System.Threading;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

public static class CoreProgram
{
    private static readonly Dictionary<string, Func<World, JObject>> Scenarios = new Dictionary<string, Func<World, JObject>>
    {
        { "tavern", Talking.Tavern },
        { "cancel", Talking.Cancel },
        { "tools", Talking.Tools },
        { "changes", Talking.Changes },
        { "async", Talking.Async },
        { "killed", Dying.Killed },
        { "idle", Dying.Idle },
        { "given_up", Dying.GivenUp },
        { "while_starting", Dying.WhileStarting },
        { "hopeless", Dying.Hopeless },
        { "anytime", Dying.Anytime },
        { "elsewhere", Dying.Elsewhere },
        { "handlers", Dying.Handlers },
        { "cut", Dying.Cut },
        { "reload", Reloading.Reload },
        { "reload_dead", Reloading.Dead },
        { "reload_expired", Reloading.Expired },
        { "domains", Reloading.Domains },
        { "cycles", Lives.Cycles },
        { "quitting", Lives.Quitting },
        { "unasked", Reloading.Unasked },
        { "launcher", Lives.Launcher },
        { "frames", Lives.Frames },
        { "arguments", Lives.Arguments },
        { "words", Lives.Words },
        { "nested", Breaking.Nested },
        { "unwritable", Breaking.Unwritable },
        { "stop_when_gone", Breaking.StopWhenGone },
        { "stop_twice", Breaking.StopTwice },
        { "expires", Breaking.Expires },
        { "strangers", Breaking.Strangers },
        { "made_at_last", Breaking.MadeAtLast },
        { "babble", Breaking.Babble },
        { "tokens", Breaking.Tokens },
        { "two", Breaking.Two },
        { "paused", Breaking.Paused },
        { "long_dialog", Breaking.LongDialog },
        { "many_turns", Breaking.ManyTurns },
        { "stands_still", Breaking.StandsStill },
        { "rest", Breaking.Rest },
        { "library_missing", Anew.LibraryMissing },
        { "left_closed", Anew.LeftByAClosedSession },
        { "left_killed", Anew.LeftByAKilledSidecar },
        { "anew", Anew.BeginsAnew },
        { "detach_inside", Anew.DetachesInACallback },
        { "long_lines", Anew.LongLines },
        { "names_the_game", Anew.NamesTheGame },
        { "reload_twice", Reloading.Twice },
        { "reload_asking", Reloading.Asking },
        { "reload_making", Reloading.Making },
        { "reload_failed", Reloading.Failed },
        { "reload_unsent", Reloading.Unsent },
    };

    public static int Main(string[] arguments)
    {
        JObject settings = JObject.Parse(File.ReadAllText(arguments[1], Encoding.UTF8));
        if (settings["culture"] != null)
        {
            CultureInfo culture = new CultureInfo((string)settings["culture"]);
            Thread.CurrentThread.CurrentCulture = culture;
            CultureInfo.DefaultThreadCurrentCulture = culture;
        }
        World world = new World(settings);
        try
        {
            Console.Out.WriteLine(Scenarios[arguments[0]](world).ToString(Formatting.None));
            return 0;
        }
        catch (Failed fault)
        {
            Console.Error.WriteLine("failed: " + fault.Message + "\n" + fault.StackTrace);
            Console.Error.WriteLine(string.Join("\n", World.Last.Events.ToArray()) + "\n" + World.Last.Words());
            return 1;
        }
    }
}
