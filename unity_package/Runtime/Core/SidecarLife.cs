// One sidecar after another: started, connected to, lost, started again, given up.
using System;
using System.Diagnostics;
using System.Globalization;

namespace Parley
{
    /// <summary>What ParleyCore hears of the sidecars it has, on the game's thread.</summary>
    internal interface ILifeListener
    {
        /// <summary>A sidecar answers and has nothing yet; or, `isResumed`, the one of before the reload has all.</summary>
        void OnConnected(bool isResumed);

        /// <summary>Take what has come, without a bound.</summary>
        void OnDrain();

        /// <summary>The sidecar, or the session with it, is lost. Another one may come.</summary>
        void OnLost(string why);

        /// <summary>No other one comes until Start.</summary>
        void OnGivenUp(string why);
    }

    /// <summary>
    /// Keeps a sidecar and a session with it. Nothing here blocks.
    /// Threading: the game's thread only.
    /// </summary>
    internal sealed class SidecarLife
    {
        private const int LastFramesMs = 300;
        private const int FarewellMs = 2500;

        private readonly CoreOptions _options;
        private readonly ILifeListener _listener;
        private readonly LogSink _log;
        private readonly Stopwatch _clock = Stopwatch.StartNew();
        private Phase _phase;
        private long _until;
        private long _upSince;
        private string _why = "";
        private bool _isResuming;

        internal SidecarLife(CoreOptions options, ILifeListener listener, LogSink log)
        {
            _options = options;
            _listener = listener;
            _log = log;
        }

        private enum Phase
        {
            /// <summary>There is no sidecar.</summary>
            Off,

            /// <summary>The next one is started in a while.</summary>
            Pause,

            /// <summary>Its process starts.</summary>
            Launching,

            /// <summary>Hello is said.</summary>
            Connecting,

            /// <summary>It answers.</summary>
            Connected,

            /// <summary>It is lost; what it said last is still taken in.</summary>
            Sinking,
        }

        /// <summary>The session with the sidecar that is there; null: there is none.</summary>
        internal ParleySession Session { get; private set; }

        /// <summary>The process of the sidecar; null: there is none, or it is not ours.</summary>
        internal SidecarProcess Process { get; private set; }

        /// <summary>Where the sidecar is; null: nobody knows.</summary>
        internal Place Where { get; private set; }

        /// <summary>How many sidecars in a row were lost and replaced.</summary>
        internal int Restarts { get; private set; }

        /// <summary>Start was called, and neither Stop was nor was the sidecar given up.</summary>
        internal bool IsOn
        {
            get { return _phase != Phase.Off; }
        }

        /// <summary>The session of before the reload is being taken up.</summary>
        internal bool IsResuming
        {
            get { return _isResuming; }
        }

        /// <summary>Requests can be sent.</summary>
        internal bool IsConnected
        {
            get { return _phase == Phase.Connected; }
        }

        internal void Start()
        {
            Restarts = 0;
            Launch();
        }

        /// <summary>Take up the session that an earlier object had.</summary>
        internal void Resume(Place where, SidecarProcess process, string sessionKey, ulong lastSeq, ulong lastRequestId, int restarts)
        {
            Restarts = restarts;
            Where = where;
            Process = process;
            _isResuming = true;
            Connect(sessionKey, lastSeq, lastRequestId);
        }

        /// <summary>As Start, in the next Step, which says first that the one of before the reload is lost.</summary>
        internal void StartAgain(string why)
        {
            Restarts = 0;
            Sink(why, long.MinValue);
        }

        /// <summary>All that the sidecar should have is made.</summary>
        internal void MarkUp()
        {
            _upSince = _clock.ElapsedMilliseconds;
        }

        /// <summary>Forget sidecar and session without a word to them; whoever calls has taken them over.</summary>
        internal void LetGo()
        {
            _phase = Phase.Off;
            Session = null;
            Process = null;
            Where = null;
            _isResuming = false;
        }

        internal void Step()
        {
            long now = _clock.ElapsedMilliseconds;
            switch (_phase)
            {
                case Phase.Pause:
                    if (now >= _until)
                    {
                        Launch();
                    }
                    break;
                case Phase.Launching:
                    StepLaunching();
                    break;
                case Phase.Connecting:
                case Phase.Connected:
                    StepConnected(now);
                    break;
                case Phase.Sinking:
                    StepSinking(now);
                    break;
            }
        }

        private void Launch()
        {
            if (_options.Launch == null)
            {
                Where = new Place(_options.Endpoint, _options.Token, _options.ServerPublicKey);
                Connect("", 0, 0);
                return;
            }
            Process = new SidecarProcess(_options.Launch, _log);
            Process.Start();
            _phase = Phase.Launching;
        }

        private void StepLaunching()
        {
            switch (Process.State)
            {
                case SidecarState.Ready:
                    ReadyLine ready = Process.Ready;
                    Where = new Place(ready.Endpoint, ready.Token, ready.CurvePublicKey);
                    Connect("", 0, 0);
                    break;
                case SidecarState.Ended:
                    string why = Process.Why;
                    bool isForGood = Process.IsForGood;
                    Process = null;
                    Lose(why, isForGood);
                    break;
            }
        }

