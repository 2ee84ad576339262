// Messages to frames and back: the only place that knows how the parts of a message are laid out.
using System;
using System.Globalization;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace Parley
{
    /// <summary>
    /// A message is three or four parts: its type in ASCII; sixteen bytes with request_id and seq, both u64
    /// little-endian; a JSON object in UTF-8; and, for some, a binary payload. Pure.
    /// </summary>
    internal static class Frames
    {
        /// <summary>Levels of nesting in what is read: some more than a request may have, for what a reply wraps around.</summary>
        public const int MaxDepth = 128;

        private static readonly UTF8Encoding Strict = new UTF8Encoding(false, true);
        private static readonly UTF8Encoding Lenient = new UTF8Encoding(false, false);

        /// <summary>The parts of a message. Lone surrogates become U+FFFD: UTF-8 has no form for them.</summary>
        public static byte[][] Encode(string typeName, ulong requestId, ulong seq, JObject json)
        {
            byte[] header = new byte[Protocol.IdsBytes];
            WriteUInt64(header, 0, requestId);
            WriteUInt64(header, 8, seq);
            return new[] { Encoding.ASCII.GetBytes(typeName), header, Write(json) };
        }

        /// <summary>JSON without spaces, in UTF-8.</summary>
        public static byte[] Write(JObject json)
        {
            using (MemoryStream bytes = new MemoryStream(256))
            {
                using (StreamWriter text = new StreamWriter(bytes, Lenient))
                using (JsonTextWriter writer = new JsonTextWriter(text))
                {
                    writer.Culture = CultureInfo.InvariantCulture;
                    json.WriteTo(writer);
                }
                return bytes.ToArray();
            }
        }

        /// <summary>Reads an object in UTF-8. Throws ParleyException (5001), which says what of <paramref name="what"/> is wrong.</summary>
        public static JObject Parse(string what, byte[] bytes, int count)
        {
            try
            {
                string text = Strict.GetString(bytes, 0, count);
                using (JsonTextReader reader = new JsonTextReader(new StringReader(text)))
                {
                    reader.MaxDepth = MaxDepth;
                    reader.DateParseHandling = DateParseHandling.None;
                    reader.FloatParseHandling = FloatParseHandling.Double;
                    reader.Culture = CultureInfo.InvariantCulture;
                    JToken json = JToken.ReadFrom(reader);
                    while (reader.Read())
                    {
                        if (reader.TokenType != JsonToken.Comment)
                        {
                            throw Malformed(what + ": part 3 has something behind its JSON object");
                        }
                    }
                    JObject found = json as JObject;
                    if (found == null)
                    {
                        throw Malformed(what + ": part 3 must be a JSON object");
                    }
                    return found;
                }
            }
            catch (JsonException fault)
            {
                throw Malformed(what + ": part 3 is not valid JSON: " + fault.Message, fault);
            }
            catch (DecoderFallbackException fault)
            {
                throw Malformed(what + ": part 3 is not UTF-8: " + fault.Message, fault);
            }
            catch (OverflowException fault)
            {
                throw Malformed(what + ": part 3 has a number that is too large: " + fault.Message, fault);
            }
            catch (FormatException fault)
            {
                throw Malformed(what + ": part 3 has a number that cannot be read: " + fault.Message, fault);
            }
        }

        public static ulong ReadUInt64(byte[] from, int at)
        {
            ulong value = 0;
            for (int i = 7; i >= 0; i--)
            {
                value = (value << 8) | from[at + i];
            }
            return value;
        }

        public static ParleyException Malformed(string message, Exception cause = null)
        {
            return new ParleyException(ErrorCode.MalformedMessage, "MalformedMessage", message, cause);
        }

        public static ParleyException TooLarge(string message)
        {
            return new ParleyException(ErrorCode.MessageTooLarge, "MessageTooLarge", message);
        }

        private static void WriteUInt64(byte[] to, int at, ulong value)
        {
            for (int i = 0; i < 8; i++)
            {
                to[at + i] = (byte)(value >> (8 * i));
            }
        }
    }

    /// <summary>
    /// One message as it came, judged by its parts before any of it is parsed. Used again and again for one message
    /// after the other. Threading: one thread's.
    /// </summary>
    internal sealed class InboundMessage : IPartReader
    {
        private const int KeptBytes = 256 * 1024;

        private readonly byte[] _type = new byte[Protocol.MaxTypeBytes];
        private readonly byte[] _header = new byte[Protocol.IdsBytes];
        private readonly int[] _sizes = new int[Protocol.MaxParts];
        private readonly int _maxJsonBytes;
        private readonly int _maxPayloadBytes;
        private byte[] _json = new byte[4096];
        private int _parts;

        public InboundMessage(int maxJsonBytes, int maxPayloadBytes)
        {
            _maxJsonBytes = maxJsonBytes;
            _maxPayloadBytes = maxPayloadBytes;
        }

        /// <summary>Known after Judge.</summary>
        public string TypeName { get; private set; }

        /// <summary>Known after Judge; 0: not the answer to a request.</summary>
        public ulong RequestId { get; private set; }

        /// <summary>Known after Judge; 0: not numbered.</summary>
        public ulong Seq { get; private set; }

        /// <summary>Part 4, which is the receiver's from now on; null where there is none.</summary>
        public byte[] Payload { get; private set; }

        /// <summary>Bytes of all parts.</summary>
        public long Bytes { get; private set; }

        /// <summary>Makes room for the next message.</summary>
        public void Clear()
        {
            TypeName = "";
            RequestId = 0;
            Seq = 0;
            Payload = null;
            Bytes = 0;
            _parts = 0;
            if (_json.Length > KeptBytes)
            {
                _json = new byte[4096];
            }
        }

        /// <summary>Takes one part. Of what is too large, or one part too many, only the size is kept.</summary>
        public void Part(IntPtr data, int size)
        {
            Bytes += size;
            int number = _parts++;
            if (number >= Protocol.MaxParts)
            {
                return;
            }
            _sizes[number] = size;
            switch (number)
            {
                case 0:
                    CopyWhole(data, size, _type);
                    break;
                case 1:
                    CopyWhole(data, size, _header);
                    break;
                case 2:
                    if (size <= _maxJsonBytes)
                    {
                        if (_json.Length < size)
                        {
                            _json = new byte[Math.Max(size, Math.Min(2 * _json.Length, _maxJsonBytes))];
                        }
                        CopyWhole(data, size, _json);
                    }
                    break;
                default:
                    if (size <= _maxPayloadBytes)
                    {
                        Payload = new byte[size];
                        CopyWhole(data, size, Payload);
                    }
                    break;
            }
        }

        /// <summary>Reads type and header, and checks the sizes of all parts. Throws ParleyException (5001, 5003).</summary>
        public void Judge()
        {
            if (_parts < Protocol.MinParts || _parts > Protocol.MaxParts)
            {
                throw Frames.Malformed("the sidecar sent a message of " + _parts + " parts; one has three or four");
            }
            if (_sizes[1] != Protocol.IdsBytes)
            {
                throw Frames.Malformed("the sidecar sent a message whose part 2 has " + _sizes[1] + " bytes in place of 16");
            }
            TypeName = ReadType();
            RequestId = Frames.ReadUInt64(_header, 0);
            Seq = Frames.ReadUInt64(_header, 8);
            if (_sizes[2] > _maxJsonBytes)
            {
                throw Frames.TooLarge(
                    TypeName + ": its JSON has " + _sizes[2] + " bytes; at most " + _maxJsonBytes + " are taken (MaxJsonBytes)");
            }
            if (_parts > Protocol.MinParts && _sizes[3] > _maxPayloadBytes)
            {
                throw Frames.TooLarge(
                    TypeName + ": its payload has " + _sizes[3] + " bytes; at most " + _maxPayloadBytes
                    + " are taken (MaxPayloadBytes)");
            }
        }

        /// <summary>Parses part 3, after Judge. Throws ParleyException (5001).</summary>
        public JObject ParseJson()
        {
            return Frames.Parse(TypeName, _json, _sizes[2]);
        }

        private string ReadType()
        {
            int size = _sizes[0];
            bool isGood = size > 0 && size <= Protocol.MaxTypeBytes;
            for (int i = 0; isGood && i < size; i++)
            {
                // What is shown in messages must be fit to be seen.
                isGood = _type[i] > 0x20 && _type[i] < 0x7F;
            }
            if (!isGood)
            {
                throw Frames.Malformed("the sidecar sent a message whose part 1 is not a type: 1 to 64 ASCII characters");
            }
            return Encoding.ASCII.GetString(_type, 0, size);
        }

        private static void CopyWhole(IntPtr data, int size, byte[] to)
        {
            if (size > 0 && size <= to.Length)
            {
                Marshal.Copy(data, to, 0, size);
            }
        }
    }
}
