// The calls into libzmq that the package needs, and what libzmq says when one fails.
using System;
using System.Runtime.InteropServices;

namespace Parley
{
    /// <summary>
    /// libzmq's C interface, version 4.2 or later, as http://api.zeromq.org/ describes it. Threading: a context may be
    /// used from any thread, a socket from one at a time.
    /// </summary>
    internal static class ZmqNative
    {
        public const int Pair = 0;
        public const int Dealer = 5;

        public const int OptionLinger = 17;
        public const int OptionReconnectInterval = 18;
        public const int OptionMaxMessageSize = 22;
        public const int OptionReceiveLimit = 24;
        public const int OptionIpv6 = 42;
        public const int OptionCurvePublicKey = 48;
        public const int OptionCurveSecretKey = 49;
        public const int OptionCurveServerKey = 50;

        public const int DontWait = 1;
        public const int SendMore = 2;
        public const short PollIn = 1;
        public const short PollOut = 2;

        public const int EventClosed = 0x0080;
        public const int EventDisconnected = 0x0200;
        public const int EventHandshakeFailedNoDetail = 0x0800;
        public const int EventHandshakeFailedProtocol = 0x2000;
        public const int EventHandshakeFailedAuth = 0x4000;

        /// <summary>Room for a zmq_msg_t.</summary>
        public const int MessageBytes = 64;

        /// <summary>Characters of a CURVE key in Z85.</summary>
        public const int KeyChars = 40;

        private const string Library = "libzmq";
        private const int Interrupted = 4;

        /// <summary>Nothing there now, or no room: try later. The number is Linux's and Windows's, and macOS's.</summary>
        public static bool IsAgain(int error)
        {
            return error == 11 || error == 35;
        }

        /// <summary>A signal came between, as runtimes send them to stop threads.</summary>
        public static bool IsInterrupted(int error)
        {
            return error == Interrupted;
        }

        /// <summary>Why the call right before failed. Call it before any other, on the same thread.</summary>
        public static int LastError()
        {
            // On Windows libzmq keeps its own; elsewhere the runtime may change errno until it is asked for.
            int error = Platform.IsWindows ? 0 : Marshal.GetLastWin32Error();
            return error != 0 ? error : zmq_errno();
        }

        /// <summary>libzmq's words for an error.</summary>
        public static string Describe(int error)
        {
            return Marshal.PtrToStringAnsi(zmq_strerror(error));
        }

        /// <summary>
        /// What to say where the library cannot be loaded: `fault` is a DllNotFoundException, a BadImageFormatException
        /// or an EntryPointNotFoundException.
        /// </summary>
        public static ParleyException Missing(Exception fault)
        {
            return new ParleyException(
                LocalFaults.LibraryMissing,
                "ZeroMQ's library (libzmq) cannot be used: " + fault.Message
                + "; the package's Plugins folder must have it for this platform, with libsodium beside it",
                fault);
        }

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern int zmq_errno();

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr zmq_strerror(int error);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, SetLastError = true)]
        public static extern IntPtr zmq_ctx_new();

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, SetLastError = true)]
        public static extern int zmq_ctx_term(IntPtr context);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, SetLastError = true)]
        public static extern IntPtr zmq_socket(IntPtr context, int type);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, SetLastError = true)]
        public static extern int zmq_close(IntPtr socket);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, SetLastError = true)]
        public static extern int zmq_setsockopt(IntPtr socket, int option, byte[] value, UIntPtr size);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, SetLastError = true)]
        public static extern int zmq_bind(IntPtr socket, byte[] endpoint);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, SetLastError = true)]
        public static extern int zmq_connect(IntPtr socket, byte[] endpoint);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, SetLastError = true)]
        public static extern int zmq_socket_monitor(IntPtr socket, byte[] endpoint, int events);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, SetLastError = true)]
        public static extern int zmq_send(IntPtr socket, byte[] data, UIntPtr size, int flags);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, SetLastError = true)]
        public static extern int zmq_msg_init(IntPtr message);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, SetLastError = true)]
        public static extern int zmq_msg_recv(IntPtr message, IntPtr socket, int flags);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern IntPtr zmq_msg_data(IntPtr message);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern int zmq_msg_more(IntPtr message);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, SetLastError = true)]
        public static extern int zmq_msg_close(IntPtr message);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)]
        public static extern int zmq_has(byte[] capability);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, SetLastError = true)]
        public static extern int zmq_curve_keypair(byte[] publicKey, byte[] secretKey);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, SetLastError = true)]
        public static extern IntPtr zmq_z85_decode(byte[] data, byte[] text);

        // zmq_pollitem_t holds a SOCKET on Windows, whose size is that of a pointer, and an int elsewhere. `timeout` is
        // a C long: where that is smaller than a pointer, its lower half is what the call takes.
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, SetLastError = true, EntryPoint = "zmq_poll")]
        public static extern int zmq_poll_unix([In, Out] PollItem[] items, int count, IntPtr timeout);

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl, SetLastError = true, EntryPoint = "zmq_poll")]
        public static extern int zmq_poll_windows([In, Out] PollItemOfWindows[] items, int count, IntPtr timeout);

        /// <summary>zmq_pollitem_t.</summary>
        [StructLayout(LayoutKind.Sequential)]
        public struct PollItem
        {
            public IntPtr Socket;
            public int Descriptor;
            public short Events;
            public short Found;
        }

        /// <summary>zmq_pollitem_t on Windows.</summary>
        [StructLayout(LayoutKind.Sequential)]
        public struct PollItemOfWindows
        {
            public IntPtr Socket;
            public IntPtr Descriptor;
            public short Events;
            public short Found;
        }
    }
}
