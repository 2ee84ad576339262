// How the game has its sidecar: Project Settings > Plugins > Parley.
#pragma once

#include "CoreMinimal.h"
#include "Engine/DeveloperSettings.h"
#include "ParleyTypes.h"

#include "ParleySettings.generated.h"

namespace Parley
{
struct GamePlaces;
struct SidecarOptions;
} // namespace Parley

/** The settings of the project, in DefaultGame.ini. */
UCLASS(Config = Game, DefaultConfig, meta = (DisplayName = "Parley"))
class PARLEY_API UParleySettings : public UDeveloperSettings
{
    GENERATED_BODY()

public:
    UParleySettings();

    /** Start a sidecar with the game. Off: connect to Endpoint. */
    UPROPERTY(Config, EditAnywhere, BlueprintReadOnly, Category = "Sidecar")
    bool bAutoLaunch = true;

    /** Where a sidecar of somebody else listens, such as tcp://127.0.0.1:5600. Only with Auto Launch off. */
    UPROPERTY(Config, EditAnywhere, BlueprintReadOnly, Category = "Sidecar", meta = (EditCondition = "!bAutoLaunch"))
    FString Endpoint;

    /** The token of that sidecar. It would be in every copy of a packaged game: for development only. */
    UPROPERTY(Config, EditAnywhere, BlueprintReadOnly, Category = "Sidecar", meta = (EditCondition = "!bAutoLaunch"))
    FString Token;

    /** The public key of that sidecar where it encrypts. Empty: it does not. */
    UPROPERTY(Config, EditAnywhere, BlueprintReadOnly, Category = "Sidecar", meta = (EditCondition = "!bAutoLaunch"))
    FString ServerPublicKey;

    /** In the editor: the folder that `parley package sidecar` made, whole or from the project on. Packaging copies it into the game. */
    UPROPERTY(Config, EditAnywhere, BlueprintReadOnly, Category = "Sidecar", meta = (EditCondition = "bAutoLaunch"))
    FString SidecarFolder;

    /** In the editor, instead of Sidecar Folder: a program and its arguments, one an entry, such as python, -m, bridge. Packaged games never use it. */
    UPROPERTY(Config, EditAnywhere, BlueprintReadOnly, Category = "Sidecar", meta = (EditCondition = "bAutoLaunch"))
    TArray<FString> EditorCommand;

    /** More arguments of `parley serve`, one an entry. */
    UPROPERTY(Config, EditAnywhere, BlueprintReadOnly, Category = "Sidecar", meta = (EditCondition = "bAutoLaunch"))
    TArray<FString> ServeArguments;

    /** So often in a row a sidecar that goes is started again. */
    UPROPERTY(Config, EditAnywhere, BlueprintReadOnly, Category = "Sidecar", meta = (ClampMin = "0", ClampMax = "100", UIMin = "0", UIMax = "10"))
    int32 MaxRestarts = 3;

    /** In the editor: keep the sidecar and its session from one Play to the next, so that the next one begins at once. */
    UPROPERTY(Config, EditAnywhere, BlueprintReadOnly, Category = "Sidecar")
    bool bKeepBetweenPlays = true;

    /** Put the sidecar, and the models of Models Folder, into a packaged game. */
    UPROPERTY(Config, EditAnywhere, BlueprintReadOnly, Category = "Sidecar")
    bool bIncludeSidecarInBuilds = true;

    /** The game's own catalog of models (models.json), whole or from the project on. Empty: it has none. */
    UPROPERTY(Config, EditAnywhere, BlueprintReadOnly, Category = "Files")
    FString CatalogFile;

    /** Where models are kept, whole or from the project on. A packaged game takes along what lies in the project. Empty: in the user's cache folder. */
    UPROPERTY(Config, EditAnywhere, BlueprintReadOnly, Category = "Files")
    FString ModelsFolder;

    /** The folder below Content with the files that workflows name. Empty: they name none. */
    UPROPERTY(Config, EditAnywhere, BlueprintReadOnly, Category = "Files")
    FString StorageFolder = TEXT("Parley/storage");

    /** Whether a running game may download models. */
    UPROPERTY(Config, EditAnywhere, BlueprintReadOnly, Category = "Files")
    bool bAllowModelDownload = false;

    /** What the sidecar's log calls the game. Empty: the project's name. */
    UPROPERTY(Config, EditAnywhere, BlueprintReadOnly, Category = "Game")
    FString GameName;

    /** Milliseconds of a frame that answers may take. */
    UPROPERTY(Config, EditAnywhere, BlueprintReadOnly, Category = "Game", meta = (ClampMin = "0.1", ClampMax = "10.0", UIMin = "0.1", UIMax = "10.0"))
    float BudgetMs = 1.0f;

    /** What of Parley's log comes into the output log. */
    UPROPERTY(Config, EditAnywhere, BlueprintReadOnly, Category = "Game")
    EParleyLogLevel LogLevel = EParleyLogLevel::Warning;

    /** The settings of the project. */
    UFUNCTION(BlueprintPure, Category = "Parley", meta = (DisplayName = "Get Parley Settings"))
    static const UParleySettings* Get();

    virtual FName GetCategoryName() const override;

    /// BudgetMs within its bounds, whatever the file says.
    double GetBudgetMs() const;

    /// Where this game has its files, as the engine says.
    static Parley::GamePlaces GetPlaces();

    /// What starts the sidecar on this machine. Where none is found it names the first place that was looked at. False: a
    /// path in the settings is none, as the fault (SettingsInvalid) says.
    bool ToLaunch(const Parley::GamePlaces& Places, Parley::SidecarOptions& Out, FParleyFault& Fault) const;

    /// The folder of storages, whole; empty: the game has none. False: the path is none.
    bool ToStorage(const Parley::GamePlaces& Places, FString& Out, FParleyFault& Fault) const;

    /// The editor starts a command rather than a packaged sidecar.
    bool UsesCommand(const Parley::GamePlaces& Places) const;

    /// A path as it was meant: what was pasted often has spaces around it, or the quotes that Windows copies it with.
    static FString Clean(const FString& Path);
};
