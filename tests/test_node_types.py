"""Every node type, found by discovery: each exit is taken once, each parameter is checked and changed once."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bridge import errors, protocol
from bridge.classify import LETTERS
from bridge.config import Settings
from bridge.models import ModelStore
from bridge.node import Kind, default_registry, field_kind
from bridge.protocol import Problem
from bridge.storages import EmbeddedStorages, StringStorages
from bridge.workflow import CompileScope, ModelFacts, Workflow, compile_workflow, fixed_params
from tests.talk import EMBED, VOICE, Talk, run, scripted, talking, workflow

TYPES = default_registry()
FACTS = ["the mill burned down", "the smith sells swords"]
INTENTS = [{"id": "trade", "description": "buy sell"}, {"id": "fight", "description": "hit kill"}]
ATTRIBUTES = [{"name": "mood", "question": "How?", "labels": [{"id": "sad", "description": "weep"}]}]
TOOLS = [{"name": "open", "parameters": {"type": "object", "properties": {"door": {"type": "string"}}}}]
CALL = '<tool_call>{"name": "open", "arguments": {"door": "red"}}</tool_call>'


@dataclass(frozen=True)
class Scenario:
    """A node and a line with which it takes one exit."""

    line: str
    node: dict[str, Any] = field(default_factory=dict)
    replies: tuple[str, ...] = ("ok",)


BASE: dict[str, dict[str, Any]] = {
    "CannedResponse": {"inline_strings": ["Aye."]},
    "ClassifyAttributesLLM": {"attributes": ATTRIBUTES},
    "ClassifyIntent": {"embedded_storage": "facts"},
    "ClassifyIntentLLM": {"intents": INTENTS},
    "Generate": {},
    "GenerateAndSpeak": {"voice": "voice"},
    "HumanMessageGuardrail": {"inline_strings": ["secret"]},
    "Instruction": {"instruction": "Be brief."},
    "IntentToInstruction": {"inline_keys": ["trade"], "inline_strings": ["Haggle."]},
    "Retrieve": {"embedded_storage": "facts"},
    "Speak": {"voice": "voice"},
    "Summarize": {"trigger_tokens": 100},
    "ToolCall": {"tools": TOOLS},
    "Transform": {"template": "t"},
}
"""What each type needs at least, to be sound."""

SCENARIOS: dict[tuple[str, str], Scenario] = {
    ("CannedResponse", "default"): Scenario("x"),
    ("ClassifyAttributesLLM", "default"): Scenario("weep"),
    ("ClassifyIntent", "found"): Scenario("the mill burned down"),
    ("ClassifyIntent", "not_found"): Scenario("quite something else"),
    ("ClassifyIntentLLM", "found"): Scenario("buy or sell"),
    ("ClassifyIntentLLM", "not_found"): Scenario("nothing of it"),
    ("Generate", "default"): Scenario("x"),
    ("GenerateAndSpeak", "default"): Scenario("x"),
    ("HumanMessageGuardrail", "triggered"): Scenario("your Secret?"),
    ("HumanMessageGuardrail", "not_triggered"): Scenario("hello"),
    ("Instruction", "default"): Scenario("x"),
    ("IntentToInstruction", "default"): Scenario("x"),
    ("Retrieve", "found"): Scenario("who burned down the mill"),
    ("Retrieve", "not_found"): Scenario("quite something else"),
    ("Speak", "default"): Scenario("x"),
    ("Summarize", "default"): Scenario("x"),
    ("ToolCall", "tool_called"): Scenario("open it", replies=(CALL,)),
    ("ToolCall", "no_tool_called"): Scenario("hello"),
    ("Transform", "default"): Scenario("x"),
}


async def with_facts(talk: Talk) -> None:
    """Make the storage that `BASE` names."""
    await talk.client.request(protocol.CreateEmbeddedStorage(name="facts", strings=FACTS, embedding_model="embed"))


# ---- exits ---------------------------------------------------------------------------------------------------


def test_every_type_and_exit_has_a_scenario() -> None:
    assert set(BASE) == set(TYPES)
    assert set(SCENARIOS) == {(name, taken) for name, cls in TYPES.items() for taken in cls.exit_fields()}


@pytest.mark.parametrize(("type_name", "taken"), SCENARIOS, ids="-".join)
def test_each_exit_is_taken_and_leads_where_it_says(type_name: str, taken: str) -> None:
    scenario = SCENARIOS[type_name, taken]
    cls = TYPES[type_name]
    node = {"name": "a", "type": type_name, **BASE[type_name], **scenario.node}
    node |= {name: f"to_{exit_}" for exit_, name in cls.exit_fields().items()}
    targets = [
        {"name": f"to_{exit_}", "type": "Transform", "template": exit_, "send": "Whole", "default_exit": ""}
        for exit_ in cls.exit_fields()
    ]

    async def work() -> None:
        async with talking(scripted(*scenario.replies), EMBED, VOICE) as talk:
            await with_facts(talk)
            agent_id = await talk.agent(workflow(node, *targets, model="script"))
            turn = await talk.say(agent_id, scenario.line)
            assert turn.complete.status == "Success"
            assert [(step["node_name"], step["exit"]) for step in turn.debug["steps"]] == [
                ("a", taken),
                (f"to_{taken}", "default"),
            ]
            assert turn.text(f"to_{taken}") == taken

    run(work)


# ---- every parameter, wrong ----------------------------------------------------------------------------------


MODELS = {
    "chat": ModelFacts("language", 1024),
    "embed": ModelFacts("embedding", 512),
    "voice": ModelFacts("tts", 0),
}


class Facts:
    """Knowledge that is known but not built."""

    embedding_model = "embed"
    warnings: tuple[str, ...] = ()

    def values(self, field: str) -> frozenset[str]:
        return frozenset({"weather", "war"} if field else {"1", "2"})

    def __init__(self) -> None:
        from bridge.filter import Field

        self.schema = {
            "topic": Field("topic", "string"),
            "level": Field("level", "int"),
            "hidden": Field("hidden", "string", filterable=False),
        }


def compile_(
    node: dict[str, Any], root: Path | None = None, strings: StringStorages | None = None
) -> tuple[Workflow | None, list[Problem]]:
    strings = strings or StringStorages()
    knowledge = EmbeddedStorages(ModelStore(Settings(), {}))
    strings.root = knowledge.root = root

    def known(name: str) -> Any:
        return Facts() if name == "facts" else knowledge.describe(name)

    raw = {
        "start_node": "a",
        "default_model": "chat",
        "variables": [{"name": "level", "type": "int", "value": 1}],
        "nodes": [{"name": "a", **node}, {"name": "pre", "type": "Transform", "template": "t", "send": "Whole"}],
    }
    return compile_workflow(raw, CompileScope(TYPES, MODELS.get, strings=strings.find, knowledge=known))


def errors_of(node: dict[str, Any], root: Path | None = None, **options: Any) -> list[tuple[str, int]]:
    return [(p.path, p.code) for p in compile_(node, root, **options)[1] if p.severity == "error"]


def branches(schema: dict[str, Any], defs: dict[str, Any]) -> list[dict[str, Any]]:
    """The alternatives of a schema, references followed, null left out."""
    if "$ref" in schema:
        return branches(defs[schema["$ref"].rpartition("/")[2]], defs)
    if "anyOf" in schema:
        return [inner for one in schema["anyOf"] for inner in branches(one, defs)]
    return [] if schema.get("type") == "null" else [schema]


def minimal(schema: dict[str, Any], defs: dict[str, Any]) -> Any:
    """The smallest value that a schema allows."""
    one = branches(schema, defs)[0]
    if "enum" in one:
        return one["enum"][0]
    if one["type"] == "object":
        return {name: minimal(one["properties"][name], defs) for name in one.get("required", ())}
    return {
        "string": "x" * one.get("minLength", 0),
        "integer": one.get("minimum", 0),
        "number": one.get("minimum", 0),
        "boolean": False,
        "array": [minimal(one["items"], defs)] * one.get("minItems", 0) if "items" in one else [],
    }[one["type"]]


WRONG_TYPE: dict[str, list[Any]] = {
    "string": [7, True, None, ["x"]],
    "integer": ["7", True, 1.5, None],
    "number": ["7", True, None],
    "boolean": ["true", 1, None],
    "array": [{}, "x", None],
    "object": [[], "x", None],
}


def faults(schema: dict[str, Any], defs: dict[str, Any]) -> Iterator[tuple[str, Any, int]]:
    """(place inside the parameter, value, code) of everything just outside of what a schema allows."""
    ones = branches(schema, defs)
    allowed = [value for one in ones for value in (*one.get("enum", ()), *([one["const"]] if "const" in one else ()))]
    if allowed:
        for value in ("Nonesuch", 5, None, str(allowed[0]).upper() or " "):
            yield "", value, 3007
        return
    (one,) = ones
    kind = one["type"]
    nullable = len(schema.get("anyOf", ())) > 1
    for value in WRONG_TYPE[kind]:
        if not (value is None and nullable):
            yield "", value, 3003
    step = 1 if kind == "integer" else 0.001
    if "minimum" in one:
        yield "", one["minimum"] - step, 3007
    if "exclusiveMinimum" in one:
        yield "", one["exclusiveMinimum"], 3007
    if "maximum" in one:
        yield "", one["maximum"] + step, 3007
    if one.get("minLength"):
        yield "", "x" * (one["minLength"] - 1), 3007
    if "maxLength" in one:
        yield "", "x" * (one["maxLength"] + 1), 3007
    if kind == "array" and "maxItems" in one:
        yield "", [minimal(one["items"], defs)] * (one["maxItems"] + 1), 3007
    if kind == "array" and "items" in one:
        for place, value, code in faults(one["items"], defs):
            yield f"[0]{place}", [value], code
    if kind == "object" and "properties" in one:
        sound = minimal(one, defs)
        for name, inner in one["properties"].items():
            for place, value, code in faults(inner, defs):
                yield f".{name}{place}", {**sound, name: value}, code
            if name in sound:
                yield f".{name}", {key: value for key, value in sound.items() if key != name}, 3003
        yield ".nonesuch", {**sound, "nonesuch": 1}, 3003


def wrong_parameters() -> Iterator[Any]:
    for name, cls in TYPES.items():
        schema = cls.model_json_schema()
        for parameter, inner in schema["properties"].items():
            if parameter != "name":
                for place, value, code in faults(inner, schema.get("$defs", {})):
                    yield name, parameter, place, value, code


def test_every_wrong_parameter_is_one_error_that_names_its_place() -> None:
    count = 0
    wrong = []
    for name, parameter, place, value, code in wrong_parameters():
        count += 1
        found = errors_of({"type": name, **BASE[name], parameter: value})
        if found != [(f"$.nodes[0].{parameter}{place}", code)]:
            wrong.append((name, parameter, place, repr(value)[:60], code, found))
    assert wrong == [], "\n".join(map(str, wrong))
    assert count > 800


def test_the_base_of_every_type_is_sound_and_values_at_the_bounds_too() -> None:
    for name in TYPES:
        assert errors_of({"type": name, **BASE[name]}) == [], name
    at_bounds: list[dict[str, Any]] = [
        {"type": "Generate", "max_tokens": 1, "stop": ["x" * 256] * 64},
        {"type": "Generate", "max_tokens": 1023, "sampling": {"temperature": 0, "top_p": 1, "seed": 2**32 - 1}},
        {"type": "Retrieve", "embedded_storage": "facts", "top_k": 1000, "threshold": 2},
        {"type": "Retrieve", "embedded_storage": "facts", "top_k": 1, "threshold": 0},
        {"type": "ClassifyIntentLLM", "intents": [{"id": c, "description": c} for c in LETTERS], "margin": 1},
        {"type": "ToolCall", "tools": TOOLS, "wait_for_result_s": 3600, "tool_call_format": ""},
    ]
    for node in at_bounds:
        assert errors_of(node) == [], node


# ---- every rule beyond one parameter -------------------------------------------------------------------------


def label(id_: str) -> dict[str, str]:
    return {"id": id_, "description": "d"}


def attribute(name: str, *labels: dict[str, str]) -> dict[str, Any]:
    return {"name": name, "question": "q", "labels": list(labels)}


def tool(name: str = "t", **parameters: Any) -> dict[str, Any]:
    return {"name": name, "parameters": {"type": "object", "properties": parameters}}


def topic(rhs: Any) -> dict[str, Any]:
    return {"op": "eq", "lhs": {"knowledge": "topic"}, "rhs": rhs}


RULES: list[tuple[dict[str, Any], str, int, str]] = [
    ({"type": "CannedResponse", "string_storage": "gone"}, "string_storage", 3010, "no storage 'gone'"),
    ({"type": "CannedResponse", "string_storage": "../up.txt"}, "string_storage", 3009, "leaves the storage folder"),
    ({"type": "CannedResponse", "string_storage": "/etc/passwd"}, "string_storage", 3009, "leaves the storage folder"),
    ({"type": "CannedResponse", "string_storage": "nothing"}, "string_storage", 7003, "no lines"),
    ({"type": "CannedResponse", "string_storage": "broken.json"}, "string_storage", 7003, "array of"),
    ({"type": "HumanMessageGuardrail", "string_storage": "gone.txt"}, "string_storage", 3010, "gone.txt"),
    ({"type": "HumanMessageGuardrail", "string_storage": "../x"}, "string_storage", 3009, "leaves"),
    ({"type": "HumanMessageGuardrail", "string_storage": "nothing"}, "string_storage", 7003, "no patterns"),
    ({"type": "HumanMessageGuardrail", "string_storage": "open"}, "string_storage", 3007, "(a"),
    ({"type": "HumanMessageGuardrail", "inline_strings": ["a", "(?=x)"]}, "inline_strings[1]", 3007, "look-around"),
    ({"type": "HumanMessageGuardrail", "inline_strings": ["a"] * 1001}, "inline_strings", 3014, "1000 are allowed"),
    ({"type": "IntentToInstruction", "string_storage": "gone"}, "string_storage", 3010, "gone"),
    ({"type": "IntentToInstruction", "string_storage": "../x"}, "string_storage", 3009, "leaves"),
    ({"type": "IntentToInstruction", "string_storage": "list"}, "string_storage", 3011, "is a List"),
    ({"type": "IntentToInstruction", "string_storage": "many"}, "string_storage", 3011, "is a Multimap"),
    ({"type": "IntentToInstruction", "string_storage": "lines.txt"}, "string_storage", 3011, "needs a Map"),
    ({"type": "IntentToInstruction", "string_storage": "many.mm.json"}, "string_storage", 3011, "needs a Map"),
    ({"type": "IntentToInstruction", "string_storage": "empty_map"}, "string_storage", 7003, "no instructions"),
    ({"type": "IntentToInstruction", "inline_strings": ["x"]}, "inline_strings", 7003, "a key for every string"),
    ({"type": "IntentToInstruction", "inline_keys": ["x"]}, "inline_strings", 7003, "a key for every string"),
    (
        {"type": "IntentToInstruction", "inline_keys": ["x", "x"], "inline_strings": ["a", "b"]},
        "inline_strings",
        7003,
        "'x' stands there twice",
    ),
    ({"type": "IntentToInstruction", "instruction_name": "two words"}, "instruction_name", 3003, "two words"),
    ({"type": "Instruction", "instruction_name": "1a"}, "instruction_name", 3003, "1a"),
    ({"type": "Instruction", "instruction": "{{#slot.x}}"}, "instruction", 3003, ""),
    ({"type": "ClassifyIntentLLM", "intents": []}, "intents", 3007, "no intent to choose from"),
    ({"type": "ClassifyIntentLLM", "intents": [label("a"), label("a")]}, "intents[1].id", 3007, "'a'"),
    (
        {"type": "ClassifyIntentLLM", "intents": [label("a")], "not_found_intent": "b"},
        "not_found_intent",
        3007,
        "names no intent: 'b'",
    ),
    ({"type": "ClassifyIntentLLM", "intents": [label(str(i)) for i in range(27)]}, "intents", 3007, "26"),
    ({"type": "ClassifyIntentLLM", "intents": INTENTS, "input": "gone"}, "input", 3003, "'gone'"),
    ({"type": "ClassifyIntentLLM", "intents": [], "not_found_intent": "b"}, "intents", 3007, "no intent"),
    ({"type": "ClassifyIntentLLM", "intents": "x", "not_found_intent": "b"}, "intents", 3003, "list"),
    ({"type": "ClassifyAttributesLLM", "attributes": []}, "attributes", 3007, "no attribute"),
    ({"type": "ClassifyAttributesLLM", "attributes": [attribute("a")]}, "attributes[0].labels", 3007, "no label"),
    (
        {"type": "ClassifyAttributesLLM", "attributes": [attribute("a", label("x")), attribute("a", label("x"))]},
        "attributes[1].name",
        3007,
        "called 'a'",
    ),
    (
        {"type": "ClassifyAttributesLLM", "attributes": [attribute("a", label("x"), label("x"))]},
        "attributes[0].labels[1].id",
        3007,
        "'x'",
    ),
    (
        {"type": "ClassifyAttributesLLM", "attributes": [attribute("a b", label("x"))]},
        "attributes[0].name",
        3003,
        "a b",
    ),
    (
        {"type": "ClassifyAttributesLLM", "attributes": [attribute(" a", label("x"))]},
        "attributes[0].name",
        3003,
        "space",
    ),
    (
        {"type": "ClassifyAttributesLLM", "attributes": [attribute("a", *(label(str(i)) for i in range(27)))]},
        "attributes[0].labels",
        3007,
        "26",
    ),
    ({"type": "Retrieve"}, "embedded_storage", 3003, "needs an embedded storage"),
    ({"type": "Retrieve", "embedded_storage": "gone"}, "embedded_storage", 3010, "no storage 'gone'"),
    ({"type": "Retrieve", "embedded_storage": "../k.json"}, "embedded_storage", 3009, "leaves"),
    ({"type": "Retrieve", "embedded_storage": "no_model.json"}, "embedded_storage", 6005, "'gone'"),
    ({"type": "Retrieve", "embedded_storage": "chat_model.json"}, "embedded_storage", 3003, "of type language"),
    ({"type": "Retrieve", "embedded_storage": "no_records.json"}, "embedded_storage", 3010, "gone.json"),
    ({"type": "Retrieve", "embedded_storage": "climbs.json"}, "embedded_storage", 3009, "leaves"),
    ({"type": "Retrieve", "embedded_storage": "lines.txt"}, "embedded_storage", 8003, "not valid JSON"),
    ({"type": "Retrieve", "embedded_storage": "facts", "source": "a b"}, "source", 3003, "a b"),
    ({"type": "Retrieve", "embedded_storage": "facts", "filter": topic({"value": 1})}, "filter.rhs", 3007, ""),
    (
        {"type": "Retrieve", "embedded_storage": "facts", "filter": topic({"agent": "gone"})},
        "filter.rhs.agent",
        3007,
        "gone",
    ),
    (
        {
            "type": "Retrieve",
            "embedded_storage": "facts",
            "filter": {
                "op": "and",
                "args": [topic({"value": "x"}), {"op": "eq", "lhs": {"knowledge": "hidden"}, "rhs": {"value": "x"}}],
            },
        },
        "filter.args[1].lhs.knowledge",
        3007,
        "hidden",
    ),
    ({"type": "Retrieve", "embedded_storage": "facts", "filter": {"op": "and", "args": []}}, "filter.args", 3007, ""),
    ({"type": "Retrieve", "embedded_storage": "facts", "filter": {"op": "like"}}, "filter.op", 3007, "like"),
    ({"type": "ClassifyIntent"}, "embedded_storage", 3003, "needs an embedded storage"),
    ({"type": "ClassifyIntent", "embedded_storage": "gone"}, "embedded_storage", 3010, "gone"),
    ({"type": "ClassifyIntent", "embedded_storage": "no_model.json"}, "embedded_storage", 6005, "gone"),
    (
        {"type": "ClassifyIntent", "embedded_storage": "facts", "metadata_field": "gone"},
        "metadata_field",
        3007,
        "known: topic, level, hidden",
    ),
    (
        {"type": "ClassifyIntent", "embedded_storage": "facts", "metadata_field": "level"},
        "metadata_field",
        3007,
        "of type int",
    ),
    (
        {"type": "ClassifyIntent", "embedded_storage": "facts", "filter": {"op": "lt"}},
        "filter.lhs",
        3007,
        "",
    ),
    ({"type": "ToolCall", "tools": []}, "tools", 3007, "no tool to call"),
    ({"type": "ToolCall", "tools": [tool("a"), tool("a")]}, "tools[1].name", 3007, "called 'a'"),
    ({"type": "ToolCall", "tools": [tool("two words")]}, "tools[0].name", 3007, "two words"),
    (
        {"type": "ToolCall", "tools": [tool("a"), tool("b", x={"type": "strin"})]},
        "tools[1].parameters.properties.x.type",
        3007,
        "strin",
    ),
    (
        {"type": "ToolCall", "tools": [{"name": "a", "parameters": {"type": "array"}}]},
        "tools[0].parameters.type",
        3007,
        "'object'",
    ),
    (
        {"type": "ToolCall", "tools": [tool("a", x={"type": "string", "pattern": "a*"})]},
        "tools[0].parameters.properties.x.pattern",
        3007,
        "keyword",
    ),
    ({"type": "ToolCall", "tools": TOOLS, "input": "gone"}, "input", 3003, "gone"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("storages")
    config = '{{"version": 1, "embedding_model": "{}", "records_file": "{}"}}'
    files = {
        "lines.txt": "one\n",
        "many.mm.json": '[{"id": "a", "text": "1"}, {"id": "a", "text": "2"}]',
        "broken.json": '[{"id": "a"}]',
        "records.json": '[{"id": "a", "text": "1"}]',
        "no_model.json": config.format("gone", "records.json"),
        "chat_model.json": config.format("chat", "records.json"),
        "no_records.json": config.format("embed", "gone.json"),
        "climbs.json": config.format("embed", "../records.json"),
    }
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(("node", "place", "code", "says"), RULES, ids=range(len(RULES)))
def test_each_rule_of_a_type(node: dict[str, Any], place: str, code: int, says: str, folder: Path) -> None:
    strings = StringStorages()
    strings.create("list", strings=["a"])
    strings.create("nothing", strings=[])
    strings.create("open", strings=["(a"])
    strings.create("many", kind="Multimap", strings=["a", "b"], keys=["x", "x"])
    strings.create("empty_map", kind="Map", strings=[], keys=[])
    found = [p for p in compile_(node, folder, strings)[1] if p.severity == "error"]
    assert [(p.path, p.code) for p in found] == [(f"$.nodes[0].{place}", code)]
    assert says in found[0].message
    assert found[0].node_name == "a"
    assert found[0].field == place.split(".")[0].split("[")[0]


WARNINGS: list[tuple[dict[str, Any], str, str]] = [
    ({"type": "Transform", "template": "{{attribute.mood}}"}, "template", "no node finds this out"),
    ({"type": "Transform", "template": "{{#attribute.mood}}x{{/attribute.mood}}"}, "template", "finds this out"),
    ({"type": "Transform", "template": "{{instruction_mood}}"}, "template", "no node gives this"),
    ({"type": "Transform", "template": "{{#knowledge_k}}{{text}}{{/knowledge_k}}"}, "template", "no node gives this"),
    (
        {"type": "ToolCall", "tools": TOOLS, "wait_for_result_s": 1, "notify_client": False},
        "wait_for_result_s",
        "notify_client is off",
    ),
    ({"type": "Summarize", "default_exit": "pre", "trigger_tokens": 10}, "default_exit", "best the last step"),
]


@pytest.mark.parametrize(("node", "place", "says"), WARNINGS, ids=range(len(WARNINGS)))
def test_each_warning_of_a_type(node: dict[str, Any], place: str, says: str) -> None:
    made, problems = compile_(node)
    assert made is not None
    found = [p for p in problems if p.path == f"$.nodes[0].{place}"]
    assert [p.severity for p in found] == ["warning"]
    assert says in found[0].message


def test_a_tag_that_some_node_gives_is_no_warning() -> None:
    raw = workflow(
        {"name": "attributes", "type": "ClassifyAttributesLLM", **BASE["ClassifyAttributesLLM"]},
        {"name": "map", "type": "IntentToInstruction", "instruction_name": "turn"},
        {"name": "k", "type": "Retrieve", "embedded_storage": "facts", "source": "lore", "found_exit": "t"},
        {
            "name": "t",
            "type": "Transform",
            "send": "Whole",
            "template": "{{attribute.mood}}{{intent}}{{instruction_turn}}{{#knowledge_lore}}{{id}}{{/knowledge_lore}}",
        },
        model="chat",
    )
    scope = CompileScope(TYPES, MODELS.get, knowledge=lambda _: Facts())
    made, problems = compile_workflow(raw, scope)
    assert made is not None
    assert problems == []


# ---- every parameter, changed --------------------------------------------------------------------------------


OTHER: dict[tuple[str, str], Any] = {
    ("*", "input"): "pre",
    ("*", "template"): "<{{user_message}}>",
    ("*", "instruction"): "Be kind to {{user_message}}.",
    ("*", "instruction_name"): "other",
    ("*", "source"): "other",
    ("*", "sampling"): {"temperature": 0.5},
    ("*", "stop"): ["\n"],
    ("*", "examples"): [{"speaker": "Mira", "text": "Aye."}],
    ("CannedResponse", "string_storage"): "lines",
    ("HumanMessageGuardrail", "string_storage"): "lines",
    ("IntentToInstruction", "string_storage"): "map",
    ("*", "filter"): {"op": "eq", "lhs": {"knowledge": "topic"}, "rhs": {"value": "x"}},
    ("ClassifyIntent", "metadata_field"): "topic",
    ("ClassifyIntentLLM", "not_found_intent"): "fight",
}
"""Valid other values that the schema alone does not tell."""


STRUCTURAL = {
    "name", "voice", "model", "context_size", "max_tokens", "output_name", "inline_strings", "inline_keys",
    "embedded_storage", "intents", "attributes", "tools", "tool_call_format",
}  # fmt: skip
"""Fixed once an agent is made, wherever they stand; so are the type and every exit."""


def another_value(type_name: str, parameter: str, schema: dict[str, Any], defs: dict[str, Any], now: Any) -> Any:
    for key in ((type_name, parameter), ("*", parameter)):
        if key in OTHER:
            return OTHER[key]
    ones = branches(schema, defs)
    allowed = [value for one in ones for value in one.get("enum", ())]
    if allowed:
        return next(value for value in allowed if value != now)
    (one,) = ones
    if one["type"] == "boolean":
        return not now
    if one["type"] == "integer":
        return now + 1
    if one["type"] == "number":
        return now + 0.25
    assert one["type"] == "string", f"say in OTHER what {type_name}.{parameter} may be"
    return "other"


@pytest.mark.parametrize("type_name", TYPES)
def test_each_parameter_changes_or_is_refused(type_name: str, tmp_path: Path) -> None:
    cls = TYPES[type_name]
    schema = cls.model_json_schema()
    (tmp_path / "records.json").write_text('[{"id": "a", "text": "x", "metadata": {"topic": "x"}}]', encoding="utf-8")
    config = {
        "version": 1,
        "embedding_model": "embed",
        "records_file": "records.json",
        "fields": [{"name": "topic", "type": "string"}],
    }

    async def work() -> None:
        async with talking(scripted("ok"), EMBED, VOICE) as talk:
            ask = talk.client.request
            await ask(protocol.ConfigureSession(storage_folder=str(tmp_path)))
            await ask(protocol.CreateEmbeddedStorage(name="facts", config=config))
            await ask(protocol.CreateStringStorage(name="lines", strings=["a", "b"]))
            await ask(protocol.CreateStringStorage(name="map", strings=["a"], keys=["k"]))
            agent_id = await talk.agent(
                workflow(
                    {"name": "pre", "type": "Transform", "template": "t", "default_exit": "a"},
                    {"name": "a", "type": type_name, **BASE[type_name]},
                    model="script",
                )
            )

            async def params() -> protocol.Params:
                reply = await ask(protocol.GetParams(agent_id=agent_id, node_name="a"))
                assert isinstance(reply, protocol.Params)
                return reply

            first = await params()
            assert first.params == first.baseline
            assert set(first.params) == {"type", *cls.model_fields}
            now = copy.deepcopy(first.params)
            fixed = fixed_params(cls)
            assert {"type", "name", *cls.exit_fields().values()} <= set(fixed)
            for name, info in cls.model_fields.items():
                assert (name in fixed) == (name in STRUCTURAL or field_kind(info) is Kind.EXIT), name
                if name in fixed:
                    continue
                value = another_value(type_name, name, schema["properties"][name], schema.get("$defs", {}), now[name])
                assert value != now[name], name
                reply = await ask(protocol.ChangeParams(agent_id=agent_id, node_name="a", params={name: value}))
                assert isinstance(reply, protocol.Ok)
                now[name] = value
                after = await params()
                assert after.params == now, name
                assert after.baseline == first.baseline
            for name in fixed:
                value = first.params[name]  # even the value that it has
                with pytest.raises(errors.ParamNotMutable, match=rf"{type_name}\.{name} is fixed") as refused:
                    await ask(protocol.ChangeParams(agent_id=agent_id, node_name="a", params={name: value}))
                assert (refused.value.path, refused.value.node_name) == (f"$.params.{name}", "a")
            assert (await params()).params == now
            assert (await talk.say(agent_id, "x")).complete.status == "Success"

    run(work)
