"""Words and types that Unreal's header tool and build tool know, as far as the plugin could use them."""

from __future__ import annotations

import re
from collections.abc import Mapping

CLASS_WORDS = frozenset(
    "Abstract BlueprintType NotBlueprintType Blueprintable NotBlueprintable ClassGroup HideCategories "
    "ShowCategories CollapseCategories DontCollapseCategories AutoExpandCategories EditInlineNew "
    "NotEditInlineNew DefaultToInstanced MinimalAPI Config DefaultConfig Transient NonTransient Within "
    "HideDropdown Placeable NotPlaceable Const Deprecated AdvancedClassDisplay HideFunctions "
    "ShowFunctions ConfigDoNotCheckDefaults ComponentWrapperClass Intrinsic DisplayName".lower().split()
)
STRUCT_WORDS = frozenset("BlueprintType NoExport Atomic HasDefaults HasNoOpConstructor DisplayName".lower().split())
ENUM_WORDS = frozenset("BlueprintType Flags DisplayName".lower().split())
INTERFACE_WORDS = frozenset("BlueprintType Blueprintable NotBlueprintable MinimalAPI DisplayName".lower().split())
PROPERTY_WORDS = frozenset(
    "EditAnywhere EditDefaultsOnly EditInstanceOnly VisibleAnywhere VisibleDefaultsOnly "
    "VisibleInstanceOnly BlueprintReadWrite BlueprintReadOnly BlueprintAssignable BlueprintCallable "
    "BlueprintGetter BlueprintSetter Category Transient DuplicateTransient NonTransactional Config "
    "GlobalConfig Instanced SaveGame SkipSerialization AdvancedDisplay SimpleDisplay EditFixedSize "
    "NoClear Export NonPIEDuplicateTransient TextExportTransient Replicated ReplicatedUsing "
    "AssetRegistrySearchable Interp DisplayName".lower().split()
)
FUNCTION_WORDS = frozenset(
    "BlueprintCallable BlueprintPure BlueprintNativeEvent BlueprintImplementableEvent "
    "BlueprintInternalUseOnly Category CallInEditor Exec BlueprintAuthorityOnly BlueprintCosmetic "
    "BlueprintGetter BlueprintSetter DisplayName CustomThunk".lower().split()
)
META_WORDS = frozenset(
    "ToolTip ShortToolTip DisplayName ClampMin ClampMax UIMin UIMax Units Delta Multiple SliderExponent "
    "EditCondition EditConditionHides InlineEditConditionToggle HideEditConditionToggle MultiLine "
    "FilePathFilter RelativeToGameDir RelativePath ContentDir LongPackageName TitleProperty "
    "NoElementDuplicate ArrayClamp AllowPrivateAccess ExposeOnSpawn AllowedClasses DisallowedClasses "
    "GetOptions GetKeyOptions GetValueOptions ShowOnlyInnerProperties ShowInnerProperties ForceInlineRow "
    "ForceRebuildProperty EditFixedOrder Bitmask BitmaskEnum NoResetToDefault PasswordField "
    "ConfigRestartRequired MetaClass MustImplement BlueprintSpawnableComponent BlueprintInternalUseOnly "
    "BlueprintThreadSafe BlueprintProtected IsBlueprintBase ChildCanTick ScriptName Keywords "
    "CompactNodeTitle WorldContext DefaultToSelf HidePin HideSelfPin Latent LatentInfo AutoCreateRefTerm "
    "AdvancedDisplay ReturnDisplayName ExpandEnumAsExecs ExpandBoolAsExecs DeterminesOutputType "
    "CannotImplementInterfaceInBlueprint CallableWithoutWorldContext ShowWorldContextPin "
    "UnsafeDuringActorConstruction DevelopmentOnly DeprecatedFunction DeprecatedProperty "
    "DeprecationMessage HasDedicatedAsyncNode ExposedAsyncProxy DontUseGenericSpawnObject "
    "DisableNativeTick CPP_Default CommutativeAssociativeBinaryOperator BlueprintAutocast NativeMakeFunc "
    "NativeBreakFunc HasNativeMake HasNativeBreak DisableSplitPin Hidden DisplayPriority "
    "PrioritizeCategories".lower().split()
)
OWN_META = "Parley"
"""Metadata of the plugin itself begins so; the engine takes any word, but a misspelt one does nothing."""

