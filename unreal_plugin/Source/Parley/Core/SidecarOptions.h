// How a sidecar of the game's own is started.
#pragma once

#include "Core/CoreApi.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace Parley
{

/// What to start, and how long to wait for it. All text is UTF-8.
struct PARLEY_CORE_API SidecarOptions
{
    /// The program: a path, or a name that PATH knows.
    std::string Executable;
    /// What it is started with, `serve` included. `--owner-pid` and `--ready-file` are added.
    std::vector<std::string> Arguments = {"serve"};
    /// What its environment has beside this process's; nothing takes a variable away.
    std::map<std::string, std::optional<std::string>> Environment;
    /// Where it runs; empty: where this process does.
    std::string WorkingFolder;
    /// A file that the ready line is read from too, for programs whose stdout does not arrive here; empty: none.
    std::string ReadyFile;
    /// The process with which it ends; 0: this one, negative: none.
    int OwnerPid = 0;
    /// Seconds within which it must be ready.
    double StartTimeoutS = 30.0;
};

} // namespace Parley
