// Which numbered frames came, which is the next, and which the sidecar may forget.
namespace Parley
{
    /// <summary>
    /// Every frame once and in order: what came is let go, a hole is found. Threading: the session's thread's.
    /// </summary>
    internal sealed class Delivery
    {
        private const int HoleTries = 3;

        // The session is another object's, whose last frame nobody knows: the first may have any number.
        private bool _takesUp;
        private long _receivedBytes;
        private ulong _holeAt;
        private int _holeTries;

        /// <summary>`lastSeq`: the last frame that is there already; 0 with `resumes`: that is not known.</summary>
        public Delivery(ulong lastSeq, bool resumes)
        {
            Received = lastSeq;
            _takesUp = resumes && lastSeq == 0;
        }

        public enum Verdict
        {
            /// <summary>It is the next one.</summary>
            Next,

            /// <summary>Some before it are missing and can be had again.</summary>
            Hole,

            /// <summary>
            /// It is the next one that there is. The sidecar was asked for those before it, more than once, and does not
            /// have them: it believes that they were acknowledged.
            /// </summary>
            Loss,
        }

        /// <summary>The number of the last frame that came in order.</summary>
        public ulong Received { get; private set; }

        /// <summary>Whether a frame came already.</summary>
        public bool Has(ulong seq)
        {
            return seq <= Received;
        }

        /// <summary>Judges a frame that is new and stands for the numbers from `first` to `seq`.</summary>
        public Verdict Take(ulong first, ulong seq, long bytes)
        {
            Verdict verdict = Verdict.Next;
            ulong due = Received + 1;
            if (first > due && !_takesUp)
            {
                _holeTries = _holeAt == due ? _holeTries + 1 : 1;
                _holeAt = due;
                if (_holeTries <= HoleTries)
                {
                    return Verdict.Hole;
                }
                verdict = Verdict.Loss;
            }
            _takesUp = false;
            Received = seq;
            _receivedBytes += bytes;
            return verdict;
        }

        /// <summary>
        /// What the game has had: all else the sidecar keeps, so that it can be had again should this process lose its
        /// memory. Unless it is much: a game that stands still must not fill the sidecar.
        /// </summary>
        /// <param name="inbox">Where the frames go.</param>
        /// <param name="seq">The last of them.</param>
        /// <param name="bytes">How many bytes came up to there.</param>
        public void FindAcknowledgeable(Inbox inbox, out ulong seq, out long bytes)
        {
            if (inbox.Count > Protocol.AckFrames || inbox.WaitingBytes > Protocol.AckBytes)
            {
                seq = Received;
                bytes = _receivedBytes;
            }
            else
            {
                bytes = inbox.TakenBytes;
                seq = inbox.TakenSeq;
            }
        }
    }
}
