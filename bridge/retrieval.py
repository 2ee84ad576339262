"""Embedded storages: knowledge with its vectors, built or taken from disk, searched by meaning and filter."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from bridge import workers
from bridge.engine import EmbeddingModel
from bridge.errors import InferenceFailed, InvalidEmbeddedStorageData
from bridge.filter import Filter, Metadata, Test
from bridge.knowledge import Knowledge, Record, inline_knowledge, knowledge_from_config, read_knowledge, values_of
from bridge.variables import Value
from bridge.wording import cut

if TYPE_CHECKING:
    from bridge.engines.vector_index import Positions, VectorIndex

__all__ = [
    "EmbeddedStorage",
    "Hit",
    "Knowledge",
    "Record",
    "build_storage",
    "inline_knowledge",
    "knowledge_from_config",
    "read_knowledge",
]

log = logging.getLogger(__name__)

REMEMBERED_FILTERS = 32
"""Filters, each with the values of its variables, whose records a storage remembers."""

_AT_ONCE = 2_000
"""Tests (records × operations) that the event loop can wait for, or a thread may make without a rest."""
_REST_S = 50e-6
"""How long a thread that tests records leaves the interpreter to the event loop."""
_MULTIPLICATIONS_AT_ONCE = 500_000
"""A search of so many takes the event loop less time than handing it to a thread."""

_NO_VARIABLES: Mapping[str, Value] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that a search found."""

    id: str
    text: str
    distance: float
    """Cosine distance: 0 the same direction, 1 nothing in common, at most 2."""
    metadata: Metadata


