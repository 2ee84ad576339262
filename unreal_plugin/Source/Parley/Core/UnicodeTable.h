// Which code points are marks and which letters join with others.
#pragma once

#include "Core/CoreApi.h"

#include <cstddef>

/// Threading: any thread.
namespace Parley::UnicodeTable
{

/// A combining mark: categories Mn, Me and Mc.
PARLEY_CORE_API bool IsMark(char32_t Point) noexcept;

/// A letter (category Lo) of one of the scripts in which a virama joins consonants.
PARLEY_CORE_API bool IsConjunctLetter(char32_t Point) noexcept;

} // namespace Parley::UnicodeTable
