// Work that waits for the game's thread.
using System;
using System.Collections.Generic;
using System.Threading;

namespace Parley
{
    /// <summary>
    /// Work that other threads hand to the game's.
    /// Threading: Post from any thread, the rest on the game's.
    /// </summary>
    internal sealed class GameQueue
    {
        private readonly object _lock = new object();
        private List<Action> _work = new List<Action>();
        private List<Action> _spare = new List<Action>();
        private volatile bool _hasWork;
        private bool _isClosed;

        internal void Post(Action work)
        {
            lock (_lock)
            {
                if (!_isClosed)
                {
                    _work.Add(work);
                    _hasWork = true;
                }
            }
        }

        internal void Run(LogSink log)
        {
            if (!_hasWork)
            {
                return;
            }
            List<Action> work;
            lock (_lock)
            {
                work = _work;
                _work = _spare ?? new List<Action>();
                _spare = null;
                _hasWork = false;
            }
            foreach (Action one in work)
            {
                if (_isClosed)
                {
                    // What was done before this closed it; what is left is only let go.
                    break;
                }
                try
                {
                    one();
                }
                catch (Exception fault)
                {
                    Logs.Say(log, LogLevel.Error, "a callback threw: " + fault);
                }
            }
            work.Clear();
            lock (_lock)
            {
                _spare = work;
            }
        }

        /// <summary>Nothing is done any more; what waits is let go.</summary>
        internal void Close()
        {
            lock (_lock)
            {
                _isClosed = true;
                _work = new List<Action>();
                _hasWork = false;
            }
        }

        /// <summary>Do something long elsewhere, and take what came of it on the game's thread.</summary>
        internal void InBackground<T>(Func<T> work, Action<T, Exception> done)
        {
            ThreadPool.QueueUserWorkItem(state =>
            {
                T result = default(T);
                Exception fault = null;
                try
                {
                    result = work();
                }
                catch (Exception trouble)
                {
                    fault = trouble;
                }
                Post(() => done(result, fault));
            });
        }
    }
}
