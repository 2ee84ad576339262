"""That an edit of the C# editors is one group of undo, and that their graphs are laid out alike each time."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.authoring_cases import Json, a_case
from tests.csharp_authoring import ask
from tests.csharp_build import needs_mono
from tests.test_authoring import node, workflow

pytestmark = needs_mono

# Editing with undo

TWO = """{
  "start_node": "a",
  "nodes": [
    {"name": "a", "type": "Generate", "max_tokens": 1e2, "default_exit": "b"},
    {"name": "b", "type": "Generate", "template": "{{slot.a}}", "default_exit": "a"}
  ]
}"""


def edited(*steps: list[Any], text: str = TWO, cast: tuple[str, ...] = ("b", "a", "old")) -> list[Any]:
    (told,) = ask([{"op": "editing", "text": text, "cast": cast, "steps": steps, "kinds": "all"}])
    assert isinstance(told, list), told
    return told


def test_a_rename_is_one_group_and_undoing_it_restores_every_byte() -> None:
    renamed, undone, again = edited(["rename_node", "a", "mira"], ["undo"], ["rename_node", "b", "bram"])
    after = TWO.replace('"a"', '"mira"').replace("slot.a", "slot.mira")
    assert renamed == [["begin Rename a", "end"], after, ["b", "mira", "old"]]
    assert undone == [[], TWO, ["b", "a", "old"]]
    assert again == [["begin Rename b", "end"], TWO.replace('"b"', '"bram"'), ["bram", "a", "old"]]


def test_several_edits_are_one_group() -> None:
    told = edited(
        ["begin", "Tidy up"],
        ["rename_node", "a", "c"],
        ["rename_slot", "c", "line"],
        ["rename_node", "c", "d"],
        ["delete_node", "b"],
        ["commit"],
        ["undo"],
    )
    assert [step for step in told[:5]] == [[[], TWO, ["b", "a", "old"]]] * 5
    assert told[5][0] == ["begin Tidy up", "end", True] and told[5][2] == ["b", "d", "old"]
    assert json.loads(told[5][1])["nodes"] == [
        {"name": "d", "type": "Generate", "max_tokens": 100.0, "default_exit": "", "output_name": "line"}
    ]
    assert told[6] == [[], TWO, ["b", "a", "old"]]


def test_what_is_refused_or_changes_nothing_leaves_no_group() -> None:
    steps: list[list[Any]] = [
        ["rename_node", "a", " a "],
        ["rename_node", "a", "1"],
        ["rename_node", "gone", "x"],
        ["set", 0, "max_tokens", 1e2],
        ["set", 0, "gone"],
        ["set", 7, "type", "x"],
        ["set_deep"],
        ["commit"],
        ["begin", "x"],
        ["begin", "y"],
        ["commit"],
        ["begin", "x"],
        ["delete_node", "a"],
        ["cancel"],
        ["elsewhere", TWO],
    ]
    told = edited(*steps)
    assert [step[1:] for step in told] == [[TWO, ["b", "a", "old"]]] * len(steps)
    assert [step[0] for step in told] == [
        [],
        ["'1' is not a name; use only the letters A to Z, digits and _, and no digit first."],
        ["The workflow has no node called 'gone'; choose one of 'a', 'b'."],
        [False],
        [False],
        ["There is no node at this place any more; look at the workflow again."],
        ["the JSON is nested deeper than 99 levels"],
        ["nothing was begun"],
        [],
        ["'x' is still open: commit or cancel it"],
        [False],
        [],
        [],
        [],
        [],
    ]


def test_what_was_changed_elsewhere_is_not_overwritten() -> None:
    other = TWO.replace("1e2", "7")
    told = edited(
        ["elsewhere", other],
        ["rename_node", "b", "c"],
        ["begin", "x"],
        ["delete_node", "c"],
        ["elsewhere", other],
        ["commit"],
        ["rename_node", "b", "d"],
        ["elsewhere", "{"],
        ["delete_node", "a"],
    )
    assert told[1][1] == other.replace('"b"', '"c"')
    assert told[5] == [["the workflow was changed elsewhere meanwhile; do this again"], other, ["c", "a", "old"]]
    assert told[6][1] == other.replace('"b"', '"d"')
    assert told[8][:2] == [["line 1, column 2: the text ends in the middle of the JSON"], "{"]


def test_nodes_and_fields() -> None:
    told = edited(
        ["add_node", "CannedResponse"],
        ["add_node", "CannedResponse"],
        ["add_node", "ClassifyIntentLLM"],
        ["add_node", "my type"],
        ["set", 0, "max_tokens", 5],
        ["set", 0, "max_tokens"],
        ["set", -1, "player_name", "Guest"],
        text='{"nodes": []}',
    )
    assert [step[0] for step in told] == [
        ["begin Add CannedResponse", "end", "canned_response"],
        ["begin Add CannedResponse", "end", "canned_response_2"],
        ["begin Add ClassifyIntentLLM", "end", "classify_intent_llm"],
        ["begin Add my type", "end", "node"],
        ["begin Set max_tokens", "end", True],
        ["begin Set max_tokens", "end", True],
        ["begin Set player_name", "end", True],
    ]
    flow = json.loads(told[-1][1])
    assert flow["start_node"] == "canned_response" and flow["player_name"] == "Guest"
    assert flow["nodes"][0] == {"name": "canned_response", "type": "CannedResponse"}


# The graph


def laid(*flows: Any, kept: Json | None = None) -> list[Any]:
    return ask([{"op": "layout", "workflow": flow, "kept": kept or {}} for flow in flows])


def test_the_graph_goes_from_the_start_to_the_right() -> None:
    flow = workflow(
        node("end"),
        node("left", default_exit="end"),
        node("start", "HumanMessageGuardrail", triggered_exit="left", not_triggered_exit="right"),
        "no node",  # type: ignore[arg-type]
        node("right", default_exit="more"),
        node("more", default_exit="end", back_exit="start"),
        node("lonely", default_exit="gone"),
        node("end", default_exit="end"),
        start="start",
    )
    (got,) = laid(flow)
    assert [None if place is None else place[:2] for place in got["nodes"]] == [
        [3, 0.5], [1, 0], [0, 0.5], None, [1, 1], [2, 0.5], [0, 2], [0, 3]
    ]  # fmt: skip
    assert got["edges"] == [
        [1, "default_exit", 0, "end"],
        [2, "triggered_exit", 1, "left"],
        [2, "not_triggered_exit", 4, "right"],
        [4, "default_exit", 5, "more"],
        [5, "default_exit", 0, "end"],
        [5, "back_exit", 2, "start"],
        [6, "default_exit", -1, "gone"],
        [7, "default_exit", 0, "end"],
    ]


def test_kept_places_stay_and_nothing_covers_them() -> None:
    flow = workflow(node("a", default_exit="b"), node("b"), node("c"), node("b"), start="a")
    (got,) = laid(flow, kept={"b": [3.0, 1.0], "gone": [0.0, 0.0]})
    assert [place[2:] for place in got["nodes"]] == [[0, 11], [3, 1], [0, 21], [0, 31]]
    (got,) = laid(workflow(node("z"), node("x"), node("y")), kept={"x": [0.0, 11.0], "y": [0.0, 1.0]})
    assert got["nodes"][0][2:] == [0, 21]  # moved past y it would cover x


def test_any_workflow_is_laid_out_and_none_covers_another() -> None:
    rng = random.Random("graph")
    flows = [a_case(rng)["workflow"] for _ in range(300)]
    names = [f"n{at}" for at in range(60)]
    for _ in range(5):
        exits = [{"a_exit": rng.choice(names), "b_exit": rng.choice(["", *names])} for _ in names]
        flows.append(workflow(*(node(name, **more) for name, more in zip(names, exits, strict=True)), start="n0"))
    flows.append(workflow(*(node(f"n{at}", default_exit=f"n{at + 1}") for at in range(512)), start="n0"))
    found = laid(*flows)
    assert found == laid(*flows)
    for flow, got in zip(flows, found, strict=True):
        places = [tuple(place[:2]) for place in got["nodes"] if place is not None]
        assert len(set(places)) == len(places)
        count = len(flow["nodes"]) if isinstance(flow, dict) and isinstance(flow.get("nodes"), list) else 0
        assert len(got["nodes"]) == count
    assert [place[:2] for place in found[-1]["nodes"]] == [[at, 0] for at in range(512)]
