"""What an ONNX file says of itself, read without any library and without its weights."""

from __future__ import annotations

import io
from pathlib import Path
from typing import BinaryIO

from bridge.errors import ModelCorrupt

_GRAPH, _METADATA = 7, 14
_KEY, _VALUE = 1, 2
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
MAX_ENTRY = 2**20
"""Bytes of one entry; what is longer is no metadata."""


def read_onnx_metadata(path: Path) -> dict[str, str]:
    """The metadata of a model. Raises ModelCorrupt that names the file: no ONNX model, or one that is cut short."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            metadata, has_graph = _read(file, size)
    except OSError as fault:
        raise ModelCorrupt(f"{path} cannot be read: {fault.strerror}") from None
    except EOFError:
        raise ModelCorrupt(f"{path} is cut short: it ends after {size} bytes; fetch it again") from None
    except ValueError:
        raise ModelCorrupt(f"{path} is no ONNX model{_what_else(path)}") from None
    if not has_graph:
        raise ModelCorrupt(f"{path} is no ONNX model: it holds no network{_what_else(path)}")
    return metadata


def _what_else(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(64)
    if head.startswith(b"version https://git-lfs"):
        return "; it is a pointer of Git LFS, and the model itself was not fetched"
    return "; it is a page of a web site" if head.lstrip()[:1] == b"<" else ""


def _read(file: BinaryIO, end: int) -> tuple[dict[str, str], bool]:
    metadata: dict[str, str] = {}
    has_graph = False
    while file.tell() < end:
        field, kind = _tag(file)
        if kind != _BYTES:
            _skip(file, kind)
            continue
        length = _varint(file)
        if file.tell() + length > end:
            raise EOFError
        if field == _METADATA and length <= MAX_ENTRY:
            key, value = _entry(file.read(length))
            metadata[key] = value
        else:
            has_graph = has_graph or (field == _GRAPH and length > 0)
            file.seek(length, io.SEEK_CUR)
    return metadata, has_graph


def _entry(data: bytes) -> tuple[str, str]:
    file = io.BytesIO(data)
    found = {_KEY: "", _VALUE: ""}
    while file.tell() < len(data):
        field, kind = _tag(file)
        if kind != _BYTES:
            _skip(file, kind)
            continue
        length = _varint(file)
        if length > len(data) - file.tell():
            raise ValueError
        found[field] = file.read(length).decode("utf-8", "replace")
    return found[_KEY], found[_VALUE]


def _tag(file: BinaryIO) -> tuple[int, int]:
    tag = _varint(file)
    if not 0 < tag >> 3 < 1000:
        raise ValueError
    return tag >> 3, tag & 7


def _skip(file: BinaryIO, kind: int) -> None:
    if kind == _VARINT:
        _varint(file)
    elif kind in (_FIXED32, _FIXED64):
        file.seek(4 if kind == _FIXED32 else 8, io.SEEK_CUR)
    else:
        raise ValueError


def _varint(file: BinaryIO) -> int:
    number = shift = 0
    while shift < 64:
        byte = file.read(1)
        if not byte:
            raise EOFError
        number |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return number
        shift += 7
    raise ValueError
