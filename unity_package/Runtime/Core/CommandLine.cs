// Arguments as one command line, quoted for whoever takes it apart again.
using System;
using System.Collections.Generic;
using System.Text;

namespace Parley
{
    /// <summary>
    /// Makes one string of many arguments. Windows programs split theirs by the rules of the C runtime; Mono on Unix
    /// splits by those of a shell; a later .NET on Unix splits by those of Windows.
    /// </summary>
    public static class CommandLine
    {
        /// <summary>For the Process class of the runtime that runs this.</summary>
        public static string Join(IEnumerable<string> arguments)
        {
            return Platform.IsWindows || Type.GetType("Mono.Runtime") == null
                ? JoinForWindows(arguments)
                : JoinForShell(arguments);
        }

        /// <summary>By the rules of the C runtime: backslashes count only in front of a quote.</summary>
        public static string JoinForWindows(IEnumerable<string> arguments)
        {
            StringBuilder line = new StringBuilder();
            foreach (string argument in arguments)
            {
                Begin(line, argument);
                line.Append('"');
                int backslashes = 0;
                foreach (char letter in argument)
                {
                    if (letter == '\\')
                    {
                        backslashes++;
                        continue;
                    }
                    line.Append('\\', letter == '"' ? 2 * backslashes + 1 : backslashes);
                    backslashes = 0;
                    line.Append(letter);
                }
                line.Append('\\', 2 * backslashes);
                line.Append('"');
            }
            return line.ToString();
        }

        /// <summary>By the rules of a shell, of which Mono knows quotes and backslashes.</summary>
        public static string JoinForShell(IEnumerable<string> arguments)
        {
            StringBuilder line = new StringBuilder();
            foreach (string argument in arguments)
            {
                Begin(line, argument);
                line.Append('"');
                foreach (char letter in argument)
                {
                    // Between double quotes these four, and no others, are what a backslash takes the meaning of.
                    if (letter == '"' || letter == '\\' || letter == '$' || letter == '`')
                    {
                        line.Append('\\');
                    }
                    line.Append(letter);
                }
                line.Append('"');
            }
            return line.ToString();
        }

        private static void Begin(StringBuilder line, string argument)
        {
            if (argument.IndexOf('\0') >= 0)
            {
                throw new ArgumentException("an argument of a program cannot hold the character U+0000");
            }
            if (line.Length > 0)
            {
                line.Append(' ');
            }
        }
    }
}
