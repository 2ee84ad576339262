"""`parley bench`: the whole path against a bare llama.cpp loop, in one run.

The whole path is a sidecar process, the wire and the Python client. Bare is `llama_decode` + `llama_sampler_sample` on
the same file, with the same threads, KV type, sampler chain and prompts, without detokenizing. Both sides are measured
in turn, so that a machine whose speed drifts slows both.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bridge.client import ParleyClient
from bridge.config import Settings, load_settings
from bridge.engine import Segment
from bridge.engines.llama import KV_TYPES
from bridge.engines.llama_library import lib, thread_count
from bridge.engines.llama_vocabulary import LlamaVocabulary
from bridge.errors import ModelLoadFailed
from bridge.launch import Sidecar
from bridge.models import CatalogEntry, locate, read_catalog
from bridge.protocol import AnswerText, DestroyAgent, TurnComplete

CONTEXT = 1024
TOP_K, TOP_P, MIN_P, TEMPERATURE = 40, 0.9, 0.05, 0.8
OPENINGS = [
    "The harbour lay quiet in the fog, and the old keeper of the light",
    "Long before the war, when the mill still turned, the miller's daughter",
    "On the third day of the fair a stranger with a wooden hand",
    "Nobody in the village would say who had rung the bell, but the priest",
    "The road to the mountains was closed by snow, so the caravan",
    "In the cellar of the inn, behind the barrels, the boy",
    "When the king's ship came home without the king, the captain",
    "She had sold the last of her maps that morning, and the map maker",
]
"""Prompts for a base model that just writes on: one for each agent."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One measurement of one side."""

    tokens_per_s: float
    """Generated tokens of all streams a second, reading the prompts included."""
    ttft_ms: float
    """Median over the streams: from the request to the first token (bare) or the first text frame (parley)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One number of agents: medians over the rounds, and the median of the pairwise ratios."""

    agents: int
    parley_tokens_per_s: float
    bare_tokens_per_s: float
    ratio: float
    parley_ttft_ms: float
    bare_ttft_ms: float
    speedup: float
    """Parley's tokens per second over its own with one agent."""


def run_bench(counts: Sequence[int], *, rounds: int, tokens: int, model: str, out: Path | None) -> int:
    """Measure and print a table. Returns the exit code; raises ParleyError where the model cannot be had."""
    settings = load_settings()
    entry = read_catalog(Path(settings.catalog) if settings.catalog else None).get(model)
    if entry is None or entry.engine != "llama-cpp":
        raise ModelLoadFailed(f"the bench needs a llama.cpp model of the catalog; '{model}' is none")
    residents = max(8, *counts)
    console = Console(stderr=True)
    with console.status("preparing the model"):
        path = locate(entry, settings, lambda *_: None)
    samples = asyncio.run(_measure(entry, path, settings, residents, counts, rounds, tokens, console))
    rows = _summarise(samples)
    _print(rows, entry, settings, rounds, tokens)
    if out is not None:
        document = {
            "machine": {"platform": platform.platform(), "cores": os.cpu_count(), "python": platform.python_version()},
            "model": model,
            "threads": thread_count(settings.n_threads),
            "kv_cache_type": entry.kv_cache_type,
            "rounds": rounds,
            "tokens": tokens,
            "rows": [asdict(row) for row in rows],
            "samples": {
                str(count): [{"parley": asdict(a), "bare": asdict(b)} for a, b in pairs]
                for count, pairs in samples.items()
            },
        }
        out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0


Pairs = dict[int, list[tuple[Sample, Sample]]]


async def _measure(
    entry: CatalogEntry,
    path: Path,
    settings: Settings,
    residents: int,
    counts: Sequence[int],
    rounds: int,
    tokens: int,
    console: Console,
) -> Pairs:
    samples: Pairs = {count: [] for count in counts}
    bare = BareLoop(path, entry.kv_cache_type, residents, thread_count(settings.n_threads))
    try:
        async with _sidecar(path, entry, residents) as client:
            await _parley(client, 1, tokens)  # the first turn of all loads and warms what later ones find ready
            bare.run(1, tokens)
            for turn in range(rounds):
                for count in counts:
                    with console.status(f"round {turn + 1} of {rounds}, {count} agents"):
                        ours = await _parley(client, count, tokens)
                        theirs = bare.run(count, tokens)
                        samples[count].append((ours, theirs))
    finally:
        bare.close()
    return samples


