"""That `parley estimate` says what the starter model then takes: the loaded model, parked sequences, the process.

`python -m tests.live.test_estimate` is a process of its own that talks and weighs itself; it prints one JSON object.
"""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import psutil
import pytest

from bridge import protocol
from bridge.catalog import read_catalog
from bridge.config import Settings
from bridge.engines import embed, llama, llama_memory
from bridge.engines.gguf_file import read_gguf
from bridge.estimate import Use, estimate_model
from tests.talk import talking, workflow

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

ROOT = Path(__file__).parent.parent.parent
TAVERN = ROOT / "samples" / "tavern" / "tavern.workflow.json"
TOLERANCE = 0.1
WORDS = "the harbour lay quiet in the fog and the old keeper of the light went down to the water "


async def weigh_tavern() -> dict[str, Any]:
    """One turn of the tavern, then everything parked: what the process grew by, and what it says that it holds."""
    catalog = read_catalog()
    gc.collect()
    before = psutil.Process().memory_info().rss
    async with talking(*(catalog[f"starter-{kind}"] for kind in ("chat", "embed", "voice"))) as talk:
        await talk.client.request(protocol.ConfigureSession(storage_folder=str(TAVERN.parent)))
        agent_id = await talk.agent(orjson.loads(TAVERN.read_bytes()))
        turn = await talk.say(agent_id, "Good evening. What is there to eat?")
        assert turn.complete.status == "Success", turn.complete
        grown = psutil.Process().memory_info().rss - before
        models = await talk.client.request(protocol.ListModels())
        assert isinstance(models, protocol.Models)
        parked = await talk.client.request(protocol.ManageCache(agent_id=agent_id, action="Park"))
        assert isinstance(parked, protocol.CacheStats)
        loaded = {model.name: model.bytes_in_memory for model in models.models if model.status == "Loaded"}
        nodes = [[node.node_name, node.where, node.tokens, node.bytes] for node in parked.nodes]
        return {"grown": grown, "loaded": loaded, "parked": nodes}


async def weigh_deciding() -> dict[str, Any]:
    """What a model says that it holds before and after it has first chosen between labels."""
    entry = read_catalog()["starter-chat"]
    async with talking(entry, settings=Settings(n_gpu_layers=0)) as talk:

        async def loaded() -> int:
            models = await talk.client.request(protocol.ListModels())
            assert isinstance(models, protocol.Models)
            return next(model.bytes_in_memory for model in models.models if model.status == "Loaded")

        judge = {
            "name": "judge", "type": "ClassifyIntentLLM", "found_exit": "", "not_found_exit": "",
            "intents": [{"id": "food", "description": "wants to eat"}, {"id": "bed", "description": "wants to sleep"}],
        }  # fmt: skip
        agent_id = await talk.agent(workflow(judge, model=entry.name))
        await talk.client.request(protocol.LoadModel(model=entry.name))
        before = await loaded()
        turn = await talk.say(agent_id, "Hello.")
        assert turn.complete.status == "Success", turn.complete
        return {"before": before, "after": await loaded()}


async def weigh_full_window() -> dict[str, Any]:
    """A sequence that fills the starter's window, parked."""
    entry = read_catalog()["starter-chat"]
    settings = Settings(n_gpu_layers=0)
    async with talking(entry, settings=settings) as talk:
        node = {"name": "mira", "type": "Generate", "system_prompt": WORDS * 106, "max_tokens": 8}
        agent_id = await talk.agent(workflow(node, model=entry.name))
        turn = await talk.say(agent_id, "Hello.")
        assert turn.complete.status == "Success", turn.complete
        parked = await talk.client.request(protocol.ManageCache(agent_id=agent_id, action="Park"))
        assert isinstance(parked, protocol.CacheStats)
        return {"tokens": parked.nodes[0].tokens, "bytes": parked.nodes[0].bytes, "where": parked.nodes[0].where}


