// The heart of a game's side of Parley: one sidecar that is kept alive, and the characters that live in it.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;
using Parley.Messages;

namespace Parley
{
    /// <summary>
    /// Starts or finds a sidecar, keeps it alive, and gives every next one what the last one had: session settings,
    /// storages, pinned models, and the agents with their dialog, variables and changed parameters. Call Update once a
    /// frame: events, callbacks and the ends of tasks come in it and nowhere else. Nothing blocks but Stop with a time.
    /// Threading: one thread, the game's; Post and OnGameThread from any.
    /// </summary>
    public sealed partial class ParleyCore : IFrameSink, ILifeListener, IDisposable
    {
        private const int LinesOfUpdate = 50;

        private readonly CoreOptions _options;
        private readonly SidecarLife _life;
        private readonly GameQueue _queue = new GameQueue();
        private readonly LogQueue _logLines = new LogQueue();
        private readonly List<Ask> _asked = new List<Ask>();
        private readonly List<Ask> _waiting = new List<Ask>();
        private readonly List<Request> _made = new List<Request>();
        private readonly List<Told> _toTell = new List<Told>();
        private readonly List<CoreAgent> _agents = new List<CoreAgent>();
        private readonly Dictionary<string, CoreAgent> _byId = new Dictionary<string, CoreAgent>(StringComparer.Ordinal);
        private readonly List<TaskCompletionSource<bool>> _starting = new List<TaskCompletionSource<bool>>();
        private readonly List<TaskCompletionSource<bool>> _ending = new List<TaskCompletionSource<bool>>();
        private readonly Handlers<CoreState> _onStateChanged = new Handlers<CoreState>("StateChanged");
        private readonly Handlers<string> _onGone = new Handlers<string>("Gone");
        private readonly Handlers<ParleyCore> _onBack = new Handlers<ParleyCore>("Back");
        private readonly Handlers<string> _onGaveUp = new Handlers<string>("GaveUp");
        private readonly Handlers<Push> _onPushed = new Handlers<Push>("Pushed");
        private readonly Handlers<bool> _onLinkChanged = new Handlers<bool>("LinkChanged");
        private readonly int _gameThread = Thread.CurrentThread.ManagedThreadId;
        private ConfigureSession _configured;
        private readonly List<Undertaker> _undertakers = new List<Undertaker>();
        private CoreState _state;
        private string _trouble = "";
        private int _generation;
        private int _agentsToMake;
        private bool _isMade;
        private bool _isToldGone;
        private bool _wasReady;
        private bool _isUpdating;

        /// <summary>Nothing is started yet.</summary>
        public ParleyCore(CoreOptions options)
        {
            _options = options;
            Log = _logLines.Say;
            _life = new SidecarLife(options, this, Log);
        }

        /// <summary>How it stands with the sidecar has changed.</summary>
        public event Action<CoreState> StateChanged
        {
            add { _onStateChanged.Add(value); }
            remove { _onStateChanged.Remove(value); }
        }

        /// <summary>The sidecar is lost, and why; once until Back, however many are lost meanwhile.</summary>
        public event Action<string> Gone
        {
            add { _onGone.Add(value); }
            remove { _onGone.Remove(value); }
        }

        /// <summary>Another sidecar has all that the lost one had.</summary>
        public event Action<ParleyCore> Back
        {
            add { _onBack.Add(value); }
            remove { _onBack.Remove(value); }
        }

        /// <summary>There will be no sidecar until Start is called, and why.</summary>
        public event Action<string> GaveUp
        {
            add { _onGaveUp.Add(value); }
            remove { _onGaveUp.Remove(value); }
        }

        /// <summary>Everything that the sidecar sends unasked, also what agents get: Progress, Warning and so on.</summary>
        public event Action<Push> Pushed
        {
            add { _onPushed.Add(value); }
            remove { _onPushed.Remove(value); }
        }

        /// <summary>The connection broke (false) or is there again (true), with nothing missing.</summary>
        public event Action<bool> LinkChanged
        {
            add { _onLinkChanged.Add(value); }
            remove { _onLinkChanged.Remove(value); }
        }

