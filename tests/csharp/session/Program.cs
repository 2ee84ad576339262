// Runs one scenario by its name; exit code 0 and one line of JSON: all was as it should be.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Threading;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

public static class Program
{
    private static readonly Dictionary<string, Func<Dictionary<string, string>, JObject>> Scenarios =
        new Dictionary<string, Func<Dictionary<string, string>, JObject>>
        {
            { "talk", Talking.Talk },
            { "leave", Talking.Leave },
            { "follow", Talking.Follow },
            { "reload", Talking.Reload },
            { "domains", Domains.Run },
            { "requests", Asking.Requests },
            { "hear", Losing.Hear },
            { "many", Asking.Many },
            { "backlog", Asking.Backlog },
            { "latency", Asking.Latency },
            { "silence", Losing.Silence },
            { "replaced", Losing.Replaced },
            { "ends", Losing.Ends },
            { "stops", Stopping.Stops },
            { "cycles", Stopping.Cycles },
            { "idle", Draining.Idle },
            { "burst", Draining.Burst },
            { "throwing", Draining.Throwing },
        };

    public static int Main(string[] arguments)
    {
        Dictionary<string, string> named = new Dictionary<string, string>();
        for (int i = 1; i < arguments.Length; i++)
        {
            int at = arguments[i].IndexOf('=');
            named[arguments[i].Substring(0, at)] = arguments[i].Substring(at + 1);
        }
        string culture;
        if (named.TryGetValue("culture", out culture))
        {
            CultureInfo.DefaultThreadCurrentCulture = new CultureInfo(culture);
            Thread.CurrentThread.CurrentCulture = CultureInfo.DefaultThreadCurrentCulture;
        }
        try
        {
            Console.Out.WriteLine(Scenarios[arguments[0]](named).ToString(Formatting.None));
            return 0;
        }
        catch (Failed fault)
        {
            Console.Error.WriteLine("failed: " + fault.Message + "\n" + fault.StackTrace);
            return 1;
        }
    }
}
