"""The model catalog: which models there are, where each comes from, and how it wants to be used."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, ValidationError, model_validator
from pydantic_core import ErrorDetails

from bridge.engine import Sampling
from bridge.errors import InvalidValue
from bridge.files import write_atomically
from bridge.node import Example, SamplingParams
from bridge.protocol import ToolCallFormat
from bridge.wording import cut, fault_words, json_path, shown, suggest

MAX_SHOWN = 20
"""Faults of one catalog that a message lists."""

_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE | re.DOTALL)
_UNSAFE = re.compile(r'[\x00-\x1f\\:*?"<>|]')
_OWN_SUFFIXES = (".part", ".lock", ".parley.json")
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
_REVISION = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)*", re.ASCII)
_PACKAGE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}")


def _file_name(name: str) -> str:
    """Refuse what would leave the models folder, on any system, or be taken for a file of Parley's own."""
    for part in name.split("/"):
        if not part or part in (".", "..") or part[-1] in ". " or _UNSAFE.search(part) or _RESERVED.fullmatch(part):
            raise ValueError(f"{shown(name)} must be a plain relative file name with '/' between folders, without '..'")
    if name.endswith(_OWN_SUFFIXES):
        raise ValueError(f"{shown(name)} must not end with {', '.join(_OWN_SUFFIXES)}")
    return name


def _repository(name: str) -> str:
    if name and (not _REPOSITORY.fullmatch(name) or "--" in name or ".." in name or re.search(r"[.-](/|\Z)", name)):
        raise ValueError(f"{shown(name)} is no repository; it is written owner/name")
    return name


def _revision(name: str) -> str:
    if name and (not _REVISION.fullmatch(name) or ".." in name):
        raise ValueError(f"{shown(name)} is no branch, tag or commit")
    return name


def _package(name: str) -> str:
    if name and not _PACKAGE.fullmatch(name):
        raise ValueError(f"{shown(name)} is no name of a Python package")
    return name


def _digests(value: Any) -> str | dict[str, str]:
    found: list[Any] = list(value.values()) if isinstance(value, dict) else [value] if value != "" else []
    if not all(isinstance(digest, str) and _SHA256.fullmatch(digest) for digest in found):
        raise ValueError("must be 64 lower-case hexadecimal digits, or an object of such digits by file name")
    return dict(value) if isinstance(value, dict) else str(value)


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


FileName = Annotated[str, AfterValidator(_file_name)]


class Source(_Strict):
    """Where a model's files come from: a Python package that ships it, a path, or a Hugging Face repository."""

    package: Annotated[str, AfterValidator(_package)] = Field(
        default="", description="A Python package that carries the model."
    )
    path: str = Field(default="", description="A file, or a folder with files; relative to the catalog.")
    huggingface: Annotated[str, AfterValidator(_repository)] = Field(
        default="", description="A repository of the hub, owner/name."
    )
    file: Annotated[str, AfterValidator(lambda name: name and _file_name(name))] = Field(
        default="", description="Of a package: its file, or what the file is called once it is put together."
    )
    files: list[FileName] = Field(
        default_factory=list,
        description="Of a repository, or in the folder path. The first is loaded; the others belong to it.",
    )
    revision: Annotated[str, AfterValidator(_revision)] = Field(
        default="", description="Branch, tag or commit of the repository; empty: its main branch."
    )
    sha256: Annotated[str | dict[str, str], PlainValidator(_digests)] = Field(
        default="", description="The file's checksum, or an object of checksums by file name."
    )
    cite: str = Field(default="", description="Where the facts of the entry were looked up.")

    @model_validator(mode="after")
    def _fits_together(self) -> Source:
        given = [name for name in ("package", "path", "huggingface") if getattr(self, name)]
        if len(given) > 1:
            raise ValueError(f"it names {' and '.join(given)}; exactly one of package, path and huggingface is allowed")
        needed = {"package": "file", "huggingface": "files"}
        allowed = {"package": ("file",), "path": ("files",), "huggingface": ("files", "revision")}
        kind = given[0] if given else ""
        if kind in needed and not getattr(self, needed[kind]):
            raise ValueError(f"it names a {kind} but no {needed[kind]}")
        for name in ("file", "files", "revision"):
            if getattr(self, name) and name not in allowed.get(kind, ()):
                owners = " or ".join(owner for owner, names in allowed.items() if name in names)
                raise ValueError(f"{name} goes with {owners} only")
        if len({name.casefold() for name in self.files}) != len(self.files):
            raise ValueError("files names one file twice")
        if isinstance(self.sha256, dict):
            for name in self.sha256:
                if name not in self.files:
                    raise ValueError(f"sha256 has the file {shown(name)}, which is none of files")
        elif self.sha256 and len(self.files) > 1:
            raise ValueError("sha256 must be an object of checksums by file name, as there is more than one file")
        return self

    @property
    def names(self) -> list[str]:
        """The model's files as the entry calls them; the first is the one that is loaded."""
        return self.files or [name for name in (self.file or self.path,) if name]

    def sha256_of(self, name: str) -> str:
        """The checksum that the entry gives for one of `names`; empty: none."""
        return self.sha256.get(name, "") if isinstance(self.sha256, dict) else self.sha256

    def __str__(self) -> str:
        if self.huggingface:
            return f"huggingface {self.huggingface}"
        return f"package {self.package}" if self.package else f"path {self.path}" if self.path else ""


