"""The rooms of the code: who may import whom, and what must stay light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import bridge

ROOT = Path(bridge.__file__).parent

LEAVES = {"protocol", "errors", "config", "wording", "files", "data", "workers", "frozen"}
ROOMS = [
    {"__main__", "cli", "cli_shared", "cli_models", "cli_knowledge", "doctor", "estimate", "codegen", "chat",
     "chat_screen", "chat_keyboard", "bench", "serve", "client", "client_link", "companion", "launch",
     "schema", "log", "cli_status", "status_view", "cli_package", "packaging", "cli_voice",
     "chat_voice", "voice_player", "voice_recording"},
    {"server", "transport", "codec", "outbox", "peer", "curve"},
    {"session", "order"},
    {"agent"},
    {"turn", "turn_tools", "step", "asking", "speaking", "speaker", "speech_step"},
    {"nodes", "node", "workflow", "workflow_flow", "authoring", "template", "variables", "storage", "storages",
     "prompt", "budget", "summary", "dialog", "chat_format", "catalog", "models", "loaders", "model_files", "download",
     "hub", "packaged_model", "packaged_embedding", "filter", "knowledge", "retrieval", "tool_call", "tool_formats",
     "tool_schema", "near_json", "classify", "status", "token_counts", "dialog_document", "json_items", "sentences",
     "spoken", "thoughts", "sound"},
    {"engines", "engine", "answer_text"},
]  # fmt: skip
"""From left to right: the way of a player's line. A room imports itself, leaves, and rooms to its right."""

HEAVY = {"llama_cpp": "engines/llama.py", "zmq": "transport.py", "numpy": "engines"}
"""Modules that only certain files may import."""


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(ROOT.rglob("*.py")):
        relative = path.relative_to(ROOT)
        yield (relative.parts[0] if len(relative.parts) > 1 else relative.stem), path


def imports(path: Path, *, at_run_time: bool = False) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    only_types = {
        id(inside)
        for node in ast.walk(tree)
        if at_run_time and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inside in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in only_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names if node.module == "bridge")


def room_of(name: str) -> int | None:
    return next((index for index, room in enumerate(ROOMS) if name in room), None)


def test_no_room_imports_one_to_its_left() -> None:
    wrong = []
    for name, path in modules():
        own = room_of(name)
        if own is None:
            assert name in LEAVES | {"__init__"}, f"{name} belongs to no room: add it to one"
            own = len(ROOMS)
        for target in imports(path):
            parts = target.split(".")
            if parts[0] != "bridge" or len(parts) < 2 or parts[1] in LEAVES:
                continue
            other = room_of(parts[1])
            if other is not None and other < own:
                wrong.append(f"{path.relative_to(ROOT)} imports {target}")
    assert wrong == []


def test_heavy_modules_stay_in_their_rooms() -> None:
    for name, path in modules():
        used = {target.split(".")[0] for target in imports(path, at_run_time=True)}
        relative = path.relative_to(ROOT).as_posix()
        if "llama_cpp" in used:
            assert relative.startswith("engines/llama") or name == "bench", relative
        if "zmq" in used:
            assert relative in ("transport.py", "client.py", "client_link.py", "curve.py"), relative
        if "numpy" in used:
            assert name in ("engines", "bench"), relative
        if used & {"hibari", "sherpa_onnx", "onnxruntime"}:
            assert relative in ("engines/hibari.py", "engines/sherpa_worker.py"), relative


def test_the_sidecar_starts_without_heavy_modules() -> None:
    heavy = "[m for m in ('llama_cpp', 'numpy', 'rich', 'hibari', 'sherpa_onnx', 'onnxruntime') if m in sys.modules]"
    probe = f"import sys, bridge.serve, bridge.session, bridge.models; print({heavy})"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_module_says_why_to_open_it() -> None:
    for _, path in modules():
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or path.stat().st_size == 0, path
