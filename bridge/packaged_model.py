"""Models that a Python package ships in parts: put together once, checked, kept in the models folder."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol, cast

from bridge.errors import InsufficientDiskSpace, ModelCorrupt, ModelLoadFailed

log = logging.getLogger(__name__)
BLOCK = 4 * 2**20
LEFTOVER_AGE_S = 3600


class ChunkPackage(Protocol):
    """What such a package offers."""

    def chunk_paths(self) -> list[Path]:
        """The parts in order."""


def assemble(model: str, package: str, target: Path, sha256: str, report: Callable[[str, int, int, str], None]) -> Path:
    """The model's file, made from the package's parts where it is not there yet. Blocking.

    The file appears whole or not at all: it is written beside its place, checked, then moved. Raises ModelLoadFailed
    where the package is missing, ModelCorrupt where the checksum is wrong, InsufficientDiskSpace.
    """
    if target.is_file():
        return target
    try:
        parts = cast(ChunkPackage, importlib.import_module(package)).chunk_paths()
        sizes = [part.stat().st_size for part in parts]
    except ImportError:
        raise ModelLoadFailed(
            f"model '{model}' comes with the package {package.replace('_', '-')}, which is not installed: "
            'pip install "parley-bridge[starter]"'
        ) from None
    except OSError as fault:
        raise ModelCorrupt(f"a part of model '{model}' is missing: {fault.filename}; reinstall {package}") from None
    total = sum(sizes)
    log.info("putting model %s together in %s", model, target.parent)
    digest = hashlib.sha256()
    with placing(model, target, total) as part_file, part_file.open("wb") as out:
        done = 0
        for part in parts:
            with part.open("rb") as data:
                while block := data.read(BLOCK):
                    out.write(block)
                    digest.update(block)
                    done += len(block)
                    report("prepare", done, total, "bytes")
        if sha256 and digest.hexdigest() != sha256:
            raise ModelCorrupt(f"the parts of model '{model}' do not make the expected file; reinstall {package}")
    return target


@contextlib.contextmanager
def placing(model: str, target: Path, size: int) -> Iterator[Path]:
    """A file beside `target` to write to; it is moved there at the end, and removed where there is an error.

    Sweeps what killed processes left. Raises ModelLoadFailed where the folder cannot be used, InsufficientDiskSpace
    where writing fails.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target)
    except OSError as fault:
        raise ModelLoadFailed(f"the models folder {target.parent} cannot be used: {fault.strerror}") from None
    part_file: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(prefix=f"{target.name}.", suffix=".part", dir=target.parent)
        os.close(descriptor)
        part_file = Path(name)
        yield part_file
        os.replace(part_file, target)
    except OSError as fault:
        cause = fault.strerror or "the disk took only a part of it"
        raise InsufficientDiskSpace(
            f"model '{model}' ({size >> 20} MiB) could not be written to {target.parent}: {cause}"
        ) from None
    finally:
        if part_file is not None:
            part_file.unlink(missing_ok=True)


def _sweep(target: Path) -> None:
    """Remove what a process that was killed left behind; a younger file may be another process's, at work now."""
    for leftover in target.parent.glob(f"{target.name}.*.part"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - leftover.stat().st_mtime > LEFTOVER_AGE_S:
                leftover.unlink()
