// A program started with the system calls of Windows: IL2CPP has no Process class.
using System;
using System.Collections;
using System.Collections.Generic;
using System.ComponentModel;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;
using Microsoft.Win32.SafeHandles;

namespace Parley
{
    /// <summary>A process by CreateProcessW. Threading: as ChildProcess.</summary>
    internal sealed class WindowsChild : ChildProcess
    {
        private const uint UseStdHandles = 0x100;
        private const uint UnicodeEnvironment = 0x400;
        private const uint NoWindow = 0x8000000;
        private const uint Inherit = 1;
        private const uint StillActive = 259;
        private const uint Killed = 0xFFFFFFFF;

        private readonly object _lock = new object();
        private readonly int _pid;
        private readonly Stream _output;
        private readonly Stream _errors;
        private IntPtr _process;

        internal WindowsChild(
            string program, IList<string> arguments, IDictionary<string, string> environment, string folder)
        {
            List<string> words = new List<string> { program };
            words.AddRange(arguments);
            Pipe input = new Pipe(false);
            Pipe output = new Pipe(true);
            Pipe errors = new Pipe(true);
            // Not as a text: one that holds zeros is at the mercy of whoever marshals it.
            IntPtr block = Marshal.StringToHGlobalUni(Block(environment));
            try
            {
                StartupInfo startup = new StartupInfo
                {
                    Size = Marshal.SizeOf(typeof(StartupInfo)),
                    Flags = UseStdHandles,
                    Input = input.Theirs,
                    Output = output.Theirs,
                    Errors = errors.Theirs,
                };
                ProcessInformation made;
                bool isMade = CreateProcessW(
                    program,
                    new StringBuilder(CommandLine.JoinForWindows(words)),
                    IntPtr.Zero,
                    IntPtr.Zero,
                    true,
                    NoWindow | UnicodeEnvironment,
                    block,
                    folder.Length > 0 ? folder : null,
                    ref startup,
                    out made);
                if (!isMade)
                {
                    throw new Win32Exception(Marshal.GetLastWin32Error());
                }
                CloseHandle(made.Thread);
                _process = made.Process;
                _pid = made.ProcessId;
                _output = output.Take();
                _errors = errors.Take();
            }
            finally
            {
                Marshal.FreeHGlobal(block);
                input.Close();
                output.Close();
                errors.Close();
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
                    uint code = StillActive;
                    bool isKnown = _process != IntPtr.Zero && GetExitCodeProcess(_process, out code);
                    return isKnown && code != StillActive ? unchecked((int)code) : (int?)null;
                }
            }
        }

        /// <inheritdoc/>
        public override bool WaitForExit(int milliseconds)
        {
            return WaitForSingleObject(_process, (uint)Math.Max(0, milliseconds)) == 0;
        }

        /// <inheritdoc/>
        public override void Kill()
        {
            lock (_lock)
            {
                if (_process != IntPtr.Zero)
                {
                    TerminateProcess(_process, Killed);
                }
            }
        }

        /// <inheritdoc/>
        public override void Dispose()
        {
            lock (_lock)
            {
                if (_process != IntPtr.Zero)
                {
                    CloseHandle(_process);
                    _process = IntPtr.Zero;
                }
            }
        }

        /// <summary>The environment as one text: sorted, each line ended by a zero, another zero at the end.</summary>
        private static string Block(IDictionary<string, string> more)
        {
            SortedDictionary<string, string> all = new SortedDictionary<string, string>(StringComparer.OrdinalIgnoreCase);
            foreach (DictionaryEntry variable in Environment.GetEnvironmentVariables())
            {
                all[(string)variable.Key] = (string)variable.Value;
            }
            foreach (KeyValuePair<string, string> variable in more)
            {
                all[variable.Key] = variable.Value;
            }
            StringBuilder block = new StringBuilder();
            foreach (KeyValuePair<string, string> variable in all)
            {
                if (variable.Value != null)
                {
                    block.Append(variable.Key).Append('=').Append(variable.Value).Append('\0');
                }
            }
            return block.Append('\0').ToString();
        }

        // processthreadsapi.h, namedpipeapi.h, handleapi.h and synchapi.h of the Windows SDK.

        [DllImport("kernel32", SetLastError = true, CharSet = CharSet.Unicode, ExactSpelling = true)]
        private static extern bool CreateProcessW(
            string program,
            StringBuilder line,
            IntPtr processAttributes,
            IntPtr threadAttributes,
            bool inheritsHandles,
            uint flags,
            IntPtr environment,
            string folder,
            ref StartupInfo startup,
            out ProcessInformation made);

        [DllImport("kernel32", SetLastError = true)]
        private static extern bool CreatePipe(out IntPtr read, out IntPtr write, IntPtr attributes, uint size);

        [DllImport("kernel32", SetLastError = true)]
        private static extern bool SetHandleInformation(IntPtr handle, uint mask, uint flags);

        [DllImport("kernel32")]
        private static extern bool CloseHandle(IntPtr handle);

        [DllImport("kernel32")]
        private static extern bool GetExitCodeProcess(IntPtr process, out uint code);

        [DllImport("kernel32")]
        private static extern bool TerminateProcess(IntPtr process, uint code);

        [DllImport("kernel32")]
        private static extern uint WaitForSingleObject(IntPtr handle, uint milliseconds);

        [StructLayout(LayoutKind.Sequential)]
        private struct StartupInfo
        {
            public int Size;
            public IntPtr Reserved;
            public IntPtr Desktop;
            public IntPtr Title;
            public int X;
            public int Y;
            public int Width;
            public int Height;
            public int WidthChars;
            public int HeightChars;
            public int Fill;
            public uint Flags;
            public short ShowWindow;
            public short ReservedBytes;
            public IntPtr ReservedPointer;
            public IntPtr Input;
            public IntPtr Output;
            public IntPtr Errors;
        }

        [StructLayout(LayoutKind.Sequential)]
        private struct ProcessInformation
        {
            public IntPtr Process;
            public IntPtr Thread;
            public int ProcessId;
            public int ThreadId;
        }

        /// <summary>A pipe with one end for the child.</summary>
        private sealed class Pipe
        {
            private IntPtr _ours;

            internal Pipe(bool theyWrite)
            {
                IntPtr read;
                IntPtr write;
                if (!CreatePipe(out read, out write, IntPtr.Zero, 0))
                {
                    throw new Win32Exception(Marshal.GetLastWin32Error());
                }
                _ours = theyWrite ? read : write;
                Theirs = theyWrite ? write : read;
                SetHandleInformation(Theirs, Inherit, Inherit);
            }

            internal IntPtr Theirs { get; private set; }

            /// <summary>The end that is read here, to whoever calls.</summary>
            internal Stream Take()
            {
                SafeFileHandle handle = new SafeFileHandle(_ours, true);
                _ours = IntPtr.Zero;
                return new FileStream(handle, FileAccess.Read, 1, false);
            }

            internal void Close()
            {
                if (_ours != IntPtr.Zero)
                {
                    CloseHandle(_ours);
                    _ours = IntPtr.Zero;
                }
                if (Theirs != IntPtr.Zero)
                {
                    CloseHandle(Theirs);
                    Theirs = IntPtr.Zero;
                }
            }
        }
    }
}
