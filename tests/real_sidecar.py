"""A whole sidecar as a process: `parley serve` with a game's settings and mock models, and ways to look at it.

Run as a file it is the same with models that get stuck, each in its own part of the work, and say so on stdout.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from bridge.catalog import CatalogEntry
from tests.sidecar import Process, environment, killed_at_last, ready_line

SERVE = [sys.executable, "-m", "bridge", "serve"]
STUCK = [sys.executable, str(Path(__file__).resolve()), "serve"]
STEP_S = 0.02
"""Between two looks at something that another process does."""


@dataclass(frozen=True)
class Weight:
    """What a process holds."""

    rss: int
    threads: int
    handles: int
    """File descriptors, or handles on Windows."""


def weight(pid: int) -> Weight:
    """What a process holds now."""
    process = psutil.Process(pid)
    if sys.platform == "win32":
        handles = process.num_handles()
    else:
        handles = process.num_fds()
    return Weight(process.memory_info().rss, process.num_threads(), handles)


def until(condition: Callable[[], bool], patience_s: float, what: str) -> float:
    """Waits for something that another process does; returns the seconds that it took."""
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < patience_s, f"after {patience_s} s still not: {what}"
        time.sleep(STEP_S)
    return time.monotonic() - begun


def game(folder: Path, *entries: CatalogEntry, **settings: object) -> list[str]:
    """Writes a game's catalog and settings to a folder; returns the arguments that make a sidecar use them.

    No model of it can be downloaded from anywhere but this machine.
    """
    folder.mkdir(parents=True, exist_ok=True)
    models = [json.loads(entry.model_dump_json(exclude_unset=True)) for entry in entries]
    (folder / "models.json").write_text(json.dumps({"models": models}), encoding="utf-8")
    settings = {
        "catalog": str(folder / "models.json"),
        "models_folder": str(folder / "models"),
        "hub_endpoint": "http://127.0.0.1:9",
        **settings,
    }
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in settings.items()]
    (folder / "parley.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return ["--config", str(folder / "parley.toml")]


@contextlib.contextmanager
def serving(log: Path, *arguments: str, command: list[str] = SERVE, **options: Any) -> Iterator[Process]:
    """A sidecar that is ready, its log in a file. It is gone afterwards, whatever happens."""
    options.setdefault("env", environment())
    with log.open("ab") as stderr:
        popen = subprocess.Popen(
            [*command, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, **options
        )
    with killed_at_last(popen):
        yield Process(popen, ready_line(popen.stdout))


def stuck(part: str) -> None:
    """Says which part of the work is begun, and never gets done with it."""
    print(f"stuck in {part}", flush=True)
    time.sleep(3600)


def main() -> None:
    """`parley …` whose models get stuck, by their names. At SIGUSR1 it prints how many tasks its event loop has."""
    from bridge import cli, loaders
    from bridge.config import Settings
    from bridge.engines.mock import MockBackend
    from bridge.engines.mock_embed import MockEmbedder
    from bridge.engines.scheduler import Scheduler

    load_engine, load_embedder = loaders.load_text_engine, loaders.load_embedding_engine

    class StuckReader(MockBackend):
        def decode(self, slices: Any) -> None:
            stuck("reading a prompt")

    class StuckEmbedder(MockEmbedder):
        async def embed(self, texts: Any, progress: Any = None) -> Any:
            await asyncio.to_thread(stuck, "building an index")

    def load_stuck_engine(entry: CatalogEntry, path: Path | None, settings: Settings, report: Any) -> Any:
        if entry.name == "stuck-load":
            stuck("loading")
        if entry.name == "stuck-prompt":
            return Scheduler(StuckReader(), prompt_chunk=64)
        return load_engine(entry, path, settings, report)

    def load_stuck_embedder(entry: CatalogEntry, path: Path | None, settings: Settings, report: Any) -> Any:
        return StuckEmbedder() if entry.name == "stuck-embed" else load_embedder(entry, path, settings, report)

    if sys.platform != "win32":
        signal.signal(signal.SIGUSR1, lambda *_: print(f"tasks {len(asyncio.all_tasks())}", flush=True))
    loaders.load_text_engine = load_stuck_engine
    loaders.load_embedding_engine = load_stuck_embedder
    cli.main()


if __name__ == "__main__":
    main()
