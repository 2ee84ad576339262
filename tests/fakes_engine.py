"""Engines for tests: a backend whose decodes are recorded, held at a gate or made to fail, and requests for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from bridge.answer_text import AnswerRules
from bridge.engine import Choice, GenerateRequest, Generation, GenerationResult, Sampling, Segment
from bridge.engines.backend import Parked, Slice
from bridge.engines.mock import MockBackend
from bridge.engines.scheduler import Scheduler
from bridge.errors import InferenceFailed

PATIENCE_S = 20.0


class Gate:
    """Holds a scheduler's thread before each decode until a test lets it go on.

    Threading: `pass_through` on the scheduler's thread, all else on the event loop.
    """

    def __init__(self) -> None:
        self._reached = threading.Semaphore(0)
        self._passes = threading.Semaphore(0)
        self._lifted = False

    def pass_through(self) -> None:
        if self._lifted:
            return
        self._reached.release()
        if not self._passes.acquire(timeout=PATIENCE_S):
            raise AssertionError("the test never let this decode go on")

    async def reached(self) -> None:
        """Wait until the scheduler stands before its next decode."""
        assert await asyncio.to_thread(self._reached.acquire, True, PATIENCE_S), "no decode was begun"

    async def step(self) -> None:
        """Let one decode go on, and wait until the scheduler stands before the next."""
        self._passes.release()
        await self.reached()

    def lift(self) -> None:
        """Hold nothing any more."""
        self._lifted = True
        self._passes.release()


class ScriptedBackend(MockBackend):
    """A mock backend that says what it was asked for, and fails when it is told to."""

    def __init__(
        self,
        replies: dict[str, str] | None = None,
        *,
        n_sequences: int = 4,
        context_size: int = 4096,
        cells: int = 0,
        gate: Gate | None = None,
        cut_works: bool = True,
        window: int = 0,
        decisions: int = 1,
    ) -> None:
        """`window`: as with sliding-window layers, a restored copy has only so many tokens that a cut can count on."""
        super().__init__(n_sequences=n_sequences, context_size=context_size)
        self.decodes: list[list[Slice]] = []
        self.cleared: list[int] = []
        self.resized: list[int] = []
        self.closed = False
        self.decode_faults: list[Exception | None] = []
        """What the next decodes raise, in their order; None: nothing."""
        self.sample_faults: dict[str, Exception] = {}
        """By sequence name: what its next draw raises."""
        self.resize_fault: Exception | None = None
        self.on_decode: Callable[[], None] = lambda: None
        self._replies_by_name = replies or {}
        self._gate = gate
        self._all_cells = cells
        self._cut_works = cut_works
        self._window = window
        self._decision_sequences = decisions
        self._lowest: dict[int, int] = {}
        self.save_fault: Exception | None = None
        self.restore_fault: Exception | None = None

    @property
    def cells(self) -> int:
        return self._all_cells or super().cells

    def decision_sequences(self) -> int:
        return self._decision_sequences

    def decode(self, slices: Sequence[Slice]) -> None:
        self.decodes.append(list(slices))
        if self._gate is not None:
            self._gate.pass_through()
        self.on_decode()
        fault = self.decode_faults.pop(0) if self.decode_faults else None
        if fault is not None:
            raise fault
        super().decode(slices)

    def cut(self, seq: int, length: int) -> int:
        if self._cut_works and self._sound_cut(seq, length):
            return super().cut(seq, length)
        self.clear(seq)
        return 0

    def _sound_cut(self, seq: int, length: int) -> bool:
        lowest = self._lowest.get(seq, 0)
        return lowest == 0 or length - lowest >= self._window

    def clear(self, seq: int) -> None:
        self.cleared.append(seq)
        self._lowest.pop(seq, None)
        super().clear(seq)

    def save(self, seq: int, replay: int, limit: int) -> Parked | None:
        if self.save_fault is not None:
            raise self.save_fault
        if self._window and self._sound_cut(seq, replay):
            super().cut(seq, replay)
        return super().save(seq, replay, limit)

    def restore(self, seq: int, parked: Parked) -> None:
        if self.restore_fault is not None:
            raise self.restore_fault
        if sum(map(len, self._held)) + parked.length > self.cells:
            raise InferenceFailed("no cells are left")
        super().restore(seq, parked)
        self._lowest[seq] = max(parked.length - self._window, 0) if self._window else 0

    def held(self, seq: int) -> list[int]:
        """What a sequence holds."""
        return self._held[seq].copy()

    def sampler(self, request: GenerateRequest) -> Any:
        text = self._replies_by_name.get(request.sequence, request.user_text)
        return request.sequence, iter(self.vocabulary.words(text))

    def sample(self, sampler: Any, row: int) -> int:
        name, words = sampler
        if name in self.sample_faults:
            raise self.sample_faults.pop(name)
        words_left: Iterator[int] = words
        return super().sample(words_left, row)

    def resize(self, context_size: int) -> None:
        self.resized.append(context_size)
        if self.resize_fault is not None:
            raise self.resize_fault
        super().resize(context_size)

    def close(self) -> None:
        self.closed = True
        super().close()


def words(count: int, stem: str = "w") -> str:
    """A text of so many different words."""
    return " ".join(f"{stem}{index}" for index in range(count))


def request(
    scheduler: Scheduler,
    sequence: str,
    prompt: str,
    user_text: str = "",
    *,
    choices: Sequence[str] = (),
    max_tokens: int = 100,
    context_size: int = 4096,
    answer: AnswerRules | None = None,
    replay: int | None = None,
) -> GenerateRequest:
    """A request whose prompt is one text."""
    return GenerateRequest(
        sequence=sequence,
        prompt=tuple(scheduler.vocabulary.tokenize([Segment(prompt)])),
        max_tokens=max_tokens,
        context_size=context_size,
        sampling=Sampling(),
        answer=answer or AnswerRules(),
        replay=replay,
        user_text=user_text,
        choices=tuple(Choice(token, name) for token, name in enumerate(choices)),
    )


async def finished(generation: Generation) -> GenerationResult:
    """Read a generation to its end; its text must be what was streamed."""
    parts = [delta async for delta in generation]
    assert all(parts)
    assert "".join(parts) == generation.result.text
    return generation.result


@asynccontextmanager
async def running(scheduler: Scheduler, gate: Gate | None = None) -> AsyncIterator[Scheduler]:
    """Closes the scheduler behind the block, whatever the gate still holds."""
    try:
        yield scheduler
    finally:
        if gate is not None:
            gate.lift()
        await asyncio.to_thread(scheduler.close)