class MockScript(_Strict):
    """What the mock engine says, and how. Each option goes with one type of model."""

    mode: Literal["echo", "script"] = Field(
        default="echo", description="echo: the last user message; script: the replies in order."
    )
    replies: list[str] = Field(
        default_factory=list,
        description="What it says, in order and again from the first on, each node of each agent by itself.",
    )
    tokens_per_s: float = Field(default=0.0, ge=0, description="How fast it writes; 0: as fast as it can.")
    real_time_factor: float = Field(
        default=0.0,
        ge=0,
        le=10,
        description="Of a voice: seconds that a second of its sound takes to make; 0: as fast as it can.",
    )
    fail_on: str = Field(default="", description="Of a voice: words that it cannot say; empty: it can say everything.")


_MOCK_OPTIONS: Mapping[str, Sequence[str]] = {
    "language": ("mode", "replies", "tokens_per_s"),
    "embedding": (),
    "tts": ("real_time_factor", "fail_on"),
}
_ENGINES: Mapping[str, Sequence[str]] = {
    "language": ("llama-cpp", "mock"),
    "embedding": ("llama-cpp", "mock"),
    "tts": ("hibari", "sherpa-onnx", "mock"),
}
_NOT_OF_VOICES = ("context_size", "kv_cache_type", "chat_format", "tool_call_format", "default_sampling", "examples")


class CatalogEntry(_Strict):
    """One model of `models.json`."""

    name: str = Field(min_length=1, max_length=128, description="What workflows and commands call the model.")
    type: Literal["language", "embedding", "tts"] = Field(default="language", description="What it can do.")
    engine: Literal["llama-cpp", "hibari", "sherpa-onnx", "mock"] = Field(description="What runs it.")
    source: Source = Field(default_factory=Source, description="Where its file comes from; the mock engine needs none.")
    context_size: int = Field(
        default=0,
        ge=0,
        le=2**20,
        description="Tokens of the window of nodes that name none; 0: as the model was trained, at most 8192.",
    )
    kv_cache_type: Literal["f16", "q8_0", "q4_0"] = Field(
        default="q8_0", description="How caches are stored: q8_0 takes half of f16, q4_0 a quarter."
    )
    chat_format: Literal["auto", "chatml", "llama3", "gemma", "mistral", "transcript", "plain"] = Field(
        default="auto", description="How messages become a prompt; auto: by the template in the file."
    )
    tool_call_format: ToolCallFormat | Literal[""] = Field(
        default="", description="How the model writes tool calls; empty: chatml."
    )
    default_sampling: SamplingParams = Field(
        default_factory=SamplingParams, description="Sampling of nodes that leave a field unset."
    )
    examples: list[Example] = Field(
        default_factory=list, description="Example lines of nodes that have none (transcript format)."
    )
    license: str = Field(default="", description="Its licence, for lists.")
    mock: MockScript | None = Field(default=None, description="What the mock engine says.")

    @model_validator(mode="after")
    def _has_a_source(self) -> CatalogEntry:
        if self.engine == "mock" and self.source.names:
            raise ValueError("source: the mock engine reads no file")
        if self.engine != "mock" and not self.source.names:
            raise ValueError("source: one of package, path and huggingface is needed")
        if self.engine != "mock" and self.mock is not None:
            raise ValueError("mock: it goes with the engine mock only")
        return self

    @model_validator(mode="after")
    def _fits_its_type(self) -> CatalogEntry:
        if self.engine not in _ENGINES[self.type]:
            types = " or ".join(kind for kind, engines in _ENGINES.items() if self.engine in engines)
            raise ValueError(f"type: the engine {self.engine} runs models of type {types}, not {self.type}")
        if self.engine == "hibari" and len(self.source.names) != 1:
            raise ValueError("source.files: a voice of hibari is one file")
        for name in _NOT_OF_VOICES if self.type == "tts" else ():
            if name in self.model_fields_set:
                raise ValueError(f"{name}: a voice has none; leave it out of a model of type tts")
        for name in sorted(self.mock.model_fields_set) if self.mock else ():
            if name not in _MOCK_OPTIONS[self.type]:
                owner = next(kind for kind, names in _MOCK_OPTIONS.items() if name in names)
                raise ValueError(f"mock.{name}: it goes with type {owner} only, and this model is of type {self.type}")
        return self