        /// <summary>How it stands with the sidecar.</summary>
        public CoreState State
        {
            get { return _state; }
        }

        /// <summary>Why there is no sidecar; empty: there is one, or nobody asked for it.</summary>
        public string Trouble
        {
            get { return _trouble; }
        }

        /// <summary>How many sidecars in a row were lost and replaced.</summary>
        public int Restarts
        {
            get { return _life.Restarts; }
        }

        /// <summary>The process of the sidecar; 0: there is none, or it is not ours.</summary>
        public int SidecarPid
        {
            get { return _life.Process == null ? 0 : _life.Process.Pid; }
        }

        /// <summary>The session with the sidecar; null: there is none.</summary>
        public ParleySession Session
        {
            get { return _life.Session; }
        }

        /// <summary>The characters that are there.</summary>
        public IEnumerable<CoreAgent> Agents
        {
            get { return _agents.ToArray(); }
        }

        /// <summary>Requests can be sent at once.</summary>
        public bool IsConnected
        {
            get { return _life.IsConnected; }
        }

        internal LogSink Log { get; private set; }

        /// <summary>A sidecar is there, or will be.</summary>
        internal bool WillBeThere
        {
            get { return _state != CoreState.Down && _state != CoreState.Stopping; }
        }

        // ---- beginning and end ----

        /// <summary>
        /// Begin to start or find a sidecar. Also after GaveUp, where restarts are counted anew. Without effect while there
        /// is one. What is asked before it is there waits.
        /// </summary>
        public void Start()
        {
            if (_life.IsOn)
            {
                return;
            }
            _trouble = "";
            _isToldGone = false;
            _wasReady = false;
            SetState(CoreState.Starting);
            _life.Start();
        }

        /// <summary>As Start; ends when all is there. Faults with SidecarFailed where that does not come to be.</summary>
        public Task StartAsync()
        {
            TaskCompletionSource<bool> waiting = new TaskCompletionSource<bool>();
            Start();
            if (_state == CoreState.Ready)
            {
                waiting.SetResult(true);
            }
            else if (_state == CoreState.Down)
            {
                waiting.SetException(Faults.Down(_trouble));
            }
            else
            {
                _starting.Add(waiting);
            }
            return waiting.Task;
        }

        /// <summary>
        /// Begin to end the sidecar: it is asked, and killed where it does not go. Returns at once; turns end with
        /// status Cancelled. Agents stay, and the next Start makes them again.
        /// </summary>
        public void Stop()
        {
            if (!_life.IsOn)
            {
                if (_state != CoreState.Stopping)
                {
                    SetState(CoreState.Stopped);
                }
                return;
            }
            OnDrain();
            ParleySession session = _life.Session;
            SidecarProcess process = _life.Process;
            bool isOurs = _options.Launch != null;
            _life.LetGo();
            List<Ask> asked = ForgetSession();
            if (session != null && isOurs)
            {
                session.Request(new Shutdown(), TimeSpan.FromSeconds(2), null);
            }
            if (session != null || process != null)
            {
                _undertakers.Add(new Undertaker(process, session, _options.StopPatienceMs, !isOurs));
            }
            SetState(_undertakers.Count == 0 ? CoreState.Stopped : CoreState.Stopping);
            ParleyException fault = Faults.Down("the sidecar was stopped");
            foreach (CoreAgent agent in _agents.ToArray())
            {
                agent.StopTurns();
                agent.FailWaiting(fault);
            }
            ParleyException lost = Faults.Lost("the sidecar was stopped");
            foreach (Ask ask in asked)
            {
                ask.Done(null, ask.IsOnce ? lost : fault);
            }
            FailWaiting(fault);
            LookAtEnd();
        }

        /// <summary>As Stop, and wait for the end so long at most; whether it came. Blocks.</summary>
        public bool Stop(int waitMs)
        {
            Stop();
            Stopwatch watch = Stopwatch.StartNew();
            bool isDone = true;
            foreach (Undertaker undertaker in _undertakers)
            {
                isDone &= undertaker.Wait(waitMs < 0 ? waitMs : (int)Math.Max(0, waitMs - watch.ElapsedMilliseconds));
            }
            LookAtEnd();
            return isDone;
        }

