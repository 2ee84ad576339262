"""Many guests who come and go, and what a sidecar still holds when they are gone."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bridge.client import ParleyClient
from bridge.errors import AgentBusy, AgentDestroyed, ParleyError
from bridge.protocol import (
    AnswerText,
    ChangeParams,
    ConfigureSession,
    CreateEmbeddedStorage,
    CreateStringStorage,
    DestroyAgent,
    DestroyEmbeddedStorage,
    DestroyStringStorage,
    ExportDialog,
    ListModels,
    LoadModel,
    ManageCache,
    ModelInfo,
    Models,
    SendMessage,
    TruncateDialog,
    TurnComplete,
    UnloadModel,
)
from bridge.transport import run_on_selector_loop
from tests.real_sidecar import STUCK, serving, weight
from tests.sidecar import Process
from tests.talk import workflow

PATIENCE_S = 60.0
GUESTS = 5
DETACH_S = 0.5
SETTINGS: dict[str, Any] = {
    "unload_grace_s": 0.0,
    "detach_after_s": DETACH_S,
    "resume_window_s": DETACH_S,
    "heartbeat_s": 0.2,
    "resident_sequences": 3,
    "park_bytes": 16 * 2**20,
    "log_level": "warning",
}


@dataclass(frozen=True)
class Held:
    """What a sidecar holds while only the one who looks is there."""

    rss: int
    threads: int
    handles: int
    tasks: int


@dataclass(frozen=True)
class Cast:
    """The models that guests talk with."""

    fast: str
    slow: str
    embed: str


def flow_of(model: str) -> dict[str, Any]:
    return workflow(
        {"name": "lore", "type": "Retrieve", "embedded_storage": "facts", "top_k": 1, "found_exit": "mira",
         "not_found_exit": "mira"},
        {"name": "mira", "type": "Generate", "system_prompt": "Mira keeps the inn.", "max_tokens": 12,
         "default_exit": "note"},
        {"name": "note", "type": "CannedResponse", "string_storage": "hints"},
        model=model,
    )  # fmt: skip


async def visit(process: Process, cast: Cast, rng: random.Random) -> None:
    """One session from its first to its last moment; one in three goes without a word."""
    client = await ParleyClient.connect(process.endpoint, process.token)
    try:
        await client.request(ConfigureSession(game_name="a soak"))
        await client.request(CreateStringStorage(name="hints", strings=["One.", "Two."]))
        facts = [f"The cellar door number {number} is old." for number in range(20)]
        await client.request(CreateEmbeddedStorage(name="facts", strings=facts, embedding_model=cast.embed))
        for _ in range(rng.randrange(1, 4)):
            await meet(client, cast, rng)
        if rng.randrange(2):
            await client.request(LoadModel(model=cast.fast))
            await client.request(UnloadModel(model=cast.fast))
        if rng.randrange(2):
            await client.request(DestroyStringStorage(name="hints"))
            await client.request(DestroyEmbeddedStorage(name="facts"))
        if rng.randrange(3):
            await client.bye()
        else:
            agent_id = (
                await client.create_agent(workflow({"name": "a", "type": "Generate"}, model=cast.slow))
            ).agent_id
            await client.request(SendMessage(agent_id=agent_id, text="Tell me a long story."))
    finally:
        await client.close()


async def meet(client: ParleyClient, cast: Cast, rng: random.Random) -> None:
    """One agent from its first to its last turn."""
    agent_id = (
        await client.create_agent(flow_of(rng.choice((cast.fast, cast.slow))), enable_diagnostics=True)
    ).agent_id
    for _ in range(rng.randrange(1, 4)):
        line = f"Line {rng.randrange(9)} of a quiet guest."
        deed = rng.randrange(6)
        pushes = client.subscribe()
        try:
            await client.request(SendMessage(agent_id=agent_id, text=line))
            if deed == 0:
                await client.cancel_turn(agent_id)
            elif deed == 1:
                await client.request(DestroyAgent(agent_id=agent_id))
            elif deed == 2:
                with contextlib.suppress(AgentBusy):
                    await client.request(
                        ChangeParams(agent_id=agent_id, node_name="mira", params={"system_prompt": "Be brief."})
                    )
            async for frame in pushes:
                if deed == 3 and isinstance(frame.message, AnswerText):
                    await client.cancel_turn(agent_id)
                if isinstance(frame.message, TurnComplete) and frame.message.agent_id == agent_id:
                    assert frame.message.status in ("Success", "Cancelled"), frame.message.error
                    break
        finally:
            pushes.close()
        if deed == 1:
            try:
                await client.request(ExportDialog(agent_id=agent_id))
                raise AssertionError("a destroyed agent has a dialog")
            except AgentDestroyed:
                return
        await client.request(ManageCache(agent_id=agent_id, action=rng.choice(("Stats", "Park", "Drop"))))
        if deed == 4:
            await client.request(TruncateDialog(agent_id=agent_id, keep=0))
    if rng.randrange(2):
        await client.request(DestroyAgent(agent_id=agent_id))


async def held(process: Process, observer: ParleyClient, cast: Cast) -> Held:
    """What is held once every guest's session has ended: then no model is in use, and none is kept."""
    for name in sorted({cast.fast, cast.slow, cast.embed}):
        # A guest who left may have asked for a model that is still being loaded: this waits for it.
        await observer.request(LoadModel(model=name))
        await observer.request(UnloadModel(model=name))
    until = time.monotonic() + PATIENCE_S
    while loaded := [model.name for model in await models(observer) if model.status == "Loaded"]:
        assert time.monotonic() < until, f"somebody still holds {loaded}"
        await asyncio.sleep(0.1)
    tasks = 0
    if sys.platform != "win32":
        process.popen.send_signal(signal.SIGUSR1)
        assert process.popen.stdout is not None
        line = await asyncio.to_thread(process.popen.stdout.readline)
        tasks = int(line.split()[1])
    # A model that is no longer listed may still be on its way out of memory.
    now = weight(process.popen.pid)
    smaller = True
    while smaller:
        await asyncio.sleep(1.0)
        before, now = now, weight(process.popen.pid)
        smaller = now.rss < before.rss - 2**20
    return Held(now.rss, now.threads, now.handles, tasks)


