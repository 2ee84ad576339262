"""Which sequence computes what in the next decode: the one thread that owns a loaded model.

Every step decodes one token for each running sequence, together with up to `prompt_chunk` tokens of waiting prompts.
A sequence's cache is compared with each new prompt token by token: what both begin with is kept, the rest is read.

Who is first: replies get places in the context as they came. Of the prompts that have a place, the one with the fewest
tokens left is read first (the older where they are equal), so nobody waits behind a prompt much longer than his own;
every fourth chunk begins with the oldest prompt, so that one is read at a quarter of full speed at least.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bridge.answer_text import AnswerText
from bridge.engine import (
    CacheAction,
    CacheState,
    EngineLoad,
    EngineStatus,
    GenerateRequest,
    Generation,
    GenerationResult,
    Usage,
    Vocabulary,
)
from bridge.engines.backend import Backend, Slice
from bridge.engines.generation import LiveGeneration, Outbox
from bridge.engines.residence import Residence, Resident
from bridge.errors import InferenceFailed, ParleyError, PromptTooLong
from bridge.protocol import FinishReason

log = logging.getLogger(__name__)


OLDEST_FIRST_EVERY = 4
"""Of so many chunks one begins with the prompt that has waited longest."""


class _Job:
    """One generation on the scheduler's side."""

    __slots__ = (
        "answer", "cached", "done", "dropped", "first_at", "generated", "generation", "last_at", "limit", "position",
        "request", "sampler", "scores", "sequence", "started", "token", "writes",
    )  # fmt: skip

    def __init__(self, request: GenerateRequest, generation: LiveGeneration, started: float) -> None:
        self.request = request
        self.generation = generation
        self.started = started
        self.answer = AnswerText(request.answer)
        self.sampler: Any = None
        self.sequence: Resident | None = None
        self.position = 0  # tokens of this job that the cache holds
        self.cached = 0
        self.dropped = False
        self.limit = 0
        self.generated: list[int] = []
        self.token = 0  # drawn, not decoded yet
        self.first_at: float | None = None  # when the first token was drawn, an ending one too
        self.last_at = 0.0
        self.writes = False  # the prompt is read
        self.scores: tuple[float, ...] = ()
        self.done = False


class _CacheRequest:
    """One `manage_cache` on its way to the scheduler's thread and back."""

    __slots__ = ("_loop", "action", "future", "sequence")

    def __init__(self, sequence: str, action: CacheAction, future: asyncio.Future[CacheState]) -> None:
        self.sequence = sequence
        self.action = action
        self.future = future
        self._loop = future.get_loop()

    def answer(self, state: CacheState) -> None:
        try:
            self._loop.call_soon_threadsafe(self._take, state)
        except RuntimeError:
            log.debug("the loop that asked for a cache is closed")

    def _take(self, state: CacheState) -> None:
        if not self.future.done():
            self.future.set_result(state)


