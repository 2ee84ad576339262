"""That whatever is nearly right is read, or refused with the error that says so, and nothing worse."""

from __future__ import annotations

import asyncio
import json
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.catalog import read_catalog
from bridge.config import Settings, load_settings
from bridge.engines.gguf_file import read_gguf
from bridge.errors import (
    BY_CODE,
    InvalidDialog,
    InvalidEmbeddedStorageData,
    InvalidStorageData,
    InvalidValue,
    ModelCorrupt,
    ParleyError,
    StorageFileNotFound,
    StorageOutsideRoot,
    WorkflowInvalid,
)
from bridge.filter import Field, compile_filter
from bridge.knowledge import knowledge_from_config, read_knowledge
from bridge.model_files import model_paths
from bridge.node import packaged_nodes
from bridge.packaged_model import package_folders
from bridge.protocol import (
    ConfigureSession,
    DestroyAgent,
    ExportDialog,
    Request,
    SeedDialog,
    ValidateWorkflow,
    Validation,
)
from bridge.protocol import Dialog as DialogReply
from bridge.storage import load_string_storage
from bridge.tool_call import Tool, parse_reply
from tests.gguf_writer import F32, Q4_K, gguf
from tests.mutations import ODD, changed, damaged, off_the_wire, written
from tests.talk import EMBED, VOICE, Talk, scripted, talking, workflow

FIXTURES = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow)
PATIENCE_S = 60.0

# ---- workflows -----------------------------------------------------------------------------------------------


def chain(*nodes: dict[str, Any]) -> list[dict[str, Any]]:
    """Each node leads to the next, whatever happens in it."""
    types = {cls.type_name: cls for cls in packaged_nodes()}
    linked = []
    for node, following in zip(nodes, [*(node["name"] for node in nodes[1:]), ""], strict=True):
        linked.append({**{field: following for field in types[node["type"]].exit_fields().values()}, **node})
    return linked


EVERYTHING = {
    "version": 1,
    "start_node": "guard",
    "default_model": "echo",
    "player_name": "Guest",
    "variables": [
        {"name": "level", "type": "int", "value": 1},
        {"name": "mood", "type": "string", "value": "calm"},
        {"name": "names", "type": "string_set", "value": ["a", "b"]},
    ],
    "nodes": chain(
        {"name": "guard", "type": "HumanMessageGuardrail", "inline_strings": ["ignore .* rules"]},
        {"name": "lore", "type": "Retrieve", "embedded_storage": "lore.json", "top_k": 1, "threshold": 0.8,
         "filter": {"op": "le", "lhs": {"knowledge": "min_level"}, "rhs": {"agent": "level"}}},
        {"name": "wish", "type": "ClassifyIntent", "embedded_storage": "lore.json", "metadata_field": "kind",
         "threshold": 0.45, "notify_client": True},
        {"name": "manner", "type": "IntentToInstruction", "inline_keys": ["door"], "inline_strings": ["Open it."]},
        {"name": "hint", "type": "Instruction", "instruction": "Level {{var.level}}, {{var.mood}}."},
        {"name": "judge", "type": "ClassifyIntentLLM", "threshold": 0.1, "margin": 0.0,
         "intents": [{"id": "ask", "description": "asks"}, {"id": "talk", "description": "talks"}]},
        {"name": "tone", "type": "ClassifyAttributesLLM", "threshold": 0.0, "attributes": [
            {"name": "tone", "question": "How?", "labels": [{"id": "kind", "description": "kindly"},
                                                            {"id": "rude", "description": "rudely"}]}]},
        {"name": "door", "type": "ToolCall", "tool_call_format": "generic", "wait_for_result_s": 0.0, "max_tokens": 8,
         "tools": [{"name": "open_door", "description": "Opens.", "parameters":
                    {"type": "object", "properties": {"door": {"type": "string", "enum": ["cellar"]}},
                     "required": ["door"]}}]},
        {"name": "note", "type": "Transform", "send": "Whole",
         "template": "{{attribute.tone}}/{{intent}}/{{#knowledge_lore}}{{id}}{{/knowledge_lore}}{{slot.door}}"},
        {"name": "mira", "type": "Generate", "history_name": "Mira", "max_tokens": 6, "stop": ["##"],
         "template": "{{user_message}} ({{instruction_hint}})", "sampling": {"temperature": 0.5, "seed": 3},
         "examples": [{"speaker": "Guest", "text": "Hi."}, {"speaker": "Mira", "text": "Welcome."}]},
        {"name": "canned", "type": "CannedResponse", "string_storage": "hints.txt", "selection": "Random"},
        {"name": "odo", "type": "GenerateAndSpeak", "voice": "voice", "speaker_id": 1, "max_tokens": 6},
        {"name": "aloud", "type": "Speak", "input": "mira", "voice": "voice", "speed": 2.0},
        {"name": "memory", "type": "Summarize", "trigger_tokens": 20, "keep_recent_turns": 1, "max_tokens": 8},
    ),
}  # fmt: skip
LORE = {
    "version": 1, "embedding_model": "embed", "records_file": "lore.records.json",
    "fields": [{"name": "min_level", "type": "int", "default": 0},
               {"name": "kind", "type": "string", "default": "door"},
               {"name": "tags", "type": "set<string>", "optional": True}, {"name": "weight", "type": "float",
                                                                           "optional": True}],
}  # fmt: skip
RECORDS = [
    {"id": "cellar", "text": "The cellar door is old.", "metadata": {"min_level": 1, "tags": ["a"]}},
    {"id": "roof", "text": "The roof leaks.", "metadata": {"kind": "talk", "weight": 0.5}},
]


