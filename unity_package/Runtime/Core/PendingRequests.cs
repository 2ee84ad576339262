// Requests that are not answered yet: what they said, whom their answer is for, and until when.
using System;
using System.Collections.Generic;
using System.Threading;
using Newtonsoft.Json.Linq;
using Parley.Messages;

namespace Parley
{
    /// <summary>One request. Threading: it is finished once, by whichever thread comes first.</summary>
    internal sealed class PendingRequest
    {
        public readonly string TypeName;

        /// <summary>Seconds from the moment it is taken in; infinite: it waits as long as the session lasts.</summary>
        public readonly double TimeoutS;

        /// <summary>Gets the reply or why there is none. Null: nobody wants to know.</summary>
        public readonly Action<Reply, ParleyException> Done;

        /// <summary>Of the session's thread: 0 until it is numbered.</summary>
        public ulong Id;

        /// <summary>Of the session's thread.</summary>
        public double Deadline = double.PositiveInfinity;

        /// <summary>Of the session's thread: kept until it is answered, to be said again on another connection.</summary>
        public byte[][] Parts;

        private Request _message;
        private JObject _json;
        private int _finished;

        /// <summary>`isOurs`: nobody changes the message any more, and a long one need not be copied on this thread.</summary>
        public PendingRequest(Request message, double timeoutS, Action<Reply, ParleyException> done, bool isOurs = false)
        {
            TypeName = message.TypeName;
            TimeoutS = timeoutS;
            Done = done;
            _message = isOurs ? message : null;
            _json = isOurs ? null : message.ToJson();
        }

        /// <summary>Somebody has an answer, or wants none any more.</summary>
        public bool IsFinished
        {
            get { return Volatile.Read(ref _finished) != 0; }
        }

        /// <summary>Whether the caller is the one who finishes it.</summary>
        public bool TryFinish()
        {
            return Interlocked.Exchange(ref _finished, 1) == 0;
        }

        /// <summary>Makes its frames. Throws ParleyException (5003) where they are larger than the sidecar takes.</summary>
        public void Encode(ulong id, int maxJsonBytes)
        {
            Id = id;
            Parts = Frames.Encode(TypeName, id, 0, _json ?? _message.ToJson());
            _json = null;
            _message = null;
            if (Parts[2].Length > maxJsonBytes)
            {
                throw Frames.TooLarge(
                    TypeName + ": its JSON has " + Parts[2].Length + " bytes; the sidecar takes at most " + maxJsonBytes
                    + " (max_json_bytes)");
            }
        }
    }

    /// <summary>
    /// All open requests of a session, in the order in which they were made. Threading: any thread adds; the rest is the
    /// session's thread's.
    /// </summary>
    internal sealed class PendingRequests
    {
        private readonly object _gate = new object();
        private readonly Queue<PendingRequest> _added = new Queue<PendingRequest>();
        private readonly Dictionary<ulong, PendingRequest> _open = new Dictionary<ulong, PendingRequest>();
        private readonly Queue<PendingRequest> _unsent = new Queue<PendingRequest>();
        private readonly List<PendingRequest> _scratch = new List<PendingRequest>();
        private double _nextDeadline = double.PositiveInfinity;
        private bool _closed;

        /// <summary>Requests that are numbered and wait to be sent.</summary>
        public bool HasUnsent
        {
            get { return _unsent.Count > 0; }
        }

        /// <summary>The moment at which Expire has something to do.</summary>
        public double NextDeadline
        {
            get { return _nextDeadline; }
        }

        /// <summary>Any thread: takes a request in; false once the session is over.</summary>
        public bool Add(PendingRequest request)
        {
            lock (_gate)
            {
                if (_closed)
                {
                    return false;
                }
                _added.Enqueue(request);
                return true;
            }
        }

        /// <summary>The next request that was added and is still wanted; null: there is none.</summary>
        public PendingRequest TakeAdded(double now)
        {
            while (true)
            {
                PendingRequest request;
                lock (_gate)
                {
                    if (_added.Count == 0)
                    {
                        return null;
                    }
                    request = _added.Dequeue();
                }
                if (!request.IsFinished)
                {
                    request.Deadline = now + request.TimeoutS;
                    _nextDeadline = Math.Min(_nextDeadline, request.Deadline);
                    return request;
                }
            }
        }

        /// <summary>Notes a request that has its number and is to be sent.</summary>
        public void Open(PendingRequest request)
        {
            _open.Add(request.Id, request);
            _unsent.Enqueue(request);
        }

        /// <summary>The next to be sent, which stays so until Sent; null: there is none.</summary>
        public PendingRequest NextUnsent()
        {
            while (_unsent.Count > 0)
            {
                PendingRequest request = _unsent.Peek();
                if (!request.IsFinished)
                {
                    return request;
                }
                _open.Remove(request.Id);
                _unsent.Dequeue();
            }
            return null;
        }

        /// <summary>NextUnsent is on its way.</summary>
        public void Sent()
        {
            _unsent.Dequeue();
        }

        /// <summary>
        /// All that is open is to be sent (again), lowest number first: what the sidecar has had it does not do twice.
        /// </summary>
        public void SendAllAgain()
        {
            _unsent.Clear();
            _scratch.Clear();
            foreach (PendingRequest request in _open.Values)
            {
                _scratch.Add(request);
            }
            _scratch.Sort((one, other) => one.Id.CompareTo(other.Id));
            foreach (PendingRequest request in _scratch)
            {
                if (request.IsFinished)
                {
                    _open.Remove(request.Id);
                }
                else
                {
                    _unsent.Enqueue(request);
                }
            }
            _scratch.Clear();
        }

        /// <summary>The request that a reply answers, which is open no more; null: nobody waits for this reply.</summary>
        public PendingRequest Answer(ulong id)
        {
            PendingRequest request;
            if (!_open.TryGetValue(id, out request))
            {
                return null;
            }
            _open.Remove(id);
            return request.TryFinish() ? request : null;
        }

        /// <summary>Takes out what had to be answered by now, sent or not, and adds it to `late`.</summary>
        public void Expire(double now, List<PendingRequest> late)
        {
            if (now < _nextDeadline)
            {
                return;
            }
            _nextDeadline = double.PositiveInfinity;
            _scratch.Clear();
            foreach (PendingRequest request in _open.Values)
            {
                if (request.IsFinished || now >= request.Deadline)
                {
                    _scratch.Add(request);
                }
                else
                {
                    _nextDeadline = Math.Min(_nextDeadline, request.Deadline);
                }
            }
            foreach (PendingRequest request in _scratch)
            {
                _open.Remove(request.Id);
                if (request.TryFinish())
                {
                    late.Add(request);
                }
            }
            _scratch.Clear();
        }

        /// <summary>The session is over: takes nothing more, and adds all that is still wanted to `left`, in order.</summary>
        public void Close(List<PendingRequest> left)
        {
            foreach (PendingRequest request in _open.Values)
            {
                if (request.TryFinish())
                {
                    left.Add(request);
                }
            }
            left.Sort((one, other) => one.Id.CompareTo(other.Id));
            _open.Clear();
            _unsent.Clear();
            lock (_gate)
            {
                _closed = true;
                while (_added.Count > 0)
                {
                    PendingRequest request = _added.Dequeue();
                    if (request.TryFinish())
                    {
                        left.Add(request);
                    }
                }
            }
        }
    }
}
