// One connection to a sidecar: a DEALER socket, and the news that it broke.
using System;
using System.Globalization;
using System.Text;

namespace Parley
{
    /// <summary>
    /// Connects when it is made. A broken connection is not mended here: whoever owns the link closes it and makes
    /// another, because what was on its way is lost with it. Threading: one thread's.
    /// </summary>
    internal sealed class Link
    {
        /// <summary>What was said last may stay for so long after an orderly end.</summary>
        public const int LingerMs = 100;

        /// <summary>What Why says of an end that the other side made.</summary>
        public const string WasClosed = "the connection was closed";

        /// <summary>What Why says where nothing of what was sent can have come to anybody.</summary>
        public const string NobodyListens = "nobody listens there";

        // Never: but -1 would make libzmq throw away what came before the connection broke and is not read yet.
        private const int ReconnectMs = 24 * 60 * 60 * 1000;

        private const int CurveOverhead = 64;

        private readonly ZmqSocket _socket;
        private readonly ZmqSocket _monitor;
        private readonly EventReader _events = new EventReader();

        /// <summary>
        /// `number` tells the links of a context apart. Throws ZmqException, such as for an endpoint that is none, and
        /// ParleyException for a key that is none.
        /// </summary>
        public Link(ZmqContext context, string endpoint, string serverPublicKey, long maxPartBytes, int number)
        {
            Why = "";
            _socket = new ZmqSocket(context, ZmqNative.Dealer);
            try
            {
                _socket.Set(ZmqNative.OptionReconnectInterval, ReconnectMs);
                _socket.Set(ZmqNative.OptionMaxMessageSize, maxPartBytes + CurveOverhead);
                _socket.Set(ZmqNative.OptionIpv6, endpoint.IndexOf('[') >= 0 ? 1 : 0);
                if (serverPublicKey.Length > 0)
                {
                    Curve.Apply(_socket, serverPublicKey);
                }
                string ears = "inproc://parley-link-" + number.ToString(CultureInfo.InvariantCulture);
                _socket.Monitor(
                    ears,
                    ZmqNative.EventDisconnected | ZmqNative.EventClosed | ZmqNative.EventHandshakeFailedNoDetail
                    | ZmqNative.EventHandshakeFailedProtocol | ZmqNative.EventHandshakeFailedAuth);
                _monitor = new ZmqSocket(context, ZmqNative.Pair);
                // Unbounded: with a full queue, libzmq's own thread would wait for this one.
                _monitor.Set(ZmqNative.OptionReceiveLimit, 0);
                _monitor.Connect(ears);
                _socket.Connect(endpoint);
            }
            catch (Exception)
            {
                Close(0);
                throw;
            }
        }

        /// <summary>It has ended; all that came before was read, and the rest does not count.</summary>
        public bool IsBroken { get; private set; }

        /// <summary>Why, as far as libzmq says it.</summary>
        public string Why { get; private set; }

        /// <summary>Adds its sockets to those that are waited for.</summary>
        public void AddTo(ZmqPoll poll, bool toRead, bool toSend)
        {
            if (!IsBroken)
            {
                poll.Add(_monitor, false);
                if (toRead)
                {
                    poll.Add(_socket, toSend);
                }
            }
        }

        /// <summary>Sends a message now; false where the connection takes no more.</summary>
        public bool TrySend(byte[][] parts)
        {
            if (IsBroken)
            {
                return false;
            }
            for (int i = 0; i < parts.Length; i++)
            {
                // Once the first part is taken, so are the others.
                if (!_socket.TrySend(parts[i], i < parts.Length - 1))
                {
                    return false;
                }
            }
            return true;
        }

        /// <summary>Reads the next message whole; false where there is none.</summary>
        public bool TryReceive(InboundMessage message)
        {
            message.Clear();
            bool more;
            if (!_socket.TryReceive(message, out more))
            {
                return false;
            }
            while (more && _socket.TryReceive(message, out more))
            {
            }
            return true;
        }

        /// <summary>Whether libzmq told that the connection ended. What came before may still be to be read.</summary>
        public bool HearsTheEnd()
        {
            bool ended = false;
            bool more;
            while (_monitor.TryReceive(_events, out more))
            {
                while (more && _monitor.TryReceive(_events, out more))
                {
                }
                ended = true;
                // What comes behind the first reason is only that the connection is closed then.
                Why = Why.Length == 0 ? _events.Words() : Why;
                _events.Clear();
            }
            return ended;
        }

