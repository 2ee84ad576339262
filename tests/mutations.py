"""JSON values and bytes with something changed in them, for hypothesis."""

from __future__ import annotations

import copy
import json
from typing import Any

import orjson
from hypothesis import strategies as st

ODD: list[Any] = [
    None, True, False, 0, 1, -1, 3, 2**31, 2**63 - 1, 2**64 - 1, -(2**63), 0.5, -0.0, 1e308, 1e-320, "", " ", "a",
    "None", "\0", "\u202e", "龙", "\U0001f409", "x" * 300, "a\nb", "../x", "/etc/passwd", "C:\\x", "{{", "{{#a}}{{/b}}",
    "{{{x}}}", "(", "(a+)+$", "[", "$.x", "lore.json", "user_message", [], {},
    [[]], [{}], {"": None}, {"a": [1]}, [1, "a", None],
    ["x"] * 60, {"op": "and", "args": []}, {"op": "not", "arg": {"op": "not"}},
]  # fmt: skip


@st.composite
def changed(draw: st.DrawFn, whole: Any, most: int = 4) -> Any:
    """The value with one to `most` places in it replaced, removed, doubled, filled from another place, or added."""
    value = copy.deepcopy(whole)
    for _ in range(draw(st.integers(1, most))):
        value = _edit(draw, value, whole)
    return value


def _edit(draw: st.DrawFn, value: Any, whole: Any) -> Any:
    if isinstance(value, dict) and value and draw(st.integers(0, 9)):
        key = draw(st.sampled_from(sorted(value)))
        how = draw(st.integers(0, 9))
        if how == 0:
            return {name: item for name, item in value.items() if name != key}
        if how == 1:
            return {**value, draw(st.sampled_from(["", "name", "type", "龙", "x" * 200, *sorted(value)])): value[key]}
        return {**value, key: _edit(draw, value[key], whole)}
    if isinstance(value, list) and value and draw(st.integers(0, 9)):
        at = draw(st.integers(0, len(value) - 1))
        how = draw(st.integers(0, 9))
        if how == 0:
            return value[:at] + value[at + 1 :]
        if how == 1:
            return [*value, value[at]]
        if how == 2:
            return [*value[at:], *value[:at]]
        return [*value[:at], _edit(draw, value[at], whole), *value[at + 1 :]]
    if draw(st.integers(0, 3)) == 0:
        return _some_part(draw, whole)
    if isinstance(value, str) and draw(st.booleans()):
        at = draw(st.integers(0, len(value)))
        return value[:at] + draw(st.sampled_from(["{", "}}", "\0", "\n", " ", "/", "龙", ".", ""])) + value[at + 1 :]
    if isinstance(value, int) and not isinstance(value, bool) and draw(st.booleans()):
        return value + draw(st.sampled_from([-1, 1, 1000, -1000]))
    return copy.deepcopy(draw(st.sampled_from(ODD)))


def _some_part(draw: st.DrawFn, whole: Any) -> Any:
    part = whole
    while isinstance(part, dict | list) and part and draw(st.integers(0, 3)):
        part = draw(st.sampled_from([part[key] for key in sorted(part)] if isinstance(part, dict) else part))
    return copy.deepcopy(part)


@st.composite
def damaged(draw: st.DrawFn, whole: bytes, *, most: int = 6) -> bytes:
    """The bytes with some of them flipped, cut out, put in or filled with a huge number."""
    data = bytearray(whole)
    for _ in range(draw(st.integers(1, most))):
        at = draw(st.integers(0, len(data)))
        how = draw(st.integers(0, 5))
        if how == 0 and at < len(data):
            data[at] = draw(st.integers(0, 255))
        elif how == 1:
            del data[at : at + draw(st.integers(1, 40))]
        elif how == 2:
            data[at:at] = draw(st.binary(min_size=1, max_size=12))
        elif how == 3:
            number = draw(st.sampled_from([0, 1, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - 1]))
            data[at : at + 8] = number.to_bytes(8, "little")
        elif how == 4:
            other = draw(st.integers(0, len(data)))
            data[at:at] = data[other : other + draw(st.integers(1, 60))]
        else:
            del data[at:]
    return bytes(data)


@st.composite
def written(draw: st.DrawFn, whole: Any) -> bytes:
    """A JSON file of a changed value; sometimes its bytes are damaged, too."""
    data = json.dumps(draw(changed(whole)), ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
    return draw(damaged(data)) if draw(st.integers(0, 3)) == 0 else data


def off_the_wire(value: Any) -> Any:
    """The value as it is read from a message or a file."""
    return orjson.loads(json.dumps(value))
