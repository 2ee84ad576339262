"""The mock engine's voice: tones of exact length, for games' own tests without weights."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

from bridge.engine import EngineStatus
from bridge.errors import SpeechFailed

SAMPLE_RATE = 16_000
LETTER_MS = 60
"""Of each character of a text, at speed 1.0."""
PIECE_LETTERS = 5
SPEAKERS = ("low", "middle", "high")
_TONES_HZ = (220.0, 330.0, 440.0)
_LOUDNESS = 8_000


class MockVoice:
    """A `Synthesizer` that needs no weights. Each speaker has a tone of its own; a character sounds for 60 ms.

    `real_time_factor`: seconds that a second of sound takes to make. `fail_on`: a text that it cannot say.
    """

    sample_rate = SAMPLE_RATE
    speakers: Sequence[str] = SPEAKERS

    def __init__(self, *, real_time_factor: float = 0.0, fail_on: str = "") -> None:
        self._real_time_factor = real_time_factor
        self._fail_on = fail_on
        self._stopped = threading.Event()

    def synthesize(self, text: str, speaker_id: int, speed: float) -> Iterator[bytes]:
        if self._fail_on and self._fail_on in text:
            raise SpeechFailed(f"the mock voice fails at {self._fail_on!r}, as its catalog entry says")
        import numpy as np

        samples = samples_of(text, speed)
        most = PIECE_LETTERS * LETTER_MS * SAMPLE_RATE // 1000
        for start in range(0, samples, most):
            count = min(most, samples - start)
            if self._real_time_factor:
                self._stopped.wait(self._real_time_factor * count / SAMPLE_RATE)
            at = np.arange(start, start + count) / SAMPLE_RATE
            yield (_LOUDNESS * np.sin(2 * np.pi * _TONES_HZ[speaker_id] * at)).astype("<i2").tobytes()

    def status(self) -> EngineStatus:
        return EngineStatus(backend="mock")

    def stop(self) -> None:
        self._stopped.set()

    def close(self) -> None:
        pass


def samples_of(text: str, speed: float = 1.0) -> int:
    """How long a text sounds."""
    return round(len(text) * LETTER_MS * SAMPLE_RATE / 1000 / speed)