def _summarise(samples: Pairs) -> list[Row]:
    median = statistics.median
    single: float | None = None
    rows = []
    for count, pairs in samples.items():
        ours = median(a.tokens_per_s for a, _ in pairs)
        single = ours if single is None else single
        rows.append(
            Row(
                agents=count,
                parley_tokens_per_s=ours,
                bare_tokens_per_s=median(b.tokens_per_s for _, b in pairs),
                ratio=median(a.tokens_per_s / b.tokens_per_s for a, b in pairs),
                parley_ttft_ms=median(a.ttft_ms for a, _ in pairs),
                bare_ttft_ms=median(b.ttft_ms for _, b in pairs),
                speedup=ours / single,
            )
        )
    return rows


def _print(rows: Sequence[Row], entry: CatalogEntry, settings: Settings, rounds: int, tokens: int) -> None:
    table = Table(
        title=f"{entry.name}, {thread_count(settings.n_threads)} threads, KV {entry.kv_cache_type}, "
        f"{tokens} tokens a reply, median of {rounds} rounds"
    )
    for column in (
        "agents",
        "parley tok/s",
        "bare tok/s",
        "ratio",
        "parley first token",
        "bare first token",
        "speed-up",
    ):
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(
            str(row.agents),
            f"{row.parley_tokens_per_s:.1f}",
            f"{row.bare_tokens_per_s:.1f}",
            f"{row.ratio:.3f}",
            f"{row.parley_ttft_ms:.0f} ms",
            f"{row.bare_ttft_ms:.0f} ms",
            f"{row.speedup:.2f}×",
        )
    Console(file=sys.stdout).print(table)


# ---- the whole path ------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def _sidecar(path: Path, entry: CatalogEntry, residents: int) -> AsyncIterator[ParleyClient]:
    """A sidecar process whose catalog has the model as `bench`, writing on without a chat format's stop strings."""
    model = {
        "name": "bench",
        "engine": "llama-cpp",
        "source": {"path": str(path)},
        "context_size": CONTEXT,
        "kv_cache_type": entry.kv_cache_type,
        "chat_format": "plain",
    }
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        catalog = Path(folder) / "models.json"
        catalog.write_text(json.dumps({"models": [model]}), encoding="utf-8")
        environment = {"PARLEY_CATALOG": str(catalog), "PARLEY_RESIDENT_SEQUENCES": str(residents)}
        async with (
            Sidecar("--log-level", "warning", environment={**os.environ, **environment}) as sidecar,
            await ParleyClient.connect(sidecar.endpoint, sidecar.token, client="bench") as client,
        ):
            yield client


def _workflow(index: int, tokens: int) -> dict[str, Any]:
    sampling = {"temperature": TEMPERATURE, "top_k": TOP_K, "top_p": TOP_P, "min_p": MIN_P, "repeat_penalty": 1.0}
    node = {"name": "writer", "type": "Generate", "max_tokens": tokens, "sampling": {**sampling, "seed": index + 1}}
    return {"start_node": "writer", "default_model": "bench", "nodes": [node]}


async def _parley(client: ParleyClient, agents: int, tokens: int) -> Sample:
    made = [await client.create_agent(_workflow(index, tokens)) for index in range(agents)]
    start = time.perf_counter()

    async def talk(index: int) -> tuple[int, float]:
        first = 0.0
        async for frame in client.turn(made[index].agent_id, OPENINGS[index % len(OPENINGS)]):
            if isinstance(frame.message, AnswerText) and not first:
                first = time.perf_counter() - start
            if isinstance(frame.message, TurnComplete):
                return frame.message.tokens_generated, first
        raise ConnectionError("the turn did not end")

    results = await asyncio.gather(*(talk(index) for index in range(agents)))
    seconds = time.perf_counter() - start
    for agent in made:
        await client.request(DestroyAgent(agent_id=agent.agent_id))
    return Sample(
        sum(generated for generated, _ in results) / seconds, 1000 * statistics.median(first for _, first in results)
    )


