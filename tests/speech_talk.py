"""Nodes that speak, models and voices that can be stopped, and how a turn is heard through the real wire."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bridge import protocol
from bridge.catalog import CatalogEntry
from bridge.codec import Envelope
from bridge.config import Settings
from bridge.engine import TextModel
from bridge.engines.mock_voice import MockVoice
from bridge.engines.scheduler import Scheduler
from bridge.model_files import Report
from tests.fakes_engine import ScriptedBackend
from tests.speech_checks import StepSound, heard_of, warnings_of
from tests.talk import Heard, Talk

VOICE = CatalogEntry(name="mock-voice", type="tts", engine="mock")
REPLY = "Good evening, traveller. The fire is warm, and the ale is fresh. Sit down!"
SENTENCES = ["Good evening, traveller. ", "The fire is warm, and the ale is fresh. ", "Sit down!"]


def speaks(name: str = "mira", **params: Any) -> dict[str, Any]:
    return {"name": name, "type": "GenerateAndSpeak", "voice": "fake-voice", **params}


def mock(name: str = "mira", **params: Any) -> dict[str, Any]:
    return speaks(name, voice="mock-voice", **params)


def sound(heard: Heard, step: int = 1) -> StepSound:
    return heard_of(heard.frames)[step]


def speech(heard: Heard, step: int = 1) -> dict[str, Any]:
    """What the diagnostics tell of a step's sound."""
    found: dict[str, Any] = heard.debug["steps"][step - 1]["speech"]
    return found


async def until(frames: Any, found: Callable[[protocol.Message], bool]) -> list[Envelope]:
    """The frames of a turn up to one."""
    came = []
    async for frame in frames:
        came.append(frame)
        if found(frame.message):
            return came
    raise AssertionError(f"it never came; what came: {[frame.message.type_name for frame in came]}")


async def rest(frames: Any) -> list[Envelope]:
    return [frame async for frame in frames]


async def hear(talk: Talk, agent_id: str, line: str) -> tuple[Heard, list[tuple[int, str, str]]]:
    """A turn, and what the developer is told meanwhile: code, message and node of every warning."""
    everything = talk.client.subscribe()
    heard = await talk.say(agent_id, line)
    everything.close()
    return heard, warnings_of([frame async for frame in everything])


class Slow:
    """A mock model that can be stopped before a word."""

    def __init__(self, reply: str, fault: Exception | None = None) -> None:
        self.reply = reply
        self.fault = fault
        """Raised at the word, instead of waiting."""
        self.word = ""
        self.go_on = threading.Event()

    def hold_before(self, word: str) -> None:
        self.word = word

    def lift(self) -> None:
        self.go_on.set()

    def load(self, entry: CatalogEntry, path: Path | None, settings: Settings, report: Report) -> TextModel:
        backend = ScriptedBackend()
        draw = backend.sample

        def sample(*args: Any, **options: Any) -> Any:
            token = draw(*args, **options)
            written = backend.vocabulary.piece(token).decode()
            if self.word and self.word in written:
                if self.fault is not None:
                    raise self.fault
                assert self.go_on.wait(20), "the test never let the model go on"
            return token

        backend.sample = sample  # type: ignore[method-assign]
        return Scheduler(backend, prompt_chunk=settings.prompt_chunk, park_bytes=settings.park_bytes)


class Stuck(MockVoice):
    """A voice whose thread is within a piece until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = threading.Event()
        self.go_on = threading.Event()
        self.holds = True

    def synthesize(self, text: str, speaker_id: int, speed: float) -> Iterator[bytes]:
        for piece in super().synthesize(text, speaker_id, speed):
            yield piece
            if self.holds:
                self.inside.set()
                assert self.go_on.wait(20), "the test never let the voice go on"
