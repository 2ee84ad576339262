"""The starter embedding model: the reference's tokens and vectors, batches that change nothing, files refused."""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import shutil
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import psutil
import pytest

from bridge.catalog import CatalogEntry, read_catalog
from bridge.config import Settings
from bridge.engine import Vectors
from bridge.engines import llama_model
from bridge.engines.embed import LlamaNetwork, load_embedder
from bridge.engines.embed_queue import QueuedEmbedder
from bridge.engines.llama import load_llama
from bridge.engines.llama_library import lib
from bridge.errors import InferenceFailed, ModelCorrupt, ModelLoadFailed
from bridge.models import ModelStore

pytestmark = pytest.mark.live

T = TypeVar("T")
REFERENCE = json.loads((Path(__file__).parents[1] / "vectors" / "starter_embed.json").read_text(encoding="utf-8"))


def run(work: Coroutine[Any, Any, T]) -> T:
    async def limited() -> T:
        return await asyncio.wait_for(work, 100)

    return asyncio.run(limited())


@pytest.fixture(scope="module")
def embedder(starter_embed: Path) -> Iterator[QueuedEmbedder]:
    made = load_embedder(starter_embed, settings=Settings())
    yield made
    made.close()


@pytest.fixture(scope="module")
def network(starter_embed: Path) -> Iterator[LlamaNetwork]:
    made = LlamaNetwork.load(starter_embed, settings=Settings())
    yield made
    made.close()


def vectors(embedder: QueuedEmbedder, *texts: str) -> Vectors:
    return run(embedder.embed(texts))[0]


# ---- the reference -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", REFERENCE["tokens"], ids=lambda case: case["text"][:20])
def test_tokens_are_the_references(network: LlamaNetwork, case: dict[str, Any]) -> None:
    assert network.tokenize(case["text"]) == (case["ids"], False)


def test_vectors_are_the_references(embedder: QueuedEmbedder) -> None:
    cases = REFERENCE["vectors"]
    rows = vectors(embedder, *(case["text"] for case in cases))
    assert (embedder.dimension, embedder.max_tokens) == (384, 512)
    for case, row in zip(cases, rows, strict=True):
        expected = np.frombuffer(base64.b64decode(case["vector"]), "<f2").astype(np.float32)
        assert row @ expected / np.linalg.norm(expected) > 0.999, case["text"]


def test_meaning_is_nearer_than_letters(embedder: QueuedEmbedder) -> None:
    question, beds, swords = vectors(embedder, "where can I sleep", "rooms and beds", "swords")
    assert question @ beds > question @ swords + 0.2


# ---- batches -------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_batch_changes_no_vector(embedder: QueuedEmbedder) -> None:
    texts = [f"{number} " + "the rain falls on the roof of the old inn " * (number * 7 % 23) for number in range(64)]
    texts.insert(31, "Where can a tired traveller sleep tonight?")
    together = vectors(embedder, *texts)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    for index in (0, 1, 13, 31, 32, 64):
        assert together[index] @ vectors(embedder, texts[index])[0] > 0.9999
    assert together[31] @ together[32] < 0.9


def test_blank_texts_long_texts_and_odd_texts(embedder: QueuedEmbedder) -> None:
    word = "inn "
    texts = ["", "   ", " \n\t\u3000", "\u200b\x00", word * 510, word * 511, word * 5000, "\ud800", "\ufffd", "inn"]
    rows, were_cut = run(embedder.embed(texts))
    assert not rows[:4].any()
    assert np.allclose(np.linalg.norm(rows[[4, 5, 6, 9]], axis=1), 1, atol=1e-5)
    assert np.isfinite(rows).all()
    assert were_cut == [False] * 5 + [True] * 2 + [False] * 3
    assert rows[4] @ rows[6] > 0.9999


def test_a_cut_text_keeps_its_end_token(network: LlamaNetwork) -> None:
    tokens, was_cut = network.tokenize("inn " * 600)
    assert was_cut
    assert (len(tokens), tokens[0], tokens[-1]) == (512, 101, 102)
    assert len(set(tokens[1:-1])) == 1
    # What looks like a control token in a text is letters: a text cannot end itself.
    assert not {101, 102} & set(network.tokenize("[CLS] a [SEP] b")[0][1:-1])


