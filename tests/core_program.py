"""The scenarios of both plugins' hearts, and the workflows, models and limits of time that they are told."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.real_sidecar import SERVE, game
from tests.talk import scripted

Json = dict[str, Any]
ROOT = Path(__file__).resolve().parent.parent
WORDS = " ".join(f"word{index}" for index in range(60))
RUN_S = 150.0
START_MS = 1500.0
STOP_MS = 1000.0
UNDER_LOAD = 3.0
"""So many times a limit the slowest of several may take, on a machine that does other things meanwhile."""
FRAME_MS = 250.0
"""No Update may take so long, even the first ones of a program that is compiled while it runs on a busy machine."""

VARIABLES = [{"name": "level", "type": "int", "value": 1}]
NODES = [
    {"name": "mira", "type": "Generate", "history_name": "Mira", "default_exit": "note"},
    {"name": "note", "type": "Transform", "template": "{{var.level}}", "send": "Whole"},
]
WORKFLOWS: Json = {
    "slow": {"start_node": "mira", "default_model": "slow", "variables": VARIABLES, "nodes": NODES},
    "long": {"start_node": "mira", "default_model": "long", "variables": VARIABLES, "nodes": NODES},
    "wordy": {"start_node": "mira", "default_model": "wordy", "variables": VARIABLES, "nodes": NODES},
    "canned": {"start_node": "c", "nodes": [{"name": "c", "type": "CannedResponse", "string_storage": "lines"}]},
    "tools": {
        "start_node": "door",
        "default_model": "calls",
        "nodes": [
            {
                "name": "door",
                "type": "ToolCall",
                "tool_call_format": "generic",
                "tools": [
                    {
                        "name": "open_door",
                        "description": "Opens a door.",
                        "parameters": {"type": "object", "properties": {"door": {"type": "string"}}},
                    }
                ],
                "wait_for_result_s": 20,
                "tool_called_exit": "says",
                "no_tool_called_exit": "says",
                "send": "None",
            },
            {"name": "says", "type": "Transform", "template": "The door: {{slot.door}}", "send": "Whole"},
        ],
    },
    "stuck": {
        "start_node": "m",
        "default_model": "stuck-load",
        "nodes": [{"name": "m", "type": "Generate"}],
    },
    "broken": {"start_node": "nobody", "nodes": []},
}
MODELS = [
    scripted("Yes.", WORDS, "No.", name="slow", tokens_per_s=100),
    scripted(WORDS, name="wordy", tokens_per_s=60),
    scripted("Yes.", " ".join([WORDS] * 5), "No.", name="long", tokens_per_s=100),
    scripted('{"tool": "open_door", "args": {"door": "cellar"}}', name="calls"),
    scripted("x", name="stuck-load"),
]


@dataclass(frozen=True)
class Program:
    """The scenarios as one plugin has them: what starts them, in which environment, and a folder for what they need."""

    command: Sequence[str]
    env: Mapping[str, str]
    folder: Path
    also_told: Mapping[str, Any] = field(default_factory=dict)
    """What each of them is told besides its settings."""
    pids: list[int] = field(default_factory=list)
    """Of the programs that `running` started."""

    def settings(self, command: Sequence[str] = SERVE, models: Sequence[Any] = MODELS, **more: object) -> Json:
        """What a scenario is told: how its sidecar is started, and the workflows that there are."""
        storage = self.folder / "storage"
        storage.mkdir(parents=True, exist_ok=True)
        cleared = {key: None for key in os.environ if key.startswith("PARLEY_")}
        return {
            "executable": command[0],
            "arguments": [*command[1:], *game(self.folder / "game", *models, **more)],
            "environment": {**cleared, "PYTHONPATH": str(ROOT)},
            "workflows": WORKFLOWS,
            "storage": str(storage),
        }

    def run(self, scenario: str, settings: Json | None = None, *, timeout: float = RUN_S, **more: Any) -> Any:
        """Runs one to its end; returns what it reported."""
        told = self.told({**(self.settings() if settings is None else settings), **more})
        done = subprocess.run(
            [*self.command, scenario, str(told)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=self.env,
            timeout=timeout,
            check=False,
        )
        assert done.returncode == 0, f"{scenario} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        print(done.stdout)
        return json.loads(done.stdout.splitlines()[-1])

    async def running(self, scenario: str, settings: Json, on_go: Callable[[], Awaitable[None]] | None = None) -> Json:
        """As run, while an event loop goes on. `on_go` is called where the scenario says `go`."""
        process = await asyncio.create_subprocess_exec(
            *self.command,
            scenario,
            str(self.told(settings)),
            env=self.env,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        self.pids.append(process.pid)
        try:
            if on_go is not None:
                assert process.stdout is not None
                assert await asyncio.wait_for(process.stdout.readline(), RUN_S) == b"go\n"
                await on_go()
            out, errors = await asyncio.wait_for(process.communicate(), RUN_S)
        finally:
            if process.returncode is None:
                process.kill()
        assert process.returncode == 0, errors.decode()
        found: Json = json.loads(out.splitlines()[-1])
        return found

    def told(self, settings: Json) -> Path:
        """A file of settings."""
        file = self.folder / "settings.json"
        self.folder.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({**settings, **self.also_told}), encoding="utf-8")
        return file


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path
