// What stands for a game in these programs: its loop, a sidecar as the settings say, and notes of all that happens.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Text;
using System.Threading;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Messages;

/// <summary>A check of a program failed.</summary>
public sealed class Failed : Exception
{
    public Failed(string message)
        : base(message)
    {
    }
}

/// <summary>A game. Threading: one thread's, as a game's loop is.</summary>
public sealed class World
{
    public const double Patience = 40.0;

    public readonly JObject Settings;
    public readonly List<string> Events = new List<string>();
    public readonly List<string> Log = new List<string>();
    public readonly int Thread = System.Threading.Thread.CurrentThread.ManagedThreadId;
    public ParleyCore Core;

    /// <summary>The newest one.</summary>
    public static World Last { get; private set; }

    public World(JObject settings)
    {
        Last = this;
        Settings = settings;
    }

    public CoreOptions Options()
    {
        CoreOptions options = new CoreOptions { Log = Note, ClientName = "a test" };
        if (Settings["endpoint"] != null)
        {
            options.Endpoint = (string)Settings["endpoint"];
            options.Token = (string)Settings["token"];
        }
        else
        {
            options.Launch = Launch();
        }
        return options;
    }

    public SidecarOptions Launch()
    {
        SidecarOptions launch = new SidecarOptions { Executable = (string)Settings["executable"] };
        launch.Arguments.Clear();
        launch.IsNative = (bool?)Settings["native"];
        launch.ReadyFile = (string)Settings["ready_file"] ?? "";
        foreach (JToken argument in (JArray)Settings["arguments"])
        {
            launch.Arguments.Add((string)argument);
        }
        foreach (JProperty variable in ((JObject)Settings["environment"]).Properties())
        {
            launch.Environment[variable.Name] = (string)variable.Value;
        }
        return launch;
    }

    public World Begin()
    {
        return Begin(new ParleyCore(Options()));
    }

    public World Begin(ParleyCore core)
    {
        Core = core;
        Core.StateChanged += state => Event("state " + state);
        Core.Gone += why => Event("gone");
        Core.Back += back => Event("back");
        Core.GaveUp += why => Event("gave up");
        Core.LinkChanged += isThere => Event(isThere ? "link back" : "link lost");
        return this;
    }

    public World Ready()
    {
        Begin();
        Core.Start();
        Until(() => Core.State == CoreState.Ready, "the sidecar is ready");
        return this;
    }

    /// <summary>The game goes on for a while, until something is so. Seconds that it took.</summary>
    public double Until(Func<bool> condition, string what, double patience = Patience)
    {
        Stopwatch watch = Stopwatch.StartNew();
        while (true)
        {
            Frame();
            if (condition())
            {
                return watch.Elapsed.TotalSeconds;
            }
            if (watch.Elapsed.TotalSeconds > patience)
            {
                throw new Failed("still not: " + what + "; state " + Core.State + " " + Core.Trouble + "\n"
                    + string.Join("\n", Events.ToArray()) + "\n" + Words());
            }
            System.Threading.Thread.Sleep(2);
        }
    }

    public void Frame()
    {
        Stopwatch watch = Stopwatch.StartNew();
        Core.Update(1.0);
        Longest = Math.Max(Longest, watch.Elapsed.TotalMilliseconds);
    }

    /// <summary>Milliseconds of the longest Update.</summary>
    public double Longest { get; private set; }

    public string Words()
    {
        return string.Join("\n", Log.ToArray());
    }

    public void Event(string text)
    {
        Check(System.Threading.Thread.CurrentThread.ManagedThreadId == Thread, text + " came on another thread");
        Events.Add(text);
    }

    public int Count(string text)
    {
        return Events.FindAll(one => one == text).Count;
    }

    public bool Logged(string text)
    {
        return Log.Exists(line => line.IndexOf(text, StringComparison.Ordinal) >= 0);
    }

    public void Kill()
    {
        using (Process process = Process.GetProcessById(Core.SidecarPid))
        {
            process.Kill();
        }
    }