# ---- bare ----------------------------------------------------------------------------------------------------


class BareLoop:
    """The least code that generates with llama.cpp: what there is to gain or lose against."""

    def __init__(self, path: Path, kv_cache_type: str, sequences: int, threads: int) -> None:
        self._model = lib.llama_model_load_from_file(os.fsencode(path), lib.llama_model_default_params())
        if not self._model:
            raise ModelLoadFailed(f"{path} could not be loaded")
        params = lib.llama_context_default_params()
        params.n_ctx = sequences * CONTEXT
        params.n_seq_max = sequences
        params.n_threads = params.n_threads_batch = threads
        params.type_k = params.type_v = KV_TYPES[kv_cache_type]
        params.kv_unified = True
        params.no_perf = True
        self._context = lib.llama_init_from_model(self._model, params)
        self._vocab = lib.llama_model_get_vocab(self._model)
        self._batch = lib.llama_batch_init(params.n_batch, 0, 1)
        vocabulary = LlamaVocabulary(self._model, "")
        bos = [] if vocabulary.bos is None else [vocabulary.bos]
        self._prompts = [[*bos, *vocabulary.tokenize([Segment(text)])] for text in OPENINGS]

    def run(self, agents: int, tokens: int) -> Sample:
        """`agents` replies of `tokens` tokens, side by side."""
        samplers = [_chain(index + 1) for index in range(agents)]
        lib.llama_memory_clear(lib.llama_get_memory(self._context), True)
        current = [0] * agents
        length = [0] * agents
        firsts = []
        start = time.perf_counter()
        for seq in range(agents):
            prompt = self._prompts[seq % len(self._prompts)]
            self._fill([(token, position, seq, position + 1 == len(prompt)) for position, token in enumerate(prompt)])
            self._decode()
            current[seq] = lib.llama_sampler_sample(samplers[seq], self._context, -1)
            length[seq] = len(prompt)
            firsts.append(time.perf_counter() - start)
        generated = agents
        for _ in range(tokens - 1):
            self._fill([(current[seq], length[seq], seq, True) for seq in range(agents)])
            self._decode()
            for seq in range(agents):
                current[seq] = lib.llama_sampler_sample(samplers[seq], self._context, seq)
                length[seq] += 1
            generated += agents
        seconds = time.perf_counter() - start
        for sampler in samplers:
            lib.llama_sampler_free(sampler)
        return Sample(generated / seconds, 1000 * statistics.median(firsts))

    def close(self) -> None:
        lib.llama_batch_free(self._batch)
        lib.llama_free(self._context)
        lib.llama_model_free(self._model)

    def _fill(self, cells: Sequence[tuple[int, int, int, bool]]) -> None:
        batch = self._batch
        for index, (token, position, seq, wants_logits) in enumerate(cells):
            batch.token[index] = token
            batch.pos[index] = position
            batch.n_seq_id[index] = 1
            batch.seq_id[index][0] = seq
            batch.logits[index] = wants_logits
        batch.n_tokens = len(cells)

    def _decode(self) -> None:
        code = lib.llama_decode(self._context, self._batch)
        if code:
            raise ModelLoadFailed(f"the bare loop's decode failed with {code}")


def _chain(seed: int) -> Any:
    chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
    for link in (
        lib.llama_sampler_init_top_k(TOP_K),
        lib.llama_sampler_init_top_p(ctypes.c_float(TOP_P), 1),
        lib.llama_sampler_init_min_p(ctypes.c_float(MIN_P), 1),
        lib.llama_sampler_init_temp(ctypes.c_float(TEMPERATURE)),
        lib.llama_sampler_init_dist(seed),
    ):
        lib.llama_sampler_chain_add(chain, link)
    return chain
