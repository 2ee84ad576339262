"""The sound of one turn: its steps speak one after the other, while the walk goes on and the text still comes.

Text never waits for sound: a speaking step hands its text on and goes; one task lets the voices say what is whole.

Threading: lives on the event loop; voices have threads of their own.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from bridge.engine import SpeechModel
from bridge.errors import SpeechFailed
from bridge.protocol import Push
from bridge.speaker import Speaker
from bridge.speech_step import Channel, EmitSound, Manner, StepSpeech, Tell
from bridge.wording import words_of

log = logging.getLogger(__name__)

FindVoice = Callable[[str, str], SpeechModel | str]
"""The voice of this name for a node, or why there is none: of that, whoever must know was told."""


class TurnSpeech:
    """Speaks the steps of a turn in their order.

    `touch` is called whenever there is more sound. Nothing is emitted and nobody told after `stop`.
    """

    def __init__(
        self,
        agent_id: str,
        turn_id: int,
        started: float,
        *,
        voice: FindVoice,
        emit: EmitSound,
        tell: Tell,
        touch: Callable[[], None],
    ) -> None:
        self._channel = Channel(agent_id, turn_id, started, emit, tell, touch)
        self._voice = voice
        self._steps: asyncio.Queue[StepSpeech | None] = asyncio.Queue()
        self._open: list[StepSpeech] = []
        self._task: asyncio.Task[None] | None = None

    def begin(self, number: int, node_name: str, manner: Manner, facts: dict[str, Any]) -> StepSpeech | None:
        """A step begins to speak; None where it has no sound, of which `facts` tell. They are kept up to date."""
        facts["voice"] = manner.voice
        voice = self._voice(manner.voice, node_name)
        if isinstance(voice, str):
            facts["failed"] = voice
            return None
        if manner.speaker_id >= len(voice.speakers):
            highest = len(voice.speakers) - 1
            facts["failed"] = f"it has no speaker {manner.speaker_id}; the highest speaker_id is {highest}"
            told = f"the voice '{manner.voice}' is not heard: {facts['failed']}"
            self._channel.tell(SpeechFailed.code, told, node_name)
            return None
        step = StepSpeech(number, node_name, manner, voice, facts, self._channel)
        self._open.append(step)
        self._steps.put_nowait(step)
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._speak_steps())
        return step

    async def finish(self) -> None:
        """Wait until everything is said, or given up. Nothing begins any more."""
        for step in self._open:
            step.finish()
        self._steps.put_nowait(None)
        if self._task is not None:
            await asyncio.wait({self._task})

    def give_up(self, why: str) -> None:
        """Say nothing more, and tell of it."""
        if self._open:
            self._open[0].fail(why)
        self._silence()

    def stop(self) -> None:
        """Say nothing more. What was begun gets its last chunk now. Idempotent."""
        self._silence()
        # They lead back to the turn, and so to its agent; see there.
        self._voice = _no_voice
        channel = self._channel
        channel.emit, channel.tell, channel.touch = _to_nobody, _tell_nobody, _nothing

    def _silence(self) -> None:
        for step in self._open:
            step.close()
        self._open.clear()
        if self._task is not None:
            self._task.cancel()

    async def _speak_steps(self) -> None:
        while (step := await self._steps.get()) is not None:
            try:
                await Speaker(step).run()
            except Exception as fault:  # whatever it is, the text is what matters, and the other steps speak
                log.exception("node %s cannot speak", step.node_name)
                step.fail(words_of(fault))
            step.close()
            self._open.remove(step)


def _no_voice(_name: str, _node_name: str) -> str:
    return "the turn is over"


def _to_nobody(_push: Push, _payload: bytes | None) -> None:
    return None


def _tell_nobody(_code: int, _message: str, _node_name: str) -> None:
    return None


def _nothing() -> None:
    return None
