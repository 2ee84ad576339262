// How a sidecar of the game's own is started.
using System.Collections.Generic;

namespace Parley
{
    /// <summary>What to start, and how long to wait for it.</summary>
    public sealed class SidecarOptions
    {
        /// <summary>The program: a path, or a name that PATH knows.</summary>
        public string Executable = "";

        /// <summary>What it is started with, `serve` included. `--owner-pid` and `--ready-file` are added.</summary>
        public List<string> Arguments = new List<string> { "serve" };

        /// <summary>What its environment has beside this process's; a null takes a variable away.</summary>
        public Dictionary<string, string> Environment = new Dictionary<string, string>();

        /// <summary>Where it runs; empty: where this process does.</summary>
        public string WorkingFolder = "";

        /// <summary>A file that the ready line is read from too, for programs whose stdout does not arrive here; empty: none.</summary>
        public string ReadyFile = "";

        /// <summary>The process with which it ends; 0: this one, negative: none.</summary>
        public int OwnerPid;

        /// <summary>Seconds within which it must be ready.</summary>
        public double StartTimeoutS = 30.0;

        /// <summary>Start it without the Process class, which IL2CPP does not have; null: as the scripting backend needs.</summary>
        public bool? IsNative;

        /// <summary>The same once more, so that what changes afterwards does not change a start that has begun.</summary>
        public SidecarOptions Copy()
        {
            SidecarOptions copy = (SidecarOptions)MemberwiseClone();
            copy.Arguments = new List<string>(Arguments);
            copy.Environment = new Dictionary<string, string>(Environment);
            return copy;
        }
    }
}
