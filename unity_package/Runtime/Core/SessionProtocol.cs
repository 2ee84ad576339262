// A session's side of the protocol: Hello, heartbeats, numbers, and a connection that breaks.
using System;
using System.Collections.Generic;
using System.Globalization;
using Parley.Messages;

namespace Parley
{
    /// <summary>
    /// Decides what to say and what to make of what comes. It owns the link; whoever calls it waits for the sockets.
    /// Times are seconds of a clock that stands still while the process does. Threading: the session's thread's.
    /// </summary>
    internal sealed partial class SessionProtocol
    {
        private const long MaxBacklogBytes = 32 * 1024 * 1024;
        private const int ReadBatch = 256;
        private const double ByeS = 0.4;
        private const double MinHeartbeatS = 0.02;
        private const double MaxHeartbeatS = 3600.0;

        // A Hello that came to nothing may be heard so much later.
        private const double GhostS = 60.0;

        private static readonly double[] Pauses = { 0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0 };

        private readonly ZmqContext _context;
        private readonly SessionOptions _options;
        private readonly SessionRecord _record;
        private readonly Inbox _inbox;
        private readonly PendingRequests _requests;
        private readonly InboundMessage _message;
        private readonly Delivery _delivery;
        private readonly List<PendingRequest> _scratch = new List<PendingRequest>();

        // When a Hello was given up unanswered: it may still come to the sidecar and take the session from here.
        private readonly Queue<double> _ghosts = new Queue<double>();

        private Phase _phase = Phase.Pausing;
        private Link _link;
        private int _links;
        private int _tries;
        private double _retryAt;
        private double _tryUntil;
        private double _giveUpAt;
        private string _sessionKey;
        private bool _wasReady;
        private bool _wasLost;
        private ulong _helloId;
        private ulong _nextId;
        private ulong _byeId;
        private double _byeUntil = double.PositiveInfinity;
        private double _lastHeard;
        private double _heartbeatS = Protocol.HeartbeatS;
        private double _nextBeat;

        // Something came on this connection that could not have come without the session.
        private bool _hasProgressed;

        public SessionProtocol(
            ZmqContext context, SessionOptions options, SessionRecord record, Inbox inbox, PendingRequests requests)
        {
            _context = context;
            _options = options;
            _record = record;
            _inbox = inbox;
            _requests = requests;
            _message = new InboundMessage(options.MaxJsonBytes, options.MaxPayloadBytes);
            _sessionKey = options.ResumeKey.Length > 0 ? options.ResumeKey : null;
            _delivery = new Delivery(options.LastSeq, _sessionKey != null);
            _nextId = options.LastRequestId + 1;
            _giveUpAt = options.ConnectTimeoutS;
        }

        private enum Phase
        {
            /// <summary>Waits before the next try.</summary>
            Pausing,

            /// <summary>Hello is said.</summary>
            Greeting,

            Live,
            Over,
        }

        /// <summary>The session is over; there is nothing left to wait for.</summary>
        public bool IsOver
        {
            get { return _phase == Phase.Over; }
        }

        private bool IsBacklogFull
        {
            get { return _inbox.WaitingBytes > MaxBacklogBytes; }
        }

        /// <summary>Adds what is to be waited for; false where what comes is not, because the game is far behind.</summary>
        public bool AddTo(ZmqPoll poll)
        {
            bool reads = !IsBacklogFull;
            if (_link != null)
            {
                _link.AddTo(poll, reads, _phase == Phase.Live && _requests.HasUnsent);
            }
            return reads;
        }

        /// <summary>The moment at which Tick has something to do even if nothing comes.</summary>
        public double NextDue(double now)
        {
            double due = Math.Min(_byeUntil, _requests.NextDeadline);
            switch (_phase)
            {
                case Phase.Pausing:
                    return Math.Min(due, _retryAt);
                case Phase.Greeting:
                    return _link.IsBroken ? now : Math.Min(due, _tryUntil);
                default:
                    return _link.IsBroken ? now : Math.Min(due, Math.Min(_nextBeat, _lastHeard + PatienceS()));
            }
        }

        /// <summary>Does what is due.</summary>
        public void Tick(double now)
        {
            switch (_phase)
            {
                case Phase.Pausing:
                    if (now >= _retryAt)
                    {
                        Greet(now);
                    }
                    break;
                case Phase.Greeting:
                    if (_link.IsBroken || now >= _tryUntil)
                    {
                        GiveUpTry(now, WhyNotGreeted(_link.Why));
                    }
                    break;
                case Phase.Live:
                    KeepAlive(now);
                    break;
            }
            if (_phase == Phase.Over)
            {
                return;
            }
            if (now >= _byeUntil)
            {
                End(SessionEnd.Bye, null);
                return;
            }
            if (_wasReady)
            {
                TakeInRequests(now);
            }
            ExpireRequests(now);
            if (_phase == Phase.Live)
            {
                SendRequests();
            }
        }

