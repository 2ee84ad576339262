"""Which models are loaded: one copy of each, shared by all agents, loaded on demand."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from bridge import loaders, workers
from bridge.catalog import Catalog, CatalogEntry
from bridge.chat_format import ChatFormat, make_format
from bridge.classify import LETTERS
from bridge.config import Settings
from bridge.download import Downloads, is_downloaded_elsewhere, remove_files
from bridge.engine import EmbeddingModel, Segment, SpeechModel, TextModel
from bridge.errors import DownloadActive, InvalidValue, ModelLoadFailed, ModelNotFound
from bridge.model_files import Report, disk_status, known_speakers, locate, partial_bytes, why_absent
from bridge.protocol import ModelInfo, ModelStatus
from bridge.token_counts import TokenCounts
from bridge.wording import cut
from bridge.workflow import ModelFacts

log = logging.getLogger(__name__)

MAX_TRAINED_CONTEXT = 8192
"""Window of a model whose catalog entry names none and that was trained for more."""


@dataclass(slots=True)
class Loaded(ABC):
    """A model in memory, with how many use it."""

    entry: CatalogEntry
    engine: TextModel | EmbeddingModel | SpeechModel
    users: int = 0
    unload: asyncio.TimerHandle | None = None
    pins: set[str] = field(default_factory=set)
    """Who keeps it loaded, whoever uses it; each is one of the users."""

    @property
    @abstractmethod
    def context_size(self) -> int:
        """The window of whoever names none."""


@dataclass(slots=True)
class LoadedModel(Loaded):
    """A language model in memory."""

    engine: TextModel
    format: ChatFormat = field(kw_only=True)
    counts: TokenCounts = field(init=False)
    _letters: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        vocabulary = self.engine.vocabulary
        self.counts = TokenCounts(lambda text: len(vocabulary.tokenize([Segment(text)])))

    def letter_tokens(self) -> tuple[int, ...]:
        """The token of each letter from A to Z at the start of a reply. Raises ModelLoadFailed where one has none."""
        if not self._letters:
            leads = (" ", "") if self.format.labels_lines else ("", " ")
            self._letters = tuple(self._letter(letter, leads) for letter in LETTERS)
        return self._letters

    def _letter(self, letter: str, leads: Sequence[str]) -> int:
        for lead in leads:
            tokens = self.engine.vocabulary.tokenize([Segment(lead + letter)])
            if len(tokens) == 1:
                return tokens[0]
        raise ModelLoadFailed(
            f"the vocabulary of model '{self.entry.name}' has no token of its own for the letter {letter}, "
            "so it cannot classify; choose another model"
        )

    @property
    def context_size(self) -> int:
        return self.entry.context_size or min(self.engine.trained_context, MAX_TRAINED_CONTEXT)


@dataclass(slots=True)
class LoadedEmbedding(Loaded):
    """An embedding model in memory."""

    engine: EmbeddingModel

    @property
    def context_size(self) -> int:
        return self.engine.max_tokens


@dataclass(slots=True)
class LoadedSpeech(Loaded):
    """A voice in memory."""

    engine: SpeechModel

    @property
    def context_size(self) -> int:
        return 0


@dataclass(slots=True)
class _Slot:
    """One catalog name: loaded, loading or free. The lock makes those who want the model wait for each other."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    model: Loaded | None = None
    loading: asyncio.Task[None] | None = None
    """Goes on when nobody waits for it any more: an engine cannot break a load off."""
    reports: list[Report] = field(default_factory=list)
    """Of all who wait for the model."""


AnyLoaded = TypeVar("AnyLoaded", LoadedModel, LoadedEmbedding, LoadedSpeech)
LoadEngine = Callable[[CatalogEntry, Path | None, Settings, Report], TextModel]
LoadEmbedder = Callable[[CatalogEntry, Path | None, Settings, Report], EmbeddingModel]
LoadVoice = Callable[[CatalogEntry, Path | None, Settings, Report], SpeechModel]


