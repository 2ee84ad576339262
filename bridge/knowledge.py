"""Knowledge as its author writes it: config, records and plain strings, read and checked before any is embedded."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic import Field as Setting

from bridge.errors import InvalidEmbeddedStorageData, StorageFileNotFound
from bridge.filter import Field, FieldType, Metadata, Schema
from bridge.storage import resolve_inside
from bridge.variables import Value
from bridge.wording import cut, json_path, shown

MAX_RECORDS_BYTES = 64 * 2**20
MAX_CONFIG_BYTES = 2**20
MAX_RECORDS = 1_000_000
MAX_FIELDS = 256

_NO_METADATA: Metadata = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Record:
    """One piece of knowledge."""

    id: str
    text: str
    metadata: Metadata
    """Defaults filled in; absent optional fields are left out."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What was read, before any of it is embedded."""

    name: str
    embedding_model: str
    schema: Schema
    records: tuple[Record, ...]
    digest: str
    """Of the records' ids, texts and order: what vectors hang on."""
    index_path: Path | None
    """Where the index is kept; None: nowhere."""
    warnings: tuple[str, ...] = ()


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _FieldConfig(_Strict):
    name: str = Setting(min_length=1, max_length=128)
    type: FieldType
    default: Any = None
    optional: bool = False
    filterable: bool = True


class _Config(_Strict):
    version: Literal[1]
    embedding_model: str = Setting(min_length=1, max_length=128)
    records_file: str = Setting(min_length=1)
    index_file: str | None = Setting(default=None, min_length=1)
    fields: list[_FieldConfig] = Setting(default_factory=list, max_length=MAX_FIELDS)


def read_knowledge(root: Path | None, name: str) -> Knowledge:
    """The knowledge of a config file under `root`, its records checked. Blocking.

    Raises StorageOutsideRoot and StorageFileNotFound, InvalidEmbeddedStorageData that names file and place in it.
    """
    path = resolve_inside(root, name)
    folder = name.replace("\\", "/").rpartition("/")[0]
    return _knowledge(root, name, folder, _read_json(path, name, MAX_CONFIG_BYTES), path)


def knowledge_from_config(root: Path | None, name: str, config: Mapping[str, Any]) -> Knowledge:
    """The knowledge of a config that came along; its files lie under `root`. Blocking; raises as `read_knowledge`."""
    return _knowledge(root, name, "", config, None)


def inline_knowledge(name: str, strings: Sequence[str], embedding_model: str) -> Knowledge:
    """Knowledge of plain strings; their ids are "0", "1", … Its index is kept nowhere."""
    if len(strings) > MAX_RECORDS:
        raise InvalidEmbeddedStorageData(f"'{name}' has more than {MAX_RECORDS} strings", path="$.strings")
    records = tuple(Record(str(index), text, _NO_METADATA) for index, text in enumerate(strings))
    return Knowledge(name, embedding_model, {}, records, _digest(records), None)


def _knowledge(root: Path | None, name: str, folder: str, raw: object, config_path: Path | None) -> Knowledge:
    config = _read_config(raw, name)
    schema = _read_schema(config.fields, name)
    records_name = _join(folder, config.records_file)
    records_path = resolve_inside(root, records_name)
    index_name = _join(folder, config.index_file or config.records_file.removesuffix(".json") + ".index")
    index_path = _resolve_output(root, index_name)
    if index_path in (records_path, config_path):
        raise _invalid(name, ("index_file",), "the index would write over the config or the records; name another file")
    records, warnings = _read_records(_read_json(records_path, records_name, MAX_RECORDS_BYTES), records_name, schema)
    return Knowledge(name, config.embedding_model, schema, records, _digest(records), index_path, warnings)


def _join(folder: str, file: str) -> str:
    """A file's name as seen from the storage folder. An absolute one stays as it is, to be refused."""
    absolute = file.startswith(("/", "\\")) or file[1:2] == ":" or Path(file).is_absolute()
    return f"{folder}/{file}" if folder and not absolute else file


def _resolve_output(root: Path | None, name: str) -> Path:
    """The place under `root` that a name means, whether or not a file is there. Raises StorageOutsideRoot."""
    try:
        return resolve_inside(root, name)
    except StorageFileNotFound:
        assert root is not None  # the records were found under it
        return Path(os.path.realpath(Path(os.path.realpath(root)) / name.replace("\\", "/")))


def _read_json(path: Path, name: str, limit: int) -> object:
    try:
        if path.stat().st_size > limit:
            raise InvalidEmbeddedStorageData(f"'{name}' is larger than {limit >> 20} MiB")
        data = path.read_bytes()
    except OSError as fault:
        raise StorageFileNotFound(f"'{name}' cannot be read: {fault.strerror}") from None
    try:
        return orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as fault:
        raise InvalidEmbeddedStorageData(f"'{name}' is not valid JSON: {fault}") from None


