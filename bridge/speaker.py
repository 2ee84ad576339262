"""Says the text of one step: sentence after sentence, the next one made while one is sent.

Threading: lives on the event loop; the voice has a thread of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator

from bridge.errors import SpeechFailed
from bridge.sentences import SentenceSplitter
from bridge.sound import Cutter
from bridge.speech_step import Chunk, StepSpeech
from bridge.spoken import Spoken
from bridge.thoughts import Thoughts
from bridge.wording import cut, words_of

log = logging.getLogger(__name__)

AHEAD_CHUNKS = 16
"""So many chunks are made before the first of them is sent."""
SHOWN_SKIPPED = 3


class Speaker:
    """Two tasks: one makes what the other sends."""

    def __init__(self, step: StepSpeech) -> None:
        self._step = step
        self._ahead: asyncio.Queue[Chunk | None] = asyncio.Queue(AHEAD_CHUNKS)
        self._thoughts = Thoughts()
        self._spoken = Spoken(speak_actions=step.manner.speak_actions)
        self._sayable = Spoken(speak_actions=True)
        self._failed = False
        self._sentences = 0
        self._skipped: list[str] = []
        self._waited_s = 0.0
        self._made_bytes = 0

    async def run(self) -> None:
        """Returns when all is sent but the final chunk."""
        loop = asyncio.get_running_loop()
        tasks = [loop.create_task(self._make()), loop.create_task(self._send())]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _send(self) -> None:
        while (chunk := await self._ahead.get()) is not None:
            room = self._step.send(chunk)
            if room is not None:
                await room.wait()
            # Much sound may be there at once: others get their turn.
            await asyncio.sleep(0)

    async def _make(self) -> None:
        splitter = SentenceSplitter(self._step.manner.min_sentence_chars)
        began = False
        while (text := await self._step.text.get()) is not None:
            if not began:
                began, self._thoughts = True, Thoughts(starts_inside=self._step.starts_thinking)
            for sentence in splitter.feed(text):
                await self._say(sentence)
        rest = splitter.finish()
        for sentence in rest:
            await self._say(sentence, is_last=sentence is rest[-1])
        if self._skipped:
            shown = ", ".join(repr(cut(text)) for text in self._skipped[:SHOWN_SKIPPED])
            more = len(self._skipped) - SHOWN_SKIPPED
            shown += f" and {more} more" if more > 0 else ""
            self._step.warn(f"there is nothing in it that a voice could say: {shown}")
        await self._ahead.put(None)

    async def _say(self, sentence: str, *, is_last: bool = False) -> None:
        text: str | None = sentence
        words = self._words(sentence, is_last)
        if words and not self._failed:
            async with contextlib.aclosing(self._sound_of(words)) as sounds:
                async for sound in sounds:
                    await self._ahead.put(Chunk(self._sentences, text, sound))
                    text = None
        if text is not None:
            await self._ahead.put(Chunk(self._sentences, text, b""))
        self._sentences += 1

    def _words(self, sentence: str, is_last: bool) -> str:
        """What is said of a sentence."""
        audible = self._thoughts.without(sentence, is_last=is_last)
        words = self._spoken.of(audible)
        # Stage directions and thoughts are left out on purpose; what nobody can say is worth a word.
        if not self._sayable.of(audible) and audible.strip():
            self._skipped.append(audible.strip())
            self._step.facts["skipped"] = len(self._skipped)
        return words

    async def _sound_of(self, words: str) -> AsyncGenerator[bytes, None]:
        step = self._step
        manner = step.manner
        cutter = Cutter(step.voice.sample_rate)
        began = time.perf_counter()
        try:
            pieces = step.voice.speak(words, speaker_id=manner.speaker_id, speed=manner.speed)
            async with contextlib.aclosing(pieces):
                async for piece in pieces:
                    self._note(time.perf_counter() - began, len(piece))
                    for sound in cutter.feed(piece):
                        yield sound
                    began = time.perf_counter()
        except SpeechFailed as fault:
            self._fail(fault.message)
        except Exception as fault:  # of an engine: whatever it raises, the text goes out as usual
            log.exception("the voice %s failed", manner.voice)
            self._fail(words_of(fault))
        self._note(time.perf_counter() - began, 0)
        if rest := cutter.finish():
            yield rest

    def _note(self, waited_s: float, made_bytes: int) -> None:
        self._waited_s += waited_s
        self._made_bytes += made_bytes
        self._step.made(self._waited_s, self._made_bytes)

    def _fail(self, why: str) -> None:
        self._failed = True
        self._step.fail(why)
