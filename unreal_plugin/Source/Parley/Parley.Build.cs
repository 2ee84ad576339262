// How the runtime module of Parley is built, and what a packaged game takes along.
using System;
using System.Collections.Generic;
using System.IO;
using System.Text.RegularExpressions;
using UnrealBuildTool;

public class Parley : ModuleRules
{
    public Parley(ReadOnlyTargetRules Target) : base(Target)
    {
        PCHUsage = PCHUsageMode.UseExplicitOrSharedPCHs;

        // The core names its headers from here on, as in "Core/Json.h".
        PublicIncludePaths.Add(ModuleDirectory);

        PublicDependencyModuleNames.AddRange(new string[]
        {
            "AudioMixer",
            "Core",
            "CoreUObject",
            "DeveloperSettings",
            "Engine",
            "Json",
        });

        PrivateDependencyModuleNames.AddRange(new string[]
        {
            "Projects",
        });

        Stage();
    }

    // ---- what a game takes along -----------------------------------------------------------------------------

    private const string Settings = "/Script/Parley.ParleySettings";
    private const string Marker = "sidecar.json";

    /// <summary>
    /// libzmq is loaded from where it lies in the plugin when it is first needed: nothing is linked. The sidecar is another
    /// program, so it, models and storages are staged as they are, outside of paks, and keep their place.
    /// </summary>
    private void Stage()
    {
        string Libraries = "Source/ThirdParty/libzmq/" + Target.Platform;
        if (Directory.Exists(Path.Combine(PluginDirectory, Libraries)))
        {
            RuntimeDependencies.Add("$(PluginDir)/" + Libraries + "/*", StagedFileType.NonUFS);
        }
        if (Target.bBuildEditor || Target.ProjectFile == null)
        {
            return;
        }
        Watch(Path.Combine(Target.ProjectFile.Directory.FullName, "Config", "DefaultGame.ini"));
        ConfigHierarchy Config = ConfigCache.ReadHierarchy(ConfigHierarchyType.Game, Target.ProjectFile.Directory, Target.Platform);
        bool bIncludeSidecar;
        if (!Config.GetBool(Settings, "bIncludeSidecarInBuilds", out bIncludeSidecar) || bIncludeSidecar)
        {
            StageSidecar(SettingOf(Config, "SidecarFolder", ""));
            StageOfProject(SettingOf(Config, "ModelsFolder", ""));
        }
        StageOfProject(SettingOf(Config, "CatalogFile", ""));
        string Storage = SettingOf(Config, "StorageFolder", "Parley/storage");
        if (Storage.Length > 0)
        {
            StageOfProject(Path.Combine("Content", Storage));
        }
    }

    /// <summary>The sidecar that the settings name, copied to where games look for it; else the one in the plugin.</summary>
    private void StageSidecar(string Named)
    {
        int Found = 0;
        if (Named.Length > 0)
        {
            foreach (string Folder in SidecarsIn(Path.Combine(Target.ProjectFile.Directory.FullName, Named)))
            {
                string Place = "$(ProjectDir)/Binaries/Parley/sidecar/" + PlatformOf(Folder) + "/";
                Watch(Path.Combine(Folder, Marker));
                foreach (string Name in Directory.GetFiles(Folder, "*", SearchOption.AllDirectories))
                {
                    string Below = Name.Substring(Folder.Length).Replace('\\', '/').TrimStart('/');
                    RuntimeDependencies.Add(Place + Below, Name, StagedFileType.NonUFS);
                }
                Found++;
            }
        }
        if (Found == 0)
        {
            foreach (string Folder in SidecarsIn(Path.Combine(PluginDirectory, "Sidecar")))
            {
                RuntimeDependencies.Add("$(PluginDir)/Sidecar/" + Path.GetFileName(Folder) + "/...", StagedFileType.NonUFS);
                Watch(Path.Combine(Folder, Marker));
                Found++;
            }
        }
        if (Found == 0)
        {
            // No error: whoever only compiles needs none.
            Warn("there is no sidecar for " + Target.Platform + " to put into the game. On such a machine run: parley package "
                + "sidecar --out DIR, then name that folder in Project Settings > Plugins > Parley > Sidecar Folder.");
        }
    }

    /// <summary>A file or a folder of the project, which stays where it is.</summary>
    private void StageOfProject(string Named)
    {
        if (Named.Length == 0)
        {
            return;
        }
        string Root = Target.ProjectFile.Directory.FullName;
        string Whole = Path.GetFullPath(Path.Combine(Root, Named));
        string Below = Whole.Length > Root.Length ? Whole.Substring(Root.Length).Replace('\\', '/') : "";
        bool bIsInside = Whole.StartsWith(Root, StringComparison.OrdinalIgnoreCase) && Below.StartsWith("/", StringComparison.Ordinal);
        if (Path.IsPathRooted(Named) || !bIsInside)
        {
            Warn(Named + " is no path from the project's folder on, so a packaged game goes without it.");
        }
        else if (File.Exists(Whole))
        {
            RuntimeDependencies.Add("$(ProjectDir)" + Below, StagedFileType.NonUFS);
        }
        else if (Directory.Exists(Whole))
        {
            RuntimeDependencies.Add("$(ProjectDir)" + Below.TrimEnd('/') + "/...", StagedFileType.NonUFS);
        }
    }

    /// <summary>The folder itself, or those in it, that hold a sidecar for the platform that is built for.</summary>
    private List<string> SidecarsIn(string Folder)
    {
        List<string> Found = new List<string>();
        if (!Directory.Exists(Folder))
        {
            return Found;
        }
        Folder = Path.GetFullPath(Folder).TrimEnd('/', '\\');
        Found.AddRange(File.Exists(Path.Combine(Folder, Marker)) ? new string[] { Folder } : Directory.GetDirectories(Folder));
        string System = Target.Platform == UnrealTargetPlatform.Win64 ? "win-" : Target.Platform == UnrealTargetPlatform.Mac ? "macos-" : "linux-";
        Found.RemoveAll(Candidate => !PlatformOf(Candidate).StartsWith(System, StringComparison.Ordinal));
        Found.Sort(StringComparer.Ordinal);
        return Found;
    }

    /// <summary>What the folder says it is for, such as win-x64; empty: it is no sidecar's.</summary>
    private static string PlatformOf(string Folder)
    {
        string Name = Path.Combine(Folder, Marker);
        return File.Exists(Name) ? Regex.Match(File.ReadAllText(Name), "\"platform\"\\s*:\\s*\"([a-z0-9-]+)\"").Groups[1].Value : "";
    }

    /// <summary>A path as it was meant: what was pasted often has spaces around it, or quotes.</summary>
    private static string SettingOf(ConfigHierarchy Config, string Key, string Default)
    {
        string Value;
        return Config.GetString(Settings, Key, out Value) && Value != null ? Value.Trim().Trim('"').Trim() : Default;
    }

    /// <summary>Builds keep what came of this file until it changes, or one of these does.</summary>
    private void Watch(string Name)
    {
        if (File.Exists(Name))
        {
            ExternalDependencies.Add(Name);
        }
    }

    private static void Warn(string Text)
    {
        Console.WriteLine("warning: Parley: " + Text);
    }
}
