"""String storages: named lists of text that nodes read, and the one rule for paths that come from outside."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

import orjson
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from bridge.errors import InvalidStorageData, StorageFileNotFound, StorageOutsideRoot
from bridge.wording import cut, json_path

StorageKind = Literal["List", "Map", "Multimap"]
MAX_STORAGE_BYTES = 8 * 2**20


@dataclass(frozen=True, slots=True)
class StringStorage:
    """Texts in order; `keys` runs beside `texts` and is empty for a List."""

    kind: StorageKind
    texts: tuple[str, ...]
    keys: tuple[str, ...] = ()


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)
    id: str
    text: str


_ROWS = TypeAdapter(list[_Row])


def resolve_inside(root: Path | None, name: str) -> Path:
    """The file that a relative name from outside means, with symbolic links followed.

    Raises StorageOutsideRoot for anything that is not under `root`, StorageFileNotFound where there is no such file or
    the session has no storage folder.
    """
    if root is None:
        raise StorageFileNotFound(f"'{name}' names a file, but the session has no storage folder (ConfigureSession)")
    outside = StorageOutsideRoot(f"'{name}' leaves the storage folder; use a relative path inside it")
    if "\0" in name:
        raise outside
    # A name is judged by the rules of every system: a workflow made on one is opened on the others.
    if Path(name).is_absolute() or name.startswith(("/", "\\")) or name[1:2] == ":":
        raise outside
    try:
        base = Path(os.path.realpath(root))
        path = Path(os.path.realpath(base / name.replace("\\", "/")))
        if not path.is_relative_to(base):
            raise outside
        if not path.is_file():
            raise StorageFileNotFound(f"there is no file '{name}' in the storage folder")
    except (OSError, ValueError) as fault:
        raise StorageFileNotFound(f"'{name}' cannot be opened: {fault}") from None
    return path


def load_string_storage(path: Path, name: str) -> StringStorage:
    """Read a `.txt` (List), `.json` (Map) or `.mm.json` (Multimap). Raises InvalidStorageData naming file and fault."""
    try:
        if path.stat().st_size > MAX_STORAGE_BYTES:
            raise InvalidStorageData(f"'{name}' is larger than {MAX_STORAGE_BYTES >> 20} MiB")
        data = path.read_bytes()
    except OSError as fault:
        raise StorageFileNotFound(f"'{name}' cannot be read: {fault.strerror}") from None
    lowered = name.lower()
    if lowered.endswith(".json"):
        return _read_rows(data, name, unique=not lowered.endswith(".mm.json"))
    if lowered.endswith(".txt"):
        return StringStorage("List", tuple(_read_lines(data, name)))
    raise InvalidStorageData(f"'{name}' must end in .txt (List), .json (Map) or .mm.json (Multimap)")


@lru_cache(maxsize=8)
def packaged_list(name: str) -> tuple[str, ...]:
    """A list that comes with the sidecar, such as `canned_responses`."""
    return tuple(_read_lines(files("bridge.data").joinpath(f"{name}.txt").read_bytes(), f"{name}.txt"))


def choose_strings(root: Path | None, storage: str, inline: Sequence[str], default: str) -> Sequence[str]:
    """The texts of a node: its storage where it names one, else its inline list, else the packaged list."""
    if storage:
        return load_string_storage(resolve_inside(root, storage), storage).texts
    return tuple(inline) if inline else packaged_list(default)


def _read_lines(data: bytes, name: str) -> list[str]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise InvalidStorageData(f"'{name}' is not UTF-8 (byte {fault.start}); save it as UTF-8") from None
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _read_rows(data: bytes, name: str, *, unique: bool) -> StringStorage:
    try:
        rows = _ROWS.validate_python(orjson.loads(data.removeprefix(b"\xef\xbb\xbf")))
    except orjson.JSONDecodeError as fault:
        raise InvalidStorageData(f"'{name}' is not valid JSON: {fault}") from None
    except ValidationError as fault:
        first = fault.errors()[0]
        raise InvalidStorageData(
            f"'{name}' must be an array of {{id, text}}: {json_path(first['loc'])}: {first['msg']}"
        ) from None
    keys = tuple(row.id for row in rows)
    seen: set[str] = set()
    for key in keys if unique else ():
        if key in seen:
            raise InvalidStorageData(
                f"'{name}' holds the id '{cut(key)}' twice; a Map needs unique ids (.mm.json allows them)"
            )
        seen.add(key)
    return StringStorage("Map" if unique else "Multimap", tuple(row.text for row in rows), keys)
