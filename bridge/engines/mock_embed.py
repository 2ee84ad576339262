"""The mock engine's embedding counterpart: a hashed bag of words, for games' own tests without weights."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Sequence

import numpy as np

from bridge.engine import EngineLoad, EngineStatus, Vectors
from bridge.errors import InferenceFailed

DIMENSION = 64
MAX_TOKENS = 8192
BATCH = 256
"""Texts after which others get their turn on the event loop."""

_WORD = re.compile(r"\w+")


class MockEmbedder:
    r"""An `EmbeddingModel` that needs no weights. A token is a `\w+` word, its case folded.

    Each word counts in one of 64 places, chosen by a hash that is the same everywhere. Texts that share words are near
    each other; without a common word they are only where two words happen to share a place.
    """

    def __init__(self) -> None:
        self.dimension = DIMENSION
        self.max_tokens = MAX_TOKENS
        self._closed = False

    async def embed(
        self, texts: Sequence[str], progress: Callable[[int, int], None] | None = None
    ) -> tuple[Vectors, list[bool]]:
        texts = list(texts)
        rows: Vectors = np.zeros((len(texts), DIMENSION), np.float32)
        were_cut = []
        for index, text in enumerate(texts):
            if index and index % BATCH == 0:
                if progress is not None:
                    progress(index, len(texts))
                await asyncio.sleep(0)
            if self._closed:
                raise InferenceFailed("the embedding model was unloaded")
            words = _WORD.findall(text.casefold())
            were_cut.append(len(words) > MAX_TOKENS)
            for word in words[:MAX_TOKENS]:
                rows[index, _place(word)] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.where(lengths == 0, 1, lengths)
        if texts and progress is not None:
            progress(len(texts), len(texts))
        return rows, were_cut

    def status(self) -> EngineStatus:
        return EngineStatus(backend="mock")

    def load(self) -> EngineLoad:
        return EngineLoad()

    def close(self) -> None:
        self._closed = True


def _place(word: str) -> int:
    return hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=1).digest()[0] % DIMENSION