        /// <summary>Reads what has come.</summary>
        public void Read(double now)
        {
            Link link = _link;
            if (link == null || link.IsBroken)
            {
                return;
            }
            // Asked first: what came before the end is then sure to be found.
            bool ended = link.HearsTheEnd();
            int left = ended ? int.MaxValue : IsBacklogFull ? 0 : ReadBatch;
            while (left-- > 0 && !link.IsBroken && link.TryReceive(_message))
            {
                Take(now);
                if (_link != link)
                {
                    return;
                }
            }
            if (ended && !link.IsBroken)
            {
                link.Break(link.Why);
            }
        }

        /// <summary>Says what is still to be said, and ends. The sidecar keeps the session.</summary>
        public void Leave(double now)
        {
            if (_phase == Phase.Live)
            {
                TakeInRequests(now);
                SendRequests();
            }
            End(SessionEnd.Stopped, null);
        }

        /// <summary>Says Bye where somebody hears it, and ends once it is answered or a moment is over.</summary>
        public void BeginBye(double now)
        {
            if (_link == null || _link.IsBroken)
            {
                End(SessionEnd.Stopped, null);
                return;
            }
            if (_phase == Phase.Live)
            {
                TakeInRequests(now);
                SendRequests();
            }
            // Where Hello is not answered yet, Bye follows it on its way.
            _byeId = TakeId();
            _byeUntil = now + ByeS;
            _link.TrySend(Frames.Encode("Bye", _byeId, 0, new Bye().ToJson()));
        }

        /// <summary>Ends the session here. `fault` goes to all open requests. Idempotent.</summary>
        public void End(SessionEnd end, ParleyException fault)
        {
            if (_phase == Phase.Over)
            {
                return;
            }
            _phase = Phase.Over;
            if (_link != null)
            {
                _link.Close(end == SessionEnd.Stopped || end == SessionEnd.Bye ? Link.LingerMs : 0);
                _link = null;
            }
            _record.Close(end, fault);
            ParleyException reason =
                fault ?? new ParleyException(LocalFaults.SessionClosed, "the session was ended on this side");
            _scratch.Clear();
            _requests.Close(_scratch);
            foreach (PendingRequest request in _scratch)
            {
                _inbox.Add(new Arrival { Answers = request, RequestId = request.Id, Fault = reason });
            }
            _scratch.Clear();
            _inbox.Add(new Arrival { State = SessionState.Closed, Fault = fault });
        }

        // ---- connections ----

        private void Greet(double now)
        {
            try
            {
                long most = 2L * Math.Max(_options.MaxJsonBytes, _options.MaxPayloadBytes);
                _link = new Link(_context, _options.Endpoint, _options.ServerPublicKey, most, ++_links);
            }
            catch (ZmqException fault)
            {
                if (_wasReady)
                {
                    GiveUpTry(now, fault.Message);
                    return;
                }
                End(
                    SessionEnd.NotThere,
                    new ParleyException(
                        ErrorCode.InvalidValue,
                        "InvalidValue",
                        fault.Message + "; an endpoint looks like tcp://127.0.0.1:5600",
                        fault));
                return;
            }
            Hello hello = new Hello
            {
                Protocol = Protocol.ProtocolVersion,
                Client = _options.ClientName,
                Token = _options.Token,
                Resume = _sessionKey,
            };
            if (_delivery.Received != 0)
            {
                hello.LastSeq = _delivery.Received;
            }
            _helloId = TakeId();
            _phase = Phase.Greeting;
            _tryUntil = Math.Min(now + _options.TryTimeoutS, Math.Max(now, _giveUpAt));
            _link.TrySend(Frames.Encode(hello.TypeName, _helloId, 0, hello.ToJson()));
        }

        private void GiveUpTry(double now, string why)
        {
            if (_link != null)
            {
                if (_link.Why != Link.NobodyListens)
                {
                    _ghosts.Enqueue(now);
                }
                // What lingers would come behind what the next connection says.
                _link.Close(0);
                _link = null;
            }
            if (_byeId != 0)
            {
                End(SessionEnd.Stopped, null);
                return;
            }
            double pause = NextPause();
            if (now + pause < _giveUpAt)
            {
                _phase = Phase.Pausing;
                _retryAt = now + pause;
            }
            else if (_wasReady)
            {
                string message = "the sidecar at " + _options.Endpoint + " has not come back within "
                    + Shown(_options.ReconnectS) + " s: " + why;
                End(SessionEnd.Lost, new ParleyException(LocalFaults.ConnectionLost, message));
            }
            else
            {
                string message = "no sidecar answered at " + _options.Endpoint + " within "
                    + Shown(_options.ConnectTimeoutS) + " s: " + why;
                End(SessionEnd.NotThere, new ParleyException(LocalFaults.NotThere, message));
            }
        }

        private static string WhyNotGreeted(string why)
        {
            if (why == Link.WasClosed)
            {
                return why + " before Hello was answered; is it a sidecar that listens there?";
            }
            return why.Length > 0 ? why : "Hello was not answered";
        }

