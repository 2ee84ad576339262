// The end of a sidecar and of the session with it, which the game does not wait for.
using System.Threading;

namespace Parley
{
    /// <summary>
    /// Gives a sidecar that was told to end the time for it, kills it then, and closes the session.
    /// Threading: works on a thread of its own; may be asked from any.
    /// </summary>
    internal sealed class Undertaker
    {
        private const int AfterKillMs = 3000;

        private readonly ManualResetEvent _isDone = new ManualResetEvent(false);
        private readonly SidecarProcess _process;
        private readonly ParleySession _session;
        private readonly int _patienceMs;
        private readonly bool _saysBye;

        internal Undertaker(SidecarProcess process, ParleySession session, int patienceMs, bool saysBye)
        {
            _process = process;
            _session = session;
            _patienceMs = patienceMs;
            _saysBye = saysBye;
            if (process != null)
            {
                // At once and not on the thread: what has just begun to start must not get ready meanwhile.
                process.Stop(session == null ? 0 : patienceMs);
            }
            new Thread(Run) { IsBackground = true, Name = "parley end" }.Start();
        }

        internal bool IsDone
        {
            get { return _isDone.WaitOne(0); }
        }

        internal bool Wait(int milliseconds)
        {
            return _isDone.WaitOne(milliseconds);
        }

        private void Run()
        {
            try
            {
                if (_process != null)
                {
                    _process.WaitUntilEnded(_patienceMs + AfterKillMs);
                }
                if (_session != null)
                {
                    _session.Stop(_saysBye);
                }
            }
            finally
            {
                _isDone.Set();
            }
        }
    }
}
