"""JSON in the midst of other text, also where it is only nearly JSON, at a cost that the text's length bounds. Pure."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Literal

MOST_REPAIRED = 3000
"""Characters of near-JSON that are repaired at once; what repairing takes grows with their square."""

MOST_REPAIRS = 6000
"""Characters that are repaired in one reply, each repair counting as 200 more."""

MOST_BROKEN = 100
"""Pieces of broken JSON after which a reply is no longer searched for any."""

MOST_DEPTH = 40
"""Levels of lists and objects."""

MOST_UNCLOSED = 4
"""Braces without an end that are looked at in one reply: each look reads to the end of it."""

_SIGNS = re.compile(r"[\"'\\{}\[\]]")
_DECODER = json.JSONDecoder()

Fault = Literal["was cut short", "is beyond repair", "is nested too deep"]


@dataclass(frozen=True, slots=True)
class JsonPiece:
    """What was found behind a bracket."""

    value: Any
    end: int
    """Where it ends in the text."""
    broken: Fault | Literal[""] = ""
    """Why there is no value."""
    unclosed: bool = False
    """The text ended before it did."""
    torn: bool = False
    """It ended within a value: what there is of that is not what was meant."""


class JsonReader:
    """Reads the JSON of one text, from left to right; what it costs to mend is bounded for the whole text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._repaired = 0
        self._unclosed = 0
        self._broken = 0

    @property
    def weary(self) -> bool:
        """So many brackets had no end that no more are worth a look."""
        return self._unclosed >= MOST_UNCLOSED

    def read(self, start: int, border: int) -> JsonPiece:
        """The JSON, or nearly JSON, that begins with the bracket at `start`; near-JSON ends at `border` at last."""
        if self._broken < MOST_BROKEN:
            try:
                value, end = _DECODER.raw_decode(self._text, start)
            except (ValueError, RecursionError):
                self._broken += 1
            else:
                return JsonPiece(value, end)
        end, deep = _close(self._text, start, border)
        unclosed = end < 0
        if unclosed:
            self._unclosed += 1
            end = border
        if deep:
            return JsonPiece(None, end, broken="is nested too deep")
        if unclosed and border < len(self._text):
            unclosed = False  # something follows: it is broken, not cut short
        value = self._repair(self._text[start:end])
        if not isinstance(value, (dict, list)) or not value:
            return JsonPiece(None, end, broken="was cut short" if unclosed else "is beyond repair", unclosed=unclosed)
        return JsonPiece(value, end, unclosed=unclosed, torn=unclosed and _is_torn(self._text[start:end]))

    def inside(self, text: str) -> Any:
        """An object that was written as JSON inside a text; the text itself where it is none."""
        if not text.strip():
            return {}
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            pass
        if not text.lstrip().startswith("{"):
            return text
        repaired = self._repair(text)
        return repaired if isinstance(repaired, dict) else text

    def _repair(self, text: str) -> Any:
        self._repaired += len(text) + 200
        if len(text) > MOST_REPAIRED or self._repaired > MOST_REPAIRS:
            return None
        from json_repair import repair_json

        try:
            return repair_json(text, return_objects=True, skip_json_loads=True)
        except Exception:  # a library that guesses; whatever it trips over is no call
            return None


def portable(value: Any, depth: int = 0) -> Any:
    """The value as any JSON can carry it: whole characters, 64 bits. Raises ValueError with the reason."""
    if depth > MOST_DEPTH:
        raise ValueError("they are nested too deep")
    if isinstance(value, dict):
        return {portable(str(key), depth): portable(one, depth + 1) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [portable(one, depth + 1) for one in value]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode() if not value.isascii() else value
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number is not finite")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("a number is too large")
    if isinstance(value, (int, float)):
        return value
    raise ValueError(f"{type(value).__name__} is no JSON")


_WHOLE_WORD = re.compile(r"(?:true|false|null|True|False|None)\Z")


def _is_torn(text: str) -> bool:
    """Whether a JSON text that was cut off ends within a value, so that its last value may be half of one."""
    inside: list[str] = []
    quote = ""
    before = text_before = ""  # the last sign of structure, and the one before the last text
    escaped = False
    for sign in text:
        if quote:
            if escaped:
                escaped = False
            elif sign == "\\":
                escaped = True
            elif sign == quote:
                quote = ""
        elif sign == '"' or (sign == "'" and before != ""):
            quote, text_before = sign, before
            before = ""
        elif sign in "{[":
            inside.append(sign)
            before = sign
        elif sign in "}]":
            if inside:
                inside.pop()
            before = ""
        elif sign in ",:":
            before = sign
    last = text.rstrip()[-1:]
    if quote or not last:
        return True
    if last in "}],":
        return False
    if last in "\"'":
        in_list = inside[-1:] == ["["]
        return not (text_before == ":" or (in_list and text_before in ("[", ",")))
    return _WHOLE_WORD.search(text.rstrip()) is None


def _close(text: str, start: int, border: int) -> tuple[int, bool]:
    """Where the bracket at `start` is closed (-1: not before `border`), and whether it nests too deep.

    In near-JSON a single quote may also be an apostrophe: it opens and closes a text only where JSON would have one.
    """
    depth = 0
    quote = ""
    skip = -1
    deep = False
    for found in _SIGNS.finditer(text, start, border):
        at, sign = found.start(), found[0]
        if at == skip:
            continue
        if sign == "\\":
            skip = at + 1
        elif quote:
            if sign == quote and (quote == '"' or _next_sign(text, at + 1) in ",:}]"):
                quote = ""
        elif sign == '"' or (sign == "'" and _last_sign(text, at) in "{[,:"):
            quote = sign
        elif sign in "{[":
            depth += 1
            deep = deep or depth > MOST_DEPTH
        elif sign in "}]":
            depth -= 1
            if depth == 0:
                return at + 1, deep
    return -1, deep


def _next_sign(text: str, at: int) -> str:
    return text[at : at + 40].lstrip()[:1] or "}"


def _last_sign(text: str, at: int) -> str:
    return text[max(at - 40, 0) : at].rstrip()[-1:]