        private void Welcome(double now, SessionReady ready)
        {
            if (ready.Protocol != Protocol.ProtocolVersion)
            {
                string message = "the sidecar speaks protocol " + ready.Protocol + ", not " + Protocol.ProtocolVersion
                    + "; use a package and a sidecar of the same release";
                End(SessionEnd.Refused, new ParleyException(ErrorCode.ProtocolMismatch, "ProtocolMismatch", message));
                return;
            }
            SessionState state = _wasReady ? SessionState.Back : SessionState.Ready;
            _sessionKey = ready.SessionKey;
            _nextId = Math.Max(_nextId, ready.LastRequestId + 1);
            _heartbeatS = ready.HeartbeatS > 0.0
                ? Math.Max(MinHeartbeatS, Math.Min(ready.HeartbeatS, MaxHeartbeatS))
                : Protocol.HeartbeatS;
            _lastHeard = now;
            _nextBeat = now + _heartbeatS;
            _hasProgressed = false;
            _phase = Phase.Live;
            if (_wasReady)
            {
                _requests.SendAllAgain();
                Say(LogLevel.Info, "the session with the sidecar at " + _options.Endpoint + " goes on");
            }
            _wasReady = true;
            _record.Open(state, ready);
            _inbox.Add(new Arrival { State = state });
        }

        private void Lose(double now, string why)
        {
            if (_byeId != 0)
            {
                End(SessionEnd.Bye, null);
                return;
            }
            _link.Close(0);
            _link = null;
            ParleyException reason = new ParleyException(
                LocalFaults.ConnectionLost, "the connection to the sidecar at " + _options.Endpoint + " is lost: " + why);
            if (_options.ReconnectS <= 0.0)
            {
                End(SessionEnd.Lost, reason);
                return;
            }
            // A sidecar whose first word breaks the connection again and again is not there.
            if (_hasProgressed || !_wasLost)
            {
                _wasLost = true;
                _giveUpAt = now + _options.ReconnectS;
                _tries = 0;
            }
            Say(LogLevel.Warning, reason.Message + "; trying to take the session up again");
            _record.Lose();
            _inbox.Add(new Arrival { State = SessionState.Lost, Fault = reason });
            _phase = Phase.Pausing;
            _retryAt = now + NextPause();
        }

        private void KeepAlive(double now)
        {
            if (_link.IsBroken)
            {
                Lose(now, _link.Why);
                return;
            }
            if (IsBacklogFull)
            {
                // What came is not read, not missing.
                _lastHeard = now;
            }
            if (now >= _lastHeard + PatienceS())
            {
                Lose(now, "nothing came for " + Shown(PatienceS()) + " s");
                return;
            }
            ulong seq;
            long bytes;
            _delivery.FindAcknowledgeable(_inbox, out seq, out bytes);
            if (seq < _record.AcknowledgedSeq)
            {
                seq = _record.AcknowledgedSeq;
                bytes = _record.AcknowledgedBytes;
            }
            // Not by adding: a number may be the last that there is.
            bool isMuch = seq - _record.AcknowledgedSeq >= Protocol.AckFrames || bytes >= _record.AcknowledgedBytes + Protocol.AckBytes;
            if (now >= _nextBeat || isMuch)
            {
                _nextBeat = now + _heartbeatS;
                _record.AcknowledgedSeq = seq;
                _record.AcknowledgedBytes = bytes;
                _link.TrySend(Frames.Encode("Ping", 0, 0, new Ping { LastSeq = seq }.ToJson()));
            }
        }

        private double PatienceS()
        {
            return Math.Max(_options.SilenceS, 3.0 * _heartbeatS);
        }

        private double NextPause()
        {
            return Pauses[Math.Min(_tries++, Pauses.Length - 1)];
        }

        // ---- requests ----

        private void TakeInRequests(double now)
        {
            PendingRequest request;
            while ((request = _requests.TakeAdded(now)) != null)
            {
                try
                {
                    request.Encode(TakeId(), _options.MaxJsonBytes);
                    _requests.Open(request);
                }
                catch (ParleyException fault)
                {
                    if (request.TryFinish())
                    {
                        _inbox.Add(new Arrival { Answers = request, RequestId = request.Id, Fault = fault });
                    }
                }
            }
        }

        private void SendRequests()
        {
            PendingRequest request;
            while (_byeId == 0 && (request = _requests.NextUnsent()) != null && _link.TrySend(request.Parts))
            {
                _requests.Sent();
            }
        }

        private void ExpireRequests(double now)
        {
            if (now < _requests.NextDeadline)
            {
                return;
            }
            _scratch.Clear();
            _requests.Expire(now, _scratch);
            foreach (PendingRequest request in _scratch)
            {
                ParleyException fault = new ParleyException(
                    LocalFaults.TimedOut,
                    request.TypeName + ": the sidecar did not answer within " + Shown(request.TimeoutS) + " s");
                _inbox.Add(new Arrival { Answers = request, RequestId = request.Id, Fault = fault });
            }
            _scratch.Clear();
        }

        private ulong TakeId()
        {
            ulong id = _nextId++;
            _record.LastRequestId = id;
            return id;
        }

        private void Say(LogLevel level, string text)
        {
            Logs.Say(_options.Log, level, text);
        }

        private static string Shown(double number)
        {
            return number.ToString("0.###", CultureInfo.InvariantCulture);
        }
    }
}
