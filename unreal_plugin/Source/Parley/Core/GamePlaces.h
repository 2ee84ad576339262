// Where a game has its sidecar, its catalog and its storages: beside the player, or on a developer's machine.
#pragma once

#include "Core/CoreApi.h"

#include <string>
#include <string_view>
#include <vector>

namespace Parley
{

/// Finds the folders that a game needs. Made of plain paths (UTF-8), so that it asks no engine. Any thread.
struct PARLEY_CORE_API GamePlaces
{
    /// The folder of everything that a build puts into a game.
    static constexpr std::string_view PlayerFolder = "Parley";

    /// This is the editor, or a game run from it, not a packaged game.
    bool IsEditor = false;
    /// As FPaths::ProjectDir(), whole: the project; in a packaged game its staged copy.
    std::string ProjectFolder;
    /// As FPaths::ProjectContentDir(), whole.
    std::string ContentFolder;
    /// The base folder of the plugin, whole; in a packaged game its staged copy. Empty: it is not known.
    std::string PluginFolder;
    /// The folder of the executable, whole.
    std::string ProgramFolder;

    /// Folders in which a sidecar may be, the first one first.
    /// `SidecarFolder`: what the settings say, for the editor: whole, or from the project on; empty: nothing.
    std::vector<std::string> SidecarFolders(std::string_view SidecarFolder) const;
    /// The program to start. Empty: there is none in any of the folders.
    std::string FindSidecar(std::string_view SidecarFolder) const;
    /// What to try where FindSidecar found nothing: in the editor PATH, in a packaged game where it should be.
    std::string DefaultSidecar(std::string_view SidecarFolder) const;
    /// What to tell a developer, or a player, where there is no sidecar.
    std::string NoSidecar(std::string_view SidecarFolder) const;
    /// The game's catalog of models; empty: it has none.
    /// `CatalogFile`: what the settings say: whole, or from the project on. In a packaged game only from the project on.
    std::string FindCatalog(std::string_view CatalogFile) const;
    /// The folder of storages, whole; empty: the game has none.
    /// `StorageFolder`: what the settings say: whole, or from the content folder on.
    std::string FindStorage(std::string_view StorageFolder) const;

private:
    std::vector<std::string> PlayerFolders() const;
};

} // namespace Parley