class EmbeddedStorage:
    """Knowledge with its vectors, shared by all who search it.

    Threading: used on the event loop; long work is done in worker threads.
    """

    def __init__(
        self,
        knowledge: Knowledge,
        model_name: str,
        index: VectorIndex,
        *,
        reused: bool,
        kept: bool,
        warnings: tuple[str, ...],
    ) -> None:
        self.name = knowledge.name
        self.model_name = self.embedding_model = model_name
        self.dimension = index.dimension
        self.schema = knowledge.schema
        self.count = len(knowledge.records)
        self.reused = reused
        """Nothing was embedded: the index came from disk."""
        self.kept = kept
        """The index is on disk for the next time."""
        self.warnings = warnings
        self._records = knowledge.records
        self._index = index
        self._allowed: OrderedDict[tuple[Filter, tuple[Value | None, ...]], Positions] = OrderedDict()

    async def search(
        self,
        vector_of: EmbeddingModel,
        text: str,
        *,
        top_k: int,
        threshold: float = 0.0,
        filter: Filter | None = None,
        variables: Mapping[str, Value] = _NO_VARIABLES,
    ) -> list[Hit]:
        """The records nearest to a text among those that pass the filter, nearest first, equally near ones in order.

        `threshold` 0: however far; else only those at most so far. Nothing is near a blank text.
        Raises InferenceFailed; InvalidEmbeddedStorageData where the model makes vectors of another size.
        """
        index = self._index
        if top_k < 1 or not text.strip() or not len(index):
            return []
        among = None if filter is None else await self._passing(filter, variables)
        if among is not None and not len(among):
            return []
        vectors, _ = await vector_of.embed([text])
        if vectors.shape != (1, self.dimension):
            raise InvalidEmbeddedStorageData(
                f"'{self.name}' has vectors of {self.dimension} numbers, made by '{self.model_name}'; "
                f"the model of this search makes {vectors.shape[-1]}"
            )
        if index.work <= _MULTIPLICATIONS_AT_ONCE:
            found = index.search(vectors, top_k, threshold=threshold, among=among)
        else:
            found = await workers.search(index.search, vectors, top_k, threshold=threshold, among=among)
        records = self._records
        return [Hit(records[row].id, records[row].text, distance, records[row].metadata) for row, distance in found]

    def values(self, field: str) -> frozenset[str]:
        """What the records have in a field of type string; of an empty name their ids."""
        return values_of(self._records, field)

    def close(self) -> None:
        """Forget what filters let through. The rest goes with the last search that runs."""
        self._allowed.clear()

    async def _passing(self, filter: Filter, variables: Mapping[str, Value]) -> Positions:
        """Where the vectors are of the records that pass."""
        key = (filter, tuple(variables.get(name) for name in sorted(filter.variables)))
        known = self._allowed.get(key)
        if known is not None:
            self._allowed.move_to_end(key)
            return known
        test = filter.bind(variables)
        step = max(1, _AT_ONCE // filter.size)
        if self.count <= step:
            found = self._index.positions(_mask(test, self._records, step))
        else:
            found = await workers.search(lambda: self._index.positions(_mask(test, self._records, step)))
        self._allowed[key] = found
        if len(self._allowed) > REMEMBERED_FILTERS:
            self._allowed.popitem(last=False)
        return found


def _mask(test: Test, records: Sequence[Record], step: int) -> bytearray:
    """A byte for each record: whether it passes. A thread rests after each `step`, so that the event loop goes on."""
    mask = bytearray(len(records))
    for start in range(0, len(records), step):
        if start:
            time.sleep(_REST_S)
        for row in range(start, min(start + step, len(records))):
            if test(records[row].metadata):
                mask[row] = 1
    return mask


async def build_storage(
    knowledge: Knowledge, model: EmbeddingModel, model_name: str, report: Callable[[int, int], None]
) -> EmbeddedStorage:
    """The storage of what was read: its index comes from disk where it is fresh, else the texts are embedded.

    `report(done, total)` counts records and ends with all of them. Raises InvalidEmbeddedStorageData where the index on
    disk was made by another model or another file stands in its place, InferenceFailed.
    """
    total = len(knowledge.records)
    kept = await workers.build(_open_kept, knowledge, model_name, model.dimension)
    warnings = [*knowledge.warnings, *kept.warnings]
    rows, texts = await workers.build(_to_embed, knowledge.records, with_texts=kept.index is None)
    blank = total - len(rows)
    if kept.index is not None:
        index, cut_texts, reused = kept.index, kept.cut, True
        report(total, total)
    else:
        index, cut_texts = await _embed(rows, texts, model, total, report)
        reused = False
    lost = total - blank - len(index)
    if blank:
        warnings.append(f"'{knowledge.name}': {_count(blank)} blank, and never found")
    if lost:
        warnings.append(
            f"'{knowledge.name}': {_count(lost)} without a vector, as '{model_name}' makes none of it; never found"
        )
    if cut_texts:
        warnings.append(
            f"'{knowledge.name}': {_count(cut_texts)} longer than the {model.max_tokens} tokens of '{model_name}'; "
            "only the beginning counts"
        )
    on_disk = reused
    if kept.writable and (not reused or index.fresh_graph):
        on_disk = await workers.build(_keep, knowledge, index, model_name, cut_texts)
    for warning in warnings:
        log.warning("%s", warning)
    return EmbeddedStorage(knowledge, model_name, index, reused=reused, kept=on_disk, warnings=tuple(warnings))


def _count(records: int) -> str:
    return "1 record is" if records == 1 else f"{records} records are"


@dataclass(frozen=True, slots=True)
class _Kept:
    """What was found on disk."""

    index: VectorIndex | None = None
    cut: int = 0
    writable: bool = False
    """Whether a new index may be written there."""
    warnings: tuple[str, ...] = ()


def _open_kept(knowledge: Knowledge, model_name: str, dimension: int) -> _Kept:
    from bridge.engines.vector_index import UnreadableIndex, read_index

    path = knowledge.index_path
    if path is None:
        return _Kept()
    try:
        kept = read_index(path)
        stamp = kept.stamp
        if (stamp.model, stamp.dimension) != (model_name, dimension):
            raise InvalidEmbeddedStorageData(
                f"'{knowledge.name}': the index {path.name} was made by '{cut(stamp.model)}' "
                f"({stamp.dimension} dimensions), the config says '{model_name}' ({dimension} dimensions); "
                f"delete {path.name} to embed anew, or set `embedding_model` back, or name another `index_file`"
            )
        if stamp.digest != knowledge.digest:
            log.info("'%s': the records have changed since %s was made", knowledge.name, path.name)
            return _Kept(writable=True)
        return _Kept(kept.open(len(knowledge.records)), stamp.cut, writable=True)
    except FileNotFoundError:
        return _Kept(writable=True)
    except UnreadableIndex as fault:
        if fault.foreign:
            raise InvalidEmbeddedStorageData(
                f"'{knowledge.name}': the index is to be kept in {path.name}, which is there and {fault}; "
                "name another `index_file`, or move that away",
                path="$.index_file",
            ) from None
        warning = f"'{knowledge.name}': the index {path.name} {fault}; it is made anew"
        return _Kept(writable=True, warnings=(warning,))
    except OSError as fault:
        return _Kept(warnings=(f"'{knowledge.name}': the index {path.name} cannot be read: {fault.strerror}",))


def _to_embed(records: Sequence[Record], *, with_texts: bool) -> tuple[list[int], list[str]]:
    """Which records are not blank, and their texts where they are wanted."""
    rows = []
    for row, record in enumerate(records):
        if row % _AT_ONCE == 0:
            time.sleep(_REST_S)
        if record.text.strip():
            rows.append(row)
    return rows, [records[row].text for row in rows] if with_texts else []


async def _embed(
    rows: Sequence[int], texts: Sequence[str], model: EmbeddingModel, total: int, report: Callable[[int, int], None]
) -> tuple[VectorIndex, int]:
    """The vectors of the texts, which stand in these rows of all records, and how many were cut at the window."""
    from bridge.engines.vector_index import VectorIndex

    told = total - len(rows)

    def tell(done: int, _: int) -> None:
        nonlocal told
        if told < (now := total - len(rows) + done):
            told = now
            report(told, total)

    if not rows:
        report(total, total)
        return await workers.build(VectorIndex.empty, model.dimension), 0
    vectors, was_cut = await model.embed(texts, tell)
    if vectors.shape != (len(rows), model.dimension):
        raise InferenceFailed(
            f"the embedding model made vectors of shape {vectors.shape} for {len(rows)} texts of {model.dimension}"
        )
    index = await workers.build(VectorIndex.build, vectors, rows)
    if told < total:
        report(total, total)
    return index, sum(was_cut)


def _keep(knowledge: Knowledge, index: VectorIndex, model_name: str, cut_texts: int) -> bool:
    """Write the index beside the records, where that can be done."""
    from bridge.engines.vector_index import Stamp, may_write

    path = knowledge.index_path
    assert path is not None
    try:
        if not may_write(path):  # it came while the texts were embedded
            log.warning("'%s': the index is not kept: %s is no index", knowledge.name, path)
            return False
        index.save(path, Stamp(model_name, index.dimension, knowledge.digest, cut_texts))
    except OSError as fault:
        log.info("'%s': the index is not kept: %s cannot be written: %s", knowledge.name, path, fault.strerror)
        return False
    return True
