"""How the next token is drawn from the logits of a whole vocabulary, at a cost that batches can bear."""

from __future__ import annotations

import ctypes
import secrets
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bridge.engine import Sampling
from bridge.engines.llama_library import lib
from bridge.errors import InferenceFailed

if TYPE_CHECKING:
    from bridge.engines.llama_grammar import LlamaConstraint

PENALTY_WINDOW = 64
"""Tokens that the penalties look back on, of prompt and reply."""

Logits = npt.NDArray[np.float32]

_RANDOM_SEED = 0xFFFFFFFF  # llama.cpp's own word for "a random one"
_CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
_ROOM = 4096
_COLUMNS = 1024


class Table:
    """Candidates laid out for llama.cpp: `ids` and `logits` are written by index, `show` says how many count."""

    def __init__(self, room: int) -> None:
        table = np.zeros(room, dtype=_CANDIDATE)
        self.ids = table["id"]
        self.logits = table["logit"]
        self.array = lib.llama_token_data_array()
        address: Any = ctypes.cast(table.ctypes.data, lib.llama_token_data_p)
        self.array.data = address
        self.reference = ctypes.byref(self.array)

    def show(self, count: int) -> None:
        self.array.size = count
        self.array.selected = -1
        self.array.sorted = False

    @property
    def chosen(self) -> int:
        """The token on which the samplers decided."""
        return int(self.array.data[self.array.selected].id)


class Candidates:
    """Working memory for drawing: one for each scheduler thread."""

    def __init__(self, vocabulary_size: int) -> None:
        self.size = vocabulary_size
        self.mask = np.empty(vocabulary_size, dtype=np.bool_)
        self.depth = vocabulary_size // _COLUMNS
        self.best = Table(_ROOM)

    @cached_property
    def all(self) -> Table:
        """Room for the whole vocabulary."""
        return Table(self.size)


