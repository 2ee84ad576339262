// One sidecar process of the game's own, from its start to its exit code.
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Text;
using System.Threading;

namespace Parley
{
    /// <summary>How far a sidecar process is.</summary>
    public enum SidecarState
    {
        /// <summary>Start was not called.</summary>
        New,

        /// <summary>It is being started.</summary>
        Starting,

        /// <summary>It listens.</summary>
        Ready,

        /// <summary>It is gone, or there never was one.</summary>
        Ended,
    }

    /// <summary>
    /// Starts a sidecar, hears where it listens, forwards what it logs, and notices its end. Nothing here blocks but
    /// WaitUntilEnded.
    /// Threading: may be used from any thread. One thread of its own starts the program and waits for its end, two
    /// more read what it writes; the log sink is called on those.
    /// </summary>
    public sealed class SidecarProcess : IDisposable
    {
        private const int LookMs = 50;
        private const int WaitMs = 100;
        private const int AfterKillMs = 3000;
        private const int LastWordsMs = 1000;
        private const int StandstillMs = 200;
        private const int LastLines = 20;

        // Letters of one that is kept: nobody reads more of it, and it must not fill the memory.
        private const int LongestLastLine = 4096;

        private readonly object _lock = new object();
        private readonly SidecarOptions _options;
        private readonly LogSink _log;
        private readonly ManualResetEvent _ended = new ManualResetEvent(false);
        private readonly AutoResetEvent _said = new AutoResetEvent(false);
        private readonly Queue<string> _lastLines = new Queue<string>();
        private readonly Stopwatch _clock = Stopwatch.StartNew();
        private ChildProcess _child;
        private SidecarState _state;
        private ReadyLine _ready;
        private int? _exitCode;
        private string _why = "";
        private bool _isForGood;
        private bool _isStopping;
        private bool _isAbandoned;
        private long _killAt = long.MaxValue;
        private long _startedTicks;
        private int _pid;
        private long _launchedTicks;

        /// <summary>Starts nothing yet. `log` hears what the sidecar logs, and may be null.</summary>
        public SidecarProcess(SidecarOptions options, LogSink log)
        {
            _options = options.Copy();
            _log = log;
        }

        /// <summary>How far it is.</summary>
        public SidecarState State
        {
            get
            {
                lock (_lock)
                {
                    return _state;
                }
            }
        }

        /// <summary>Where it listens; null until it does.</summary>
        public ReadyLine Ready
        {
            get
            {
                lock (_lock)
                {
                    return _ready;
                }
            }
        }

        /// <summary>The process that was started; 0: none yet.</summary>
        public int Pid
        {
            get
            {
                lock (_lock)
                {
                    return _pid;
                }
            }
        }

        /// <summary>When that process started: with its number, what names it for ever. 0: not known.</summary>
        public long StartedTicks
        {
            get
            {
                lock (_lock)
                {
                    return _startedTicks;
                }
            }
        }

        /// <summary>How it ended, a signal as 128 and its number; null: it has not, or nobody knows.</summary>
        public int? ExitCode
        {
            get
            {
                lock (_lock)
                {
                    return _exitCode;
                }
            }
        }

        /// <summary>One sentence on why it ended, and its last lines where it never got ready; empty: it has not.</summary>
        public string Why
        {
            get
            {
                lock (_lock)
                {
                    return _why;
                }
            }
        }

        /// <summary>It ended in a way in which the same start would end again.</summary>
        public bool IsForGood
        {
            get
            {
                lock (_lock)
                {
                    return _isForGood;
                }
            }
        }

        /// <summary>Begin to start it. Once.</summary>
        public void Start()
        {
            lock (_lock)
            {
                if (_state != SidecarState.New)
                {
                    throw new InvalidOperationException("this sidecar was started before");
                }
                _state = SidecarState.Starting;
            }
            Begin(Run, "parley sidecar");
        }