class Scheduler:
    """A `TextModel` over one backend.

    Threading: everything with an underscore runs on the scheduler's own thread, except `_poke`.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        prompt_chunk: int,
        deterministic: bool = False,
        park_bytes: int = 0,
        step_s: float = 0.0,
        clock: Callable[[], float] = time.perf_counter,
        pause: Callable[[float], None] | None = None,
    ) -> None:
        """Takes the backend over. `park_bytes`: host memory for idle sequences that lost their place. `step_s`: steps
        that write tokens start no sooner than so many seconds after the last; `pause` waits for that in place of the
        scheduler's own wait, which a cancel ends early."""
        self.vocabulary = backend.vocabulary
        self.trained_context = backend.trained_context
        self.chat_template = backend.chat_template
        self._backend = backend
        self._chunk = prompt_chunk
        self._deterministic = deterministic
        self._step_s = step_s
        self._clock = clock
        self._pause = pause  # not `or self._wait`: a closed scheduler would then wait for Python's collector
        self._status = backend.status()

        self._lock = threading.Condition()
        self._inbox: list[_Job | _CacheRequest | tuple[str, ...]] = []
        self._signal = False
        self._closing = False
        self._closed = False

        self._residence = Residence(backend, park_bytes)
        self._queue: list[_Job] = []
        self._reading: list[_Job] = []
        self._running: list[_Job] = []
        self._asked = backend.context_size  # the largest window that the backend was asked for
        self._out = Outbox()
        self._chunks = 0  # that several prompts waited for
        self._not_before = 0.0
        self._thread = threading.Thread(target=self._run, name="parley-scheduler", daemon=True)
        self._thread.start()

    # ---- TextModel, on the event loop

    def generate(self, request: GenerateRequest) -> Generation:
        generation = LiveGeneration(asyncio.get_running_loop(), self._poke)
        job = _Job(request, generation, self._clock())
        if len(request.prompt) >= request.context_size:
            generation.take("", _too_long(request, request.context_size))
            return generation
        with self._lock:
            if not self._closed:
                self._inbox.append(job)
                self._signal = True
                self._lock.notify()
                return generation
        generation.take("", _result(job, "cancelled"))
        return generation

    def forget(self, sequences: Sequence[str]) -> None:
        with self._lock:
            self._inbox.append(tuple(sequences))
            self._signal = True
            self._lock.notify()

    async def manage_cache(self, sequence: str, action: CacheAction) -> CacheState:
        asked = _CacheRequest(sequence, action, asyncio.get_running_loop().create_future())
        with self._lock:
            if self._closed:
                return CacheState(0, 0, "none")
            self._inbox.append(asked)
            self._signal = True
            self._lock.notify()
        return await asked.future

    def status(self) -> EngineStatus:
        held = self._residence
        return replace(
            self._status, residents=held.residents, parked=held.parked, bytes_parked=max(held.parked_bytes, 0)
        )

    def load(self) -> EngineLoad:
        with self._lock:
            coming = sum(isinstance(entry, _Job) for entry in self._inbox)
        return EngineLoad(coming + len(self._queue), len(self._reading), len(self._running))

    def close(self) -> None:
        with self._lock:
            self._closing = self._signal = True
            self._lock.notify()
        self._thread.join()

    # ---- the thread

    def _poke(self) -> None:
        with self._lock:
            self._signal = True
            self._lock.notify()

    def _wait(self, seconds: float) -> None:
        with self._lock:
            if not self._signal:
                self._lock.wait(seconds)

    def _run(self) -> None:
        fault: ParleyError | None = None
        try:
            while self._attend():
                self._admit()
                self._step()
        except Exception:  # the thread ends here; every waiting turn is told below instead of waiting for ever
            log.exception("the scheduler of a model stopped")
            fault = InferenceFailed("the model's scheduler stopped; its log says why")
        finally:
            with self._lock:
                self._closed = True
                entries, self._inbox = self._inbox, []
            self._queue.extend(entry for entry in entries if isinstance(entry, _Job))
            for job in (*self._running, *self._reading, *self._queue):
                if job.done:
                    continue
                if fault is not None:
                    self._fail(job, fault)
                else:
                    self._finish(job, "cancelled")
            self._out.flush()
            for entry in entries:
                if isinstance(entry, _CacheRequest):
                    entry.answer(CacheState(0, 0, "none"))
            self._residence.drop_parked()  # whoever still holds the scheduler would hold hundreds of MiB with it
            self._backend.close()

    def _attend(self) -> bool:
        """Take in what other threads want; wait while there is nothing to do. False: the end."""
        while True:
            if self._signal:
                with self._lock:
                    entries, self._inbox = self._inbox, []
                    self._signal = False
                    closing = self._closing
                for entry in entries:
                    if isinstance(entry, _Job):
                        self._queue.append(entry)
                    elif isinstance(entry, _CacheRequest):
                        entry.answer(self._residence.manage(entry.sequence, entry.action))
                    else:
                        self._forget(entry)
                for job in (*self._running, *self._reading, *self._queue):
                    if job.generation.cancelled:
                        self._finish(job, "cancelled")
                self._sweep()
                self._out.flush()
                if closing:
                    return False
            if self._running and self._step_s:
                early = self._not_before - self._clock()
                if early > 0:
                    (self._pause or self._wait)(early)
                    continue
            if self._running or self._reading or self._queue:
                return True
            with self._lock:
                while not self._signal:
                    self._lock.wait()

    def _sweep(self) -> None:
        for jobs in (self._running, self._reading, self._queue):
            if any(job.done for job in jobs):
                jobs[:] = [job for job in jobs if not job.done]

    def _forget(self, names: tuple[str, ...]) -> None:
        gone = set(names)
        for job in (*self._running, *self._reading, *self._queue):
            if job.request.sequence in gone:
                self._finish(job, "cancelled")
        self._sweep()
        for name in names:
            self._residence.forget(name)

    # ---- places

    def _admit(self) -> None:
        """Give places to waiting jobs, first come, first served; decisions where they have places of their own."""
        at = 0
        full: set[bool] = set()  # of the two kinds of places, those that the next one has to wait for
        while at < len(self._queue):
            job = self._queue[at]
            decides = bool(job.request.choices) and self._residence.sets_decisions_apart()
            if decides in full:
                at += 1
                continue
            sequence = self._residence.find(job.request.sequence)
            if sequence.busy:
                at += 1
                continue
            if job.request.context_size > self._asked:
                if self._running or self._reading:
                    return
                if not self._resize(job):
                    del self._queue[at]
                    continue
            if not self._residence.admit(sequence, self._need(job), self._wanted, decides=decides):
                full.add(decides)
                at += 1
                continue
            del self._queue[at]
            self._begin(sequence, job)
            if decides:
                self._status = self._backend.status()  # the context for decisions may be new

    def _resize(self, job: _Job) -> bool:
        size = job.request.context_size
        try:
            self._residence.resize(size)
            self._asked = size
        except Exception as fault:
            self._fail(job, _inference_failed(fault))
        self._status = self._backend.status()
        return not job.done

    def _wanted(self) -> set[str]:
        return {job.request.sequence for job in self._queue}

    def _need(self, job: _Job) -> int:
        return min(len(job.request.prompt) + max(job.request.max_tokens, 0), self._window(job.request))

    def _window(self, request: GenerateRequest) -> int:
        return min(request.context_size, self._backend.context_size, self._backend.cells)

    def _begin(self, sequence: Resident, job: _Job) -> None:
        """Keep what the cache and the prompt have in common, and let the rest be read."""
        request = job.request
        prompt = request.prompt
        window = self._window(request)
        job.sequence = sequence
        if len(prompt) >= window:
            self._fail(job, _too_long(request, window))
            return
        job.limit = min(request.max_tokens, window - len(prompt))
        try:
            job.sampler = self._backend.sampler(request)
            # Where a sequence was parked moves where its next prompt is cut, so without this it would move its logits.
            job.dropped = self._residence.align(
                sequence, prompt, as_parked=self._deterministic or bool(request.choices)
            )
        except Exception as fault:
            self._residence.lose(sequence)
            self._fail(job, _inference_failed(fault))
            return
        job.position = job.cached = len(sequence.tokens)
        self._reading.append(job)

    # ---- one step

    def _step(self) -> None:
        if not self._running and not self._reading:
            self._out.flush()
            return
        if self._step_s:
            self._not_before = self._clock() + self._step_s
        jobs = self._running.copy()
        slices = [Slice(job.sequence.slot, job.position, (job.token,), True) for job in jobs if job.sequence]
        alone = self._add_prompts(jobs, slices)
        if self._deterministic:
            for job, piece in zip(jobs, slices, strict=True):
                self._compute([job], [piece])
        elif jobs:
            self._compute(jobs, slices)
        for job, piece in alone:
            self._compute([job], [piece])
            jobs.append(job)
        if any(job.done for job in jobs):
            self._sweep()
        self._out.flush()

    def _add_prompts(self, jobs: list[_Job], slices: list[Slice]) -> list[tuple[_Job, Slice]]:
        """Add as much of the waiting prompts as a step may read; returns what is to be read by itself.

        Those are the prompts of decisions: their scores would move by some hundredths with what else is in the batch.
        """
        alone: list[tuple[_Job, Slice]] = []
        budget = self._chunk
        order = self._reading
        if len(order) > 1:
            self._chunks += 1
            if self._chunks % OLDEST_FIRST_EVERY:
                order = sorted(order, key=lambda job: len(job.request.prompt) - job.position)
        for job in order:
            prompt = job.request.prompt
            start = job.position
            size = len(prompt) - start
            by_itself = bool(job.request.choices) and not self._deterministic
            if self._deterministic or by_itself:
                # Where a prompt is cut moves its logits, so the borders must not depend on who else is reading.
                size = min(size, self._chunk - start % self._chunk)
                if size > budget:
                    continue
            size = min(size, budget)
            assert job.sequence is not None
            piece = Slice(job.sequence.slot, start, prompt[start : start + size], start + size == len(prompt))
            if by_itself:
                alone.append((job, piece))
            else:
                jobs.append(job)
                slices.append(piece)
            budget -= size
            if budget <= 0:
                break
        return alone

    def _compute(self, jobs: list[_Job], slices: list[Slice]) -> None:
        try:
            self._backend.decode(slices)
        except Exception as fault:
            for job in jobs:
                assert job.sequence is not None
                self._residence.lose(job.sequence)
                self._fail(job, _inference_failed(fault))
            return
        row = 0
        for job, piece in zip(jobs, slices, strict=True):
            assert job.sequence is not None
            job.sequence.tokens.extend(piece.tokens)
            job.position += len(piece.tokens)
            job.generation.steps += 1
            if piece.want_logits:
                if not job.writes:
                    job.writes = True
                    self._reading.remove(job)
                    self._running.append(job)
                self._draw(job, row)
                row += 1

    def _draw(self, job: _Job, row: int) -> None:
        """The next token, and what it makes visible; or the scores of what there is to choose from."""
        if job.request.choices:
            self._score(job, row)
            return
        if job.limit <= 0:
            self._finish(job, "length")
            return
        try:
            token = self._backend.sample(job.sampler, row)
            now = self._clock()
            if job.first_at is None:
                job.first_at = now
            if self.vocabulary.is_end(token):
                self._finish(job, "stop")
                return
            job.last_at = now
            job.token = token
            job.generated.append(token)
            job.generation.tokens_generated += 1
            delta = job.answer.feed(self.vocabulary.piece(token))
        except Exception as fault:
            self._fail(job, _inference_failed(fault))
            return
        if job.answer.stopped:
            self._finish(job, "stop", delta)
        elif len(job.generated) >= job.limit:
            self._finish(job, "length", delta)
        elif delta:
            self._out.put(job.generation, delta)

    def _score(self, job: _Job, row: int) -> None:
        try:
            job.scores = self._backend.scores(job.request, row)
        except Exception as fault:
            self._fail(job, _inference_failed(fault))
            return
        job.first_at = self._clock()
        self._finish(job, "stop")

    # ---- ends

    def _finish(self, job: _Job, reason: FinishReason, delta: str = "") -> None:
        try:
            delta += job.answer.finish()
            result = _result(job, reason)
        except Exception as fault:
            self._fail(job, _inference_failed(fault))
            return
        self._release(job)
        self._out.put(job.generation, delta, result)

    def _fail(self, job: _Job, fault: ParleyError) -> None:
        self._release(job)
        self._out.put(job.generation, "", fault)

    def _release(self, job: _Job) -> None:
        job.done = True
        job.sampler = None
        if job.sequence is not None:
            self._residence.release(job.sequence, _replayed(job, self.vocabulary))
            job.sequence = None


