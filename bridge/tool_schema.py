"""What of JSON Schema a tool may use, and every complaint about one that uses more. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from bridge.wording import cut, shown

MOST_DEPTH = 12
MOST_SCHEMAS = 400
"""Schemas in one tool, nested ones counted."""
MOST_PROPERTIES = 64
MOST_VALUES = 256
"""Values of an `enum`, alternatives of an `anyOf`."""
MOST_LENGTH = 1000
"""The greatest `maxLength`, `minLength`."""
MOST_COUNT = 100
"""The greatest `maxItems`, `minItems`."""
MOST_NUMBER = 10**15 - 1
MOST_TEXT = 1000
"""Characters of one name or value in a schema."""

TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_ANNOTATIONS = {
    *("title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly"),
    *("format", "$comment", "$id", "$schema"),
}
_KEYWORDS = {
    *("type", "properties", "required", "additionalProperties", "items", "minItems", "maxItems"),
    *("minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("enum", "const", "anyOf", "oneOf", "$ref", "$defs", "definitions"),
}
_LIMITS = {"minItems": MOST_COUNT, "maxItems": MOST_COUNT, "minLength": MOST_LENGTH, "maxLength": MOST_LENGTH}
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_RANGES = (
    ((("minItems", 0),), (("maxItems", 0),)),
    ((("minLength", 0),), (("maxLength", 0),)),
    ((("minimum", 0), ("exclusiveMinimum", 1)), (("maximum", 0), ("exclusiveMaximum", -1))),
)
"""Keywords that bound from below and from above, with how far from them the first whole number lies."""

Complaint = tuple[str, str]
"""(path inside the tool, what is wrong and what would be right)."""


def check_tool(raw: Mapping[str, Any]) -> list[Complaint]:
    """All that cannot work in a tool as an author wrote it: {name, description, parameters}."""
    complaints: list[Complaint] = []
    for key in raw:
        if key not in ("name", "description", "parameters"):
            complaints.append((f".{cut(key)}", "a tool has a name, a description and parameters, nothing else"))
    name = raw.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        complaints.append(
            (
                ".name",
                f"{shown(name)} is no name for a tool: letters, digits, _ and - (64 at most, no digit or - first)",
            )
        )
    description = raw.get("description", "")
    if not isinstance(description, str):
        complaints.append((".description", f"a description is a text, not {shown(description)}"))
    parameters = raw.get("parameters", {})
    if not isinstance(parameters, Mapping):
        complaints.append((".parameters", f"parameters are a JSON Schema of the type object, not {shown(parameters)}"))
    elif parameters and parameters.get("type") != "object":
        complaints.append(
            (".parameters.type", f"parameters must be of the type 'object', not {shown(parameters.get('type'))}")
        )
    elif parameters:
        complaints.extend(_Check(parameters).complaints())
    return complaints


def inlined(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """A checked schema without its references: what they stand for is put in their place."""
    if not parameters:
        return {"type": "object", "additionalProperties": False}
    known: dict[str, Any] = {}

    def inline(schema: Any) -> Any:
        if not isinstance(schema, Mapping):
            return schema
        if "$ref" in schema:
            path = schema["$ref"]
            if path not in known:
                known[path] = {}  # for one that contains itself, which no checked schema does
                known[path] = inline(_resolve(parameters, path))
            return known[path]
        copy = {key: value for key, value in schema.items() if key not in ("$defs", "definitions")}
        for key in ("items", "additionalProperties"):
            if key in copy:
                copy[key] = inline(copy[key])
        for key in ("anyOf", "oneOf"):
            if key in copy:
                copy[key] = [inline(one) for one in copy[key]]
        if "properties" in copy:
            copy["properties"] = {name: inline(value) for name, value in copy["properties"].items()}
        return copy

    top: Mapping[str, Any] = inline(parameters)
    if not top.get("properties") and "additionalProperties" not in top:
        return {**top, "additionalProperties": False}
    return top


def is_of(value: object, kind: str) -> bool:
    """Whether a JSON value is of a type of JSON Schema."""
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, float):
        return kind == "number" or (kind == "integer" and value.is_integer())
    if isinstance(value, int):
        return kind in ("integer", "number")
    if value is None:
        return kind == "null"
    if isinstance(value, str):
        return kind == "string"
    return kind == ("object" if isinstance(value, Mapping) else "array" if isinstance(value, (list, tuple)) else "")


def _resolve(root: Mapping[str, Any], path: object) -> Any:
    """What `#/$defs/…` stands for; None where it stands for nothing."""
    found: Any = None
    if isinstance(path, str) and re.match(r"#/(\$defs|definitions)/", path):
        found = root
        for part in path.split("/")[1:]:
            if not isinstance(found, Mapping):
                return None
            found = found.get(part.replace("~1", "/").replace("~0", "~"))
    return found


class _Check:
    """One walk over the parameters of a tool."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._schemas = 0
        self._checked: set[str] = set()
        self._inside: list[str] = []

    def complaints(self) -> Iterator[Complaint]:
        try:
            yield from self._schema(self._root, ".parameters", 0)
        except OverflowError as fault:
            yield ".parameters", str(fault)

    def _schema(self, schema: Any, path: str, depth: int) -> Iterator[Complaint]:
        self._schemas += 1
        if self._schemas > MOST_SCHEMAS or depth > MOST_DEPTH:
            raise OverflowError(
                f"the schema is too large: at most {MOST_SCHEMAS} schemas, {MOST_DEPTH} levels deep; make it simpler"
            )
        if isinstance(schema, bool):
            if not schema:
                yield path, "a schema that allows nothing cannot be met"
            return
        if not isinstance(schema, Mapping):
            yield path, f"a schema is an object, not {shown(schema)}"
            return
        for key in schema:
            if key not in _KEYWORDS and key not in _ANNOTATIONS:
                yield f"{path}.{cut(key)}", "no grammar can keep to this keyword; leave it out"
        forms = [key for key in ("$ref", "const", "enum", "anyOf", "oneOf") if key in schema]
        kinds = schema.get("type")
        rules = [key for key in schema if key in _KEYWORDS and key not in ("type", "$defs", "definitions", *forms)]
        if len(forms) > 1 or (forms and forms[0] not in ("enum", "const") and (rules or kinds is not None)):
            yield path, f"{forms[0]} stands alone; move what is beside it into what it names"
        elif forms and rules:
            yield f"{path}.{rules[0]}", f"has no use beside {forms[0]}; leave it out"
        if kinds is not None:
            yield from self._types(kinds, path)
        elif rules and not forms:
            yield f"{path}.type", "is missing; say what type this is"
        for key, value in schema.items():
            yield from self._keyword(key, value, schema, f"{path}.{cut(key)}", depth)
        yield from _ranges(schema, path)

    def _types(self, kinds: Any, path: str) -> Iterator[Complaint]:
        listed = kinds if isinstance(kinds, (list, tuple)) else [kinds]
        for kind in listed:
            if not isinstance(kind, str) or kind not in TYPES:
                yield f"{path}.type", f"{shown(kind)} is no type; known: {', '.join(TYPES)}"
        if not listed:
            yield f"{path}.type", "names no type"

    def _keyword(self, key: str, value: Any, schema: Mapping[str, Any], path: str, depth: int) -> Iterator[Complaint]:
        if key == "$ref":
            yield from self._reference(value, path, depth)
        elif key in ("enum", "const"):
            yield from _values([value] if key == "const" else value, schema.get("type"), path)
        elif key in ("anyOf", "oneOf"):
            if not isinstance(value, (list, tuple)) or not 0 < len(value) <= MOST_VALUES:
                yield path, f"is a list of 1 to {MOST_VALUES} schemas"
                return
            for index, one in enumerate(value):
                yield from self._schema(one, f"{path}[{index}]", depth + 1)
        elif key == "items" or (key == "additionalProperties" and value is not False):
            yield from self._schema(value, path, depth + 1)
        elif key == "properties":
            yield from self._properties(value, path, depth)
        elif key == "required":
            yield from _required(value, schema, path)
        elif key in _LIMITS:
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LIMITS[key]:
                yield path, f"is a whole number from 0 to {_LIMITS[key]}, not {shown(value)}"
        elif key in _NUMBERS:
            if not is_of(value, "integer") or not -MOST_NUMBER < value < MOST_NUMBER:
                yield path, f"is a whole number of at most 15 digits, not {shown(value)}"
            elif key.startswith("exclusive") and "number" in _listed(schema.get("type")):
                yield path, "works for the type integer only; use minimum or maximum"

    def _reference(self, path_of_it: Any, path: str, depth: int) -> Iterator[Complaint]:
        target = _resolve(self._root, path_of_it)
        if target is None:
            yield path, f"{shown(path_of_it)} leads nowhere; '#/$defs/<name>' works"
        elif path_of_it in self._inside:
            yield path, f"{shown(path_of_it)} contains itself; a schema must end somewhere"
        elif path_of_it not in self._checked:
            self._inside.append(path_of_it)
            yield from self._schema(target, path, depth + 1)
            self._inside.pop()
            self._checked.add(path_of_it)

    def _properties(self, value: Any, path: str, depth: int) -> Iterator[Complaint]:
        if not isinstance(value, Mapping):
            yield path, f"is an object, not {shown(value)}"
            return
        if len(value) > MOST_PROPERTIES:
            yield path, f"has {len(value)} properties; at most {MOST_PROPERTIES} are possible"
        for name, one in value.items():
            inside = f"{path}.{cut(name)}"
            if not _is_plain(name):
                yield inside, f"is no usable name: at most {MOST_TEXT} characters, all of them valid"
            yield from self._schema(one, inside, depth + 1)


