"""Vectors of an embedded storage: found by cosine distance, kept in one file; the only use of usearch."""

from __future__ import annotations

import contextlib
import hashlib
import os
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
from usearch.index import Index

from bridge.engine import Vectors
from bridge.files import write_atomically

Positions: TypeAlias = "npt.NDArray[np.int64]"
"""Rows of the matrix, ascending: an index leaves out the records that have no vector."""

EXACT_UP_TO = 2_000
"""Vectors that are simply all compared: that takes less than a millisecond, and finds the very nearest."""

CONNECTIVITY, EXPANSION = 16, 128
"""Of the graph. Of clustered vectors (5,000 to 20,000 with 64 to 384 numbers) it finds more than 99 % of the nearest
three, each search in 0.1 to 0.2 ms. Larger values find no more and take longer."""

DIGITS = 6
"""To which distances are rounded: what differs by less is rounding of float32, and counts as equally near."""

_SPARE = 8
"""Hits of the graph beside those asked for, so that rounding at the end of the list costs none."""
_BLOCK = 4096
"""Rows that are copied at a time."""

_MAGIC = b"PARLEYKB"
_FORMAT = 1
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
        """It looks like somebody else's data, which must not be written over."""


class VectorIndex:
    """Unit vectors of records, and the graph that finds near ones among many.

    Threading: immutable; searched from any thread.
    """

    def __init__(self, matrix: Vectors, rows: Positions, graph: Index | None = None) -> None:
        self._matrix = matrix
        self._rows = rows
        self._graph = graph if len(rows) > EXACT_UP_TO else None
        self._lock = threading.Lock()  # calls of usearch from two Python threads would share one scratch buffer
        self.fresh_graph = False
        if self._graph is None and len(rows) > EXACT_UP_TO:
            self._graph = _make_graph(matrix)
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
        return cls(matrix, numbers)

    @classmethod
    def empty(cls, dimension: int) -> VectorIndex:
        """An index of no vectors."""
        return cls(np.empty((0, dimension), dtype=np.float32), np.empty(0, dtype=np.int64))

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
            near = self._nearest(query.astype(np.float32), wanted, among)
        distances = self._distances(query, near)
        order = np.lexsort((near, distances))[:wanted]
        hits = ((int(self._rows[near[i]]), float(distances[i])) for i in order)
        return [(row, distance) for row, distance in hits if threshold <= 0 or distance <= threshold]

    def _nearest(self, query: Vectors, wanted: int, among: Positions | None) -> Positions:
        """The `wanted` nearest, and those that float32 cannot tell from the last of them."""
        if among is None:
            scores = self._matrix @ query
        elif 4 * len(among) > len(self):
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
                "graph_bytes": len(graph),
                "usearch": usearch.__version__,
            }
        )
        parts = [header, self._rows.astype("<i8").tobytes(), self._matrix.astype("<f4").tobytes(), graph]
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
    _graph: bytes
    _usearch: str

    def open(self, records: int) -> VectorIndex:
        """The index of so many records; where another version wrote the graph, with a new one. Blocking.

        Raises UnreadableIndex.
        """
        rows = self._rows
        if len(rows) and (rows[0] < 0 or rows[-1] >= records or (np.diff(rows) <= 0).any()):
            raise UnreadableIndex("is damaged")
        return VectorIndex(self._matrix, self._rows, self._restored())

    def _restored(self) -> Index | None:
        if not self._graph or self._usearch != usearch.__version__:
            return None
        with contextlib.suppress(ValueError, RuntimeError):
            graph = Index.restore(self._graph, expansion_search=EXPANSION)
            if graph is not None and len(graph) == len(self._rows) and graph.ndim == self.stamp.dimension:
                return graph
        return None


def read_index(path: Path) -> KeptIndex:
    """Read a file that `save` wrote. Blocking; raises UnreadableIndex, and OSError (FileNotFoundError too).

    Nothing in the file is believed before its length and its checksum are right.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(_PREFIX.size)
        if not start.startswith(_MAGIC):
            foreign = start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"[")
            raise UnreadableIndex("is no index file", foreign=foreign)
        if len(start) < _PREFIX.size:
            raise UnreadableIndex("is cut short")
        _, version, header_size, expected = _PREFIX.unpack(start)
        if version != _FORMAT:
            raise UnreadableIndex(f"is of format {version}, not {_FORMAT}")
        if header_size > _MAX_HEADER:
            raise UnreadableIndex("is damaged")
        header = file.read(header_size)
        stamp, vectors, graph_bytes, made_by = _read_header(header)
        length = vectors * 8 + vectors * stamp.dimension * 4 + graph_bytes
        if size != _PREFIX.size + header_size + length:
            raise UnreadableIndex("is cut short" if size < _PREFIX.size + header_size + length else "is damaged")
        rows = np.empty(vectors, dtype="<i8")
        matrix = np.empty((vectors, stamp.dimension), dtype="<f4")
        graph = np.empty(graph_bytes, dtype=np.uint8)
        checksum = hashlib.sha256(header)
        for part in (rows, matrix.reshape(-1), graph):
            flat = part.view(np.uint8)
            if file.readinto(flat.data) != flat.nbytes:
                raise UnreadableIndex("is cut short")
            checksum.update(flat.data)
        if checksum.digest() != expected:
            raise UnreadableIndex("is damaged")
    native = matrix.astype(np.float32, copy=False), rows.astype(np.int64, copy=False)
    return KeptIndex(stamp, *native, graph.tobytes(), made_by)


def _read_header(data: bytes) -> tuple[Stamp, int, int, str]:
    try:
        header = orjson.loads(data)
        stamp = Stamp(header["model"], header["dimension"], header["digest"], header["cut"])
        vectors, graph_bytes, made_by = header["vectors"], header["graph_bytes"], header["usearch"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise UnreadableIndex("is damaged") from None
    texts = (stamp.model, stamp.digest, made_by)
    numbers = (stamp.dimension, stamp.cut, vectors, graph_bytes)
    if not all(isinstance(text, str) for text in texts) or not all(
        isinstance(number, int) and 0 <= number < 2**48 for number in numbers
    ):
        raise UnreadableIndex("is damaged")
    return stamp, vectors, graph_bytes, made_by


def _make_graph(matrix: Vectors) -> Index:
    graph = Index(
        ndim=matrix.shape[1],
        metric="cos",
        dtype="f16",  # only finds candidates: distances are computed from the matrix
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION,
        expansion_search=EXPANSION,
    )
    threads = max(1, min(4, (os.cpu_count() or 2) // 2))  # the game goes on beside
    graph.add(np.arange(len(matrix)), matrix, threads=threads)
    return graph


def _blocks(positions: Positions) -> Iterator[Positions]:
    for start in range(0, len(positions), _BLOCK):
        yield positions[start : start + _BLOCK]
