// Sockets and contexts of libzmq as objects whose end is certain, and waiting for several sockets.
using System;
using System.Runtime.InteropServices;
using System.Text;

namespace Parley
{
    /// <summary>A call into libzmq failed.</summary>
    internal sealed class ZmqException : Exception
    {
        public readonly int Error;

        public ZmqException(string what, int error)
            : base(what + ": " + ZmqNative.Describe(error))
        {
            Error = error;
        }

        /// <summary>The exception for the call right before, which failed.</summary>
        public static ZmqException Last(string what)
        {
            return new ZmqException(what, ZmqNative.LastError());
        }
    }

    /// <summary>One of libzmq's contexts: its threads, and all sockets that were made of it.</summary>
    internal sealed class ZmqContext
    {
        private IntPtr _handle;

        public ZmqContext()
        {
            _handle = ZmqNative.zmq_ctx_new();
            if (_handle == IntPtr.Zero)
            {
                throw ZmqException.Last("cannot make a ZeroMQ context");
            }
        }

        public IntPtr Handle
        {
            get { return _handle; }
        }

        /// <summary>Ends it; waits until its sockets, which must be closed, have lingered. Idempotent.</summary>
        public void Terminate()
        {
            IntPtr handle = _handle;
            _handle = IntPtr.Zero;
            if (handle == IntPtr.Zero)
            {
                return;
            }
            while (ZmqNative.zmq_ctx_term(handle) != 0)
            {
                if (!ZmqNative.IsInterrupted(ZmqNative.LastError()))
                {
                    return;
                }
            }
        }
    }

    /// <summary>One socket. Threading: used by one thread at a time; nothing here waits.</summary>
    internal sealed class ZmqSocket
    {
        private readonly IntPtr _message;
        private IntPtr _handle;

        public ZmqSocket(ZmqContext context, int type)
        {
            _handle = ZmqNative.zmq_socket(context.Handle, type);
            if (_handle == IntPtr.Zero)
            {
                throw ZmqException.Last("cannot make a ZeroMQ socket");
            }
            _message = Marshal.AllocHGlobal(ZmqNative.MessageBytes);
            Set(ZmqNative.OptionLinger, 0);
        }

        /// <summary>Zero once it is closed.</summary>
        public IntPtr Handle
        {
            get { return _handle; }
        }

        public void Set(int option, int value)
        {
            Set(option, BitConverter.GetBytes(value));
        }

        public void Set(int option, long value)
        {
            Set(option, BitConverter.GetBytes(value));
        }

        public void Set(int option, byte[] value)
        {
            if (ZmqNative.zmq_setsockopt(_handle, option, value, (UIntPtr)(uint)value.Length) != 0)
            {
                throw ZmqException.Last("cannot set option " + option + " of a ZeroMQ socket");
            }
        }

        public void Bind(string endpoint)
        {
            if (ZmqNative.zmq_bind(_handle, CText(endpoint)) != 0)
            {
                throw ZmqException.Last("cannot bind " + endpoint);
            }
        }

        public void Connect(string endpoint)
        {
            if (ZmqNative.zmq_connect(_handle, CText(endpoint)) != 0)
            {
                throw ZmqException.Last("cannot connect to '" + endpoint + "'");
            }
        }

        /// <summary>Lets a PAIR socket at an inproc endpoint hear of events.</summary>
        public void Monitor(string endpoint, int events)
        {
            if (ZmqNative.zmq_socket_monitor(_handle, CText(endpoint), events) != 0)
            {
                throw ZmqException.Last("cannot watch a ZeroMQ socket");
            }
        }

        /// <summary>Ends what Monitor began. Whoever listens closes after this.</summary>
        public void EndMonitor()
        {
            if (_handle != IntPtr.Zero)
            {
                ZmqNative.zmq_socket_monitor(_handle, null, 0);
            }
        }

