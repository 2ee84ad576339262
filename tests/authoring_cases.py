"""Makes up workflows to ask editors about that are written in other languages, and says what is right of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bridge.authoring import (
    RESERVED,
    AuthoringError,
    NodeKind,
    check_name,
    delete_node,
    input_choices,
    rename_node,
    rename_slot,
    slot_of,
    unique_name,
)
from bridge.node import node_kinds, packaged_registry
from tests.test_authoring import CASES, KINDS, VECTOR_KINDS, hostile, names, node, workflow

Json = dict[str, Any]
Ask = Callable[[list[Json]], list[Any]]
"""What an editor makes of cases, one result for each."""

MIXER = NodeKind(produces=True, template_fields=frozenset({"mix"}), input_fields=frozenset({"left", "right"}))
KIND_SETS: dict[str, dict[str, NodeKind]] = {
    "vectors": VECTOR_KINDS,
    "all": {**KINDS, "Mixer": MIXER},
    "none": {},
    "packaged": node_kinds(packaged_registry()),
}
SAMPLE = Path(__file__).parent.parent / "samples" / "tavern" / "tavern.workflow.json"


def kind_sets() -> Json:
    """KIND_SETS as JSON."""
    return {name: {kind: kind_facts(facts) for kind, facts in kinds.items()} for name, kinds in KIND_SETS.items()}


def kind_facts(facts: NodeKind) -> Json:
    """What the rules know of a type, as JSON."""
    return {
        "produces": facts.produces,
        "template_fields": sorted(facts.template_fields),
        "input_fields": sorted(facts.input_fields),
        "tag_family": facts.tag_family,
        "tag_name_field": facts.tag_name_field,
    }


def text(value: object) -> str:
    """JSON as the editors write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# Made-up workflows

ODD_NAMES = [
    "a", "aa", "a_2", "a_3", "b", "slot", "slot.a", "I", "i", "ı", "İ", "ａ", "ｉ", "a}}b", "{{a}}", "a b", " a", "a ",
    "a.b", "x" * 64, "x" * 62 + "_2", "x" * 65, RESERVED, "straße", "a\u00a0", "\u001fa", "#a", "!a", "^a", "/", "&",
    "$1", "\\1", "(a+)+$", "", "\0", "🐉", "a\u0301", "'", "\"'", "instruction_a", "knowledge_a", "name", "nodes",
    "\u200ba",
]  # fmt: skip
PIECES = [
    "{{", "}}", "{{{", "}}}", "{", "}", " ", "\n", "\t", "\u001f", "\u0085", "\u3000", "\u200b", "\ufeff", "#", "^",
    "/", "&", "!", "=", ">", "slot.", "instruction_", "knowledge_", "{{slot.", "{{ slot.", "{{{slot.", "{{&slot.",
    "{{# slot.", "{{/\tslot.", "{{^\u2003slot.", "{{! ", "{{> slot.", "{{=<% %>=}}", "<% slot.a %>",
    "{{user_message}}", "{{SLOT.", "{{slot .", "text", "<a> %s $1 \\1", "{{instruction_", "{{knowledge_",
    "{{#knowledge_", "{{.}}", "{{}}",
]  # fmt: skip
ODD_VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    1e300,
    2**63,
    -(2**70),
    [],
    {},
    ["a"],
    {"name": "a"},
    "",
    "a",
    "Generate",
]
FIELDS = [
    "input", "template", "instruction", "instruction_name", "source", "output_name", "default_exit", "other_exit",
    "exit", "Default_Exit", "mix", "left", "right", "system_prompt", "unknown", "İnput", "_exit",
]  # fmt: skip


def a_template(rng: random.Random, pool: list[str]) -> str:
    """Tags and what only looks like them; most are of names in `pool`."""
    parts = []
    for _ in range(rng.randrange(12)):
        parts.append(rng.choice(PIECES))
        if rng.random() < 0.5:
            parts.append(rng.choice(pool if rng.random() < 0.8 else ODD_NAMES))
            parts.append(rng.choice(["}}", " }}", "}}}", "\u2009}}", "\n }}}", "x}}", ""]))
    return "".join(parts)


