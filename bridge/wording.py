"""How values from outside are shown in messages: short, and in JSON's words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


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


def words_of(fault: BaseException) -> str:
    """An exception of unknown make in one short line."""
    try:
        text = str(fault)
    except Exception:  # even this may fail: `__str__` is the raiser's own code
        text = "(it does not say more)"
    return cut(f"{type(fault).__name__}: {text}" if text else type(fault).__name__)


def json_path(location: Iterable[int | str]) -> str:
    """Where in a JSON document something is, such as `$.nodes[2].template`."""
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{cut(part)}" for part in location)