class ModelStore:
    """Loads models on demand and shares them.

    Threading: used on the event loop only; files are read and engines made in worker threads.
    """

    def __init__(
        self,
        settings: Settings,
        catalog: Catalog,
        load_engine: LoadEngine | None = None,
        load_embedder: LoadEmbedder | None = None,
        load_voice: LoadVoice | None = None,
    ) -> None:
        self._settings = settings
        self._catalog = catalog
        self._load_engine = load_engine or loaders.load_text_engine
        self._load_embedder = load_embedder or loaders.load_embedding_engine
        self._load_voice = load_voice or loaders.load_speech_engine
        self._slots: dict[str, _Slot] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._downloads = Downloads(settings)

    def facts(self, name: str) -> ModelFacts | None:
        """What the workflow compiler asks of a model; None where the catalog has none of this name."""
        entry = self._catalog.get(name)
        return None if entry is None else ModelFacts(entry.type, entry.context_size)

    def absent(self, name: str) -> str:
        """How to get a model of the catalog that is not on this machine; empty where it is. Blocking."""
        entry = self._catalog.get(name)
        return "" if entry is None else why_absent(entry, self._settings)

    async def acquire(self, name: str, report: Report, *, download: bool = False) -> LoadedModel:
        """The loaded language model, loading it first where need be; pair with `release`.

        With `download` a model of the hub that is not there is fetched first. Raises ModelNotFound, ModelCorrupt,
        ModelLoadFailed and what `download` raises. A failure leaves nothing behind: the next try is fresh.
        """
        return await self._acquire(name, report, LoadedModel, download)

    async def acquire_embedding(self, name: str, report: Report, *, download: bool = False) -> LoadedEmbedding:
        """The same for an embedding model."""
        return await self._acquire(name, report, LoadedEmbedding, download)

    async def acquire_speech(self, name: str, report: Report, *, download: bool = False) -> LoadedSpeech:
        """The same for a voice."""
        return await self._acquire(name, report, LoadedSpeech, download)

    async def _acquire(self, name: str, report: Report, kind: type[AnyLoaded], download: bool) -> AnyLoaded:
        model = await self._hold(name, report, download)
        if isinstance(model, kind):
            return model
        self.release(model)
        wanted = {LoadedModel: "language", LoadedEmbedding: "embedding"}.get(kind, "tts")
        raise ModelLoadFailed(f"model '{name}' is of type {model.entry.type}; one of type {wanted} is needed")

    async def _hold(self, name: str, report: Report, download: bool) -> Loaded:
        entry = self._entry(name)
        slot = self._slots.setdefault(name, _Slot())
        slot.reports.append(report)
        try:
            async with slot.lock:
                if slot.model is None:
                    if slot.loading is None:
                        await self._fetch(entry, report, download)
                        slot.loading = asyncio.create_task(self._load_into(slot, entry))
                        slot.loading.add_done_callback(lambda done: done.cancelled() or done.exception())
                    await asyncio.shield(slot.loading)
                model = slot.model
                assert model is not None  # it is unloaded under the lock only
                model.users += 1
                if model.unload is not None:
                    model.unload.cancel()
                    model.unload = None
                return model
        finally:
            slot.reports.remove(report)

    def release(self, model: Loaded) -> None:
        """Give up one use; the last one lets the model be unloaded after the grace."""
        model.users -= 1
        if model.users == 0:
            self._let_go(model)

    def _let_go(self, model: Loaded) -> None:
        loop = asyncio.get_running_loop()
        model.unload = loop.call_later(self._settings.unload_grace_s, self._start_unload, model)

    async def pin(self, name: str, owner: str, report: Report, *, download: bool = False) -> None:
        """Load a model and keep it until the same owner's `unpin`; an owner who pins twice pins once.

        Raises as `acquire` does.
        """
        model = await self._hold(name, report, download)
        if owner in model.pins:
            self.release(model)
        model.pins.add(owner)

    def unpin(self, name: str, owner: str) -> None:
        """Take the owner's `pin` back; nothing happens without one. Raises ModelNotFound."""
        self._entry(name)
        slot = self._slots.get(name)
        if slot is not None and slot.model is not None and owner in slot.model.pins:
            slot.model.pins.remove(owner)
            self.release(slot.model)

    def unpin_all(self, owner: str) -> None:
        """Take back whatever the owner has pinned."""
        for name in self._slots:
            self.unpin(name, owner)

    async def download(self, name: str, report: Report) -> None:
        """Bring a model's files into the models folder; at once done where they are there.

        Cancelling the caller stops the transfer unless others wait for it. Raises ModelNotFound, DownloadFailed,
        DownloadNotAvailable, DownloadActive, InsufficientDiskSpace, LimitExceeded.
        """
        await self._downloads.start(self._entry(name), report)

    def cancel_download(self, name: str) -> None:
        """Stop a model's download for all who wait for it; without one, nothing happens. Raises ModelNotFound."""
        self._downloads.cancel(self._entry(name).name)

    async def delete(self, name: str) -> int:
        """Remove what was downloaded of a model; returns how many bytes that were.

        Raises ModelNotFound, DownloadActive, and InvalidValue for a model that is in use or was not downloaded.
        """
        entry = self._entry(name)
        if not entry.source.huggingface:
            raise InvalidValue(f"model '{name}' was not downloaded: it comes from {entry.source or 'no file'}")
        await self._downloads.stopped(name)
        if self._downloads.is_active(name):
            raise DownloadActive(f"model '{name}' is being downloaded; stop that with CancelDownload first")
        slot = self._slots.setdefault(name, _Slot())
        async with slot.lock:
            if slot.loading is not None:  # nobody waits for it
                await asyncio.wait({slot.loading})
            if slot.model is not None and slot.model.users:
                pinned = len(slot.model.pins) == slot.model.users
                how = "send UnloadModel" if pinned else "destroy the agents and storages that use it"
                raise InvalidValue(f"model '{name}' is loaded; {how} first")
            await self._unload(slot)
            return await workers.load(remove_files, entry, self._settings)

    def list(self) -> list[ModelInfo]:
        """One row for each model of the catalog."""
        return [self._info(entry) for entry in self._catalog.values()]

    def loaded(self) -> Sequence[Loaded]:
        """The models in memory."""
        return [slot.model for slot in self._slots.values() if slot.model is not None]

    async def close(self) -> None:
        """Stop every download and unload everything."""
        await self._downloads.close()
        for slot in list(self._slots.values()):
            if slot.loading is not None:
                slot.loading.cancel()
                await asyncio.wait({slot.loading})
            async with slot.lock:
                await self._unload(slot)
        await asyncio.gather(*self._closing)

    def _entry(self, name: str) -> CatalogEntry:
        entry = self._catalog.get(name)
        if entry is None:
            raise ModelNotFound(f"the catalog has no model '{cut(name)}'")
        return entry

    async def _fetch(self, entry: CatalogEntry, report: Report, download: bool) -> None:
        """See to it that a model of the hub is there, where that is allowed."""
        if not entry.source.huggingface:
            return
        if download and disk_status(entry, self._settings)[0] == "Absent":
            await self._downloads.join(entry, report)
        elif self._downloads.is_active(entry.name):
            raise DownloadActive(f"model '{entry.name}' is being downloaded; it can be used when that is done")

    async def _load_into(self, slot: _Slot, entry: CatalogEntry) -> None:
        def report(task: str, done: int, total: int, unit: str) -> None:
            for tell in list(slot.reports):
                tell(task, done, total, unit)

        try:
            slot.model = await self._load(entry, report)
        finally:
            slot.loading = None
        self._let_go(slot.model)  # unless somebody takes it

    async def _load(self, entry: CatalogEntry, report: Report) -> Loaded:
        loop = asyncio.get_running_loop()

        def tell(task: str, done: int, total: int, unit: str) -> None:
            loop.call_soon_threadsafe(report, task, done, total, unit)

        def work() -> Loaded:
            path = None if entry.engine == "mock" else locate(entry, self._settings, tell)
            if entry.type == "embedding":
                return LoadedEmbedding(entry, self._load_embedder(entry, path, self._settings, tell))
            if entry.type == "tts":
                return LoadedSpeech(entry, self._load_voice(entry, path, self._settings, tell))
            engine = self._load_engine(entry, path, self._settings, tell)
            try:
                name = "plain" if entry.engine == "mock" else entry.chat_format
                chosen = make_format(name, template=engine.chat_template, vocabulary=engine.vocabulary)
                return LoadedModel(entry, engine, format=chosen)
            except ModelLoadFailed as fault:
                engine.close()
                raise ModelLoadFailed(f"model '{entry.name}': {fault}") from None
            except BaseException:
                engine.close()
                raise

        began = time.monotonic()
        log.info("loading model %s", entry.name, extra={"event": "model_loading", "model": entry.name})
        loading = asyncio.ensure_future(workers.load(work))
        try:
            model = await asyncio.shield(loading)
        except asyncio.CancelledError:
            # A load cannot be broken off inside the engine: let it finish and free what it made.
            loading.add_done_callback(_close_abandoned)
            raise
        status = model.engine.status()
        log.info(
            "model %s is ready: %s",
            entry.name,
            "; ".join((status.backend, *status.notes)),
            extra={
                "event": "model_loaded",
                "model": entry.name,
                "backend": status.backend,
                "layers_offloaded": status.layers_offloaded,
                "bytes_in_memory": status.bytes_in_memory,
                "duration_ms": round((time.monotonic() - began) * 1000, 3),
            },
        )
        return model

    def _start_unload(self, model: Loaded) -> None:
        task = asyncio.get_running_loop().create_task(self._unload_idle(model))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def _unload_idle(self, model: Loaded) -> None:
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
        name = model.entry.name
        log.info("unloading model %s", name, extra={"event": "model_unloaded", "model": name})
        await workers.load(model.engine.close)

    def _is_downloaded_elsewhere(self, entry: CatalogEntry, status: ModelStatus) -> bool:
        if status != "Absent" or not entry.source.huggingface or self._downloads.is_stopping(entry.name):
            return False
        return is_downloaded_elsewhere(entry, self._settings)

    def _info(self, entry: CatalogEntry) -> ModelInfo:
        slot = self._slots.get(entry.name)
        loaded = slot.model if slot else None
        status, size = disk_status(entry, self._settings)
        if loaded is not None:
            status = "Loaded"
        elif self._downloads.is_active(entry.name) or self._is_downloaded_elsewhere(entry, status):
            status = "Downloading"
        info = ModelInfo(
            name=entry.name,
            type=entry.type,
            engine=entry.engine,
            status=status,
            context_size=entry.context_size,
            license=entry.license,
            bytes_on_disk=size,
            source=str(entry.source),
            bytes_partial=partial_bytes(entry, self._settings),
            speakers=[] if loaded is not None else known_speakers(entry, self._settings),
        )
        if loaded is None:
            return info
        running = loaded.engine.status()
        return info.model_copy(
            update={
                "speakers": list(loaded.engine.speakers) if isinstance(loaded, LoadedSpeech) else [],
                "context_size": loaded.context_size,
                "bytes_in_memory": running.bytes_in_memory,
                "backend": running.backend,
                "layers_offloaded": running.layers_offloaded,
            }
        )


def _close_abandoned(loading: asyncio.Future[Loaded]) -> None:
    if not loading.cancelled() and loading.exception() is None:
        engine = loading.result().engine
        # Closing waits for the engine's thread, which is nothing for the event loop.
        threading.Thread(target=engine.close, name="parley-close", daemon=True).start()