SIMPLE = frozenset(
    [
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float",
        "double",
        "FString",
        "FName",
        "FText",
        "FVector",
        "FVector2D",
        "FRotator",
        "FTransform",
        "FColor",
        "FLinearColor",
        "FGuid",
        "FDateTime",
        "FTimespan",
        "FSoftObjectPath",
        "FSoftClassPath",
        "FDirectoryPath",
        "FFilePath",
        "FJsonObjectWrapper",
        "FTimerHandle",
        "FKey",
        "FSlateBrush",
        "FSlateFontInfo",
    ]
)
NOT_FOR_BLUEPRINT = frozenset(["int8", "int16", "uint16", "uint32", "uint64"])
ENGINE_PROPERTIES: Mapping[str, frozenset[str]] = {
    "AActor": frozenset(
        "Owner Instigator Children RootComponent Tags Layers PrimaryActorTick CustomTimeDilation "
        "InitialLifeSpan bHidden NetUpdateFrequency Role RemoteRole OnTakeAnyDamage OnDestroyed OnEndPlay "
        "InputComponent PivotOffset".lower().split()
    ),
    "UActorComponent": frozenset(
        "PrimaryComponentTick ComponentTags AssetUserData bAutoActivate bIsActive bEditableWhenInherited "
        "CreationMethod OnComponentActivated OnComponentDeactivated bReplicates".lower().split()
    ),
    "USceneComponent": frozenset(
        "AttachParent AttachChildren AttachSocketName RelativeLocation RelativeRotation RelativeScale3D "
        "ComponentVelocity bVisible bHiddenInGame Mobility DetailMode PhysicsVolumeChangedDelegate".lower().split()
    ),
    "UFactory": frozenset(
        "SupportedClass ContextClass Formats ImportPriority bCreateNew bEditAfterNew bText".lower().split()
    ),
    "UDataAsset": frozenset(["nativeclass"]),
}
"""Names that a function's parameter or a property of a class derived from these may not have."""
ENGINE_BASES: Mapping[str, str] = {"USceneComponent": "UActorComponent", "UAudioComponent": "USceneComponent"}
ENGINE_MODULES = frozenset(
    [
        "Core",
        "CoreUObject",
        "Engine",
        "Json",
        "JsonUtilities",
        "DeveloperSettings",
        "Projects",
        "AudioMixer",
        "AudioExtensions",
        "SignalProcessing",
        "Slate",
        "SlateCore",
        "InputCore",
        "UnrealEd",
        "PropertyEditor",
        "AssetTools",
        "AssetRegistry",
        "ToolMenus",
        "WorkspaceMenuStructure",
        "DesktopPlatform",
        "ApplicationCore",
        "DataValidation",
        "EditorWidgets",
        "EditorStyle",
        "EditorSubsystem",
        "ContentBrowser",
        "AssetDefinition",
        "UMG",
        "Settings",
        "LevelEditor",
        "Kismet",
        "BlueprintGraph",
        "GraphEditor",
        "ToolWidgets",
        "RenderCore",
        "RHI",
    ]
)
CORE_MAY_INCLUDE: Mapping[str, frozenset[str]] = {
    "Core/WindowsHeader.h": frozenset(
        ["CoreTypes.h", "Windows/AllowWindowsPlatformTypes.h", "Windows/HideWindowsPlatformTypes.h"]
    )
}
"""Headers of the engine that a file of the core includes where there is one: those that tame windows.h."""
WINDOWS_MACROS = frozenset(
    re.findall(
        r"\w+",
        "AddJob AppendMenu BeginUpdateResource BuildCommDcb CharLower CharNext CharUpper CopyFile "
        "CreateDialog CreateDirectory  CreateEvent CreateFile CreateFont CreateMutex CreateProcess "
        "CreateService CreateWindow DeleteFile DialogBox  DispatchMessage DrawText EnumFonts ExitWindows "
        "FindFirstFile FindResource FindText FindWindow FormatMessage  GetBinaryType GetClassName "
        "GetCommandLine GetComputerName GetCurrentDirectory GetCurrentTime GetEnvironmentStrings "
        "GetEnvironmentVariable GetFileAttributes GetFreeSpace GetFullPathName GetJob GetMessage "
        "GetModuleHandle GetObject  GetProp GetTempFileName GetTempPath GetUserName GetVersionEx InsertMenu "
        "LoadImage LoadLibrary LoadMenu LoadString  MessageBox MoveFile OpenEvent OpenService PeekMessage "
        "PlaySound PostMessage RegisterClass RemoveDirectory RemoveProp  ReplaceFile ReplaceText ReportEvent "
        "SendMessage SetCurrentDirectory SetEnvironmentVariable SetJob SetPort SetProp  StartDoc StartService "
        "UpdateResource Yield DELETE ERROR IN OUT OPTIONAL far near",
    )
)
"""What windows.h makes macros: a function or a member of such a name is another one behind windows.h than elsewhere."""
ALLOWED_CONDITIONS = frozenset({"", "WITH_EDITOR", "WITH_EDITORONLY_DATA"})
NUMBER = re.compile(r"^-?\d+(\.\d+)?$")
