// What stands for a game in these programs: a loop that drains a session, and all that came out of it.
using System;
using System.Collections.Generic;
using System.Diagnostics;
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

/// <summary>Owns a session and notes what comes. Threading: one thread's, as a game's loop is.</summary>
public sealed class Game : IFrameSink
{
    public readonly List<ulong> Seqs = new List<ulong>();
    public readonly List<string> States = new List<string>();
    public readonly List<string> Orphans = new List<string>();
    public readonly List<Gap> Gaps = new List<Gap>();
    public readonly Dictionary<string, List<JObject>> Completes = new Dictionary<string, List<JObject>>();
    public readonly Dictionary<string, string> Texts = new Dictionary<string, string>();
    public readonly List<string> Log = new List<string>();
    public ParleySession Session;
    public ParleyException Reason;
    public Action<Push> Hears = push => { };
    private ulong _lastSeq;

    public Game(SessionOptions options)
    {
        options.Log = (level, text) =>
        {
            lock (Log)
            {
                Log.Add(text);
            }
        };
        _lastSeq = options.LastSeq;
        Session = ParleySession.Connect(options);
    }

    /// <summary>Options from arguments such as endpoint=tcp://… token=… silence=0.4.</summary>
    public static SessionOptions Options(Dictionary<string, string> arguments)
    {
        SessionOptions options = new SessionOptions { Endpoint = arguments["endpoint"], ClientName = "a test" };
        foreach (KeyValuePair<string, string> pair in arguments)
        {
            switch (pair.Key)
            {
                case "token":
                    options.Token = pair.Value;
                    break;
                case "curve":
                    options.ServerPublicKey = pair.Value;
                    break;
                case "resume":
                    options.ResumeKey = pair.Value;
                    break;
                case "last_seq":
                    options.LastSeq = ulong.Parse(pair.Value);
                    break;
                case "last_request_id":
                    options.LastRequestId = ulong.Parse(pair.Value);
                    break;
                case "silence":
                    options.SilenceS = Number(pair.Value);
                    break;
                case "try":
                    options.TryTimeoutS = Number(pair.Value);
                    break;
                case "connect":
                    options.ConnectTimeoutS = Number(pair.Value);
                    break;
                case "reconnect":
                    options.ReconnectS = Number(pair.Value);
                    break;
            }
        }
        return options;
    }

    public static double Number(string text)
    {
        return double.Parse(text, System.Globalization.CultureInfo.InvariantCulture);
    }

    public static void Check(bool isSo, string what)
    {
        if (!isSo)
        {
            throw new Failed(what);
        }
    }

    /// <summary>Turns the loop until something is so.</summary>
    public void Until(Func<bool> isSo, string what, double seconds = 30.0)
    {
        Stopwatch watch = Stopwatch.StartNew();
        while (!isSo())
        {
            Frame();
            if (watch.Elapsed.TotalSeconds > seconds)
            {
                throw new Failed("after " + seconds + " s still not: " + what + "; " + Story());
            }
        }
    }

    public string Story()
    {
        lock (Log)
        {
            return "states " + string.Join(" ", States.ToArray()) + "; " + Reason + "; " + string.Join(" | ", Log.ToArray());
        }
    }

    /// <summary>One turn of the loop.</summary>
    public void Frame()
    {
        if (Session.Drain(this, 1.0) == 0)
        {
            Thread.Sleep(1);
        }
    }

    public void UntilReady()
    {
        Until(() => States.Count > 0, "ready or refused");
        Check(States[0] == "Ready", "not ready: " + Story());
    }

    /// <summary>Sends a request and turns the loop until its reply is there; throws what it is refused with.</summary>
    public T Ask<T>(Request request)
        where T : Reply
    {
        return (T)Ask(request, TimeSpan.Zero);
    }

    public Reply Ask(Request request, TimeSpan timeout)
    {
        Reply found = null;
        ParleyException why = null;
        int calls = 0;
        Session.Request(
            request,
            timeout,
            (reply, fault) =>
            {
                Numbered(Session.LastSeq);
                found = reply;
                why = fault;
                calls++;
            });
        Until(() => calls > 0, "answered: " + request.TypeName);
        Check(calls == 1 && (found == null) != (why == null), "answered twice, or neither way");
        if (why != null)
        {
            throw why;
        }
        return found;
    }

    public string Agent(JObject workflow)
    {
        return Ask<AgentCreated>(new CreateAgent { Workflow = workflow }).AgentId;
    }

    /// <summary>Notes the number of a frame whose reply a callback got.</summary>
    public void Numbered(ulong seq)
    {
        if (seq != _lastSeq)
        {
            _lastSeq = seq;
            Seqs.Add(seq);
        }
    }

    public void OnPush(Push push, byte[] payload, ulong seq)
    {
        if (seq != 0)
        {
            Check(seq == Session.LastSeq, "LastSeq is not that of the frame");
            Check(seq > _lastSeq, "a frame came again: " + seq);
            Numbered(seq);
        }
        Gap gap = push as Gap;
        if (gap != null)
        {
            Gaps.Add(gap);
        }
        AnswerText answer = push as AnswerText;
        if (answer != null)
        {
            string key = answer.AgentId + "/" + answer.TurnId + "/" + answer.Step;
            string before;
            Texts.TryGetValue(key, out before);
            Texts[key] = answer.IsDelta ? before + answer.Text : answer.Text;
        }
        TurnComplete complete = push as TurnComplete;
        if (complete != null)
        {
            TurnsOf(complete.AgentId).Add(complete.ToJson());
        }
        Hears(push);
    }

    public void OnReply(ulong requestId, Reply reply)
    {
        Numbered(Session.LastSeq);
        Orphans.Add(requestId + " " + reply.TypeName);
    }

    public void OnState(SessionState state, ParleyException reason)
    {
        States.Add(state.ToString());
        Reason = reason ?? Reason;
    }

    public List<JObject> TurnsOf(string agentId)
    {
        List<JObject> turns;
        if (!Completes.TryGetValue(agentId, out turns))
        {
            Completes[agentId] = turns = new List<JObject>();
        }
        return turns;
    }

    /// <summary>All text of a turn, step by step.</summary>
    public JArray TextsOf(string agentId, long turnId)
    {
        JArray texts = new JArray();
        for (int step = 1; Texts.ContainsKey(agentId + "/" + turnId + "/" + step); step++)
        {
            texts.Add(Texts[agentId + "/" + turnId + "/" + step]);
        }
        return texts;
    }

    /// <summary>What whoever started this program wants to know.</summary>
    public JObject Report()
    {
        JArray seqs = new JArray();
        foreach (ulong seq in Seqs)
        {
            seqs.Add(seq);
        }
        return new JObject(
            new JProperty("seqs", seqs),
            new JProperty("states", new JArray(States.ToArray())),
            new JProperty("orphans", new JArray(Orphans.ToArray())),
            new JProperty("gaps", Gaps.Count),
            new JProperty("session_key", Session.SessionKey),
            new JProperty("last_seq", Session.LastSeq),
            new JProperty("last_request_id", Session.LastRequestId),
            new JProperty("end", Session.End.ToString()),
            new JProperty("log", new JArray(Log.ToArray())),
            new JProperty("code", Session.Fault != null ? (int)Session.Fault.Code : 0),
            new JProperty("code_name", Session.Fault != null ? Session.Fault.CodeName : ""),
            new JProperty("message", Session.Fault != null ? Session.Fault.Message : ""));
    }
}
