// What a session needs to know before it begins.
namespace Parley
{
    /// <summary>Where the sidecar is, who asks, which session to take up again, and how patient to be.</summary>
    public sealed class SessionOptions
    {
        /// <summary>As the ready line says, such as tcp://127.0.0.1:5600.</summary>
        public string Endpoint = "";

        /// <summary>The token of the ready line.</summary>
        public string Token = "";

        /// <summary>Who asks, for the sidecar's log.</summary>
        public string ClientName = "unity";

        /// <summary>The sidecar's public key, 40 characters, where the connection is to be encrypted; empty: it is not.</summary>
        public string ServerPublicKey = "";

        /// <summary>The SessionKey of a session that an earlier object had; empty: begin a new one.</summary>
        public string ResumeKey = "";

        /// <summary>The LastSeq of that object. 0: all that the sidecar still keeps comes again.</summary>
        public ulong LastSeq;

        /// <summary>The LastRequestId of that object.</summary>
        public ulong LastRequestId;

        /// <summary>Seconds within which the first Hello must be answered, with as many tries as fit.</summary>
        public double ConnectTimeoutS = 10.0;

        /// <summary>Seconds for which a lost connection is made anew; 0: never.</summary>
        public double ReconnectS = Protocol.ResumeWindowS;

        /// <summary>Seconds that one Hello may remain unanswered.</summary>
        public double TryTimeoutS = 5.0;

        /// <summary>Seconds without a word from the sidecar, and at least three heartbeats, that make a connection lost.</summary>
        public double SilenceS = Protocol.DetachAfterS;

        /// <summary>The largest part 3 in either direction; as the sidecar's setting `max_json_bytes`.</summary>
        public int MaxJsonBytes = Protocol.MaxJsonBytes;

        /// <summary>The largest part 4; as the sidecar's setting `max_payload_bytes`.</summary>
        public int MaxPayloadBytes = Protocol.MaxPayloadBytes;

        /// <summary>
        /// Hears why connections break, for developers. Null: nobody. Called on the session's own thread.
        /// </summary>
        public LogSink Log;

        /// <summary>The same once more, so that what changes afterwards does not change a session that has begun.</summary>
        public SessionOptions Copy()
        {
            return (SessionOptions)MemberwiseClone();
        }
    }
}
