// One started program: what SidecarProcess needs of it, and the Process class as one way to have it.
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Text;

namespace Parley
{
    /// <summary>
    /// A program that was started, its output in two streams.
    /// Threading: Kill may come from any thread; the rest belongs to one.
    /// </summary>
    internal abstract class ChildProcess : IDisposable
    {
        /// <summary>Its number.</summary>
        public abstract int Pid { get; }

        /// <summary>What it writes to stdout; null where nobody can read that.</summary>
        public abstract Stream Output { get; }

        /// <summary>What it writes to stderr; null where nobody can read that.</summary>
        public abstract Stream Errors { get; }

        /// <summary>How it ended, a signal as 128 and its number; null: it runs, or nobody knows.</summary>
        public abstract int? ExitCode { get; }

        /// <summary>Whether it has ended, after at most so long.</summary>
        public abstract bool WaitForExit(int milliseconds);

        /// <summary>End it at once. Harmless where it has ended.</summary>
        public abstract void Kill();

        /// <summary>Let go of it; it runs on where it does.</summary>
        public abstract void Dispose();

        /// <summary>The scripting backend has no Process class.</summary>
        public static bool NeedsNative
        {
            get
            {
#if ENABLE_IL2CPP && !UNITY_EDITOR
                return true;
#else
                return false;
#endif
            }
        }

        /// <summary>Starts a program without a shell. Throws Win32Exception or IOException where that fails.</summary>
        public static ChildProcess Start(
            string program,
            IList<string> arguments,
            IDictionary<string, string> environment,
            string folder,
            bool isNative)
        {
            if (!isNative)
            {
                return new ManagedChild(program, arguments, environment, folder);
            }
            return Platform.IsWindows
                ? (ChildProcess)new WindowsChild(program, arguments, environment, folder)
                : new UnixChild(program, arguments, environment, folder);
        }
    }

    /// <summary>A program started with the Process class.</summary>
    internal sealed class ManagedChild : ChildProcess
    {
        private readonly Process _process;
        private readonly int _pid;

        internal ManagedChild(
            string program, IList<string> arguments, IDictionary<string, string> environment, string folder)
        {
            ProcessStartInfo info = new ProcessStartInfo
            {
                FileName = program,
                Arguments = CommandLine.Join(arguments),
                WorkingDirectory = folder,
                UseShellExecute = false,
                CreateNoWindow = true,
                RedirectStandardInput = true,
                RedirectStandardOutput = true,
                RedirectStandardError = true,
                StandardOutputEncoding = new UTF8Encoding(false),
                StandardErrorEncoding = new UTF8Encoding(false),
            };
            foreach (KeyValuePair<string, string> variable in environment)
            {
                if (variable.Value == null)
                {
                    info.EnvironmentVariables.Remove(variable.Key);
                }
                else
                {
                    info.EnvironmentVariables[variable.Key] = variable.Value;
                }
            }
            _process = Process.Start(info);
            if (_process == null)
            {
                throw new IOException("the system started nothing");
            }
            _pid = _process.Id;
            // It has nothing to read; what the game's own stdin holds is not its business.
            _process.StandardInput.Close();
        }

        /// <inheritdoc/>
        public override int Pid
        {
            get { return _pid; }
        }

        /// <inheritdoc/>
        public override Stream Output
        {
            get { return _process.StandardOutput.BaseStream; }
        }

        /// <inheritdoc/>
        public override Stream Errors
        {
            get { return _process.StandardError.BaseStream; }
        }

        /// <inheritdoc/>
        public override int? ExitCode
        {
            get { return _process.HasExited ? _process.ExitCode : (int?)null; }
        }

        /// <inheritdoc/>
        public override bool WaitForExit(int milliseconds)
        {
            return _process.WaitForExit(milliseconds);
        }

        /// <inheritdoc/>
        public override void Kill()
        {
            try
            {
                _process.Kill();
            }
            catch (InvalidOperationException)
            {
                // It has ended, or was let go.
            }
            catch (Win32Exception)
            {
                // It is about to end.
            }
        }

        /// <inheritdoc/>
        public override void Dispose()
        {
            _process.Dispose();
        }
    }

