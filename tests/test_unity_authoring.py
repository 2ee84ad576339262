"""That editors written in C# edit workflows exactly as the sidecar's own rules do."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.authoring import (
    RESERVED,
    AuthoringError,
    check_name,
    delete_node,
    input_choices,
    rename_node,
    rename_slot,
    slot_of,
    unique_name,
)
from tests.csharp_authoring import KIND_SETS, ODD_NAMES, Json, a_case, ask, text
from tests.csharp_build import needs_mono
from tests.test_authoring import CASES, KINDS, hostile, names, node, workflow

pytestmark = needs_mono


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


# The shared vectors


def test_the_shared_vectors() -> None:
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


# Against the sidecar's own rules


@pytest.mark.parametrize("culture", ["", "tr-TR"])
def test_it_edits_as_the_sidecar_does(culture: str, full: bool) -> None:
    rng = random.Random(f"edits {culture}")
    cases = [a_case(rng) for _ in range(20_000 if full else 1_000)]
    for case in cases:
        if not isinstance(case["workflow"], dict):
            del case["cast"]
    found = ask(cases, culture)
    same(cases, found)
    refused = sum("error" in got for got in found if isinstance(got, dict))
    assert len(cases) / 10 < refused < len(cases) * 0.8, "the cases are no good mixture"


def without_odd_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_odd_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_odd_numbers(item) for item in value]
    return None if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))) else value


def test_tags_in_all_their_forms() -> None:
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


def test_it_edits_what_hypothesis_thinks_of_as_the_sidecar_does() -> None:
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


def test_names_and_slots() -> None:
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
    for culture in ("", "tr-TR", "de-DE"):
        found = ask(cases, culture)
        for case, got, right in zip(cases, found, wanted, strict=True):
            assert got == right, case


def test_a_template_of_hostile_length_takes_linear_time() -> None:
    count = 100_000
    flow = workflow(
        node("a"), node("t", template="{{" + " " * count + "{" * count + "{{!" * count + "{{slot.a" + " " * count)
    )
    (got,) = ask([{"op": "rename_node", "workflow": flow, "node": "a", "to": "b", "kinds": "all"}])
    assert got["workflow"]["nodes"][1] == flow["nodes"][1]


def test_what_is_nested_too_deeply_is_refused_and_does_no_harm() -> None:
    deep = "[" * 100_000 + "]" * 100_000
    level = "[" * 99 + "]" * 99
    found = ask([{"op": "parse", "text": f'{{"a": {deep}}}'}, {"op": "parse", "text": level}])
    assert found[0] == {
        "fault": "line 1, column 105: the JSON is nested deeper than 99 levels", "line": 1, "column": 105
    }  # fmt: skip
    assert found[1] == level


# Dropdowns


def test_what_dropdowns_offer() -> None:
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