async def models(client: ParleyClient) -> list[ModelInfo]:
    reply = await client.request(ListModels())
    assert isinstance(reply, Models)
    return reply.models


async def guests(process: Process, cast: Cast, seconds: float, seed: int) -> int:
    """Lets guests come and go for a while; returns how many there were."""
    until = time.monotonic() + seconds
    visits = 0

    async def keep_coming(number: int) -> None:
        nonlocal visits
        rng = random.Random(f"{seed} {number}")
        while time.monotonic() < until:
            await asyncio.wait_for(visit(process, cast, rng), PATIENCE_S)
            visits += 1

    await asyncio.gather(*(keep_coming(number) for number in range(GUESTS)))
    return visits


PARTS = 4
"""Of a soak, each followed by a look: the first one warms up. One that is too short to tell has two."""


def soak(log: Path, arguments: list[str], cast: Cast, seconds: float, *, growth_bytes: int) -> None:
    """Guests come and go for so long; then the sidecar holds what it held after the first of them.

    `growth_bytes`: how much more memory each part may leave behind.
    """

    async def play() -> None:
        try:
            await asyncio.wait_for(look(), 2 * seconds + 2 * PATIENCE_S)
        except BaseException:
            process.popen.kill()  # else whoever waits for a line of it would wait on
            raise

    parts = PARTS if seconds > 10 else 2

    async def look() -> None:
        async with await ParleyClient.connect(process.endpoint, process.token) as observer:
            await guests(process, cast, seconds / parts, 0)
            looks = [warm := await held(process, observer, cast)]
            visits = 0
            for part in range(1, parts):
                visits += await guests(process, cast, seconds / parts, part)
                looks.append(await held(process, observer, cast))
            cold = looks[-1]
            assert visits >= GUESTS
            # What libraries and allocators keep comes once, at any time; a leak comes again with every guest.
            growths = [later.rss - earlier.rss for earlier, later in itertools.pairwise(looks)]
            assert min(growths) < growth_bytes, (visits, looks)
            # Worker threads and connections that are about to go are no leak; a leak has one for each visit.
            few = 8
            assert cold.threads <= warm.threads + few, (visits, warm, cold)
            assert cold.handles <= warm.handles + few, (visits, warm, cold)
            assert cold.tasks <= warm.tasks + 2, (visits, warm, cold)

    with serving(log, *arguments, command=STUCK) as process:
        try:
            run_on_selector_loop(play())
        except ParleyError as fault:
            raise AssertionError(log.read_text(encoding="utf-8")[-4000:]) from fault
    text = log.read_text(encoding="utf-8")
    assert "Traceback" not in text and "never retrieved" not in text, text[-4000:]
