// What the package's own tests use of NUnit 3, with assertions that do fail.
// Checked against docs.nunit.org/api/NUnit.Framework.Assert.html and the attributes' pages beside it;
// Unity's Test Framework brings NUnit 3.5.
using System;

namespace NUnit.Framework
{
    public delegate void TestDelegate();

    [AttributeUsage(AttributeTargets.Method)]
    public class TestAttribute : Attribute
    {
    }

    [AttributeUsage(AttributeTargets.Class)]
    public class TestFixtureAttribute : Attribute
    {
    }

    [AttributeUsage(AttributeTargets.Method)]
    public class SetUpAttribute : Attribute
    {
    }

    [AttributeUsage(AttributeTargets.Method)]
    public class TearDownAttribute : Attribute
    {
    }

    [AttributeUsage(AttributeTargets.Method)]
    public sealed class TimeoutAttribute : Attribute
    {
        public TimeoutAttribute(int timeout)
        {
        }
    }

    public class AssertionException : Exception
    {
        public AssertionException(string message)
            : base(message)
        {
        }
    }

    public class IgnoreException : Exception
    {
        public IgnoreException(string message)
            : base(message)
        {
        }
    }

    public class Assert
    {
        protected Assert()
        {
        }

        public static void AreEqual(object expected, object actual)
        {
            AreEqual(expected, actual, "");
        }

        public static void AreEqual(object expected, object actual, string message, params object[] args)
        {
            IsTrue(Equals(expected, actual), "expected " + expected + " and got " + actual + " " + message);
        }

        public static void IsTrue(bool condition)
        {
            IsTrue(condition, "expected true");
        }

        public static void IsTrue(bool condition, string message, params object[] args)
        {
            if (!condition)
            {
                throw new AssertionException(message);
            }
        }

        public static void IsFalse(bool condition)
        {
            IsTrue(!condition, "expected false");
        }

        public static void IsFalse(bool condition, string message, params object[] args)
        {
            IsTrue(!condition, message);
        }

        public static void IsNull(object anObject)
        {
            IsTrue(anObject == null, "expected null");
        }

        public static void IsNotNull(object anObject)
        {
            IsTrue(anObject != null, "expected something");
        }

        public static void IsNotNull(object anObject, string message, params object[] args)
        {
            IsTrue(anObject != null, message);
        }

        public static TActual Throws<TActual>(TestDelegate code)
            where TActual : Exception
        {
            try
            {
                code();
            }
            catch (TActual fault)
            {
                return fault;
            }
            throw new AssertionException("expected " + typeof(TActual).Name);
        }

        public static void Fail(string message)
        {
            throw new AssertionException(message);
        }

        public static void Ignore(string message)
        {
            throw new IgnoreException(message);
        }
    }

    public class StringAssert
    {
        protected StringAssert()
        {
        }

        public static void Contains(string expected, string actual)
        {
            Assert.IsTrue(actual != null && actual.Contains(expected), "expected '" + expected + "' in '" + actual + "'");
        }
    }
}
