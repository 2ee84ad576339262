"""What llama.cpp is and whether it works here: `python -m bridge.engines.llama_probe` prints it as JSON.

A process of its own, because a build for another CPU ends the process that tries it.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import struct
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bridge.engines.llama_library import lib, listening, trouble
from bridge.errors import ModelLoadFailed

_KINDS = {0: "CPU", 1: "GPU", 2: "integrated GPU", 3: "accelerator"}

_WIDTH, _ENTRIES = 32, 8


def probe() -> dict[str, Any]:
    """Version, features and devices of llama.cpp, once a token was computed. Raises ModelLoadFailed where it cannot."""
    _compute()
    return {
        "version": lib.llama_version().decode("utf-8", "replace"),
        "ggml": _text("ggml_version"),
        "commit": _text("ggml_commit"),
        "gpu": bool(lib.llama_supports_gpu_offload()),
        "features": lib.llama_print_system_info().decode("utf-8", "replace").strip(" |"),
        "devices": _devices(),
    }


def _foreign(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    """A function of ggml, which llama-cpp-python does not declare."""
    function = getattr(lib._lib, name)
    function.restype = result
    function.argtypes = list(arguments)
    return function  # type: ignore[no-any-return] # ctypes' functions are Any


def _text(name: str) -> str:
    try:
        return str(_foreign(name, ctypes.c_char_p)().decode("utf-8", "replace"))
    except AttributeError:  # an older library
        return ""


def _devices() -> list[dict[str, Any]]:
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    try:
        count = _foreign("ggml_backend_dev_count", size)
        get = _foreign("ggml_backend_dev_get", pointer, size)
        name = _foreign("ggml_backend_dev_name", ctypes.c_char_p, pointer)
        description = _foreign("ggml_backend_dev_description", ctypes.c_char_p, pointer)
        kind = _foreign("ggml_backend_dev_type", ctypes.c_int, pointer)
        memory = _foreign("ggml_backend_dev_memory", None, pointer, ctypes.POINTER(size), ctypes.POINTER(size))
    except AttributeError:
        return []
    devices = []
    for index in range(count()):
        device = get(index)
        free, total = size(), size()
        memory(device, ctypes.byref(free), ctypes.byref(total))
        devices.append(
            {
                "name": name(device).decode("utf-8", "replace"),
                "description": description(device).decode("utf-8", "replace"),
                "kind": _KINDS.get(kind(device), "other"),
                "free": free.value,
                "total": total.value,
            }
        )
    return devices


def _compute() -> None:
    """Let a network of one layer compute one token: that runs what a real one runs."""
    descriptor, name = tempfile.mkstemp(prefix="parley-probe-", suffix=".gguf")
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(tiny_model())
        params = lib.llama_model_default_params()
        params.n_gpu_layers = 0
        with listening() as lines:
            model = lib.llama_model_load_from_file(os.fsencode(name), params)
            if not model:
                raise ModelLoadFailed(f"llama.cpp cannot load a tiny model: {trouble(lines)}")
            _decode(model)
    finally:
        Path(name).unlink(missing_ok=True)


def _decode(model: Any) -> None:
    params = lib.llama_context_default_params()
    params.n_ctx = params.n_batch = params.n_ubatch = 32
    params.n_threads = params.n_threads_batch = 1
    context = lib.llama_init_from_model(model, params)
    if not context:
        lib.llama_model_free(model)
        raise ModelLoadFailed("llama.cpp cannot make a context for a tiny model")
    try:
        token = (lib.llama_token * 1)(1)
        if lib.llama_decode(context, lib.llama_batch_get_one(token, 1)):
            raise ModelLoadFailed("llama.cpp cannot compute one token of a tiny model")
    finally:
        lib.llama_free(context)
        lib.llama_model_free(model)


def tiny_model() -> bytes:
    """A GGUF of one layer whose weights are zero, in the types that small models are made of."""
    f32, q4_0, q4_k = 0, 2, 12
    wide = 256
    shapes = {
        "token_embd": (q4_0, (_WIDTH, _ENTRIES)),
        "output_norm": (f32, (_WIDTH,)),
        "blk.0.attn_norm": (f32, (_WIDTH,)),
        "blk.0.ffn_norm": (f32, (_WIDTH,)),
        **{f"blk.0.attn_{part}": (q4_0, (_WIDTH, _WIDTH)) for part in ("q", "k", "v", "output")},
        "blk.0.ffn_gate": (q4_0, (_WIDTH, wide)),
        "blk.0.ffn_up": (q4_0, (_WIDTH, wide)),
        "blk.0.ffn_down": (q4_k, (wide, _WIDTH)),
    }
    numbers = {
        "context_length": 32,
        "embedding_length": _WIDTH,
        "block_count": 1,
        "feed_forward_length": wide,
        "attention.head_count": 1,
        "rope.dimension_count": _WIDTH,
        "vocab_size": _ENTRIES,
    }
    values = [
        _string("general.architecture") + _u32(8) + _string("llama"),
        _string("tokenizer.ggml.model") + _u32(8) + _string("no_vocab"),
        _string("llama.attention.layer_norm_rms_epsilon") + _u32(6) + struct.pack("<f", 1e-5),
        *(_string(f"llama.{key}") + _u32(4) + _u32(number) for key, number in numbers.items()),
    ]
    blocks = {f32: (1, 4), q4_0: (32, 18), q4_k: (256, 144)}
    tensors = []
    offset = 0
    for name, (kind, extents) in shapes.items():
        tensors.append(
            _string(f"{name}.weight")
            + _u32(len(extents))
            + b"".join(struct.pack("<Q", extent) for extent in extents)
            + _u32(kind)
            + struct.pack("<Q", offset)
        )
        elements, size = blocks[kind]
        offset += -(-math.prod(extents) // elements * size // 32) * 32
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values)) + b"".join(values) + b"".join(tensors)
    return head + bytes(-len(head) % 32) + bytes(offset)


def _u32(number: int) -> bytes:
    return struct.pack("<I", number)


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def main() -> None:
    """Print `probe` as JSON; where llama.cpp does not work, why, and end the process with code 1."""
    try:
        print(json.dumps(probe()))
    except ModelLoadFailed as fault:
        print(json.dumps({"error": str(fault)}))
        sys.exit(1)


if __name__ == "__main__":
    main()
