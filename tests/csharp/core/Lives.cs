// Starts and stops, and the sidecar as a process.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;

public static class Lives
{
    /// <summary>Play and stop, many times in one process: how long each takes, and what is left behind.</summary>
    public static JObject Cycles(World world)
    {
        JArray starts = new JArray();
        JArray stops = new JArray();
        int files = 0;
        int threads = 0;
        for (int cycle = 0; cycle < (int)world.Settings["cycles"]; cycle++)
        {
            Stopwatch watch = Stopwatch.StartNew();
            world.Ready();
            starts.Add(watch.Elapsed.TotalMilliseconds);
            Character mira = world.Make("wordy");
            mira.Agent.Say("A line whose answer nobody waits for");
            world.Until(() => mira.Frames.Count > 0, "the answer begins");
            world.End();
            World.Equal(mira.Ends[0].Status, TurnStatus.Cancelled, "the turn that ran");
            stops.Add(world.EndMs);
            if (cycle == 1)
            {
                files = Files();
                threads = Threads();
            }
        }
        Settle(() => Files() <= files + 3 && Threads() <= threads + 3);
        return new JObject
        {
            { "starts_ms", starts }, { "stops_ms", stops },
            { "files_more", Files() - files }, { "threads_more", Threads() - threads },
        };
    }

    /// <summary>The game stops while the sidecar is starting, and while a model loads.</summary>
    public static JObject Quitting(World world)
    {
        world.Begin().Core.Start();
        world.End();
        double starting = world.EndMs;
        world.Begin().Core.Start();
        world.Until(() => world.Core.SidecarPid != 0, "a process is there");
        world.End();
        double started = world.EndMs;
        world.Ready();
        Character stuck = world.Add("stuck");
        stuck.Agent.Say("Hello?");
        world.Until(() => world.Logged("stuck in loading"), "the model loads");
        world.End();
        World.Equal(stuck.Ends[0].Status, TurnStatus.Cancelled, "the line that waited");
        return new JObject { { "stops_ms", new JArray(starting, started, world.EndMs) } };
    }

    /// <summary>A launcher starts the sidecar and keeps its stdout to itself; killed, it takes the sidecar with it.</summary>
    public static JObject Launcher(World world)
    {
        Character mira = world.Ready().Make("slow");
        World.Equal(mira.Turn("First?").Status, TurnStatus.Success, "the turn");
        int first = PidIn((string)world.Settings["ready_file"]);
        World.Check(first != world.Core.SidecarPid, "there is no launcher");
        world.Kill();
        world.Until(() => world.Core.State == CoreState.Gone, "it is gone");
        world.Until(() => world.Core.State == CoreState.Ready, "another one is there");
        World.Equal(mira.Turn("Second?").Status, TurnStatus.Success, "the turn with the next one");
        int second = PidIn((string)world.Settings["ready_file"]);
        world.End();
        return new JObject { { "pids", new JArray(first, second) } };
    }

    private static int PidIn(string readyFile)
    {
        return (int)JObject.Parse(File.ReadAllText(readyFile))["pid"];
    }

    /// <summary>Frames in which nothing happens, and what they cost.</summary>
    public static JObject Frames(World world)
    {
        const int frames = 200000;
        world.Ready();
        world.Make("slow");
        for (int frame = 0; frame < 200; frame++)
        {
            world.Core.Update(1.0);
        }
        int before = GC.CollectionCount(0);
        Stopwatch watch = Stopwatch.StartNew();
        for (int frame = 0; frame < frames; frame++)
        {
            world.Core.Update(1.0);
        }
        double seconds = watch.Elapsed.TotalSeconds;
        int collections = GC.CollectionCount(0) - before;
        before = GC.CollectionCount(0);
        object[] kept = new object[16];
        for (int frame = 0; frame < frames; frame++)
        {
            kept[frame % kept.Length] = new byte[32];
        }
        int ofControl = GC.CollectionCount(0) - before;
        world.End();
        return new JObject
        {
            { "collections", collections }, { "collections_of_control", ofControl }, { "us", seconds * 1e6 / frames },
        };
    }

    /// <summary>What a program that is started sees of its arguments and its environment.</summary>
    public static JObject Arguments(World world)
    {
        SidecarOptions launch = world.Launch();
        launch.OwnerPid = -1;
        List<string> lines = new List<string>();
        SidecarProcess process = new SidecarProcess(launch, (level, text) =>
        {
            lock (lines)
            {
                lines.Add(text);
            }
        });
        process.Start();
        World.Check(process.WaitUntilEnded(20000), "it does not end");
        World.Equal(process.State, SidecarState.Ended, "the state");
        return new JObject { { "lines", new JArray(lines) }, { "code", process.ExitCode }, { "why", process.Why } };
    }

    /// <summary>Exit codes in words.</summary>
    public static JObject Words(World world)
    {
        JObject found = new JObject();
        foreach (long code in new[] { 0L, 1, 2, 3, 5, 127, 132, 137, 139, 143, 0xC000001D, 0xC0000005, 0xC0000135, 0xFFFFFFFF })
        {
            int exit = unchecked((int)code);
            found[code.ToString("X")] = new JArray(ExitWords.Describe(exit, false), ExitWords.Describe(exit, true));
        }
        found["windows"] = CommandLine.JoinForWindows(world.Settings["words"].Select(word => (string)word));
        return found;
    }

    private static void Settle(Func<bool> condition)
    {
        for (int look = 0; look < 100 && !condition(); look++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            Thread.Sleep(20);
        }
    }

    private static int Files()
    {
        return Directory.GetFileSystemEntries("/proc/self/fd").Length;
    }

    private static int Threads()
    {
        return Directory.GetDirectories("/proc/self/task").Length;
    }
}