def test_every_node_type_is_in_the_workflow() -> None:
    assert {node["type"] for node in EVERYTHING["nodes"]} == {cls.type_name for cls in packaged_nodes()}  # type: ignore[attr-defined]


class Stage:
    """A sidecar that stays through many examples, on a loop of its own."""

    def __init__(self, folder: Path) -> None:
        (folder / "lore.json").write_text(json.dumps(LORE), encoding="utf-8")
        (folder / "lore.records.json").write_text(json.dumps(RECORDS), encoding="utf-8")
        (folder / "hints.txt").write_text("One.\nTwo.\n", encoding="utf-8")
        self.loop = asyncio.SelectorEventLoop()
        self._dialog_agent = ""
        chosen = Settings(turn_timeout_s=20, max_turn_chars=20_000)
        self._manager = talking(EMBED, VOICE, scripted("Yes.", "No."), settings=chosen)
        self.talk: Talk = self.loop.run_until_complete(self._manager.__aenter__())
        self.do(self.talk.client.request(ConfigureSession(storage_folder=str(folder))))

    def do(self, work: Any) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(work, PATIENCE_S))

    def ask(self, message: Request) -> Any:
        return self.do(self.talk.client.request(message))

    def dialog_agent(self) -> str:
        """An agent that only keeps a dialog, always the same."""
        if not self._dialog_agent:
            self._dialog_agent = self.do(self.talk.agent(workflow({"name": "mira", "type": "Generate"})))
        return self._dialog_agent

    def export(self, agent_id: str) -> str:
        """The agent's whole dialog, as JSON."""
        reply = self.ask(ExportDialog(agent_id=agent_id))
        assert isinstance(reply, DialogReply)
        return reply.dialog.model_dump_json()

    def close(self) -> None:
        self.loop.run_until_complete(self._manager.__aexit__(None, None, None))
        self.loop.close()


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    made = Stage(tmp_path_factory.mktemp("storages"))
    yield made
    made.close()


def test_the_workflow_itself_runs(stage: Stage) -> None:
    agent_id = stage.do(stage.talk.agent(EVERYTHING))
    turn = stage.do(stage.talk.say(agent_id, "Open the old door of the cellar."))
    assert turn.complete.status == "Success", turn.complete.error
    assert len({step["type"] for step in turn.debug["steps"]}) > 8


@given(raw=changed(EVERYTHING, most=5))
def test_a_changed_workflow_has_problems_or_runs(raw: Any, stage: Stage) -> None:
    raw = off_the_wire(raw)
    if not isinstance(raw, dict):
        return  # the wire takes objects only
    reply = stage.do(stage.talk.client.request(ValidateWorkflow(workflow=raw)))
    assert isinstance(reply, Validation)
    errors = [problem for problem in reply.problems if problem.severity == "error"]
    assert all(problem.message and problem.path.startswith("$") for problem in reply.problems)
    # A bug of a node's own check is caught and reported as this.
    assert not [problem for problem in reply.problems if "Error:" in problem.message], reply.problems
    if errors:
        with pytest.raises(ParleyError) as caught:
            stage.do(stage.talk.agent(raw, max_steps=30))
        assert caught.value.code in {problem.code for problem in errors} | {WorkflowInvalid.code}
        return
    agent_id = stage.do(stage.talk.agent(raw, max_steps=30))
    try:
        for line in ("Open the old door of the cellar.", ""):
            turn = stage.do(stage.talk.say(agent_id, line))
            complete = turn.complete
            assert complete.status in ("Success", "Error")
            assert complete.error is None or complete.error.code in BY_CODE, complete.error
            assert complete.error is None or complete.error.code != 4001, complete.error
    finally:
        stage.do(stage.talk.client.request(DestroyAgent(agent_id=agent_id)))


