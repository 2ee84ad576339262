"""Vectors of an embedded storage: found by cosine distance, kept in one file; the only use of usearch."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import stat
import struct
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import orjson
import usearch
from usearch.index import BatchMatches, Index

from bridge.engine import Vectors
from bridge.engines.graph_check import is_sound
from bridge.files import open_file, write_atomically

log = logging.getLogger(__name__)

Positions: TypeAlias = "npt.NDArray[np.int64]"
"""Rows of the matrix, ascending: an index leaves out the records that have no vector."""

EXACT_UP_TO = 2_000
"""Vectors that are simply all compared: that takes less than a millisecond, and finds the very nearest."""

CONNECTIVITY, EXPANSION = 16, 128
"""Of the graph. Of clustered vectors (5,000 to 20,000 with 64 to 384 numbers) it finds more than 99 % of the nearest
three, each search in 0.1 to 0.2 ms. Larger values find no more and take longer."""

RECALL = 0.98
"""Share of the three nearest that a graph must find of a sample, or all vectors are compared instead: from a crowd of
vectors that are nearly the same no way leads to the others, and among vectors without any order none leads anywhere."""

DIGITS = 6
"""To which distances are rounded: what differs by less is rounding of float32, and counts as equally near."""

_SPARE = 8
"""Hits of the graph beside those asked for, so that rounding at the end of the list costs none."""
_BLOCK = 4096
"""Rows that are copied at a time."""
_SAMPLE = 256
"""Searches that show how good a graph is."""
_ASIDE = 0.5
"""How far from a vector, whose length is 1, every other of those searches begins."""

_MAGIC = b"PARLEYKB"
_FORMAT = 2
_PREFIX = struct.Struct("<8sII32s")
"""Magic, format version, bytes of the header, sha256 of all that follows."""
_MAX_HEADER = 65_536


@dataclass(frozen=True, slots=True)
class Stamp:
    """What an index was made of."""

    model: str
    dimension: int
    digest: str
    """Of the records' ids, texts and order."""
    cut: int = 0
    """Texts that were longer than the model's window."""


class UnreadableIndex(Exception):
    """A file is no index that this version reads; the message says why."""

    def __init__(self, why: str, *, foreign: bool = False) -> None:
        super().__init__(why)
        self.foreign = foreign
        """It is somebody else's, which must not be written over."""


