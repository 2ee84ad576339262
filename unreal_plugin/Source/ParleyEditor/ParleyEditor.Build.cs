// How the editor module of Parley is built.
using UnrealBuildTool;

public class ParleyEditor : ModuleRules
{
    public ParleyEditor(ReadOnlyTargetRules Target) : base(Target)
    {
        PCHUsage = PCHUsageMode.UseExplicitOrSharedPCHs;

        PublicDependencyModuleNames.AddRange(new string[]
        {
            "Core",
            "CoreUObject",
            "Engine",
            "Parley",
        });

        PrivateDependencyModuleNames.AddRange(new string[]
        {
            "ApplicationCore",
            "AssetRegistry",
            "AssetTools",
            "DataValidation",
            "DesktopPlatform",
            "InputCore",
            "Projects",
            "PropertyEditor",
            "Slate",
            "SlateCore",
            "ToolMenus",
            "UnrealEd",
            "WorkspaceMenuStructure",
        });
    }
}
