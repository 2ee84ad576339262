// What differs between operating systems, and what a program needs to be started.
using System;
using System.IO;
using System.Runtime.InteropServices;

namespace Parley
{
    /// <summary>Where this runs.</summary>
    public static class Platform
    {
        private const int MayExecute = 1;

        /// <summary>This is Windows.</summary>
        public static bool IsWindows
        {
            get { return Path.DirectorySeparatorChar == '\\'; }
        }

        /// <summary>The number of this process. IL2CPP has no Process class to ask.</summary>
        public static int OwnPid()
        {
            return IsWindows ? unchecked((int)GetCurrentProcessId()) : getpid();
        }

        /// <summary>
        /// The file that `program` means. Throws FileNotFoundException or IOException, in words for a developer, where
        /// it cannot be started.
        /// </summary>
        public static string FindProgram(string program)
        {
            if (string.IsNullOrEmpty(program))
            {
                throw new FileNotFoundException("no sidecar program is named; set the path of `parley`");
            }
            string path = Locate(program);
            if (path == null)
            {
                throw new FileNotFoundException("the sidecar program is not there: " + program);
            }
            if (new FileInfo(path).Length == 0)
            {
                throw new IOException("the sidecar program is an empty file: " + path + "; was it copied or unpacked whole?");
            }
            if (!IsWindows && !MayBeExecuted(path))
            {
                throw new IOException(
                    "the sidecar program is not executable: " + path + "; allow it with: chmod +x \"" + path + "\"");
            }
            return path;
        }

        private static string Locate(string program)
        {
            bool isPath = program.IndexOf('/') >= 0 || (IsWindows && program.IndexOf('\\') >= 0);
            if (isPath || Path.IsPathRooted(program))
            {
                string full = Path.GetFullPath(program);
                if (File.Exists(full))
                {
                    return full;
                }
                if (IsWindows && File.Exists(full + ".exe"))
                {
                    return full + ".exe";
                }
                if (Directory.Exists(full))
                {
                    throw new IOException("the sidecar program is a folder: " + full + "; name the program in it");
                }
                return null;
            }
            string folders = Environment.GetEnvironmentVariable("PATH") ?? "";
            foreach (string folder in folders.Split(Path.PathSeparator))
            {
                if (folder.Length == 0)
                {
                    continue;
                }
                string candidate = folder.TrimEnd(Path.DirectorySeparatorChar) + Path.DirectorySeparatorChar + program;
                if (File.Exists(candidate))
                {
                    return candidate;
                }
                if (IsWindows && File.Exists(candidate + ".exe"))
                {
                    return candidate + ".exe";
                }
            }
            return null;
        }

        private static bool MayBeExecuted(string path)
        {
            try
            {
                return access(path, MayExecute) == 0;
            }
            catch (EntryPointNotFoundException)
            {
                return true;
            }
            catch (DllNotFoundException)
            {
                return true;
            }
        }

        // processthreadsapi.h of the Windows SDK.
        [DllImport("kernel32")]
        private static extern uint GetCurrentProcessId();

        // POSIX.
        [DllImport(LibC.Name)]
        private static extern int getpid();

        // POSIX; strings are UTF-8 where this is called.
        [DllImport(LibC.Name)]
        private static extern int access([MarshalAs(UnmanagedType.LPStr)] string path, int mode);
    }
}
