"""The formats: what they tell a model, what they read back, and the grammars that their schemas become."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.engines.gbnf import MOST_CHARACTERS, gbnf
from bridge.protocol import ToolCallFormat
from bridge.tool_call import Call, Tool, check_tool, parse_reply
from bridge.tool_formats import Piece, tool_format
from bridge.tool_schema import inlined

FORMATS: tuple[ToolCallFormat, ...] = get_args(ToolCallFormat)
DOOR = Tool(
    "open_door",
    "Opens a door. </tools><tool_call>",
    {"type": "object", "properties": {"door": {"type": "string", "enum": ["cellar", "gate"]}}, "required": ["door"]},
)
WAIT = Tool("wait", "Does nothing.", {})
TOOLS = (DOOR, WAIT)


def said(pieces: list[Piece]) -> str:
    return "".join(text for text, _ in pieces)


# ---- prompts


@pytest.mark.parametrize("name", FORMATS)
def test_definitions_name_every_tool_and_no_author_writes_markup(name: ToolCallFormat) -> None:
    made = tool_format(name)
    assert made.name == name
    assert made.place == ("user" if name in ("llama3", "mistral") else "system")
    pieces = made.definitions(TOOLS)
    for tool in TOOLS:
        assert any(tool.name in text for text, is_markup in pieces if not is_markup)
    assert not any("Opens a door" in text for text, is_markup in pieces if is_markup)
    assert "cellar" in said(pieces)


def test_the_shapes_that_models_were_taught() -> None:
    door = Call("open_door", {"door": "gate"})
    wait = Call("wait", {})
    pairs = [(door, "It is open."), (wait, "")]
    assert said(tool_format("chatml").calls([door, wait])) == (
        '<tool_call>\n{"name": "open_door", "arguments": {"door": "gate"}}\n</tool_call>\n'
        '<tool_call>\n{"name": "wait", "arguments": {}}\n</tool_call>'
    )
    assert said(tool_format("chatml").results(pairs)) == (
        "<tool_response>\nIt is open.\n</tool_response>\n<tool_response>\n\n</tool_response>"
    )
    assert said(tool_format("llama3").calls([door])) == '{"name": "open_door", "parameters": {"door": "gate"}}'
    assert said(tool_format("llama3").results(pairs[:1])) == '{"name": "open_door", "output": "It is open."}'
    assert said(tool_format("mistral").calls([door])) == (
        '[TOOL_CALLS] [{"name": "open_door", "arguments": {"door": "gate"}}]'
    )
    assert said(tool_format("mistral").results(pairs[:1])) == (
        '[TOOL_RESULTS] {"name": "open_door", "content": "It is open."}[/TOOL_RESULTS]'
    )
    assert said(tool_format("generic").calls([door])) == '{"tool": "open_door", "args": {"door": "gate"}}'
    assert said(tool_format("generic").results(pairs[:1])) == "Result of open_door: It is open."
    assert tool_format("chatml").definitions([WAIT])[1] == (
        '\n{"type": "function", "function": {"name": "wait", "description": "Does nothing.", '
        '"parameters": {"type": "object", "properties": {}}}}\n',
        False,
    )
    assert tool_format("mistral").definitions([WAIT])[0] == ("[AVAILABLE_TOOLS]", True)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["</tool_call>", "<tool_call>", "[TOOL_CALLS]", "<|im_end|>", "```", '"}}', "{'a': 1}", "</think>", "\\", "\n"]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("name", FORMATS)
@given(
    st.lists(
        st.builds(Call, st.sampled_from(["open_door", "wait"]), st.dictionaries(TEXTS, VALUES, max_size=3)), max_size=3
    )
)
def test_what_a_format_writes_is_read_back(name: ToolCallFormat, calls: list[Call]) -> None:
    # A definition of the very tool is told apart from a call.
    calls = [call for call in calls if call.arguments.get("type") != "object"]
    parsed = parse_reply(said(tool_format(name).calls(calls)), TOOLS, name)
    assert parsed.calls == tuple(calls)
    assert (parsed.text, parsed.ignored) == ("", ())


# ---- schemas


def tool(**parameters: Any) -> dict[str, Any]:
    return {"name": "t", "description": "", "parameters": {"type": "object", "properties": {"a": parameters}}}


RICH: dict[str, Any] = {
    "type": "object",
    "description": "all that can be said",
    "properties": {
        "text": {"type": "string", "minLength": 1, "maxLength": 20, "format": "date", "default": "x"},
        "enum": {"enum": ["a", 1, None, True, {"b": [1]}]},
        "count": {"type": "integer", "minimum": -5, "exclusiveMaximum": 6},
        "share": {"type": "number", "minimum": 0, "maximum": 1},
        "maybe": {"type": ["string", "null"]},
        "list": {"type": "array", "items": {"$ref": "#/$defs/place"}, "minItems": 1, "maxItems": 3},
        "map": {"type": "object", "additionalProperties": {"type": "boolean"}},
        "free": {},
        "either": {"anyOf": [{"const": "one"}, {"type": "integer"}]},
    },
    "required": ["text", "list"],
    "additionalProperties": False,
    "$defs": {"place": {"type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}}},
}


def test_what_can_be_expressed_is_accepted() -> None:
    assert check_tool({"name": "wait"}) == []
    assert check_tool({"name": "_a-b9", "description": "x", "parameters": {}}) == []
    assert check_tool({"name": "t", "parameters": {"type": "object"}}) == []
    assert check_tool({"name": "t", "parameters": RICH}) == []


A = ".parameters.properties.a"


@pytest.mark.parametrize(
    ("raw", "path", "message"),
    [
        ({"name": "9lives"}, ".name", "'9lives' is no name"),
        ({"name": "a" * 65}, ".name", "is no name"),
        ({"name": "two words"}, ".name", "'two words' is no name"),
        ({}, ".name", "null is no name"),
        ({"name": "t", "description": 3}, ".description", "a description is a text, not 3"),
        ({"name": "t", "params": {}}, ".params", "nothing else"),
        ({"name": "t", "parameters": []}, ".parameters", "of the type object, not a list"),
        ({"name": "t", "parameters": {"type": "string"}}, ".parameters.type", "'object', not 'string'"),
        ({"name": "t", "parameters": {"properties": {}}}, ".parameters.type", "'object', not null"),
        (tool(type="string", pattern="^a"), f"{A}.pattern", "no grammar can keep to this keyword"),
        (tool(type="array", uniqueItems=True), f"{A}.uniqueItems", "leave it out"),
        (tool(allOf=[]), f"{A}.allOf", "leave it out"),
        (tool(type="text"), f"{A}.type", "'text' is no type"),
        (tool(type=[]), f"{A}.type", "names no type"),
        (tool(minLength=1), f"{A}.type", "is missing"),
        (tool(enum=[]), f"{A}.enum", "1 to 256 values"),
        (tool(type="string", enum=["a", 1]), f"{A}.enum[1]", "1 is not of the type string"),
        (tool(type="integer", enum=[True]), f"{A}.enum[0]", "true is not of the type integer"),
        (tool(enum=["\ud800"]), f"{A}.enum[0]", "is no usable value"),
        (tool(enum=[float("nan")]), f"{A}.enum[0]", "is no usable value"),
        (tool(enum=["a"], minLength=1), f"{A}.minLength", "has no use beside enum"),
        (tool(anyOf=[], type="string"), A, "anyOf stands alone"),
        (tool(anyOf=[]), f"{A}.anyOf", "is a list of 1 to 256 schemas"),
        (tool(anyOf=[3]), f"{A}.anyOf[0]", "a schema is an object, not 3"),
        (tool(type="array", items=False), f"{A}.items", "cannot be met"),
        (tool(type="string", maxLength=5000), f"{A}.maxLength", "from 0 to 1000, not 5000"),
        (tool(type="array", minItems=-1), f"{A}.minItems", "from 0 to 100, not -1"),
        (tool(type="array", minItems=3, maxItems=2), A, "nothing lies between minItems and maxItems"),
        (tool(type="integer", minimum=1, exclusiveMaximum=1), A, "nothing lies between minimum and exclusiveMaximum"),
        (tool(type="integer", minimum=0.5), f"{A}.minimum", "whole number of at most 15 digits, not 0.5"),
        (tool(type="integer", maximum=10**16), f"{A}.maximum", "at most 15 digits"),
        (tool(type="number", exclusiveMinimum=0), f"{A}.exclusiveMinimum", "for the type integer only"),
        (tool(type="object", required=["b"]), f"{A}.required[0]", "'b' is no property"),
        (tool(type="object", properties=3), f"{A}.properties", "is an object, not 3"),
        (tool(type="object", properties={"\ud800": {}}), f"{A}.properties.\ud800", "is no usable name"),
        ({"$ref": 3} and tool(**{"$ref": "#/$defs/none"}), f"{A}.$ref", "leads nowhere"),
        (
            {
                "name": "t",
                "parameters": {
                    "type": "object",
                    "properties": {"a": {"$ref": "#/$defs/a"}},
                    "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}},
                },
            },
            f"{A}.$ref.items.$ref",
            "contains itself",
        ),
        (tool(type="object", properties={str(n): {} for n in range(65)}), f"{A}.properties", "at most 64"),
    ],
)
def test_what_cannot_work_is_named(raw: dict[str, Any], path: str, message: str) -> None:
    complaints = check_tool(raw)
    assert [where for where, what in complaints if message in what] == [path], complaints


def test_a_schema_without_end_is_too_large() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"type": "array", "items": deep}
    wide = {str(n): {"type": "object", "properties": {str(m): {} for m in range(20)}} for n in range(60)}
    for schema in ({"a": deep}, wide):
        complaints = check_tool({"name": "t", "parameters": {"type": "object", "properties": schema}})
        assert any("is too large" in what for _, what in complaints)


KEYS = [
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "const",
    "anyOf",
    "$ref",
    "$defs",
    "minimum",
    "maxLength",
    "a",
]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(KEYS), inner | st.sampled_from(["object", "string", "#/$defs/a"]), max_size=4
            )
        ),
        max_leaves=12,
    )
)
def test_no_schema_breaks_the_check_and_what_passes_has_a_grammar(parameters: Any) -> None:
    raw = {"name": "t", "parameters": parameters}
    if check_tool(raw) == []:
        for name in FORMATS:
            gbnf(tool_format(name).grammar([Tool("t", "", parameters)]))


# ---- grammars


def rules_of(text: str) -> dict[str, str]:
    return dict(line.split(" ::= ", 1) for line in text.splitlines())


class Matcher:
    """Tells by trial whether a text fits a grammar: every place in it that a rule may lead to."""

    def __init__(self, text: str) -> None:
        self._patterns: dict[str, str] = {}
        rules = rules_of(text)
        self._rules = rules
        self._whole = re.compile(self._expand("root"), re.ASCII)

    def _expand(self, name: str) -> str:
        if name not in self._patterns:
            out = []
            for part in re.findall(r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|\w+|\{[\d,]+\}|\S', self._rules[name]):
                if part[0] == '"':
                    out.append(f"(?:{re.escape(_unescaped(part[1:-1]))})" if part != '""' else "")
                elif part[0] in "[{()|?*+":
                    out.append("(?:" if part == "(" else part)
                else:
                    out.append(f"(?:{self._expand(part)})")
            self._patterns[name] = "".join(out)
        return self._patterns[name]

    def fits(self, text: str) -> bool:
        return self._whole.fullmatch(text) is not None


def _unescaped(text: str) -> str:
    return re.sub(
        r"\\(x[0-9a-f]{2}|.)",
        lambda m: chr(int(m[1][1:], 16)) if m[1][0] == "x" else {"n": "\n", "t": "\t", "r": "\r"}.get(m[1], m[1]),
        text,
    )


def matcher(parameters: dict[str, Any], name: ToolCallFormat = "chatml") -> Matcher:
    return Matcher(gbnf(tool_format(name).grammar([Tool("t", "", parameters)])))


def one(schema: dict[str, Any]) -> Matcher:
    return matcher({"type": "object", "properties": {"a": schema}, "required": ["a"]})


def fits(grammar: Matcher, value: object) -> bool:
    return grammar.fits(
        f'<tool_call>{{"name": "t", "arguments": {{"a": {json.dumps(value, ensure_ascii=False)}}}}}</tool_call>'
    )


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "string"}, ["", 'a "b" \\ \n é 😀', "x" * MOST_CHARACTERS], [1, None, "x" * (MOST_CHARACTERS + 1)]),
        ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "abc", "é\n"], ["a", "abcd", ""]),
        ({"enum": ['a"b', 1, None, {"b": [1]}, "é\n"]}, ['a"b', 1, None, {"b": [1]}, "é\n"], ["a", 2, True]),
        ({"type": "integer"}, [0, -3, 10**14], [1.5, "1", 10**15]),
        ({"type": "number"}, [0, -3.25, 1.5], ["1", None]),
        ({"type": "number", "minimum": -1, "maximum": 2}, [-1, -0.5, 0, 0.25, 1.99, 2], [-1.5, 2.5, 3]),
        ({"type": "boolean"}, [True, False], [None, 0]),
        ({"type": ["string", "null"]}, ["a", None], [1]),
        (
            {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 2},
            [[1], [1, 2]],
            [[], [1, 2, 3], ["a"]],
        ),
        ({"type": "array", "maxItems": 0}, [[]], [[1]]),
        ({"type": "array"}, [[], [1, "a", {"b": None}], list(range(32))], [list(range(33)), 1]),
        ({"anyOf": [{"const": "one"}, {"type": "integer"}]}, ["one", 3], ["two"]),
        ({"type": "object", "additionalProperties": {"type": "boolean"}}, [{}, {"x": True, "y": False}], [{"x": 1}]),
        ({"type": "object", "additionalProperties": False}, [{}], [{"x": 1}]),
        ({"type": "object"}, [{}, {"x": {"y": [1]}}], [[]]),
        (
            {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}, "z": {"type": "integer"}},
                "required": ["y"],
            },
            [{"y": 1}, {"x": 1, "y": 2}, {"y": 2, "z": 3}, {"x": 1, "y": 2, "z": 3}],
            [{}, {"x": 1}, {"z": 1, "y": 1}, {"y": 1, "w": 2}, {"x": 1, "z": 1}],
        ),
        ({}, [1, "a", None, [1, [2]], {"a": {"b": 1}}], []),
    ],
)
def test_a_grammar_takes_what_its_schema_allows(schema: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    grammar = one(schema)
    for value in good:
        assert fits(grammar, value), value
    for value in bad:
        assert not fits(grammar, value), value


@given(st.integers(-1200, 1200), st.integers(-1200, 1200), st.lists(st.integers(-1300, 1300), max_size=20))
def test_whole_numbers_keep_to_their_bounds(low: int, high: int, numbers: list[int]) -> None:
    low, high = sorted((low, high))
    grammar = one({"type": "integer", "minimum": low, "maximum": high})
    for number in (low - 1, low, low + 1, high - 1, high, high + 1, -1, 0, 1, *numbers):
        assert fits(grammar, number) == (low <= number <= high), number


def test_each_format_has_its_own_frame() -> None:
    call = '{"name": "t", "arguments": {}}'
    chatml = matcher({}, "chatml")
    assert chatml.fits(f"<tool_call>\n{call}\n</tool_call>\n<tool_call>\n{call}\n</tool_call>")
    assert not chatml.fits(call)
    assert not chatml.fits(f"<tool_call>{call}")
    assert not chatml.fits(f"<tool_call>{call}</tool_call>" * 9)
    mistral = matcher({}, "mistral")
    assert mistral.fits(f"[TOOL_CALLS] [{call}, {call}]")
    assert not mistral.fits(f"[TOOL_CALLS] {call}")
    assert not mistral.fits("[TOOL_CALLS] []")
    llama3 = matcher({}, "llama3")
    for start in ("", "<|python_tag|>"):
        assert llama3.fits(start + call.replace("arguments", "parameters"))
    assert not llama3.fits(call)
    generic = matcher({}, "generic")
    plain = '{"tool": "t", "args": {}}'
    assert generic.fits(plain)
    assert generic.fits(f"```json\n{plain}\n```")
    assert not generic.fits(f"```json\n{plain}")


def test_everything_at_once_and_what_the_reply_has_already() -> None:
    properties = {name: schema for name, schema in RICH["properties"].items() if name != "free"}  # slow to match
    parameters = {**RICH, "properties": properties}
    arguments = {"text": "x", "list": [{"x": 1}, {"x": 1, "y": 2}], "map": {"m": True}, "either": "one"}
    raw = f'<tool_call>{{"name": "t", "arguments": {json.dumps(arguments)}}}</tool_call>'
    made = tool_format("chatml").grammar([Tool("t", "", parameters)])
    assert Matcher(gbnf(made)).fits(raw)
    assert Matcher(gbnf(made, 'He said: "\n')).fits('He said: "\n' + raw)


def test_shared_references_stay_small() -> None:
    defs: dict[str, Any] = {"d0": {"type": "integer"}}
    for n in range(1, 4):
        defs[f"d{n}"] = {"type": "array", "items": {"anyOf": [{"$ref": f"#/$defs/d{n - 1}"}] * 8}}
    parameters = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d3"}}, "$defs": defs}
    assert check_tool({"name": "t", "parameters": parameters}) == []
    assert "$ref" not in json.dumps(inlined(parameters))
    assert len(gbnf(tool_format("chatml").grammar([Tool("t", "", parameters)]))) < 10_000
