"""Grammars in llama.cpp's notation: from a JSON Schema and its wrappings to GBNF. Pure.

What is generated keeps to the schema and to bounds of its own, which end the loops that small models fall into: texts
of 500 characters, 32 items, 15 digits. Properties come in the schema's order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from bridge.engine import Grammar

MOST_CHARACTERS = 500
"""Of a text, where its schema allows no fewer and asks for no more."""

MOST_ITEMS = 32
"""Of a list or a map, likewise."""

MOST_DIGITS = 15
"""Of a number before its point; so many a double tells apart."""

FREE_DEPTH = 3
"""Levels of lists and objects in a value that has no schema."""

_SHARED = {
    "ws": r'| " " | "\n" [ \t]{0,12}',
    "hex": "[0-9a-fA-F]",
    # No half of a surrogate pair: JSON has it, UTF-8 has not.
    "char": r'[^"\\\x00-\x1f\x7f] | "\\" (["\\/bfnrt] | "u" ([0-9abcefABCEF] hex hex hex | [dD] [0-7] hex hex))',
    "string": rf'"\"" char{{0,{MOST_CHARACTERS}}} "\""',
    "natural": f'"0" | [1-9] [0-9]{{0,{MOST_DIGITS - 1}}}',
    "integer": '"-"? natural',
    "fraction": f'"." [0-9]{{1,{MOST_DIGITS}}}',
    "number": '"-"? natural fraction?',
    "boolean": '"true" | "false"',
    "null": '"null"',
    "free0": "string | number | boolean | null",
    **{
        f"free{depth}": (
            f'free{depth - 1} | "[" ws (free{depth - 1} (ws "," ws free{depth - 1}){{0,{MOST_ITEMS - 1}}} ws)? "]" | '
            f'"{{" ws (pair{depth} (ws "," ws pair{depth}){{0,{MOST_ITEMS - 1}}} ws)? "}}"'
        )
        for depth in range(1, FREE_DEPTH + 1)
    },
    **{f"pair{depth}": f'string ws ":" ws free{depth - 1}' for depth in range(1, FREE_DEPTH + 1)},
}


def gbnf(grammar: Grammar, before: str = "") -> str:
    """The grammar; `before` is text that the reply has already, right before the first wrapping."""
    rules = _Rules(one_line=grammar.one_line)
    value = rules.value(grammar.schema)
    ways = []
    for wrapping in grammar.wrappings:
        opening = f"{literal(wrapping.opening)} ws " if wrapping.opening else ""
        closing = f" ws {literal(wrapping.closing)}" if wrapping.closing else ""
        way = rules.add(f"{opening}{value}{closing}")
        # Nothing else divides two values that have no wrapping.
        between = "ws" if wrapping.closing else '" "' if grammar.one_line else r'"\n" ws'
        ways.append(f"{way} ({between} {way}){{0,{grammar.most - 1}}}" if grammar.most > 1 else way)
    return rules.text(f"{literal(before)} ({' | '.join(ways)})" if before else " | ".join(ways))


def literal(text: str) -> str:
    """A text in GBNF."""
    return '"' + "".join(_ESCAPES.get(ch, ch) for ch in text) + '"'


_ESCAPES = {
    **{chr(code): f"\\x{code:02x}" for code in (*range(32), 127)},
    **{"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"},
}


class _Rules:
    """The rules of one grammar as they come up; every schema becomes the name of a rule."""

    def __init__(self, *, one_line: bool) -> None:
        self._one_line = one_line
        self._rules: dict[str, str] = {}
        self._known: dict[int, str] = {}  # by identity: a schema may stand in many places

    def add(self, body: str) -> str:
        name = f"r{len(self._rules)}"
        self._rules[name] = body
        return name

    def text(self, root: str) -> str:
        rules = {"root": root, **self._rules, **_SHARED}
        if self._one_line:
            rules["ws"] = '| " "'
        return "".join(f"{name} ::= {body}\n" for name, body in rules.items())

    def value(self, schema: Any) -> str:
        if schema is True or not schema:
            return f"free{FREE_DEPTH}"
        if id(schema) not in self._known:
            self._known[id(schema)] = self._value(schema)
        return self._known[id(schema)]

    def _value(self, schema: Mapping[str, Any]) -> str:
        if "const" in schema:
            return self.add(_json(schema["const"]))
        kinds = schema.get("type", ())
        if "enum" in schema:
            return self.add(" | ".join(map(_json, schema["enum"])))
        if among := schema.get("anyOf") or schema.get("oneOf"):
            return self.add(" | ".join([self.value(one) for one in among]))
        if not isinstance(kinds, str):
            return self.add(" | ".join([self._typed(kind, schema) for kind in kinds]))
        return self._typed(kinds, schema)

    def _typed(self, kind: str, schema: Mapping[str, Any]) -> str:
        if kind == "object":
            return self._object(schema)
        if kind == "array":
            items = schema.get("items", {})
            return self._list(self.value(items), "[]", schema.get("minItems", 0), schema.get("maxItems"))
        if kind == "string":
            least, most = schema.get("minLength", 0), schema.get("maxLength")
            if not least and most is None:
                return "string"
            most = max(least, MOST_CHARACTERS) if most is None else most
            return self.add(rf'"\"" char{{{least},{most}}} "\""')
        if kind in ("integer", "number"):
            low, high = _bounds(schema, kind)
            if low is None and high is None:
                return kind
            return self.add(" | ".join(_between(low, high, fractions=kind == "number")))
        return kind

    def _list(self, item: str, brackets: str, least: int, most: int | None) -> str:
        opening, closing = map(literal, brackets)
        most = max(least, MOST_ITEMS) if most is None else most
        if most == 0:
            return self.add(f"{opening} ws {closing}")
        several = f'{item} (ws "," ws {item}){{{max(least - 1, 0)},{most - 1}}} ws'
        return self.add(f"{opening} ws {several if least else f'({several})?'} {closing}")

    def _object(self, schema: Mapping[str, Any]) -> str:
        properties = schema.get("properties") or {}
        if not properties:
            more = schema.get("additionalProperties", True)
            if more is False:
                return self.add('"{" ws "}"')
            value = self.value(more) if more and more is not True else f"free{FREE_DEPTH - 1}"
            pair = self.add(f'string ws ":" ws {value}')
            return self._list(pair, "{}", 0, None)
        required = set(schema.get("required", ()))
        # From the last property back: what may follow it where nothing stands before it yet, and where something does.
        first = more = '"}"'
        for name, value in reversed(properties.items()):
            pair = f'{_json(name)} ws ":" ws {self.value(value)} ws {more}'
            skip_first, skip_more = ("", "") if name in required else (f" | {first}", f" | {more}")
            first, more = self.add(f"{pair}{skip_first}"), self.add(f'"," ws {pair}{skip_more}')
        return self.add(f'"{{" ws {first}')


def _bounds(schema: Mapping[str, Any], kind: str) -> tuple[int | None, int | None]:
    """The least and the greatest number that a schema allows; None: no bound. Exclusive ones are for integers."""
    lows = [schema["minimum"]] if "minimum" in schema else []
    highs = [schema["maximum"]] if "maximum" in schema else []
    if kind == "integer":
        lows += [schema["exclusiveMinimum"] + 1] if "exclusiveMinimum" in schema else []
        highs += [schema["exclusiveMaximum"] - 1] if "exclusiveMaximum" in schema else []
    return max(map(int, lows), default=None), min(map(int, highs), default=None)


def _between(low: int | None, high: int | None, *, fractions: bool) -> Iterable[str]:
    """Ways to write the numbers between two whole bounds."""
    most = 10**MOST_DIGITS - 1
    low = -most if low is None else low
    high = most if high is None else high
    if high >= 0:
        yield from _naturals(max(low, 0), high)
        if fractions and high > max(low, 0):
            yield f"({' | '.join(_naturals(max(low, 0), high - 1))}) fraction"
    if low < 0:
        yield f'"-" ({" | ".join(_naturals(max(-high, 1), -low))})'
        if fractions and low < min(high, 0):
            yield f'"-" ({" | ".join(_naturals(max(-high, 0), -low - 1))}) fraction'


def _naturals(low: int, high: int) -> Iterable[str]:
    for size in range(len(str(low)), len(str(high)) + 1):
        least = 10 ** (size - 1) if size > 1 else 0
        yield _span(str(max(low, least)), str(min(high, 10**size - 1)))


def _span(low: str, high: str) -> str:
    """The numbers from one to another of as many digits."""
    if not low:
        return ""
    rest = len(low) - 1
    if low[0] == high[0]:
        return f'"{low[0]}" {_span(low[1:], high[1:])}'.strip()
    start, end = int(low[0]), int(high[0])
    parts = []
    if low[1:].strip("0"):
        parts.append(f'"{start}" {_span(low[1:], "9" * rest)}')
        start += 1
    if high[1:].strip("9"):
        parts.append(f'"{end}" {_span("0" * rest, high[1:])}')
        end -= 1
    if start <= end:
        parts.append(f"[{start}-{end}]" + (f" [0-9]{{{rest}}}" if rest else ""))
    return f"({' | '.join(parts)})"


def _json(value: object) -> str:
    return literal(json.dumps(value, ensure_ascii=False))
