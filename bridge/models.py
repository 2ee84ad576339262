"""The model catalog, where models come from, and which are loaded: one copy of each, shared by all agents."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Literal

import orjson
import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bridge.chat_format import ChatFormat, make_format
from bridge.config import Settings
from bridge.engine import Sampling, Segment, TextModel
from bridge.errors import InvalidValue, ModelLoadFailed, ModelNotFound
from bridge.node import Example, SamplingParams
from bridge.protocol import ModelInfo, ModelStatus
from bridge.wording import cut, json_path
from bridge.workflow import ModelFacts

log = logging.getLogger(__name__)

MAX_TRAINED_CONTEXT = 8192
"""Window of a model whose catalog entry names none and that was trained for more."""

MAX_COUNTS = 65_536
"""Texts whose token counts a model remembers."""

Report = Callable[[str, int, int, str], None]
"""Progress of a long task: (task, done, total, unit)."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Source(_Strict):
    """Where a model's file comes from: a Python package that ships it, or a path."""

    package: str = ""
    path: str = ""
    file: str = ""
    sha256: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")


class MockScript(_Strict):
    """What the mock engine says."""

    mode: Literal["echo", "script"] = "echo"
    replies: list[str] = Field(default_factory=list)
    tokens_per_s: float = Field(default=0.0, ge=0)


class CatalogEntry(_Strict):
    """One model of `models.json`."""

    name: str = Field(min_length=1, max_length=128)
    type: Literal["language", "embedding", "tts"] = "language"
    engine: Literal["llama-cpp", "mock"]
    source: Source = Field(default_factory=Source)
    context_size: int = Field(default=0, ge=0, le=2**20)
    kv_cache_type: Literal["f16", "q8_0", "q4_0"] = "q8_0"
    chat_format: Literal["auto", "chatml", "llama3", "gemma", "mistral", "transcript", "plain"] = "auto"
    default_sampling: SamplingParams = Field(default_factory=SamplingParams)
    examples: list[Example] = Field(default_factory=list)
    license: str = ""
    mock: MockScript | None = None


class _CatalogFile(_Strict):
    models: list[CatalogEntry]


Catalog = dict[str, CatalogEntry]


def read_catalog(extra: Path | None = None) -> Catalog:
    """The packaged catalog with the game's own merged over it by name. Raises InvalidValue naming file and entry."""
    packaged = files("bridge.data").joinpath("models.json").read_bytes()
    catalog = {entry.name: entry for entry in _parse_catalog(packaged, "models.json").models}
    if extra is not None:
        try:
            data = extra.read_bytes()
        except OSError as fault:
            raise InvalidValue(f"cannot read the catalog {extra}: {fault.strerror}") from None
        for entry in _parse_catalog(data, str(extra)).models:
            path = entry.source.path
            if path and not Path(path).is_absolute():
                source = entry.source.model_copy(update={"path": str(extra.resolve().parent / path)})
                entry = entry.model_copy(update={"source": source})
            catalog[entry.name] = entry
    return catalog


def _parse_catalog(data: bytes, name: str) -> _CatalogFile:
    try:
        return _CatalogFile.model_validate(orjson.loads(data.removeprefix(b"\xef\xbb\xbf")))
    except orjson.JSONDecodeError as fault:
        raise InvalidValue(f"the catalog {name} is not valid JSON: {fault}") from None
    except ValidationError as fault:
        first = fault.errors()[0]
        raise InvalidValue(f"the catalog {name}: {json_path(first['loc'])}: {first['msg']}") from None


def combine_sampling(defaults: SamplingParams, own: SamplingParams) -> Sampling:
    """A node's sampling over the catalog's over llama.cpp's."""
    chosen = {**defaults.model_dump(exclude_none=True), **own.model_dump(exclude_none=True)}
    return Sampling(**chosen)


@dataclass(slots=True)
class LoadedModel:
    """A model in memory, with how many agents use it."""

    entry: CatalogEntry
    engine: TextModel
    format: ChatFormat
    users: int = 0
    unload: asyncio.TimerHandle | None = None
    pinned: bool = False
    _counts: dict[str, int] = field(default_factory=dict)

    def count(self, text: str) -> int:
        """Tokens of a text. Each text is counted once; a long list of counts is begun anew."""
        known = self._counts.get(text)
        if known is None:
            if len(self._counts) >= MAX_COUNTS:
                self._counts.clear()
            known = self._counts[text] = len(self.engine.vocabulary.tokenize([Segment(text)])) if text else 0
        return known

    @property
    def context_size(self) -> int:
        """The window of nodes that name none."""
        return self.entry.context_size or min(self.engine.trained_context, MAX_TRAINED_CONTEXT)


