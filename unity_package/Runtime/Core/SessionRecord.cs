// What a session's thread tells all others.
using System.Threading;
using Parley.Messages;

namespace Parley
{
    /// <summary>Where a session stands. Threading: the session's thread writes, all others read.</summary>
    internal sealed class SessionRecord
    {
        private readonly object _gate = new object();
        private SessionState _state = SessionState.Connecting;
        private SessionEnd _end;
        private ParleyException _fault;
        private SessionReady _ready;
        private long _lastRequestId;
        private long _acknowledgedSeq;
        private long _acknowledgedBytes;

        public SessionState State
        {
            get
            {
                lock (_gate)
                {
                    return _state;
                }
            }
        }

        public SessionEnd End
        {
            get
            {
                lock (_gate)
                {
                    return _end;
                }
            }
        }

        public ParleyException Fault
        {
            get
            {
                lock (_gate)
                {
                    return _fault;
                }
            }
        }

        /// <summary>What the sidecar said at the last Hello; null: nothing yet.</summary>
        public SessionReady Ready
        {
            get
            {
                lock (_gate)
                {
                    return _ready;
                }
            }
        }

        public ulong LastRequestId
        {
            get { return unchecked((ulong)Interlocked.Read(ref _lastRequestId)); }
            set { Interlocked.Exchange(ref _lastRequestId, unchecked((long)value)); }
        }

        /// <summary>What the sidecar was told last.</summary>
        public ulong AcknowledgedSeq
        {
            get { return unchecked((ulong)Interlocked.Read(ref _acknowledgedSeq)); }
            set { Interlocked.Exchange(ref _acknowledgedSeq, unchecked((long)value)); }
        }

        /// <summary>How many bytes of numbered frames had come up to there.</summary>
        public long AcknowledgedBytes
        {
            get { return Interlocked.Read(ref _acknowledgedBytes); }
            set { Interlocked.Exchange(ref _acknowledgedBytes, value); }
        }

        public void Open(SessionState state, SessionReady ready)
        {
            lock (_gate)
            {
                _state = state;
                _ready = ready;
            }
        }

        public void Lose()
        {
            lock (_gate)
            {
                _state = SessionState.Lost;
            }
        }

        public void Close(SessionEnd end, ParleyException fault)
        {
            lock (_gate)
            {
                _state = SessionState.Closed;
                _end = end;
                _fault = fault;
            }
        }
    }
}