        /// <summary>
        /// Looks after a sidecar that was started before the managed state of this process was thrown away; null where
        /// it is gone. What it logs is not heard any more.
        /// </summary>
        public static SidecarProcess Adopt(int pid, long startedTicks, LogSink log)
        {
            ChildProcess child = AdoptedChild.Find(pid, startedTicks);
            if (child == null)
            {
                return null;
            }
            SidecarProcess adopted = new SidecarProcess(new SidecarOptions(), log)
            {
                _child = child,
                _pid = pid,
                _startedTicks = startedTicks,
                _state = SidecarState.Ready,
            };
            Begin(adopted.WatchAdopted, "parley sidecar");
            return adopted;
        }

        /// <summary>
        /// Give it so long to end by itself, then kill it. Returns at once. Whoever has a session asks it to end first,
        /// with Shutdown.
        /// </summary>
        public void Stop(int patienceMs)
        {
            lock (_lock)
            {
                _isStopping = true;
                _killAt = Math.Min(_killAt, _clock.ElapsedMilliseconds + Math.Max(0, patienceMs));
                if (_state == SidecarState.New)
                {
                    _state = SidecarState.Ended;
                    _ended.Set();
                }
            }
            _said.Set();
        }

        /// <summary>Whether it has ended, after at most so long. Blocks: not for a game's main thread.</summary>
        public bool WaitUntilEnded(int milliseconds)
        {
            return _ended.WaitOne(milliseconds);
        }

        /// <summary>Let it run on and look after it no more, as before a reload of the scripting domain.</summary>
        public void Abandon()
        {
            ChildProcess child;
            lock (_lock)
            {
                _isAbandoned = true;
                child = _child;
            }
            _said.Set();
            // It must not stand still over a full pipe that nobody reads any more.
            CloseQuietly(child);
            _ended.WaitOne(2 * WaitMs);
        }

        /// <summary>Kill it where it still runs. Returns at once.</summary>
        public void Dispose()
        {
            Stop(0);
        }

        private static void CloseQuietly(ChildProcess child)
        {
            if (child == null)
            {
                return;
            }
            foreach (Stream stream in new[] { child.Output, child.Errors })
            {
                if (stream == null)
                {
                    continue;
                }
                try
                {
                    stream.Dispose();
                }
                catch (IOException)
                {
                    // It is closed as far as that goes.
                }
            }
        }

        private static Thread Begin(ThreadStart work, string name)
        {
            Thread thread = new Thread(work) { IsBackground = true, Name = name };
            thread.Start();
            return thread;
        }

        // ---- the thread that starts it and waits ----

        private void Run()
        {
            try
            {
                Launch();
            }
            catch (Exception fault)
            {
                if (fault is ThreadAbortException)
                {
                    throw;
                }
                bool isKnown = fault is IOException || fault is ArgumentException
                    || fault is NotSupportedException || fault is UnauthorizedAccessException;
                End(null, isKnown ? fault.Message : "the sidecar could not be started: " + fault, true);
            }
        }

        private void Launch()
        {
            string program = Platform.FindProgram(_options.Executable);
            List<string> arguments = new List<string>(_options.Arguments);
            if (_options.OwnerPid >= 0)
            {
                int owner = _options.OwnerPid;
                arguments.Add("--owner-pid");
                arguments.Add((owner != 0 ? owner : Platform.OwnPid()).ToString(CultureInfo.InvariantCulture));
            }
            if (_options.ReadyFile.Length > 0)
            {
                arguments.Add("--ready-file");
                arguments.Add(_options.ReadyFile);
                // What another sidecar left there would be taken for the word of this one.
                File.Delete(_options.ReadyFile);
            }
            Dictionary<string, string> environment = new Dictionary<string, string>();
            environment["PYTHONIOENCODING"] = "utf-8";
            foreach (KeyValuePair<string, string> variable in _options.Environment)
            {
                environment[variable.Key] = variable.Value;
            }
            bool isNative = _options.IsNative ?? ChildProcess.NeedsNative;
            ChildProcess child;
            try
            {
                child = ChildProcess.Start(program, arguments, environment, _options.WorkingFolder, isNative);
            }
            catch (Win32Exception fault)
            {
                End(null, "the sidecar program could not be started: " + program + ": " + fault.Message, true);
                return;
            }
            using (child)
            {
                // Not under the lock: the game's thread looks at the state in every frame.
                long startedTicks = isNative ? 0 : AdoptedChild.StartOf(child.Pid);
                lock (_lock)
                {
                    _child = child;
                    _pid = child.Pid;
                    _startedTicks = startedTicks;
                }
                Thread output = Begin(() => ReadLines(child.Output, TakeOutput), "parley sidecar stdout");
                Thread errors = Begin(() => ReadLines(child.Errors, TakeErrors), "parley sidecar stderr");
                bool wasReady = WaitUntilReady(child);
                Watch(child, wasReady, output, errors);
            }
        }