        /// <summary>As Stop; ends with the sidecar.</summary>
        public Task StopAsync()
        {
            TaskCompletionSource<bool> waiting = new TaskCompletionSource<bool>();
            Stop();
            if (_state == CoreState.Stopping)
            {
                _ending.Add(waiting);
            }
            else
            {
                waiting.SetResult(true);
            }
            return waiting.Task;
        }

        /// <summary>As Stop.</summary>
        public void Dispose()
        {
            Stop();
        }

        /// <summary>
        /// One frame: take what came, for at most so many milliseconds, and see to the sidecar. How many frames were
        /// taken. Allocates nothing where nothing came. Within a callback of its own it does nothing.
        /// </summary>
        public int Update(double budgetMs)
        {
            if (_isUpdating)
            {
                return 0;
            }
            _isUpdating = true;
            try
            {
                _queue.Run(Log);
                _life.Step();
                int count = 0;
                ParleySession session = _life.Session;
                if (session != null)
                {
                    count = session.Drain(this, budgetMs);
                }
                LookAtEnd();
                _logLines.Run(_options.Log, LinesOfUpdate);
                return count;
            }
            finally
            {
                _isUpdating = false;
            }
        }

        // ---- characters, and whatever else is asked ----

        /// <summary>A character. The sidecar makes it as soon as it is there: see its events Made and Failed.</summary>
        public CoreAgent CreateAgent(AgentOptions options)
        {
            if (options.Key.Length > 0 && FindAgent(options.Key) != null)
            {
                throw new ArgumentException("an agent with the key `" + options.Key + "` is there already");
            }
            CoreAgent agent = new CoreAgent(this, options);
            _agents.Add(agent);
            if (_isMade && IsConnected)
            {
                // Not within this call: the caller has not subscribed to anything yet.
                int generation = _generation;
                Post(() =>
                {
                    if (generation == _generation && agent.State == AgentState.Making)
                    {
                        agent.Make(() => { });
                    }
                });
            }
            return agent;
        }

        /// <summary>As CreateAgent; ends when the sidecar has made it. Faults with ParleyException.</summary>
        public Task<CoreAgent> CreateAgentAsync(AgentOptions options)
        {
            TaskCompletionSource<CoreAgent> waiting = new TaskCompletionSource<CoreAgent>();
            CreateAgent(options).Creating = waiting;
            if (!WillBeThere)
            {
                waiting.SetException(Faults.Down(_trouble));
            }
            return waiting.Task;
        }

        /// <summary>The character of that key; null: there is none.</summary>
        public CoreAgent FindAgent(string key)
        {
            foreach (CoreAgent agent in _agents)
            {
                if (agent.Key == key)
                {
                    return agent;
                }
            }
            return null;
        }

        /// <summary>
        /// Any other request. It waits for a sidecar where there is none, and is done again by the next one where one dies
        /// over it; it should name no agent and make nothing. `done` may be null.
        /// </summary>
        public void Request(Request message, Action<Reply, ParleyException> done)
        {
            Enqueue(new Ask
            {
                Make = () => message,
                Done = (reply, fault) =>
                {
                    if (done != null)
                    {
                        Call(() => done(reply, fault));
                    }
                },
            });
        }

        /// <summary>As Request. Faults with ParleyException; `cancel` only ends the waiting.</summary>
        public Task<Reply> RequestAsync(Request message, CancellationToken cancel = default(CancellationToken))
        {
            TaskCompletionSource<Reply> waiting = new TaskCompletionSource<Reply>();
            CancellationTokenRegistration registration = cancel.Register(() => Post(() => waiting.TrySetCanceled()));
            Request(message, (reply, fault) =>
            {
                registration.Dispose();
                if (fault == null)
                {
                    waiting.TrySetResult(reply);
                }
                else
                {
                    waiting.TrySetException(fault);
                }
            });
            return waiting.Task;
        }

