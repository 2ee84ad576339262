// What the package's own tests use of Unity's Test Framework, which adds tests that go on over several frames.
// Checked against docs.unity3d.com/Packages/com.unity.test-framework@1.1/api/UnityEngine.TestTools.html
using System;

namespace UnityEngine.TestTools
{
    [AttributeUsage(AttributeTargets.Method)]
    public class UnityTestAttribute : Attribute
    {
    }

    [AttributeUsage(AttributeTargets.Method)]
    public class UnityTearDownAttribute : Attribute
    {
    }
}
