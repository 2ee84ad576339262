"""The storages of one session: made by name or read from files, loaded once, shared by its agents."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from bridge import workers
from bridge.config import Settings
from bridge.errors import (
    EmbeddedStorageExists,
    InvalidEmbeddedStorageData,
    InvalidEmbeddedStorageName,
    InvalidStorageData,
    InvalidStorageName,
    LimitExceeded,
    ParleyError,
    SessionExpired,
    StorageExists,
    StorageFileNotFound,
    StorageNameInUse,
)
from bridge.knowledge import KnowledgeLimits
from bridge.model_files import Report
from bridge.models import LoadedEmbedding, ModelStore
from bridge.protocol import StorageKind
from bridge.retrieval import (
    EmbeddedStorage,
    Knowledge,
    build_storage,
    inline_knowledge,
    knowledge_from_config,
    read_knowledge,
)
from bridge.storage import (
    StringStorage,
    load_string_storage,
    make_string_storage,
    resolve_inside,
    why_no_storage,
)
from bridge.wording import shown, suggest

log = logging.getLogger(__name__)

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. -]{0,127}")


class StringStorages:
    """String storages by name, and those of files while somebody holds them.

    Threading: safe from any thread; workflows are compiled beside the event loop.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self.root: Path | None = None
        """The storage folder of whoever names none."""
        self._settings = settings or Settings()
        self._named: dict[str, StringStorage] = {}
        self._files: WeakValueDictionary[Path, StringStorage] = WeakValueDictionary()
        self._loading: dict[Path, Future[StringStorage]] = {}
        self._lock = threading.Lock()
        """Of the dictionaries, and held for no longer: the event loop takes it too."""

    def finder(self, root: Path | None = None) -> Callable[[str], StringStorage]:
        """Finds the storage that a node names: one made under this name, else the file under `root` (None: the own).

        What is made, destroyed or configured after this call is nothing to it. It raises StorageFileNotFound,
        StorageOutsideRoot, InvalidStorageData.
        """
        root = root or self.root
        with self._lock:
            named = dict(self._named)

        def find(name: str) -> StringStorage:
            found = named.get(name)
            return found if found is not None else self._of_file(name, root)

        return find

    def find(self, name: str) -> StringStorage:
        """The storage that a node names now. Raises as `finder` says."""
        return self.finder()(name)

    def create(
        self,
        name: str,
        *,
        kind: StorageKind | None = None,
        strings: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        file: str | None = None,
        root: Path | None = None,
    ) -> StringStorage:
        """Make a storage from strings, or give a file under `root` (None: the own) a name.

        Raises the storage errors; nothing is made then.
        """
        root = root or self.root
        self._check_name(name, root)
        if file is not None:
            if strings is not None or keys is not None:
                raise InvalidStorageData("give either file or strings, not both", path="$.file")
            storage = self._of_file(file, root)
            if kind is not None and kind != storage.kind:
                raise InvalidStorageData(f"'{file}' is a {storage.kind}, not a {kind}", path="$.kind")
        else:
            storage = make_string_storage(kind, strings, keys)
        with self._lock:
            if name in self._named:
                raise StorageExists(f"there is a string storage '{name}' already; destroy it first", path="$.name")
            self._named[name] = storage
        return storage

    def destroy(self, name: str) -> None:
        """Release a name; agents that use the storage keep it. Raises InvalidStorageName where nobody made it."""
        with self._lock:
            if self._named.pop(name, None) is None:
                names = suggest(name, self._named)
                raise InvalidStorageName(f"there is no string storage {shown(name)}; {names}", path="$.name")

    def _check_name(self, name: str, root: Path | None) -> None:
        if not _NAME.fullmatch(name):
            raise InvalidStorageName(f"{shown(name)} is no name for a storage; {_GRAMMAR}", path="$.name")
        limit = self._settings.max_storages
        if len(self._named) >= limit:
            raise LimitExceeded(f"the session has {limit} string storages already (max_storages); destroy one first")
        if _is_file(root, name):
            raise StorageNameInUse(
                f"'{name}' is a file of the storage folder; nodes can name it as it is", path="$.name"
            )

    def _of_file(self, name: str, root: Path | None) -> StringStorage:
        try:
            path = resolve_inside(root, name)
        except StorageFileNotFound as fault:
            raise why_no_storage(name, root, fault) from None
        with self._lock:
            storage = self._files.get(path)
            loading = None if storage is not None else self._loading.get(path)
            mine: Future[StringStorage] = Future()
            if storage is None and loading is None:
                self._loading[path] = mine
        if storage is not None:
            return storage
        if loading is not None:
            return loading.result()
        try:
            storage = load_string_storage(path, name, self._settings.max_storage_bytes)
        except BaseException as fault:
            with self._lock:
                del self._loading[path]
            mine.set_exception(fault)
            raise
        with self._lock:
            self._files[path] = storage
            del self._loading[path]
        mine.set_result(storage)
        return storage


