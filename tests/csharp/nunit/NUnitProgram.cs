// Runs the [Test] methods of an assembly: `NUnitProgram.exe Assembly.dll`. A line for each; exit code 1 if one fails.
using System;
using System.Reflection;
using NUnit.Framework;

internal static class NUnitProgram
{
    private static int Main(string[] arguments)
    {
        int failed = 0;
        foreach (Type type in Assembly.LoadFrom(arguments[0]).GetTypes())
        {
            foreach (MethodInfo method in type.GetMethods())
            {
                if (method.IsDefined(typeof(TestAttribute), false))
                {
                    failed += Run(type, method) ? 0 : 1;
                }
            }
        }
        return failed == 0 ? 0 : 1;
    }

    private static bool Run(Type type, MethodInfo method)
    {
        object fixture = Activator.CreateInstance(type);
        string name = type.Name + "." + method.Name;
        try
        {
            Call(fixture, typeof(SetUpAttribute));
            try
            {
                method.Invoke(fixture, null);
            }
            finally
            {
                Call(fixture, typeof(TearDownAttribute));
            }
        }
        catch (TargetInvocationException fault)
        {
            bool isIgnored = fault.InnerException is IgnoreException;
            Console.WriteLine((isIgnored ? "ignored " : "FAILED ") + name + ": " + fault.InnerException.Message);
            return isIgnored;
        }
        Console.WriteLine("passed " + name);
        return true;
    }

    private static void Call(object fixture, Type attribute)
    {
        foreach (MethodInfo method in fixture.GetType().GetMethods())
        {
            if (method.IsDefined(attribute, false))
            {
                method.Invoke(fixture, null);
            }
        }
    }
}
