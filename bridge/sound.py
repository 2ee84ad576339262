"""How sound is cut into chunks, and how loud it is. Pure; samples are mono, signed 16 bits, little end first."""

from __future__ import annotations

import math
import sys
from array import array
from operator import mul

CHUNK_MS = 200
"""The longest chunk: a multiple of `ENVELOPE_MS`."""
ENVELOPE_MS = 20
SAMPLE_BYTES = 2


def span_bytes(sample_rate: int) -> int:
    """Bytes of what one number of the envelope tells of."""
    return SAMPLE_BYTES * max(1, sample_rate * ENVELOPE_MS // 1000)


def seconds_of(sound_bytes: int, sample_rate: int) -> float:
    """How long so many bytes sound."""
    return sound_bytes / SAMPLE_BYTES / sample_rate


class Cutter:
    """Makes chunks of the pieces of one sentence, whatever their sizes. All of them end with a span of the envelope,
    but for the last; together they are the pieces."""

    def __init__(self, sample_rate: int) -> None:
        self._span = span_bytes(sample_rate)
        self._most = self._span * (CHUNK_MS // ENVELOPE_MS)
        self._left = b""

    def feed(self, piece: bytes) -> list[bytes]:
        """The chunks that are whole now."""
        sound = self._left + piece
        whole = len(sound) - len(sound) % self._span
        self._left = sound[whole:]
        return [sound[start : min(start + self._most, whole)] for start in range(0, whole, self._most)]

    def finish(self) -> bytes:
        """What is left; without half a sample."""
        left, self._left = self._left, b""
        return left[: len(left) - len(left) % SAMPLE_BYTES]


def envelope_of(sound: bytes, sample_rate: int) -> list[float]:
    """Root mean square of each 20 ms, 0 to 1; the last span may be shorter."""
    samples = array("h", sound)
    if sys.byteorder == "big":
        samples.byteswap()
    span = span_bytes(sample_rate) // SAMPLE_BYTES
    parts = (samples[start : start + span] for start in range(0, len(samples), span))
    return [round(math.sqrt(sum(map(mul, part, part)) / len(part)) / 32768, 4) for part in parts]
