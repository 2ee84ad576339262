"""Embedding without weights: whose batch is next, what ends a call, and the mock engine's bag of words."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.catalog import read_catalog
from bridge.config import Settings
from bridge.engine import EngineStatus, Vectors
from bridge.engines.embed_queue import MAX_TEXTS, QueuedEmbedder
from bridge.engines.mock_embed import BATCH, DIMENSION, MAX_TOKENS, MockEmbedder
from bridge.errors import InferenceFailed, ModelLoadFailed
from bridge.models import ModelStore

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    async def limited() -> T:
        return await asyncio.wait_for(work, 30)

    return asyncio.run(limited())


async def until(condition: Callable[[], bool]) -> None:
    """Let other threads and tasks work until the condition holds."""
    while not condition():  # noqa: ASYNC110 - what is waited for happens on threads that set no event
        await asyncio.sleep(0.001)


class Words:
    """A network whose tokens are the lengths of words. The vector of a text counts its tokens and its letters."""

    dimension = 2
    max_tokens = 4
    batch_tokens = 10
    batch_texts = 4

    def __init__(self) -> None:
        self.batches: list[list[list[int]]] = []
        self.may_compute = threading.Event()
        self.may_compute.set()
        self.fault: Exception | None = None
        self.closes = 0

    def tokenize(self, text: str) -> tuple[list[int], bool]:
        tokens = [len(word) for word in text.split()]
        return tokens[: self.max_tokens], len(tokens) > self.max_tokens

    def compute(self, texts: Sequence[Sequence[int]]) -> Vectors:
        self.batches.append([list(tokens) for tokens in texts])
        assert len(texts) <= self.batch_texts
        assert sum(map(len, texts)) <= self.batch_tokens
        assert self.may_compute.wait(30)
        if self.fault is not None:
            raise self.fault
        rows: Vectors = np.array([[len(tokens), sum(tokens)] for tokens in texts], np.float32)
        rows[rows[:, 1] == 7.0] = np.nan
        rows[rows[:, 1] == 11.0, 1] = np.inf
        return rows

    def status(self) -> EngineStatus:
        return EngineStatus(backend="CPU", bytes_in_memory=5)

    def close(self) -> None:
        self.closes += 1


@pytest.fixture
def network() -> Words:
    return Words()


@pytest.fixture
def embedder(network: Words) -> Iterator[QueuedEmbedder]:
    made = QueuedEmbedder(network)
    yield made
    network.may_compute.set()
    made.close()
    assert network.closes == 1


# ---- the queue -----------------------------------------------------------------------------------------------


def test_rows_are_units_in_the_order_of_the_texts(embedder: QueuedEmbedder, network: Words) -> None:
    texts = ["aaa", "bb bb", "", "  \n", "a a a a a a", "seventh", "elevenxxxxx", "aaa"]
    rows, were_cut = run(embedder.embed(texts))
    assert rows.dtype == np.float32
    expected = np.array([[1, 3], [2, 4], [0, 0], [0, 0], [4, 4], [0, 0], [0, 0], [1, 3]], np.float32)
    lengths = np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(rows, expected / np.where(lengths == 0, 1, lengths))
    assert were_cut == [False] * 4 + [True] + [False] * 3
    assert [len(batch) for batch in network.batches] == [4, 2]
    assert embedder.status() == EngineStatus(backend="CPU", bytes_in_memory=5)


def test_nothing_to_embed_is_no_work(embedder: QueuedEmbedder, network: Words) -> None:
    rows, were_cut = run(embedder.embed([]))
    assert (rows.shape, were_cut) == ((0, 2), [])
    rows, were_cut = run(embedder.embed([""] * (MAX_TEXTS * 2 + 1)))
    assert not rows.any()
    assert not any(were_cut)
    assert network.batches == []


@given(st.lists(st.integers(0, 6).map(lambda n: "ab " * n), max_size=40))
def test_however_texts_fall_into_batches_each_gets_its_own_row(texts: list[str]) -> None:
    embedder = QueuedEmbedder(Words())
    try:
        rows, were_cut = run(embedder.embed(texts))
        assert were_cut == [len(text.split()) > 4 for text in texts]
        for row, text in zip(rows, texts, strict=True):
            count = min(len(text.split()), 4)
            assert np.allclose(row, np.array([1, 2]) / 5**0.5 if count else 0, atol=1e-6)
    finally:
        embedder.close()


def test_progress_is_told_on_the_event_loop_and_ends_at_all(embedder: QueuedEmbedder) -> None:
    async def work() -> None:
        told: list[tuple[int, int]] = []
        here = threading.get_ident()

        def progress(done: int, total: int) -> None:
            assert threading.get_ident() == here
            told.append((done, total))

        await embedder.embed(["a"] * 10, progress)
        assert told == [(4, 10), (8, 10), (10, 10)]

    run(work())


def test_a_query_does_not_wait_for_an_index(embedder: QueuedEmbedder, network: Words) -> None:
    async def work() -> None:
        network.may_compute.clear()
        index = asyncio.create_task(embedder.embed(["a"] * 400))
        await until(lambda: len(network.batches) == 1)
        queries = [asyncio.create_task(embedder.embed(["where"])) for _ in range(2)]
        await asyncio.sleep(0)
        network.may_compute.set()
        await asyncio.gather(*queries)
        await index
        # The batch that ran when they came, then one query; the index is behind both.
        assert [batch[0] for batch in network.batches[:4]] == [[1], [5], [5], [1]]
        assert len(network.batches) == 102

    run(work())


def test_two_long_calls_take_turns(embedder: QueuedEmbedder, network: Words) -> None:
    async def work() -> None:
        network.may_compute.clear()
        calls = [asyncio.create_task(embedder.embed([letter] * 20)) for letter in ("a", "bb")]
        await until(lambda: len(network.batches) == 1)
        network.may_compute.set()
        await asyncio.gather(*calls)
        assert [batch[0][0] for batch in network.batches] == [1, 2] * 5

    run(work())


def test_a_cancel_stops_behind_the_running_batch(embedder: QueuedEmbedder, network: Words) -> None:
    async def work() -> None:
        network.may_compute.clear()
        told: list[int] = []
        index = asyncio.create_task(embedder.embed(["a"] * 400, lambda done, total: told.append(done)))
        await until(lambda: len(network.batches) == 1)
        index.cancel()
        with pytest.raises(asyncio.CancelledError):
            await index
        network.may_compute.set()
        rows, _ = await embedder.embed(["next"])
        assert rows.any()
        assert network.batches == [[[1]] * 4, [[4]]]
        assert told == []

    run(work())


def test_a_failing_batch_fails_its_call_alone(embedder: QueuedEmbedder, network: Words) -> None:
    network.fault = RuntimeError("out of memory")
    with pytest.raises(InferenceFailed, match="the embedding model failed: RuntimeError: out of memory") as caught:
        run(embedder.embed(["a"] * 9))
    assert caught.value.code == 4001
    assert len(network.batches) == 1
    network.fault = InferenceFailed("llama.cpp answers 1")
    with pytest.raises(InferenceFailed, match=r"^llama.cpp answers 1$"):
        run(embedder.embed(["a"]))
    network.fault = None
    assert run(embedder.embed(["a"]))[0].any()


def test_close_waits_for_the_batch_and_fails_what_waits(network: Words) -> None:
    async def work() -> None:
        embedder = QueuedEmbedder(network)
        network.may_compute.clear()
        calls = [asyncio.create_task(embedder.embed(["a"] * 9)) for _ in range(2)]
        await until(lambda: len(network.batches) == 1)
        closes = [asyncio.create_task(asyncio.to_thread(embedder.close)) for _ in range(2)]
        await until(lambda: embedder._closing)
        assert network.closes == 0
        with pytest.raises(InferenceFailed, match="was unloaded"):
            await embedder.embed(["too late"])
        network.may_compute.set()
        await asyncio.gather(*closes)
        assert network.closes == 1
        for call in calls:
            with pytest.raises(InferenceFailed, match="was unloaded") as caught:
                await call
            assert caught.value.code == 4001
        embedder.close()
        assert (network.closes, len(network.batches)) == (1, 1)

    run(work())


def test_a_loop_that_is_gone_holds_nobody_up(embedder: QueuedEmbedder, network: Words) -> None:
    network.may_compute.clear()

    async def leave() -> None:
        task = asyncio.ensure_future(embedder.embed(["a"] * 400))
        await until(lambda: len(network.batches) == 1)
        task.cancel()

    asyncio.run(leave())
    network.may_compute.set()
    assert run(embedder.embed(["next"]))[0].any()
    assert len(network.batches) == 2


# ---- the mock engine's -----------------------------------------------------------------------------------------


def embedded(*texts: str) -> Vectors:
    return run(MockEmbedder().embed(texts))[0]


def test_the_mock_counts_folded_words() -> None:
    rows = embedded("Rooms and beds", "beds, AND rooms!", "rooms", "swords", "straße", "STRASSE", "", " \n", "…!?")
    assert rows.shape == (9, DIMENSION)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows[:6], axis=1), 1)
    assert not rows[6:].any()
    assert np.array_equal(rows[0], rows[1])
    assert np.array_equal(rows[4], rows[5])
    assert rows[0] @ rows[2] > 0.5 > rows[0] @ rows[3]


@given(st.lists(st.text(), max_size=5))
def test_the_mock_takes_any_text(texts: list[str]) -> None:
    rows = embedded(*texts)
    assert np.isfinite(rows).all()
    lengths = np.linalg.norm(rows, axis=1)
    assert np.all(np.isclose(lengths, 1) | (lengths == 0))


def test_the_mock_is_the_same_in_every_process() -> None:
    probe = (
        "import asyncio; from bridge.engines.mock_embed import MockEmbedder;"
        "rows, _ = asyncio.run(MockEmbedder().embed(['where can I sleep']));"
        "print(rows.nonzero()[1].tolist())"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(embedded("where can I sleep").nonzero()[1].tolist()) == "[10, 26, 28, 40]"


def test_the_mock_has_a_window_progress_and_an_end() -> None:
    async def work() -> None:
        mock = MockEmbedder()
        assert (mock.dimension, mock.max_tokens) == (DIMENSION, MAX_TOKENS)
        long = "word " * MAX_TOKENS
        rows, were_cut = await mock.embed([long + "other", long])
        assert were_cut == [True, False]
        assert np.array_equal(rows[0], rows[1])
        told: list[tuple[int, int]] = []
        await mock.embed(["a"] * (BATCH + 1), lambda *progress: told.append(progress))
        assert told == [(BATCH, BATCH + 1), (BATCH + 1, BATCH + 1)]
        assert (await mock.embed([]))[0].shape == (0, DIMENSION)
        assert mock.status().bytes_in_memory == 0
        mock.close()
        mock.close()
        with pytest.raises(InferenceFailed, match="was unloaded"):
            await mock.embed(["a"])

    run(work())


def test_the_catalog_has_the_mock_and_no_agent_can_speak_with_it() -> None:
    async def work() -> None:
        store = ModelStore(Settings(), read_catalog())
        held = await store.acquire_embedding("mock-embed", lambda *_: None)
        assert (held.engine.dimension, held.context_size) == (DIMENSION, MAX_TOKENS)
        with pytest.raises(ModelLoadFailed, match="of type embedding; one of type language is needed"):
            await store.acquire("mock-embed", lambda *_: None)
        await store.close()

    run(work())