        private bool WaitUntilReady(ChildProcess child)
        {
            double waited = 0.0;
            long before = _clock.ElapsedMilliseconds;
            while (true)
            {
                _said.WaitOne(LookMs);
                // Time in which this process stood still, in a debugger or asleep, does not count: nobody could listen.
                long now = _clock.ElapsedMilliseconds;
                waited += Math.Min(now - before, StandstillMs);
                before = now;
                if (_options.ReadyFile.Length > 0 && Ready == null)
                {
                    TakeReady(ReadyLine.Read(FirstLineOf(_options.ReadyFile)));
                }
                lock (_lock)
                {
                    if (_ready != null)
                    {
                        return true;
                    }
                    if (_isStopping || _isAbandoned)
                    {
                        return false;
                    }
                }
                if (child.WaitForExit(0))
                {
                    return false;
                }
                if (waited > _options.StartTimeoutS * 1000)
                {
                    lock (_lock)
                    {
                        _why = "the sidecar was not ready within "
                            + _options.StartTimeoutS.ToString("0.#", CultureInfo.InvariantCulture) + " s";
                    }
                    child.Kill();
                    return false;
                }
            }
        }

        private void Watch(ChildProcess child, bool wasReady, Thread output, Thread errors)
        {
            long lastKill = long.MinValue;
            long giveUpAt = long.MaxValue;
            while (!child.WaitForExit(WaitMs))
            {
                bool isDue;
                lock (_lock)
                {
                    if (_isAbandoned)
                    {
                        _ended.Set();
                        return;
                    }
                    isDue = _clock.ElapsedMilliseconds >= _killAt;
                }
                if (isDue && lastKill == long.MinValue)
                {
                    lastKill = _clock.ElapsedMilliseconds;
                    giveUpAt = lastKill + AfterKillMs;
                    KillAll(child);
                }
                if (_clock.ElapsedMilliseconds > giveUpAt)
                {
                    End(null, "the sidecar does not end, though it was killed", false);
                    return;
                }
            }
            KillLaunched(child);
            // Its last words are still on their way.
            if (output != null)
            {
                output.Join(LastWordsMs);
                errors.Join(LastWordsMs);
            }
            int? code = child.ExitCode;
            string why;
            bool isStopping;
            lock (_lock)
            {
                why = _why;
                isStopping = _isStopping;
            }
            bool isForGood = false;
            if (why.Length == 0)
            {
                string how = code == null
                    ? "is gone"
                    : isStopping ? "ended" + Number(code.Value) : ExitWords.Describe(code.Value, Platform.IsWindows);
                why = "the sidecar " + how + (wasReady || isStopping ? "" : " before it was ready");
                isForGood = !wasReady && code != null && ExitWords.IsForGood(code.Value, Platform.IsWindows);
            }
            End(code, wasReady || isStopping ? why : why + Words(), isForGood);
        }

        private static string Number(int code)
        {
            return code == 0 ? "" : " (exit code " + code.ToString(CultureInfo.InvariantCulture) + ")";
        }

        private void WatchAdopted()
        {
            using (ChildProcess child = _child)
            {
                Watch(child, true, null, null);
            }
        }

        private void KillAll(ChildProcess child)
        {
            child.Kill();
            KillLaunched(child);
        }

