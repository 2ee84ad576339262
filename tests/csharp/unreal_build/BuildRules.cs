// Evaluates the Build.cs files of a plugin for one target, as UnrealBuildTool does, and prints what they ask for.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;

namespace UnrealBuildTool
{
    /// <summary>Arguments: the plugin's folder, a platform, a type of target, the project's .uproject or nothing.</summary>
    public static class BuildRules
    {
        public static int Main(string[] arguments)
        {
            string plugin = Path.GetFullPath(arguments[0]);
            UnrealTargetPlatform platform = new UnrealTargetPlatform(arguments[1]);
            TargetType type = (TargetType)Enum.Parse(typeof(TargetType), arguments[2]);
            FileReference project = arguments.Length > 3 ? new FileReference(arguments[3]) : null;
            ReadOnlyTargetRules target = new ReadOnlyTargetRules(platform, type, project);
            foreach (Type found in Assembly.GetExecutingAssembly().GetTypes())
            {
                if (!found.IsSubclassOf(typeof(ModuleRules)))
                {
                    continue;
                }
                ModuleRules.CurrentPlugin = plugin;
                ModuleRules.CurrentModule = Path.Combine(Path.Combine(plugin, "Source"), found.Name);
                Print((ModuleRules)Activator.CreateInstance(found, target));
            }
            return 0;
        }

        private static void Print(ModuleRules module)
        {
            string name = module.GetType().Name;
            foreach (ModuleRules.RuntimeDependency staged in module.RuntimeDependencies.Inner)
            {
                Console.WriteLine(name + "\tstage\t" + staged.Type + "\t" + staged.Path + "\t" + (staged.SourcePath ?? ""));
            }
            Each(name, "depends", module.PublicDependencyModuleNames);
            Each(name, "depends", module.PrivateDependencyModuleNames);
            Each(name, "include", module.PublicIncludePaths);
            Each(name, "include", module.PrivateIncludePaths);
            Each(name, "watch", module.ExternalDependencies);
            Each(name, "define", module.PublicDefinitions);
            Each(name, "define", module.PrivateDefinitions);
        }

        private static void Each(string name, string what, List<string> values)
        {
            foreach (string value in values)
            {
                Console.WriteLine(name + "\t" + what + "\t" + value);
            }
        }
    }
}
