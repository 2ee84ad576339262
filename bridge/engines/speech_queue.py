"""Who speaks next: the one thread that owns a loaded voice, and the calls that wait for it.

Calls take turns, a piece of sound each. A call that is some pieces ahead of its reader is passed over, so a reader that
sleeps stops its own speech and nobody else's.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from typing import Protocol

from bridge.engine import EngineLoad, EngineStatus
from bridge.errors import ParleyError, SpeechFailed
from bridge.wording import words_of

log = logging.getLogger(__name__)

AHEAD_PIECES = 4
"""Pieces that a call may be ahead of its reader."""

GONE = "the voice was unloaded"


class Synthesizer(Protocol):
    """What makes sound. Threading: on the queue's thread only; the constants and `status` are read before it runs."""

    @property
    def sample_rate(self) -> int: ...

    @property
    def speakers(self) -> Sequence[str]: ...

    def synthesize(self, text: str, speaker_id: int, speed: float) -> Iterator[bytes]:
        """Mono s16le, piece by piece; empty ones are left out by the queue. Raises on failure."""

    def status(self) -> EngineStatus: ...

    def stop(self) -> None:
        """The voice is being closed: break off what can be broken off. Called once, from any thread."""

    def close(self) -> None:
        """Free everything. Nothing is called after it."""


class _Call:
    """One `speak` on its way to the thread and back. Threading: `ahead` and `over` under the queue's lock."""

    def __init__(self, synthesize: Callable[[], Iterator[bytes]]) -> None:
        self.ahead = 0
        self.over = False
        self.began = False
        self.came: asyncio.Queue[bytes | ParleyError | None] = asyncio.Queue()
        self._synthesize = synthesize
        self._pieces: Iterator[bytes] | None = None
        self._loop = asyncio.get_running_loop()

    @property
    def is_deserted(self) -> bool:
        """Whether nobody can ever read on. An iteration that is dropped on a closed loop does not end by itself."""
        return self.over or self._loop.is_closed()

    def piece(self) -> bytes | None:
        """Make the next piece. Called on the thread."""
        if self._pieces is None:
            self._pieces = self._synthesize()
        return next(self._pieces, None)

    def drop(self) -> None:
        """Let go of what the synthesizer holds for it. Called on the thread."""
        close = getattr(self._pieces, "close", None)
        self._pieces = None
        if close is not None:
            try:
                close()
            except BaseException:  # of a library
                log.debug("a voice failed while it was stopped", exc_info=True)

    def tell(self, what: bytes | ParleyError | None) -> None:
        """A piece, what went wrong, or None at the end. Called on the thread."""
        try:
            self._loop.call_soon_threadsafe(self.came.put_nowait, what)
        except RuntimeError:
            log.debug("the loop that listened is closed")


class QueuedVoice:
    """A `SpeechModel` over one synthesizer. Threading: `speak` on any event loop, `close` off it."""

    def __init__(self, synthesizer: Synthesizer) -> None:
        """Takes the synthesizer over."""
        self.sample_rate = synthesizer.sample_rate
        self.speakers = tuple(synthesizer.speakers)
        self._synthesizer = synthesizer
        self._status = synthesizer.status()
        self._lock = threading.Condition()
        self._calls: deque[_Call] = deque()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="parley-voice", daemon=True)
        self._thread.start()

    async def speak(self, text: str, *, speaker_id: int = 0, speed: float = 1.0) -> AsyncGenerator[bytes, None]:
        if not 0 <= speaker_id < len(self.speakers):
            raise SpeechFailed(
                f"the voice has {len(self.speakers)} speakers, numbered from 0; there is no speaker {speaker_id}"
            )
        call = _Call(lambda: self._synthesizer.synthesize(text, speaker_id, speed))
        with self._lock:
            if self._closing:
                raise SpeechFailed(GONE)
            self._calls.append(call)
            self._lock.notify()
        try:
            while (came := await call.came.get()) is not None:
                if isinstance(came, ParleyError):
                    raise came
                with self._lock:
                    call.ahead -= 1
                    self._lock.notify()
                yield came
        finally:
            with self._lock:
                call.over = True
                self._lock.notify()

    def status(self) -> EngineStatus:
        return self._status

    def load(self) -> EngineLoad:
        with self._lock:
            began = [call.began for call in self._calls if not call.over]
            return EngineLoad(began.count(False), 0, began.count(True))

    def close(self) -> None:
        with self._lock:
            is_first = not self._closing
            self._closing = True
            self._lock.notify()
        if is_first:
            self._synthesizer.stop()
        self._thread.join()

    # ---- the thread

    def _run(self) -> None:
        while (call := self._next()) is not None:
            if call.is_deserted:
                call.drop()
            else:
                self._make_piece(call)
        for call in self._calls:  # nobody adds one any more
            call.drop()
            call.tell(SpeechFailed(GONE))
        self._calls.clear()
        try:
            self._synthesizer.close()
        except Exception:  # of a library
            log.debug("a voice failed while it was closed", exc_info=True)

    def _next(self) -> _Call | None:
        """The call whose turn it is, or a deserted one that is now out of the queue; None once the voice is closed."""
        with self._lock:
            while not self._closing:
                for _ in range(len(self._calls)):
                    call = self._calls.popleft()
                    if call.is_deserted:
                        return call
                    self._calls.append(call)
                    if call.ahead < AHEAD_PIECES:
                        call.began = True
                        return call
                self._lock.wait()
        return None

    def _make_piece(self, call: _Call) -> None:
        try:
            piece = call.piece()
        except ParleyError as fault:
            self._finish(call, fault)
        except BaseException as fault:  # of a library: whatever it raises, SystemExit too, others are heard
            log.debug("a voice failed", exc_info=True)
            self._finish(call, SpeechFailed(f"the voice failed: {words_of(fault)}"))
        else:
            if piece is None:
                self._finish(call, None)
            elif piece:
                with self._lock:
                    call.ahead += 1
                call.tell(piece)

    def _finish(self, call: _Call, what: ParleyError | None) -> None:
        call.tell(what)
        with self._lock:
            call.over = True
