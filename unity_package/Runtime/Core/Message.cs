// What all messages have in common.
using Newtonsoft.Json.Linq;

namespace Parley.Messages
{
    /// <summary>A value inside messages. Texts, lists and objects that are null are written as empty ones.</summary>
    public abstract class Record
    {
        /// <summary>The JSON of the wire, which shares nothing with this object.</summary>
        public abstract JObject ToJson();
    }

    /// <summary>One message on the wire.</summary>
    public abstract class Message
    {
        /// <summary>What part 1 of the frames says.</summary>
        public abstract string TypeName { get; }

        /// <summary>Part 3 of the frames, which shares nothing with this object.</summary>
        public abstract JObject ToJson();
    }

    /// <summary>What a client sends. Each is answered exactly once.</summary>
    public abstract class Request : Message
    {
    }

    /// <summary>What answers a request.</summary>
    public abstract class Reply : Message
    {
    }

    /// <summary>What the sidecar sends unasked.</summary>
    public abstract class Push : Message
    {
    }
}
