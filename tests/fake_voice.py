"""A voice whose sound can be read again: each character is 20 ms of its own number.

It can be held at gates, made to fail, and asked what it was to say.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

from bridge.catalog import CatalogEntry
from bridge.config import Settings
from bridge.engine import EngineLoad, EngineStatus
from bridge.model_files import Report

SAMPLE_RATE = 1000
LETTER_SAMPLES = 20
FAKE = CatalogEntry(name="fake-voice", type="tts", engine="mock")


class FakeVoice:
    """A `SpeechModel` on the event loop. Every character is a piece, unless `piece_bytes` says otherwise."""

    def __init__(self, speakers: tuple[str, ...] = ("one", "two"), piece_bytes: int = 2 * LETTER_SAMPLES) -> None:
        self.sample_rate = SAMPLE_RATE
        self.speakers = speakers
        self.said: list[tuple[str, int, float]] = []
        """Text, speaker_id and speed of every call."""
        self.open = 0
        """Calls that are being read."""
        self.most_open = 0
        self.gates: dict[str, asyncio.Event] = {}
        """A text with one of these in it is held before its first piece until the event is set."""
        self.faults: dict[str, Exception] = {}
        """A text with one of these in it fails where it stands."""
        self.reached: dict[str, asyncio.Event] = {}
        """Set when a text with it in it is held."""
        self._piece_bytes = piece_bytes

    def hold(self, word: str) -> asyncio.Event:
        """Texts with this word in them wait for the event."""
        self.reached[word] = asyncio.Event()
        gate = self.gates[word] = asyncio.Event()
        return gate

    async def speak(self, text: str, *, speaker_id: int = 0, speed: float = 1.0) -> AsyncGenerator[bytes, None]:
        self.said.append((text, speaker_id, speed))
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            for word, gate in self.gates.items():
                if word in text:
                    self.reached[word].set()
                    await gate.wait()
            word, fault = next(((word, fault) for word, fault in self.faults.items() if word in text), ("", None))
            sound = sound_of(text if fault is None else text[: text.index(word)])
            for start in range(0, len(sound), self._piece_bytes):
                yield sound[start : start + self._piece_bytes]
                await asyncio.sleep(0)
            if fault is not None:
                raise fault
        finally:
            self.open -= 1

    def status(self) -> EngineStatus:
        return EngineStatus(backend="fake")

    def load(self) -> EngineLoad:
        return EngineLoad(0, 0, self.open)

    def close(self) -> None:
        pass


def sound_of(text: str) -> bytes:
    """What the voice makes of a text."""
    return b"".join(struct.pack("<h", ord(char) % 30_000) * LETTER_SAMPLES for char in text)


def text_of(sound: bytes) -> str:
    """What the voice was to say."""
    step = 2 * LETTER_SAMPLES
    assert len(sound) % step == 0, f"{len(sound)} bytes are no whole number of letters"
    letters = [sound[start : start + step] for start in range(0, len(sound), step)]
    assert all(letter == letter[:2] * LETTER_SAMPLES for letter in letters), "letters are mixed up"
    return "".join(chr(struct.unpack("<h", letter[:2])[0]) for letter in letters)


LoadVoice = Callable[[CatalogEntry, Path | None, Settings, Report], FakeVoice]


def loading(voice: FakeVoice) -> LoadVoice:
    """For `talking`."""
    return lambda *_: voice
