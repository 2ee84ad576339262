"""What the sources of every language have in common as text: names, sentences, blocks in braces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_INDENT = "    "


def pascal(name: str) -> str:
    """`turn_id` → `TurnId`; what no language allows in a name is left out."""
    parts = [part for part in re.split(r"[^A-Za-z0-9]+", name) if part]
    joined = "".join(part[0].upper() + part[1:] for part in parts)
    return f"N{joined}" if joined[:1].isdigit() else joined


def word_member(word: str) -> str:
    """The enum member of a word."""
    return pascal(word) or "Empty"


def sentence(text: str) -> str:
    """A text that begins like a sentence and ends like one."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"


def indented(lines: Iterable[str], levels: int = 1) -> list[str]:
    """The lines, further in."""
    return [f"{_INDENT * levels}{line}" if line else "" for line in lines]


def block(head: Sequence[str], body: Iterable[str], tail: str = "") -> list[str]:
    """`head`, then `body` in braces."""
    return [*head, "{", *indented(body), "}" + tail]


def spaced(blocks: Iterable[Sequence[str]]) -> list[str]:
    """Blocks with an empty line between them; empty blocks are left out."""
    lines: list[str] = []
    for one in blocks:
        if one:
            lines += ["", *one] if lines else one
    return lines