def _replayed(job: _Job, vocabulary: Vocabulary) -> int:
    """How many tokens of prompt and reply the next prompt is expected to begin with."""
    request = job.request
    if request.replay is not None:
        return min(request.replay, len(request.prompt))
    shown = job.answer.text.encode()
    at = kept = 0
    for token in job.generated:
        piece = vocabulary.piece(token)
        if not at:
            piece = piece.lstrip()  # as the text begins
        if not shown.startswith(piece, at):
            break
        at += len(piece)
        kept += 1
    return len(request.prompt) + (kept if at else 0)


def _result(job: _Job, reason: FinishReason) -> GenerationResult:
    prompt = len(job.request.prompt)
    count = len(job.generated)
    first_at = job.started if job.first_at is None else job.first_at
    written = job.last_at - first_at
    return GenerationResult(
        text=job.answer.text,
        raw=job.answer.raw,
        reasoning=job.answer.reasoning,
        tokens=tuple(job.generated),
        finish=reason,
        usage=Usage(
            prompt_tokens=prompt,
            cached_tokens=job.cached,
            evaluated_tokens=min(job.position, prompt) - job.cached,
            generated_tokens=count,
            ttft_ms=(first_at - job.started) * 1000,
            tokens_per_s=(count - 1) / written if count > 1 and written > 0 else 0.0,
            dropped=job.dropped,
        ),
        scores=job.scores,
    )


def _too_long(request: GenerateRequest, window: int) -> PromptTooLong:
    return PromptTooLong(f"the prompt has {len(request.prompt)} tokens, the context window only {window}")


def _inference_failed(fault: Exception) -> ParleyError:
    if isinstance(fault, ParleyError):
        log.warning("a reply failed: %s", fault)
        return fault
    log.error("a reply failed", exc_info=fault)
    return InferenceFailed(f"the model failed while it was generating: {fault or type(fault).__name__}")
