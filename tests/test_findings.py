"""What an author is told: typing errors are findings, said once, with what may have been meant."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from bridge import errors, protocol
from bridge.catalog import CatalogEntry, parse_catalog
from bridge.client import error_from
from bridge.config import Settings, load_settings
from bridge.model_files import why_absent
from bridge.models import ModelStore
from bridge.node import (
    ENTRY_POINT_GROUP,
    Kind,
    Node,
    NodeTypeClash,
    TurnView,
    build_registry,
    exit_param,
    packaged_nodes,
    param,
)
from bridge.protocol import Problem
from bridge.storages import EmbeddedStorages, StringStorages
from bridge.wording import fault_words, suggest
from bridge.workflow import CompileScope, ModelFacts, change_node, compile_workflow
from tests.talk import EMBED, run, talking

MODELS = {"chat": ModelFacts("language", 1024), "embed": ModelFacts("embedding", 512)}
LORE: dict[str, Any] = {
    "version": 1,
    "embedding_model": "embed",
    "records_file": "lore.records.json",
    "fields": [{"name": "min_level", "type": "int", "default": 1}, {"name": "intent", "type": "string", "default": ""}],
}
SECRET: dict[str, Any] = {"id": "secret", "text": "the king is dead", "metadata": {"min_level": 5}}
RETRIEVE: dict[str, Any] = {"name": "k", "type": "Retrieve", "embedded_storage": "lore.json", "found_exit": "t"}
SAYS: dict[str, Any] = {"name": "t", "type": "Transform", "template": "x", "send": "Whole"}


class Lamp(Node):
    """Reads a variable of the game."""

    oil: str = param("", "Variable with the oil.", kind=Kind.VARIABLE)
    default_exit: str = exit_param("it burns")

    async def run(self, turn: TurnView) -> str:
        turn.render("oil")
        return "default"


def types() -> dict[str, type[Node]]:
    return build_registry([*packaged_nodes(), Lamp], [])


def findings(raw: object, root: Path | None = None, absent: str = "") -> list[Problem]:
    strings, knowledge = StringStorages(), EmbeddedStorages(ModelStore(Settings(), {}))
    strings.root = knowledge.root = root
    scope = CompileScope(
        types(), MODELS.get, strings=strings.find, knowledge=knowledge.describe, absent=lambda name: absent
    )
    return compile_workflow(raw, scope)[1]


def said(raw: object, root: Path | None = None, absent: str = "") -> dict[str, str]:
    """Message by path."""
    return {problem.path: problem.message for problem in findings(raw, root, absent)}


def flow(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"start_node": nodes[0]["name"], "nodes": list(nodes), **more}


def lay_out(folder: Path, *records: dict[str, Any]) -> None:
    (folder / "lore.json").write_text(json.dumps(LORE), encoding="utf-8")
    (folder / "lore.records.json").write_text(json.dumps(records), encoding="utf-8")


# ---- knowledge -----------------------------------------------------------------------------------------------


def test_a_typing_error_in_metadata_does_not_open_a_secret_in_silence(tmp_path: Path) -> None:
    lay_out(tmp_path, {**SECRET, "metadata": {"min_levl": 5}})
    (problem,) = findings(flow(RETRIEVE, SAYS), tmp_path)
    assert (problem.severity, problem.code, problem.node_name, problem.field) == (
        "warning",
        8003,
        "k",
        "embedded_storage",
    )
    assert "$[0].metadata.min_levl" in problem.message
    assert problem.message.endswith("did you mean 'min_level'?")
    lay_out(tmp_path, SECRET)
    assert findings(flow(RETRIEVE, SAYS), tmp_path) == []


def test_create_agent_warns_of_it_too(tmp_path: Path) -> None:
    lay_out(tmp_path, {**SECRET, "metadata": {"min_levl": 5}})

    async def work() -> None:
        async with talking(EMBED) as talk:
            await talk.client.request(protocol.ConfigureSession(storage_folder=str(tmp_path)))
            made = await talk.client.create_agent(flow(RETRIEVE, SAYS))
            assert [(warning.node_name, warning.code) for warning in made.warnings] == [("k", 8003)]

    run(work)


@pytest.mark.parametrize(
    ("key", "hint"),
    [("min_level", "put it under `metadata`"), ("metdata", "did you mean 'metadata'?"), ("x", "under `metadata`")],
)
def test_a_key_beside_metadata_is_an_error(tmp_path: Path, key: str, hint: str) -> None:
    lay_out(tmp_path, {"id": "a", "text": "b", key: 5})
    (problem,) = findings(flow(RETRIEVE, SAYS), tmp_path)
    assert (problem.severity, problem.code) == ("error", 8003)
    assert f"$[0].{key}: " in problem.message
    assert problem.message.endswith(hint)


def test_a_file_of_nearly_that_name_is_named(tmp_path: Path) -> None:
    lay_out(tmp_path, SECRET)
    (problem,) = findings(flow({**RETRIEVE, "embedded_storage": "lores.json"}, SAYS), tmp_path)
    assert problem.code == 3010
    assert problem.message.endswith("there is no file 'lores.json' in the storage folder; did you mean 'lore.json'?")


def test_the_place_in_a_filter_is_said_once(tmp_path: Path) -> None:
    lay_out(tmp_path, SECRET)
    filter_ = {"op": "le", "lhs": {"knowledge": "min_levl"}, "rhs": {"value": 1}}
    (problem,) = findings(flow({**RETRIEVE, "filter": filter_}, SAYS), tmp_path)
    assert problem.path == "$.nodes[0].filter.lhs.knowledge"
    assert problem.message == "the storage has no field 'min_levl'; did you mean 'min_level'?"


def test_retrieve_tells_what_it_did_not_take(tmp_path: Path) -> None:
    lay_out(tmp_path, *({"id": str(number), "text": f"word{number} of the old king"} for number in range(7)))

    async def work() -> None:
        async with talking(EMBED) as talk:
            await talk.client.request(protocol.ConfigureSession(storage_folder=str(tmp_path)))
            far = {**RETRIEVE, "threshold": 0.001, "not_found_exit": "t"}
            for node, found, nearest, reason in (
                (far, 0, 5, "away; the threshold is 0.001"),
                ({**far, "threshold": 0, "top_k": 1}, 1, 5, ""),
                ({**far, "threshold": 0, "top_k": 7}, 7, 5, ""),
            ):
                heard = await talk.say(await talk.agent(flow(node, SAYS)), "a word of the king")
                details = heard.debug["steps"][0]["details"]
                assert (len(details["hits"]), len(details["nearest"])) == (found, nearest)
                assert details["reason"].endswith(reason)
                assert bool(details["reason"]) is not bool(found)
                assert len(heard.interaction.knowledge[0].chunks) == found

    run(work)


# ---- intents -------------------------------------------------------------------------------------------------


RULES: dict[str, Any] = {
    "name": "r", "type": "IntentToInstruction", "inline_keys": ["enter", "brbe"], "inline_strings": ["1", "2"],
    "default_exit": "t",
}  # fmt: skip


def test_an_instruction_for_an_intent_that_nobody_finds(tmp_path: Path) -> None:
    labels = [{"id": "enter", "description": "e"}, {"id": "bribe", "description": "b"}]
    model = {"name": "c", "type": "ClassifyIntentLLM", "intents": labels, "found_exit": "r", "not_found_exit": "t"}
    warned = {"$.nodes[1].inline_keys": "no node finds the intent 'brbe'; did you mean 'bribe'?"}
    assert said(flow(model, RULES, SAYS, default_model="chat")) == warned
    lay_out(tmp_path, *({"id": word, "text": word, "metadata": {"intent": word}} for word in ("enter", "bribe")))
    near = {"name": "c", "type": "ClassifyIntent", "embedded_storage": "lore.json", "found_exit": "r"}
    assert said(flow({**near, "metadata_field": "intent"}, RULES, SAYS), tmp_path) == warned
    assert said(flow(near, RULES, SAYS), tmp_path) == warned  # the intents are the ids


# ---- the workflow --------------------------------------------------------------------------------------------


def test_a_parameter_may_name_a_variable() -> None:
    lamp = {"name": "l", "type": "Lamp", "oil": "oli", "default_exit": "t"}
    oil = {"name": "oil", "type": "int", "value": 1}
    found = said(flow(lamp, SAYS, variables=[oil]))
    assert found == {"$.nodes[0].oil": "oil names no variable of the workflow: 'oli'; did you mean 'oil'?"}
    assert said(flow({**lamp, "oil": "oil"}, SAYS, variables=[oil])) == {}
    assert Lamp.model_json_schema()["properties"]["oil"]["kind"] == "variable"


def test_a_variable_that_is_wrong_is_not_undeclared_too(tmp_path: Path) -> None:
    lay_out(tmp_path, SECRET)
    filter_ = {"op": "le", "lhs": {"knowledge": "min_level"}, "rhs": {"agent": "level"}}
    nodes = (
        {**RETRIEVE, "filter": filter_},
        {**SAYS, "template": "{{var.level}}", "default_exit": "l"},
        {"name": "l", "type": "Lamp", "oil": "level"},
    )
    for wrong in ({"type": "integer", "value": 1}, {"type": "int", "value": "high"}, {"type": "int"}):
        found = said(flow(*nodes, variables=[{"name": "level", **wrong}]), tmp_path)
        assert list(found) in (["$.variables[0].type"], ["$.variables[0].value"])


def test_sampling_has_a_place_of_its_own() -> None:
    raw = flow({"name": "g", "type": "Generate", "temperature": 0.5}, default_model="chat")
    assert said(raw) == {
        "$.nodes[0].temperature": "Generate has no parameter 'temperature'; it is part of sampling: {\"sampling\": "
        '{"temperature": …}}'
    }
    scope = CompileScope(types(), MODELS.get)
    del raw["nodes"][0]["temperature"]
    made, _ = compile_workflow(raw, scope)
    assert made is not None
    with pytest.raises(errors.InvalidValue, match="it is part of sampling") as caught:
        change_node(made, "g", {"temperature": 0.5}, scope)
    assert caught.value.path == "$.params.temperature"


def test_names_that_are_nearly_right() -> None:
    found = said({"start_node": "T", "nods": [], "nodes": [SAYS, {"name": "g", "type": "Generat"}]})
    assert found["$.nods"] == "unknown field 'nods'; did you mean 'nodes'?"
    assert found["$.start_node"] == "start_node names no node: 'T'; did you mean 't'?"
    assert found["$.nodes[1].type"] == "unknown node type 'Generat'; did you mean 'Generate'?"


def test_two_nodes_of_one_name_are_not_two_writers() -> None:
    messages = [problem.message for problem in findings(flow(SAYS, SAYS))]
    assert any("two nodes are called 't'" in message for message in messages)
    assert not any("written by several" in message for message in messages)


def test_a_tag_lists_what_is_given() -> None:
    lore = {"name": "i", "type": "Instruction", "instruction_name": "mood", "instruction": "x", "default_exit": "t"}
    found = said(flow(lore, {**SAYS, "template": "{{instruction_mod}}"}))
    assert found["$.nodes[1].template"] == "{{instruction_mod}}: no node gives this; did you mean 'mood'?"


def test_no_class_of_the_code_is_named() -> None:
    (message,) = said(flow({"name": "g", "type": "Generate", "sampling": 3}, default_model="chat")).values()
    assert message == "it must be an object, not 3"


def test_a_model_that_is_not_here_is_a_warning() -> None:
    raw = flow({"name": "g", "type": "Generate"}, default_model="chat")
    (problem,) = findings(raw, absent="fetch it")
    assert (problem.severity, problem.code, problem.path, problem.message) == (
        "warning",
        6007,
        "$.default_model",
        "fetch it",
    )
    entry = CatalogEntry.model_validate(
        {"name": "far", "engine": "llama-cpp", "source": {"huggingface": "a/b", "files": ["c.gguf"]}}
    )
    assert why_absent(entry, Settings(models_folder="/nowhere")) == (
        "the model 'far' is not downloaded: parley models pull far"
    )
    assert why_absent(CatalogEntry(name="m", engine="mock"), Settings()) == ""


# ---- catalogs, settings, storages, entry points --------------------------------------------------------------


def test_a_wrong_key_of_a_catalog() -> None:
    with pytest.raises(errors.InvalidValue, match=r"unknown field 'enginee'; did you mean 'engine'\?"):
        parse_catalog({"models": [{"name": "a", "enginee": "mock", "engine": "mock"}]}, "c")


def test_a_wrong_setting() -> None:
    with pytest.raises(errors.InvalidValue, match=r"did you mean 'max_nodes'\?"):
        load_settings(environment={"PARLEY_MAX_NODE": "1"})


def test_what_is_destroyed_by_a_wrong_name_is_looked_for() -> None:
    storages = StringStorages()
    storages.create("rumours", strings=["a"])
    with pytest.raises(
        errors.InvalidStorageName, match=r"no string storage 'rumors'; did you mean 'rumours'\?"
    ) as caught:
        storages.destroy("rumors")
    assert caught.value.code == 7001
    assert "128" in errors.InvalidStorageName.text


class _Package:
    name = "my-nodes"


class _Broken(EntryPoint):
    dist = _Package()  # type: ignore[assignment]


def test_a_broken_package_of_nodes_is_named() -> None:
    with pytest.raises(NodeTypeClash, match="python -m pip uninstall my-nodes"):
        build_registry([], [_Broken("lamp", "nowhere.at_all:Lamp", ENTRY_POINT_GROUP)])


# ---- a node type at work -------------------------------------------------------------------------------------


def test_a_fault_of_a_node_type_is_no_fault_of_a_model() -> None:
    async def work() -> None:
        async with talking(registry=types()) as talk:
            heard = await talk.say(await talk.agent(flow({"name": "l", "type": "Lamp"}, SAYS)), "x")
            assert heard.complete.error is not None
            assert heard.complete.error.code == 4001
            assert heard.complete.error.message == (
                "node 'l': the code of its type Lamp failed: ValueError: Lamp has no template 'oil'; known: none "
                "(a fault of the node type, not of a model)"
            )

    run(work)


def test_an_exception_of_the_client_shows_more_than_the_first_finding() -> None:
    problems = [Problem(severity="error", code=3003, path=f"$.{n}", message=f"wrong {n}") for n in range(7)]
    fault = error_from(
        protocol.Error(code=3003, name="WorkflowInvalid", message="$.0: wrong 0 (and 6 more)", problems=problems)
    )
    assert str(fault).splitlines() == ["$.0: wrong 0 (and 6 more)", *(f"  $.{n}: wrong {n}" for n in range(1, 5))]
    assert len(fault.problems) == 7


def test_ok_prints_as_something() -> None:
    assert str(protocol.Ok()) == "Ok"


# ---- the words themselves ------------------------------------------------------------------------------------


class _Inner(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    colour: str = ""


class _Outer(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    inner: list[_Inner] = []
    count: int = 0


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"inner": [{"color": "x"}]}, "unknown field 'color'; did you mean 'colour'?"),
        ({"inner": [3]}, "it must be an object, not 3"),
        ({"count": "x"}, "it should be a valid integer, not 'x'"),
    ],
)
def test_faults_in_plain_words(value: object, words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        _Outer.model_validate(value)
    assert fault_words(caught.value.errors()[0], _Outer) == words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("levl", "did you mean 'level'?"),
        ("LEVEL", "did you mean 'level'?"),
        ("zzz", "known: level, x"),
        (3, "known: level, x"),
    ],
)
def test_suggestions(name: object, words: str) -> None:
    assert suggest(name, ["level", "x"]) == words
    assert suggest(name, []) == "known: none"
