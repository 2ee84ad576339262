// What a reader takes for one character.
#pragma once

#include "Core/CoreApi.h"

#include <cstddef>
#include <string_view>

/// Where one character that a reader sees ends and the next begins, in bytes of UTF-8.
///
/// What a reader takes for one character may be several code points: letters with combining marks, flags, families of
/// emoji, Hangul syllables, Indic conjuncts. The rules are those of Unicode's extended grapheme clusters. Nothing is
/// allocated. Threading: any thread.
namespace Parley::TextElements
{

/// Where the element ends that begins at `Start`, which must be less than the text's size.
PARLEY_CORE_API std::size_t End(std::string_view Text, std::size_t Start) noexcept;

/// How many elements a text has.
PARLEY_CORE_API std::size_t Count(std::string_view Text) noexcept;

/// The last place not behind `Limit` where an element ends.
PARLEY_CORE_API std::size_t Boundary(std::string_view Text, std::size_t Limit) noexcept;

/// How far a text may be shown of which more will come: up to its last element where that may look quite different then
/// (half a flag, the first of a family), else all of it. `Start`: where an element begins; nothing in front of it is
/// looked at.
PARLEY_CORE_API std::size_t Settled(std::string_view Text, std::size_t Start) noexcept;

} // namespace Parley::TextElements
