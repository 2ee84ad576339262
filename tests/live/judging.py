"""Is a cache right? What a stream saw is compared with what a fresh context makes of the same tokens."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bridge.engine import GenerateRequest
from bridge.engines.backend import Parked, Slice
from bridge.engines.llama import LlamaBackend
from bridge.engines.llama_sampling import LlamaSampler, Logits
from bridge.engines.scheduler import Scheduler

NEAR_TIE = 1.0
"""Logits closer than this may change places: prompts read in other chunks differ by up to 0.8."""

MOST_KL = 0.01
"""Of a whole talk."""

MOST_KL_OF_A_REPLY = 0.02
"""A few tokens say less: readings of one text in chunks of 1, 7 and 128 differ by up to 0.01 over a short reply."""


@dataclass(slots=True)
class Reply:
    """What one reply was drawn from."""

    prompt: tuple[int, ...]
    tokens: list[int] = field(default_factory=list)
    """As drawn, one that ended the reply too."""
    seen: list[Logits] = field(default_factory=list)
    """What each of them was drawn from."""

    @property
    def read(self) -> tuple[int, ...]:
        """The tokens behind which something was drawn, and all before them."""
        return (*self.prompt, *self.tokens[:-1])


class Recording(LlamaBackend):
    """Keeps the last reply of every sequence and what it was drawn from; can plant a token in a cache."""

    def prepare(self) -> None:
        """Forget what was recorded. Must be called once before use."""
        self.replies: dict[str, Reply] = {}
        self.parking_s: list[float] = []
        """Seconds that each save and each restore took."""
        self.plant: tuple[int, int] | None = None
        self.on_decode: Callable[[], None] | None = None
        self._by_sampler: dict[int, Reply] = {}

    def sampler(self, request: GenerateRequest) -> LlamaSampler:
        made = super().sampler(request)
        reply = self.replies[request.sequence] = Reply(request.prompt)
        current = self.replies.values()  # the earlier ones go: a row of logits is a megabyte
        self._by_sampler = {key: value for key, value in self._by_sampler.items() if any(value is r for r in current)}
        self._by_sampler[id(made)] = reply
        return made

    def sample(self, sampler: LlamaSampler, row: int) -> int:
        reply = self._by_sampler[id(sampler)]
        reply.seen.append(self.logits(row))
        token = super().sample(sampler, row)
        reply.tokens.append(token)
        return token

    def decode(self, slices: Sequence[Slice]) -> None:
        if self.on_decode is not None:
            self.on_decode()
        if self.plant is not None:
            at, token = self.plant
            slices = [
                piece._replace(tokens=[token if piece.start + i == at else t for i, t in enumerate(piece.tokens)])
                for piece in slices
            ]
        super().decode(slices)

    def save(self, seq: int, replay: int, limit: int) -> Parked | None:
        started = time.perf_counter()
        parked = super().save(seq, replay, limit)
        self.parking_s.append(time.perf_counter() - started)
        return parked

    def restore(self, seq: int, parked: Parked) -> None:
        started = time.perf_counter()
        super().restore(seq, parked)
        self.parking_s.append(time.perf_counter() - started)


class Lent(Scheduler):
    """A scheduler that leaves its backend open, and empty, for the next test."""

    def __init__(self, backend: Recording, **more: Any) -> None:
        backend.prepare()
        self._lent = backend
        super().__init__(backend, **more)

    def close(self) -> None:
        backend = self._lent
        keep, backend.close = backend.close, lambda: None  # type: ignore[method-assign]
        super().close()
        backend.close = keep  # type: ignore[method-assign]
        for seq in range(backend.n_sequences):
            backend.clear(seq)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How far what one reply saw is from what it should have seen."""

    tokens: int
    mean_kl: float
    other_choices: int
    """Draws whose most likely token is another one, though it is no near tie."""

    @property
    def right(self) -> bool:
        return self.mean_kl <= MOST_KL_OF_A_REPLY and not self.other_choices


def judge(backend: LlamaBackend, tokens: Sequence[int], seen: Sequence[Logits], chunk: int = 32) -> Verdict:
    """Compare what was seen behind the last of `tokens` with a fresh context's view of all of them."""
    first = len(tokens) - len(seen)
    total = 0.0
    other = 0
    for fresh, saw in zip(backend.teacher_force(tokens, first, chunk), seen, strict=True):
        p, q = _log_softmax(fresh), _log_softmax(saw)
        total += float(np.sum(np.exp(p) * (p - q)))
        best, second = np.partition(fresh, -2)[[-1, -2]]
        if best - second > NEAR_TIE:
            other += int(fresh.argmax()) != int(saw.argmax())
    return Verdict(len(seen), total / len(seen), other)


def judge_reply(backend: Recording, sequence: str, chunk: int = 32) -> Verdict:
    """Judge the cache behind a sequence's last reply."""
    reply = backend.replies[sequence]
    return judge(backend, reply.read, reply.seen, chunk)


def _log_softmax(logits: Logits) -> Any:
    shifted = logits.astype(np.float64) - float(logits.max())
    return shifted - np.log(np.exp(shifted).sum())
