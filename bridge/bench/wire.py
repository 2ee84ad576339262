"""What the wire and the event loop bear: frames a second, a client that does not read, and what holds the loop up."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import statistics
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bridge.bench.sections import Section, Setup
from bridge.client import ParleyClient
from bridge.launch import Sidecar
from bridge.protocol import (
    AnswerText,
    ConfigureSession,
    CreateEmbeddedStorage,
    DestroyEmbeddedStorage,
    DownloadModel,
    GetStatus,
    LoadModel,
    Ping,
    SendMessage,
    Status,
    UnloadModel,
)
from bridge.transport import run_on_selector_loop

AGENTS = 64
TOKENS_PER_S = 500.0
"""Of each agent; a frame each, unless the sidecar falls behind and puts several into one."""
WORDS = 1000
"""Of each mock reply: as many tokens."""
UNREAD = 40
"""Finished replies that lie there for the client that does not read: more than its sockets take (about 25 here)."""
INDEXED = 20_000
STEADY_S = 1.0
"""How long the loop is watched while nothing happens, to compare with."""
TIMEOUT_S = 300.0
HUB_MODEL = "bench-download"
REPOSITORY = "bench/model"


@contextlib.asynccontextmanager
async def _sidecar(models: list[dict[str, Any]], **settings: str) -> AsyncIterator[Sidecar]:
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        catalog = Path(folder) / "models.json"
        catalog.write_text(json.dumps({"models": models}), encoding="utf-8")
        environment = {**os.environ, "PARLEY_CATALOG": str(catalog)}
        environment.update(
            {f"PARLEY_{key.upper()}": value.replace("{folder}", folder) for key, value in settings.items()}
        )
        async with Sidecar("--log-level", "warning", environment=environment) as process:
            yield process


async def _connect(process: Sidecar, name: str) -> ParleyClient:
    """A client that does not come back when it was away: here that is what is wanted."""
    return await ParleyClient.connect(
        process.endpoint, process.token, client=name, server_public_key=process.curve_public_key, reconnect_s=0
    )


def _mock(name: str, words: int, tokens_per_s: float) -> dict[str, Any]:
    reply = "word " * words
    script = {"mode": "script", "replies": [reply.strip()], "tokens_per_s": tokens_per_s}
    return {"name": name, "engine": "mock", "context_size": 2 * WORDS, "mock": script}


def _workflow(model: str) -> dict[str, Any]:
    node = {"name": "writer", "type": "Generate", "max_tokens": WORDS}
    return {"version": 1, "start_node": "writer", "default_model": model, "nodes": [node]}


# ---- frames a second


async def frames(setup: Setup) -> Section:
    """AnswerText frames a second that one client gets from mock agents, alone and beside one that does not read."""
    models = [_mock("fast", WORDS, TOKENS_PER_S), _mock("steady", WORDS, 200.0)]
    alone, beside = [], []
    async with (
        _sidecar(models, resident_sequences=str(AGENTS + UNREAD)) as process,
        await _connect(process, "bench") as client,
    ):
        agents = [(await client.create_agent(_workflow("fast"))).agent_id for _ in range(AGENTS)]
        await _frames_per_s(client, agents)
        for turn in range(setup.rounds):
            setup.tell(f"frames: round {turn + 1} of {setup.rounds}")
            alone.append(await _frames_per_s(client, agents))
            async with _stalled(process, client):
                beside.append(await _frames_per_s(client, agents))
    median = statistics.median
    figures = {
        "frames_per_s": median(alone),
        "frames_per_s_beside_a_stalled_client": median(beside),
        "ratio": median(b / a for a, b in zip(alone, beside, strict=True)),
        "samples": {"alone": alone, "beside": beside},
    }
    row = [f"{figures['frames_per_s']:,.0f}/s", f"{median(beside):,.0f}/s", f"{figures['ratio']:.2f}×"]
    title = f"AnswerText frames that one client gets of {AGENTS * TOKENS_PER_S:,.0f} tokens/s from {AGENTS} mock agents"
    return Section(title, ["alone", "beside a client that does not read", "ratio"], [row], figures)


async def _frames_per_s(client: ParleyClient, agents: list[str]) -> float:
    async def read(agent_id: str) -> int:
        return sum([isinstance(frame.message, AnswerText) async for frame in client.turn(agent_id, "Go on.")])

    start = time.perf_counter()
    counts = await asyncio.gather(*map(read, agents))
    return sum(counts) / (time.perf_counter() - start)


@contextlib.asynccontextmanager
async def _stalled(process: Sidecar, observer: ParleyClient) -> AsyncIterator[None]:
    """Another client, for whom finished replies lie there and an agent goes on to speak, and who reads none of it."""
    stalls, goes_on = threading.Event(), threading.Event()

    async def stall() -> None:
        async with await _connect(process, "stalled") as client:
            for model in ["fast"] * UNREAD + ["steady"]:
                made = await client.create_agent(_workflow(model))
                await client.request(SendMessage(agent_id=made.agent_id, text="Go on."))
            stalls.set()
            goes_on.wait(TIMEOUT_S)

    thread = threading.Thread(target=lambda: run_on_selector_loop(stall()), name="stalled", daemon=True)
    thread.start()
    try:
        await asyncio.to_thread(stalls.wait, TIMEOUT_S)
        # The finished replies are only waited for: it is what lies there that is measured, not the writing.
        while (await _status(observer)).busy_agents > 1:  # noqa: ASYNC110 - only the sidecar knows
            await asyncio.sleep(0.01)
        yield
    finally:
        goes_on.set()
        await asyncio.to_thread(thread.join)


async def _status(client: ParleyClient) -> Status:
    reply = await client.request(GetStatus())
    assert isinstance(reply, Status)
    return reply


# ---- the event loop


async def stalls(setup: Setup) -> Section:
    """The longest answer to a Ping while a model is loaded, an index built and a model downloaded."""
    rows: list[list[str]] = []
    figures: dict[str, float] = {}
    entries = [
        {"name": "bench", "engine": "llama-cpp", "source": {"path": str(setup.path)}, "chat_format": "plain"},
        {
            "name": HUB_MODEL,
            "engine": "llama-cpp",
            "source": {"huggingface": REPOSITORY, "files": [setup.path.name]},
            "chat_format": "plain",
        },
    ]
    texts = [f"what happened on day {number} at the harbour" for number in range(INDEXED)]
    with _hub(setup.path) as endpoint:
        async with (
            _sidecar(entries, hub_endpoint=endpoint, models_folder="{folder}/models", unload_grace_s="0.01") as process,
            await _connect(process, "bench") as client,
            await _connect(process, "pings") as pings,
        ):
            await client.request(ConfigureSession(allow_model_download=True))

            async def load() -> None:
                await client.request(LoadModel(model="bench"), timeout=TIMEOUT_S)
                await client.request(UnloadModel(model="bench"))

            async def build() -> None:
                made = CreateEmbeddedStorage(name="bench", strings=texts, embedding_model="mock-embed")
                await client.request(made, timeout=TIMEOUT_S)
                await client.request(DestroyEmbeddedStorage(name="bench"))

            async def download() -> None:
                await client.request(DownloadModel(model=HUB_MODEL), timeout=TIMEOUT_S)

            for key, name, work in (
                ("nothing_ms", "nothing", asyncio.sleep(STEADY_S)),
                ("model_load_ms", "a model is loaded", load()),
                ("index_build_ms", f"an index of {INDEXED:,} records is built", build()),
                ("download_ms", f"{setup.path.stat().st_size >> 20} MiB are downloaded", download()),
            ):
                setup.tell(f"stalls: {name}")
                longest, seconds = await _longest_answer(pings, work)
                figures[key] = longest
                rows.append([name, f"{seconds:.2f} s", f"{longest:.1f} ms"])
    columns = ["meanwhile", "for", "longest answer"]
    return Section("how long the sidecar needs at most to answer a Ping", columns, rows, figures)


async def _longest_answer(client: ParleyClient, work: Coroutine[Any, Any, None]) -> tuple[float, float]:
    """Milliseconds of the longest answer while `work` is done, and the seconds that this takes."""
    start = time.perf_counter()
    working = asyncio.ensure_future(work)
    longest = 0.0
    while not working.done():
        asked = time.perf_counter()
        await client.request(Ping())
        longest = max(longest, time.perf_counter() - asked)
        await asyncio.sleep(0.001)
    await working
    return 1000 * longest, time.perf_counter() - start


@contextlib.contextmanager
def _hub(model: Path) -> Iterator[str]:
    """As much of a model hub as the download of this one file needs, on a loopback port; yields its address."""
    with model.open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(2**20):
            digest.update(block)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self.send_response(200)
            self.send_header("X-Repo-Commit", "0" * 40)
            self.send_header("X-Linked-Etag", f'"{digest.hexdigest()}"')
            self.send_header("X-Linked-Size", str(model.stat().st_size))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(model.stat().st_size))
            self.end_headers()
            with model.open("rb") as file:
                while block := file.read(2**16):
                    self.wfile.write(block)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


SECTIONS = {"frames": frames, "stalls": stalls}