class LlamaSampler:
    """Draws the tokens of one reply.

    The links of the chain stand in llama.cpp's order: penalties, top_k, top_p, min_p, temperature, draw. What the chain
    is shown is not the whole vocabulary, though, but a little more than its best `top_k` tokens (and 64 more where
    penalties may lower 64 of them). The outcome is the same; over a vocabulary of 262,144 it costs 0.1 ms in place of
    0.2, or of 0.8 with penalties. Where a penalty may raise tokens the chain does get the whole vocabulary, and with
    `top_k` 0 it even has to sort it: 17 ms a token.

    Under a grammar a token is drawn as ever and then looked at; only one that is refused is drawn anew, out of all that
    are allowed: 2 ms more.
    """

    __slots__ = ("_chain", "_constraint", "_enough")

    def __init__(
        self,
        sampling: Sampling,
        recent: Sequence[int],
        vocabulary_size: int,
        constraint: LlamaConstraint | None = None,
    ) -> None:
        """`recent`: the end of the prompt, for the penalties. Raises InferenceFailed for what llama.cpp refuses."""
        self._constraint = constraint
        params = lib.llama_sampler_chain_default_params()
        params.no_perf = True
        self._chain: Any = lib.llama_sampler_chain_init(params)
        greedy = sampling.temperature <= 0
        best = 1 if greedy else max(sampling.top_k, 0)
        changes = (sampling.repeat_penalty - 1, sampling.presence_penalty, sampling.frequency_penalty)
        self._enough = best
        if any(changes):
            self._enough = best + PENALTY_WINDOW if best and min(changes) >= 0 else 0
            self._add(
                lib.llama_sampler_init_penalties(
                    vocabulary_size,
                    PENALTY_WINDOW,
                    sampling.repeat_penalty,
                    sampling.frequency_penalty,
                    sampling.presence_penalty,
                )
            )
        if greedy:
            self._add(lib.llama_sampler_init_greedy())
        else:
            if best:
                self._add(lib.llama_sampler_init_top_k(best))
            if sampling.top_p < 1:
                self._add(lib.llama_sampler_init_top_p(sampling.top_p, 1))
            if sampling.min_p > 0:
                self._add(lib.llama_sampler_init_min_p(sampling.min_p, 1))
            self._add(lib.llama_sampler_init_temp(sampling.temperature))
            self._add(lib.llama_sampler_init_dist(_seed(sampling.seed)))
        if any(changes):
            for token in recent[-PENALTY_WINDOW:]:
                lib.llama_sampler_accept(self._chain, token)

    def draw(self, ctx: Any, index: int, logits: Logits, space: Candidates) -> int:
        """The next token. `logits` are those that `ctx` has for this index of its last batch."""
        table = self._candidates(logits, space)
        constraint = self._constraint
        if constraint is None or constraint.off:
            if table is None:
                return int(lib.llama_sampler_sample(self._chain, ctx, index))
            lib.llama_sampler_apply(self._chain, table.reference)
            token = table.chosen
        else:
            if table is None:
                table = space.all
                table.ids[:] = np.arange(space.size)
                table.logits[:] = logits
                table.show(space.size)
            lib.llama_sampler_apply(self._chain, table.reference)
            token = table.chosen
            if not constraint.allows(token):
                token = self._redraw(constraint, logits, space)
            constraint.accept(token)
        lib.llama_sampler_accept(self._chain, token)
        return token

    def _candidates(self, logits: Logits, space: Candidates) -> Table | None:
        """As many of the best tokens as the chain must see; None: all of them."""
        found = _best(logits, self._enough, space) if 0 < self._enough < _COLUMNS and space.depth else 0
        if not found:
            return None
        space.best.show(found)
        return space.best

    def _redraw(self, constraint: LlamaConstraint, logits: Logits, space: Candidates) -> int:
        """A token out of all that the grammar allows."""
        table = space.best
        found = _best(logits, 4 * self._enough, space) if 0 < 4 * self._enough < _COLUMNS and space.depth else 0
        if found:
            # Inside a text nearly all tokens are allowed: then so many of the best are that the others do not matter.
            table.show(found)
            constraint.mask(table)
            left = np.flatnonzero(table.logits[:found] > -np.inf)
            found = len(left) if len(left) >= self._enough else 0
            table.ids[:found] = table.ids[left[:found]]
            table.logits[:found] = table.logits[left[:found]]
            table.show(found)
        if not found:
            table = space.all
            if not constraint.fill(table, logits):
                raise InferenceFailed("the model has no token that the grammar of the tools allows")
        lib.llama_sampler_apply(self._chain, table.reference)
        return table.chosen

    def _add(self, link: Any) -> None:
        if not link:
            raise InferenceFailed("llama.cpp refuses the sampling parameters")
        lib.llama_sampler_chain_add(self._chain, link)

    def __del__(self) -> None:
        if lib is not None and self._chain:  # the module may be gone when the process ends
            lib.llama_sampler_free(self._chain)
            self._chain = None


def _best(logits: Logits, enough: int, space: Candidates) -> int:
    """Lay out the best tokens, `enough` or some more; 0 where they are too many to lay out.

    Seen as a table, the `enough`-th best of the columns' maxima is a bound that at least so many tokens reach.
    """
    maxima = logits[: space.depth * _COLUMNS].reshape(space.depth, _COLUMNS).max(axis=0)
    bound = np.partition(maxima, _COLUMNS - enough)[_COLUMNS - enough]
    np.greater_equal(logits, bound, out=space.mask)
    chosen = np.flatnonzero(space.mask)
    count = len(chosen)
    if count > _ROOM:
        return 0
    space.best.ids[:count] = chosen
    space.best.logits[:count] = logits[chosen]
    return count


def _seed(seed: int) -> int:
    return secrets.randbelow(_RANDOM_SEED) if seed <= 0 else seed % _RANDOM_SEED
