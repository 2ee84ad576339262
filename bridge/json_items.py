"""A large JSON array read piece by piece: the parser holds the interpreter, and the event loop must go on meanwhile.

Threading: pure; made for worker threads, which rest between the pieces.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import orjson

PIECE_BYTES = 32 * 1024
"""What is parsed at a time, if items allow it."""
ITEM_BYTES = 4 * 2**20
"""Largest item of an array that is longer than that."""
REST_S = 50e-6
"""How long a thread leaves the interpreter to the event loop."""

_GUESSES = 4
_MARKS_AT_A_TIME = 2_000
_BETWEEN = re.compile(rb"\}\s*(,)\s*\{")
_MARK = re.compile(rb'["\[\]{},]')
_BLANK = b" \t\r\n"


class JsonFault(ValueError):
    """What is wrong with a JSON text, and where."""


class NoArray(ValueError):
    """The JSON text is no array; `value` is what it is, if it is short."""

    def __init__(self, value: object) -> None:
        super().__init__("no array")
        self.value = value


def read_items(data: bytes) -> Iterator[list[Any]]:
    """The items of a JSON array in order, some at a time. Raises JsonFault, and NoArray for another value."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    start = len(data) - len(data.lstrip(_BLANK))
    if data[start : start + 1] != b"[":
        if len(data) > PIECE_BYTES:
            raise NoArray(None)
        raise NoArray(_parse(data, b"", 0, len(data), b""))
    begin = start = start + 1
    while len(data) - start > 2 * PIECE_BYTES:
        found = _guess(data, start) or _scan(data, start)
        if found is None:
            break
        items, comma = found
        yield items
        time.sleep(REST_S)
        start = comma + 1
    items = _parse(data, b"[", start, len(data), b"")
    if start > begin and not items:
        raise _fault("trailing comma", data, start)
    yield items


def _guess(data: bytes, start: int) -> tuple[list[Any], int] | None:
    """The items before a comma between two objects, and where it is; None where no such comma separates items.

    A comma up to which the text is a valid array separates items of it, for the beginning can be read in one way only.
    """
    tries = 0
    for match in _BETWEEN.finditer(data, start + PIECE_BYTES, start + 4 * PIECE_BYTES):
        try:
            return orjson.loads(b"[%b]" % data[start : match.start(1)]), match.start(1)
        except orjson.JSONDecodeError:
            tries += 1
            if tries == _GUESSES:
                break
    return None


def _scan(data: bytes, start: int) -> tuple[list[Any], int] | None:
    """The same by looking at every bracket, for arrays of anything; None where the array ends first."""
    position, depth, marks = start, 0, 0
    while (match := _MARK.search(data, position)) is not None:
        position, mark = match.end(), match[0]
        marks += 1
        if marks % _MARKS_AT_A_TIME == 0:
            time.sleep(REST_S)
        if mark == b'"':
            position = _string_end(data, position)
        elif mark in b"[{":
            depth += 1
        elif mark in b"]}":
            depth -= 1
            if depth < 0:
                return None
        elif depth == 0 and position - start > PIECE_BYTES:
            return _parse(data, b"[", start, position - 1, b"]"), position - 1
        if position - start > ITEM_BYTES + PIECE_BYTES:
            raise _fault(f"an item has more than {ITEM_BYTES} bytes", data, start)
    return None


def _string_end(data: bytes, position: int) -> int:
    """Behind the quotation mark that ends the string whose content begins here; the end of the text if none does."""
    begin = position
    while (quote := data.find(b'"', position)) >= 0:
        before = quote
        while before > begin and data[before - 1] == 0x5C:
            before -= 1
        if (quote - before) % 2 == 0:
            return quote + 1
        begin = position = quote + 1
    return len(data)


def _parse(data: bytes, before: bytes, start: int, end: int, behind: bytes) -> Any:
    try:
        return orjson.loads(before + data[start:end] + behind)
    except orjson.JSONDecodeError as fault:
        place = start + len(fault.doc[: fault.pos].encode("utf-8", "replace")) - len(before)
        raise _fault(fault.msg, data, max(start, place)) from None


def _fault(what: str, data: bytes, place: int) -> JsonFault:
    line = data.count(b"\n", 0, place) + 1
    column = place - (data.rfind(b"\n", 0, place) + 1) + 1
    return JsonFault(f"{what}: line {line} column {column} (byte {place})")
