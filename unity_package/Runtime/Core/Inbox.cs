// What came and waits for the game, in order.
using System.Collections.Generic;
using System.Threading;
using Parley.Messages;

namespace Parley
{
    /// <summary>One thing for the game: what it is shows in which fields are set.</summary>
    internal struct Arrival
    {
        /// <summary>A push or a reply; null: none that this version knows.</summary>
        public Message Message;

        /// <summary>Part 4 of its frames; null: none.</summary>
        public byte[] Payload;

        /// <summary>The request it answers; null: nobody waits for it.</summary>
        public PendingRequest Answers;

        /// <summary>The id of the request it answers; 0: none.</summary>
        public ulong RequestId;

        /// <summary>Its number in the session; 0: it has none.</summary>
        public ulong Seq;

        /// <summary>Bytes of its frames.</summary>
        public long Bytes;

        /// <summary>Why a request failed, or a session is in its new state; null: no reason.</summary>
        public ParleyException Fault;

        /// <summary>A new state of the session; null: not that.</summary>
        public SessionState? State;
    }

    /// <summary>
    /// A queue that allocates nothing while it is empty. Threading: the session's thread adds, the game's thread takes.
    /// </summary>
    internal sealed class Inbox
    {
        private readonly object _gate = new object();
        private readonly Queue<Arrival> _arrivals = new Queue<Arrival>(64);
        private int _count;
        private long _waitingBytes;
        private long _takenBytes;
        private long _takenSeq;

        public Inbox(ulong lastSeq)
        {
            _takenSeq = unchecked((long)lastSeq);
        }

        /// <summary>How many things wait.</summary>
        public int Count
        {
            get { return Volatile.Read(ref _count); }
        }

        /// <summary>How many bytes wait.</summary>
        public long WaitingBytes
        {
            get { return Interlocked.Read(ref _waitingBytes); }
        }

        /// <summary>How many bytes were taken since the session began.</summary>
        public long TakenBytes
        {
            get { return Interlocked.Read(ref _takenBytes); }
        }

        /// <summary>The number of the last frame that the game took.</summary>
        public ulong TakenSeq
        {
            get { return unchecked((ulong)Interlocked.Read(ref _takenSeq)); }
        }

        public void Add(Arrival arrival)
        {
            lock (_gate)
            {
                _arrivals.Enqueue(arrival);
                Interlocked.Add(ref _waitingBytes, arrival.Bytes);
                Volatile.Write(ref _count, _arrivals.Count);
            }
        }

        /// <summary>Takes the next; false where there is none.</summary>
        public bool TryTake(out Arrival arrival)
        {
            if (Volatile.Read(ref _count) == 0)
            {
                arrival = default(Arrival);
                return false;
            }
            lock (_gate)
            {
                if (_arrivals.Count == 0)
                {
                    arrival = default(Arrival);
                    return false;
                }
                arrival = _arrivals.Dequeue();
                Volatile.Write(ref _count, _arrivals.Count);
                Interlocked.Add(ref _waitingBytes, -arrival.Bytes);
                if (arrival.Seq != 0)
                {
                    Interlocked.Add(ref _takenBytes, arrival.Bytes);
                    Interlocked.Exchange(ref _takenSeq, unchecked((long)arrival.Seq));
                }
                return true;
            }
        }
    }
}
