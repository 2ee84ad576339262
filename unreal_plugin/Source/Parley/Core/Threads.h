// The threads of the core, none of which may run any more when its code is unloaded.
#pragma once

#include "Core/CoreApi.h"

#include <functional>

namespace Parley
{

/// Threads that end by themselves and that nobody joins. Threading: any thread.
class PARLEY_CORE_API Threads
{
public:
    /// Begins one. `Name`: what debuggers show, at most 15 letters.
    static void Begin(const char* Name, std::function<void()> Work);
    /// Waits until none of them runs, so long at most (negative: however long); whether it came to that. Whoever unloads
    /// the code of the core calls it after the last ParleyCore is gone.
    static bool WaitForAll(int WaitMs);

    Threads() = delete;
};

} // namespace Parley