def a_node(rng: random.Random, pool: list[str]) -> Any:
    """A node as a careless hand leaves it, now and then something else altogether."""
    if rng.random() < 0.01:
        return rng.choice(ODD_VALUES)
    made: Json = {}
    if rng.random() < 0.97:
        made["name"] = rng.choice(pool) if rng.random() < 0.99 else rng.choice(ODD_VALUES)
    types = [*KIND_SETS["all"], *KIND_SETS["packaged"], "Custom", "", "generate"]
    made["type"] = rng.choice(types) if rng.random() < 0.97 else rng.choice(ODD_VALUES)
    for field in rng.sample(FIELDS, rng.randrange(len(FIELDS))):
        made[field] = rng.choice(
            [
                a_template(rng, pool),
                rng.choice(pool),
                rng.choice(pool),
                rng.choice(ODD_NAMES),
                f"{{{{slot.{rng.choice(pool)}}}}}",
            ]
        )
        if rng.random() < 0.03:
            made[field] = rng.choice(ODD_VALUES)
    items = list(made.items())
    rng.shuffle(items)
    return dict(items)


def a_case(rng: random.Random) -> Json:
    """One question to `ask`: an edit of a made-up workflow."""
    pool = [rng.choice(ODD_NAMES if rng.random() < 0.3 else ["a", "b", "aa", RESERVED]) for _ in range(4)]
    flow: Json = {"version": 1, "odd": rng.choice(ODD_VALUES), "start_node": rng.choice([*pool, None])}
    flow["nodes"] = [a_node(rng, pool) for _ in range(rng.randrange(7))]
    if rng.random() < 0.02:
        flow["nodes"] = rng.choice(ODD_VALUES)
    flow["zeta"] = {"nodes": [1.0, 1e-7]}
    nodes = [raw for raw in flow["nodes"] if isinstance(raw, dict)] if isinstance(flow["nodes"], list) else []
    known = [raw["name"] for raw in nodes if isinstance(raw.get("name"), str)] or ODD_NAMES
    slots = [raw["output_name"] for raw in nodes if isinstance(raw.get("output_name"), str)] or ODD_NAMES
    return {
        "op": rng.choice(["rename_node", "rename_node", "rename_slot", "delete_node", "inputs"]),
        "workflow": flow if rng.random() < 0.99 else rng.choice(ODD_VALUES),
        "node": rng.choice(known if rng.random() < 0.95 else ODD_NAMES),
        "to": rng.choice(rng.choice([slots, ["fresh", "a", "b", " c ", "\u3000d\u001f"], pool, ODD_NAMES])),
        "kinds": rng.choice(list(KIND_SETS)),
        "cast": ["stranger", *pool, ""],
    }


# What is right


def expected(case: Json) -> Any:
    """What the sidecar's rules make of a case."""
    op, flow, name, to = case["op"], case.get("workflow"), case.get("node", ""), case.get("to", "")
    kinds = KIND_SETS[case["kinds"]]
    try:
        if op == "inputs":
            return input_choices(flow, name, kinds)
        if op == "delete_node":
            result, flagged = delete_node(flow, name, kinds)
            new = ""
        else:
            flagged = []
            result = (rename_node if op == "rename_node" else rename_slot)(flow, name, to, kinds)
            assert isinstance(flow, dict)
            at = next(at for at, raw in enumerate(flow["nodes"]) if raw.get("name") == name)
            renamed = result["nodes"][at]
            new = renamed["name"] if op == "rename_node" else renamed.get("output_name") or renamed["name"]
        told = {"workflow": result, "to": new, "flagged": flagged}
        if "cast" in case:
            assert isinstance(flow, dict)
            left = [raw.get("name") for raw in result["nodes"]]
            follows = op == "rename_node" and name and name not in left
            told["cast"] = [new if follows and speaker == name else speaker for speaker in case["cast"]]
        return told
    except AuthoringError as error:
        return {"error": error.reason, "message": str(error)}


