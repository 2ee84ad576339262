// What the Build.cs files use of UnrealBuildTool, declared as Epic's documentation has it
// (dev.epicgames.com/documentation/unreal-engine/module-properties-in-unreal-engine and unreal-engine-build-tool-target-reference).
using System;
using System.Collections.Generic;
using System.IO;

namespace UnrealBuildTool
{
    /// <summary>A platform that is built for; a struct with named values, not an enum, since Unreal 4.24.</summary>
    public struct UnrealTargetPlatform : IEquatable<UnrealTargetPlatform>
    {
        public static readonly UnrealTargetPlatform Win64 = new UnrealTargetPlatform("Win64");
        public static readonly UnrealTargetPlatform Mac = new UnrealTargetPlatform("Mac");
        public static readonly UnrealTargetPlatform Linux = new UnrealTargetPlatform("Linux");
        public static readonly UnrealTargetPlatform LinuxArm64 = new UnrealTargetPlatform("LinuxArm64");
        public static readonly UnrealTargetPlatform Android = new UnrealTargetPlatform("Android");

        private readonly string _name;

        internal UnrealTargetPlatform(string name)
        {
            _name = name;
        }

        public static bool operator ==(UnrealTargetPlatform left, UnrealTargetPlatform right)
        {
            return left._name == right._name;
        }

        public static bool operator !=(UnrealTargetPlatform left, UnrealTargetPlatform right)
        {
            return left._name != right._name;
        }

        public bool Equals(UnrealTargetPlatform other)
        {
            return _name == other._name;
        }

        public override bool Equals(object other)
        {
            return other is UnrealTargetPlatform && Equals((UnrealTargetPlatform)other);
        }

        public override int GetHashCode()
        {
            return _name.GetHashCode();
        }

        public override string ToString()
        {
            return _name;
        }
    }

    public enum TargetType
    {
        Game,
        Editor,
        Client,
        Server,
        Program
    }

    public enum UnrealTargetConfiguration
    {
        Debug,
        DebugGame,
        Development,
        Test,
        Shipping
    }

    public enum CppStandardVersion
    {
        Cpp17,
        Cpp20,
        Latest
    }

    public enum StagedFileType
    {
        UFS,
        NonUFS,
        DebugNonUFS,
        SystemNonUFS
    }

    public enum ConfigHierarchyType
    {
        Game,
        Engine,
        Editor
    }

    public static class ConfigCache
    {
        public static ConfigHierarchy ReadHierarchy(
            ConfigHierarchyType type, DirectoryReference projectDirectory, UnrealTargetPlatform platform)
        {
            return new ConfigHierarchy(Path.Combine(projectDirectory.FullName, "Config/Default" + type + ".ini"));
        }
    }

    /// <summary>Of the hierarchy only the project's own file.</summary>
    public sealed class ConfigHierarchy
    {
        private readonly Dictionary<string, string> _values = new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase);

        internal ConfigHierarchy(string file)
        {
            string section = "";
            foreach (string line in File.Exists(file) ? File.ReadAllLines(file) : new string[0])
            {
                int equals = line.IndexOf('=');
                if (line.StartsWith("[", StringComparison.Ordinal))
                {
                    section = line.Trim('[', ']');
                }
                else if (equals > 0)
                {
                    _values[section + " " + line.Substring(0, equals).Trim()] = line.Substring(equals + 1).Trim();
                }
            }
        }

        public bool GetString(string sectionName, string keyName, out string value)
        {
            return _values.TryGetValue(sectionName + " " + keyName, out value);
        }

