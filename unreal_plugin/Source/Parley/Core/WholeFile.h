// Files that are read and written as a whole.
#pragma once

#include "Core/CoreApi.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Paths are UTF-8. Threading: any thread, not two at once for one file.
namespace Parley::WholeFile
{

/// Reads a file and tells its size; one of more than `Most` bytes is not read, and `Bytes` is empty then. False: the
/// fault says why, as "there is no such file". A pipe or a device is refused: reading one may never end.
PARLEY_CORE_API bool Read(
    const std::string& Path, std::size_t Most, std::string& Bytes, std::uint64_t& Size, std::string& Fault);

/// Writes a file, whole or not at all; one that has these bytes already is not touched (`Written` tells). False: the
/// fault names the file and says why, and the file is as it was. A read-only file is refused, so that version control is
/// asked first; a link stays, and what it leads to is replaced, with the permissions that it had.
PARLEY_CORE_API bool Replace(const std::string& Path, std::string_view Bytes, bool& Written, std::string& Fault);

} // namespace Parley::WholeFile
