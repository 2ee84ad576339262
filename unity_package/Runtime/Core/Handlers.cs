// The game's handlers of one event, none of which can stop the others.
using System;

namespace Parley
{
    /// <summary>
    /// A list of handlers. Raising it allocates nothing; a handler that throws is reported and the next one is called.
    /// Threading: the game's thread only.
    /// </summary>
    internal sealed class Handlers<T>
    {
        private static readonly Action<T>[] Nobody = new Action<T>[0];

        private readonly string _name;
        private Action<T>[] _all = Nobody;

        internal Handlers(string name)
        {
            _name = name;
        }

        internal void Add(Action<T> handler)
        {
            if (handler == null)
            {
                return;
            }
            // A new array each time: whoever is being called at the moment keeps the old one.
            Action<T>[] more = new Action<T>[_all.Length + 1];
            Array.Copy(_all, more, _all.Length);
            more[_all.Length] = handler;
            _all = more;
        }

        internal void Remove(Action<T> handler)
        {
            int at = Array.LastIndexOf(_all, handler);
            if (at < 0)
            {
                return;
            }
            Action<T>[] fewer = new Action<T>[_all.Length - 1];
            Array.Copy(_all, fewer, at);
            Array.Copy(_all, at + 1, fewer, at, fewer.Length - at);
            _all = fewer;
        }

        internal void Raise(T value, LogSink log)
        {
            Action<T>[] all = _all;
            for (int index = 0; index < all.Length; index++)
            {
                try
                {
                    all[index](value);
                }
                catch (Exception fault)
                {
                    Logs.Say(log, LogLevel.Error, "a handler of " + _name + " threw: " + fault);
                }
            }
        }
    }
}
