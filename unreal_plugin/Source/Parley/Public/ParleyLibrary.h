// ZeroMQ's library as the module has loaded it, for whoever makes a core.
#pragma once

#include "CoreMinimal.h"
#include "Core/ZmqApi.h"

#include <memory>

namespace Parley
{

/// Null: it is not there; LibraryTrouble says why. Threading: the game's thread.
PARLEY_API std::shared_ptr<const ZmqApi> GetLibrary();

/// Why there is no library, in one sentence; empty: there is one.
PARLEY_API FString GetLibraryTrouble();

/// The module says what it has loaded, or why it has not.
PARLEY_API void SetLibrary(std::shared_ptr<const ZmqApi> Api, const FString& Trouble);

} // namespace Parley
