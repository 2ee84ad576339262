"""An embedding model for tests: hashed bags of words, and what went wrong with it on request."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import numpy as np

from bridge.engine import EngineLoad, EngineStatus, Vectors


class FakeEmbedder:
    """Texts that share words are near each other. Remembers every text it was given."""

    def __init__(self, dimension: int = 64, *, max_tokens: int = 32, batch: int = 7) -> None:
        self.dimension = dimension
        self.max_tokens = max_tokens
        self.seen: list[str] = []
        self.no_number_for: set[str] = set()
        """Texts whose vector is NaN, against the contract."""
        self._batch = batch

    async def embed(
        self, texts: Sequence[str], progress: Callable[[int, int], None] | None = None
    ) -> tuple[Vectors, list[bool]]:
        self.seen.extend(texts)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split()[: self.max_tokens]:
                vectors[row, zlib.crc32(word.encode()) % self.dimension] += 1
            if text in self.no_number_for:
                vectors[row] = np.nan
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, lengths, out=vectors, where=lengths > 0)
        for done in range(0, len(texts), self._batch):
            if progress is not None:
                progress(min(done + self._batch, len(texts)), len(texts))
        return vectors, [len(text.split()) > self.max_tokens for text in texts]

    def status(self) -> EngineStatus:
        return EngineStatus("fake")

    def load(self) -> EngineLoad:
        return EngineLoad()

    def close(self) -> None:
        pass
