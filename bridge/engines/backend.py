"""What a scheduler asks of the library that computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from bridge.engine import EngineStatus, GenerateRequest, Vocabulary


class Slice(NamedTuple):
    """Tokens of one sequence that are to be decoded, from position `start` on."""

    seq: int
    start: int
    tokens: Sequence[int]
    want_logits: bool
    """Whether the token after the last one is to be drawn."""


class Parked(NamedTuple):
    """A sequence's cache in host memory."""

    length: int
    """Tokens that it covers."""
    bytes: int
    data: Any
    """Only the backend that made it reads it."""


class Backend(Protocol):
    """What computes. Threading: called on the scheduler's thread only, except `vocabulary` and the two constants."""

    @property
    def vocabulary(self) -> Vocabulary: ...

    @property
    def trained_context(self) -> int: ...

    @property
    def chat_template(self) -> str: ...

    @property
    def n_sequences(self) -> int:
        """How many sequences the context holds; may change in `resize`."""

    @property
    def context_size(self) -> int:
        """Cells that one sequence may use."""

    @property
    def cells(self) -> int:
        """Cells that all sequences share."""

    def decision_sequences(self) -> int:
        """How many sequences there are for decisions, numbered behind the others; made when first asked for.

        What else is computed does not touch their caches, so it cannot move their scores. 0: there are none, because
        all caches are so or because there is no room; decisions share the others' then.
        """

    def decode(self, slices: Sequence[Slice]) -> None:
        """Compute slices that are all for decisions or all not.

        Raises on failure; the sequences of the slices are then in no known state.
        """

    def cut(self, seq: int, length: int) -> int:
        """Keep the first `length` (> 0) tokens; returns how many are really kept, 0 where all had to go."""

    def clear(self, seq: int) -> None:
        """Keep nothing of this sequence."""

    def save(self, seq: int, replay: int, limit: int) -> Parked | None:
        """A copy that outlives `resize`; None where it would take more than `limit` bytes.

        The next prompt is expected to begin with `replay` (> 0) of the tokens: where the copy could not be cut later,
        it is cut back to them now, in the context too. Raises where no copy can be made.
        """

    def restore(self, seq: int, parked: Parked) -> None:
        """Put a copy into an empty sequence. Raises where it does not fit; the sequence is then in no known state."""

    def bytes_of(self, tokens: int) -> int:
        """What so many cells of the context take."""

    def sampler(self, request: GenerateRequest) -> Any:
        """What draws this reply's tokens; it is freed with its last reference."""

    def sample(self, sampler: Any, row: int) -> int:
        """Draw from the logits of the last decode's `row`-th slice that wanted some."""

    def scores(self, request: GenerateRequest, row: int) -> tuple[float, ...]:
        """The logit of each of the request's choices, of the last decode's `row`-th slice that wanted some."""

    def forget(self, name: str) -> None:
        """This sequence name is not coming back."""

    def resize(self, context_size: int) -> None:
        """Make room for sequences of this size; empties all. Raises where there is no room: the old size stays."""

    def status(self) -> EngineStatus: ...

    def close(self) -> None: ...
