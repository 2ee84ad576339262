// What comes of a voice: its format once for each spoken step, then its chunks.
using Newtonsoft.Json.Linq;

namespace Parley
{
    /// <summary>An AudioFormat or an AudioChunk, without its samples. Any thread.</summary>
    public sealed class VoiceFrame
    {
        /// <summary>The only encoding there is: samples of 16 bits, little end first.</summary>
        public const string Encoding16 = "s16le";

        /// <summary>True: the format of a step; false: a chunk of it.</summary>
        public bool IsFormat;

        /// <summary>The conversation.</summary>
        public string AgentId = "";

        /// <summary>The turn.</summary>
        public long TurnId;

        /// <summary>Who speaks.</summary>
        public string NodeName = "";

        /// <summary>The step of the turn.</summary>
        public int Step;

        /// <summary>Of a format: samples a second.</summary>
        public int SampleRate;

        /// <summary>Of a format: samples of one moment.</summary>
        public int Channels = 1;

        /// <summary>Of a format: how samples are written.</summary>
        public string Encoding = Encoding16;

        /// <summary>Of a chunk: counts those of its step from 0.</summary>
        public int Index;

        /// <summary>Of a chunk: the last one of its step.</summary>
        public bool IsFinal;

        /// <summary>Whether messages of that type are part of a voice.</summary>
        public static bool IsPart(string typeName)
        {
            return typeName == "AudioChunk" || typeName == "AudioFormat";
        }

        /// <summary>Reads one; null where the message is no part of a voice, or lacks what it must have.</summary>
        public static VoiceFrame Read(string typeName, JObject body)
        {
            if (!IsPart(typeName))
            {
                return null;
            }
            bool isFormat = typeName == "AudioFormat";
            VoiceFrame frame = new VoiceFrame
            {
                IsFormat = isFormat,
                AgentId = Text(body, "agent_id", ""),
                TurnId = Number(body, "turn_id", 0),
                NodeName = Text(body, "node_name", ""),
                Step = (int)Number(body, "step", 0),
                SampleRate = (int)Number(body, "sample_rate", 0),
                Channels = (int)Number(body, "channels", 1),
                Encoding = Text(body, "encoding", Encoding16),
                Index = (int)Number(body, "index", -1),
                IsFinal = Flag(body, "is_final"),
            };
            return frame.AgentId.Length > 0 && (isFormat ? frame.SampleRate > 0 : frame.Index >= 0) ? frame : null;
        }

        private static string Text(JObject body, string name, string otherwise)
        {
            JValue value = body[name] as JValue;
            return value != null && value.Type == JTokenType.String ? (string)value.Value : otherwise;
        }

        private static long Number(JObject body, string name, long otherwise)
        {
            JValue value = body[name] as JValue;
            return value != null && value.Type == JTokenType.Integer && value.Value is long ? (long)value.Value : otherwise;
        }

        private static bool Flag(JObject body, string name)
        {
            JValue value = body[name] as JValue;
            return value != null && value.Type == JTokenType.Boolean && (bool)value.Value;
        }
    }
}