        /// <summary>Where a launcher was started, the sidecar is another process and may outlive it.</summary>
        private void KillLaunched(ChildProcess child)
        {
            ReadyLine ready;
            long startedTicks;
            lock (_lock)
            {
                ready = _ready;
                startedTicks = _launchedTicks;
            }
            // Out of a container comes the number of somebody else, be it the game's own.
            if (ready == null || ready.Pid == child.Pid || ready.Pid == Platform.OwnPid() || startedTicks == 0)
            {
                return;
            }
            using (AdoptedChild launched = AdoptedChild.Find(ready.Pid, startedTicks))
            {
                if (launched != null)
                {
                    launched.Kill();
                }
            }
        }

        private void End(int? code, string why, bool isForGood)
        {
            lock (_lock)
            {
                _exitCode = code;
                _why = why;
                _isForGood = isForGood;
                _state = SidecarState.Ended;
            }
            _ended.Set();
        }

        private string Words()
        {
            lock (_lastLines)
            {
                return _lastLines.Count == 0 ? "" : ":\n" + string.Join("\n", _lastLines.ToArray());
            }
        }

        // ---- what it writes ----

        private void ReadLines(Stream stream, Action<string> take)
        {
            try
            {
                using (LineReader reader = new LineReader(stream))
                {
                    string line;
                    while ((line = reader.Next()) != null)
                    {
                        TakeSafely(take, line);
                    }
                }
            }
            catch (IOException)
            {
                // The pipe broke: its other end is gone.
            }
            catch (ObjectDisposedException)
            {
                // Nobody listens any more.
            }
            catch (NotSupportedException)
            {
                // The same, as some streams say it.
            }
            _said.Set();
        }

        /// <summary>Whatever a line holds, the next ones are read: a full pipe would stop the sidecar.</summary>
        private void TakeSafely(Action<string> take, string line)
        {
            try
            {
                take(line);
            }
            catch (Exception fault) when (!(fault is ThreadAbortException))
            {
                Logs.Say(_log, LogLevel.Error, "a fault inside Parley, over a line of the sidecar: " + fault);
            }
        }

        private void TakeOutput(string line)
        {
            ReadyLine ready = ReadyLine.Read(line);
            if (ready != null)
            {
                TakeReady(ready);
            }
            else if (line.Length > 0)
            {
                Logs.Say(_log, LogLevel.Info, line);
            }
        }

        private void TakeReady(ReadyLine ready)
        {
            if (ready == null)
            {
                return;
            }
            // Where a launcher was started, the sidecar is another process: this is what names that one for ever.
            long launchedTicks = ready.Pid == 0 || ready.Pid == Pid ? 0 : AdoptedChild.StartOf(ready.Pid);
            lock (_lock)
            {
                if (_ready == null && _state == SidecarState.Starting && !_isStopping)
                {
                    _ready = ready;
                    _launchedTicks = launchedTicks;
                    _state = SidecarState.Ready;
                }
            }
            _said.Set();
        }

        private void TakeErrors(string line)
        {
            if (line.Length == 0)
            {
                return;
            }
            lock (_lastLines)
            {
                if (_lastLines.Count == LastLines)
                {
                    _lastLines.Dequeue();
                }
                _lastLines.Enqueue(Cut(line));
            }
            Logs.Say(_log, Logs.LevelOf(line), line);
        }

        private static string Cut(string line)
        {
            if (line.Length <= LongestLastLine)
            {
                return line;
            }
            bool isInPair = char.IsHighSurrogate(line[LongestLastLine - 1]);
            return line.Substring(0, isInPair ? LongestLastLine - 1 : LongestLastLine);
        }

        private static string FirstLineOf(string path)
        {
            try
            {
                using (StreamReader reader = new StreamReader(
                    new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete)))
                {
                    return reader.ReadLine();
                }
            }
            catch (IOException)
            {
                return null;
            }
            catch (UnauthorizedAccessException)
            {
                return null;
            }
        }
    }
}