def _read_config(raw: object, name: str) -> _Config:
    try:
        return _Config.model_validate(raw)
    except ValidationError as fault:
        first = fault.errors()[0]
        raise _invalid(name, first["loc"], first["msg"]) from None


def _read_schema(fields: Iterable[_FieldConfig], name: str) -> Schema:
    schema: dict[str, Field] = {}
    for index, field in enumerate(fields):
        if field.name in schema:
            raise _invalid(name, ("fields", index, "name"), f"there is a field '{field.name}' already")
        default = None
        if field.default is not None:
            default = _typed(field.default, field.type)
            if default is None:
                raise _invalid(
                    name, ("fields", index, "default"), f"{shown(field.default)} must be {_WORDS[field.type]}"
                )
        schema[field.name] = Field(field.name, field.type, field.optional, default, field.filterable)
    return schema


def _read_records(raw: object, name: str, schema: Schema) -> tuple[tuple[Record, ...], tuple[str, ...]]:
    if not isinstance(raw, list):
        raise _invalid(name, (), f"{shown(raw)} must be an array of {{id, text, metadata}}")
    if len(raw) > MAX_RECORDS:
        raise _invalid(name, (), f"{len(raw)} records are more than {MAX_RECORDS}")
    records = []
    seen: set[str] = set()
    unknown: dict[str, int] = {}
    for index, row in enumerate(raw):
        if not isinstance(row, dict):
            raise _invalid(name, (index,), f"{shown(row)} must be an object with id, text and metadata")
        for key in ("id", "text"):
            if not isinstance(row.get(key), str):
                raise _invalid(name, (index, key), "a string is needed here")
        if row["id"] in seen:
            raise _invalid(name, (index, "id"), f"the id '{cut(row['id'])}' stands there twice")
        seen.add(row["id"])
        given = row.get("metadata")
        if given is not None and not isinstance(given, dict):
            raise _invalid(name, (index, "metadata"), f"{shown(given)} must be an object")
        metadata = _metadata(given or {}, schema, name, index)
        for key in given or ():
            if key not in schema:
                unknown.setdefault(key, index)
        records.append(Record(row["id"], row["text"], metadata))
    warnings = [
        f"'{name}': {json_path((index, 'metadata', key))}: the config has no such field; it is left out"
        for key, index in list(unknown.items())[:8]
    ]
    return tuple(records), tuple(warnings)


def _metadata(given: Mapping[str, object], schema: Schema, name: str, index: int) -> Metadata:
    values: dict[str, Value] = {}
    for field in schema.values():
        raw = given.get(field.name)
        if raw is None:
            if field.default is not None:
                values[field.name] = field.default
            elif not field.optional:
                raise _invalid(
                    name,
                    (index, "metadata", field.name),
                    "a value is needed: the field has no default and is not optional",
                )
            continue
        value = _typed(raw, field.type)
        if value is None:
            raise _invalid(name, (index, "metadata", field.name), f"{shown(raw)} must be {_WORDS[field.type]}")
        values[field.name] = value
    return values or _NO_METADATA


_WORDS: dict[FieldType, str] = {
    "int": "a whole number",
    "float": "a finite number",
    "string": "a string",
    "bool": "true or false",
    "set<string>": "an array of strings",
}


def _typed(raw: object, kind: FieldType) -> Value | None:
    """A value as the field's type has it; None where it is not of that type."""
    if isinstance(raw, bool):
        return raw if kind == "bool" else None
    if kind == "string" and isinstance(raw, str):
        return raw
    if kind == "int" and isinstance(raw, int):
        return raw
    if kind == "float" and isinstance(raw, (int, float)):
        try:
            number = float(raw)
        except OverflowError:
            return None
        return number if math.isfinite(number) else None
    if kind == "set<string>" and isinstance(raw, list) and all(isinstance(item, str) for item in raw):
        return frozenset(raw)
    return None


def _digest(records: Iterable[Record]) -> str:
    checksum = hashlib.sha256()
    for record in records:
        for text in (record.id, record.text):
            data = text.encode("utf-8", "surrogatepass")
            checksum.update(b"%d:" % len(data))
            checksum.update(data)
    return checksum.hexdigest()


def _invalid(name: str, location: Iterable[int | str], message: str) -> InvalidEmbeddedStorageData:
    where = json_path(location)
    return InvalidEmbeddedStorageData(f"'{name}', {where}: {message}", path=where)
