// The package's own tests that take several frames, which Unity's Test Framework runs in Play mode.
using System;
using System.Collections;
using System.Reflection;
using System.Threading;
using Parley.Tests;
using UnityEngine.TestTools;
using AssertionException = NUnit.Framework.AssertionException;

namespace PlayerTests
{
    internal static class PackageTests
    {
        [Test]
        private static void ThoseOfTheTavernPass()
        {
            int count = 0;
            foreach (MethodInfo method in typeof(TavernTests).GetMethods())
            {
                if (method.IsDefined(typeof(UnityTestAttribute), false))
                {
                    Run(method);
                    count++;
                }
            }
            Check.Equal(2, count, "tests");
        }

        private static void Run(MethodInfo method)
        {
            Stage.Project();
            FakePlayerLoop.Play();
            TavernTests fixture = new TavernTests();
            try
            {
                IEnumerator frames = (IEnumerator)method.Invoke(fixture, null);
                while (frames.MoveNext())
                {
                    FakePlayerLoop.Frame(0.01f);
                    Thread.Sleep(1);
                }
            }
            catch (AssertionException fault)
            {
                throw new Failed(method.Name + ": " + fault.Message + "\n" + FakePlayerLoop.Log());
            }
            finally
            {
                fixture.TearDown();
                FakePlayerLoop.Stop();
            }
        }
    }
}
