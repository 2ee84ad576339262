// Events whose listeners cannot harm whoever raises them.
using System;
using UnityEngine.Events;

namespace Parley
{
    /// <summary>Raises events; a listener that throws is reported in the console, and all goes on.</summary>
    internal static class Calls
    {
        internal static void Raise(UnityEvent told, UnityEngine.Object who)
        {
            try
            {
                told.Invoke();
            }
            catch (Exception fault)
            {
                UnityEngine.Debug.LogException(fault, who);
            }
        }

        internal static void Raise<T>(UnityEvent<T> told, T value, UnityEngine.Object who)
        {
            try
            {
                told.Invoke(value);
            }
            catch (Exception fault)
            {
                UnityEngine.Debug.LogException(fault, who);
            }
        }

        internal static void Raise<T1, T2>(UnityEvent<T1, T2> told, T1 one, T2 two, UnityEngine.Object who)
        {
            try
            {
                told.Invoke(one, two);
            }
            catch (Exception fault)
            {
                UnityEngine.Debug.LogException(fault, who);
            }
        }

        internal static void Raise<T1, T2, T3>(UnityEvent<T1, T2, T3> told, T1 one, T2 two, T3 three, UnityEngine.Object who)
        {
            try
            {
                told.Invoke(one, two, three);
            }
            catch (Exception fault)
            {
                UnityEngine.Debug.LogException(fault, who);
            }
        }

        internal static void Raise<T>(Action<T> told, T value, UnityEngine.Object who)
        {
            if (told == null)
            {
                return;
            }
            foreach (Delegate one in told.GetInvocationList())
            {
                try
                {
                    ((Action<T>)one)(value);
                }
                catch (Exception fault)
                {
                    UnityEngine.Debug.LogException(fault, who);
                }
            }
        }
    }
}
