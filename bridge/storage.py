"""String storages: named lists of text that nodes read, and the one rule for paths that come from outside."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from bridge.errors import InvalidStorageData, LimitExceeded, StorageFileNotFound, StorageOutsideRoot
from bridge.files import read_file
from bridge.json_items import JsonFault, NoArray, read_items
from bridge.protocol import StorageKind
from bridge.wording import cut, fault_words, json_path, suggest

_MOST_NAMES = 1000
"""Files of a folder among which a wrong name is compared."""


@dataclass(frozen=True)  # without slots: it is shared through weak references
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
            raise StorageFileNotFound(f"there is no file '{cut(name)}' in the storage folder{_close_file(path)}")
    except (OSError, ValueError) as fault:
        raise StorageFileNotFound(f"'{name}' cannot be opened: {fault}") from None
    return path


def _close_file(path: Path) -> str:
    """Which file beside it may have been meant, if its folder has one of nearly that name."""
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry in islice(entries, _MOST_NAMES) if entry.is_file()]
    except (OSError, ValueError):
        return ""
    hint = suggest(path.name, names)
    return f"; {hint}" if hint.startswith("did you mean") else ""


def load_string_storage(path: Path, name: str, max_bytes: int = 8 * 2**20) -> StringStorage:
    """Read a `.txt` (List), `.json` (Map) or `.mm.json` (Multimap).

    Raises InvalidStorageData naming file and fault, LimitExceeded for a file of more than `max_bytes`.
    """
    try:
        data = read_file(path, max_bytes)
    except OSError as fault:
        raise StorageFileNotFound(f"'{name}' cannot be read: {fault.strerror}") from None
    if data is None:
        raise LimitExceeded(f"'{name}' has more than {max_bytes} bytes (max_storage_bytes)")
    return _parse(data, name)


def make_string_storage(
    kind: StorageKind | None, strings: Sequence[str] | None, keys: Sequence[str] | None
) -> StringStorage:
    """A storage of texts that came along; without `kind` it is a Map where there are keys, else a List.

    Raises InvalidStorageData.
    """
    texts = tuple(strings or ())
    chosen: StorageKind = kind or ("Map" if keys else "List")
    if strings is None:
        raise InvalidStorageData("a storage needs strings or a file", path="$.strings")
    if chosen == "List":
        if keys:
            raise InvalidStorageData("a List has no keys; make it a Map or a Multimap", path="$.keys")
        return StringStorage("List", texts)
    if keys is None or len(keys) != len(texts):
        raise InvalidStorageData(
            f"a {chosen} needs a key for every string: {len(texts)} strings, {len(keys or ())} keys", path="$.keys"
        )
    if chosen == "Map":
        twice = _first_twice(keys)
        if twice is not None:
            raise InvalidStorageData(
                f"the key '{cut(keys[twice])}' stands there twice; a Multimap allows that", path=f"$.keys[{twice}]"
            )
    return StringStorage(chosen, texts, tuple(keys))


def why_no_storage(name: str, root: Path | None, fault: StorageFileNotFound) -> StorageFileNotFound:
    """The fault of a storage that is not there, which also says that no storage was made under this name."""
    return StorageFileNotFound(f"no storage '{cut(name)}' was made in this session, and {fault}")


@lru_cache(maxsize=8)
def packaged_list(name: str) -> StringStorage:
    """A storage that comes with the sidecar, such as `canned_responses.txt`."""
    data = files("bridge.data").joinpath(name).read_bytes()
    return _parse(data, name)


def _parse(data: bytes, name: str) -> StringStorage:
    lowered = name.lower()
    if lowered.endswith(".json"):
        return _read_rows(data, name, unique=not lowered.endswith(".mm.json"))
    if lowered.endswith(".txt"):
        return StringStorage("List", tuple(_read_lines(data, name)))
    raise InvalidStorageData(f"'{name}' must end in .txt (List), .json (Map) or .mm.json (Multimap)")


def _first_twice(keys: Sequence[str]) -> int | None:
    """Index of the first key that stood there before."""
    seen: set[str] = set()
    for index, key in enumerate(keys):
        if key in seen:
            return index
        seen.add(key)
    return None


def _read_lines(data: bytes, name: str) -> list[str]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise InvalidStorageData(f"'{name}' is not UTF-8 (byte {fault.start}); save it as UTF-8") from None
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _read_rows(data: bytes, name: str, *, unique: bool) -> StringStorage:
    keys: list[str] = []
    texts: list[str] = []
    try:
        for items in read_items(data):
            rows = _ROWS.validate_python(items)
            keys += [row.id for row in rows]
            texts += [row.text for row in rows]
    except JsonFault as fault:
        raise InvalidStorageData(f"'{name}' is not valid JSON: {fault}") from None
    except NoArray:
        raise InvalidStorageData(f"'{name}' must be an array of {{id, text}}") from None
    except ValidationError as fault:
        first = fault.errors()[0]
        index, *inside = first["loc"]
        path = json_path((len(keys) + int(index), *inside))
        raise InvalidStorageData(f"'{name}' must be an array of {{id, text}}: {path}: {fault_words(first)}") from None
    twice = _first_twice(keys) if unique else None
    if twice is not None:
        raise InvalidStorageData(
            f"'{name}' holds the id '{cut(keys[twice])}' twice; a Map needs unique ids (.mm.json allows them)"
        )
    return StringStorage("Map" if unique else "Multimap", tuple(texts), tuple(keys))
