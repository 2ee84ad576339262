"""Writes the tables of letters that the C++ core needs, from what this Python knows of Unicode.

`python -m tests.unicode_table` writes the file anew.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "unreal_plugin" / "Source" / "Parley" / "Core" / "UnicodeTable.cpp"
_FIRST_CONJUNCT, _LAST_CONJUNCT = 0x900, 0xD7F
"""The blocks of the scripts in which consonants are joined by a virama: Devanagari to Malayalam."""


def is_mark(point: int) -> bool:
    return unicodedata.category(chr(point)) in ("Mn", "Me", "Mc")


def is_conjunct_letter(point: int) -> bool:
    return _FIRST_CONJUNCT <= point <= _LAST_CONJUNCT and unicodedata.category(chr(point)) == "Lo"


def ranges(holds: Callable[[int], bool]) -> Iterator[tuple[int, int]]:
    """Code points of which it holds, as first and last ones."""
    first = -1
    for point in range(sys.maxunicode + 2):
        inside = point <= sys.maxunicode and holds(point)
        if inside and first < 0:
            first = point
        elif not inside and first >= 0:
            yield first, point - 1
            first = -1


def _rows(holds: Callable[[int], bool]) -> str:
    pairs = [f"{{0x{first:04X}, 0x{last:04X}}}," for first, last in ranges(holds)]
    return "\n".join("    " + " ".join(pairs[at : at + 5]) for at in range(0, len(pairs), 5))


def table() -> str:
    """The file as this Python makes it."""
    return f"""// Made by `python -m tests.unicode_table` from Unicode {unicodedata.unidata_version}; do not edit.
#include "Core/UnicodeTable.h"

#include <algorithm>
#include <iterator>

namespace Parley::UnicodeTableLocal
{{

struct Range
{{
    char32_t First;
    char32_t Last;
}};

constexpr Range Marks[] = {{
{_rows(is_mark)}
}};

constexpr Range ConjunctLetters[] = {{
{_rows(is_conjunct_letter)}
}};

template <std::size_t Count>
bool IsIn(const Range (&Ranges)[Count], char32_t Point) noexcept
{{
    const auto IsBefore = [](char32_t Value, const Range& One) {{ return Value < One.First; }};
    const Range* Behind = std::upper_bound(std::begin(Ranges), std::end(Ranges), Point, IsBefore);
    return Behind != std::begin(Ranges) && Point <= (Behind - 1)->Last;
}}

}} // namespace Parley::UnicodeTableLocal

namespace Parley::UnicodeTable
{{

bool IsMark(char32_t Point) noexcept
{{
    return Point >= UnicodeTableLocal::Marks[0].First && UnicodeTableLocal::IsIn(UnicodeTableLocal::Marks, Point);
}}

bool IsConjunctLetter(char32_t Point) noexcept
{{
    return UnicodeTableLocal::IsIn(UnicodeTableLocal::ConjunctLetters, Point);
}}

}} // namespace Parley::UnicodeTable
"""


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="ascii")
