"""Text cut into pieces that a voice can take: none longer than a limit, and no word torn where that can be helped."""

from __future__ import annotations

import re
from collections.abc import Iterator

_QUOTES = "\"'”’)\\]」』"
_BREAKS = (
    re.compile(rf"[.!?…]+[{_QUOTES}]*\s+|[。！？]+[{_QUOTES}]*\s*|\n"),
    re.compile(r"[,;:—–]\s+|[、，；：—]\s*"),
    re.compile(r"\s+"),
)
"""Where to cut, best first."""
_LEAST = 0.4
"""A piece is at least so much of the limit, where a worse break gives more."""


def text_pieces(text: str, most: int) -> Iterator[str]:
    """The text without the white space around its pieces, each of 1 to `most` characters."""
    start = 0
    while start < len(text):
        end = start + _cut(text[start : start + most]) if len(text) - start > most else len(text)
        piece = text[start:end].strip()
        if piece:
            yield piece
        start = end


def _cut(text: str) -> int:
    best = 0
    for breaks in _BREAKS:
        best = max((found.end() for found in breaks.finditer(text)), default=0)
        if best >= len(text) * _LEAST:
            return best
    return best or len(text)