class VectorIndex:
    """Unit vectors of records, each kept once however many records have it, and the graph that finds near ones.

    Threading: immutable; searched from any thread.
    """

    def __init__(
        self, matrix: Vectors, rows: Positions, owners: Positions, graph: Index | None = None, *, judged: bool = False
    ) -> None:
        """`owners`: the row of the matrix of each record's vector. `judged`: that there is no graph is deliberate."""
        self._matrix = matrix
        self._rows = rows
        self._owners = owners
        self._lock = threading.Lock()  # calls of usearch from two Python threads would share one scratch buffer
        self.fresh_graph = False
        """What was found out about a graph was found out now, and is worth being saved."""
        self._has_copies = len(matrix) < len(rows)
        if self._has_copies:
            self._members = np.argsort(owners, kind="stable").astype(np.int64)
            self._ends = np.cumsum(np.bincount(owners, minlength=len(matrix))).astype(np.int64)
        self._graph = graph if len(matrix) > EXACT_UP_TO else None
        if self._graph is None and len(matrix) > EXACT_UP_TO and not judged:
            graph = _make_graph(matrix)
            self._graph = graph if recall_of(graph, matrix) >= RECALL else None
            self.fresh_graph = True

    @classmethod
    def build(cls, vectors: Vectors, rows: Iterable[int]) -> VectorIndex:
        """An index of these records' vectors; one that is zero or no number is left out. Blocking."""
        matrix = np.array(vectors, dtype=np.float32, order="C")
        numbers = np.fromiter(rows, dtype=np.int64, count=len(matrix))
        with np.errstate(all="ignore"):
            lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
            usable = np.isfinite(lengths) & (lengths > 0)
            if not usable.all():
                matrix, numbers, lengths = matrix[usable], numbers[usable], lengths[usable]
            matrix /= lengths[:, None].astype(np.float32)
        firsts, owners = _distinct(matrix)
        return cls(matrix if len(firsts) == len(matrix) else matrix[firsts], numbers, owners)

    @classmethod
    def empty(cls, dimension: int) -> VectorIndex:
        """An index of no vectors."""
        none = np.empty(0, dtype=np.int64)
        return cls(np.empty((0, dimension), dtype=np.float32), none, none)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def dimension(self) -> int:
        return int(self._matrix.shape[1])

    @property
    def work(self) -> int:
        """Multiplications of a search that compares all."""
        return int(self._matrix.size) if self._graph is None else 0

    def positions(self, mask: bytearray) -> Positions:
        """Where the vectors of the records are whose byte in `mask` is 1."""
        return np.flatnonzero(np.frombuffer(mask, dtype=np.uint8)[self._rows]).astype(np.int64)

    def search(
        self, vectors: Vectors, top_k: int, *, threshold: float = 0.0, among: Positions | None = None
    ) -> list[tuple[int, float]]:
        """Record number and distance of the vectors nearest to the first of `vectors`; equally near ones in order.

        `threshold` 0: however far. `among`: only these. Nothing is near a query of zeros or of no numbers.
        """
        query = np.asarray(vectors[0], dtype=np.float64)
        length = float(np.sqrt(query @ query))
        if not np.isfinite(length) or length == 0:
            return []
        query /= length
        if among is not None and len(among) == len(self):
            among = None
        total = len(self) if among is None else len(among)
        wanted = min(top_k, total)
        if wanted < 1:
            return []
        if self._graph is not None and among is None and wanted + _SPARE <= EXPANSION:
            with self._lock:
                found = self._graph.search(query.astype(np.float32), wanted + _SPARE, threads=1)
            near = np.sort(np.asarray(found.keys, dtype=np.int64).reshape(-1))
        else:
            near = self._nearest(query.astype(np.float32), wanted, self._owners_of(among))
        positions, distances = self._expand(near, self._distances(query, near), wanted, among)
        order = np.lexsort((positions, distances))[:wanted]
        hits = ((int(self._rows[positions[i]]), float(distances[i])) for i in order)
        return [(row, distance) for row, distance in hits if threshold <= 0 or distance <= threshold]

    def _owners_of(self, among: Positions | None) -> Positions | None:
        """Which rows of the matrix these records have, each once, ascending."""
        if among is None or not self._has_copies:
            return among
        theirs = np.zeros(len(self._matrix), dtype=bool)
        theirs[self._owners[among]] = True
        return np.flatnonzero(theirs)

    def _expand(
        self, near: Positions, distances: npt.NDArray[np.float64], wanted: int, among: Positions | None
    ) -> tuple[Positions, npt.NDArray[np.float64]]:
        """The records that have these vectors, and the distance of each; of one vector the first ones suffice."""
        if not self._has_copies:
            return near, distances
        ends = self._ends[near]
        starts = np.where(near > 0, self._ends[near - 1], 0)
        counts = ends - starts if among is not None else np.minimum(ends - starts, wanted)
        before = np.cumsum(counts) - counts
        positions = self._members[np.arange(counts.sum()) + np.repeat(starts - before, counts)]
        distances = np.repeat(distances, counts)
        if among is None:
            return positions, distances
        at = np.minimum(np.searchsorted(among, positions), len(among) - 1)
        meant = among[at] == positions
        return positions[meant], distances[meant]

    def _nearest(self, query: Vectors, wanted: int, among: Positions | None) -> Positions:
        """The `wanted` nearest, and those that float32 cannot tell from the last of them."""
        if among is None:
            scores = self._matrix @ query
        elif 4 * len(among) > len(self._matrix):
            scores = (self._matrix @ query)[among]
        else:
            scores = np.concatenate([self._matrix.take(block, axis=0) @ query for block in _blocks(among)])
        if wanted < len(scores):
            last = np.partition(scores, len(scores) - wanted)[len(scores) - wanted]
            chosen = np.flatnonzero(scores >= last - 4e-6)
        else:
            chosen = np.arange(len(scores))
        return chosen if among is None else among[chosen]

    def _distances(self, query: npt.NDArray[np.float64], near: Positions) -> npt.NDArray[np.float64]:
        """Cosine distances, the same number for the same vector wherever it lies."""
        parts = [(self._matrix.take(block, axis=0).astype(np.float64) * query).sum(axis=1) for block in _blocks(near)]
        similarity = np.concatenate(parts) if parts else np.zeros(0, dtype=np.float64)
        distances: npt.NDArray[np.float64] = np.maximum(1.0 - similarity, 0.0).round(DIGITS)
        return distances

    def save(self, path: Path, stamp: Stamp) -> None:
        """Write the file in one step. Blocking; raises OSError, and the old file is then intact."""
        graph = bytes(self._graph.save()) if self._graph is not None else b""  # type: ignore[arg-type]
        header = orjson.dumps(
            {
                "model": stamp.model,
                "dimension": stamp.dimension,
                "digest": stamp.digest,
                "cut": stamp.cut,
                "vectors": len(self),
                "distinct": len(self._matrix),
                "graph_bytes": len(graph),
                "usearch": usearch.__version__,
            }
        )
        numbers = [numbers.astype("<i8").tobytes() for numbers in (self._rows, self._owners)]
        parts = [header, *numbers, self._matrix.astype("<f4").tobytes(), graph]
        checksum = hashlib.sha256()
        for part in parts:
            checksum.update(part)
        write_atomically(path, b"".join([_PREFIX.pack(_MAGIC, _FORMAT, len(header), checksum.digest()), *parts]))