@dataclass(slots=True)
class _Slot:
    """One catalog name: loaded, loading or free. The lock makes loads of one model wait for each other."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    model: LoadedModel | None = None


LoadEngine = Callable[[CatalogEntry, Path | None, Settings, Report], TextModel]


class ModelStore:
    """Loads models on demand and shares them.

    Threading: used on the event loop only; files are read and engines made in worker threads.
    """

    def __init__(self, settings: Settings, catalog: Catalog, load_engine: LoadEngine | None = None) -> None:
        self._settings = settings
        self._catalog = catalog
        self._load_engine = load_engine or load_text_engine
        self._slots: dict[str, _Slot] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def facts(self, name: str) -> ModelFacts | None:
        """What the workflow compiler asks of a model; None where the catalog has none of this name."""
        entry = self._catalog.get(name)
        return None if entry is None else ModelFacts(entry.type, entry.context_size)

    async def acquire(self, name: str, report: Report) -> LoadedModel:
        """The loaded model, loading it first where need be; pair with `release`.

        Raises ModelNotFound, ModelCorrupt, ModelLoadFailed. A failure leaves nothing behind: the next try is fresh.
        """
        entry = self._catalog.get(name)
        if entry is None:
            raise ModelNotFound(f"the catalog has no model '{name}'")
        slot = self._slots.setdefault(name, _Slot())
        async with slot.lock:
            if slot.model is None:
                slot.model = await self._load(entry, report)
            model = slot.model
            model.users += 1
            if model.unload is not None:
                model.unload.cancel()
                model.unload = None
            return model

    def release(self, model: LoadedModel) -> None:
        """Give up one use; the last one lets the model be unloaded after the grace."""
        model.users -= 1
        if model.users == 0:
            loop = asyncio.get_running_loop()
            model.unload = loop.call_later(self._settings.unload_grace_s, self._start_unload, model)

    async def pin(self, name: str, report: Report) -> None:
        """Load a model and keep it until `unpin`. Raises as `acquire` does; pinning twice is pinning once."""
        model = await self.acquire(name, report)
        if model.pinned:
            self.release(model)
        model.pinned = True

    def unpin(self, name: str) -> None:
        """Take `pin` back. Raises ModelNotFound where the catalog has no such model; one not pinned stays as it is."""
        if name not in self._catalog:
            raise ModelNotFound(f"the catalog has no model '{name}'")
        slot = self._slots.get(name)
        if slot is not None and slot.model is not None and slot.model.pinned:
            slot.model.pinned = False
            self.release(slot.model)

    def list(self) -> list[ModelInfo]:
        """One row for each model of the catalog."""
        return [self._info(entry) for entry in self._catalog.values()]

    async def close(self) -> None:
        """Unload everything."""
        for slot in self._slots.values():
            async with slot.lock:
                await self._unload(slot)
        await asyncio.gather(*self._closing)

    async def _load(self, entry: CatalogEntry, report: Report) -> LoadedModel:
        loop = asyncio.get_running_loop()

        def tell(task: str, done: int, total: int, unit: str) -> None:
            loop.call_soon_threadsafe(report, task, done, total, unit)

        def work() -> tuple[TextModel, ChatFormat]:
            path = None if entry.engine == "mock" else locate(entry, self._settings, tell)
            engine = self._load_engine(entry, path, self._settings, tell)
            try:
                name = "plain" if entry.engine == "mock" else entry.chat_format
                return engine, make_format(name, template=engine.chat_template, vocabulary=engine.vocabulary)
            except BaseException:
                engine.close()
                raise

        log.info("loading model %s", entry.name)
        loading = asyncio.ensure_future(asyncio.to_thread(work))
        try:
            engine, chosen = await asyncio.shield(loading)
        except asyncio.CancelledError:
            # A load cannot be broken off inside the engine: let it finish and free what it made.
            loading.add_done_callback(_close_abandoned)
            raise
        status = engine.status()
        log.info("model %s is ready: %s", entry.name, "; ".join((status.backend, *status.notes)))
        return LoadedModel(entry, engine, chosen)

    def _start_unload(self, model: LoadedModel) -> None:
        task = asyncio.get_running_loop().create_task(self._unload_idle(model))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _unload_idle(self, model: LoadedModel) -> None:
        slot = self._slots[model.entry.name]
        async with slot.lock:
            if slot.model is model and model.users == 0:
                await self._unload(slot)

    async def _unload(self, slot: _Slot) -> None:
        model, slot.model = slot.model, None
        if model is None:
            return
        if model.unload is not None:
            model.unload.cancel()
        log.info("unloading model %s", model.entry.name)
        await asyncio.to_thread(model.engine.close)

    def _info(self, entry: CatalogEntry) -> ModelInfo:
        slot = self._slots.get(entry.name)
        loaded = slot.model if slot else None
        status, size = disk_status(entry, self._settings)
        if loaded is None:
            return ModelInfo(
                name=entry.name,
                type=entry.type,
                engine=entry.engine,
                status=status,
                context_size=entry.context_size,
                license=entry.license,
                bytes_on_disk=size,
            )
        running = loaded.engine.status()
        return ModelInfo(
            name=entry.name,
            type=entry.type,
            engine=entry.engine,
            status="Loaded",
            context_size=loaded.context_size,
            license=entry.license,
            bytes_on_disk=size,
            bytes_in_memory=running.bytes_in_memory,
            backend=running.backend,
            layers_offloaded=running.layers_offloaded,
        )


def _close_abandoned(loading: asyncio.Future[tuple[TextModel, ChatFormat]]) -> None:
    if not loading.cancelled() and loading.exception() is None:
        engine, _ = loading.result()
        # Closing waits for the engine's thread, which is nothing for the event loop.
        threading.Thread(target=engine.close, name="parley-close", daemon=True).start()


def is_file(path: Path) -> bool:
    """Whether a file is there; False also for what no system takes as a path."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


