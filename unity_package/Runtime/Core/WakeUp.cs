// Wakes a thread that waits for ZeroMQ sockets.
using System.Threading;

namespace Parley
{
    /// <summary>A pair of sockets. Threading: any thread signals; the rest is the waiting thread's.</summary>
    internal sealed class WakeUp : IPartReader
    {
        private const string Endpoint = "inproc://parley-wake-up";
        private static readonly byte[] Anything = new byte[1];

        private readonly object _gate = new object();
        private readonly ZmqSocket _receiver;
        private readonly ZmqSocket _sender;
        private int _isSignalled;
        private bool _closed;

        /// <summary>One for each context.</summary>
        public WakeUp(ZmqContext context)
        {
            try
            {
                _receiver = new ZmqSocket(context, ZmqNative.Pair);
                _sender = new ZmqSocket(context, ZmqNative.Pair);
                _receiver.Bind(Endpoint);
                _sender.Connect(Endpoint);
            }
            catch (ZmqException)
            {
                // A context waits for its sockets at its end.
                Close();
                throw;
            }
        }

        /// <summary>What the thread waits for.</summary>
        public ZmqSocket Receiver
        {
            get { return _receiver; }
        }

        /// <summary>Wakes the thread, or sees to it that it does not go to sleep. Any thread; never waits.</summary>
        public void Signal()
        {
            if (Interlocked.Exchange(ref _isSignalled, 1) != 0)
            {
                return;
            }
            lock (_gate)
            {
                if (!_closed)
                {
                    _sender.TrySend(Anything, false);
                }
            }
        }

        /// <summary>The thread is awake, and looks after this at all it may have been woken for.</summary>
        public void Swallow()
        {
            bool more;
            while (_receiver.TryReceive(this, out more))
            {
            }
            Interlocked.Exchange(ref _isSignalled, 0);
        }

        public void Part(System.IntPtr data, int size)
        {
        }

        /// <summary>Signals go nowhere from now on.</summary>
        public void Close()
        {
            lock (_gate)
            {
                _closed = true;
                _sender?.Close(0);
            }
            _receiver?.Close(0);
        }
    }
}