        /// <summary>Sends one part; false where there is no room now.</summary>
        public bool TrySend(byte[] part, bool more)
        {
            int flags = ZmqNative.DontWait | (more ? ZmqNative.SendMore : 0);
            while (ZmqNative.zmq_send(_handle, part, (UIntPtr)(uint)part.Length, flags) < 0)
            {
                int error = ZmqNative.LastError();
                if (ZmqNative.IsAgain(error))
                {
                    return false;
                }
                if (!ZmqNative.IsInterrupted(error))
                {
                    throw new ZmqException("cannot send", error);
                }
            }
            return true;
        }

        /// <summary>Hands the next part, if there is one, to `parts`; false where there is none.</summary>
        public bool TryReceive(IPartReader parts, out bool more)
        {
            more = false;
            if (ZmqNative.zmq_msg_init(_message) != 0)
            {
                throw ZmqException.Last("cannot receive");
            }
            try
            {
                int size;
                while ((size = ZmqNative.zmq_msg_recv(_message, _handle, ZmqNative.DontWait)) < 0)
                {
                    int error = ZmqNative.LastError();
                    if (ZmqNative.IsAgain(error))
                    {
                        return false;
                    }
                    if (!ZmqNative.IsInterrupted(error))
                    {
                        throw new ZmqException("cannot receive", error);
                    }
                }
                more = ZmqNative.zmq_msg_more(_message) != 0;
                parts.Part(ZmqNative.zmq_msg_data(_message), size);
                return true;
            }
            finally
            {
                ZmqNative.zmq_msg_close(_message);
            }
        }

        /// <summary>Closes; what was sent may stay for so long until it is on its way. Idempotent.</summary>
        public void Close(int lingerMs)
        {
            IntPtr handle = _handle;
            if (handle == IntPtr.Zero)
            {
                return;
            }
            byte[] linger = BitConverter.GetBytes(lingerMs);
            ZmqNative.zmq_setsockopt(handle, ZmqNative.OptionLinger, linger, (UIntPtr)(uint)linger.Length);
            _handle = IntPtr.Zero;
            ZmqNative.zmq_close(handle);
            Marshal.FreeHGlobal(_message);
        }

        /// <summary>A text as C functions take it.</summary>
        public static byte[] CText(string text)
        {
            return Encoding.UTF8.GetBytes(text + "\0");
        }
    }

    /// <summary>Takes the parts of a message. `data` is gone once the call returns.</summary>
    internal interface IPartReader
    {
        void Part(IntPtr data, int size);
    }

    /// <summary>Waits for several sockets at once.</summary>
    internal sealed class ZmqPoll
    {
        private readonly ZmqNative.PollItem[] _items;
        private readonly ZmqNative.PollItemOfWindows[] _itemsOfWindows;
        private int _count;

        public ZmqPoll(int most)
        {
            _items = new ZmqNative.PollItem[most];
            _itemsOfWindows = new ZmqNative.PollItemOfWindows[most];
        }

        public void Clear()
        {
            _count = 0;
        }

        public void Add(ZmqSocket socket, bool toSend)
        {
            short events = (short)(ZmqNative.PollIn | (toSend ? ZmqNative.PollOut : 0));
            _items[_count].Socket = socket.Handle;
            _items[_count].Events = events;
            _items[_count].Found = 0;
            _itemsOfWindows[_count].Socket = socket.Handle;
            _itemsOfWindows[_count].Events = events;
            _itemsOfWindows[_count].Found = 0;
            _count++;
        }

        /// <summary>Waits until there is something for one of them, or the time is over.</summary>
        public void Wait(int timeoutMs)
        {
            int found = Platform.IsWindows
                ? ZmqNative.zmq_poll_windows(_itemsOfWindows, _count, (IntPtr)timeoutMs)
                : ZmqNative.zmq_poll_unix(_items, _count, (IntPtr)timeoutMs);
            if (found < 0)
            {
                int error = ZmqNative.LastError();
                if (!ZmqNative.IsInterrupted(error))
                {
                    throw new ZmqException("cannot wait for ZeroMQ sockets", error);
                }
            }
        }
    }
}
