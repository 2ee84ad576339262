// Finds and renames the tags of a template.
#pragma once

#include "Core/CoreApi.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace Parley
{

/// Old names to new ones.
using RenameMap = std::map<std::string, std::string, std::less<>>;

namespace TemplateTags
{

/// The template with each Mustache tag whose whole key is in `Keys` renamed, and no other letter changed.
///
/// Comments stay, whatever they hold. A scanner of its own, not a regular expression: it takes one pass over any text,
/// however hostile, and its white space is the sidecar's.
PARLEY_CORE_API std::string Renamed(std::string_view Template, const RenameMap& Keys);

} // namespace TemplateTags
} // namespace Parley
