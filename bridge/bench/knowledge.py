"""What knowledge costs: a search by the size of the storage, with and without a filter, and embedding in batches."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bridge.bench.bare import OPENINGS
from bridge.bench.sections import Section, Setup
from bridge.catalog import read_catalog
from bridge.config import load_settings
from bridge.engine import EmbeddingModel, EngineLoad, EngineStatus, Vectors
from bridge.errors import ModelLoadFailed
from bridge.filter import Field, Filter, compile_filter
from bridge.knowledge import Knowledge, Record
from bridge.models import ModelStore
from bridge.retrieval import EmbeddedStorage, build_storage

SIZES = (1_000, 10_000, 100_000)
DIMENSION = 384
LEVELS = 100
QUERIES = 100
TEXTS = 256
EMBEDDING_MODEL = "starter-embed"


class _RandomVectors:
    """A model that takes no time: whatever the text, a random unit vector."""

    dimension = DIMENSION
    max_tokens = 256

    def __init__(self) -> None:
        self._random = np.random.default_rng(1)

    async def embed(
        self, texts: Sequence[str], progress: Callable[[int, int], None] | None = None
    ) -> tuple[Vectors, list[bool]]:
        vectors = self._random.standard_normal((len(texts), DIMENSION), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors, [False] * len(texts)

    def status(self) -> EngineStatus:
        return EngineStatus("random")

    def load(self) -> EngineLoad:
        return EngineLoad()

    def close(self) -> None:
        pass


async def knowledge_search(setup: Setup) -> Section:
    """Milliseconds of a search among random unit vectors, and how long the event loop stood still meanwhile."""
    rows, figures = [], []
    for size in SIZES:
        setup.tell(f"knowledge search: {size:,} records are put in order")
        model = _RandomVectors()
        schema = {"level": Field("level", "int")}
        records = tuple(Record(str(row), "text", {"level": row % LEVELS}) for row in range(size))
        knowledge = Knowledge("bench", "random", schema, records, "", None)
        start = time.perf_counter()
        storage = await build_storage(knowledge, model, "random", lambda done, total: None)
        build_s = time.perf_counter() - start
        tenth = compile_filter(
            {"op": "lt", "lhs": {"knowledge": "level"}, "rhs": {"value": LEVELS // 10}}, schema, declared={}
        )
        plain, _ = await _timed(storage, model, None)
        (first, *later), pause_ms = await _timed(storage, model, tenth)
        row = {
            "records": size,
            "build_s": build_s,
            "search_ms": statistics.median(plain),
            "search_p95_ms": sorted(plain)[int(0.95 * len(plain))],
            "filtered_first_ms": first,
            "filtered_ms": statistics.median(later),
            "longest_pause_ms": pause_ms,
        }
        figures.append(row)
        times = ("search_ms", "search_p95_ms", "filtered_first_ms", "filtered_ms", "longest_pause_ms")
        rows.append([f"{size:,}", f"{build_s:.1f} s", *(f"{row[name]:.2f} ms" for name in times)])
    columns = ["records", "index made in", "search", "p95", "new filter", "known filter", "event loop stood"]
    title = f"search in knowledge (top 3, {DIMENSION} dimensions, a filter that leaves a tenth)"
    return Section(title, columns, rows, {"rows": figures})


async def _timed(storage: EmbeddedStorage, model: EmbeddingModel, only: Filter | None) -> tuple[list[float], float]:
    """Milliseconds of each search, and the longest time that the event loop did not come round."""
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - before - 0.001)

    watching = asyncio.ensure_future(watch())
    times = []
    try:
        for _ in range(QUERIES):
            start = time.perf_counter()
            await storage.search(model, "query", top_k=3, filter=only)
            times.append(1000 * (time.perf_counter() - start))
            await asyncio.sleep(0.001)
    finally:
        watching.cancel()
    return times, 1000 * longest


async def embedding(setup: Setup) -> Section:
    """Records a second through the embedding model, all handed over at once against one after the other."""
    settings = load_settings()
    store = ModelStore(settings, read_catalog(Path(settings.catalog) if settings.catalog else None))
    title = f"embedding {TEXTS} short texts ({EMBEDDING_MODEL})"
    columns = ["at once", "one by one", "ratio"]
    try:
        setup.tell("embedding: loading the model")
        try:
            held = await store.acquire_embedding(EMBEDDING_MODEL, lambda *_: None)
        except ModelLoadFailed as fault:
            return Section(f"{title}: not measured: {fault}", columns, [], {"error": str(fault)})
        texts = [f"{OPENINGS[row % len(OPENINGS)]} {row}" for row in range(TEXTS)]
        pairs = []
        for turn in range(setup.rounds):
            setup.tell(f"embedding: round {turn + 1} of {setup.rounds}")
            pairs.append((await _rate(_at_once, held.engine, texts), await _rate(_one_by_one, held.engine, texts)))
    finally:
        await store.close()
    median = statistics.median
    figures = {
        "at_once_per_s": median(at_once for at_once, _ in pairs),
        "one_by_one_per_s": median(single for _, single in pairs),
        "ratio": median(at_once / single for at_once, single in pairs),
    }
    row = [f"{figures['at_once_per_s']:.0f}/s", f"{figures['one_by_one_per_s']:.0f}/s", f"{figures['ratio']:.2f}×"]
    return Section(title, columns, [row], figures)


async def _at_once(model: EmbeddingModel, texts: Sequence[str]) -> None:
    await model.embed(texts)


async def _one_by_one(model: EmbeddingModel, texts: Sequence[str]) -> None:
    for text in texts:
        await model.embed([text])


async def _rate(
    way: Callable[[EmbeddingModel, Sequence[str]], Coroutine[Any, Any, None]],
    model: EmbeddingModel,
    texts: Sequence[str],
) -> float:
    start = time.perf_counter()
    await way(model, texts)
    return len(texts) / (time.perf_counter() - start)


SECTIONS = {"knowledge-search": knowledge_search, "embedding": embedding}
