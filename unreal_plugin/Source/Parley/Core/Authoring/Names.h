// What may be a name, and which one is free.
#pragma once

#include "Core/Authoring/AuthoringFault.h"
#include "Core/CoreApi.h"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

/// What a node, slot, variable or source may be called. No locale has a say in it.
namespace Parley::Names
{

/// The longest name, in characters.
inline constexpr std::size_t MaxLength = 64;

/// The slot of the player's line; no node may be called so and none may write it.
inline constexpr std::string_view Reserved = "user_message";

/// Gives the trimmed name. False: it may not be used, and the fault says why.
PARLEY_CORE_API bool Check(std::string_view Text, std::string& Name, AuthoringFault& Fault);

/// Whether a field may show the text as it is: Check would return it unchanged.
PARLEY_CORE_API bool IsName(std::string_view Text) noexcept;

/// `Wanted`, or the first of Wanted_2, Wanted_3, … not taken, cut so that the suffix fits.
PARLEY_CORE_API std::string Unique(std::string_view Wanted, const std::set<std::string, std::less<>>& Taken);

/// The text without white space around it.
PARLEY_CORE_API std::string_view Trim(std::string_view Text) noexcept;

/// White space as the sidecar knows it.
PARLEY_CORE_API bool IsBlank(char32_t Letter) noexcept;

/// A text in quotes for a message: what does not print is escaped, and it is not too long.
PARLEY_CORE_API std::string Shown(std::string_view Text);

} // namespace Parley::Names
