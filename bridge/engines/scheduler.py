"""Which sequence computes what in the next decode: the one thread that owns a loaded model.

Every step decodes one token for each running sequence, together with up to `prompt_chunk` tokens of waiting prompts.
A sequence's cache is compared with each new prompt token by token: what both begin with is kept, the rest is read.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from bridge.answer_text import AnswerText
from bridge.engine import EngineStatus, GenerateRequest, Generation, GenerationResult, Usage
from bridge.engines.backend import Backend, Slice
from bridge.engines.generation import LiveGeneration, Outbox
from bridge.errors import InferenceFailed, ParleyError, PromptTooLong
from bridge.protocol import FinishReason

log = logging.getLogger(__name__)


class _Sequence:
    """What is known of one sequence name."""

    __slots__ = ("dropped", "job", "name", "slot", "tokens", "used")

    def __init__(self, name: str) -> None:
        self.name = name
        self.tokens: list[int] = []  # exactly what the cache holds
        self.slot = -1
        self.job: _Job | None = None
        self.dropped = False
        self.used = 0


class _Job:
    """One generation on the scheduler's side."""

    __slots__ = (
        "answer", "cached", "done", "dropped", "first_at", "generated", "generation", "last_at", "limit", "position",
        "request", "sampler", "sequence", "started", "token", "writes",
    )  # fmt: skip

    def __init__(self, request: GenerateRequest, generation: LiveGeneration, started: float) -> None:
        self.request = request
        self.generation = generation
        self.started = started
        self.answer = AnswerText(request.answer)
        self.sampler: Any = None
        self.sequence: _Sequence | None = None
        self.position = 0  # tokens of this job that the cache holds
        self.cached = 0
        self.dropped = False
        self.limit = 0
        self.generated: list[int] = []
        self.token = 0  # drawn, not decoded yet
        self.first_at: float | None = None  # when the first token was drawn, an ending one too
        self.last_at = 0.0
        self.writes = False  # the prompt is read
        self.done = False


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
        step_s: float = 0.0,
        clock: Callable[[], float] = time.perf_counter,
        pause: Callable[[float], None] | None = None,
    ) -> None:
        """Takes the backend over. `step_s`: steps that write tokens start no sooner than so many seconds after the
        last; `pause` waits for that in place of the scheduler's own wait, which a cancel ends early."""
        self.vocabulary = backend.vocabulary
        self.trained_context = backend.trained_context
        self.chat_template = backend.chat_template
        self._backend = backend
        self._chunk = prompt_chunk
        self._deterministic = deterministic
        self._step_s = step_s
        self._clock = clock
        self._pause = pause or self._wait
        self._status = backend.status()

        self._lock = threading.Condition()
        self._inbox: list[_Job | tuple[str, ...]] = []
        self._signal = False
        self._closing = False
        self._closed = False

        self._sequences: dict[str, _Sequence] = {}
        self._residents: list[_Sequence | None] = [None] * backend.n_sequences
        self._queue: list[_Job] = []
        self._reading: list[_Job] = []
        self._running: list[_Job] = []
        self._asked = backend.context_size  # the largest window that the backend was asked for
        self._out = Outbox()
        self._tick = 0
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

    def status(self) -> EngineStatus:
        return self._status

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
        except Exception:
            log.exception("the scheduler of a model stopped")
            fault = InferenceFailed("the model's scheduler stopped; its log says why")
        finally:
            with self._lock:
                self._closed = True
                self._queue.extend(entry for entry in self._inbox if isinstance(entry, _Job))
            for job in (*self._running, *self._reading, *self._queue):
                if job.done:
                    continue
                if fault is not None:
                    self._fail(job, fault)
                else:
                    self._finish(job, "cancelled")
            self._out.flush()
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
                    self._pause(early)
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
            sequence = self._sequences.pop(name, None)
            if sequence is not None and sequence.slot >= 0:
                self._leave(sequence)
            self._backend.forget(name)

    # ---- places

    def _admit(self) -> None:
        """Give places to waiting jobs, first come, first served."""
        at = 0
        while at < len(self._queue):
            job = self._queue[at]
            name = job.request.sequence
            sequence = self._sequences.get(name)
            if sequence is None:
                sequence = self._sequences[name] = _Sequence(name)
            if sequence.job is not None:
                at += 1
                continue
            if job.request.context_size > self._asked:
                if self._running or self._reading:
                    return
                if not self._resize(job):
                    del self._queue[at]
                    continue
            if not self._place(sequence, job):
                return
            del self._queue[at]
            self._begin(sequence, job)

    def _resize(self, job: _Job) -> bool:
        size = job.request.context_size
        for sequence in self._residents:
            if sequence is not None:
                sequence.dropped = bool(sequence.tokens)
                sequence.tokens.clear()
                sequence.slot = -1
        try:
            self._backend.resize(size)
            self._asked = size
        except Exception as fault:
            self._fail(job, _inference_failed(fault))
        self._residents = [None] * self._backend.n_sequences
        self._status = self._backend.status()
        return not job.done

    def _place(self, sequence: _Sequence, job: _Job) -> bool:
        """Make `sequence` a resident with enough free cells; False: it has to wait."""
        backend = self._backend
        cells = backend.cells
        short = 0
        if cells < backend.context_size * backend.n_sequences:
            others = (other for other in self._residents if other is not None and other is not sequence)
            taken = sum(self._need(other.job) if other.job else len(other.tokens) for other in others)
            short = taken + self._need(job) - cells
        while short > 0 or (sequence.slot < 0 and None not in self._residents):
            victim = self._least_used(sequence)
            if victim is None:
                return False
            short -= len(victim.tokens)
            self._leave(victim)
        if sequence.slot < 0:
            self._come_back(sequence, self._residents.index(None))
        return True

    def _need(self, job: _Job) -> int:
        return min(len(job.request.prompt) + max(job.request.max_tokens, 0), self._window(job.request))

    def _window(self, request: GenerateRequest) -> int:
        return min(request.context_size, self._backend.context_size, self._backend.cells)

    def _least_used(self, newcomer: _Sequence) -> _Sequence | None:
        """The idle resident to give up: one that no waiting job wants, else the one unused for longest."""
        wanted = {job.request.sequence for job in self._queue}
        idle = [s for s in self._residents if s is not None and s.job is None and s is not newcomer]
        return min(idle, key=lambda s: (s.name in wanted, s.used), default=None)

    def _leave(self, sequence: _Sequence) -> None:
        """End a sequence's residence."""
        self._residents[sequence.slot] = None
        self._lose(sequence)
        sequence.slot = -1

    def _come_back(self, sequence: _Sequence, slot: int) -> None:
        """Begin a sequence's residence."""
        self._residents[slot] = sequence
        sequence.slot = slot

    def _lose(self, sequence: _Sequence) -> None:
        """Give a resident's cache up."""
        sequence.dropped = sequence.dropped or bool(sequence.tokens)
        sequence.tokens.clear()
        try:
            self._backend.clear(sequence.slot)
        except Exception:
            log.exception("a sequence could not be cleared")

    def _begin(self, sequence: _Sequence, job: _Job) -> None:
        """Keep what the cache and the prompt have in common, and let the rest be read."""
        request = job.request
        prompt = request.prompt
        window = self._window(request)
        if len(prompt) >= window:
            self._fail(job, _too_long(request, window))
            return
        job.limit = min(request.max_tokens, window - len(prompt))
        job.dropped, sequence.dropped = sequence.dropped, False
        try:
            job.sampler = self._backend.sampler(request)
            keep = _common(sequence.tokens, prompt)
            if keep < len(sequence.tokens):
                kept = self._backend.cut(sequence.slot, keep) if keep else 0
                if not kept:
                    self._backend.clear(sequence.slot)
                job.dropped = job.dropped or kept < keep
                del sequence.tokens[kept:]
        except Exception as fault:
            self._lose(sequence)
            self._fail(job, _inference_failed(fault))
            return
        job.position = job.cached = len(sequence.tokens)
        job.sequence = sequence
        sequence.job = job
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
        self._add_prompts(jobs, slices)
        if self._deterministic:
            for job, piece in zip(jobs, slices, strict=True):
                self._compute([job], [piece])
        else:
            self._compute(jobs, slices)
        if any(job.done for job in jobs):
            self._sweep()
        self._out.flush()

    def _add_prompts(self, jobs: list[_Job], slices: list[Slice]) -> None:
        """Add as much of the waiting prompts as a step may read."""
        budget = self._chunk
        for job in self._reading:
            prompt = job.request.prompt
            start = job.position
            size = len(prompt) - start
            if self._deterministic:
                # Where a prompt is cut moves its logits, so the borders must not depend on who else is reading.
                size = min(size, self._chunk - start % self._chunk)
                if size > budget:
                    return
            size = min(size, budget)
            assert job.sequence is not None
            jobs.append(job)
            slices.append(Slice(job.sequence.slot, start, prompt[start : start + size], start + size == len(prompt)))
            budget -= size
            if budget <= 0:
                return

    def _compute(self, jobs: list[_Job], slices: list[Slice]) -> None:
        try:
            self._backend.decode(slices)
        except Exception as fault:
            for job in jobs:
                assert job.sequence is not None
                self._lose(job.sequence)
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
        """The next token, and what it makes visible."""
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
            job.sequence.job = None
            self._tick += 1
            job.sequence.used = self._tick


def _common(held: Sequence[int], prompt: Sequence[int]) -> int:
    """How many tokens of a cache a prompt can use; it always leaves one to be read."""
    most = min(len(held), len(prompt) - 1)
    for index in range(most):
        if held[index] != prompt[index]:
            return index
    return max(most, 0)


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
    )


def _too_long(request: GenerateRequest, window: int) -> PromptTooLong:
    return PromptTooLong(f"the prompt has {len(request.prompt)} tokens, the context window only {window}")


def _inference_failed(fault: Exception) -> ParleyError:
    if isinstance(fault, ParleyError):
        return fault
    return InferenceFailed(f"the model failed while it was generating: {fault or type(fault).__name__}")
