"""How values from outside are shown in messages: short, and in JSON's words."""

from __future__ import annotations

from collections.abc import Mapping


def cut(value: object) -> str:
    """At most 80 characters of a value."""
    text = str(value)
    return text if len(text) <= 80 else text[:77] + "…"


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
