"""Whether the bytes of a usearch graph lead nowhere outside it: the library believes every number in them.

A file of the storage folder may be somebody's mod. A graph that is not exactly of the shape below is made anew.
"""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

_HEAD = struct.Struct("<7s3H4B3QB")
_HEAD_BYTES = 64
_KINDS = (ord("c"), 12, 14, 15)
"""Cosine; f16 numbers, u64 keys, u32 slots."""
_SHAPE = struct.Struct("<5Q")
_NODE_HEAD = 10
"""Bytes of a node's key and level, before its lists of neighbours."""
_BLOCK = 65_536

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]


def is_sound(graph: bytes, vectors: int, dimension: int, connectivity: int) -> bool:
    """Whether it is a graph of so many vectors whose lists hold only numbers of vectors on the level they are for."""
    data = np.frombuffer(graph, dtype=np.uint8)
    at = 8 + vectors * dimension * 2
    levels_at = at + _HEAD_BYTES + _SHAPE.size
    first = levels_at + 2 * vectors
    if not vectors or len(data) < first or struct.unpack_from("<2I", graph) != (vectors, dimension * 2):
        return False
    if not np.isfinite(data[8:at].view("<f2")).all():
        return False
    magic, _, _, _, *rest = _HEAD.unpack_from(graph, at)
    if (magic, *rest) != (b"usearch", *_KINDS, vectors, 0, dimension, 0):
        return False
    size, wide, base, top, entry = _SHAPE.unpack_from(graph, at + _HEAD_BYTES)
    if (size, wide, base) != (vectors, connectivity, 2 * connectivity) or entry >= vectors:
        return False
    levels = data[levels_at:first].view("<i2").astype(np.int64)
    if levels.min() < 0 or levels.max() != top or levels[entry] != top:
        return False
    base_bytes, wide_bytes = 4 + 4 * base, 4 + 4 * wide
    lengths = _NODE_HEAD + base_bytes + levels * wide_bytes
    starts = first + np.cumsum(lengths) - lengths
    if starts[-1] + lengths[-1] != len(data):
        return False
    heads = _gathered(data, starts, _NODE_HEAD)
    keys = heads[:, :8].copy().view("<u8").reshape(-1)
    if (heads[:, 8:].copy().view("<i2").reshape(-1) != levels).any():
        return False
    if (np.sort(keys) != np.arange(vectors, dtype=np.uint64)).any():
        return False
    for level in range(int(top) + 1):
        here = starts[levels >= level] + _NODE_HEAD + (base_bytes + (level - 1) * wide_bytes if level else 0)
        if not _lists_are_sound(data, here, wide if level else base, levels, level):
            return False
    return True


def _lists_are_sound(data: Bytes, starts: Numbers, room: int, levels: Numbers, level: int) -> bool:
    for begin in range(0, len(starts), _BLOCK):
        lists = _gathered(data, starts[begin : begin + _BLOCK], 4 + 4 * room).view("<u4")
        counts, slots = lists[:, 0], lists[:, 1:]
        used = slots[np.arange(room) < counts[:, None]]
        if (counts > room).any() or (used >= len(levels)).any() or (levels[used] < level).any():
            return False
    return True


def _gathered(data: Bytes, starts: Numbers, length: int) -> Bytes:
    """A row of so many bytes from each of these places."""
    rows: Bytes = data[starts[:, None] + np.arange(length)]
    return rows
