// Whether text is UTF-8, and how to make it so.
#pragma once

#include "Core/CoreApi.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace Parley::Utf8
{

/// Where the first byte stands that is not UTF-8 (halves of surrogate pairs and overlong forms are not); npos: nowhere.
PARLEY_CORE_API std::size_t FindFault(std::string_view Text) noexcept;

inline bool IsGood(std::string_view Text) noexcept
{
    return FindFault(Text) == std::string_view::npos;
}

/// The same text with U+FFFD for every byte that is not UTF-8.
PARLEY_CORE_API std::string Mended(std::string_view Text);

/// At most so many bytes of it, cut between characters.
PARLEY_CORE_API std::string_view Cut(std::string_view Text, std::size_t MaxBytes) noexcept;

} // namespace Parley::Utf8
