// How the settings become what the core wants: a program to start, and folders.
#include "ParleySettings.h"

#include "Core/GamePlaces.h"
#include "Core/SidecarOptions.h"
#include "HAL/PlatformProcess.h"
#include "Misc/App.h"
#include "Misc/Paths.h"
#include "ParleyModule.h"
#include "ParleyText.h"

namespace ParleySettingsLocal
{

constexpr float LeastBudgetMs = 0.1f;
constexpr float MostBudgetMs = 10.0f;

FString Whole(const FString& Path)
{
    return FPaths::ConvertRelativePathToFull(Path);
}

/// A path that no file system takes: a control character, which also a paste may bring.
bool IsPath(const FString& Path, const TCHAR* Setting, FParleyFault& Fault)
{
    for (int32 At = 0; At < Path.Len(); At++)
    {
        if (Path[At] < 0x20)
        {
            Fault = FParleyFault(
                TEXT("SettingsInvalid"),
                FString::Printf(
                    TEXT("a path in Project Settings > Plugins > Parley cannot be used: %s has a control character as its character %d"),
                    Setting,
                    At + 1));
            return false;
        }
    }
    return true;
}

FString FromProject(const Parley::GamePlaces& Places, const FString& Path)
{
    const FString Project = Parley::ToFString(Places.ProjectFolder);
    return FPaths::ConvertRelativePathToFull(Project, Path);
}

} // namespace ParleySettingsLocal

UParleySettings::UParleySettings() = default;

const UParleySettings* UParleySettings::Get()
{
    return GetDefault<UParleySettings>();
}

FName UParleySettings::GetCategoryName() const
{
    return FName(TEXT("Plugins"));
}

double UParleySettings::GetBudgetMs() const
{
    // A file may have been written by hand.
    if (!(BudgetMs >= ParleySettingsLocal::LeastBudgetMs))
    {
        return static_cast<double>(ParleySettingsLocal::LeastBudgetMs);
    }
    return static_cast<double>(BudgetMs > ParleySettingsLocal::MostBudgetMs ? ParleySettingsLocal::MostBudgetMs : BudgetMs);
}

Parley::GamePlaces UParleySettings::GetPlaces()
{
    Parley::GamePlaces Places;
#if WITH_EDITOR
    Places.IsEditor = true;
#endif
    Places.ProjectFolder = Parley::ToUtf8(ParleySettingsLocal::Whole(FPaths::ProjectDir()));
    Places.ContentFolder = Parley::ToUtf8(ParleySettingsLocal::Whole(FPaths::ProjectContentDir()));
    Places.PluginFolder = Parley::ToUtf8(FParleyModule::GetPluginFolder());
    Places.ProgramFolder = Parley::ToUtf8(ParleySettingsLocal::Whole(FPlatformProcess::BaseDir()));
    return Places;
}

FString UParleySettings::Clean(const FString& Path)
{
    FString Text = Path.TrimStartAndEnd();
    while (Text.Len() > 0 && Text[0] == TEXT('"'))
    {
        Text = Text.RightChop(1);
    }
    while (Text.Len() > 0 && Text[Text.Len() - 1] == TEXT('"'))
    {
        Text = Text.Left(Text.Len() - 1);
    }
    return Text.TrimStartAndEnd();
}

bool UParleySettings::UsesCommand(const Parley::GamePlaces& Places) const
{
    return Places.IsEditor && EditorCommand.Num() > 0 && !Clean(EditorCommand[0]).IsEmpty();
}

bool UParleySettings::ToLaunch(const Parley::GamePlaces& Places, Parley::SidecarOptions& Out, FParleyFault& Fault) const
{
    const FString Sidecar = Clean(SidecarFolder);
    const FString Catalog = Clean(CatalogFile);
    const FString Models = Clean(ModelsFolder);
    if ((!UsesCommand(Places) && !ParleySettingsLocal::IsPath(Sidecar, TEXT("Sidecar Folder"), Fault))
        || !ParleySettingsLocal::IsPath(Catalog, TEXT("Catalog File"), Fault)
        || !ParleySettingsLocal::IsPath(Models, TEXT("Models Folder"), Fault))
    {
        return false;
    }
    Parley::SidecarOptions Launch;
    Launch.Arguments.clear();
    if (UsesCommand(Places))
    {
        Launch.Executable = Parley::ToUtf8(Clean(EditorCommand[0]));
        for (int32 Index = 1; Index < EditorCommand.Num(); Index++)
        {
            Launch.Arguments.push_back(Parley::ToUtf8(EditorCommand[Index]));
        }
    }
    else
    {
        Launch.Executable = Places.FindSidecar(Parley::ToUtf8(Sidecar));
        if (Launch.Executable.empty())
        {
            Launch.Executable = Places.DefaultSidecar(Parley::ToUtf8(Sidecar));
        }
    }
    Launch.Arguments.push_back("serve");
    for (const FString& Argument : ServeArguments)
    {
        // An entry that was added to a list and never filled in is none.
        if (!Argument.IsEmpty())
        {
            Launch.Arguments.push_back(Parley::ToUtf8(Argument));
        }
    }
    const std::string FoundCatalog = Places.FindCatalog(Parley::ToUtf8(Catalog));
    if (!FoundCatalog.empty())
    {
        Launch.Environment["PARLEY_CATALOG"] = FoundCatalog;
    }
    if (!Models.IsEmpty())
    {
        // What lies in the project keeps its place in a packaged game.
        const FString Folder = ParleySettingsLocal::FromProject(Places, Models);
        if (Places.IsEditor || (FPaths::IsRelative(Models) && FPaths::DirectoryExists(Folder)))
        {
            Launch.Environment["PARLEY_MODELS_FOLDER"] = Parley::ToUtf8(Folder);
        }
    }
    Out = Launch;
    return true;
}

bool UParleySettings::ToStorage(const Parley::GamePlaces& Places, FString& Out, FParleyFault& Fault) const
{
    const FString Storage = Clean(StorageFolder);
    if (!ParleySettingsLocal::IsPath(Storage, TEXT("Storage Folder"), Fault))
    {
        return false;
    }
    const FString Found = Parley::ToFString(Places.FindStorage(Parley::ToUtf8(Storage)));
    Out = !Found.IsEmpty() && FPaths::DirectoryExists(Found) ? Found : FString();
    return true;
}
