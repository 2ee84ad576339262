// What the tests of the player layer say when something is not as it should be, and the list of them.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Reflection;
using System.Threading;

namespace PlayerTests
{
    /// <summary>Marks a method that is run before each test.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    internal sealed class BeforeEachAttribute : Attribute
    {
    }

    /// <summary>Marks a method that is run by its name.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    internal sealed class TestAttribute : Attribute
    {
    }

    internal sealed class Failed : Exception
    {
        internal Failed(string message)
            : base(message)
        {
        }
    }

    internal static class Check
    {
        internal static void That(bool isSo, string what)
        {
            if (!isSo)
            {
                throw new Failed(what);
            }
        }

        internal static void Equal<T>(T expected, T actual, string what)
        {
            if (!EqualityComparer<T>.Default.Equals(expected, actual))
            {
                throw new Failed(string.Format(
                    CultureInfo.InvariantCulture, "{0}: expected <{1}>, got <{2}>", what, expected, actual));
            }
        }

        internal static void Texts(IEnumerable<string> actual, string what, params string[] expected)
        {
            Equal(string.Join("|", expected), string.Join("|", new List<string>(actual).ToArray()), what);
        }

        internal static TException Throws<TException>(Action work, string what) where TException : Exception
        {
            TException caught = null;
            try
            {
                work();
            }
            catch (TException fault)
            {
                caught = fault;
            }
            That(caught != null, what + ": nothing was thrown");
            return caught;
        }

        /// <summary>Bytes that this thread allocates over it.</summary>
        internal static long Allocated(Action work)
        {
            work();
            long before = GC.GetAllocatedBytesForCurrentThread();
            work();
            return GC.GetAllocatedBytesForCurrentThread() - before;
        }
    }

    internal static class Program
    {
        /// <summary>Runs the tests that are named, each after the other; lists them all where none is.</summary>
        private static int Main(string[] arguments)
        {
            Thread.CurrentThread.CurrentCulture = new CultureInfo("tr-TR");
            SortedDictionary<string, MethodInfo> tests = new SortedDictionary<string, MethodInfo>(StringComparer.Ordinal);
            List<MethodInfo> before = new List<MethodInfo>();
            foreach (Type type in typeof(Program).Assembly.GetTypes())
            {
                foreach (MethodInfo method in type.GetMethods(BindingFlags.Static | BindingFlags.NonPublic))
                {
                    if (method.IsDefined(typeof(TestAttribute), false))
                    {
                        tests.Add(type.Name + "." + method.Name, method);
                    }
                    else if (method.IsDefined(typeof(BeforeEachAttribute), false))
                    {
                        before.Add(method);
                    }
                }
            }
            if (arguments.Length == 0)
            {
                Console.WriteLine(string.Join("\n", new List<string>(tests.Keys).ToArray()));
            }
            bool isGood = true;
            foreach (string name in arguments)
            {
                before.ForEach(delegate(MethodInfo method) { method.Invoke(null, null); });
                isGood = Run(name, tests[name]) && isGood;
            }
            return isGood ? 0 : 1;
        }

        private static bool Run(string name, MethodInfo method)
        {
            try
            {
                method.Invoke(null, null);
                return true;
            }
            catch (TargetInvocationException fault)
            {
                Console.Error.WriteLine(
                    name + ": " + (fault.InnerException is Failed ? fault.InnerException.Message : "" + fault.InnerException));
                return false;
            }
        }
    }
}
