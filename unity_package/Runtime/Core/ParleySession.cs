// One session with a sidecar: what the game talks to.
using System;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;
using Parley.Messages;

namespace Parley
{
    /// <summary>
    /// A session that survives broken connections: every frame comes once and in order, every request is answered once.
    /// Nothing here waits, but for Stop, which takes under a second.
    ///
    /// Threading: a thread of its own owns the socket. Requests, properties and Stop may be used from any thread; Drain
    /// belongs to one, the game's, on which it calls everybody back.
    /// </summary>
    public sealed class ParleySession : IDisposable
    {
        private const int StopMs = 900;

        private readonly SessionOptions _options;
        private readonly SessionRecord _record = new SessionRecord();
        private readonly PendingRequests _requests = new PendingRequests();
        private readonly Inbox _inbox;
        private readonly SessionThread _thread;
        private bool _isDraining;

        private ParleySession(SessionOptions options)
        {
            _options = options.Copy();
            _inbox = new Inbox(_options.LastSeq);
            _record.LastRequestId = _options.LastRequestId;
            _record.AcknowledgedSeq = _options.LastSeq;
            _thread = new SessionThread(_options, _record, _inbox, _requests);
        }

        /// <summary>
        /// Begins a session, or takes one up again where the options have a ResumeKey. Does not wait: what becomes of it
        /// comes out of Drain. Throws ParleyException where ZeroMQ's library or a key cannot be used.
        /// </summary>
        public static ParleySession Connect(SessionOptions options)
        {
            ParleySession session = new ParleySession(options);
            session._thread.Start();
            return session;
        }

        /// <summary>Where it stands now; what Drain tells of it may lie behind.</summary>
        public SessionState State
        {
            get { return _record.State; }
        }

        /// <summary>Why it is over.</summary>
        public SessionEnd End
        {
            get { return _record.End; }
        }

        /// <summary>What went wrong, where it is over; null: nothing.</summary>
        public ParleyException Fault
        {
            get { return _record.Fault; }
        }

        /// <summary>Where the sidecar is.</summary>
        public string Endpoint
        {
            get { return _options.Endpoint; }
        }

        /// <summary>What the sidecar said at the last Hello; null before that.</summary>
        public SessionReady Ready
        {
            get { return _record.Ready; }
        }

        /// <summary>Secret; with it another object takes this session up again. Empty until Hello was answered.</summary>
        public string SessionKey
        {
            get
            {
                SessionReady ready = _record.Ready;
                return ready != null ? ready.SessionKey : _options.ResumeKey;
            }
        }

        /// <summary>The number of the last frame that Drain handed on: what an object that goes on from here needs.</summary>
        public ulong LastSeq
        {
            get { return _inbox.TakenSeq; }
        }

        /// <summary>The highest request_id that was used; SessionOptions of an object that goes on want it.</summary>
        public ulong LastRequestId
        {
            get { return _record.LastRequestId; }
        }

        /// <summary>How many things wait for Drain.</summary>
        public int Waiting
        {
            get { return _inbox.Count; }
        }

        /// <summary>
        /// Sends a request, as soon as there is somebody to send it to. `done` gets the reply or what went wrong, one of
        /// them null, from Drain; it may be null.
        /// </summary>
        /// <param name="message">The request; it may be changed afterwards.</param>
        /// <param name="timeout">
        /// How long to wait for the reply; zero: a minute, or half an hour for what loads, fetches or builds; negative,
        /// such as Timeout.InfiniteTimeSpan: as long as the session lasts. It begins with the session's first Ready.
        /// </param>
        /// <param name="done">Whom to call.</param>
        public void Request(Request message, TimeSpan timeout, Action<Reply, ParleyException> done)
        {
            Send(new PendingRequest(message, Seconds(message, timeout), done));
        }

        /// <summary>As the other one, of a message that nobody changes any more and that can be written.</summary>
        internal void RequestOurs(Request message, TimeSpan timeout, Action<Reply, ParleyException> done)
        {
            Send(new PendingRequest(message, Seconds(message, timeout), done, true));
        }

        /// <summary>As the other one, with the time-outs for its kind.</summary>
        public Task<Reply> RequestAsync(
            Request message, CancellationToken cancellation = default(CancellationToken))
        {
            return RequestAsync(message, TimeSpan.Zero, cancellation);
        }