    public void End()
    {
        Stopwatch watch = Stopwatch.StartNew();
        int pid = Core.SidecarPid;
        Check(Core.Stop(5000), "the sidecar did not end");
        Check(Core.State == CoreState.Stopped, "the state is " + Core.State);
        Check(pid == 0 || !IsThere(pid), "the process is still there");
        EndMs = watch.Elapsed.TotalMilliseconds;
    }

    public double EndMs { get; private set; }

    /// <summary>A process of that number is there, be it only as a zombie.</summary>
    public static bool IsThere(int pid)
    {
        return Directory.Exists("/proc/" + pid.ToString(CultureInfo.InvariantCulture));
    }

    public JObject Workflow(string name)
    {
        return (JObject)Settings["workflows"][name].DeepClone();
    }

    public Character Make(string workflow, AgentOptions options = null)
    {
        Character made = Add(workflow, options);
        Until(() => made.Agent.State != AgentState.Making, "the agent is made");
        if (made.Agent.State == AgentState.Failed)
        {
            throw new Failed(made.Agent.Trouble.ToString());
        }
        return made;
    }

    public Character Add(string workflow, AgentOptions options = null)
    {
        options = options ?? new AgentOptions();
        options.Workflow = Workflow(workflow);
        return new Character(this, Core.CreateAgent(options));
    }

    /// <summary>Do something that calls back, and wait for that; the fault it brought, or null.</summary>
    public ParleyException Wait(Action<Action<ParleyException>> work, string what)
    {
        bool isDone = false;
        ParleyException found = null;
        work(fault =>
        {
            Event("done: " + what);
            isDone = true;
            found = fault;
        });
        Until(() => isDone, what);
        return found;
    }

    public static void Check(bool condition, string what)
    {
        if (!condition)
        {
            throw new Failed(what);
        }
    }

    public static void Equal<T>(T found, T expected, string what)
    {
        if (!EqualityComparer<T>.Default.Equals(found, expected))
        {
            throw new Failed(what + ": " + found + " is not " + expected);
        }
    }

    private void Note(LogLevel level, string text)
    {
        Check(System.Threading.Thread.CurrentThread.ManagedThreadId == Thread, "the log spoke on another thread");
        Log.Add(level + " " + text);
    }
}

/// <summary>A character of the game, and what it did.</summary>
public sealed class Character
{
    public readonly CoreAgent Agent;
    public readonly List<AnswerText> Frames = new List<AnswerText>();
    public readonly List<TurnComplete> Ends = new List<TurnComplete>();
    public readonly List<ToolCall> Calls = new List<ToolCall>();
    private readonly World _world;

    public Character(World world, CoreAgent agent)
    {
        _world = world;
        Agent = agent;
        agent.Answer += frame =>
        {
            world.Event("answer");
            Frames.Add(frame);
        };
        agent.TurnCompleted += complete =>
        {
            world.Event("complete " + complete.Status);
            Ends.Add(complete);
        };
        agent.ToolCalled += call =>
        {
            world.Event("tool " + call.Tool);
            Calls.Add(call);
        };
    }

    /// <summary>Say a line and wait for the end of its turn.</summary>
    public TurnComplete Turn(string line)
    {
        int before = Ends.Count;
        World.Equal(Agent.Say(line), SayOutcome.Sent, "what became of a line");
        _world.Until(() => Ends.Count > before, "the turn ends");
        return Ends[Ends.Count - 1];
    }

    /// <summary>All that a node said in a turn.</summary>
    public string Said(long turnId, string node)
    {
        StringBuilder text = new StringBuilder();
        foreach (AnswerText frame in Frames)
        {
            if (frame.TurnId == turnId && frame.NodeName == node)
            {
                if (!frame.IsDelta)
                {
                    text.Length = 0;
                }
                text.Append(frame.Text);
            }
        }
        return text.ToString();
    }

    /// <summary>The turns of the dialog as `line/status`, joined.</summary>
    public string Turns()
    {
        List<string> turns = new List<string>();
        foreach (Interaction turn in Agent.Dialog.Interactions)
        {
            turns.Add(turn.User + "/" + turn.Status);
        }
        return string.Join(" ", turns.ToArray());
    }
}
