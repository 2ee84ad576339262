// What one Play in the editor leaves to the next: a sidecar that runs, and the session with it.
#pragma once

#include "Core/CoreOptions.h"
#include "CoreMinimal.h"

#include <memory>
#include <string>
#include <vector>

namespace Parley
{

class ParleyCore;

/// What the game made in a session that is kept: the next Play makes its own.
struct FLeftBehind
{
    std::vector<std::string> StringStorages;
    std::vector<std::string> EmbeddedStorages;
    std::vector<std::string> Models;
};

/// Keeps a sidecar and its session until the next Play takes them, or the editor ends. Its core is of no use afterwards.
/// Threading: the game's thread.
PARLEY_API void KeepPlay(const CoreOptions& Options, ParleyCore& Core);

/// Takes up what an earlier Play left, where that was started in the same way; else null, and what was left is ended. The
/// session still has what `Left` names.
PARLEY_API std::unique_ptr<ParleyCore> TakePlay(const CoreOptions& Options, FLeftBehind& Left);

/// Ends all sidecars that are kept. Waits for them, less than a second.
PARLEY_API void EndKeptPlays();

/// How many are kept.
PARLEY_API int32 CountKeptPlays();

/// Whether both start the same program in the same way.
PARLEY_API bool IsSameLaunch(const SidecarOptions& A, const SidecarOptions& B);

} // namespace Parley
