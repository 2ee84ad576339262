"""A reply between two threads: written by a scheduler, read on the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from bridge.engine import GenerationResult
from bridge.errors import ParleyError

End = GenerationResult | ParleyError


class LiveGeneration:
    """The `Generation` that a scheduler hands out.

    Threading: made, iterated and `take`n on the event loop; `cancelled`, `steps` and `tokens_generated` are plain
    values that one side writes and the other reads; `cancel` may be called from any thread.
    """

    __slots__ = ("_cancel", "_deltas", "_end", "_waiter", "cancelled", "loop", "steps", "tokens_generated")

    def __init__(self, loop: asyncio.AbstractEventLoop, cancel: Callable[[], None]) -> None:
        self.loop = loop
        self.cancelled = False
        self.steps = 0
        self.tokens_generated = 0
        self._cancel = cancel
        self._deltas: list[str] = []
        self._end: End | None = None
        self._waiter: asyncio.Future[None] | None = None

    def __aiter__(self) -> LiveGeneration:
        return self

    async def __anext__(self) -> str:
        while not self._deltas:
            if isinstance(self._end, ParleyError):
                raise self._end
            if self._end is not None:
                raise StopAsyncIteration
            self._waiter = self.loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        text = "".join(self._deltas)
        self._deltas.clear()
        return text

    @property
    def result(self) -> GenerationResult:
        if not isinstance(self._end, GenerationResult):
            raise RuntimeError("a generation has a result once its iteration ended")
        return self._end

    def cancel(self) -> None:
        if not self.cancelled and self._end is None:
            self.cancelled = True
            self._cancel()

    def take(self, delta: str, end: End | None) -> None:
        """More text, or the end, or both."""
        if delta:
            self._deltas.append(delta)
        if end is not None:
            self._end = end
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


Event = tuple[LiveGeneration, str, End | None]


def deliver(events: Sequence[Event]) -> None:
    """What one step brought, for all the generations it touched."""
    for generation, delta, end in events:
        generation.take(delta, end)


class Outbox:
    """Collects what a step brings and moves it to the event loop in one hop. Used on the scheduler's thread."""

    def __init__(self) -> None:
        self._events: list[Event] = []

    def put(self, generation: LiveGeneration, delta: str, end: End | None = None) -> None:
        self._events.append((generation, delta, end))

    def flush(self) -> None:
        if not self._events:
            return
        events, self._events = self._events, []
        first = events[0][0].loop
        if all(event[0].loop is first for event in events):
            self._hop(first, events)
            return
        for loop in {event[0].loop for event in events}:
            self._hop(loop, [event for event in events if event[0].loop is loop])

    @staticmethod
    def _hop(loop: asyncio.AbstractEventLoop, events: list[Event]) -> None:
        try:
            loop.call_soon_threadsafe(deliver, events)
        except RuntimeError:
            # The loop is closed, so nobody reads any more. Whoever still runs for it stops at the next step.
            for generation, _, _ in events:
                generation.cancelled = True
