"""Where the caches of all sequences are: in a model's context, parked in host memory, or given up."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence

from bridge.engine import CacheAction, CacheState
from bridge.engines.backend import Backend, Parked

log = logging.getLogger(__name__)


class Resident:
    """What is known of one sequence name, a resident or not."""

    __slots__ = ("busy", "cells", "dropped", "name", "parked", "replay", "slot", "tokens", "used")

    def __init__(self, name: str) -> None:
        self.name = name
        self.tokens: list[int] = []  # exactly what the cache holds, in the context or parked
        self.slot = -1
        self.parked: Parked | None = None
        self.replay = 0  # how many of `tokens` the next prompt is expected to begin with
        self.busy = False
        self.cells = 0  # what the running reply may need in all
        self.dropped = False
        self.used = 0


class Residence:
    """All sequences of one model, and which of them have a place in its context.

    An idle resident that has to leave is parked; what is parked stays under `park_bytes`, the least recently used goes
    first. A sequence on its way back does not count while it trades places with one that leaves.
    Threading: used on the scheduler's thread only; the three counts may be read anywhere.
    """

    def __init__(self, backend: Backend, park_bytes: int) -> None:
        self._backend = backend
        self._park_bytes = park_bytes
        self._all: dict[str, Resident] = {}
        self._slots: list[Resident | None] = [None] * backend.n_sequences
        self._parked: dict[str, Resident] = {}
        self._tick = 0
        self.parked_bytes = 0

    @property
    def residents(self) -> int:
        """Sequences in the context that hold something."""
        return sum(1 for sequence in self._slots.copy() if sequence is not None and sequence.tokens)

    @property
    def parked(self) -> int:
        """Sequences in host memory."""
        return len(self._parked)

    def __len__(self) -> int:
        return len(self._all)

    def find(self, name: str) -> Resident:
        """The sequence of this name; a new one where it is not known."""
        sequence = self._all.get(name)
        if sequence is None:
            sequence = self._all[name] = Resident(name)
        return sequence

    def sets_decisions_apart(self) -> bool:
        """Whether decisions have places of their own; makes them where they are missing."""
        missing = self._backend.n_sequences + self._backend.decision_sequences() - len(self._slots)
        self._slots.extend([None] * missing)
        return len(self._slots) > self._backend.n_sequences

    # ---- a reply's way

    def admit(
        self, sequence: Resident, cells: int, wanted: Callable[[], Collection[str]], *, decides: bool = False
    ) -> bool:
        """Make `sequence` a resident that may use so many cells, with all that was parked of it; False: it has to wait.

        `wanted`: the names that somebody waits for; they leave last. `decides`: the place is to be one of those that
        `sets_decisions_apart` has made.
        """
        backend = self._backend
        first = backend.n_sequences if decides else 0
        last = len(self._slots) if decides else backend.n_sequences
        if sequence.slot >= 0 and not first <= sequence.slot < last:
            self._leave(sequence, park=True)
        slots = self._slots[first:last]
        short = 0
        if not decides and backend.cells < backend.context_size * backend.n_sequences:
            others = (other for other in slots if other is not None and other is not sequence)
            taken = sum(other.cells if other.busy else len(other.tokens) for other in others)
            short = taken + max(cells, len(sequence.tokens)) - backend.cells
        while short > 0 or (sequence.slot < 0 and None not in slots):
            victim = self._least_used(slots, sequence, wanted())
            if victim is None:
                self._keep_within_budget(None, wanted())
                return False
            short -= len(victim.tokens)
            self._leave(victim, park=True)
            slots = self._slots[first:last]
            self._keep_within_budget(sequence, wanted())
        if sequence.slot < 0:
            sequence.slot = self._slots.index(None, first, last)
            self._slots[sequence.slot] = sequence
            self._restore(sequence)
        sequence.busy = True
        sequence.cells = cells
        return True

    def align(self, sequence: Resident, prompt: Sequence[int], *, as_parked: bool) -> bool:
        """Cut a resident's cache back to what it has in common with `prompt`; says whether it was, or is, given up.

        `as_parked`: keep no more than a parked sequence would have kept.
        """
        held = sequence.tokens
        keep = _common(held, prompt)
        if as_parked:
            keep = min(keep, sequence.replay)
        if keep < len(held):
            kept = self._backend.cut(sequence.slot, keep) if keep else 0
            if not kept:
                self._backend.clear(sequence.slot)
            sequence.dropped = sequence.dropped or kept < keep
            del held[kept:]
        dropped, sequence.dropped = sequence.dropped, False
        return dropped

    def release(self, sequence: Resident, replay: int) -> None:
        """The reply is over. `replay`: how many of the tokens held the next prompt is expected to begin with."""
        sequence.busy = False
        sequence.cells = 0
        sequence.replay = min(replay, len(sequence.tokens))
        self._tick += 1
        sequence.used = self._tick

    def lose(self, sequence: Resident) -> None:
        """Give a resident's cache up. It keeps its place."""
        sequence.dropped = sequence.dropped or bool(sequence.tokens)
        sequence.tokens.clear()
        try:
            self._backend.clear(sequence.slot)
        except Exception:  # the engine is in trouble already; the sequence counts as empty and its turn has failed
            log.exception("a sequence could not be cleared")

    # ---- all of them

    def forget(self, name: str) -> None:
        """Free all that is kept under this name, and its place. Not for a running sequence."""
        sequence = self._all.pop(name, None)
        if sequence is not None:
            if sequence.slot >= 0:
                self._leave(sequence, park=False)
            self._unpark(sequence)
        self._backend.forget(name)

    def resize(self, context_size: int) -> None:
        """Remake the context; nothing may be running. All residents are parked. Raises where there is no room."""
        for sequence in self._slots:
            if sequence is not None:
                self._leave(sequence, park=True)
                self._keep_within_budget(None, ())
        try:
            self._backend.resize(context_size)
        finally:
            self._slots = [None] * self._backend.n_sequences

    def drop_parked(self) -> None:
        """Free all copies in host memory."""
        for sequence in list(self._parked.values()):
            self._drop_parked(sequence)

    def manage(self, name: str, action: CacheAction) -> CacheState:
        """Park or drop an idle sequence, or just look, and say how it is then."""
        sequence = self._all.get(name)
        if sequence is None:
            return CacheState(0, 0, "none")
        if not sequence.busy and action != "Stats":
            if sequence.slot >= 0:
                self._leave(sequence, park=action == "Park")
                self._keep_within_budget(None, ())
            if action == "Drop":
                self._drop_parked(sequence)
        tokens = len(sequence.tokens)
        if sequence.parked is not None:
            return CacheState(tokens, sequence.parked.bytes, "parked")
        if not tokens:
            return CacheState(0, 0, "none")
        return CacheState(tokens, self._backend.bytes_of(tokens), "resident")

    # ---- places

    def _leave(self, sequence: Resident, *, park: bool) -> None:
        """End a sequence's residence."""
        if park and sequence.tokens and self._park_bytes > 0:
            self._park(sequence)
        tokens = sequence.tokens
        if sequence.parked is not None:
            sequence.tokens = []
        self.lose(sequence)
        if sequence.parked is not None:
            sequence.tokens = tokens
        self._slots[sequence.slot] = None
        sequence.slot = -1

    def _park(self, sequence: Resident) -> None:
        try:
            parked = self._backend.save(sequence.slot, max(sequence.replay, 1), self._park_bytes)
        except Exception:  # losing a copy costs a re-reading, which usage reports; it may not fail a turn
            log.exception("a sequence could not be parked")
            return
        if parked is None:
            return
        del sequence.tokens[parked.length :]
        sequence.parked = parked
        self._parked[sequence.name] = sequence
        self.parked_bytes += parked.bytes

    def _restore(self, sequence: Resident) -> None:
        parked = sequence.parked
        if parked is None:
            return
        self._unpark(sequence)
        try:
            self._backend.restore(sequence.slot, parked)
        except Exception:  # as above: read anew and counted
            log.exception("a parked sequence could not be restored; its prompt is read anew")
            self.lose(sequence)

    def _unpark(self, sequence: Resident) -> None:
        if sequence.parked is not None:
            self.parked_bytes -= sequence.parked.bytes
            sequence.parked = None
            del self._parked[sequence.name]

    def _drop_parked(self, sequence: Resident) -> None:
        if sequence.parked is not None:
            self._unpark(sequence)
            sequence.tokens = []
            sequence.dropped = True

    def _keep_within_budget(self, newcomer: Resident | None, wanted: Collection[str]) -> None:
        spared = newcomer.parked.bytes if newcomer is not None and newcomer.parked is not None else 0
        while self.parked_bytes - spared > self._park_bytes:
            oldest = self._least_used(self._parked.values(), newcomer, wanted)
            if oldest is None:
                return
            self._drop_parked(oldest)

    @staticmethod
    def _least_used(
        some: Collection[Resident | None], newcomer: Resident | None, wanted: Collection[str]
    ) -> Resident | None:
        """The idle sequence to give up: one that nobody waits for, else the one unused for longest."""
        idle = [s for s in some if s is not None and not s.busy and s is not newcomer]
        return min(idle, key=lambda s: (s.name in wanted, s.used), default=None)


def _common(held: Sequence[int], prompt: Sequence[int]) -> int:
    """How many tokens of a cache a prompt can use; it always leaves one to be read."""
    most = min(len(held), len(prompt) - 1)
    for index in range(most):
        if held[index] != prompt[index]:
            return index
    return max(most, 0)
