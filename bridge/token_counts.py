"""How many tokens texts have: counted once, never in vain, and never for long on the event loop."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

from bridge import workers

T = TypeVar("T")

REMEMBERED_BYTES = 32 * 2**20
"""What a model's counts may take; then they are begun anew."""
COUNTED_AT_ONCE = 16_384
"""Characters whose tokens the event loop counts for one prompt; more are counted in a worker thread."""
BYTES_OF_A_TOKEN = 256
"""No vocabulary has a token that stands for more: the longest are runs of blanks."""

_KEY_CHARS = 512
_ENTRY_BYTES = 100


class TokenCounts:
    """The token counts of one model's texts. Threading: safe from any thread."""

    def __init__(self, tokens_of: Callable[[str], int]) -> None:
        """`tokens_of` counts the tokens of a text that is not empty, from any thread."""
        self.tokens_of = tokens_of
        self._known: dict[str | bytes, int] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def remembered_bytes(self) -> int:
        """What the counts take, nearly."""
        return self._bytes

    def look_up(self, text: str) -> int | None:
        """The tokens of a text that was counted before."""
        return self._known.get(_key_of(text)) if text else 0

    def count(self, text: str) -> int:
        """Tokens of a text, which are remembered."""
        found = self.look_up(text)
        if found is None:
            found = self.tokens_of(text)
            key = _key_of(text)
            with self._lock:
                if self._bytes > REMEMBERED_BYTES:
                    self._known = {}
                    self._bytes = 0
                self._known[key] = found
                self._bytes += sys.getsizeof(key) + _ENTRY_BYTES
        return found


class Counter:
    """Counts tokens for one prompt: calling it gives those of a text.

    A text that cannot have as few as `most` tokens is not tokenized: it counts as more, whatever it has.
    """

    def __init__(self, counts: TokenCounts, most: int, at_once: int | None = None) -> None:
        """`at_once`: how many characters may be counted before MuchToCount is raised; None: any."""
        self.most = most
        """May be lowered in the course of the work."""
        self._counts = counts
        self._left = at_once

    def __call__(self, text: str) -> int:
        """Tokens of a text, which are remembered."""
        return self._count(text, self._counts.count)

    def once(self, text: str) -> int:
        """Tokens of a text that is not seen again."""
        return self._count(text, self._counts.tokens_of)

    def _count(self, text: str, count: Callable[[str], int]) -> int:
        found = self._counts.look_up(text) if count == self._counts.count else None
        if found is not None or not text:
            return found or 0
        least = len(text) // BYTES_OF_A_TOKEN  # a character has a byte at least
        if least > max(self.most, 0):
            return least
        if self._left is not None:
            self._left -= len(text)
            if self._left < 0:
                raise MuchToCount
        return count(text)


class MuchToCount(Exception):
    """There is more to count than the event loop can wait for."""


async def measure(counts: TokenCounts, most: int, work: Callable[[Counter], T]) -> T:
    """`work` with a counter: here where little is to be counted, else in a worker thread, from the start.

    `most`: beyond so many tokens it does not matter how many a text has.
    """
    try:
        return work(Counter(counts, most, COUNTED_AT_ONCE))
    except MuchToCount:
        return await workers.search(work, Counter(counts, most))


def _key_of(text: str) -> str | bytes:
    if len(text) <= _KEY_CHARS:
        return text
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).digest()
