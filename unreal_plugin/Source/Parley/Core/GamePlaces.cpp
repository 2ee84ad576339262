// How the folders of a game are found.
#include "Core/GamePlaces.h"

#include "Core/Platform.h"

#include <algorithm>

namespace Parley
{

namespace GamePlacesLocal
{

constexpr std::string_view SidecarFolder = "sidecar";
constexpr std::string_view EditorSidecarFolder = "Sidecar";
constexpr std::string_view CatalogName = "models.json";
constexpr std::string_view Marker = "sidecar.json";
constexpr std::string_view Program = "parley";

std::string ProgramFile()
{
    return std::string(Program) + (Platform::IsWindows ? ".exe" : "");
}

/// The folder, or those in it that are for machines like this, the best first.
std::vector<std::string> Inside(const std::string& Folder)
{
    std::vector<std::string> Found;
    if (!Platform::IsFolder(Folder))
    {
        return Found;
    }
    if (!Platform::IsFile(Platform::Combine(Folder, Marker)))
    {
        const std::string_view Prefix = Platform::IsWindows ? "win-" : Platform::IsMac ? "macos-" : "linux-";
        for (const std::string& Name : Platform::FoldersIn(Folder))
        {
            if (Name.compare(0, Prefix.size(), Prefix) == 0)
            {
                Found.push_back(Platform::Combine(Folder, Name));
            }
        }
        std::sort(Found.begin(), Found.end());
        if (!Platform::IsMac)
        {
            // x64 goes before arm64.
            std::reverse(Found.begin(), Found.end());
        }
    }
    Found.push_back(Folder);
    return Found;
}

} // namespace GamePlacesLocal

std::vector<std::string> GamePlaces::SidecarFolders(std::string_view SidecarFolder) const
{
    std::vector<std::string> Folders;
    if (IsEditor)
    {
        if (!SidecarFolder.empty())
        {
            Folders.push_back(Platform::FullPath(Platform::Combine(ProjectFolder, SidecarFolder)));
        }
        if (!PluginFolder.empty())
        {
            Folders.push_back(Platform::Combine(PluginFolder, GamePlacesLocal::EditorSidecarFolder));
        }
        return Folders;
    }
    for (const std::string& Folder : PlayerFolders())
    {
        Folders.push_back(Platform::Combine(Folder, GamePlacesLocal::SidecarFolder));
    }
    if (!PluginFolder.empty())
    {
        Folders.push_back(Platform::Combine(PluginFolder, GamePlacesLocal::EditorSidecarFolder));
    }
    return Folders;
}

std::string GamePlaces::FindSidecar(std::string_view SidecarFolder) const
{
    for (const std::string& Folder : SidecarFolders(SidecarFolder))
    {
        for (const std::string& Candidate : GamePlacesLocal::Inside(Folder))
        {
            std::string File = Platform::Combine(Candidate, GamePlacesLocal::ProgramFile());
            if (Platform::IsFile(File))
            {
                return File;
            }
        }
    }
    return "";
}

std::string GamePlaces::DefaultSidecar(std::string_view SidecarFolder) const
{
    const std::vector<std::string> Folders = SidecarFolders(SidecarFolder);
    return IsEditor || Folders.empty() ? std::string(GamePlacesLocal::Program)
                                       : Platform::Combine(Folders.front(), GamePlacesLocal::ProgramFile());
}

std::string GamePlaces::NoSidecar(std::string_view SidecarFolder) const
{
    std::string Looked;
    for (const std::string& Folder : SidecarFolders(SidecarFolder))
    {
        Looked += (Looked.empty() ? "in " : " and ") + Folder;
    }
    return "Parley's sidecar is not there; it was looked for " + (Looked.empty() ? "nowhere" : Looked)
        + (IsEditor ? " and on the PATH. Make it with `parley package sidecar --out DIR` and name that folder in Project "
                      "Settings > Plugins > Parley > Sidecar Folder, or name a command in Editor Command."
                    : ". Was the whole folder of the game copied?");
}

std::string GamePlaces::FindCatalog(std::string_view CatalogFile) const
{
    if (IsEditor)
    {
        return CatalogFile.empty() ? "" : Platform::FullPath(Platform::Combine(ProjectFolder, CatalogFile));
    }
    if (!CatalogFile.empty() && !Platform::IsWhole(CatalogFile))
    {
        // What lies in the project keeps its place in a packaged game.
        std::string Staged = Platform::FullPath(Platform::Combine(ProjectFolder, CatalogFile));
        if (Platform::IsFile(Staged))
        {
            return Staged;
        }
    }
    for (const std::string& Folder : PlayerFolders())
    {
        std::string Catalog = Platform::Combine(Folder, GamePlacesLocal::CatalogName);
        if (Platform::IsFile(Catalog))
        {
            return Catalog;
        }
    }
    return "";
}

std::string GamePlaces::FindStorage(std::string_view StorageFolder) const
{
    return StorageFolder.empty() ? "" : Platform::FullPath(Platform::Combine(ContentFolder, StorageFolder));
}

std::vector<std::string> GamePlaces::PlayerFolders() const
{
    std::vector<std::string> Folders;
    if (!ProjectFolder.empty())
    {
        Folders.push_back(Platform::Combine(ProjectFolder, PlayerFolder));
        // Where Parley.Build.cs copies the sidecar that the settings name.
        Folders.push_back(Platform::Combine(Platform::Combine(ProjectFolder, "Binaries"), PlayerFolder));
    }
    if (!ProgramFolder.empty())
    {
        Folders.push_back(Platform::Combine(ProgramFolder, PlayerFolder));
    }
    return Folders;
}

} // namespace Parley
