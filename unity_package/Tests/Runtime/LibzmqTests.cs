// Whether Unity finds the libzmq that the package brings.
using System;
using System.Runtime.InteropServices;
using NUnit.Framework;

namespace Parley.Tests
{
    /// <summary>Unity finds the package's libzmq on this machine, and its libsodium beside it.</summary>
    public sealed class LibzmqTests
    {
        [DllImport("libzmq", CallingConvention = CallingConvention.Cdecl)]
        private static extern void zmq_version(out int major, out int minor, out int patch);

        [DllImport("libzmq", CallingConvention = CallingConvention.Cdecl)]
        private static extern int zmq_has(byte[] capability);

        [Test]
        public void ItLoads()
        {
            int major, minor, patch;
            zmq_version(out major, out minor, out patch);
            Version version = new Version(major, minor, patch);
            Assert.IsTrue(version >= new Version(4, 3, 4), "libzmq " + version + " is another package's");
        }

        [Test]
        public void ItEncrypts()
        {
            byte[] curve = { (byte)'c', (byte)'u', (byte)'r', (byte)'v', (byte)'e', 0 };
            Assert.AreEqual(1, zmq_has(curve));
        }
    }
}