@dataclass(frozen=True, slots=True)
class KeptIndex:
    """What a file holds, checked against its checksum, before a graph is made of it."""

    stamp: Stamp
    _matrix: Vectors
    _rows: Positions
    _owners: Positions
    _graph: bytes
    _usearch: str

    def open(self, records: int) -> VectorIndex:
        """The index of so many records; where another version wrote the graph, with a new one. Blocking.

        Raises UnreadableIndex.
        """
        rows, owners = self._rows, self._owners
        if len(rows) and (rows[0] < 0 or rows[-1] >= records or (np.diff(rows) <= 0).any()):
            raise UnreadableIndex("is damaged")
        if len(rows) and (owners.min() < 0 or owners.max() >= len(self._matrix)):
            raise UnreadableIndex("is damaged")
        if not np.bincount(owners, minlength=len(self._matrix)).all():
            raise UnreadableIndex("is damaged")
        judged = not self._graph and self._usearch == usearch.__version__
        return VectorIndex(self._matrix, rows, owners, self._restored(), judged=judged)

    def _restored(self) -> Index | None:
        if not self._graph or self._usearch != usearch.__version__:
            return None
        if not is_sound(self._graph, len(self._matrix), self.stamp.dimension, CONNECTIVITY):
            log.warning("the graph of an index is not as it was written; it is made anew")
            return None
        with contextlib.suppress(ValueError, RuntimeError):
            graph = Index.restore(self._graph, expansion_search=EXPANSION)
            if graph is not None and len(graph) == len(self._matrix) and graph.ndim == self.stamp.dimension:
                return graph
        return None


def read_index(path: Path) -> KeptIndex:
    """Read a file that `save` wrote. Blocking; raises UnreadableIndex, and OSError (FileNotFoundError too).

    Nothing in the file is believed before its length and its checksum are right.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise UnreadableIndex("is no file", foreign=True)
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(_PREFIX.size)
        if not start:
            raise UnreadableIndex("is empty")
        if not start.startswith(_MAGIC):
            raise UnreadableIndex("is no index", foreign=True)
        if len(start) < _PREFIX.size:
            raise UnreadableIndex("is cut short")
        _, version, header_size, expected = _PREFIX.unpack(start)
        if version != _FORMAT:
            raise UnreadableIndex(f"is of format {version}, not {_FORMAT}")
        if header_size > _MAX_HEADER:
            raise UnreadableIndex("is damaged")
        header = file.read(header_size)
        stamp, (vectors, distinct, graph_bytes), made_by = _read_header(header)
        length = vectors * 16 + distinct * stamp.dimension * 4 + graph_bytes
        if size != _PREFIX.size + header_size + length:
            raise UnreadableIndex("is cut short" if size < _PREFIX.size + header_size + length else "is damaged")
        numbers = np.empty((2, vectors), dtype="<i8")
        matrix = np.empty((distinct, stamp.dimension), dtype="<f4")
        graph = np.empty(graph_bytes, dtype=np.uint8)
        checksum = hashlib.sha256(header)
        for part in (numbers.reshape(-1), matrix.reshape(-1), graph):
            flat = part.view(np.uint8)
            if file.readinto(flat.data) != flat.nbytes:
                raise UnreadableIndex("is cut short")
            checksum.update(flat.data)
        if checksum.digest() != expected:
            raise UnreadableIndex("is damaged")
    rows, owners = numbers.astype(np.int64, copy=False)
    return KeptIndex(stamp, matrix.astype(np.float32, copy=False), rows, owners, graph.tobytes(), made_by)


def may_write(path: Path) -> bool:
    """Whether nothing is lost where an index is written: no file is there, an empty one, or an index. Blocking.

    Raises OSError.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return False
        with open_file(path) as file:
            return file.read(len(_MAGIC)) in (b"", _MAGIC)
    except FileNotFoundError:
        return True


