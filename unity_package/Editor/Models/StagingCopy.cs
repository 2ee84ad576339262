// Puts what a plan says beside a player, and takes away what an earlier build left there.
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;
using Newtonsoft.Json.Linq;

namespace Parley.Editor
{
    /// <summary>Copies what is not there yet. What it put there it lists, and of that alone the next build removes something.</summary>
    internal static class StagingCopy
    {
        private const string ListName = "parley-staged.json";

        /// How many files were copied. Throws IOException.
        public static int Run(StagingPlan plan, string destination, Action<StagedFile, long> onCopied)
        {
            if (plan.Problems.Count > 0)
            {
                throw new InvalidOperationException(plan.Problems[0]);
            }
            Directory.CreateDirectory(destination);
            Sweep(plan, destination);
            WriteList(plan, destination);
            var copied = 0;
            long done = 0;
            foreach (var file in plan.Files)
            {
                var target = TargetPath(destination, file.Target);
                if (!IsThere(file.Source, target))
                {
                    var folder = Path.GetDirectoryName(target);
                    Directory.CreateDirectory(folder);
                    var part = target + ".part";
                    File.Copy(file.Source, part, true);
                    File.SetAttributes(part, File.GetAttributes(part) & ~FileAttributes.ReadOnly);
                    File.SetLastWriteTimeUtc(part, File.GetLastWriteTimeUtc(file.Source));
                    if (File.Exists(target))
                    {
                        File.Delete(target);
                    }
                    File.Move(part, target);
                    copied++;
                }
                done += file.Bytes;
                if (onCopied != null)
                {
                    onCopied(file, done);
                }
            }
            MakeExecutable(TargetPath(destination, plan.Program));
            return copied;
        }

        /// What an earlier build says is the program there; empty: there was none.
        public static string ProgramIn(string destination)
        {
            string fault;
            return EditorJson.Text(EditorJson.ReadObject(Path.Combine(destination, ListName), out fault), "program");
        }

        private static bool IsThere(string source, string target)
        {
            var from = new FileInfo(source);
            var to = new FileInfo(target);
            // Some file systems keep times to two seconds.
            return to.Exists && to.Length == from.Length && Math.Abs((to.LastWriteTimeUtc - from.LastWriteTimeUtc).TotalSeconds) <= 2.0;
        }

        private static void Sweep(StagingPlan plan, string destination)
        {
            string fault;
            var before = EditorJson.ReadObject(Path.Combine(destination, ListName), out fault);
            var wanted = new HashSet<string>(StringComparer.Ordinal);
            foreach (var file in plan.Files)
            {
                wanted.Add(file.Target);
            }
            foreach (var target in EditorJson.Texts(before, "files"))
            {
                if (!BuildStaging.IsBelow(target) || wanted.Contains(target))
                {
                    continue;
                }
                var path = TargetPath(destination, target);
                if (File.Exists(path))
                {
                    File.Delete(path);
                }
            }
        }

        private static void WriteList(StagingPlan plan, string destination)
        {
            var files = new JArray();
            foreach (var file in plan.Files)
            {
                files.Add(file.Target);
            }
            var list = new JObject();
            list["program"] = plan.Program;
            list["bytes"] = plan.Bytes;
            list["files"] = files;
            File.WriteAllText(Path.Combine(destination, ListName), list.ToString() + "\n");
        }

        private static string TargetPath(string destination, string target)
        {
            return Path.Combine(destination, target.Replace('/', Path.DirectorySeparatorChar));
        }

        private static void MakeExecutable(string path)
        {
            if (Parley.Platform.IsWindows || !File.Exists(path))
            {
                return;
            }
            const int Everybody = 0x1ED; // rwxr-xr-x
            if (chmod(path, Everybody) != 0)
            {
                throw new IOException(path + " cannot be made executable; do it with: chmod +x \"" + path + "\"");
            }
        }

        // POSIX; strings are UTF-8 where this is called.
        [DllImport("libc", SetLastError = true)]
        private static extern int chmod([MarshalAs(UnmanagedType.LPStr)] string path, int mode);
    }
}
