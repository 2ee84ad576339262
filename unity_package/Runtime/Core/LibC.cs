// The C library's name.
namespace Parley
{
    /// <summary>What to import the system's C library by.</summary>
    internal static class LibC
    {
#if UNITY_STANDALONE_LINUX && !UNITY_EDITOR
        /// <summary>IL2CPP looks for the very name; where developer tools are, libc.so is a text.</summary>
        internal const string Name = "libc.so.6";
#else
        /// <summary>Mono and macOS know which file that is.</summary>
        internal const string Name = "libc";
#endif
    }
}
