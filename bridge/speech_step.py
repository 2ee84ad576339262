"""What one step says, as frames: their numbers, their last one, and what the diagnostics tell of them.

Threading: lives on the event loop.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bridge.engine import SpeechModel
from bridge.errors import SpeechFailed
from bridge.protocol import AudioChunk, AudioFormat, Push
from bridge.sound import envelope_of, seconds_of

EmitSound = Callable[[Push, bytes | None], "asyncio.Event | None"]
"""Sends a frame with its binary part. Returns None, or where the client takes no more now what is set once it does."""
Tell = Callable[[int, str, str], None]
"""Tells the developer: code, message, node_name."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How a step speaks."""

    voice: str
    speaker_id: int = 0
    speed: float = 1.0
    min_sentence_chars: int = 12
    speak_actions: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """What is sent at once: of one sentence; its text is on the first."""

    sentence: int
    text: str | None
    sound: bytes


@dataclass(slots=True)
class Channel:
    """What all steps of a turn share."""

    agent_id: str
    turn_id: int
    started: float
    """Of the turn, as `time.monotonic` has it."""
    emit: EmitSound
    tell: Tell
    touch: Callable[[], None]


@dataclass(slots=True, eq=False)
class StepSpeech:
    """What one step says. Its text comes by `say`, and `finish` ends it; both return at once."""

    number: int
    node_name: str
    manner: Manner
    voice: SpeechModel
    facts: dict[str, Any]
    """For the diagnostics; kept up to date."""
    channel: Channel
    text: asyncio.Queue[str | None] = field(default_factory=asyncio.Queue)
    starts_thinking: bool = False
    """The text begins within a model's thinking, whose opening tag it does not have."""
    _finished: bool = False
    _chunks: int = 0
    _last: int = 0
    _sound_bytes: int = 0
    _closed: bool = False

    def __post_init__(self) -> None:
        self.facts.update(
            speaker=self.voice.speakers[self.manner.speaker_id],
            sentences=0,
            skipped=0,
            audio_s=0.0,
            real_time_factor=0.0,
            first_audio_ms=None,
        )

    def say(self, text: str) -> None:
        """The next piece of the text."""
        if text and not self._finished:
            self.text.put_nowait(text)

    def finish(self) -> None:
        """The step says nothing more. Idempotent."""
        if not self._finished:
            self._finished = True
            self.text.put_nowait(None)

    # ---- for the speaker

    def made(self, waited_s: float, sound_bytes: int) -> None:
        """The voice has made so much sound of it so far, for which it was waited so long."""
        sound_s = seconds_of(sound_bytes, self.voice.sample_rate)
        self.facts["real_time_factor"] = round(waited_s / sound_s, 4) if sound_s else 0.0
        self.channel.touch()

    def send(self, chunk: Chunk) -> asyncio.Event | None:
        """Send the next chunk; returns as `EmitSound` does."""
        if self._closed:
            return None
        if not self._chunks:
            channel = self.channel
            channel.emit(
                AudioFormat(
                    agent_id=channel.agent_id,
                    turn_id=channel.turn_id,
                    node_name=self.node_name,
                    step=self.number,
                    sample_rate=self.voice.sample_rate,
                ),
                None,
            )
        if chunk.sound and self.facts["first_audio_ms"] is None:
            self.facts["first_audio_ms"] = round((time.monotonic() - self.channel.started) * 1000, 3)
        self._sound_bytes += len(chunk.sound)
        self._last = chunk.sentence
        self.facts.update(
            sentences=chunk.sentence + 1,
            audio_s=round(seconds_of(self._sound_bytes, self.voice.sample_rate), 3),
        )
        self.channel.touch()
        return self._emit(chunk, is_final=False)

    def close(self) -> None:
        """The last chunk, where there was one. Idempotent."""
        if self._chunks and not self._closed:
            self._emit(Chunk(self._last, None, b""), is_final=True)
        self._closed = True

    def _emit(self, chunk: Chunk, *, is_final: bool) -> asyncio.Event | None:
        index = self._chunks
        self._chunks += 1
        return self.channel.emit(
            AudioChunk(
                agent_id=self.channel.agent_id,
                turn_id=self.channel.turn_id,
                node_name=self.node_name,
                step=self.number,
                sentence=chunk.sentence,
                index=index,
                text=chunk.text,
                envelope=envelope_of(chunk.sound, self.voice.sample_rate),
                is_final=is_final,
            ),
            chunk.sound,
        )

    def warn(self, message: str) -> None:
        """There is something in the text that the developer may want to know."""
        self.channel.tell(0, message, self.node_name)

    def fail(self, why: str) -> None:
        """The rest has no sound. Of a step this is told once."""
        if "failed" in self.facts:
            return
        self.facts["failed"] = why
        self.channel.tell(SpeechFailed.code, f"the voice '{self.manner.voice}' failed: {why}", self.node_name)
