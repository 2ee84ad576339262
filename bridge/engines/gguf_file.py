"""Whether a file is a whole GGUF, found out before native code reads it."""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from bridge.errors import ModelCorrupt, ModelLoadFailed

Scalar = int | float | bool | str

_MAX_ENTRIES = 2**20
_MAX_LISTED = 4096
"""Numbers of an array that are kept; a longer one, such as a vocabulary's scores, is only counted."""
_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
_U32, _U64 = struct.Struct("<I"), struct.Struct("<Q")

_BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    34: (256, 54), 35: (256, 66), 39: (32, 17), 40: (64, 36),
}  # fmt: skip
"""Elements and bytes of a block, by tensor type. Of a type that is not here only the offset is checked."""


class Tensor(NamedTuple):
    """One array of weights."""

    kind: int
    """Its type, as ggml numbers them."""
    bytes: int


@dataclass(frozen=True, slots=True)
class GgufFacts:
    """What the header says."""

    architecture: str
    metadata: dict[str, Scalar] = field(default_factory=dict)
    """All values but arrays."""
    tensors: dict[str, Tensor] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)
    """How long each array is, by key."""
    numbers: dict[str, tuple[Scalar, ...]] = field(default_factory=dict)
    """The short arrays of numbers, such as what differs from layer to layer."""

    @property
    def layers(self) -> int:
        """Layers of the network; 0 where the file does not say."""
        return int(self.metadata.get(f"{self.architecture}.block_count", 0) or 0)

    @property
    def pooling(self) -> int:
        """How the model makes one vector of a text, in llama.cpp's numbers; 0 where the file does not say."""
        return int(self.metadata.get(f"{self.architecture}.pooling_type", 0) or 0)

    @property
    def embeds(self) -> bool:
        """Whether the model was made for vectors, not for text."""
        causal = self.metadata.get(f"{self.architecture}.attention.causal", True)
        return self.pooling > 0 or not (causal or any(key.startswith("diffusion.") for key in self.metadata))


def read_gguf(path: Path) -> GgufFacts:
    """The header of a file whose tensors are all there.

    Raises ModelLoadFailed where there is no such file, ModelCorrupt that says what is wrong with it.
    """
    try:
        with path.open("rb") as file:
            if path.stat().st_size < 24:
                raise ModelCorrupt(f"{path} is not a GGUF file: it has {path.stat().st_size} bytes")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _Reader(path, data).facts()
    except FileNotFoundError:
        raise ModelLoadFailed(f"the model file is not there: {path}") from None
    except OSError as fault:
        raise ModelLoadFailed(f"the model file {path} cannot be read: {fault.strerror}") from None


