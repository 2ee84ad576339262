"""Who is embedded next: the one thread that owns a loaded embedding model, and the calls that wait for it.

Calls take turns, a batch each, so that a query never waits for the whole of an index that is being built.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from bridge.engine import EngineLoad, EngineStatus, Vectors
from bridge.errors import InferenceFailed, ParleyError
from bridge.wording import words_of

log = logging.getLogger(__name__)

MAX_TEXTS = 256
"""Texts that one turn looks at, those that need no computing included."""

GONE = "the embedding model was unloaded"


class Network(Protocol):
    """What computes. Threading: called on the queue's thread only, except the constants and `status` before it runs."""

    @property
    def dimension(self) -> int: ...

    @property
    def max_tokens(self) -> int: ...

    @property
    def batch_tokens(self) -> int:
        """Tokens that one batch holds, `max_tokens` at least."""

    @property
    def batch_texts(self) -> int:
        """Texts that one batch holds."""

    def tokenize(self, text: str) -> tuple[list[int], bool]:
        """Ids, at most `max_tokens`, and whether the text had more. None: there is nothing in it to embed."""

    def compute(self, texts: Sequence[Sequence[int]]) -> Vectors:
        """A row for each text of a batch, of any length. Raises on failure."""

    def status(self) -> EngineStatus: ...

    def close(self) -> None: ...


class _Call:
    """One `embed` on its way to the thread and back. Threading: the loop's, but for what the thread fills in."""

    def __init__(self, texts: Sequence[str], dimension: int, progress: Callable[[int, int], None] | None) -> None:
        self.texts = list(texts)
        self.rows: Vectors = np.zeros((len(self.texts), dimension), np.float32)
        self.were_cut = [False] * len(self.texts)
        self.at = 0  # the next text
        self.tokens: list[int] | None = None  # of the next text, where the last batch had no room for it
        self.cancelled = False
        self.future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._loop = self.future.get_loop()
        self._progress = progress

    def tell(self, fault: ParleyError | None = None) -> None:
        """Progress, and the end where there is one. Called on the thread."""
        try:
            self._loop.call_soon_threadsafe(self._take, self.at, fault)
        except RuntimeError:
            log.debug("the loop that asked for vectors is closed")
            self.cancelled = True

    def _take(self, done: int, fault: ParleyError | None) -> None:
        if self.future.done():
            return
        if fault is not None:
            self.future.set_exception(fault)
            return
        if self._progress is not None:
            self._progress(done, len(self.texts))
        if done == len(self.texts) and not self.future.done():
            self.future.set_result(None)


class QueuedEmbedder:
    """An `EmbeddingModel` over one network. Threading: `embed` on any event loop, `close` off it."""

    def __init__(self, network: Network) -> None:
        """Takes the network over."""
        self.dimension = network.dimension
        self.max_tokens = network.max_tokens
        self._network = network
        self._status = network.status()
        self._lock = threading.Condition()
        self._calls: deque[_Call] = deque()
        self._closing = False
        self._computing = 0  # texts of the running batch
        self._thread = threading.Thread(target=self._run, name="parley-embedder", daemon=True)
        self._thread.start()

    async def embed(
        self, texts: Sequence[str], progress: Callable[[int, int], None] | None = None
    ) -> tuple[Vectors, list[bool]]:
        call = _Call(texts, self.dimension, progress)
        with self._lock:
            if self._closing:
                raise InferenceFailed(GONE)
            if call.texts:
                self._calls.append(call)
                self._lock.notify()
        try:
            if call.texts:
                await call.future
        finally:
            call.cancelled = True  # nothing more is wanted, however this ends
        return call.rows, call.were_cut

    def status(self) -> EngineStatus:
        return self._status

    def load(self) -> EngineLoad:
        with self._lock:
            waiting = sum(len(call.texts) - call.at for call in self._calls if not call.cancelled)
        return EngineLoad(waiting, 0, self._computing)

    def close(self) -> None:
        with self._lock:
            self._closing = True
            self._lock.notify()
        self._thread.join()

    # ---- the thread

    def _run(self) -> None:
        fault = InferenceFailed(GONE)
        call: _Call | None = None
        try:
            while (call := self._next()) is not None:
                self._advance(call)
        except Exception:  # the thread ends here; every waiting call is told below instead of waiting for ever
            log.exception("the thread of an embedding model stopped")
            fault = InferenceFailed("the embedding model's thread stopped; its log says why")
        finally:
            with self._lock:
                self._closing = True
                left = [*self._calls] if call is None else [call, *self._calls]
                self._calls.clear()
            for waiting in left:
                waiting.tell(fault)
            self._network.close()

    def _next(self) -> _Call | None:
        with self._lock:
            while True:
                if self._closing:
                    return None
                while self._calls:
                    call = self._calls.popleft()
                    if not call.cancelled:
                        return call
                self._lock.wait()

    def _advance(self, call: _Call) -> None:
        """One batch of a call, which then goes behind the others."""
        try:
            self._compute(call)
        except Exception as fault:  # native code's failures have no common type; whoever asked is told
            if not isinstance(fault, ParleyError):
                fault = InferenceFailed(f"the embedding model failed: {words_of(fault)}")
            call.tell(fault)
            return
        if call.at < len(call.texts):
            with self._lock:
                self._calls.append(call)
        call.tell()

    def _compute(self, call: _Call) -> None:
        network = self._network
        batch: list[list[int]] = []
        places: list[int] = []
        room = network.batch_tokens
        end = min(len(call.texts), call.at + MAX_TEXTS)
        at = call.at
        while at < end and len(batch) < network.batch_texts:
            if call.tokens is None:
                call.tokens, call.were_cut[at] = network.tokenize(call.texts[at])
            if len(call.tokens) > room:
                break
            if call.tokens:
                batch.append(call.tokens)
                places.append(at)
                room -= len(call.tokens)
            call.tokens = None
            at += 1
        if batch:
            self._computing = len(batch)
            try:
                call.rows[places] = _unit(network.compute(batch))
            finally:
                self._computing = 0
        call.at = at


def _unit(rows: Vectors) -> Vectors:
    """The rows in length 1; zeros in place of those that have none."""
    wide = rows.astype(np.float64)
    wide[~np.isfinite(wide).all(axis=1)] = 0.0
    length = np.linalg.norm(wide, axis=1, keepdims=True)
    length[length == 0.0] = 1.0
    unit: Vectors = (wide / length).astype(np.float32)
    return unit
