"""The workflow compiler: every finding, all at once, with node, field and path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import errors
from bridge.config import Settings
from bridge.models import ModelStore
from bridge.node import default_registry
from bridge.protocol import Problem
from bridge.storages import EmbeddedStorages, StringStorages
from bridge.workflow import CompileScope, ModelFacts, Workflow, compile_workflow, raise_problems

MODELS = {
    "chat": ModelFacts("language", 1024),
    "embed": ModelFacts("embedding", 512),
    "open": ModelFacts("language", 0),
}


def compile_(raw: object, root: Path | None = None, **limits: Any) -> tuple[Workflow | None, list[Problem]]:
    strings = StringStorages()
    knowledge = EmbeddedStorages(ModelStore(Settings(), {}))
    strings.root = knowledge.root = root
    scope = CompileScope(default_registry(), MODELS.get, strings=strings.find, knowledge=knowledge.describe, **limits)
    return compile_workflow(raw, scope)


def one_node(**node: Any) -> dict[str, Any]:
    return {"start_node": "a", "default_model": "chat", "nodes": [{"name": "a", "type": "Generate", **node}]}


def errors_of(raw: object, root: Path | None = None, **limits: int) -> list[tuple[str, int]]:
    return [(p.path, p.code) for p in compile_(raw, root, **limits)[1] if p.severity == "error"]


def warnings_of(raw: object) -> list[tuple[str, str]]:
    workflow, problems = compile_(raw)
    assert workflow is not None, problems
    return [(p.path, p.message) for p in problems]


def test_a_sound_workflow_has_no_findings() -> None:
    raw = {
        "version": 1,
        "start_node": "mira",
        "default_model": "chat",
        "player_name": "Player",
        "variables": [{"name": "player_level", "type": "int", "value": 1}],
        "nodes": [
            {"name": "mira", "type": "Generate", "system_prompt": "…", "default_exit": "bram"},
            {"name": "bram", "type": "Generate", "template": "{{slot.mira}} {{user_message}}", "default_exit": ""},
        ],
    }
    workflow, problems = compile_(raw)
    assert problems == []
    assert workflow is not None
    assert list(workflow.nodes) == ["mira", "bram"]
    assert workflow.variables == {"player_level": ("int", 1)}


ONE_FAULT: list[tuple[Any, str, int]] = [
    ([], "$", 3003),
    (None, "$", 3003),
    ("{}", "$", 3003),
    ({"start_node": "a", "nodes": []}, "$.nodes", 3003),
    ({"start_node": "a"}, "$.nodes", 3003),
    ({"start_node": "a", "nodes": {}}, "$.nodes", 3003),
    ({**one_node(), "version": 2}, "$.version", 3003),
    ({**one_node(), "version": "1"}, "$.version", 3007),
    ({**one_node(), "version": True}, "$.version", 3007),
    ({**one_node(), "version": 0}, "$.version", 3007),
    ({**one_node(), "extra": 1}, "$.extra", 3003),
    ({**one_node(), "start_node": "b"}, "$.start_node", 3003),
    ({**one_node(), "start_node": ""}, "$.start_node", 3003),
    ({**one_node(), "start_node": 3}, "$.start_node", 3003),
    ({**one_node(), "default_model": "gone"}, "$.default_model", 6005),
    ({**one_node(), "default_model": "embed"}, "$.default_model", 3003),
    ({**one_node(), "default_model": ""}, "$.nodes[0].model", 3003),
    ({**one_node(), "player_name": 1}, "$.player_name", 3003),
    ({**one_node(), "nodes": [*one_node()["nodes"], 7]}, "$.nodes[1]", 3003),
    (one_node(model="gone"), "$.nodes[0].model", 6005),
    (one_node(model="embed"), "$.nodes[0].model", 3003),
    (one_node(type="Nope"), "$.nodes[0].type", 3003),
    (one_node(type=None), "$.nodes[0].type", 3003),
    (one_node(type=["Generate"]), "$.nodes[0].type", 3003),
    (one_node(temperature=1), "$.nodes[0].temperature", 3003),
    (one_node(default_exit="b"), "$.nodes[0].default_exit", 3008),
    (one_node(default_exit=1), "$.nodes[0].default_exit", 3003),
    (one_node(input="b"), "$.nodes[0].input", 3003),
    (one_node(template="{{#slot.a}}"), "$.nodes[0].template", 3003),
    (one_node(template="{{> /etc/passwd}}"), "$.nodes[0].template", 3003),
    (one_node(template="{{=<% %>=}}"), "$.nodes[0].template", 3003),
    (one_node(template="{{}}"), "$.nodes[0].template", 3003),
    (one_node(template="{{user_message.__class__}}"), "$.nodes[0].template", 3003),
    (one_node(template="{{var.gold}}"), "$.nodes[0].template", 3003),
    (one_node(template=5), "$.nodes[0].template", 3003),
    (one_node(max_tokens=0), "$.nodes[0].max_tokens", 3007),
    (one_node(max_tokens=1024), "$.nodes[0].max_tokens", 3007),
    (one_node(max_tokens=512, context_size=512), "$.nodes[0].max_tokens", 3007),
    (one_node(max_tokens="many"), "$.nodes[0].max_tokens", 3003),
    (one_node(max_tokens=True), "$.nodes[0].max_tokens", 3003),
    (one_node(send="Loud"), "$.nodes[0].send", 3007),
    (one_node(history_role="User"), "$.nodes[0].history_role", 3007),
    (one_node(history_role="System"), "$.nodes[0].history_role", 3007),
    (one_node(placement="Behind"), "$.nodes[0].placement", 3007),
    (one_node(sampling={"top_k": -1}), "$.nodes[0].sampling.top_k", 3007),
    (one_node(sampling={"heat": 1}), "$.nodes[0].sampling.heat", 3003),
    (one_node(sampling={"temperature": float("nan")}), "$.nodes[0].sampling.temperature", 3007),
    (one_node(stop=["x", 1]), "$.nodes[0].stop[1]", 3003),
    (one_node(examples=[{"speaker": "A"}]), "$.nodes[0].examples[0].text", 3003),
    (one_node(output_name="user_message"), "$.nodes[0].output_name", 3003),
    (one_node(output_name="two words"), "$.nodes[0].output_name", 3003),
    (one_node(type="CannedResponse", string_storage="lines.txt"), "$.nodes[0].string_storage", 3010),
    (one_node(type="HumanMessageGuardrail", inline_strings=["ok", "a(?=b)"]), "$.nodes[0].inline_strings[1]", 3007),
    (one_node(type="HumanMessageGuardrail", inline_strings=[r"(\w)\1"]), "$.nodes[0].inline_strings[0]", 3007),
    (one_node(type="HumanMessageGuardrail", inline_strings=["("]), "$.nodes[0].inline_strings[0]", 3007),
]


@pytest.mark.parametrize(("raw", "path", "code"), ONE_FAULT, ids=range(len(ONE_FAULT)))
def test_each_fault_is_found_alone(raw: Any, path: str, code: int) -> None:
    workflow, problems = compile_(raw)
    assert workflow is None
    assert [(p.path, p.code) for p in problems if p.severity == "error"] == [(path, code)]


@pytest.mark.parametrize("name", ["", "user_message", "1a", "two words", "a-b", "ä", "x" * 65, " a", None, 4, ["a"]])
def test_bad_node_names(name: Any) -> None:
    raw = {
        "start_node": "b",
        "default_model": "chat",
        "nodes": [{"name": name, "type": "Generate"}, *one_node(name="b")["nodes"]],
    }
    assert errors_of(raw) == [("$.nodes[0].name", 3003)]


@pytest.mark.parametrize(
    ("variable", "place", "code"),
    [
        ({"name": "x", "type": "int", "value": 1.5}, ".value", 3007),
        ({"name": "x", "type": "int", "value": True}, ".value", 3007),
        ({"name": "x", "type": "bool", "value": 1}, ".value", 3007),
        ({"name": "x", "type": "float", "value": "1"}, ".value", 3007),
        ({"name": "x", "type": "float", "value": 10**400}, ".value", 3007),
        ({"name": "x", "type": "string", "value": None}, ".value", 3007),
        ({"name": "x", "type": "string_set", "value": ["a", 1]}, ".value", 3007),
        ({"name": "x", "type": "date", "value": 1}, ".type", 3007),
        ({"name": "x", "type": "int"}, ".value", 3003),
        ({"name": "2x", "type": "int", "value": 1}, ".name", 3003),
        ({"name": "x", "type": "int", "value": 1, "unit": "gold"}, ".unit", 3003),
        ("x", "", 3003),
    ],
)
def test_bad_variables(variable: Any, place: str, code: int) -> None:
    assert errors_of({**one_node(), "variables": [variable]}) == [(f"$.variables[0]{place}", code)]


def test_all_faults_are_listed_at_once() -> None:
    raw = {
        "start_node": "nobody",
        "default_model": "gone",
        "colour": "red",
        "variables": [{"name": "gold", "type": "int", "value": "much"}],
        "nodes": [
            {"name": "a", "type": "Generate", "default_exit": "z", "max_tokens": 0, "template": "{{#x}}"},
            {"name": "a", "type": "Transform", "input": "b"},
            {"name": "g", "type": "HumanMessageGuardrail", "inline_strings": ["(", "ok", "["], "triggered_exit": "y"},
        ],
    }
    found = errors_of(raw)
    assert set(found) == {
        ("$.start_node", 3003),
        ("$.default_model", 6005),
        ("$.colour", 3003),
        ("$.variables[0].value", 3007),
        ("$.nodes[0].default_exit", 3008),
        ("$.nodes[0].max_tokens", 3007),
        ("$.nodes[0].template", 3003),
        ("$.nodes[1].name", 3003),
        ("$.nodes[1].input", 3003),
        ("$.nodes[2].inline_strings[0]", 3007),
        ("$.nodes[2].inline_strings[2]", 3007),
        ("$.nodes[2].triggered_exit", 3008),
    }
    assert len(found) == 12


def test_the_errors_code_is_the_shared_one_else_3003() -> None:
    exits = {
        "start_node": "a",
        "default_model": "chat",
        "nodes": [{"name": "a", "type": "Generate", "default_exit": "q"}],
    }
    with pytest.raises(errors.InvalidExitTarget, match=r"\$\.nodes\[0\]\.default_exit") as shared:
        raise_problems(compile_(exits)[1])
    assert shared.value.problems[0].node_name == "a"
    exits["start_node"] = "b"
    with pytest.raises(errors.WorkflowInvalid, match="and 1 more"):
        raise_problems(compile_(exits)[1])


def test_warnings_do_not_stop_a_workflow() -> None:
    raw = {
        "start_node": "a",
        "default_model": "chat",
        "nodes": [
            {"name": "a", "type": "Generate", "template": "{{slot.gone}} {{slot.c}}", "default_exit": "b"},
            {"name": "b", "type": "Generate", "input": "a", "template": "{{user_message}}", "default_exit": "a"},
            {"name": "c", "type": "Transform", "output_name": "a", "template": "{{instruction_x}}{{knowledge_y}}"[:17]},
        ],
    }
    assert warnings_of(raw) == [
        ("$.nodes", "the exits form a cycle: a → b → a; max_steps ends a turn that never leaves it"),
        ("$.nodes[0].template", "{{slot.c}}: no node writes this slot; known: a, b"),
        ("$.nodes[0].template", "{{slot.gone}}: no node writes this slot; known: a, b"),
        (
            "$.nodes[0].template",
            "the template stands in place of the player's line and does not show it; "
            "add {{user_message}} if the model should read it",
        ),
        (
            "$.nodes[1].input",
            "the template stands in place of the input and does not show it; add {{slot.a}} or clear input",
        ),
        ("$.nodes[2].template", "{{instruction_x}}: no node gives this"),
        ("$.nodes[2].output_name", "the slot 'a' is written by several nodes (a, c); the last one to run wins"),
        ("$.nodes[2].name", "no exit leads from 'a' to this node"),
    ]


def test_a_slot_written_only_downstream_is_warned_about() -> None:
    raw = {
        "start_node": "a",
        "default_model": "chat",
        "nodes": [
            {"name": "a", "type": "Transform", "template": "{{slot.b}}", "send": "Whole", "default_exit": "b"},
            {"name": "b", "type": "Transform", "template": "x"},
        ],
    }
    assert warnings_of(raw) == [("$.nodes[0].template", "{{slot.b}}: the slot is not written before this node runs")]


def test_a_tag_in_text_that_is_no_template_is_warned_about() -> None:
    assert warnings_of(one_node(system_prompt="You are {{npc_name}}.")) == [
        ("$.nodes[0].system_prompt", "system_prompt is no template: a {{tag}} in it stays as it stands")
    ]


def test_a_workflow_that_never_speaks_is_warned_about() -> None:
    raw = {"start_node": "a", "nodes": [{"name": "a", "type": "Transform", "template": "x"}]}
    assert warnings_of(raw) == [("$.nodes", "no node that is reached sends text; give one `send` Streamed or Whole")]


def test_unknown_parameters_are_named_with_what_may_have_been_meant() -> None:
    raw = one_node(sytem_prompt="x", sampling={"temprature": 1}, examples=[{"speaker": "a", "text": "b", "zzz": 1}])
    messages = {p.path: p.message for p in compile_(raw)[1] if p.severity == "error"}
    assert (
        messages["$.nodes[0].sytem_prompt"] == "Generate has no parameter 'sytem_prompt'; did you mean 'system_prompt'?"
    )
    assert "did you mean 'temperature'?" in messages["$.nodes[0].sampling.temprature"]
    assert messages["$.nodes[0].examples[0].zzz"] == "examples has no parameter 'zzz'; known: speaker, text"


def test_input_user_message_is_the_same_as_empty() -> None:
    assert warnings_of(one_node(input="user_message")) == []


def test_limits() -> None:
    many = {
        "start_node": "n0",
        "default_model": "chat",
        "nodes": [{"name": f"n{i}", "type": "Generate"} for i in range(6)],
    }
    assert errors_of(many, max_nodes=5) == [("$.nodes", 3014)]
    assert errors_of(one_node(template="x" * 101 + "{{user_message}}"), max_template_chars=100) == [
        ("$.nodes[0].template", 3003)
    ]


def test_storages_are_read_only_inside_the_folder(tmp_path: Path) -> None:
    root = tmp_path / "Ж 田中　é"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "lines.txt").write_text("# a comment\n\nHello.\n", encoding="utf-8")
    (root / "bad.json").write_text('[{"id": "a"}]', encoding="utf-8")
    (root / "twice.json").write_text('[{"id": "a", "text": "1"}, {"id": "a", "text": "2"}]', encoding="utf-8")
    (root / "empty.txt").write_text("\n", encoding="utf-8")
    (root / "latin.txt").write_bytes(b"caf\xe9")
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")

    def outcome(name: str) -> list[tuple[str, int]]:
        return errors_of(one_node(type="CannedResponse", string_storage=name), root)

    place = "$.nodes[0].string_storage"
    assert outcome("sub/lines.txt") == []
    assert outcome("sub\\lines.txt") == []
    for name in [
        "../secret.txt",
        str(tmp_path / "secret.txt"),
        "link.txt",
        "sub/../../secret.txt",
        "C:\\x.txt",
        "\\x",
        "a\0b",
    ]:
        assert outcome(name) == [(place, 3009)], name
    for name in ["gone.txt", "sub", "."]:
        assert outcome(name) == [(place, 3010)], name
    for name in ["bad.json", "twice.json", "empty.txt", "latin.txt"]:
        assert outcome(name) == [(place, 7003)], name


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
nodes = st.dictionaries(
    st.sampled_from(
        ["name", "type", "model", "input", "template", "default_exit", "output_name", "max_tokens", "sampling", "x",
         "inline_strings", "string_storage", "instruction", "stop", "examples", "send", "triggered_exit"]
    ),
    json_values | st.sampled_from(["a", "b", *default_registry()]),
    max_size=8,
)  # fmt: skip


@given(
    st.dictionaries(
        st.sampled_from(["version", "start_node", "default_model", "player_name", "variables", "nodes", "y"]),
        json_values | st.lists(nodes, max_size=4),
    )
    | json_values
)
def test_no_json_raises(raw: Any) -> None:
    workflow, problems = compile_(raw)
    assert (workflow is None) == any(p.severity == "error" for p in problems)
