"""The whole path for the bench: a sidecar process, the wire, and the Python client."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from bridge.bench.bare import MIN_P, OPENINGS, TEMPERATURE, TOP_K, TOP_P, Sample
from bridge.client import ParleyClient
from bridge.launch import Sidecar
from bridge.protocol import AnswerText, DestroyAgent, TurnComplete


@contextlib.asynccontextmanager
async def sidecar(
    path: Path, *, kv_cache_type: str, residents: int, context_size: int, threads: int, chat_format: str = "plain"
) -> AsyncIterator[ParleyClient]:
    """A client of a sidecar whose catalog has the model as `bench`; `plain`: it just writes on, without end."""
    model = {
        "name": "bench",
        "engine": "llama-cpp",
        "source": {"path": str(path)},
        "context_size": context_size,
        "kv_cache_type": kv_cache_type,
        "chat_format": chat_format,
    }
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        catalog = Path(folder) / "models.json"
        catalog.write_text(json.dumps({"models": [model]}), encoding="utf-8")
        environment = {
            **os.environ,
            "PARLEY_CATALOG": str(catalog),
            "PARLEY_RESIDENT_SEQUENCES": str(residents),
            "PARLEY_N_THREADS": str(threads),
        }
        async with (
            Sidecar("--log-level", "warning", environment=environment) as process,
            await ParleyClient.connect(
                process.endpoint, process.token, client="bench", server_public_key=process.curve_public_key
            ) as client,
        ):
            yield client


def workflow(tokens: int, *, seed: int = 1, system_prompt: str = "", **parameters: Any) -> dict[str, Any]:
    """One node that writes `tokens` tokens, unless the model ends its text before."""
    sampling = {"temperature": TEMPERATURE, "top_k": TOP_K, "top_p": TOP_P, "min_p": MIN_P, "repeat_penalty": 1.0}
    node: Mapping[str, Any] = {
        "name": "writer",
        "type": "Generate",
        "max_tokens": tokens,
        "system_prompt": system_prompt,
        "sampling": {**sampling, "seed": seed},
        **parameters,
    }
    return {"start_node": "writer", "default_model": "bench", "nodes": [node]}


async def say(client: ParleyClient, agent_id: str, text: str) -> tuple[float, TurnComplete]:
    """Milliseconds to the first text frame, and how the turn ended."""
    start = time.perf_counter()
    first = 0.0
    async for frame in client.turn(agent_id, text):
        if isinstance(frame.message, AnswerText) and not first:
            first = time.perf_counter() - start
        if isinstance(frame.message, TurnComplete):
            if frame.message.status != "Success":
                raise RuntimeError(f"a turn of the bench failed: {frame.message.error}")
            return 1000 * first, frame.message
    raise ConnectionError("the turn did not end")


async def write_together(client: ParleyClient, agents: int, tokens: int) -> Sample:
    """Fresh agents that all write at once."""
    made = [await client.create_agent(workflow(tokens, seed=index + 1)) for index in range(agents)]
    start = time.perf_counter()
    results = await asyncio.gather(
        *(say(client, made[index].agent_id, OPENINGS[index % len(OPENINGS)]) for index in range(agents))
    )
    seconds = time.perf_counter() - start
    for agent in made:
        await client.request(DestroyAgent(agent_id=agent.agent_id))
    generated = sum(complete.tokens_generated for _, complete in results)
    return Sample(generated / seconds, statistics.median(first for first, _ in results))