def _read_header(data: bytes) -> tuple[Stamp, tuple[int, int, int], str]:
    try:
        header = orjson.loads(data)
        stamp = Stamp(header["model"], header["dimension"], header["digest"], header["cut"])
        sizes, made_by = (header["vectors"], header["distinct"], header["graph_bytes"]), header["usearch"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise UnreadableIndex("is damaged") from None
    texts = (stamp.model, stamp.digest, made_by)
    numbers = (stamp.dimension, stamp.cut, *sizes)
    if not all(isinstance(text, str) for text in texts) or not all(
        isinstance(number, int) and 0 <= number < 2**48 for number in numbers
    ):
        raise UnreadableIndex("is damaged")
    return stamp, sizes, made_by


def _distinct(matrix: Vectors) -> tuple[Positions, Positions]:
    """The first place of every vector, ascending; and for each vector, at which of those places it is."""
    matrix += np.float32(0)  # -0 and 0 are one number
    factors = np.random.default_rng(0).integers(2**63, size=matrix.shape[1], dtype=np.uint64) | np.uint64(1)
    sums = np.empty(len(matrix), dtype=np.uint64)
    for start in range(0, len(matrix), _BLOCK):
        sums[start : start + _BLOCK] = matrix[start : start + _BLOCK].view(np.uint32).astype(np.uint64) @ factors
    _, first, group = np.unique(sums, return_index=True, return_inverse=True)
    leader = first[group.reshape(-1)]
    for start in range(0, len(matrix), _BLOCK):
        block = slice(start, start + _BLOCK)
        other = (matrix[leader[block]] != matrix[block]).any(axis=1)
        leader[block][other] = np.arange(start, start + len(other))[other]  # another vector of the same sum
    firsts, owners = np.unique(leader, return_inverse=True)
    return firsts.astype(np.int64), owners.reshape(-1).astype(np.int64)


def recall_of(graph: Index, matrix: Vectors) -> float:
    """Which share of the three nearest a graph finds of a sample: of vectors it holds, and of ones beside them."""
    chance = np.random.default_rng(0)
    queries = matrix[chance.choice(len(matrix), min(_SAMPLE, len(matrix)), replace=False)]
    aside = chance.normal(size=queries.shape).astype(np.float32)
    aside *= _ASIDE / np.sqrt((aside * aside).sum(axis=1, keepdims=True))
    aside[::2] = 0
    queries = queries + aside
    queries /= np.sqrt((queries * queries).sum(axis=1, keepdims=True))
    best = np.full((len(queries), 3), -np.inf, dtype=np.float32)
    for start in range(0, len(matrix), _BLOCK):
        scores = np.concatenate([best, queries @ matrix[start : start + _BLOCK].T], axis=1)
        best = np.partition(scores, scores.shape[1] - 3, axis=1)[:, -3:]
    least = best.min(axis=1) - 10.0**-DIGITS  # what is equally near is as good
    hits = graph.search(queries, 3 + _SPARE, threads=_threads())
    counts = hits.counts if isinstance(hits, BatchMatches) else len(hits)
    there = np.arange(3 + _SPARE) < np.asarray(counts).reshape(-1, 1)
    keys = np.where(there, np.asarray(hits.keys, dtype=np.int64), 0)
    found = there & (np.einsum("ijk,ik->ij", matrix[keys], queries) >= least[:, None])
    return float(np.minimum(found.sum(axis=1), 3).sum() / (3 * len(queries)))


def _make_graph(matrix: Vectors) -> Index:
    graph = Index(
        ndim=matrix.shape[1],
        metric="cos",
        dtype="f16",  # only finds candidates: distances are computed from the matrix
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION,
        expansion_search=EXPANSION,
    )
    graph.add(np.arange(len(matrix)), matrix, threads=_threads())
    return graph


def _threads() -> int:
    return max(1, min(4, (os.cpu_count() or 2) // 2))  # the game goes on beside


def _blocks(positions: Positions) -> Iterator[Positions]:
    for start in range(0, len(positions), _BLOCK):
        yield positions[start : start + _BLOCK]
