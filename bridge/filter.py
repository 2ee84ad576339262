"""Filters over knowledge: what a filter may say, checked once against schema and variables; pure."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from bridge.errors import InvalidValue
from bridge.variables import Declared, Value
from bridge.wording import cut, json_path, shown, suggest

FieldType = Literal["int", "float", "string", "bool", "set<string>"]

MAX_DEPTH = 16
MAX_NODES = 256


@dataclass(frozen=True, slots=True)
class Field:
    """One metadata field of an embedded storage."""

    name: str
    type: FieldType
    optional: bool = False
    """A record may leave it out, and is then without it."""
    default: Value | None = None
    """What a record has that leaves it out."""
    filterable: bool = True


Schema = Mapping[str, Field]
Metadata: TypeAlias = "Mapping[str, Value]"
"""A record's fields by name; an absent optional field is not in it."""

Test = Callable[[Metadata], bool]
_Holds = Callable[[Any, Any], bool]
_Kind = Literal["number", "string", "bool", "set"]
_Path = tuple["int | str", ...]

_KIND_OF: dict[str, _Kind] = {
    "int": "number",
    "float": "number",
    "string": "string",
    "bool": "bool",
    "set<string>": "set",
    "string_set": "set",
}
_WORDS: dict[_Kind, str] = {
    "number": "a number",
    "string": "a string",
    "bool": "a boolean",
    "set": "a set of strings",
}
_HOLDS: dict[str, _Holds] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "in": lambda needle, haystack: needle in haystack,
}
_KEYS: dict[str, tuple[str, ...]] = {
    "and": ("args",),
    "or": ("args",),
    "not": ("arg",),
    **dict.fromkeys(_HOLDS, ("lhs", "rhs")),
    "in": ("needle", "haystack"),
}
_MEANINGS: dict[str, str] = {
    "and": "all of `args` are; there is at least one",
    "or": "one of `args` is; there is at least one",
    "not": "`arg` is not",
    "eq": "both are the same: numbers, strings, booleans or sets",
    "ne": "both are of one kind and not the same",
    "lt": "the number `lhs` is less than the number `rhs`",
    "le": "the number `lhs` is at most the number `rhs`",
    "gt": "the number `lhs` is more than the number `rhs`",
    "ge": "the number `lhs` is at least the number `rhs`",
    "in": "the string `needle` is in the set `haystack`",
}
_OPERANDS = '{"knowledge": field}, {"agent": variable} or {"value": x}'


@dataclass(frozen=True, slots=True)
class Filter:
    """A compiled filter. Two that say the same are equal. Threading: safe from any thread."""

    variables: frozenset[str]
    """The names of the variables that it reads."""
    size: int
    """How many operations it has."""
    _root: _Operation

    def bind(self, variables: Mapping[str, Value]) -> Test:
        """The test of one record for these values; a variable that is not among them has its declared value."""
        return self._root.bind(variables)

    def matches(self, record: Metadata, variables: Mapping[str, Value]) -> bool:
        """Whether one record passes."""
        return self._root.bind(variables)(record)


def compile_filter(raw: object, schema: Schema, declared: Declared) -> Filter | None:
    """The filter that decoded JSON says; None for none (null or an empty object).

    Raises InvalidValue whose `path` is the place inside the filter, such as `$.args[1].rhs`.
    """
    if raw is None or raw == {}:
        return None
    compiler = _Compiler(schema, declared)
    root = compiler.node(raw, (), 1)
    return Filter(frozenset(compiler.variables), compiler.nodes, root)


def variables_in(raw: object) -> set[str]:
    """The variables that decoded JSON names where it is read as a filter, sound or not."""
    found: set[str] = set()
    waiting = [raw]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            found |= {name for name in (part.get("agent"),) if isinstance(name, str)}
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return found


def operators() -> list[tuple[str, tuple[str, ...], str]]:
    """Every operation with its keys and what makes it true, for the reference."""
    return [(op, keys, _MEANINGS[op]) for op, keys in _KEYS.items()]


