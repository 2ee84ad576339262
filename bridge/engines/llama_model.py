"""A model file's weights in memory, on the GPU as far as they fit there."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from bridge.engines.llama_library import lib, listening, trouble
from bridge.errors import ModelLoadFailed

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the weights of a model came to lie."""

    backend: str
    layers: int
    notes: tuple[str, ...] = ()

    def with_notes(self, notes: Sequence[str]) -> Placement:
        return Placement(self.backend, self.layers, (*notes, *self.notes))


def place_model(
    path: Path,
    layers: int,
    wanted: int,
    progress: Callable[[float], None] | None,
    make: Callable[[Any, Placement], Made],
) -> Made:
    """What `make` makes of the model with as many layers on the GPU as there is room for, down to none.

    `wanted`: layers to begin with, -1 = all. `make` takes the model over, and frees it where it raises ModelLoadFailed:
    fewer layers are tried then. Blocking. Raises ModelLoadFailed.
    """
    notes: list[str] = []
    tries = [0]
    if lib.llama_supports_gpu_offload():
        tries = _layer_tries(wanted, layers + 1)  # the output counts as a layer
    elif wanted:
        notes.append("this build of llama.cpp runs on the CPU only")
    for index, count in enumerate(tries):
        try:
            model, placed = load_weights(path, count, progress)
            return make(model, placed.with_notes(notes))
        except ModelLoadFailed as fault:
            if index + 1 == len(tries):
                raise
            fewer = tries[index + 1]
            where = f"{fewer} layers on the GPU" if fewer else "the CPU"
            notes.append(f"{count} layers do not fit on the GPU ({fault}); trying {where}")
    raise AssertionError("there is always a last try")


def load_weights(path: Path, layers: int, progress: Callable[[float], None] | None) -> tuple[Any, Placement]:
    """The model with so many layers on the GPU. `progress` gets shares from 0 to 1. Raises ModelLoadFailed."""
    told = -1

    def on_progress(share: float, _user_data: object) -> bool:
        nonlocal told
        if progress is not None and int(share * 100) > told:
            told = int(share * 100)
            progress(share)
        return True

    params = lib.llama_model_default_params()
    params.n_gpu_layers = layers
    callback = lib.llama_progress_callback(on_progress)
    params.progress_callback = callback
    with listening() as lines:
        model = lib.llama_model_load_from_file(os.fsencode(path), params)
    if not model:
        raise ModelLoadFailed(f"{path} could not be loaded: {trouble(lines)}")
    text = "\n".join(line for _, line in lines)
    offloaded = re.search(r"offloaded (\d+)/\d+ layers", text)
    count = (int(offloaded[1]) if offloaded else layers) if layers else 0
    devices = re.findall(r"using device (\S+)", text)
    return model, Placement(", ".join(devices) or "GPU" if count else "CPU", count)


def buffer_bytes(lines: Sequence[tuple[int, str]], kind: str) -> int:
    """The size of a context's buffers, by what llama.cpp logged when it made them. `kind`: a pattern before the word
    "buffer"; empty: all of them."""
    sizes = (re.search(kind + r"buffer size =\s*([\d.]+) MiB", line) for _, line in lines)
    return int(sum(float(size[1]) for size in sizes if size) * 2**20)


def _layer_tries(wanted: int, layers: int) -> list[int]:
    """Counts of layers to put on the GPU, in the order to try them."""
    most = layers if wanted < 0 else min(wanted, layers)
    return sorted({most, most * 3 // 4, most // 2, most // 4, 0}, reverse=True)
