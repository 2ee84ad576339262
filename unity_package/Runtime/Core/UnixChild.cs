// A program started with the system calls of Linux and macOS: IL2CPP has no Process class.
using System;
using System.Collections;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Parley
{
    /// <summary>
    /// A child of this process by posix_spawn.
    /// Threading: as ChildProcess; ending it and noticing its end exclude each other.
    /// </summary>
    internal sealed class UnixChild : ChildProcess
    {
        private const int SetFlags = 2;
        private const int CloseOnExec = 1;
        private const int NoHang = 1;
        private const int SigKill = 9;
        private const int ReadOnly = 0;
        private const int FileActionsBytes = 512;
        private const int LookMs = 20;
        private const int SignalBase = 128;

        private readonly object _lock = new object();
        private readonly int _pid;
        private readonly PipeReader _output;
        private readonly PipeReader _errors;
        private int? _exitCode;
        private bool _isGone;

        internal UnixChild(
            string program, IList<string> arguments, IDictionary<string, string> environment, string folder)
        {
            List<string> words = new List<string> { program };
            words.AddRange(arguments);
            using (TextArray argv = new TextArray(words))
            using (TextArray envp = new TextArray(Merged(environment)))
            {
                int[] output = Pipe();
                int[] errors = Pipe();
                IntPtr actions = Marshal.AllocHGlobal(FileActionsBytes);
                int fault;
                try
                {
                    Check(posix_spawn_file_actions_init(actions));
                    try
                    {
                        Check(posix_spawn_file_actions_addopen(actions, 0, "/dev/null", ReadOnly, 0));
                        Check(posix_spawn_file_actions_adddup2(actions, output[1], 1));
                        Check(posix_spawn_file_actions_adddup2(actions, errors[1], 2));
                        if (folder.Length > 0)
                        {
                            Check(posix_spawn_file_actions_addchdir_np(actions, folder));
                        }
                        fault = posix_spawn(out _pid, program, actions, IntPtr.Zero, argv.Pointer, envp.Pointer);
                    }
                    finally
                    {
                        posix_spawn_file_actions_destroy(actions);
                    }
                }
                finally
                {
                    Marshal.FreeHGlobal(actions);
                    close(output[1]);
                    close(errors[1]);
                }
                if (fault != 0)
                {
                    close(output[0]);
                    close(errors[0]);
                    throw new IOException(NotStarted(program, fault));
                }
                _output = new PipeReader(output[0]);
                _errors = new PipeReader(errors[0]);
            }
        }

        /// <inheritdoc/>
        public override int Pid
        {
            get { return _pid; }
        }

        /// <inheritdoc/>
        public override Stream Output
        {
            get { return _output; }
        }

        /// <inheritdoc/>
        public override Stream Errors
        {
            get { return _errors; }
        }

        /// <inheritdoc/>
        public override int? ExitCode
        {
            get
            {
                lock (_lock)
                {
                    return _exitCode;
                }
            }
        }

        /// <inheritdoc/>
        public override bool WaitForExit(int milliseconds)
        {
            for (int waited = 0; !HasEnded(); waited += LookMs)
            {
                if (waited >= milliseconds)
                {
                    return false;
                }
                Thread.Sleep(Math.Min(LookMs, milliseconds - waited));
            }
            return true;
        }

        /// <inheritdoc/>
        public override void Kill()
        {
            lock (_lock)
            {
                // Once its end was taken, its number may be somebody else's.
                if (!_isGone)
                {
                    kill(_pid, SigKill);
                }
            }
        }

        /// <inheritdoc/>
        public override void Dispose()
        {
            _output.Dispose();
            _errors.Dispose();
        }

        private bool HasEnded()
        {
            lock (_lock)
            {
                if (_isGone)
                {
                    return true;
                }
                int status;
                int found = waitpid(_pid, out status, NoHang);
                if (found == 0)
                {
                    return false;
                }
                _isGone = true;
                if (found == _pid)
                {
                    int signal = status & 0x7f;
                    _exitCode = signal == 0 ? (status >> 8) & 0xff : SignalBase + signal;
                }
                // Else somebody in this process waits for all children, and nobody can say how it ended.
                return true;
            }
        }

        private static List<string> Merged(IDictionary<string, string> more)
        {
            Dictionary<string, string> all = new Dictionary<string, string>(StringComparer.Ordinal);
            foreach (DictionaryEntry variable in Environment.GetEnvironmentVariables())
            {
                all[(string)variable.Key] = (string)variable.Value;
            }
            foreach (KeyValuePair<string, string> variable in more)
            {
                all[variable.Key] = variable.Value;
            }
            List<string> lines = new List<string>();
            foreach (KeyValuePair<string, string> variable in all)
            {
                if (variable.Value != null)
                {
                    lines.Add(variable.Key + "=" + variable.Value);
                }
            }
            return lines;
        }

        private static string NotStarted(string program, int fault)
        {
            const int noEntry = 2;
            const int noExec = 8;
            const int noAccess = 13;
            string why = fault == noEntry ? "it, or what it names as its interpreter, is not there"
                : fault == noExec ? "it is not a program for this machine"
                : fault == noAccess ? "it may not be run"
                : "error " + fault;
            return "the sidecar program could not be started: " + program + ": " + why;
        }

        private static int[] Pipe()
        {
            int[] ends = new int[2];
            if (pipe(ends) != 0)
            {
                throw new IOException("no pipe could be made; are too many files open?");
            }
            CloseForOthers(ends[0]);
            CloseForOthers(ends[1]);
            return ends;
        }

        /// <summary>Programs that are started do not get it.</summary>
        private static void CloseForOthers(int file)
        {
            IntPtr flag = (IntPtr)CloseOnExec;
            fcntl(file, SetFlags, flag, IntPtr.Zero, IntPtr.Zero, IntPtr.Zero, IntPtr.Zero, IntPtr.Zero, flag);
        }

        private static void Check(int fault)
        {
            if (fault != 0)
            {
                throw new IOException("the system refuses to prepare a start; error " + fault);
            }
        }

        // POSIX.1-2008, as glibc and macOS's libSystem have them; texts are UTF-8.

        [DllImport(LibC.Name)]
        private static extern int pipe([Out] int[] ends);

        // Its third argument is a variable one. Apple's processors have those on the stack, behind the eight that go in
        // registers; all others have it in the third register. Here it is in both places.
        [DllImport(LibC.Name)]
        private static extern int fcntl(
            int file,
            int command,
            IntPtr argument,
            IntPtr unused4,
            IntPtr unused5,
            IntPtr unused6,
            IntPtr unused7,
            IntPtr unused8,
            IntPtr argumentOfApple);

        [DllImport(LibC.Name)]
        private static extern int close(int file);

        [DllImport(LibC.Name)]
        private static extern int kill(int pid, int signal);

        [DllImport(LibC.Name)]
        private static extern int waitpid(int pid, out int status, int options);

        [DllImport(LibC.Name)]
        private static extern int posix_spawn(
            out int pid,
            [MarshalAs(UnmanagedType.LPStr)] string path,
            IntPtr actions,
            IntPtr attributes,
            IntPtr argv,
            IntPtr envp);

        [DllImport(LibC.Name)]
        private static extern int posix_spawn_file_actions_init(IntPtr actions);

        [DllImport(LibC.Name)]
        private static extern int posix_spawn_file_actions_destroy(IntPtr actions);

        [DllImport(LibC.Name)]
        private static extern int posix_spawn_file_actions_adddup2(IntPtr actions, int from, int to);

        [DllImport(LibC.Name)]
        private static extern int posix_spawn_file_actions_addopen(
            IntPtr actions, int file, [MarshalAs(UnmanagedType.LPStr)] string path, int flags, int mode);

        // Not of POSIX: glibc 2.29, macOS 10.15.
        [DllImport(LibC.Name)]
        private static extern int posix_spawn_file_actions_addchdir_np(
            IntPtr actions, [MarshalAs(UnmanagedType.LPStr)] string path);

        /// <summary>Texts as a C program has them: pointers to zero-ended UTF-8, a null pointer at the end.</summary>
        private sealed class TextArray : IDisposable
        {
            private readonly IntPtr[] _texts;

            internal TextArray(List<string> texts)
            {
                _texts = new IntPtr[texts.Count];
                Pointer = Marshal.AllocHGlobal((texts.Count + 1) * IntPtr.Size);
                for (int index = 0; index < texts.Count; index++)
                {
                    byte[] bytes = Encoding.UTF8.GetBytes(texts[index]);
                    if (Array.IndexOf(bytes, (byte)0) >= 0)
                    {
                        Dispose();
                        throw new ArgumentException("an argument of a program cannot hold the character U+0000");
                    }
                    _texts[index] = Marshal.AllocHGlobal(bytes.Length + 1);
                    Marshal.Copy(bytes, 0, _texts[index], bytes.Length);
                    Marshal.WriteByte(_texts[index], bytes.Length, 0);
                    Marshal.WriteIntPtr(Pointer, index * IntPtr.Size, _texts[index]);
                }
                Marshal.WriteIntPtr(Pointer, texts.Count * IntPtr.Size, IntPtr.Zero);
            }

            internal IntPtr Pointer { get; private set; }

            public void Dispose()
            {
                foreach (IntPtr text in _texts)
                {
                    Marshal.FreeHGlobal(text);
                }
                Marshal.FreeHGlobal(Pointer);
                Pointer = IntPtr.Zero;
            }
        }

        /// <summary>
        /// The reading end of a pipe.
        /// Threading: one thread reads; Dispose from any, after which that one reads no more.
        /// </summary>
        private sealed class PipeReader : Stream
        {
            private const int PollMs = 100;
            private const short PollIn = 1;

            private readonly object _lock = new object();
            private int _file;
            private bool _isReading;
            private volatile bool _isClosed;

            internal PipeReader(int file)
            {
                _file = file;
            }

            public override bool CanRead
            {
                get { return true; }
            }

            public override bool CanSeek
            {
                get { return false; }
            }

            public override bool CanWrite
            {
                get { return false; }
            }

            public override long Length
            {
                get { throw new NotSupportedException(); }
            }

            public override long Position
            {
                get { throw new NotSupportedException(); }
                set { throw new NotSupportedException(); }
            }

            public override int Read(byte[] buffer, int offset, int count)
            {
                if (count == 0)
                {
                    return 0;
                }
                lock (_lock)
                {
                    _isReading = true;
                }
                try
                {
                    byte[] target = offset == 0 ? buffer : new byte[count];
                    while (!_isClosed)
                    {
                        PollEntry entry = new PollEntry { File = _file, Events = PollIn };
                        if (poll(ref entry, new UIntPtr(1), PollMs) <= 0 || entry.Happened == 0)
                        {
                            continue;
                        }
                        long found = (long)read(_file, target, new UIntPtr((uint)count));
                        if (found < 0)
                        {
                            continue;
                        }
                        if (target != buffer)
                        {
                            Buffer.BlockCopy(target, 0, buffer, offset, (int)found);
                        }
                        return (int)found;
                    }
                    return 0;
                }
                finally
                {
                    lock (_lock)
                    {
                        _isReading = false;
                        if (_isClosed)
                        {
                            Close(ref _file);
                        }
                    }
                }
            }

            public override void Flush()
            {
            }

            public override long Seek(long offset, SeekOrigin origin)
            {
                throw new NotSupportedException();
            }

            public override void SetLength(long value)
            {
                throw new NotSupportedException();
            }

            public override void Write(byte[] buffer, int offset, int count)
            {
                throw new NotSupportedException();
            }

            protected override void Dispose(bool disposing)
            {
                lock (_lock)
                {
                    _isClosed = true;
                    // Whoever reads closes it: its number could be another file's by then.
                    if (!_isReading)
                    {
                        Close(ref _file);
                    }
                }
                base.Dispose(disposing);
            }

            private static void Close(ref int file)
            {
                if (file >= 0)
                {
                    close(file);
                    file = -1;
                }
            }

            [DllImport(LibC.Name)]
            private static extern IntPtr read(int file, [Out] byte[] buffer, UIntPtr count);

            [DllImport(LibC.Name)]
            private static extern int poll(ref PollEntry entry, UIntPtr count, int timeoutMs);

            [StructLayout(LayoutKind.Sequential)]
            private struct PollEntry
            {
                public int File;
                public short Events;
                public short Happened;
            }
        }
    }
}