class _Operation(Protocol):
    def bind(self, variables: Mapping[str, Value]) -> Test: ...


@dataclass(frozen=True, slots=True)
class _Not:
    inner: _Operation

    def bind(self, variables: Mapping[str, Value]) -> Test:
        test = self.inner.bind(variables)
        return lambda record: not test(record)


@dataclass(frozen=True, slots=True)
class _Junction:
    parts: tuple[_Operation, ...]
    stop_at: bool
    """`and` stops at the first False, `or` at the first True."""

    def bind(self, variables: Mapping[str, Value]) -> Test:
        tests = [part.bind(variables) for part in self.parts]
        stop_at = self.stop_at

        def test(record: Metadata) -> bool:
            for one in tests:
                if one(record) is stop_at:
                    return stop_at
            return not stop_at

        return test


@dataclass(frozen=True, slots=True)
class _Operand:
    kind: _Kind
    field: str = ""
    """The metadata field that is read; empty where the value does not hang on the record."""
    variable: str = ""
    constant: Value | None = None
    """The value itself, or the declared one of the variable."""

    def value(self, variables: Mapping[str, Value]) -> Value | None:
        return variables.get(self.variable, self.constant) if self.variable else self.constant


@dataclass(frozen=True, slots=True)
class _Comparison:
    op: str
    left: _Operand
    right: _Operand

    def bind(self, variables: Mapping[str, Value]) -> Test:
        holds = _HOLDS[self.op]
        left, right = self.left, self.right
        fixed_left, fixed_right = left.value(variables), right.value(variables)
        if left.field and right.field:

            def both(record: Metadata) -> bool:
                a, b = record.get(left.field), record.get(right.field)
                return a is not None and b is not None and holds(a, b)

            return both
        if left.field:

            def first(record: Metadata) -> bool:
                a = record.get(left.field)
                return a is not None and holds(a, fixed_right)

            return first
        if right.field:

            def second(record: Metadata) -> bool:
                b = record.get(right.field)
                return b is not None and holds(fixed_left, b)

            return second
        outcome = holds(fixed_left, fixed_right)
        return lambda record: outcome


