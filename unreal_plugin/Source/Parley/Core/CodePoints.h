// Code points of UTF-8, one by one.
#pragma once

#include "Core/CoreApi.h"

#include <cstddef>
#include <string>
#include <string_view>

/// Threading: any thread. Nothing but Append allocates.
namespace Parley::CodePoints
{

/// The code point that begins at a byte, and how many bytes it has. A byte that begins none is U+FFFD of length 1.
/// `At` must be less than the text's size.
PARLEY_CORE_API char32_t At(std::string_view Text, std::size_t Place, std::size_t& Length) noexcept;

/// Where the code point ends that begins at a byte.
PARLEY_CORE_API std::size_t End(std::string_view Text, std::size_t Place) noexcept;

/// How many code points a text has.
PARLEY_CORE_API std::size_t Count(std::string_view Text) noexcept;

/// Appends a code point; a surrogate half or what is beyond Unicode as U+FFFD.
PARLEY_CORE_API void Append(std::string& Text, char32_t Point);

/// The bytes at the end that are the beginning of a code point of which the rest has not come: 0 to 3.
PARLEY_CORE_API std::size_t Unfinished(std::string_view Text) noexcept;

} // namespace Parley::CodePoints
