"""Knowledge as its author writes it: config, records and plain strings, read and checked before any is embedded."""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic import Field as Setting

from bridge.errors import InvalidEmbeddedStorageData, LimitExceeded, StorageFileNotFound
from bridge.files import read_file
from bridge.filter import Field, FieldType, Metadata, Schema
from bridge.json_items import REST_S, JsonFault, NoArray, read_items
from bridge.storage import resolve_inside
from bridge.variables import Value
from bridge.wording import cut, fault_words, json_path, shown, suggest

MAX_CONFIG_BYTES = 2**20
MAX_FIELDS = 256
MAX_WARNINGS = 8
"""Unknown keys of metadata that are named."""

_RECORD = ("id", "text", "metadata")

_NO_METADATA: Metadata = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class KnowledgeLimits:
    """How much one embedded storage may hold; the settings max_knowledge_bytes and max_knowledge_records."""

    record_bytes: int = 64 * 2**20
    records: int = 1_000_000


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

    def values(self, field: str) -> frozenset[str]:
        """What the records have in a field of type string; of an empty name their ids."""
        return values_of(self.records, field)


def values_of(records: Iterable[Record], field: str) -> frozenset[str]:
    """What records have in a field of type string; of an empty name their ids."""
    if not field:
        return frozenset(record.id for record in records)
    found = (record.metadata.get(field) for record in records)
    return frozenset(value for value in found if isinstance(value, str))


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


def config_fields() -> list[tuple[str, str]]:
    """The fields of a config file, each with its default, for the reference."""
    return [
        (name, "required" if info.is_required() else "`null`" if info.default is None else "`[]`")
        for name, info in _Config.model_fields.items()
    ]


def read_knowledge(root: Path | None, name: str, limits: KnowledgeLimits | None = None) -> Knowledge:
    """The knowledge of a config file under `root`, its records checked. Blocking.

    Raises StorageOutsideRoot and StorageFileNotFound, InvalidEmbeddedStorageData that names file and place in it.
    """
    path = resolve_inside(root, name)
    folder = name.replace("\\", "/").rpartition("/")[0]
    limits = limits or KnowledgeLimits()
    return _knowledge(root, name, folder, _read_json(path, name, MAX_CONFIG_BYTES), path, limits)


def knowledge_from_config(
    root: Path | None, name: str, config: Mapping[str, Any], limits: KnowledgeLimits | None = None
) -> Knowledge:
    """The knowledge of a config that came along; its files lie under `root`. Blocking; raises as `read_knowledge`."""
    return _knowledge(root, name, "", config, None, limits or KnowledgeLimits())


def inline_knowledge(
    name: str, strings: Sequence[str], embedding_model: str, limits: KnowledgeLimits | None = None
) -> Knowledge:
    """Knowledge of plain strings; their ids are "0", "1", … Its index is kept nowhere."""
    most = (limits or KnowledgeLimits()).records
    if len(strings) > most:
        raise LimitExceeded(f"'{name}' has more than {most} strings (max_knowledge_records)", path="$.strings")
    records = tuple(Record(str(index), text, _NO_METADATA) for index, text in enumerate(strings))
    return Knowledge(name, embedding_model, {}, records, _digest(records), None)


def _knowledge(
    root: Path | None, name: str, folder: str, raw: object, config_path: Path | None, limits: KnowledgeLimits
) -> Knowledge:
    config = _read_config(raw, name)
    schema = _read_schema(config.fields, name)
    records_name = _join(folder, config.records_file)
    records_path = resolve_inside(root, records_name)
    index_name = _join(folder, config.index_file or config.records_file.removesuffix(".json") + ".index")
    index_path = _resolve_output(root, index_name)
    if index_path in (records_path, config_path):
        raise _invalid(name, ("index_file",), "the index would write over the config or the records; name another file")
    rows = _read_items(_read_bytes(records_path, records_name, limits.record_bytes), records_name)
    records, warnings = _read_records(rows, records_name, schema, limits)
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


def _read_bytes(path: Path, name: str, limit: int) -> bytes:
    try:
        data = read_file(path, limit)
    except OSError as fault:
        raise StorageFileNotFound(f"'{name}' cannot be read: {fault.strerror}") from None
    if data is None:
        raise LimitExceeded(f"'{name}' has more than {limit} bytes (max_knowledge_bytes)")
    return data


def _read_items(data: bytes, name: str) -> Iterator[object]:
    try:
        for items in read_items(data):
            yield from items
    except JsonFault as fault:
        raise InvalidEmbeddedStorageData(f"'{name}' is not valid JSON: {fault}") from None
    except NoArray as fault:
        value = "" if fault.value is None else f"{shown(fault.value)} "
        raise _invalid(name, (), f"{value}must be an array of {{id, text, metadata}}") from None


def _read_json(path: Path, name: str, limit: int) -> object:
    data = _read_bytes(path, name, limit)
    try:
        return orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as fault:
        raise InvalidEmbeddedStorageData(f"'{name}' is not valid JSON: {fault}") from None


def _read_config(raw: object, name: str) -> _Config:
    try:
        return _Config.model_validate(raw)
    except ValidationError as fault:
        first = fault.errors()[0]
        raise _invalid(name, first["loc"], fault_words(first, _Config)) from None


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


def _read_records(
    rows: Iterable[object], name: str, schema: Schema, limits: KnowledgeLimits
) -> tuple[tuple[Record, ...], tuple[str, ...]]:
    records = []
    seen: set[str] = set()
    unknown: dict[str, int] = {}
    for index, row in enumerate(rows):
        if index >= limits.records:
            raise LimitExceeded(f"'{name}' has more than {limits.records} records (max_knowledge_records)")
        if not isinstance(row, dict):
            raise _invalid(name, (index,), f"{shown(row)} must be an object with id, text and metadata")
        for key in row:
            if key not in _RECORD:
                hint = "put it under `metadata`" if key in schema else suggest(key, [*_RECORD, *schema])
                hint += "" if hint.startswith(("put", "did")) else "; what a filter reads stands under `metadata`"
                raise _invalid(name, (index, key), f"a record has id, text and metadata, not '{cut(key)}'; {hint}")
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
        f"'{name}': {json_path((index, 'metadata', key))}: the config has no field '{cut(key)}', so it is left out; "
        f"{suggest(key, schema)}"
        for key, index in list(unknown.items())[:MAX_WARNINGS]
    ]
    if len(unknown) > MAX_WARNINGS:
        warnings.append(f"'{name}': {len(unknown) - MAX_WARNINGS} more keys of metadata are no fields of the config")
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
    for index, record in enumerate(records):
        if index % 2_000 == 0:
            time.sleep(REST_S)
        for text in (record.id, record.text):
            data = text.encode("utf-8", "surrogatepass")
            checksum.update(b"%d:" % len(data))
            checksum.update(data)
    return checksum.hexdigest()


def _invalid(name: str, location: Iterable[int | str], message: str) -> InvalidEmbeddedStorageData:
    where = json_path(location)
    return InvalidEmbeddedStorageData(f"'{name}', {where}: {message}", path=where)