def test_a_vector_that_is_no_number_is_zeros(embedder: QueuedEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    compute = LlamaNetwork.compute

    def broken(self: LlamaNetwork, texts: Any) -> Vectors:
        rows = compute(self, texts)
        rows[0, 5] = np.nan
        return rows

    monkeypatch.setattr(LlamaNetwork, "compute", broken)
    rows = vectors(embedder, "a broken one", "a whole one")
    assert not rows[0].any()
    assert np.linalg.norm(rows[1]) == pytest.approx(1, abs=1e-5)


def test_a_failing_decode_is_told_and_the_next_works(embedder: QueuedEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(lib, "llama_decode", lambda *_: -3)
        with pytest.raises(InferenceFailed, match=r"llama\.cpp answers -3"):
            vectors(embedder, "a")
    assert vectors(embedder, "a")[0].any()


# ---- loading -------------------------------------------------------------------------------------------------


def test_a_model_of_the_other_type_is_refused_by_name(starter_model: Path, starter_embed: Path) -> None:
    with pytest.raises(ModelLoadFailed, match=r"gemma.*is a language model, not an embedding model") as caught:
        load_embedder(starter_model, settings=Settings())
    assert caught.value.code == 6007
    with pytest.raises(ModelLoadFailed, match=r"minilm.*is an embedding model and writes no text"):
        load_llama(starter_embed, settings=Settings())

    async def work() -> None:
        wrong = {"name": "wrong", "type": "embedding", "engine": "llama-cpp", "source": {"path": str(starter_model)}}
        store = ModelStore(Settings(), {"wrong": CatalogEntry.model_validate(wrong)})
        with pytest.raises(ModelLoadFailed, match="its catalog entry needs the type 'language'"):
            await store.acquire_embedding("wrong", lambda *_: None)
        await store.close()

    run(work())


def test_a_file_cut_short_is_refused_in_a_folder_of_any_name(starter_embed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "Ж 田中　é"
    folder.mkdir()
    copy = folder / "minilm.gguf"
    shutil.copyfile(starter_embed, copy)
    told: list[float] = []
    made = load_embedder(copy, settings=Settings(), progress=told.append)
    try:
        assert vectors(made, "inn")[0].any()
    finally:
        made.close()
    assert told[-1] == 1.0
    with copy.open("r+b") as file:
        file.truncate(copy.stat().st_size * 6 // 10)
    with pytest.raises(ModelCorrupt, match=r"minilm\.gguf is cut short") as caught:
        load_embedder(copy, settings=Settings())
    assert caught.value.code == 6006
    with pytest.raises(ModelLoadFailed, match="not there"):
        load_embedder(folder / "nothing.gguf", settings=Settings())


def test_a_crowded_gpu_gets_fewer_layers_and_a_crowded_machine_an_error(
    starter_embed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = llama_model.load_weights
    tried: list[int] = []

    def crowded(path: Path, layers: int, progress: Any) -> Any:
        tried.append(layers)
        if layers > 3:
            raise ModelLoadFailed("out of memory")
        return load(path, 0, progress)

    monkeypatch.setattr(lib, "llama_supports_gpu_offload", lambda: True)
    monkeypatch.setattr(llama_model, "load_weights", crowded)
    made = load_embedder(starter_embed, settings=Settings())
    try:
        assert tried == [7, 5, 3]
        assert made.status().notes[0] == "7 layers do not fit on the GPU (out of memory); trying 5 layers on the GPU"
    finally:
        made.close()
    monkeypatch.setattr(lib, "llama_init_from_model", lambda *_: None)
    with pytest.raises(ModelLoadFailed, match=r"no context for .* can be made"):
        load_embedder(starter_embed, settings=Settings(n_gpu_layers=0))


@pytest.mark.thorough
def test_unloading_frees_the_model(starter_embed: Path) -> None:
    def once() -> int:
        made = load_embedder(starter_embed, settings=Settings())
        vectors(made, *["the inn by the harbour"] * 64)
        assert made.status().bytes_in_memory > starter_embed.stat().st_size * 9 // 10
        made.close()
        made.close()
        with pytest.raises(InferenceFailed, match="was unloaded"):
            vectors(made, "a")
        gc.collect()
        return psutil.Process().memory_info().rss

    for _ in range(2):
        once()
    before = once()
    for _ in range(8):
        after = once()
    assert after - before < starter_embed.stat().st_size // 2


def test_the_store_loads_the_starter_by_its_name(starter_embed: Path) -> None:
    size = starter_embed.stat().st_size

    async def work() -> None:
        store = ModelStore(Settings(n_gpu_layers=0), read_catalog())
        held = await store.acquire_embedding("starter-embed", lambda *_: None)
        rows, _ = await held.engine.embed(["rooms and beds"])
        assert rows.shape == (1, 384)
        assert held.context_size == 512
        info = next(info for info in store.list() if info.name == "starter-embed")
        assert (info.status, info.backend) == ("Loaded", "CPU")
        assert info.bytes_on_disk == size
        with pytest.raises(ModelLoadFailed, match="one of type language is needed"):
            await store.acquire("starter-embed", lambda *_: None)
        await store.close()

    run(work())
