"""A game that is killed: a small process that starts a sidecar as a game does, and what must be left of both."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from bridge.client import ParleyClient
from bridge.protocol import Message
from bridge.transport import run_on_selector_loop
from tests.real_sidecar import SERVE, serving
from tests.sidecar import environment, killed_at_last, ready_line
from tests.talk import workflow

GONE_WITHIN_S = 2.0
PATIENCE_S = 60.0

OWNER = """
import os, subprocess, sys
subprocess.Popen([*sys.argv[1:], "--owner-pid", str(os.getpid())], stdin=subprocess.DEVNULL)
os.close(1)
sys.stdin.read()
"""


@dataclass
class Owned:
    """A sidecar whose owner is ours to kill."""

    owner: subprocess.Popen[bytes]
    sidecar: psutil.Process
    ready: dict[str, Any]
    ready_file: Path

    def line(self) -> str:
        """The next line on the sidecar's stdout."""
        assert self.owner.stdout is not None
        return self.owner.stdout.readline().decode().strip()

    def end(self) -> None:
        """Ends the sidecar itself, where it is still there."""
        with contextlib.suppress(psutil.NoSuchProcess):  # also where another process has its number by now
            self.sidecar.kill()

    def kill(self) -> float:
        """Kills the owner; returns the seconds until the sidecar was gone, with all its children."""
        children = self.sidecar.children(recursive=True)
        begun = time.monotonic()
        self.owner.kill()
        assert self.owner.stdout is not None
        # The sidecar has the other end of this pipe, and so has every process that it started.
        self.owner.stdout.read()
        took = time.monotonic() - begun
        assert not [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
        assert not self.ready_file.exists()
        return took


@contextlib.contextmanager
def owned(folder: Path, *arguments: str, command: list[str] = SERVE) -> Iterator[Owned]:
    """A sidecar of a process that does nothing else. Both are gone afterwards."""
    ready_file = folder / "ready.json"
    with (folder / "sidecar.log").open("ab") as log:
        owner = subprocess.Popen(
            [sys.executable, "-c", OWNER, *command, *arguments, "--ready-file", str(ready_file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env=environment(),
        )
    with killed_at_last(owner):
        ready = ready_line(owner.stdout)
        made = Owned(owner, psutil.Process(ready["pid"]), ready, ready_file)
        try:
            yield made
        finally:
            made.end()


Scene = Callable[[ParleyClient], Awaitable[None]]


async def heard_during(
    client: ParleyClient, work: Awaitable[object], begun: threading.Event, sign: Callable[[Message], bool]
) -> None:
    """Does the work, and sets `begun` at the first push that is the sign that it is in its midst."""
    pushes = client.subscribe()

    async def listen() -> None:
        async for frame in pushes:
            if sign(frame.message):
                begun.set()

    listening = asyncio.ensure_future(listen())
    try:
        await work
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


def killed_during(owned: Owned, scene: Scene, reached: Callable[[], object] = lambda: None) -> None:
    """Plays a scene, waits until `reached` returns, kills the owner in its midst, and looks at what is left."""

    async def play() -> None:
        client = await ParleyClient.connect(owned.ready["endpoint"], owned.ready["token"])
        playing = asyncio.ensure_future(scene(client))
        try:
            waiting = asyncio.ensure_future(asyncio.to_thread(reached))
            await asyncio.wait({playing, waiting}, timeout=PATIENCE_S, return_when=asyncio.FIRST_COMPLETED)
            if playing.done():
                playing.result()
            await asyncio.wait_for(waiting, PATIENCE_S)
            took = await asyncio.to_thread(owned.kill)
            assert took < GONE_WITHIN_S, f"it was gone only after {took:.1f} s"
        finally:
            owned.end()  # else whoever waits for a line of it would wait on
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
            await client.close()

    run_on_selector_loop(play())


def starts_again(folder: Path, *arguments: str, model: str = "echo", scene: Scene | None = None) -> None:
    """A sidecar with the same files starts at once and works."""

    async def play() -> None:
        async with await ParleyClient.connect(process.endpoint, process.token) as client:
            if scene is not None:
                await scene(client)
            node = {"name": "mira", "type": "Generate", "max_tokens": 4}
            agent_id = (await client.create_agent(workflow(node, model=model))).agent_id
            frames = [frame.message async for frame in client.turn(agent_id, "Are you there?")]
            assert getattr(frames[-1], "status", "") == "Success"

    with serving(folder / "next.log", *arguments) as process:
        run_on_selector_loop(asyncio.wait_for(play(), PATIENCE_S))
        assert os.getpid() != process.popen.pid