        /// <summary>Do something in the next Update. From any thread.</summary>
        public void Post(Action work)
        {
            _queue.Post(work);
        }

        /// <summary>Do something now where this is the game's thread, else in the next Update.</summary>
        public void OnGameThread(Action work)
        {
            if (Thread.CurrentThread.ManagedThreadId == _gameThread)
            {
                work();
            }
            else
            {
                _queue.Post(work);
            }
        }

        // ---- what agents use ----

        internal void Send(Ask ask)
        {
            if (!IsConnected)
            {
                NotSent(ask, Faults.Lost("the sidecar is lost"));
                return;
            }
            int generation = _generation;
            _asked.Add(ask);
            ParleySession session = _life.Session;
            Action<Reply, ParleyException> done = (reply, fault) =>
            {
                if (fault != null && ReferenceEquals(fault, session.Fault) && !Faults.MeansGone(fault))
                {
                    // Why the session ended, be it that something else cannot be read, is no answer to this request.
                    fault = Faults.Lost(fault.Message);
                }
                if (generation == _generation && !(_isDetached && fault != null && Faults.MeansGone(fault)))
                {
                    Settle(ask, reply, fault);
                }
            };
            try
            {
                if (ask.IsLong)
                {
                    _life.Session.RequestOurs(ask.Make(), ask.Timeout, done);
                }
                else
                {
                    _life.Session.Request(ask.Make(), ask.Timeout, done);
                }
            }
            catch (Exception fault)
            {
                // What the game put into it cannot be written, in any sidecar to come either.
                _asked.Remove(ask);
                ask.Done(null, new ParleyException(ErrorCode.InvalidValue, "InvalidValue", fault.Message, fault));
            }
        }

        private void Settle(Ask ask, Reply reply, ParleyException fault)
        {
            _asked.Remove(ask);
            if (fault != null && Faults.MeansGone(fault))
            {
                NotSent(ask, fault);
            }
            else
            {
                ask.Done(reply, fault);
            }
        }

        internal void Know(CoreAgent agent)
        {
            _byId[agent.AgentId] = agent;
        }

        internal void Forget(CoreAgent agent, string agentId)
        {
            _agents.Remove(agent);
            if (agentId.Length > 0)
            {
                _byId.Remove(agentId);
                DestroyUnwanted(agentId);
            }
        }

        internal void DestroyUnwanted(string agentId)
        {
            if (IsConnected)
            {
                Send(new Ask
                {
                    IsOnce = true,
                    Make = () => new DestroyAgent { AgentId = agentId },
                    Done = (reply, fault) => { },
                });
            }
        }

        internal void Background<T>(Func<T> work, Action<T, Exception> done)
        {
            _queue.InBackground(work, done);
        }

        /// <summary>Call the game back; what it throws is reported.</summary>
        internal void Call(Action callback)
        {
            try
            {
                callback();
            }
            catch (Exception fault)
            {
                Logs.Say(Log, LogLevel.Error, "a callback threw: " + fault);
            }
        }

        internal void Say(LogLevel level, string text)
        {
            Logs.Say(Log, level, text);
        }

        // ---- requests ----

        private void Enqueue(Ask ask)
        {
            if (!WillBeThere)
            {
                ParleyException fault = Faults.Down(_trouble);
                Post(() => ask.Done(null, fault));
            }
            else if (_isMade && IsConnected)
            {
                Send(ask);
            }
            else
            {
                _waiting.Add(ask);
            }
        }

        private void NotSent(Ask ask, ParleyException fault)
        {
            if (ask.IsOnce)
            {
                ask.Done(null, fault);
            }
            else if (!WillBeThere)
            {
                ask.Done(null, Faults.Down(_trouble));
            }
            else if (ask.Agent != null)
            {
                ask.Agent.DoLater(ask);
            }
            else
            {
                _waiting.Add(ask);
            }
        }

        private void FailWaiting(ParleyException fault)
        {
            Ask[] waiting = _waiting.ToArray();
            _waiting.Clear();
            foreach (Ask ask in waiting)
            {
                ask.Done(null, fault);
            }
            Tell(null, fault);
        }
    }
}