# ---- where files come from -----------------------------------------------------------------------------------


def models_folder(settings: Settings) -> Path:
    """Where models that Parley puts together or downloads are kept."""
    return Path(settings.models_folder) if settings.models_folder else platformdirs.user_cache_path("parley") / "models"


def disk_status(entry: CatalogEntry, settings: Settings) -> tuple[ModelStatus, int]:
    """Whether the model's file is there, and its size in bytes."""
    if entry.engine == "mock":
        return "Local", 0
    path = Path(entry.source.path) if entry.source.path else models_folder(settings) / entry.source.file
    if is_file(path):
        return "Local", path.stat().st_size
    return "Absent", 0


def locate(entry: CatalogEntry, settings: Settings, report: Report) -> Path:
    """The model's file on this machine, put together from its package first where need be. Blocking.

    Raises ModelLoadFailed that says how to get the model, ModelCorrupt where a checksum is wrong.
    """
    source = entry.source
    if source.path:
        path = Path(source.path)
        if not is_file(path):
            raise ModelLoadFailed(f"the file of model '{entry.name}' is not there: {cut(path)}")
        return path
    if source.package:
        from bridge.packaged_model import assemble

        return assemble(entry.name, source.package, models_folder(settings) / source.file, source.sha256, report)
    raise ModelLoadFailed(f"the catalog entry '{entry.name}' names no source; give it a path or a package")


def load_text_engine(entry: CatalogEntry, path: Path | None, settings: Settings, report: Report) -> TextModel:
    """Make the engine of a catalog entry. Blocking; raises ModelLoadFailed, ModelCorrupt."""
    if entry.engine == "mock":
        from bridge.engines.mock import load_mock

        script = entry.mock or MockScript()
        return load_mock(
            settings,
            mode=script.mode,
            replies=script.replies,
            tokens_per_s=script.tokens_per_s,
            context_size=entry.context_size or 4096,
        )
    if importlib.util.find_spec("llama_cpp") is None:
        raise ModelLoadFailed(
            f"model '{entry.name}' needs llama.cpp, which is not installed: pip install \"parley-bridge[llama]\""
        )
    from bridge.engines.llama import load_llama

    assert path is not None

    def progress(share: float) -> None:
        report("load", int(share * 100), 100, "percent")

    return load_llama(
        path,
        settings=settings,
        kv_cache_type=entry.kv_cache_type,
        context_size=entry.context_size,
        progress=progress,
    )