Catalog = dict[str, CatalogEntry]


def read_catalog(extra: Path | None = None) -> Catalog:
    """The packaged catalog with the game's own merged over it by name.

    A relative path in the game's catalog starts from that file's folder. Raises InvalidValue that names the file and
    every faulty entry.
    """
    packaged = files("bridge.data").joinpath("models.json").read_bytes()
    catalog = {entry.name: entry for entry in parse_catalog(_json(packaged, "models.json"), "models.json")}
    if extra is not None:
        try:
            data = extra.read_bytes()
        except OSError as fault:
            raise InvalidValue(f"cannot read the catalog {extra}: {fault.strerror}") from None
        for entry in parse_catalog(_json(data, str(extra)), str(extra)):
            path = entry.source.path
            if path and not Path(path).is_absolute():
                source = entry.source.model_copy(update={"path": str(extra.resolve().parent / path)})
                entry = entry.model_copy(update={"source": source})
            catalog[entry.name] = entry
    return catalog


def parse_catalog(document: object, name: str) -> list[CatalogEntry]:
    """The entries of a catalog's JSON. Raises InvalidValue that lists every fault of every entry."""
    if not isinstance(document, dict) or not isinstance(document.get("models"), list):
        raise InvalidValue(f"the catalog {name} must be an object with a list 'models'")
    faults = [f"$.{cut(key)}: unknown field; {suggest(key, ['models'])}" for key in document if key != "models"]
    entries: dict[str, CatalogEntry] = {}
    for index, raw in enumerate(document["models"]):
        try:
            entry = CatalogEntry.model_validate(raw)
        except ValidationError as fault:
            called = raw.get("name") if isinstance(raw, dict) else None
            whose = f" ({shown(called)})" if isinstance(called, str) else ""
            faults += [_fault(index, whose, item) for item in fault.errors()]
            continue
        if entry.name in entries:
            faults.append(f"$.models[{index}].name: {shown(entry.name)} is there already")
        entries[entry.name] = entry
    if faults:
        more = f"; and {len(faults) - MAX_SHOWN} more" if len(faults) > MAX_SHOWN else ""
        raise InvalidValue(f"the catalog {name}: {'; '.join(faults[:MAX_SHOWN])}{more}")
    return list(entries.values())


def write_entry(file: Path, entry: Mapping[str, Any], *, replace: bool = False) -> None:
    """Add an entry to a game's catalog, which is made where it is not there; what else it holds stays.

    Raises InvalidValue: the file or the entry is faulty, has an entry of this name already and `replace` is off, or
    cannot be written.
    """
    try:
        document = _json(file.read_bytes(), str(file)) if file.exists() else {"models": []}
        parse_catalog(document, str(file))
        models: list[Any] = document["models"]
        at = next((index for index, old in enumerate(models) if old["name"] == entry["name"]), len(models))
        if at < len(models) and not replace:
            raise InvalidValue(f"{file} has a model {shown(entry['name'])} already; name it otherwise, or --replace it")
        models[at : at + 1] = [dict(entry)]
        parse_catalog(document, str(file))
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    except OSError as fault:
        raise InvalidValue(f"cannot change the catalog {file}: {fault.strerror}") from None


def combine_sampling(defaults: SamplingParams, own: SamplingParams) -> Sampling:
    """A node's sampling over the catalog's over llama.cpp's."""
    chosen = {**defaults.model_dump(exclude_none=True), **own.model_dump(exclude_none=True)}
    return Sampling(**chosen)


def _json(data: bytes, name: str) -> Any:
    try:
        return orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as fault:
        raise InvalidValue(f"the catalog {name} is not valid JSON: {fault}") from None


def _fault(index: int, whose: str, item: ErrorDetails) -> str:
    return f"{json_path(('models', index, *item['loc']))}{whose}: {fault_words(item, CatalogEntry)}"
