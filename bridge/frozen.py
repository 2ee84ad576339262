"""Whether this is the packaged sidecar, a folder that runs without Python, and where things are then."""

from __future__ import annotations

import sys
from pathlib import Path

IS_FROZEN = bool(getattr(sys, "frozen", False))

PROBE_COMMAND = "probe-llama"
"""The hidden command that asks llama.cpp in a process of its own: there is no interpreter to hand code to."""

WORKER_COMMAND = "voice-worker"
"""The hidden command in whose process sherpa-onnx speaks."""


def worker_command() -> list[str]:
    """What starts the process in which sherpa-onnx speaks."""
    return [sys.executable, WORKER_COMMAND] if IS_FROZEN else [sys.executable, "-m", "bridge.engines.sherpa_worker"]


def parley_command() -> list[str]:
    """What starts `parley` once more."""
    return [sys.executable] if IS_FROZEN else [sys.executable, "-m", "bridge"]


def shipped_models() -> Path | None:
    """The models that a packaged sidecar brings with it, which it only reads; None where it is none."""
    return Path(sys.executable).resolve().parent / "models" if IS_FROZEN else None
