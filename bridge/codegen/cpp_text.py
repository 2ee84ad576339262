"""C++ as text: literals, doc comments, and the file around it all."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Sequence

from bridge.codegen import CannotEmit
from bridge.codegen.source_text import spaced

WIDTH = 118

ASCII = str.maketrans({"≥": ">=", "≤": "<=", "…": "...", "→": "->", "–": "-", "—": "-", "×": "x", "−": "-", "’": "'"})
"""Not every compiler reads sources as UTF-8."""


def literal(text: str) -> str:
    """A C++ string literal of UTF-8 that is ASCII itself. Raises CannotEmit for a text with half a character."""
    plain = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    try:
        octets = text.encode()
    except UnicodeEncodeError:
        raise CannotEmit(f"no UTF-8 for {text!r}") from None
    # Octal, because it ends after three digits; hexadecimal goes on for as long as there are digits.
    return '"' + "".join(plain.get(chr(o)) or (chr(o) if 32 <= o < 127 else f"\\{o:03o}") for o in octets) + '"'


def number(value: float) -> str:
    """A literal of type double."""
    if not math.isfinite(value):
        raise CannotEmit(f"no literal for {value}")
    return repr(float(value))


def whole(value: int) -> str:
    """A literal of a whole number of 64 bits."""
    if value == -(2**63):
        return "(std::numeric_limits<std::int64_t>::min)()"
    if value == 2**63 - 1:
        return "(std::numeric_limits<std::int64_t>::max)()"
    return f"{value}{'ULL' if value >= 2**63 else 'LL' if abs(value) >= 2**31 else ''}"


def boolean(value: bool) -> str:
    """`true` or `false`."""
    return "true" if value else "false"


def comment(text: str, indent: int = 0) -> list[str]:
    """A doc comment; nothing for an empty text."""
    plain = re.sub(r"`([^`]*)`", r"\1", text.strip()).translate(ASCII)
    if not plain:
        return []
    lines = [line for part in plain.split("\n") for line in (textwrap.wrap(part, WIDTH - 4 - indent) or [""])]
    # A backslash at the end of a line would join the next one to it.
    return [f"/// {line}".rstrip(" \\") for line in lines]


def header(
    mark: str, includes: Sequence[str], namespace: str, blocks: Iterable[Sequence[str]], before: Sequence[str] = ()
) -> str:
    """A whole header. Its first line is the mark; `before` stands before the namespace."""
    return _file([f"// {mark}", "#pragma once", ""], includes, namespace, blocks, before)


def source(
    mark: str, includes: Sequence[str], namespace: str, blocks: Iterable[Sequence[str]], before: Sequence[str] = ()
) -> str:
    """A whole source file. Its first line is the mark; `before` stands before the namespace."""
    return _file([f"// {mark}"], includes, namespace, blocks, before)


def within(namespace: str, blocks: Iterable[Sequence[str]]) -> list[str]:
    """Blocks in a namespace."""
    return [f"namespace {namespace}", "{", "", *spaced(blocks), "", f"}} // namespace {namespace}"]


def includes_of(names: Sequence[str]) -> list[str]:
    """Includes; an empty name is an empty line."""
    return [f"#include {name}" if name.startswith("<") else f'#include "{name}"' if name else "" for name in names]


def _file(
    first: list[str], includes: Sequence[str], namespace: str, blocks: Iterable[Sequence[str]], before: Sequence[str]
) -> str:
    parts = [includes_of(includes), before, within(namespace, blocks)]
    return "\n".join([*first, *spaced(parts)]) + "\n"
