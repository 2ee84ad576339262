"""How values from outside are shown in messages: short, and in JSON's words."""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Iterable, Mapping
from typing import Any


def cut(value: object) -> str:
    """At most 200 characters of a value."""
    try:
        text = value if isinstance(value, str) else str(value)
    except ValueError:  # an int of thousands of digits
        text = "a very large number"
    return text if len(text) <= 200 else text[:199] + "…"


def shown(value: object) -> str:
    """A value in a few words: texts in quotes, containers by their kind."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return f"'{cut(value)}'"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "a list"
    return cut(value)


def without_surrogates(value: Any) -> Any:
    """A value as UTF-8 can have it: each lone surrogate in its texts becomes U+FFFD."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_surrogates(item) for item in value]
    return value


def words_of(fault: BaseException) -> str:
    """An exception of unknown make in one short line."""
    try:
        text = str(fault)
    except Exception:  # even this may fail: `__str__` is the raiser's own code
        text = "(it does not say more)"
    return cut(f"{type(fault).__name__}: {text}" if text else type(fault).__name__)


_SPEAK_OF_CODE = (AttributeError, ImportError, MemoryError, NameError, NotImplementedError, OSError, TypeError)
"""Exceptions whose messages are about code and machine, not about the values that it was working on."""


def traceback_of(fault: BaseException) -> str:
    """A traceback for a log: where, and what kind; messages only where they do not quote what a player said."""
    told: list[str] = []
    seen: set[int] = set()
    link = ""
    current: BaseException | None = fault
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        text = words_of(current) if isinstance(current, _SPEAK_OF_CODE) else type(current).__name__
        stack = "".join(traceback.format_tb(current.__traceback__))
        told.append(f"Traceback (most recent call last):\n{stack}{text}{link}")
        link = "\n\nand from this came:\n\n"
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "".join(reversed(told))


def suggest(name: object, known: Iterable[str]) -> str:
    """What somebody may have meant who wrote a name that is none: the one that is close, else all there are."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1) if isinstance(name, str) else []
    if not close:  # letters of another case are as good as none to difflib
        close = [other for other in names if other.casefold() == str(name).casefold()][:1]
    return f"did you mean '{cut(close[0])}'?" if close else f"known: {cut(', '.join(names) or 'none')}"


def fault_words(item: Mapping[str, Any], model: type | None = None) -> str:
    """What is wrong with one value that pydantic refused; no word of the classes behind it.

    `model` is what the whole value was to become: its fields are suggested in place of an unknown one.
    """
    kind, value, said = str(item["type"]), item.get("input"), str(item["msg"])
    if kind == "extra_forbidden":
        name = str(item["loc"][-1])
        known = _fields_at(model, item["loc"][:-1])
        return f"unknown field '{cut(name)}'" + (f"; {suggest(name, known)}" if known else "")
    if kind == "missing":
        return "it is needed, and missing"
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return f"it must be an object, not {shown(value)}"
    if kind in ("value_error", "assertion_error"):
        return said.partition(", ")[2] or said
    return f"{said.replace('Input', 'it')}, not {shown(value)}"


def _fields_at(model: Any, location: Iterable[int | str]) -> list[str]:
    """The fields that an object inside a model may have."""
    for part in location:
        if isinstance(part, str):
            info = getattr(model, "model_fields", {}).get(part)
            model = None if info is None else _model_in(info.annotation)
    return list(getattr(model, "model_fields", {}))


def _model_in(annotation: Any) -> Any:
    if hasattr(annotation, "model_fields"):
        return annotation
    return next(filter(None, map(_model_in, getattr(annotation, "__args__", ()))), None)


def json_path(location: Iterable[int | str]) -> str:
    """Where in a JSON document something is, such as `$.nodes[2].template`."""
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{cut(part)}" for part in location)
