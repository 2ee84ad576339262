"""llama.cpp itself: the one import of it, and where its log goes."""

from __future__ import annotations

import ctypes
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

from bridge.errors import ModelLoadFailed

# GNU's OpenMP spins 300,000 times at every barrier by default. Beside a game that keeps the cores busy, a thread then
# spins while the one it waits for cannot run. Measured on two cores, tokens a second alone and with one busy process
# beside it: default 70 and 1, 2,000 spins 69 and 13, none 45 and 32. It is read when OpenMP is loaded.
os.environ.setdefault("GOMP_SPINCOUNT", "2000")

try:
    import llama_cpp.llama_cpp as lib
except (ImportError, OSError, RuntimeError) as fault:
    raise ModelLoadFailed(f"llama.cpp cannot be loaded: {fault}") from fault

__all__ = ["give_back_memory", "lib", "listening", "thread_count", "trouble"]

log = logging.getLogger("bridge.llama")

_WARNING, _ERROR, _CONTINUED = 3, 4, 5


class _Ears(threading.local):
    lines: list[tuple[int, str]] | None = None


_ears = _Ears()


def _on_log(level: int, text: bytes, _user_data: object) -> None:
    if _ears.lines is None and not log.isEnabledFor(logging.DEBUG):
        return
    line = text.decode("utf-8", "replace").rstrip()
    if not line or line == ".":
        return
    if _ears.lines is not None and level != _CONTINUED:
        _ears.lines.append((level, line))
    log.debug("%s", line)


_callback = lib.llama_log_callback(_on_log)  # llama.cpp keeps only the pointer
lib.llama_log_set(_callback, None)
lib.llama_backend_init()


@contextmanager
def listening() -> Iterator[list[tuple[int, str]]]:
    """Collects what llama.cpp logs on this thread meanwhile: (its level, line)."""
    before = _ears.lines
    lines: list[tuple[int, str]] = []
    _ears.lines = lines
    try:
        yield lines
    finally:
        _ears.lines = before


def trouble(lines: list[tuple[int, str]]) -> str:
    """What llama.cpp complained of last, for an error message."""
    errors = [line for level, line in lines if level == _ERROR] or [line for level, line in lines if level == _WARNING]
    return errors[0] if errors else "llama.cpp does not say why"


def thread_count(wanted: int) -> int:
    """CPU threads to compute with; 0 = as many as there are physical cores that this process may use."""
    if wanted > 0:
        return wanted
    physical = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else physical
    return max(1, min(physical, allowed))


def give_back_memory() -> None:
    """Call once a model is freed: glibc keeps hundreds of MiB of it, spread over its threads' heaps, for later."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other C libraries have none, and keep less
        if trim is not None:
            trim(0)