        public bool GetBool(string sectionName, string keyName, out bool value)
        {
            string text;
            value = GetString(sectionName, keyName, out text) && text == "True";
            return text != null;
        }
    }

    /// <summary>In EpicGames.Core; here so that no second assembly is needed.</summary>
    public sealed class DirectoryReference
    {
        public readonly string FullName;

        public DirectoryReference(string path)
        {
            FullName = System.IO.Path.GetFullPath(path);
        }

        public override string ToString()
        {
            return FullName;
        }
    }

    public sealed class FileReference
    {
        public readonly string FullName;

        public FileReference(string path)
        {
            FullName = System.IO.Path.GetFullPath(path);
        }

        public DirectoryReference Directory
        {
            get { return new DirectoryReference(System.IO.Path.GetDirectoryName(FullName)); }
        }

        public override string ToString()
        {
            return FullName;
        }
    }

    public sealed class ReadOnlyTargetRules
    {
        public readonly UnrealTargetPlatform Platform;
        public readonly TargetType Type;
        public readonly UnrealTargetConfiguration Configuration = UnrealTargetConfiguration.Development;
        public readonly FileReference ProjectFile;

        public ReadOnlyTargetRules(UnrealTargetPlatform platform, TargetType type, FileReference projectFile)
        {
            Platform = platform;
            Type = type;
            ProjectFile = projectFile;
        }

        public bool bBuildEditor
        {
            get { return Type == TargetType.Editor; }
        }
    }

    public abstract class ModuleRules
    {
        public enum PCHUsageMode
        {
            Default,
            NoPCHs,
            NoSharedPCHs,
            UseSharedPCHs,
            UseExplicitOrSharedPCHs
        }

        public enum ModuleType
        {
            CPlusPlus,
            External
        }

        public sealed class RuntimeDependency
        {
            public string Path;
            public string SourcePath;
            public StagedFileType Type;
        }

        public sealed class RuntimeDependencyList
        {
            internal readonly List<RuntimeDependency> Inner = new List<RuntimeDependency>();

            public void Add(string path)
            {
                Add(path, StagedFileType.NonUFS);
            }

            public void Add(string path, StagedFileType type)
            {
                Inner.Add(new RuntimeDependency { Path = path, Type = type });
            }

            public void Add(string path, string sourcePath)
            {
                Add(path, sourcePath, StagedFileType.NonUFS);
            }

            public void Add(string path, string sourcePath, StagedFileType type)
            {
                Inner.Add(new RuntimeDependency { Path = path, SourcePath = sourcePath, Type = type });
            }
        }

        [ThreadStatic]
        internal static string CurrentModule;
        [ThreadStatic]
        internal static string CurrentPlugin;

        public readonly ReadOnlyTargetRules Target;
        public readonly string ModuleDirectory = CurrentModule;
        public readonly string PluginDirectory = CurrentPlugin;
        public ModuleType Type = ModuleType.CPlusPlus;
        public PCHUsageMode PCHUsage = PCHUsageMode.Default;
        public CppStandardVersion CppStandard = CppStandardVersion.Cpp17;
        public bool bEnableExceptions;
        public bool bUseRTTI;
        public bool bUseUnity = true;
        public readonly List<string> PublicDependencyModuleNames = new List<string>();
        public readonly List<string> PrivateDependencyModuleNames = new List<string>();
        public readonly List<string> PublicIncludePathModuleNames = new List<string>();
        public readonly List<string> PrivateIncludePathModuleNames = new List<string>();
        public readonly List<string> DynamicallyLoadedModuleNames = new List<string>();
        public readonly List<string> PublicIncludePaths = new List<string>();
        public readonly List<string> PrivateIncludePaths = new List<string>();
        public readonly List<string> PublicDefinitions = new List<string>();
        public readonly List<string> PrivateDefinitions = new List<string>();
        public readonly List<string> PublicSystemLibraries = new List<string>();
        public readonly List<string> PublicFrameworks = new List<string>();
        public readonly List<string> ExternalDependencies = new List<string>();
        public readonly RuntimeDependencyList RuntimeDependencies = new RuntimeDependencyList();

        protected ModuleRules(ReadOnlyTargetRules target)
        {
            Target = target;
        }
    }
}
