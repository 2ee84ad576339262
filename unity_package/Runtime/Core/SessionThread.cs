// The thread that owns a session's sockets.
using System;
using System.Diagnostics;
using System.Threading;

namespace Parley
{
    /// <summary>
    /// Waits for sockets, time and wake-ups, and lets the protocol do the rest. Threading: Start, Wake and Stop may be
    /// called from any thread; all else happens on the thread itself.
    /// </summary>
    internal sealed class SessionThread
    {
        // A thread that waits inside libzmq cannot be stopped from outside, as a runtime does that unloads its code.
        private const double LongestWaitS = 0.5;
        private const double BacklogWaitS = 0.05;

        // The process stood still, in a debugger or asleep, where a wait took so much longer than it was to.
        private const double StandstillS = 1.0;

        private const int Stay = 0;
        private const int Leave = 1;
        private const int SayBye = 2;

        private readonly ZmqContext _context;
        private readonly WakeUp _wakeUp;
        private readonly SessionProtocol _protocol;
        private readonly Thread _thread;
        private int _wanted = Stay;

        /// <summary>Makes what it needs; throws ParleyException where libzmq is not there.</summary>
        public SessionThread(SessionOptions options, SessionRecord record, Inbox inbox, PendingRequests requests)
        {
            try
            {
                _context = new ZmqContext();
                if (options.ServerPublicKey.Length > 0)
                {
                    Curve.Check(options.ServerPublicKey);
                }
                _wakeUp = new WakeUp(_context);
            }
            catch (DllNotFoundException fault)
            {
                throw ZmqNative.Missing(fault);
            }
            catch (EntryPointNotFoundException fault)
            {
                throw ZmqNative.Missing(fault);
            }
            catch (BadImageFormatException fault)
            {
                throw ZmqNative.Missing(fault);
            }
            catch (ZmqException fault)
            {
                _context?.Terminate();
                throw new ParleyException(LocalFaults.LibraryFault, fault.Message, fault);
            }
            catch (ParleyException)
            {
                _context.Terminate();
                throw;
            }
            _protocol = new SessionProtocol(_context, options, record, inbox, requests);
            _thread = new Thread(Run) { IsBackground = true, Name = "Parley session" };
        }

        public void Start()
        {
            AppDomain.CurrentDomain.DomainUnload += OnDomainUnload;
            _thread.Start();
        }

        /// <summary>Has it look at what was added for it.</summary>
        public void Wake()
        {
            _wakeUp.Signal();
        }

        /// <summary>Ends it; waits for that, up to so long. False where it is still busy ending. Idempotent.</summary>
        public bool Stop(bool sayBye, int timeoutMs)
        {
            Interlocked.CompareExchange(ref _wanted, sayBye ? SayBye : Leave, Stay);
            _wakeUp.Signal();
            return Thread.CurrentThread == _thread || _thread.Join(timeoutMs);
        }

        private void OnDomainUnload(object sender, EventArgs e)
        {
            Stop(false, 500);
        }

        private void Run()
        {
            try
            {
                Serve();
            }
            catch (Exception fault) when (!(fault is ThreadAbortException))
            {
                // A bug of ours must not take the game with it, as an exception that leaves a thread does.
                _protocol.End(
                    SessionEnd.Malformed,
                    new ParleyException(LocalFaults.InternalFault, "a fault inside Parley ended the session: " + fault, fault));
            }
            finally
            {
                _protocol.End(SessionEnd.Stopped, null);
                _wakeUp.Close();
                _context.Terminate();
                AppDomain.CurrentDomain.DomainUnload -= OnDomainUnload;
            }
        }

        private void Serve()
        {
            ZmqPoll poll = new ZmqPoll(3);
            double now = 0.0;
            bool saysBye = false;
            long before = Stopwatch.GetTimestamp();
            while (true)
            {
                int wanted = Volatile.Read(ref _wanted);
                if (wanted == Leave)
                {
                    _protocol.Leave(now);
                }
                else if (wanted == SayBye && !saysBye)
                {
                    saysBye = true;
                    _protocol.BeginBye(now);
                }
                _protocol.Tick(now);
                if (_protocol.IsOver)
                {
                    return;
                }
                double wait = Math.Max(0.0, Math.Min(_protocol.NextDue(now) - now, LongestWaitS));
                poll.Clear();
                poll.Add(_wakeUp.Receiver, false);
                if (!_protocol.AddTo(poll))
                {
                    wait = Math.Min(wait, BacklogWaitS);
                }
                poll.Wait((int)Math.Ceiling(wait * 1000.0));
                long after = Stopwatch.GetTimestamp();
                now += Math.Min((after - before) / (double)Stopwatch.Frequency, wait + StandstillS);
                before = after;
                _wakeUp.Swallow();
                _protocol.Read(now);
            }
        }
    }
}