def weighed(what: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.live.test_estimate", what],
        capture_output=True, encoding="utf-8", check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.fixture(scope="module")
def said(starter_model: Path, starter_embed: Path) -> dict[str, Any]:
    """What `parley estimate` prints of the tavern, by model."""
    done = subprocess.run(
        [sys.executable, "-m", "bridge", "estimate", str(TAVERN), "--json"],
        capture_output=True, encoding="utf-8", check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.fixture(scope="module")
def tavern(starter_model: Path, starter_embed: Path) -> dict[str, Any]:
    return weighed("tavern")


@pytest.mark.thorough
def test_the_loaded_models_take_what_was_estimated(said: dict[str, Any], tavern: dict[str, Any]) -> None:
    estimated = {model["name"]: model for model in said["models"]}
    assert set(estimated) == set(tavern["loaded"])
    assert "starter-chat" in estimated
    for name, measured in tavern["loaded"].items():
        assert estimated[name]["basis"] == ("files" if name == "starter-voice" else "header")
        assert estimated[name]["loaded"] == pytest.approx(measured, rel=TOLERANCE), name


@pytest.mark.thorough
def test_the_tavern_s_parked_sequences_take_what_was_estimated(tavern: dict[str, Any], starter_model: Path) -> None:
    shape = llama_memory.shape_of(read_gguf(starter_model))
    parked = [row for row in tavern["parked"] if row[1] == "parked"]
    assert parked
    for _, _, tokens, measured in parked:
        assert llama_memory.parked_bytes(shape, tokens, "q8_0") == pytest.approx(measured, rel=TOLERANCE)


def test_the_context_for_decisions_takes_what_was_estimated(starter_model: Path) -> None:
    measured = weighed("deciding")
    entry = read_catalog()["starter-chat"]
    writing = estimate_model(entry, Use(nodes=1), Settings(n_gpu_layers=0))
    deciding = estimate_model(entry, Use(nodes=1, decides=True), Settings(n_gpu_layers=0))
    assert writing.loaded == pytest.approx(measured["before"], rel=TOLERANCE)
    assert deciding.loaded - writing.loaded == pytest.approx(measured["after"] - measured["before"], rel=TOLERANCE)
    together = estimate_model(entry, Use(nodes=1, decides=True), Settings(deterministic=True))
    assert together.decisions == 0


@pytest.mark.thorough
def test_a_parked_full_window_takes_what_was_estimated(said: dict[str, Any], starter_model: Path) -> None:
    full = weighed("window")
    model = next(model for model in said["models"] if model["name"] == "starter-chat")
    assert full["where"] == "parked"
    assert full["tokens"] > 0.9 * model["window"]
    assert model["per_parked"] == pytest.approx(full["bytes"], rel=TOLERANCE)


@pytest.mark.thorough
def test_the_process_grows_by_about_what_was_estimated(said: dict[str, Any], tavern: dict[str, Any]) -> None:
    """Pages that were never touched are not resident, and libraries are loaded meanwhile: a wide bound."""
    assert 0.6 * said["cpu"]["ram"] < tavern["grown"] < 1.5 * said["cpu"]["ram"]


@pytest.mark.parametrize(
    ("context_size", "settings"),
    [
        (1024, Settings(resident_sequences=2, prompt_chunk=64)),
        (4096, Settings(resident_sequences=1)),
        (512, Settings(resident_sequences=8, deterministic=True)),
        (2048, Settings(kv_tokens=5000)),
        (1000, Settings(kv_tokens=1500, deterministic=True)),
    ],
)
@pytest.mark.parametrize("kind", ["q8_0", "f16"])
def test_other_windows_and_settings_too(starter_model: Path, context_size: int, settings: Settings, kind: Any) -> None:
    entry = read_catalog()["starter-chat"].model_copy(update={"context_size": context_size, "kv_cache_type": kind})
    engine = llama.load_llama(starter_model, settings=settings, kv_cache_type=kind, context_size=context_size)
    try:
        measured = engine.status().bytes_in_memory
    finally:
        engine.close()
    found = estimate_model(entry, Use(), settings)
    weights = found.weights or 0
    assert found.loaded == pytest.approx(measured, rel=0.02)
    assert found.loaded - weights == pytest.approx(measured - weights, rel=0.06)  # the weights would hide much


def test_both_sides_know_the_same_limits() -> None:
    assert llama_memory.MAX_UBATCH == llama.MAX_UBATCH
    assert llama_memory.MAX_DEFAULT_CONTEXT == llama.MAX_DEFAULT_CONTEXT
    assert set(llama_memory.CELL_BLOCKS) == set(llama.KV_TYPES)
    limits = (llama_memory.EMBEDDING_WINDOW, llama_memory.EMBEDDING_BATCH, llama_memory.EMBEDDING_TEXTS)
    assert limits == (embed.MAX_WINDOW, embed.MIN_BATCH, embed.MAX_TEXTS)


if __name__ == "__main__":
    weighing = {"tavern": weigh_tavern, "window": weigh_full_window, "deciding": weigh_deciding}[sys.argv[1]]
    print(json.dumps(asyncio.run(weighing())))