# ---- filters -------------------------------------------------------------------------------------------------

SCHEMA = {
    "level": Field("level", "int", False, 0, True),
    "kind": Field("kind", "string", True, None, True),
    "tags": Field("tags", "set<string>", True, None, True),
    "weight": Field("weight", "float", True, None, True),
}
FILTER = {
    "op": "and",
    "args": [
        {"op": "le", "lhs": {"knowledge": "level"}, "rhs": {"agent": "level"}},
        {"op": "or", "args": [{"op": "in", "needle": "a", "haystack": {"knowledge": "tags"}},
                              {"op": "not", "arg": {"op": "eq", "lhs": {"knowledge": "kind"}, "rhs": "door"}}]},
        {"op": "gt", "lhs": {"knowledge": "weight"}, "rhs": 0.25},
    ],
}  # fmt: skip


@given(raw=changed(FILTER))
def test_a_changed_filter_is_refused_or_answers_for_every_record(raw: Any) -> None:
    try:
        made = compile_filter(off_the_wire(raw), SCHEMA, {"level": ("int", 1)})
    except InvalidValue as fault:
        assert fault.path.startswith("$")
        return
    if made is None:
        return
    records: list[dict[str, Any]] = [{"level": 1}, {"level": 2, "kind": "x", "tags": frozenset("ab"), "weight": 1.0}]
    for record in records:
        assert made.matches(record, {"level": 1}) in (True, False)


# ---- dialogs -------------------------------------------------------------------------------------------------

DIALOG = {
    "version": 1,
    "interactions": [
        {"turn_id": 1, "user": "Hi.", "outputs": [
            {"step": 1, "node_name": "mira", "slot": "mira", "text": "Hello.", "history_role": "Assistant",
             "history_name": "Mira"}],
         "tool_calls": [], "intent": "greet", "attributes": {"tone": "kind"}, "status": "Success",
         "knowledge": [{"source": "lore", "chunks": [{"id": "a", "text": "A."}]}], "time": "2024-01-01T00:00:00Z"},
        {"turn_id": 2, "user": "", "outputs": []},
    ],
    "summary": {"text": "They met.", "covers": 1},
}  # fmt: skip
SHORT = [{"user": "Hi.", "replies": [{"node_name": "mira", "text": "Hello."}]}, {"user": "Bye."}]


@given(raw=changed(DIALOG) | changed(SHORT) | changed([DIALOG, SHORT]), append=st.booleans())
def test_a_changed_dialog_is_refused_or_exports_the_same_again(raw: Any, append: bool, stage: Stage) -> None:
    raw = off_the_wire(raw)
    if not isinstance(raw, dict | list):
        return  # the wire takes no other
    agent_id = stage.dialog_agent()
    stage.ask(SeedDialog(agent_id=agent_id, dialog=SHORT))
    before = stage.export(agent_id)
    try:
        stage.ask(SeedDialog(agent_id=agent_id, dialog=raw, append=append))
    except InvalidDialog as fault:
        assert fault.code == 3012 and fault.path.startswith("$")
        assert stage.export(agent_id) == before
        return
    exported = stage.export(agent_id)
    stage.ask(SeedDialog(agent_id=agent_id, dialog=json.loads(exported)))
    assert stage.export(agent_id) == exported


# ---- tool calls ----------------------------------------------------------------------------------------------

