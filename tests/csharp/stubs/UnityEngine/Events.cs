// UnityEvent as the package uses it: listeners in order, a throwing one ends the call, as in the engine.
// Checked against Unity-Technologies/UnityCsReference: Runtime/Export/UnityEvent/UnityEvent.cs and
// Runtime/Export/UnityEvent/UnityEvent/UnityEvent_*.cs
using System;
using System.Collections.Generic;

namespace UnityEngine.Events
{
    public delegate void UnityAction();

    public delegate void UnityAction<T0>(T0 arg0);

    public delegate void UnityAction<T0, T1>(T0 arg0, T1 arg1);

    public delegate void UnityAction<T0, T1, T2>(T0 arg0, T1 arg1, T2 arg2);

    [Serializable]
    public abstract partial class UnityEventBase
    {
        private readonly List<Delegate> _listeners = new List<Delegate>();
        private readonly List<Delegate> _called = new List<Delegate>();
        private bool _hasChanged;

        /// <summary>Listeners that the Inspector added; here there are none.</summary>
        public int GetPersistentEventCount()
        {
            return 0;
        }

        public void RemoveAllListeners()
        {
            _listeners.Clear();
            _hasChanged = true;
        }

        internal void Add(Delegate call)
        {
            _listeners.Add(call);
            _hasChanged = true;
        }

        internal void Remove(Delegate call)
        {
            _listeners.Remove(call);
            _hasChanged = true;
        }

        /// <summary>
        /// Who is called: those that listened when the call began, unless another call of the same event begins within it
        /// (InvokableCallList.PrepareInvoke).
        /// </summary>
        internal List<Delegate> Prepare()
        {
            if (_hasChanged)
            {
                _hasChanged = false;
                _called.Clear();
                _called.AddRange(_listeners);
            }
            return _called;
        }
    }

    [Serializable]
    public class UnityEvent : UnityEventBase
    {
        public void AddListener(UnityAction call)
        {
            Add(call);
        }

        public void RemoveListener(UnityAction call)
        {
            Remove(call);
        }

        public void Invoke()
        {
            List<Delegate> calls = Prepare();
            for (int i = 0; i < calls.Count; i++)
            {
                ((UnityAction)calls[i])();
            }
        }
    }

    [Serializable]
    public class UnityEvent<T0> : UnityEventBase
    {
        public void AddListener(UnityAction<T0> call)
        {
            Add(call);
        }

        public void RemoveListener(UnityAction<T0> call)
        {
            Remove(call);
        }

        public void Invoke(T0 arg0)
        {
            List<Delegate> calls = Prepare();
            for (int i = 0; i < calls.Count; i++)
            {
                ((UnityAction<T0>)calls[i])(arg0);
            }
        }
    }

    [Serializable]
    public class UnityEvent<T0, T1> : UnityEventBase
    {
        public void AddListener(UnityAction<T0, T1> call)
        {
            Add(call);
        }

        public void RemoveListener(UnityAction<T0, T1> call)
        {
            Remove(call);
        }

        public void Invoke(T0 arg0, T1 arg1)
        {
            List<Delegate> calls = Prepare();
            for (int i = 0; i < calls.Count; i++)
            {
                ((UnityAction<T0, T1>)calls[i])(arg0, arg1);
            }
        }
    }

    [Serializable]
    public class UnityEvent<T0, T1, T2> : UnityEventBase
    {
        public void AddListener(UnityAction<T0, T1, T2> call)
        {
            Add(call);
        }

        public void RemoveListener(UnityAction<T0, T1, T2> call)
        {
            Remove(call);
        }

        public void Invoke(T0 arg0, T1 arg1, T2 arg2)
        {
            List<Delegate> calls = Prepare();
            for (int i = 0; i < calls.Count; i++)
            {
                ((UnityAction<T0, T1, T2>)calls[i])(arg0, arg1, arg2);
            }
        }
    }
}