class _Reader:
    def __init__(self, path: Path, data: mmap.mmap) -> None:
        self._path = path
        self._data = data
        self._size = len(data)
        self._at = 0
        self._lengths: dict[str, int] = {}
        self._numbers: dict[str, tuple[Scalar, ...]] = {}

    def facts(self) -> GgufFacts:
        if self._data[:4] != b"GGUF":
            raise ModelCorrupt(f"{self._path} is not a GGUF file: it starts with {self._data[:4]!r}")
        self._at = 4
        version = self._u32()
        if version not in (2, 3):
            raise ModelCorrupt(f"{self._path} is a GGUF file of version {version}; versions 2 and 3 can be read")
        n_tensors, n_values = self._count(), self._count()
        metadata: dict[str, Scalar] = {}
        for _ in range(n_values):
            key = self._string()
            kind = self._u32()
            if kind == _ARRAY:
                self._array(key)
            else:
                metadata[key] = self._value(kind)
        placed = [self._tensor() for _ in range(n_tensors)]
        alignment = int(metadata.get("general.alignment", 32) or 0)
        if alignment < 8 or alignment & (alignment - 1):
            raise self._damaged(f"its alignment is {alignment}")
        start = -(-self._at // alignment) * alignment
        missing = start + max((offset + tensor.bytes for _, offset, tensor in placed), default=0) - self._size
        if missing > 0:
            raise ModelCorrupt(f"{self._path} is cut short: {missing} of {self._size + missing} bytes are missing")
        architecture = str(metadata.get("general.architecture", ""))
        if not architecture:
            raise self._damaged("it names no architecture")
        self._check_numbers(architecture, metadata)
        return GgufFacts(architecture, metadata, self._sized(placed, self._size - start), self._lengths, self._numbers)

    def _check_numbers(self, architecture: str, metadata: dict[str, Scalar]) -> None:
        """Refuse numbers on which llama.cpp would end the process instead of refusing the file."""
        for key, value in metadata.items():
            if not isinstance(value, float) or not key.startswith(f"{architecture}."):
                continue
            if not math.isfinite(value) or (value < 0 and "epsilon" in key):
                raise self._damaged(f"its {key} is {value}")
        for name, most in (("block_count", 512), ("context_length", 2**24), ("embedding_length", 2**20)):
            number = metadata.get(f"{architecture}.{name}", 1)
            if not (isinstance(number, int) and 1 <= number <= most):
                raise self._damaged(f"its {architecture}.{name} is {number}")

    @staticmethod
    def _sized(placed: list[tuple[str, int, Tensor]], data: int) -> dict[str, Tensor]:
        """The tensors by name; one of a type that is not known reaches to where the next begins."""
        tensors: dict[str, Tensor] = {}
        end = data
        for name, offset, tensor in sorted(placed, key=lambda item: item[1], reverse=True):
            tensors[name] = tensor if tensor.bytes else Tensor(tensor.kind, max(end - offset, 0))
            end = offset
        return tensors

    def _tensor(self) -> tuple[str, int, Tensor]:
        """Reads one tensor's description: its name, where its data begins, counted from where all data begins, and it.

        Of a type that is not known the bytes are 0.
        """
        name = self._string()
        dimensions = self._u32()
        if not 1 <= dimensions <= 4:
            raise self._damaged(f"tensor '{name}' has {dimensions} dimensions")
        elements = 1
        row = 0
        for index in range(dimensions):
            extent = self._u64()
            row = row if index else extent
            elements *= extent
        kind = self._u32()
        offset = self._u64()
        block, size = _BLOCKS.get(kind, (1, 0))
        if elements == 0 or elements > 2**48 or row % block:
            raise self._damaged(f"tensor '{name}' has an impossible shape")
        return name, offset, Tensor(kind, elements // block * size)

    def _value(self, kind: int) -> Scalar:
        if kind == _STRING:
            return self._string()
        if kind not in _SCALARS:
            raise self._damaged(f"it has a value of unknown type {kind}")
        value: Scalar = self._unpack(struct.Struct(_SCALARS[kind]))
        return value

    def _array(self, key: str) -> None:
        """Reads an array's length, and its numbers where they are few; steps over it otherwise."""
        inner = self._u32()
        count = self._u64()
        self._lengths[key] = count
        if inner == _STRING:
            self._skip_strings(count)
        elif inner not in _SCALARS:
            raise self._damaged(f"it has an array of unknown type {inner}")
        elif count <= _MAX_LISTED:
            self._numbers[key] = tuple(self._value(inner) for _ in range(count))
        else:
            self._skip(count * struct.calcsize(_SCALARS[inner]))

    def _skip_strings(self, count: int) -> None:
        unpack: Callable[[mmap.mmap, int], tuple[int]] = _U64.unpack_from
        data, at, last = self._data, self._at, self._size - 8
        for _ in range(count):
            if at > last:
                raise self._short()
            at += 8 + unpack(data, at)[0]
        self._at = at
        self._skip(0)

    def _string(self) -> str:
        length = self._u64()
        start = self._at
        self._skip(length)
        return self._data[start : self._at].decode("utf-8", "replace")

    def _count(self) -> int:
        count = self._u64()
        if count > _MAX_ENTRIES:
            raise self._damaged(f"it claims {count} entries")
        return count

    def _u32(self) -> int:
        return int(self._unpack(_U32))

    def _u64(self) -> int:
        return int(self._unpack(_U64))

    def _unpack(self, form: struct.Struct) -> int | float | bool:
        start = self._at
        self._skip(form.size)
        value: int | float | bool = form.unpack_from(self._data, start)[0]
        return value

    def _skip(self, size: int) -> None:
        self._at += size
        if self._at > self._size:
            raise self._short()

    def _short(self) -> ModelCorrupt:
        return ModelCorrupt(f"{self._path} is cut short: its header goes on behind the end of the file")

    def _damaged(self, what: str) -> ModelCorrupt:
        return ModelCorrupt(f"{self._path} is damaged: {what}")