        private void Connect(string resumeKey, ulong lastSeq, ulong lastRequestId)
        {
            _phase = Phase.Connecting;
            SessionOptions session = new SessionOptions
            {
                Endpoint = Where.Endpoint,
                Token = Where.Token,
                ServerPublicKey = Where.ServerPublicKey,
                ClientName = _options.ClientName,
                ConnectTimeoutS = _options.ConnectTimeoutS,
                ReconnectS = _options.ReconnectS,
                ResumeKey = resumeKey,
                LastSeq = lastSeq,
                LastRequestId = lastRequestId,
                Log = _log,
            };
            try
            {
                Session = ParleySession.Connect(session);
            }
            catch (ParleyException fault)
            {
                // Such as a missing library: the next try would find it missing too.
                Session = null;
                EndProcess();
                Lose(fault.Message, true);
            }
        }

        private void StepConnected(long now)
        {
            if (Process != null && Process.State == SidecarState.Ended)
            {
                Sink(Process.Why, now + LastFramesMs);
                return;
            }
            SessionState state = Session.State;
            if (state == SessionState.Closed)
            {
                StepClosed(now);
            }
            else if (_phase == Phase.Connecting && (state == SessionState.Ready || state == SessionState.Back))
            {
                bool isResumed = _isResuming;
                _isResuming = false;
                _phase = Phase.Connected;
                _listener.OnConnected(isResumed);
            }
        }

        private void StepClosed(long now)
        {
            string why = Session.Fault == null ? "the session ended" : Session.Fault.Message;
            SessionEnd end = Session.End;
            Phase before = _phase;
            bool wasResuming = _isResuming;
            _isResuming = false;
            if (end == SessionEnd.Shutdown && Process != null)
            {
                // It says that it goes; its exit code tells how.
                Sink(why, now + FarewellMs);
                return;
            }
            _listener.OnDrain();
            if (_phase != before)
            {
                // Whoever heard of it ended all this.
                return;
            }
            CloseSession();
            if (end == SessionEnd.Refused || end == SessionEnd.Replaced)
            {
                EndProcess();
                Lose(why, true);
            }
            else if (end == SessionEnd.Expired)
            {
                // The sidecar lives and has forgotten; nothing is wrong with it.
                _phase = Phase.Connecting;
                _listener.OnLost(why);
                if (_phase == Phase.Connecting && Session == null)
                {
                    Connect("", 0, 0);
                }
            }
            else if (wasResuming && Process == null && _options.Launch != null)
            {
                _phase = Phase.Pause;
                _until = now;
                _listener.OnLost(why);
            }
            else
            {
                EndProcess();
                Lose(why, false);
            }
        }

        private void Sink(string why, long until)
        {
            _why = why;
            _until = until;
            _phase = Phase.Sinking;
        }

        private void StepSinking(long now)
        {
            bool isGone = Process == null || Process.State == SidecarState.Ended;
            bool isSilent = Session == null || Session.State == SessionState.Closed || Session.State == SessionState.Lost;
            if ((!isGone || !isSilent) && now < _until)
            {
                return;
            }
            string why = isGone && Process != null ? Process.Why : _why;
            _listener.OnDrain();
            if (_phase != Phase.Sinking)
            {
                return;
            }
            CloseSession();
            EndProcess();
            Lose(why, false);
        }

        private void Lose(string why, bool isForGood)
        {
            _phase = Phase.Off;
            Where = null;
            _isResuming = false;
            long now = _clock.ElapsedMilliseconds;
            if (_upSince > 0 && now - _upSince > _options.StableAfterS * 1000)
            {
                Restarts = 0;
            }
            _upSince = 0;
            if (isForGood || Restarts >= _options.MaxRestarts)
            {
                string all = why;
                if (Restarts > 0 && !isForGood)
                {
                    all = "the sidecar was lost " + (Restarts + 1).ToString(CultureInfo.InvariantCulture)
                        + " times in a row and is not started again until the game asks for it. The last time: " + why;
                }
                _listener.OnGivenUp(all);
                return;
            }
            double[] pauses = _options.RestartPausesS;
            double pause = pauses.Length == 0 ? 0 : pauses[Math.Min(Restarts, pauses.Length - 1)];
            Restarts++;
            _phase = Phase.Pause;
            _until = now + (long)(pause * 1000);
            _listener.OnLost(why);
        }

        private void CloseSession()
        {
            ParleySession session = Session;
            Session = null;
            if (session != null)
            {
                new Undertaker(null, session, 0, false);
            }
        }

        private void EndProcess()
        {
            SidecarProcess process = Process;
            Process = null;
            if (process != null)
            {
                process.Stop(0);
            }
        }

        /// <summary>Where a sidecar is.</summary>
        internal sealed class Place
        {
            internal readonly string Endpoint;
            internal readonly string Token;
            internal readonly string ServerPublicKey;

            internal Place(string endpoint, string token, string serverPublicKey)
            {
                Endpoint = endpoint;
                Token = token;
                ServerPublicKey = serverPublicKey;
            }
        }
    }
}