    /// <summary>A program that another part of this process started, before its managed state was thrown away.</summary>
    internal sealed class AdoptedChild : ChildProcess
    {
        private const double SameStartS = 2.0;
        private const long HundredthTicks = TimeSpan.TicksPerSecond / 100;

        private readonly Process _process;
        private readonly int _pid;

        private AdoptedChild(Process process, int pid)
        {
            _process = process;
            _pid = pid;
        }

        /// <summary>The process of that number, where it is the one that started then; else null.</summary>
        internal static AdoptedChild Find(int pid, long startedTicks)
        {
            Process process = null;
            try
            {
                process = Process.GetProcessById(pid);
                long difference = Math.Abs(StartOf(process) - startedTicks);
                if (!process.HasExited && (startedTicks == 0 || difference < SameStartS * TimeSpan.TicksPerSecond))
                {
                    AdoptedChild found = new AdoptedChild(process, pid);
                    process = null;
                    return found;
                }
            }
            catch (ArgumentException)
            {
                // There is none.
            }
            catch (InvalidOperationException)
            {
                // It has just ended.
            }
            catch (Win32Exception)
            {
                // It is somebody else's.
            }
            catch (NotSupportedException)
            {
                // This runtime cannot look at processes.
            }
            finally
            {
                if (process != null)
                {
                    process.Dispose();
                }
            }
            return null;
        }

        /// <summary>When a process started, as it is compared with later; 0: nobody knows.</summary>
        internal static long StartOf(int pid)
        {
            try
            {
                using (Process process = Process.GetProcessById(pid))
                {
                    return StartOf(process);
                }
            }
            catch (ArgumentException)
            {
                return 0;
            }
            catch (InvalidOperationException)
            {
                return 0;
            }
            catch (Win32Exception)
            {
                return 0;
            }
            catch (NotSupportedException)
            {
                return 0;
            }
        }

        private static long StartOf(Process process)
        {
            long sinceBoot = StartSinceBoot(process.Id);
            return sinceBoot > 0 ? sinceBoot : process.StartTime.ToUniversalTime().Ticks;
        }

        /// <summary>
        /// As Linux has it, in hundredths of a second since it started: the time of day that runtimes make of it is another
        /// one once the clock was set. 0: this system does not say.
        /// </summary>
        private static long StartSinceBoot(int pid)
        {
            const int startField = 19;
            try
            {
                string path = "/proc/" + pid.ToString(CultureInfo.InvariantCulture) + "/stat";
                if (Platform.IsWindows || !File.Exists(path))
                {
                    return 0;
                }
                string text = File.ReadAllText(path);
                // Behind the program's name, which may hold anything.
                string[] fields = text.Substring(text.LastIndexOf(')') + 1).Trim().Split(' ');
                long start;
                return fields.Length > startField
                    && long.TryParse(fields[startField], NumberStyles.None, CultureInfo.InvariantCulture, out start)
                    ? start * HundredthTicks
                    : 0;
            }
            catch (IOException)
            {
                return 0;
            }
            catch (UnauthorizedAccessException)
            {
                return 0;
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
            get { return null; }
        }

        /// <inheritdoc/>
        public override Stream Errors
        {
            get { return null; }
        }

        /// <inheritdoc/>
        public override int? ExitCode
        {
            get
            {
                try
                {
                    return _process.HasExited ? _process.ExitCode : (int?)null;
                }
                catch (InvalidOperationException)
                {
                    return null;
                }
                catch (Win32Exception)
                {
                    return null;
                }
            }
        }

        /// <inheritdoc/>
        public override bool WaitForExit(int milliseconds)
        {
            try
            {
                return _process.WaitForExit(milliseconds);
            }
            catch (InvalidOperationException)
            {
                return true;
            }
            catch (Win32Exception)
            {
                return true;
            }
        }

        /// <inheritdoc/>
        public override void Kill()
        {
            try
            {
                _process.Kill();
            }
            catch (InvalidOperationException)
            {
                // It has ended.
            }
            catch (Win32Exception)
            {
                // It is about to end.
            }
        }

        /// <inheritdoc/>
        public override void Dispose()
        {
            _process.Dispose();
        }
    }
}