        /// <summary>It counts as ended from now on.</summary>
        public void Break(string why)
        {
            IsBroken = true;
            Why = why;
        }

        /// <summary>Says and hears nothing more. Idempotent.</summary>
        public void Close(int lingerMs)
        {
            _socket.EndMonitor();
            if (_monitor != null)
            {
                _monitor.Close(0);
            }
            _socket.Close(lingerMs);
        }

        /// <summary>An event: its number as u16 and a value as u32, both of this machine's order; then an address.</summary>
        private sealed class EventReader : IPartReader
        {
            private const int Cryptographic = 0x11000001;
            private const int MechanismMismatch = 0x11000002;
            private const int KeyExchange = 0x10000003;
            private readonly byte[] _event = new byte[6];
            private int _part;

            public void Part(IntPtr data, int size)
            {
                if (_part++ == 0 && size == _event.Length)
                {
                    System.Runtime.InteropServices.Marshal.Copy(data, _event, 0, size);
                }
            }

            public void Clear()
            {
                _part = 0;
            }

            public string Words()
            {
                switch (BitConverter.ToUInt16(_event, 0))
                {
                    case ZmqNative.EventClosed:
                        return NobodyListens;
                    case ZmqNative.EventDisconnected:
                        return WasClosed;
                    case ZmqNative.EventHandshakeFailedNoDetail:
                        return "the connection ended in its handshake; do both sides encrypt (CURVE) with this sidecar's key, or neither?";
                    case ZmqNative.EventHandshakeFailedProtocol:
                        return OfProtocol(BitConverter.ToInt32(_event, 2));
                    default:
                        return "the other side refused the keys";
                }
            }

            private static string OfProtocol(int error)
            {
                switch (error)
                {
                    case MechanismMismatch:
                        return "one side encrypts (CURVE) and the other does not";
                    case Cryptographic:
                    case KeyExchange:
                        return "the sidecar's public key is another one";
                    default:
                        return "the other side does not speak ZeroMQ's protocol as a sidecar does";
                }
            }
        }
    }

    /// <summary>The client's half of CURVE, ZeroMQ's encryption.</summary>
    internal static class Curve
    {
        /// <summary>Throws ParleyException where `key` cannot be a sidecar's public key, or libzmq cannot encrypt.</summary>
        public static void Check(string key)
        {
            if (ZmqNative.zmq_has(ZmqSocket.CText("curve")) == 0)
            {
                throw new ParleyException(
                    LocalFaults.LibraryFault, "this build of ZeroMQ's library cannot encrypt (it has no CURVE)");
            }
            bool isKey = key.Length == ZmqNative.KeyChars;
            for (int i = 0; isKey && i < key.Length; i++)
            {
                isKey = key[i] > 0x20 && key[i] < 0x7F;
            }
            if (!isKey || ZmqNative.zmq_z85_decode(new byte[32], ZmqSocket.CText(key)) == IntPtr.Zero)
            {
                throw new ParleyException(
                    ErrorCode.InvalidValue,
                    "InvalidValue",
                    "the server's public key must be the 40 characters that `parley keygen` printed and the ready line has "
                    + "as curve_public_key");
            }
        }

        /// <summary>Makes a socket encrypt for the sidecar with this public key, with a new key pair. Call before Connect.</summary>
        public static void Apply(ZmqSocket socket, string serverPublicKey)
        {
            Check(serverPublicKey);
            byte[] publicKey = new byte[ZmqNative.KeyChars + 1];
            byte[] secretKey = new byte[ZmqNative.KeyChars + 1];
            if (ZmqNative.zmq_curve_keypair(publicKey, secretKey) != 0)
            {
                throw ZmqException.Last("cannot make a key pair");
            }
            socket.Set(ZmqNative.OptionCurveServerKey, Encoding.ASCII.GetBytes(serverPublicKey));
            socket.Set(ZmqNative.OptionCurvePublicKey, Shortened(publicKey));
            socket.Set(ZmqNative.OptionCurveSecretKey, Shortened(secretKey));
        }

        private static byte[] Shortened(byte[] key)
        {
            byte[] shortened = new byte[ZmqNative.KeyChars];
            Array.Copy(key, shortened, shortened.Length);
            return shortened;
        }
    }
}