@dataclass(slots=True)
class HeldKnowledge:
    """An embedded storage that somebody uses, with the model that understands its queries."""

    storage: EmbeddedStorage
    model: LoadedEmbedding
    users: int = 0


@dataclass(slots=True)
class _Place:
    """One name or file: built, being built, or free. The lock makes builds of one storage wait for each other."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    held: HeldKnowledge | None = None
    waiting: int = 0
    """Who builds it, or waits for that; until then the place stays."""


BuildReport = Callable[[int, int], None]
"""Records embedded, records in all."""


class EmbeddedStorages:
    """Embedded storages by name, and those of files while somebody holds them.

    Threading: used on the event loop only, except `KnowledgeView.describe`.
    """

    def __init__(self, models: ModelStore, settings: Settings | None = None) -> None:
        self.root: Path | None = None
        """The storage folder of whoever names none."""
        self._settings = settings or Settings()
        self._limits = KnowledgeLimits(self._settings.max_knowledge_bytes, self._settings.max_knowledge_records)
        self._models = models
        self._named: dict[str, HeldKnowledge] = {}
        self._making: set[str] = set()
        self._places: dict[Path, _Place] = {}
        self._views: set[KnowledgeView] = set()
        self._closed = False

    def view(self, root: Path | None = None) -> KnowledgeView:
        """The storages as they are now, and the files under `root` (None: the own), for one request.

        Close it when that is done.
        """
        made = KnowledgeView(self, root or self.root, dict(self._named))
        for held in self._named.values():
            held.users += 1
        self._views.add(made)
        return made

    def describe(self, name: str) -> Knowledge | EmbeddedStorage:
        """What the compiler must know of a storage now; see `KnowledgeView.describe`."""
        named = self._named.get(name)
        return named.storage if named is not None else self.describe_file(name, self.root)

    def describe_file(self, name: str, root: Path | None) -> Knowledge | EmbeddedStorage:
        """The same for a config file, as it was when the storage was built. Threading: safe from any thread."""
        place = self._places.get(_resolve(root, name))
        held = place.held if place is not None else None
        return held.storage if held is not None else read_knowledge(root, name, self._limits)

    async def acquire_file(
        self, name: str, root: Path | None, report: BuildReport, report_model: Callable[[str], Report], download: bool
    ) -> HeldKnowledge:
        """The storage of a config file, built first where need be; see `KnowledgeView.acquire`."""
        path = await workers.request(_resolve, root, name)
        place = self._places.setdefault(path, _Place())
        place.waiting += 1
        try:
            async with place.lock:
                if place.held is None:
                    knowledge = await workers.build(read_knowledge, root, name, self._limits)
                    place.held = await self._build(knowledge, report, report_model, download)
                place.held.users += 1
                return place.held
        finally:
            place.waiting -= 1
            self._clear_away(path, place)

    def release(self, held: HeldKnowledge) -> None:
        """Give up one use; the last one frees the storage."""
        held.users -= 1
        if held.users == 0:
            for path, place in list(self._places.items()):
                if place.held is held:
                    place.held = None
                    self._clear_away(path, place)
            held.storage.close()
            self._models.release(held.model)

    def _clear_away(self, path: Path, place: _Place) -> None:
        if place.held is None and not place.waiting:
            del self._places[path]

    def forget(self, view: KnowledgeView) -> None:
        """Give up what a view holds. Idempotent."""
        if view in self._views:
            self._views.remove(view)
            named, view.named = view.named, {}
            for held in named.values():
                self.release(held)

    async def create(
        self,
        name: str,
        *,
        config: Mapping[str, Any] | None,
        strings: Sequence[str] | None,
        embedding_model: str,
        report: BuildReport,
        report_model: Callable[[str], Report],
        download: bool = False,
        root: Path | None = None,
    ) -> EmbeddedStorage:
        """Make a storage under a name, of files under `root` (None: the own) where it is of files.

        Raises the storage errors and the models'; nothing is made then.
        """
        root = root or self.root
        self._check_name(name, root)
        if (config is None) == (strings is None):
            raise InvalidEmbeddedStorageData("give either config or strings", path="$")
        self._making.add(name)
        try:
            if config is not None:
                knowledge = await workers.build(knowledge_from_config, root, name, config, self._limits)
            else:
                if not embedding_model:
                    raise InvalidEmbeddedStorageData("strings need an embedding_model", path="$.embedding_model")
                knowledge = await workers.build(inline_knowledge, name, strings or (), embedding_model, self._limits)
            held = await self._build(knowledge, report, report_model, download)
        finally:
            self._making.discard(name)
        held.users = 1
        if self._closed:
            self.release(held)
            raise SessionExpired("the session ended while the storage was made")
        self._named[name] = held
        return held.storage

    def destroy(self, name: str) -> None:
        """Release a name; agents that use the storage keep it. Raises InvalidEmbeddedStorageName."""
        held = self._named.pop(name, None)
        if held is None:
            names = suggest(name, self._named)
            raise InvalidEmbeddedStorageName(f"there is no embedded storage {shown(name)}; {names}", path="$.name")
        self.release(held)

    def close(self) -> None:
        """Release every name; storages that are still being made are not kept. Idempotent."""
        self._closed = True
        for view in list(self._views):
            self.forget(view)
        for name in list(self._named):
            self.destroy(name)

    def _check_name(self, name: str, root: Path | None) -> None:
        if not _NAME.fullmatch(name):
            raise InvalidEmbeddedStorageName(f"{shown(name)} is no name for a storage; {_GRAMMAR}", path="$.name")
        if name in self._named or name in self._making:
            raise EmbeddedStorageExists(f"there is an embedded storage '{name}' already; destroy it first")
        limit = self._settings.max_storages
        if len(self._named) + len(self._making) >= limit:
            raise LimitExceeded(f"the session has {limit} embedded storages already (max_storages); destroy one first")
        if _is_file(root, name):
            raise StorageNameInUse(
                f"'{name}' is a file of the storage folder; nodes can name it as it is", path="$.name"
            )

    async def _build(
        self, knowledge: Knowledge, report: BuildReport, report_model: Callable[[str], Report], download: bool
    ) -> HeldKnowledge:
        name = knowledge.embedding_model
        began = time.monotonic()
        model = await self._models.acquire_embedding(name, report_model(name), download=download)
        try:
            storage = await build_storage(knowledge, model.engine, model.entry.name, report)
        except BaseException:
            self._models.release(model)
            raise
        log.info(
            "storage %s is built: %d records",
            shown(knowledge.name),
            storage.count,
            extra={
                "event": "storage_built",
                "storage": knowledge.name,
                "model": name,
                "records": storage.count,
                "duration_ms": round((time.monotonic() - began) * 1000, 3),
            },
        )
        return HeldKnowledge(storage, model)


class KnowledgeView:
    """The embedded storages as one request found them: what is made, destroyed or configured later is nothing to it."""

    def __init__(self, storages: EmbeddedStorages, root: Path | None, named: dict[str, HeldKnowledge]) -> None:
        self.named = named
        self._storages = storages
        self._root = root

    def describe(self, name: str) -> Knowledge | EmbeddedStorage:
        """What the compiler must know of the storage that a node names: `schema` and its embedding model.

        Raises StorageFileNotFound, StorageOutsideRoot, InvalidEmbeddedStorageData. Threading: safe from any thread.
        """
        named = self.named.get(name)
        return named.storage if named is not None else self._storages.describe_file(name, self._root)

    async def acquire(
        self, name: str, report: BuildReport, report_model: Callable[[str], Report], *, download: bool = False
    ) -> HeldKnowledge:
        """The storage that a node names, built first where need be; pair with `release`.

        `download`: its model may be fetched first. Raises what `describe` and the models raise, and
        InvalidEmbeddedStorageData. A failure leaves nothing behind.
        """
        named = self.named.get(name)
        if named is not None:
            named.users += 1
            return named
        return await self._storages.acquire_file(name, self._root, report, report_model, download)

    def release(self, held: HeldKnowledge) -> None:
        """Give up one use; the last one frees the storage."""
        self._storages.release(held)

    def close(self) -> None:
        """Let go of the names; what was acquired stays. Idempotent."""
        self._storages.forget(self)


_GRAMMAR = "use letters, digits, _, ., - and spaces, at most 128 of them, and begin with a letter, digit or _"


def _resolve(root: Path | None, name: str) -> Path:
    """The config file that a node names where no storage was made under that name."""
    try:
        return resolve_inside(root, name)
    except StorageFileNotFound as fault:
        raise why_no_storage(name, root, fault) from None


def _is_file(root: Path | None, name: str) -> bool:
    if root is None:
        return False
    try:
        resolve_inside(root, name)
    except ParleyError:
        return False
    return True
