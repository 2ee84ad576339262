"""Node types: discovery, installed packages, clashes, and that no type is without its test and meaning."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from bridge.node import (
    ENTRY_POINT_GROUP,
    Kind,
    Node,
    NodeTypeClash,
    TurnView,
    build_registry,
    default_registry,
    exit_param,
    field_kind,
    is_structural,
    node_kinds,
    packaged_nodes,
    param,
)
from bridge.schema import full_schema
from bridge.workflow import CompileScope, compile_workflow

STRUCTURAL = {"name", "model", "context_size", "max_tokens", "output_name", "inline_strings", "default_exit"}
MUTABLE = {
    "system_prompt",
    "sampling",
    "stop",
    "template",
    "input",
    "placement",
    "send",
    "history_role",
    "history_name",
}


class Whisper(Node):
    """A node type that a package of somebody else brings."""

    volume: float = param(0.5, "How loud.", ge=0, le=1)
    output_name: str = param("", "Slot to write.", kind=Kind.SLOT_OUTPUT, structural=True)
    done_exit: str = exit_param("it is said")

    async def run(self, turn: TurnView) -> str:
        return "done"


class Other:
    """No node type at all."""

    class Whisper(Node):
        """Another type of the same name."""

        async def run(self, turn: TurnView) -> str:
            return "done"


def entry(name: str) -> EntryPoint:
    return EntryPoint("whisper", f"tests.test_node:{name}", ENTRY_POINT_GROUP)


def test_installed_packages_add_types() -> None:
    registry = build_registry(list(packaged_nodes()), [entry("Whisper")])
    raw = {"start_node": "w", "nodes": [{"name": "w", "type": "Whisper", "volume": 2.0, "done_exit": "x"}]}
    _, problems = compile_workflow(raw, CompileScope(registry, lambda _: None))
    assert [(p.path, p.code) for p in problems if p.severity == "error"] == [
        ("$.nodes[0].volume", 3007),
        ("$.nodes[0].done_exit", 3008),
    ]
    schema = full_schema(registry)["$defs"]["NodeWhisper"]
    assert schema["properties"]["volume"]["maximum"] == 1
    assert schema["description"] == "A node type that a package of somebody else brings."
    assert node_kinds(registry)["Whisper"].produces


def test_a_name_taken_twice_is_a_start_up_error() -> None:
    with pytest.raises(NodeTypeClash, match=r"'Whisper' is declared twice: .*test_node\.Whisper and .*Other\.Whisper"):
        build_registry([Whisper], [entry("Other.Whisper")])
    assert build_registry([Whisper], [entry("Whisper")]) == {"Whisper": Whisper}


@pytest.mark.parametrize("name", ["Other", "entry", "NAMELESS"])
def test_an_entry_point_that_is_no_node_is_a_start_up_error(name: str) -> None:
    with pytest.raises(NodeTypeClash, match="whisper"):
        build_registry([], [entry(name)])


def test_the_packaged_types() -> None:
    names = {cls.type_name for cls in packaged_nodes()}
    assert names == {
        "CannedResponse", "ClassifyAttributesLLM", "ClassifyIntent", "ClassifyIntentLLM", "Generate",
        "GenerateAndSpeak", "HumanMessageGuardrail", "Instruction", "IntentToInstruction", "Retrieve", "Speak",
        "Summarize", "ToolCall", "Transform",
    }  # fmt: skip


@pytest.mark.parametrize("name", sorted(default_registry()))
def test_every_parameter_is_described_and_knows_whether_it_is_fixed(name: str) -> None:
    cls = default_registry()[name]
    assert cls.__doc__
    assert cls.exit_fields()
    for field, info in cls.model_fields.items():
        assert info.description, field
        if field in STRUCTURAL or field_kind(info) is Kind.EXIT:
            assert is_structural(info), field
        elif field in MUTABLE:
            assert not is_structural(info), field
