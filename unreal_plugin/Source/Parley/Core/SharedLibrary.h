// A shared library that is loaded by its path.
#pragma once

#include "Core/CoreApi.h"

#include <string>

namespace Parley::SharedLibrary
{

/// Loads it for as long as the process lasts; the path is UTF-8. What it needs is looked for beside it as well. Null: `Why`
/// has the system's words.
PARLEY_CORE_API void* Open(const std::string& Path, std::string& Why);

/// What the library exports under a name, or null.
PARLEY_CORE_API void* Find(void* Library, const char* Name) noexcept;

} // namespace Parley::SharedLibrary
