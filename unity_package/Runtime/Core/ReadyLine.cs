// The line with which a sidecar says where it is.
using System;
using System.IO;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace Parley
{
    /// <summary>Where a sidecar listens, and how to get in.</summary>
    public sealed class ReadyLine
    {
        private const int MaxDepth = 16;

        private ReadyLine(string endpoint, string token, int pid, string curvePublicKey)
        {
            Endpoint = endpoint;
            Token = token;
            Pid = pid;
            CurvePublicKey = curvePublicKey;
        }

        /// <summary>Such as `tcp://127.0.0.1:50123`.</summary>
        public string Endpoint { get; private set; }

        /// <summary>Secret: what Hello says.</summary>
        public string Token { get; private set; }

        /// <summary>The sidecar's process; where a launcher started it, not the one that was started here.</summary>
        public int Pid { get; private set; }

        /// <summary>What clients need where it encrypts; empty: it does not.</summary>
        public string CurvePublicKey { get; private set; }

        /// <summary>What a line says; null: it is no ready line.</summary>
        public static ReadyLine Read(string line)
        {
            if (line == null || line.Length == 0 || line[0] != '{')
            {
                return null;
            }
            JObject found;
            try
            {
                using (JsonTextReader reader = new JsonTextReader(new StringReader(line)))
                {
                    reader.MaxDepth = MaxDepth;
                    reader.DateParseHandling = DateParseHandling.None;
                    reader.FloatParseHandling = FloatParseHandling.Double;
                    found = JToken.ReadFrom(reader) as JObject;
                }
            }
            catch (JsonException)
            {
                return null;
            }
            catch (OverflowException)
            {
                return null;
            }
            catch (FormatException)
            {
                return null;
            }
            if (found == null || Text(found, "event") != "ready" || Text(found, "endpoint").Length == 0)
            {
                return null;
            }
            JValue pid = found["pid"] as JValue;
            long number = pid != null && pid.Type == JTokenType.Integer && pid.Value is long ? (long)pid.Value : 0;
            return new ReadyLine(
                Text(found, "endpoint"),
                Text(found, "token"),
                number > 0 && number <= int.MaxValue ? (int)number : 0,
                Text(found, "curve_public_key"));
        }

        private static string Text(JObject found, string name)
        {
            JValue value = found[name] as JValue;
            return value != null && value.Type == JTokenType.String ? (string)value.Value : "";
        }
    }
}
