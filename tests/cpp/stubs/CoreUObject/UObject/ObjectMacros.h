// The words of the header tool, and flags of objects and classes.
// Source: MothCocoon/FlowGraph Source/Flow/Public/FlowAsset.h (the words), MothCocoon/FlowGraph
// Source/Flow/Private/FlowAsset.cpp (flags)
#pragma once

#include "CoreMinimal.h"

#define UCLASS(...) BODY_MACRO_COMBINE(CURRENT_FILE_ID, _, __LINE__, _PROLOG)
#define UINTERFACE(...) BODY_MACRO_COMBINE(CURRENT_FILE_ID, _, __LINE__, _PROLOG)
#define USTRUCT(...)
#define UENUM(...)
#define UPROPERTY(...)
#define UFUNCTION(...)
#define UDELEGATE(...)
#define UMETA(...)
#define UPARAM(...)
#define GENERATED_BODY(...) BODY_MACRO_COMBINE(CURRENT_FILE_ID, _, __LINE__, _GENERATED_BODY)
#define ENUM_CLASS_FLAGS(Enum) \
    inline constexpr Enum operator|(Enum A, Enum B) \
    { \
        return static_cast<Enum>(static_cast<std::underlying_type_t<Enum>>(A) | static_cast<std::underlying_type_t<Enum>>(B)); \
    } \
    inline constexpr Enum operator&(Enum A, Enum B) \
    { \
        return static_cast<Enum>(static_cast<std::underlying_type_t<Enum>>(A) & static_cast<std::underlying_type_t<Enum>>(B)); \
    } \
    inline constexpr Enum operator~(Enum A) \
    { \
        return static_cast<Enum>(~static_cast<std::underlying_type_t<Enum>>(A)); \
    } \
    inline Enum& operator|=(Enum& A, Enum B) \
    { \
        return A = A | B; \
    } \
    inline Enum& operator&=(Enum& A, Enum B) \
    { \
        return A = A & B; \
    }

// Source: JonasReich/OpenUnrealUtilities Source/OUUBlueprintRuntime/Private/Core/Flags/OUUBlueprintObjectFlags.cpp
enum EObjectFlags
{
    RF_NoFlags = 0x00000000,
    RF_Public = 0x00000001,
    RF_Standalone = 0x00000002,
    RF_Transactional = 0x00000008,
    RF_ClassDefaultObject = 0x00000010,
    RF_ArchetypeObject = 0x00000020,
    RF_Transient = 0x00000040,
    RF_BeginDestroyed = 0x00008000,
    RF_FinishDestroyed = 0x00010000,
    RF_DefaultSubObject = 0x00040000,
    RF_WasLoaded = 0x00080000,
    RF_NeedLoad = 0x00000400,
    RF_NeedPostLoad = 0x00001000,
};
ENUM_CLASS_FLAGS(EObjectFlags)

// Source: JonasReich/OpenUnrealUtilities Source/OUUBlueprintRuntime/Private/Core/Flags/OUUBlueprintClassFlags.cpp
enum EClassFlags
{
    CLASS_None = 0x00000000u,
    CLASS_Abstract = 0x00000001u,
    CLASS_DefaultConfig = 0x00000002u,
    CLASS_Config = 0x00000004u,
    CLASS_EditInlineNew = 0x00001000u,
    CLASS_HideDropDown = 0x00000008u << 16,
    CLASS_Interface = 0x00004000u,
    CLASS_DefaultToInstanced = 0x00200000u,
    CLASS_Deprecated = 0x02000000u,
    CLASS_NewerVersionExists = 0x40000000u,
};
ENUM_CLASS_FLAGS(EClassFlags)

// Source: JonasReich/OpenUnrealUtilities Source/OUUBlueprintRuntime/Private/Core/Flags/OUUBlueprintPropertyFlags.cpp
enum EPropertyFlags : uint64
{
    CPF_None = 0,
    CPF_Edit = 0x0000000000000001,
    CPF_BlueprintVisible = 0x0000000000000004,
    CPF_Transient = 0x0000000000002000,
    CPF_Config = 0x0000000000004000,
    CPF_EditConst = 0x0000000000020000,
    CPF_InstancedReference = 0x0000000000080000,
    CPF_DuplicateTransient = 0x0000000000200000,
    CPF_SaveGame = 0x0000000001000000,
    CPF_BlueprintAssignable = 0x0000000010000000,
};

// Source: MothCocoon/FlowGraph Source/Flow/Private/FlowAsset.cpp (Rename(nullptr, GetTransientPackage(), REN_DontCreateRedirectors))
typedef uint32 ERenameFlags;
#define REN_None (0x0000)
#define REN_ForceNoResetLoaders (0x0001)
#define REN_Test (0x0002)
#define REN_DoNotDirty (0x0004)
#define REN_DontCreateRedirectors (0x0010)
#define REN_NonTransactional (0x0020)

// Source: JonasReich/OpenUnrealUtilities Source/OUUEditor/Private/CompileBlueprintsCommand.cpp (LOAD_NoWarn)
enum ELoadFlags
{
    LOAD_None = 0x00000000,
    LOAD_NoWarn = 0x00000002,
};