        /// <summary>
        /// As Request, for those who await. The task fails with ParleyException; it is done by Drain, or by whoever
        /// cancels, which gives up the reply but does not undo the request.
        /// </summary>
        public Task<Reply> RequestAsync(Request message, TimeSpan timeout, CancellationToken cancellation)
        {
            TaskCompletionSource<Reply> answer = new TaskCompletionSource<Reply>();
            CancellationTokenRegistration registration = default(CancellationTokenRegistration);
            PendingRequest request = new PendingRequest(
                message,
                Seconds(message, timeout),
                (reply, fault) =>
                {
                    registration.Dispose();
                    if (fault != null)
                    {
                        answer.TrySetException(fault);
                    }
                    else
                    {
                        answer.TrySetResult(reply);
                    }
                });
            if (cancellation.CanBeCanceled)
            {
                registration = cancellation.Register(
                    () =>
                    {
                        if (request.TryFinish())
                        {
                            answer.TrySetCanceled();
                        }
                    });
            }
            if (!request.IsFinished)
            {
                Send(request);
            }
            return answer.Task;
        }

        /// <summary>
        /// Hands on what came, in order, until nothing is left or the time is over; at least one thing. Returns how many
        /// it handed on. Allocates nothing where nothing came. Once the session is over, one more Drain tells those whose
        /// requests are still open.
        /// </summary>
        /// <param name="sink">Hears of it; also called for the callbacks of requests is nobody but their makers.</param>
        /// <param name="budgetMs">Milliseconds after which nothing more is begun.</param>
        public int Drain(IFrameSink sink, double budgetMs)
        {
            if (_isDraining || _inbox.Count == 0)
            {
                return 0;
            }
            _isDraining = true;
            try
            {
                double ticks = budgetMs * Stopwatch.Frequency / 1000.0;
                long begun = Stopwatch.GetTimestamp();
                int handed = 0;
                Arrival arrival;
                do
                {
                    if (!_inbox.TryTake(out arrival))
                    {
                        break;
                    }
                    if (HandOn(sink, ref arrival))
                    {
                        handed++;
                    }
                }
                while (Stopwatch.GetTimestamp() - begun < ticks);
                return handed;
            }
            finally
            {
                _isDraining = false;
                ulong told = _record.AcknowledgedSeq;
                // Not by adding: a number may be the last that there is.
                if (Math.Max(told, _inbox.TakenSeq) - told >= Protocol.AckFrames
                    || _inbox.TakenBytes >= _record.AcknowledgedBytes + Protocol.AckBytes)
                {
                    _thread.Wake();
                }
            }
        }

        /// <summary>
        /// Ends the session here. Without `sayBye` the sidecar keeps it for a while, and another object can take it up
        /// again with SessionKey, LastSeq and LastRequestId; drain before you read those. With it, the sidecar forgets
        /// it. Takes under a second, whatever the sidecar does. Idempotent.
        /// </summary>
        public void Stop(bool sayBye = false)
        {
            _thread.Stop(sayBye, StopMs);
        }

        /// <summary>As Stop, without Bye.</summary>
        public void Dispose()
        {
            Stop();
        }

        private static double Seconds(Request message, TimeSpan timeout)
        {
            if (timeout > TimeSpan.Zero)
            {
                return timeout.TotalSeconds;
            }
            if (timeout < TimeSpan.Zero)
            {
                return double.PositiveInfinity;
            }
            bool isLong = message is CreateAgent || message is LoadModel || message is DownloadModel
                || message is CreateEmbeddedStorage;
            return isLong ? Protocol.LongRequestTimeoutS : Protocol.RequestTimeoutS;
        }

        private void Send(PendingRequest request)
        {
            if (_requests.Add(request))
            {
                _thread.Wake();
            }
            else if (request.TryFinish())
            {
                ParleyException fault = _record.Fault
                    ?? new ParleyException(LocalFaults.SessionClosed, "the session was ended on this side");
                _inbox.Add(new Arrival { Answers = request, Fault = fault });
            }
        }

        private static bool HandOn(IFrameSink sink, ref Arrival arrival)
        {
            if (arrival.State.HasValue)
            {
                sink.OnState(arrival.State.Value, arrival.Fault);
                return true;
            }
            if (arrival.Answers != null)
            {
                if (arrival.Answers.Done != null)
                {
                    arrival.Answers.Done(arrival.Fault == null ? (Reply)arrival.Message : null, arrival.Fault);
                }
                return true;
            }
            Push push = arrival.Message as Push;
            if (push != null)
            {
                sink.OnPush(push, arrival.Payload, arrival.Seq);
                return true;
            }
            Reply reply = arrival.Message as Reply;
            if (reply != null)
            {
                sink.OnReply(arrival.RequestId, reply);
                return true;
            }
            return false;
        }
    }
}