def same(cases: list[Json], found: list[Any]) -> None:
    for case, got in zip(cases, found, strict=True):
        wanted = expected(case)
        message = str(wanted.get("message", "")) if isinstance(wanted, dict) else ""
        if "\\" in message or not message.isascii():
            # Which letters print is a question of the Unicode version.
            assert isinstance(wanted, dict)
            wanted, got = wanted["error"], got.get("error")
        assert text(got) == text(wanted), text(case)


def without_odd_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_odd_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_odd_numbers(item) for item in value]
    return None if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))) else value


# What every editor must do


def check_the_shared_vectors(ask: Ask) -> None:
    cases = [{**case, "kinds": "vectors"} for case in CASES]
    found = ask(cases)
    for case, got in zip(CASES, found, strict=True):
        if "error" in case:
            assert got["error"] == case["error"]
        elif case["op"] == "inputs":
            assert got == case["expect"]
        else:
            assert text(got["workflow"]) == text(case["expect"])
            assert got["flagged"] == case.get("flagged", [])
    same(cases, found)


def check_edits(ask: Ask, seed: str, count: int) -> None:
    """Edits of hostile workflows are the sidecar's, and refused where and as it refuses them."""
    rng = random.Random(f"edits {seed}")
    cases = [a_case(rng) for _ in range(count)]
    for case in cases:
        if not isinstance(case["workflow"], dict):
            del case["cast"]
    found = ask(cases)
    same(cases, found)
    refused = sum("error" in got for got in found if isinstance(got, dict))
    assert len(cases) / 10 < refused < len(cases) * 0.8, "the cases are no good mixture"


def check_tags_in_all_their_forms(ask: Ask) -> None:
    templates = [
        "{{slot.a}}",
        "{{{slot.a}}}{{{  slot.a\t}}}",
        "{{&slot.a}}{{& slot.a }}",
        "{{# slot.a}}x{{/slot.a }}",
        "{{^\n slot.a}}x{{ / slot.a}}",
        "{{slot.a}}{{slot.a}} { {{slot.a}} } {{ {{slot.a}}",
        "slot.a a instruction_a { {slot.a} } {slot.a}",
        "{{slot.aa}} {{slotxa}} {{slot.a.a}} {{slot.a_a}} {{xslot.a}} {{slot.A}} {{slot. a}} {{slot.a}",
        "{{! slot.a }} {{!{{slot.a}} }} {{slot.a}} {{ !\n {{{slot.a}}} {{! {{#slot.a}}",
        "{{> slot.a}} {{a}} {{var.a}} {{attribute.a}} {{instruction_a}} {{knowledge_a}} {{chunks.slot.a}}",
        "{{=<% %>=}}<% slot.a %> {{slot.a}} <%={{ }}=%>",
        "{{!}}{{slot.a}}{{! }}",
        "{{slot.a}}" * 1000,
    ]
    nodes = [node(f"t{at}", "Transform", template=template) for at, template in enumerate(templates)]
    flow = workflow(node("a"), *nodes, node("i", "Custom", instruction=templates[8]))
    cases = [
        {"op": "rename_node", "workflow": flow, "node": "a", "to": "b", "kinds": kinds} for kinds in ("all", "none")
    ]
    same(cases, ask(cases))


def check_what_hypothesis_thinks_of(ask: Ask) -> None:
    cases: list[Json] = []

    @given(
        hostile(),
        names | st.text(max_size=4),
        names | st.text(max_size=4),
        st.sampled_from(["rename_node", "rename_slot", "delete_node", "inputs"]),
        st.sampled_from(sorted(KIND_SETS)),
    )
    def gather(flow: Any, name: str, to: str, op: str, kinds: str) -> None:
        cases.append({"op": op, "workflow": without_odd_numbers(flow), "node": name, "to": to, "kinds": kinds})

    gather()
    same(cases, ask(cases))