TOOLS = (
    Tool("open_door", "Opens.", {"type": "object", "properties": {"door": {"type": "string"}}, "required": ["door"]}),
    Tool("look", "Looks.", {}),
)
PIECES = st.sampled_from(
    [
        "<tool_call>", "</tool_call>", "<|python_tag|>", "[TOOL_CALLS]", "[/TOOL_CALLS]", "<function=look>",
        "</function>", "<think>", "</think>", "<|im_end|>", "```json\n", "```", "`",
        '{"name": "open_door", "arguments": {"door": "x"}}', '{"name": "look"}', '{"tool": "look", "args": ',
        '"arguments": "{\\"door\\": 1}"', "{", "}", "[", "]", ",", ":", ";", '"', "'", "\\", "\\u12", "\n", " ", "null",
        "1e999", "-", "NaN", "True", "open_door", "look(", ")", "Hello.", "龙", "\0", "\ud800", '{"tool_calls": [',
        '{"function": ', "//x\n", "/*",
    ]
)  # fmt: skip


@given(pieces=st.lists(PIECES, max_size=25), format_name=st.sampled_from(["chatml", "llama3", "mistral", "generic"]))
def test_every_reply_is_taken_apart(pieces: list[str], format_name: Any) -> None:
    found = parse_reply("".join(pieces), TOOLS, format_name)
    assert {call.tool for call in found.calls} <= {"open_door", "look"}
    for call in found.calls:
        json.dumps(call.arguments, allow_nan=False)
    assert all(isinstance(text, str) for text in (found.text, *found.ignored))


