// Between one sidecar and the next: who begins anew as it ends, whom nobody can answer any more, what is left running.
using System;
using System.Diagnostics;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;

public static class Anew
{
    /// <summary>Where libzmq is missing, the sidecar that was started for it does not go on.</summary>
    public static JObject LibraryMissing(World world)
    {
        int pid = 0;
        world.Begin().Core.Start();
        world.Until(() => (pid = Math.Max(pid, world.Core.SidecarPid)) != 0, "a process is there");
        world.Until(() => world.Core.State == CoreState.Down, "it is given up");
        World.Check(world.Core.Trouble.Contains("libzmq"), world.Core.Trouble);
        world.Until(() => !World.IsThere(pid), "the sidecar is gone", 10);
        World.Equal(world.Core.Restarts, 0, "restarts");
        return new JObject();
    }

    /// <summary>What an agent was asked before it was destroyed is answered, though the session ends.</summary>
    public static JObject LeftByAClosedSession(World world)
    {
        Leave(world.Ready(), world.Make("slow"), () => world.Core.Request(new ListModels(), null));
        return new JObject();
    }

    /// <summary>The same, though the sidecar dies.</summary>
    public static JObject LeftByAKilledSidecar(World world)
    {
        Character mira = world.Ready().Make("slow");
        Breaking.Signal("STOP", world.Core.SidecarPid);
        Leave(world, mira, world.Kill);
        return new JObject();
    }

    private static void Leave(World world, Character mira, Action endSidecar)
    {
        int answers = 0;
        ParleyException found = null;
        mira.Agent.SetVariable("level", 3, fault =>
        {
            answers++;
            found = fault;
        });
        Breaking.Frames(world, 3);
        World.Equal(answers, 0, "answers before it is destroyed");
        mira.Agent.Destroy();
        endSidecar();
        world.Until(() => world.Count("gone") == 1, "it is gone");
        world.Until(() => world.Core.State == CoreState.Ready, "there is another one");
        Breaking.Frames(world, 10);
        World.Equal(answers, 1, "answers");
        World.Equal(found == null ? 0 : found.Code, ErrorCode.AgentDestroyed, "the answer");
        world.End();
    }

    /// <summary>A handler of the end begins anew at once: what it asks belongs to the new beginning.</summary>
    public static JObject BeginsAnew(World world)
    {
        CoreState when = CoreState.Stopped;
        Task started = null;
        bool isAsked = false;
        ParleyException why = null;
        world.Begin().Core.StateChanged += state =>
        {
            if (state != when || started != null)
            {
                return;
            }
            started = world.Core.StartAsync();
            world.Core.Request(new ListModels(), (reply, fault) =>
            {
                isAsked = true;
                why = fault;
            });
        };
        world.Core.Start();
        world.Until(() => world.Core.State == CoreState.Ready, "the first one is there");
        Task stopped = world.Core.StopAsync();
        world.Until(() => stopped.IsCompleted && started != null && started.IsCompleted && isAsked, "it begins anew");
        World.Check(!stopped.IsFaulted, "the end of the first one");
        World.Check(!started.IsFaulted, "the beginning was told: " + started.Exception);
        World.Check(why == null, "what was asked was told: " + why);
        World.Equal(world.Core.State, CoreState.Ready, "the state");
        world.End();
        return new JObject();
    }

    /// <summary>After Detach nothing is called any more, not even what was posted for the same frame.</summary>
    public static JObject DetachesInACallback(World world)
    {
        world.Ready();
        int pid = world.Core.SidecarPid;
        string state = null;
        bool isCalled = false;
        world.Core.Post(() => state = world.Core.Detach());
        WeakReference handedOver = PostNote(world, () => isCalled = true);
        Breaking.Frames(world, 5);
        world.Core.Post(() => isCalled = true);
        Breaking.Frames(world, 5);
        World.Check(state != null, "it did not detach");
        World.Check(!isCalled, "a callback came after Detach");
        GC.Collect();
        World.Check(!handedOver.IsAlive, "it holds on to what the game handed over");
        World.Check(World.IsThere(pid), "the sidecar is gone");
        world = Reloading.Again(world, state);
        world.Until(() => world.Core.State == CoreState.Ready, "it goes on");
        World.Equal(world.Core.SidecarPid, pid, "the sidecar");
        world.End();
        return new JObject();
    }

    private static WeakReference PostNote(World world, Action note)
    {
        WeakReference found = null;
        // On a thread whose stack is gone afterwards: what is left on one keeps things alive.
        Thread thread = new Thread(() =>
        {
            object[] token = new object[1];
            found = new WeakReference(token);
            world.Core.Post(() =>
            {
                token[0] = note;
                note();
            });
        });
        thread.Start();
        thread.Join();
        return found;
    }

    /// <summary>Long lines that nobody takes do not fill the memory.</summary>
    public static JObject LongLines(World world)
    {
        CoreOptions options = world.Options();
        options.MaxRestarts = 0;
        int pid = 0;
        world.Begin(new ParleyCore(options)).Core.Start();
        Waiting(() => (pid = Math.Max(pid, world.Core.SidecarPid)) != 0, "a process is there");
        // What it says is read meanwhile, and no frame takes it.
        Waiting(() => !World.IsThere(pid), "it ends");
        world.Until(() => world.Core.State == CoreState.Down, "it is given up");
        Breaking.Frames(world, 20);
        long letters = world.Log.Sum(line => (long)line.Length);
        World.Check(letters < 3 * 1024 * 1024, "it kept " + letters + " letters");
        World.Check(world.Logged("log lines were left out"), "it does not say that something is left out");
        // Its last words are shown, and no more of them than anybody reads.
        World.Check(world.Core.Trouble.Contains("xxx"), "its last words are missing");
        World.Check(world.Core.Trouble.Length < 100000, "its last words are of " + world.Core.Trouble.Length + " letters");
        return new JObject();
    }

    /// <summary>A sidecar in a container names itself by a number that is another process's here; be it the game's.</summary>
    public static JObject NamesTheGame(World world)
    {
        SidecarOptions options = world.Launch();
        options.OwnerPid = -1;
        SidecarProcess process = new SidecarProcess(options, null);
        process.Start();
        World.Check(process.WaitUntilEnded(20000), "it does not end");
        World.Equal(process.Ready == null ? 0 : process.Ready.Pid, Platform.OwnPid(), "whom it names");
        return new JObject();
    }

    private static void Waiting(Func<bool> condition, string what)
    {
        Stopwatch watch = Stopwatch.StartNew();
        while (!condition())
        {
            World.Check(watch.Elapsed.TotalSeconds < World.Patience, "still not: " + what);
            Thread.Sleep(2);
        }
    }
}
