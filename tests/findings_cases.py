"""Makes up faulty workflows, and says which findings of an editor are right: what it finds, the sidecar finds too."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

from bridge.catalog import read_catalog
from bridge.config import Settings
from bridge.models import ModelStore
from bridge.node import Node, packaged_registry
from bridge.protocol import Problem, Validation
from bridge.storages import EmbeddedStorages, StringStorages
from bridge.workflow import CompileScope, ModelFacts, compile_workflow
from tests.authoring_cases import KIND_SETS, SAMPLE, Ask, Json, a_case, kind_facts, text
from tests.mutations import ODD, off_the_wire
from tests.test_authoring import CASES, node, workflow

STRINGS, KNOWLEDGE = StringStorages(), EmbeddedStorages(ModelStore(Settings(), read_catalog()))
STRINGS.root = KNOWLEDGE.root = SAMPLE.parent
SCOPE = CompileScope(
    packaged_registry(),
    lambda name: ModelFacts("language", 4096) if name in ("starter-chat", "other") else None,
    strings=STRINGS.find,
    knowledge=KNOWLEDGE.describe,
)
MODEL: Json = {
    "model": "other", "context_size": 0, "max_tokens": 64, "system_prompt": "A play.", "stop": ["x"],
    "sampling": {"temperature": 0.5, "top_k": 3, "seed": 2**32 - 1}, "examples": [{"speaker": "A", "text": "b"}],
}  # fmt: skip
SPEAKS: Json = {"output_name": "", "send": "Whole", "history_role": "Assistant", "history_name": ""}
LABELS: list[Json] = [{"id": "greet", "description": "A greeting"}, {"id": "other", "description": "Else"}]
EVERYTHING: Json = {
    "version": 1,
    "start_node": "guard",
    "default_model": "starter-chat",
    "player_name": "Player",
    "variables": [
        {"name": "level", "type": "int", "value": 1},
        {"name": "wounds", "type": "string_set", "value": ["arm"]},
        {"name": "mood", "type": "float", "value": 0.5},
    ],
    "nodes": [
        node("guard", "HumanMessageGuardrail", inline_strings=["a+"], triggered_exit="no", not_triggered_exit="tone"),
        node("no", "CannedResponse", inline_strings=["No."], selection="First", **SPEAKS, default_exit=""),
        node("tone", "Instruction", instruction="Be {{var.mood}}.", instruction_name="", default_exit="map"),
        node("map", "IntentToInstruction", inline_keys=["a"], inline_strings=["b"], output_name="m",
             default_exit="what"),
        node("what", "ClassifyIntentLLM", **MODEL, input="m", intents=LABELS, history_turns=2, threshold=0.5,
             margin=0.15, not_found_intent="", notify_client=False, found_exit="how", not_found_exit="how"),
        node("how", "ClassifyAttributesLLM", **MODEL, input="", threshold=0.5, default_exit="call",
             attributes=[{"name": "tone", "question": "Which?", "labels": LABELS}]),
        node("call", "ToolCall", **MODEL, **SPEAKS, tools=[{"name": "go", "description": "Goes."}],
             tool_call_format="chatml", constrain=True, wait_for_result_s=0.0, history_disposition="Omit",
             tool_called_exit="say", no_tool_called_exit="say"),
        node("say", "Generate", **MODEL, **SPEAKS, input="no", template="{{slot.no}}", placement="BeforeUserAsUser",
             strip_reasoning=True, default_exit="echo"),
        node("echo", "Transform", **SPEAKS, template="{{slot.say}}", default_exit="sum"),
        node("sum", "Summarize", **MODEL, trigger_tokens=1024, keep_recent_turns=4, default_exit=""),
    ],
}  # fmt: skip
EDGES = [
    0, 1, -1, 2, 10, 100, 101, 200, 1000, 2**20, 2**20 + 1, 2**32, 2**32 - 1, 0.0, 1.0, 2.0, -0.1, 1.5, 10.0, 10.5,
    1e-9, "x" * 64, "x" * 65, "x" * 200, "x" * 201, "🐉" * 200, "🐉" * 201, "Assistant", "User", "Streamed", "guard",
    "no", "m", "echo", "None", "Nowhere", "other", "starter-chat", ["x"] * 64, ["x"] * 65, ["x" * 257], ["x" * 256],
    [1, "a"], "user_message", " a", "Generate", "Transform", "Custom", LABELS * 13, LABELS * 14, [{"id": "a"}],
    [{"id": "", "description": 3, "z": 1}],
]  # fmt: skip
JUDGED_BY_THE_SIDECAR_ALONE = {
    "template", "instruction", "string_storage", "inline_strings", "inline_keys", "embedded_storage", "filter",
    "metadata_field", "tools", "intents", "attributes", "model", "voice", "default_model", "max_tokens",
    "not_found_intent", "type",
}  # fmt: skip


def a_place(rng: random.Random, flow: Json) -> tuple[Any, Any]:
    """A container in the workflow, and which of its members is to be changed."""
    nodes, variables = flow["nodes"], flow.get("variables")
    at = rng.randrange(len(nodes) + 2)
    if at >= len(nodes) or not isinstance(nodes[at], dict):
        where: Any = rng.choice([variables, *variables]) if isinstance(variables, list) and variables else flow
        if rng.random() < 0.5 or not isinstance(where, dict | list):
            where = flow
        if isinstance(where, list):
            return where, rng.randrange(len(where))
        known = (
            ["version", "start_node", "player_name", "default_model", "odd"]
            if where is flow
            else ["name", "type", "value"]
        )
        return where, rng.choice(["nodes" if rng.random() < 0.1 and where is flow else rng.choice(known), *known])
    if rng.random() < 0.05:
        return nodes, at
    where = nodes[at]
    cls: type[Node] | None = packaged_registry().get(str(where.get("type")))
    fields = list(cls.model_fields) if cls else ["input"]
    key: Any = rng.choice([*fields, *fields, *where, "odd_exit", "odd", "output_name", "x" * 300])
    if isinstance(where.get(key), list) and where[key] and rng.random() < 0.5:
        where = where[key]
        key = rng.randrange(len(where))
    inner = where[key] if isinstance(where, list) else where.get(key)
    if isinstance(inner, dict) and rng.random() < 0.8:
        return inner, rng.choice([*inner, "top_p", "repeat_penalty", "presence_penalty", "odd", "min_p"])
    return where, key


def a_faulty_workflow(rng: random.Random) -> Json:
    flow: Json = copy.deepcopy(EVERYTHING)
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3, 6])):
        where, key = a_place(rng, flow)
        if rng.random() < 0.1 and isinstance(where, dict) and where is not flow:
            where.pop(key, None)
        else:
            where[key] = copy.deepcopy(rng.choice(EDGES if rng.random() < 0.7 else ODD))
        if not isinstance(flow["nodes"], list):
            break
    return off_the_wire(flow)  # type: ignore[no-any-return]


def check_errors_are_errors_for_the_sidecar(ask: Ask, count: int) -> None:
    rng = random.Random("findings")
    flows: list[Any] = [a_faulty_workflow(rng) for _ in range(count)]
    flows += [case["workflow"] for case in CASES]
    flows += [off_the_wire(a_case(rng)["workflow"]) for _ in range(200)]
    flows += [
        json.loads(SAMPLE.read_text(encoding="utf-8")),
        [],
        None,
        {},
        {"version": 2, "nodes": 3},
        {"version": True},
    ]
    found = ask([{"op": "validate", "workflow": flow} for flow in flows])
    clean = 0
    for flow, local in zip(flows, found, strict=True):
        problems = compile_workflow(flow, SCOPE)[1]
        errors = {(p.path, p.code) for p in problems if p.severity == "error"}
        nodes_with_errors = {p.path.partition("]")[0] for p in problems if p.severity == "error"}
        unknown_types = any("unknown node type '" in p.message for p in problems)
        for finding in local:
            if finding["severity"] == "error" and (finding["path"], finding["code"]) not in errors:
                # Of a model that the catalog does not have, or a node that is faulty, this is not looked at.
                assert "must be below the context_size" in finding["message"], (text(finding), text(flow))
                assert {finding["path"].partition("]")[0], "$.default_model"} & nodes_with_errors, text(flow)
        told = {(finding["path"], finding["code"]) for finding in local if finding["severity"] == "error"}
        for problem in problems:
            if problem.severity == "error" and (problem.path, problem.code) not in told:
                by_sidecar = problem.field in JUDGED_BY_THE_SIDECAR_ALONE or (
                    unknown_types and problem.field == "input"
                )
                assert by_sidecar, (problem, text(flow))
        clean += not errors
    assert len(flows) / 20 < clean < len(flows) / 2


def check_a_sound_workflow_has_none(ask: Ask) -> None:
    flows = [EVERYTHING, json.loads(SAMPLE.read_text(encoding="utf-8"))]
    assert ask([{"op": "validate", "workflow": flow} for flow in flows]) == [[], []]


def check_what_they_say(ask: Ask) -> None:
    flow = workflow(
        node("a", "Transform", default_exit="b", history_role="User", odd=1, history_name="x" * 201),
        node("a", "Generate", input="gone", sampling={"top_p": 1.5, "hot": 1}, max_tokens=0, stop=[1]),
        node("c", "Custom", b_exit="nowhere"),
        node("d", "Speak", input="a"),
        start="a",
    )
    (found,) = ask([{"op": "validate", "workflow": flow}])
    assert [
        f"{finding['severity']} {finding['code']} {finding['path']}: {finding['message']}" for finding in found
    ] == [
        "error 3003 $.nodes[0].odd: Transform has no parameter 'odd'",
        "error 3007 $.nodes[0].history_role: it must be one of 'None', 'Assistant', not 'User'",
        "error 3007 $.nodes[0].history_name: it has 201 characters; 200 are allowed",
        "error 3008 $.nodes[0].default_exit: default_exit names no node: 'b' (empty ends the turn)",
        "error 3003 $.nodes[1].name: two nodes are called 'a'; the other is $.nodes[0]",
        "error 3007 $.nodes[1].max_tokens: it must be at least 1, not 0",
        "error 3007 $.nodes[1].sampling.top_p: it must be at most 1, not 1.5",
        "error 3003 $.nodes[1].sampling.hot: unknown field 'hot'; known: temperature, top_k, top_p, min_p, "
        "repeat_penalty, presence_penalty, frequency_penalty, seed",
        "error 3003 $.nodes[1].stop[0]: it must be a text, not 1",
        "error 3003 $.nodes[1].model: the node names no model and the workflow has no default_model",
        "error 3008 $.nodes[2].b_exit: b_exit names no node: 'nowhere' (empty ends the turn)",
        "error 6005 $.nodes[3].voice: the node names no voice",
        "warning 3003 $.nodes[1].input: no node writes the slot 'gone'",
        "warning 3003 $.nodes[2].type: unknown node type 'Custom'; the sidecar may know it",
        "warning 3003 $.nodes[2].name: no exit leads from 'a' to this node",
        "warning 3003 $.nodes[3].name: no exit leads from 'a' to this node",
    ]


def check_the_sidecars_are_grouped_by_node_and_field(ask: Ask) -> None:
    def problem(severity: Any, path: str, field: str, message: str, name: str = "") -> Problem:
        return Problem(severity=severity, code=3003, node_name=name, field=field, path=path, message=message)

    reply = Validation(
        problems=[
            problem("warning", "$.nodes[1].b", "b", "one", "x"),
            problem("error", "$.nodes[10].a", "a", "two"),
            problem("error", "$", "", "three"),
            problem("error", "$.nodes[1].b[2].c", "b", "four", "x"),
            problem("error", "$.nodes[1].a", "a", "five", "x"),
            problem("warning", "$.nodes[0]", "", "six", "x"),
            problem("warning", "$.nodes[x].a", "a", "seven"),
        ]
    )
    (got,) = ask([{"op": "group", "reply": reply.model_dump()}])
    assert got == {
        "nodes": [
            [-1, "", True, {"": ["three"], "a": ["seven"]}],
            [0, "x", False, {"": ["six"]}],
            [1, "x", True, {"b": ["four", "one"], "a": ["five"]}],
            [10, "", True, {"a": ["two"]}],
        ],
        "order": ["three", "four", "five", "two", "seven", "six", "one"],
        "counts": [4, 3],
        "field": ["four", "one"],
        "nothing": [],
    }


def check_the_rules_know_the_packaged_types(ask: Ask) -> None:
    (got,) = ask([{"op": "packaged"}])
    assert got == {name: kind_facts(kind) for name, kind in KIND_SETS["packaged"].items()}
