"""The mock engine: echoes or plays a script through the real scheduler, for games' tests without weights."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from bridge.config import Settings
from bridge.engine import EngineStatus, GenerateRequest, Segment
from bridge.engines.backend import Parked, Slice
from bridge.engines.scheduler import Scheduler
from bridge.errors import InferenceFailed

END = 0
"""The token that ends every reply."""

TOKEN_BYTES = 1024
"""What one token in a cache takes, in the context and parked."""

_WORD = re.compile(r"\s*\S+(?:\s+\Z)?|\s+\Z")


def _distinct_words(text: str) -> set[str]:
    return {word.casefold() for word in re.findall(r"\w+", text)}


class MockVocabulary:
    """Every word with the white space before it is one token; white space at a text's end goes with its last word.

    Threading: safe from any thread.
    """

    markers: Mapping[str, int] = MappingProxyType({})
    bos: int | None = None
    eos: int | None = None

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids: dict[str, int] = {}
        self._pieces = [b""]

    def tokenize(self, segments: Sequence[Segment]) -> list[int]:
        tokens: list[int] = []
        for segment in segments:
            tokens.extend(self.words(segment.text) if segment.tokens is None else segment.tokens)
        return tokens

    def words(self, text: str) -> list[int]:
        """The tokens of one text."""
        return [self._intern(word) for word in _WORD.findall(text)]

    def piece(self, token: int) -> bytes:
        return self._pieces[token]

    def is_end(self, token: int) -> bool:
        return token == END

    def _intern(self, word: str) -> int:
        known = self._ids.get(word)
        if known is not None:
            return known
        with self._lock:
            if word not in self._ids:
                self._pieces.append(word.encode("utf-8", "replace"))
                self._ids[word] = len(self._pieces) - 1
            return self._ids[word]


class MockBackend:
    """Computes nothing, but keeps its cells as exactly as a real context does and refuses what one would refuse."""

    chat_template = ""

    def __init__(
        self,
        *,
        mode: Literal["echo", "script"] = "echo",
        replies: Sequence[str] = (),
        n_sequences: int = 4,
        context_size: int = 4096,
    ) -> None:
        self.vocabulary = MockVocabulary()
        self.trained_context = 2**20
        self.n_sequences = n_sequences
        self.context_size = context_size
        self._mode = mode
        self._replies = tuple(replies)
        self._next: dict[str, int] = {}
        self._held: list[list[int]] = [[] for _ in range(n_sequences + 1)]

    @property
    def cells(self) -> int:
        return self.n_sequences * self.context_size

    def decision_sequences(self) -> int:
        return 1

    def decode(self, slices: Sequence[Slice]) -> None:
        for piece in slices:
            held = self._held[piece.seq]
            if piece.start != len(held):
                raise InferenceFailed(f"sequence {piece.seq} holds {len(held)} tokens, not {piece.start}")
            if piece.start + len(piece.tokens) > self.context_size:
                raise InferenceFailed(f"sequence {piece.seq} has no cells left")
            held.extend(piece.tokens)

    def cut(self, seq: int, length: int) -> int:
        del self._held[seq][length:]
        return length

    def clear(self, seq: int) -> None:
        self._held[seq].clear()

    def save(self, seq: int, replay: int, limit: int) -> Parked | None:
        held = tuple(self._held[seq])
        size = self.bytes_of(len(held))
        return Parked(len(held), size, held) if size <= limit else None

    def restore(self, seq: int, parked: Parked) -> None:
        if self._held[seq]:
            raise InferenceFailed(f"sequence {seq} is not empty")
        if parked.length > self.context_size:
            raise InferenceFailed(f"sequence {seq} has no cells left")
        self._held[seq] = list(parked.data)

    def bytes_of(self, tokens: int) -> int:
        return tokens * TOKEN_BYTES

    def sampler(self, request: GenerateRequest) -> Iterator[int]:
        if self._mode == "echo":
            text = request.user_text
        elif self._replies:
            turn = self._next.get(request.sequence, 0)
            self._next[request.sequence] = turn + 1
            text = self._replies[turn % len(self._replies)]
        else:
            text = ""
        return iter(self.vocabulary.words(text))

    def sample(self, sampler: Iterator[int], row: int) -> int:
        return next(sampler, END)

    def scores(self, request: GenerateRequest, row: int) -> tuple[float, ...]:
        said = _distinct_words(request.user_text)
        return tuple(float(len(said & _distinct_words(choice.description))) for choice in request.choices)

    def forget(self, name: str) -> None:
        self._next.pop(name, None)

    def resize(self, context_size: int) -> None:
        self.context_size = context_size
        self._held = [[] for _ in range(self.n_sequences + 1)]

    def status(self) -> EngineStatus:
        return EngineStatus(backend="mock")

    def close(self) -> None:
        self._held.clear()


def load_mock(
    settings: Settings,
    *,
    mode: Literal["echo", "script"] = "echo",
    replies: Sequence[str] = (),
    tokens_per_s: float = 0.0,
    context_size: int = 4096,
    pause: Callable[[float], None] | None = None,
) -> Scheduler:
    """A mock model, ready to generate. `script` starts over behind its last reply; a reply counts once it is begun.

    `tokens_per_s` 0 = as fast as it can; `pause` replaces the wait between two tokens.
    """
    backend = MockBackend(
        mode=mode, replies=replies, n_sequences=settings.resident_sequences, context_size=context_size
    )
    return Scheduler(
        backend,
        prompt_chunk=settings.prompt_chunk,
        deterministic=settings.deterministic,
        park_bytes=settings.park_bytes,
        step_s=1 / tokens_per_s if tokens_per_s > 0 else 0.0,
        pause=pause,
    )