def _required(value: Any, schema: Mapping[str, Any], path: str) -> Iterator[Complaint]:
    if not isinstance(value, (list, tuple)):
        yield path, f"is a list of names, not {shown(value)}"
        return
    properties = schema.get("properties")
    for index, name in enumerate(value):
        if not isinstance(name, str) or not isinstance(properties, Mapping) or name not in properties:
            yield f"{path}[{index}]", f"{shown(name)} is no property of this object"


def _values(value: Any, kinds: Any, path: str) -> Iterator[Complaint]:
    if not isinstance(value, (list, tuple)) or not 0 < len(value) <= MOST_VALUES:
        yield path, f"is a list of 1 to {MOST_VALUES} values"
        return
    listed = _listed(kinds)
    for index, one in enumerate(value):
        inside = f"{path}[{index}]"
        if listed and not any(is_of(one, kind) for kind in listed):
            yield inside, f"{shown(one)} is not of the type {' or '.join(listed)}"
        if not _is_plain(one):
            yield inside, f"is no usable value: at most {MOST_TEXT} characters of JSON, all of them valid"


def _ranges(schema: Mapping[str, Any], path: str) -> Iterator[Complaint]:
    for ends in _RANGES:
        low, high = ([schema[key] + step for key, step in keys if is_of(schema.get(key), "integer")] for keys in ends)
        if low and high and max(low) > min(high):
            names = " and ".join(key for keys in ends for key, _ in keys if key in schema)
            yield path, f"nothing lies between {names}"


def _listed(kinds: Any) -> list[str]:
    return [kind for kind in (kinds if isinstance(kinds, (list, tuple)) else [kinds]) if isinstance(kind, str)]


def _is_plain(value: Any) -> bool:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError, RecursionError):
        return False
    return len(text) <= MOST_TEXT
