"""That no index file, however it was forged, makes native code read outside its graph."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from usearch.index import Index

from bridge.engines.graph_check import is_sound
from bridge.engines.vector_index import CONNECTIVITY, EXPANSION
from tests.sidecar import environment

VECTORS, DIMENSION = 500, 8

FORGER = """
import hashlib, random, sys
from pathlib import Path
import numpy as np, orjson
from bridge.engines import vector_index
from bridge.engines.vector_index import Stamp, UnreadableIndex, VectorIndex, read_index

path, count = Path(sys.argv[1]), int(sys.argv[2])
prefix = vector_index._PREFIX
vectors = np.random.default_rng(1).normal(size=(2100, 8)).astype("f4")
# A search in this many numbers without any order is told apart from a poor graph by the centres.
vectors = (vectors[np.arange(2100) % 40] + 0.05 * vectors).astype("f4")
VectorIndex.build(vectors, range(2100)).save(path, Stamp("m", 8, "d"))
whole = path.read_bytes()
magic, version, header_size, _ = prefix.unpack(whole[: prefix.size])
graph_bytes = orjson.loads(whole[prefix.size : prefix.size + header_size])["graph_bytes"]
assert graph_bytes > 100_000, "this index has no graph"
vector_index._make_graph = lambda matrix: None
vector_index.recall_of = lambda graph, matrix: 0.0
kept = 0
for seed in range(count):
    rng = random.Random(seed)
    data = bytearray(whole)
    for _ in range(rng.choice((1, 4, 40, 400))):
        at = len(data) - graph_bytes + (rng.randrange(graph_bytes) if seed % 3 else 16 * 2100 + rng.randrange(5000))
        data[at] = rng.randrange(256)
    data[: prefix.size] = prefix.pack(magic, version, header_size, hashlib.sha256(data[prefix.size :]).digest())
    path.write_bytes(data)
    index = read_index(path).open(2100)
    kept += index._graph is not None
    for query in vectors[:20]:
        index.search(query[None], 5)
print("kept", kept)
"""


def test_forged_graphs_do_not_end_the_process(tmp_path: Path, full: bool) -> None:
    count = 400 if full else 60
    command = [sys.executable, "-c", FORGER, str(tmp_path / "x.index"), str(count)]
    done = subprocess.run(command, env=environment(), capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    # Some changes touch only the order of neighbours: then the graph is as good as it was.
    assert done.stdout.split()[0] == b"kept" and int(done.stdout.split()[1]) < count


def saved(index: Index) -> bytes:
    data = index.save()
    assert data is not None
    return bytes(data)


@pytest.fixture(scope="module")
def graph() -> bytes:
    made = Index(ndim=DIMENSION, metric="cos", dtype="f16", connectivity=CONNECTIVITY, expansion_add=EXPANSION)
    made.add(np.arange(VECTORS), np.random.default_rng(2).normal(size=(VECTORS, DIMENSION)).astype("f4"), threads=4)
    return saved(made)


def sound(graph: bytes) -> bool:
    return is_sound(graph, VECTORS, DIMENSION, CONNECTIVITY)


def test_what_the_library_writes_is_sound(graph: bytes) -> None:
    assert sound(graph)
    for vectors in (1, 2, 40):
        small = Index(ndim=3, metric="cos", dtype="f16", connectivity=CONNECTIVITY, expansion_add=EXPANSION)
        small.add(np.arange(vectors), np.random.default_rng(vectors).normal(size=(vectors, 3)).astype("f4"))
        assert is_sound(saved(small), vectors, 3, CONNECTIVITY)


def test_other_sizes_are_not_sound(graph: bytes) -> None:
    assert not sound(b"") and not sound(graph[:-1]) and not sound(graph + b"\0")
    assert not is_sound(graph, VECTORS - 1, DIMENSION, CONNECTIVITY)
    assert not is_sound(graph, VECTORS, DIMENSION * 2, CONNECTIVITY)
    assert not is_sound(graph, VECTORS, DIMENSION, CONNECTIVITY - 1)


def test_a_number_outside_the_graph_is_not_sound(graph: bytes) -> None:
    head = 8 + VECTORS * DIMENSION * 2
    first = head + 64 + 40 + 2 * VECTORS
    for at, value, size in (
        (0, VECTORS + 1, 4),  # vectors
        (head + 64, 2**40, 8),  # nodes
        (head + 64 + 24, 30, 8),  # levels
        (head + 64 + 32, VECTORS, 8),  # where a search begins
        (head + 64 + 40, 9, 2),  # the level of a node
        (first, VECTORS, 8),  # a key
        (first, 1, 8),  # a key that another has
        (first + 8, 7, 2),  # the level in a node
        (first + 10, 2 * CONNECTIVITY + 1, 4),  # neighbours of a node
        (first + 14, VECTORS, 4),  # a neighbour
        (8, 0x7E00, 2),  # a vector that is no number
    ):
        forged = graph[:at] + value.to_bytes(size, "little") + graph[at + size :]
        assert forged == graph or not sound(forged), at