class _Compiler:
    def __init__(self, schema: Schema, declared: Declared) -> None:
        self.variables: set[str] = set()
        self._schema = schema
        self._declared = declared
        self.nodes = 0

    def node(self, raw: object, path: _Path, depth: int) -> _Operation:
        if not isinstance(raw, dict):
            raise _refused(path, f"{shown(raw)} must be an object with an `op`")
        self.nodes += 1
        if depth > MAX_DEPTH:
            raise _refused(path, f"the filter is deeper than {MAX_DEPTH} operations")
        if self.nodes > MAX_NODES:
            raise _refused(path, f"the filter has more than {MAX_NODES} operations")
        op = raw.get("op")
        if not isinstance(op, str) or op not in _KEYS:
            raise _refused((*path, "op"), f"{_said(raw, 'op')}; {suggest(op, _KEYS)}")
        for key in raw:
            if key != "op" and key not in _KEYS[op]:
                raise _refused((*path, cut(key)), f"'{op}' knows no key {shown(key)}; it has {_listed(op)}")
        for key in _KEYS[op]:
            if key not in raw:
                raise _refused((*path, key), f"'{op}' needs {_listed(op)}")
        if op == "not":
            return _Not(self.node(raw["arg"], (*path, "arg"), depth + 1))
        if op in ("and", "or"):
            return self._junction(op, raw["args"], (*path, "args"), depth)
        if op == "in":
            return self._membership(raw, path)
        return self._comparison(op, raw, path)

    def _junction(self, op: str, args: object, path: _Path, depth: int) -> _Operation:
        if not isinstance(args, list) or not args:
            raise _refused(path, f"`args` of '{op}' must be a list of at least one operation")
        parts = tuple(self.node(arg, (*path, index), depth + 1) for index, arg in enumerate(args))
        return _Junction(parts, stop_at=op == "or")

    def _comparison(self, op: str, raw: Mapping[str, object], path: _Path) -> _Operation:
        left = self._operand(raw["lhs"], (*path, "lhs"))
        right = self._operand(raw["rhs"], (*path, "rhs"))
        if op not in ("eq", "ne"):
            for side, operand in (("lhs", left), ("rhs", right)):
                if operand.kind != "number":
                    raise _refused((*path, side), f"'{op}' compares numbers; this is {_WORDS[operand.kind]}")
        elif left.kind != right.kind:
            raise _refused(
                (*path, "rhs"), f"'{op}' compares two of a kind, not {_WORDS[left.kind]} with {_WORDS[right.kind]}"
            )
        return _Comparison(op, left, right)

    def _membership(self, raw: Mapping[str, object], path: _Path) -> _Operation:
        needle = self._operand(raw["needle"], (*path, "needle"))
        if needle.kind != "string":
            raise _refused((*path, "needle"), f"a needle must be a string; this is {_WORDS[needle.kind]}")
        haystack = self._operand(raw["haystack"], (*path, "haystack"), haystack=True)
        if haystack.kind != "set":
            raise _refused(
                (*path, "haystack"), f"a haystack must be a set or an array of strings; this is {_WORDS[haystack.kind]}"
            )
        return _Comparison("in", needle, haystack)

    def _operand(self, raw: object, path: _Path, *, haystack: bool = False) -> _Operand:
        if not isinstance(raw, dict) or len(raw) != 1:
            raise _refused(path, f"{shown(raw)} must be {_OPERANDS}")
        ((source, what),) = raw.items()
        if source == "knowledge":
            return self._field(what, (*path, "knowledge"))
        if source == "agent":
            return self._variable(what, (*path, "agent"))
        if source == "value":
            return _constant(what, (*path, "value"), haystack)
        raise _refused((*path, cut(source)), f"an operand knows no key {shown(source)}; it is {_OPERANDS}")

    def _field(self, name: object, path: _Path) -> _Operand:
        field = self._schema.get(name) if isinstance(name, str) else None
        if field is None:
            raise _refused(path, f"the storage has no field {shown(name)}; {suggest(name, self._schema)}")
        if not field.filterable:
            raise _refused(path, f"field '{field.name}' is not filterable; set `filterable` in the storage's config")
        return _Operand(_KIND_OF[field.type], field=field.name)

    def _variable(self, name: object, path: _Path) -> _Operand:
        found = self._declared.get(name) if isinstance(name, str) else None
        if found is None or not isinstance(name, str):
            raise _refused(path, f"there is no variable {shown(name)}; {suggest(name, self._declared)}")
        self.variables.add(name)
        return _Operand(_KIND_OF[found[0]], variable=name, constant=found[1])


def _constant(value: object, path: _Path, haystack: bool) -> _Operand:
    if isinstance(value, bool):
        return _Operand("bool", constant=value)
    if isinstance(value, int):
        return _Operand("number", constant=value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _refused(path, "a number must be finite")
        return _Operand("number", constant=value)
    if isinstance(value, str):
        return _Operand("string", constant=value)
    if isinstance(value, list):
        if not haystack:
            raise _refused(path, "an array stands only as a haystack")
        for index, item in enumerate(value):
            if not isinstance(item, str):
                raise _refused((*path, index), f"{shown(item)} must be a string, as all of a haystack")
        return _Operand("set", constant=frozenset(value))
    raise _refused(path, f"{shown(value)} must be a string, a number or a boolean")


def _refused(path: _Path, message: str) -> InvalidValue:
    where = json_path(path)
    return InvalidValue(f"filter, {where}: {message}", path=where)


def _said(raw: Mapping[object, object], key: str) -> str:
    return f"{shown(raw[key])} is no operation" if key in raw else f"`{key}` is missing"


def _listed(op: str) -> str:
    return " and ".join(f"`{key}`" for key in _KEYS[op])