def check_names_and_slots(ask: Ask) -> None:
    cases: list[Json] = [{"op": "check_name", "to": name} for name in ODD_NAMES]
    wanted: list[Any] = []
    for name in ODD_NAMES:
        try:
            wanted.append(check_name(name))
        except AuthoringError as error:
            wanted.append({"error": error.reason, "message": str(error)})
    for taken in ([], ["a", "a_2"], ["x" * 64, *("x" * 62 + f"_{n}" for n in range(2, 10))]):
        for name in ("a", "x" * 64):
            cases.append({"op": "unique", "to": name, "taken": taken})
            wanted.append(unique_name(name, taken))
    for raw in (node("a"), node("a", output_name=None), node("a", "Custom"), node("a", "Custom", output_name=""), {}):
        cases.append({"op": "slot", "workflow": raw, "kinds": "all"})
        wanted.append(slot_of(raw, KINDS))
    for case, got, right in zip(cases, ask(cases), wanted, strict=True):
        assert got == right, case


def check_a_template_of_hostile_length(ask: Ask) -> None:
    count = 100_000
    flow = workflow(
        node("a"), node("t", template="{{" + " " * count + "{" * count + "{{!" * count + "{{slot.a" + " " * count)
    )
    (got,) = ask([{"op": "rename_node", "workflow": flow, "node": "a", "to": "b", "kinds": "all"}])
    assert got["workflow"]["nodes"][1] == flow["nodes"][1]


def check_what_dropdowns_offer(ask: Ask) -> None:
    flow = workflow(
        node("draft", output_name="line", default_exit="judge"),
        node("judge", input="line", default_exit="draft"),
        node("say", "Speak", input="gone"),
        node("old", "Speak", input=RESERVED),
        node("odd", "Speak", input=7),
        "no node",  # type: ignore[arg-type]
        {"name": 3, "draft_exit": "judge"},
    )

    def inputs(name: str, flow: Any = flow) -> Json:
        return {"op": "input_choices", "workflow": flow, "node": name, "kinds": "all"}

    def exits(stored: object, **more: Any) -> Json:
        return {"op": "exit_choices", "workflow": flow, "stored": stored, **more}

    line, player, end = ["line", "line", False], ["", "User Message", False], ["", "END", False]
    nodes = [[name, name, False] for name in ("draft", "judge", "say", "old", "odd")]
    expectations: list[tuple[Json, list[Any], int]] = [
        (inputs("judge"), [player, line, ["judge", "judge", False]], 1),
        (inputs("draft"), [player, line, ["judge", "judge", False]], 0),
        (inputs("say"), [player, ["gone", "gone (missing)", True]], 1),
        (inputs("old"), [player], 0),
        (inputs("odd"), [player, ["7", "7 (missing)", True]], 1),
        (inputs("none"), [player], 0),
        (inputs("a", []), [player], 0),
        (inputs("a", {"nodes": 3}), [player], 0),
        (exits(""), [end, *nodes], 0),
        (exits(None), [end, *nodes], 0),
        (exits("judge"), [end, *nodes], 2),
        (exits("gone"), [end, *nodes, ["gone", "gone (missing)", True]], 6),
        (exits(["a"]), [end, *nodes, ["[…]", "[…] (missing)", True]], 6),
        (exits("say", end=False), nodes, 2),
        (exits("", end=False), [*nodes, ["", "(none)", True]], 5),
    ]
    declared = {"variables": [{"name": "gold"}, 3, {"name": 3}, {"name": "gold"}, {"name": "mood"}]}
    none, gold, mood = ["", "(none)", False], ["gold", "gold", False], ["mood", "mood", False]
    for flow, stored, items, selected in (
        (declared, "mood", [none, gold, mood], 2),
        (declared, None, [none, gold, mood], 0),
        (declared, "luck", [none, gold, mood, ["luck", "luck (missing)", True]], 3),
        ({"variables": 7}, "", [none], 0),
    ):
        expectations.append(({"op": "variable_choices", "workflow": flow, "stored": stored}, items, selected))
    found = ask([case for case, _, _ in expectations])
    for (case, items, selected), got in zip(expectations, found, strict=True):
        assert got == {"items": items, "selected": selected}, case