@given(pieces=st.lists(PIECES, min_size=1, max_size=4), format_name=st.sampled_from(["chatml", "generic"]))
@settings(max_examples=25)
def test_the_time_grows_with_the_length_alone(pieces: list[str], format_name: Any) -> None:
    piece = "".join(pieces)
    begun = time.process_time()
    parse_reply(piece * (40_000 // len(piece)), TOOLS, format_name)
    assert time.process_time() - begun < 5.0


# ---- files ---------------------------------------------------------------------------------------------------

ROWS = [{"id": "a", "text": "One."}, {"id": "b", "text": "Two."}]


@given(
    data=written(ROWS) | damaged(b"One.\r\nTwo.\n\n# three\n" + "龙".encode()),
    suffix=st.sampled_from(["txt", "json", "mm.json"]),
)
@settings(suppress_health_check=FIXTURES)
def test_a_damaged_string_storage_is_refused_by_name_or_whole(data: bytes, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"hints.{suffix}"
    path.write_bytes(data)
    try:
        storage = load_string_storage(path, path.name)
    except InvalidStorageData as fault:
        assert path.name in fault.message and len(fault.message) < 1000
        return
    assert len(storage.keys) == (0 if storage.kind == "List" else len(storage.texts))
    if storage.kind == "Map":
        assert len(set(storage.keys)) == len(storage.keys)


REFUSALS = (InvalidEmbeddedStorageData, StorageFileNotFound, StorageOutsideRoot)


@given(config=written(LORE), records=written(RECORDS), both=st.integers(0, 2))
@settings(suppress_health_check=FIXTURES)
def test_damaged_knowledge_is_refused_or_as_its_schema_says(
    config: bytes, records: bytes, both: int, tmp_path: Path
) -> None:
    (tmp_path / "lore.json").write_bytes(config if both != 1 else json.dumps(LORE).encode())
    (tmp_path / "lore.records.json").write_bytes(records if both != 0 else json.dumps(RECORDS).encode())
    try:
        knowledge = read_knowledge(tmp_path, "lore.json")
    except REFUSALS as fault:
        assert len(fault.message) < 1500
        return
    kinds: dict[str, Any] = {"int": int, "float": float, "string": str, "bool": bool, "set<string>": frozenset}
    for record in knowledge.records:
        assert set(record.metadata) <= set(knowledge.schema)
        for name, value in record.metadata.items():
            assert type(value) is kinds[knowledge.schema[name].type]
        needed = {field.name for field in knowledge.schema.values() if not field.optional and field.default is None}
        assert needed <= set(record.metadata)
    assert knowledge.index_path is None or knowledge.index_path.is_relative_to(tmp_path)


@given(config=changed(LORE))
@settings(suppress_health_check=FIXTURES)
def test_a_changed_config_over_the_wire_is_refused_or_taken(config: Any, tmp_path: Path) -> None:
    (tmp_path / "lore.records.json").write_text(json.dumps(RECORDS), encoding="utf-8")
    try:
        knowledge = knowledge_from_config(tmp_path, "lore", off_the_wire(config))
    except REFUSALS:
        return
    assert len(knowledge.records) == len(RECORDS)


CATALOG = {
    "models": [
        {"name": "hub", "engine": "llama-cpp", "source": {"huggingface": "a/b", "files": ["m.gguf", "d/n.gguf"],
         "revision": "main", "sha256": {"m.gguf": "0" * 64}}, "default_sampling": {"temperature": 0.5},
         "examples": [{"speaker": "A", "text": "B"}]},
        {"name": "path", "engine": "llama-cpp", "source": {"path": "models/m.gguf"}, "context_size": 512},
        {"name": "package", "engine": "llama-cpp", "type": "embedding", "source": {"package": "a_b", "file": "m.gguf"}},
        {"name": "mock", "engine": "mock", "mock": {"mode": "script", "replies": ["a"], "tokens_per_s": 2.5}},
        {"name": "voice", "engine": "hibari", "type": "tts", "source": {"package": "hibari", "file": "hibari.onnx"}},
        {"name": "tones", "engine": "mock", "type": "tts", "mock": {"real_time_factor": 0.5, "fail_on": "x"}},
    ]
}  # fmt: skip


@given(data=written(CATALOG))
@settings(suppress_health_check=FIXTURES)
def test_a_damaged_catalog_is_refused_by_name_or_keeps_its_files_in_the_models_folder(
    data: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "models.json"
    path.write_bytes(data)
    try:
        catalog = read_catalog(path)
    except InvalidValue as fault:
        assert "models.json" in fault.message and len(fault.message) < 20_000
        return
    chosen = Settings(models_folder=str(tmp_path / "models"))
    for entry in catalog.values():
        for place in model_paths(entry, chosen):
            if not entry.source.path:
                packaged = package_folders(entry.source.package) or [] if entry.type == "tts" else []
                inside = {tmp_path / "models", *packaged} & set(place.parents)
                assert inside and ".." not in place.relative_to(max(inside)).parts


TOML = b"""\
# settings of a game
endpoint = "tcp://127.0.0.1:*"
max_sessions = 8
turn_timeout_s = 12.5
no_auth = false
models_folder = 'C:\\games\\models'
catalog = "models.json"
"""
LINES = [
    f"{key} = {json.dumps(value)}\n".encode()
    for key in Settings.model_fields
    for value in ODD[:24]
    if value is not None
]


@given(data=damaged(TOML) | st.lists(st.sampled_from(LINES), max_size=3).map(b"".join))
@settings(suppress_health_check=FIXTURES)
def test_a_damaged_settings_file_is_refused_by_name_or_read(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "parley.toml"
    path.write_bytes(data)
    try:
        assert isinstance(load_settings(path, {}, {}), Settings)
    except InvalidValue as fault:
        assert "parley.toml" in fault.message or "parley.toml" in str(path)
        assert fault.message.strip()


# ---- model files ---------------------------------------------------------------------------------------------

FACTS: dict[str, Any] = {
    "general.architecture": "gemma3", "gemma3.block_count": 18, "some.list": [1, 2, 3], "some.texts": ["a", "bc", ""],
    "some.flag": True, "some.number": 0.5, "general.alignment": 32,
}  # fmt: skip
WHOLE = gguf(FACTS, [("token_embd", (256, 4), Q4_K, 0), ("norm", (8,), F32, 576)], data=bytes(576 + 32))
HEAD = WHOLE.index(b"token_embd") + 100


@given(data=damaged(WHOLE[:HEAD]).map(lambda head: head + WHOLE[HEAD:]) | damaged(WHOLE))
@settings(suppress_health_check=FIXTURES)
def test_a_damaged_model_file_is_refused_by_name_or_whole(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    begun = time.process_time()
    try:
        facts = read_gguf(path)
    except ModelCorrupt as fault:
        assert "model.gguf" in fault.message and len(fault.message) < 1000
    else:
        assert facts.architecture
    assert time.process_time() - begun < 2.0


@given(at=st.integers(0, HEAD - 8), number=st.sampled_from([2**31 - 1, 2**32, 2**40, 2**62, 2**63, 2**64 - 1]))
@settings(suppress_health_check=FIXTURES)
def test_no_number_in_a_model_file_takes_memory(at: int, number: int, tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "model.gguf"
    path.write_bytes(WHOLE[:at] + struct.pack("<Q", number) + WHOLE[at + 8 :])
    tracemalloc.start()
    try:
        with pytest.raises(ModelCorrupt):
            read_gguf(path)
            raise ModelCorrupt("what the number says does not matter here")
        assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
    finally:
        tracemalloc.stop()
