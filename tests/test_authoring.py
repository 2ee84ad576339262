"""Authoring edits: the vectors all three languages share, and the properties no edit may break."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chevron.tokenizer import tokenize
from hypothesis import assume, given
from hypothesis import strategies as st

from bridge.authoring import (
    MAX_NAME,
    NAME_PATTERN,
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

Json = dict[str, Any]

CASES: list[Json] = json.loads((Path(__file__).parent / "vectors/authoring/cases.json").read_text(encoding="utf-8"))
INSTRUCTION = NodeKind(produces=True, tag_family="instruction_", tag_name_field="instruction_name")
VECTOR_KINDS = {
    "Generate": NodeKind(produces=True),
    "Transform": NodeKind(produces=True),
    "CannedResponse": NodeKind(produces=True),
    "Instruction": INSTRUCTION,
    "HumanMessageGuardrail": NodeKind(produces=False),
}
KINDS = {
    **VECTOR_KINDS,
    "Speak": NodeKind(produces=False),
    "Retrieve": NodeKind(produces=False, tag_family="knowledge_", tag_name_field="source"),
}
NO_KINDS: dict[str, NodeKind] = {}


def workflow(*nodes: Json, start: str = "") -> Json:
    return {"version": 1, "start_node": start, "nodes": list(nodes)}


def node(name: str, type_: str = "Generate", **fields: Any) -> Json:
    return {"name": name, "type": type_, **fields}


def text(value: object) -> str:
    """JSON that shows the order of fields too."""
    return json.dumps(value)


def refusal(act: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(AuthoringError) as refused:
        act()
    return refused.value.reason, str(refused.value)


# The shared vectors


def vector_id(case: Json) -> str:
    return "-".join([case["op"], case["workflow"]["nodes"][0]["name"], case["node"], case.get("to", "")])


def check_vector(case: Json, kinds: dict[str, NodeKind]) -> None:
    op, flow, name, to = case["op"], case["workflow"], case["node"], case.get("to", "")
    before = text(flow)
    result: object
    if "error" in case:
        rename = {"rename_node": rename_node, "rename_slot": rename_slot}[op]
        assert refusal(lambda: rename(flow, name, to, kinds))[0] == case["error"]
    elif op == "delete_node":
        result, flagged = delete_node(flow, name, kinds)
        assert text(result) == text(case["expect"])
        assert flagged == case["flagged"]
    else:
        if op == "inputs":
            result = input_choices(flow, name, kinds)
        elif op == "rename_node":
            result = rename_node(flow, name, to, kinds)
        else:
            assert op == "rename_slot"
            result = rename_slot(flow, name, to, kinds)
        assert text(result) == text(case["expect"])
    assert text(flow) == before


@pytest.mark.parametrize("case", CASES, ids=vector_id)
def test_vector(case: Json) -> None:
    check_vector(case, VECTOR_KINDS)


# Without kinds, a node that carries no `output_name` is not known to write its slot.
NEEDS_KINDS = {
    ("inputs", "mira", ""),
    ("inputs", "voice", ""),
    ("inputs", "say", ""),
    ("rename_node", "mira", "innkeeper"),
    ("rename_node", "mira", "polish"),
}
DECIDABLE = [
    case
    for case in CASES
    if (case["op"], case["node"], case.get("to", "")) not in NEEDS_KINDS
    or any("output_name" in n for n in case["workflow"]["nodes"] if n["name"] == "no")
]


@pytest.mark.parametrize("case", DECIDABLE, ids=vector_id)
def test_vector_without_kinds(case: Json) -> None:
    check_vector(case, NO_KINDS)


def test_only_five_vectors_need_kinds() -> None:
    assert len(CASES) - len(DECIDABLE) == len(NEEDS_KINDS)


# Names


@pytest.mark.parametrize("name", ["a", "_", "A9_", "x" * MAX_NAME, "User_message"])
def test_names_that_may_be_used(name: str) -> None:
    assert check_name(f" \t{name}\n") == name


@pytest.mark.parametrize(
    ("name", "reason", "message"),
    [
        (
            " user_message ",
            "reserved",
            "'user_message' is reserved for the player's line; choose another name.",
        ),
        ("  ", "grammar", "A name cannot be empty; give at least one letter."),
        ("x" * 65, "grammar", f"'{'x' * 64}…' has 65 characters; shorten it to at most 64."),
        (
            "9a",
            "grammar",
            "'9a' is not a name; use only the letters A to Z, digits and _, and no digit first.",
        ),
    ],
)
def test_names_refused_with_a_reason(name: str, reason: str, message: str) -> None:
    assert refusal(lambda: check_name(name)) == (reason, message)


@pytest.mark.parametrize("name", ["a-b", "a b", "é", "a\u0661", "a.b", "a\nb", "a\x00", "\ud800", "{{a}}"])
def test_names_outside_the_grammar(name: str) -> None:
    assert refusal(lambda: check_name(name))[0] == "grammar"


def test_name_pattern_matches_whole_names_only() -> None:
    assert NAME_PATTERN.match("mira")
    assert not NAME_PATTERN.search("mira\n")
    assert not NAME_PATTERN.search("the mira")


def test_unique_name_counts_up_and_keeps_within_the_limit() -> None:
    assert unique_name("a", []) == "a"
    assert unique_name("a", ["a", "a_2", "a_3"]) == "a_4"
    longest = "x" * MAX_NAME
    assert unique_name(longest, {longest}) == "x" * 62 + "_2"
    taken = {longest} | {"x" * 62 + f"_{n}" for n in range(2, 10)}
    assert unique_name(longest, taken) == "x" * 61 + "_10"


# Slots


@pytest.mark.parametrize(
    ("raw", "slot"),
    [
        (node("a"), "a"),
        (node("a", output_name=""), "a"),
        (node("a", output_name=None), "a"),
        (node("a", output_name="b"), "b"),
        (node("a", "HumanMessageGuardrail", output_name="b"), None),
        (node("a", "Custom"), None),
        (node("a", "Custom", output_name=""), "a"),
        (node("a", "Custom", output_name="b"), "b"),
        ({"type": "Generate"}, None),
        ({"name": 3, "type": ["Generate"], "output_name": 4}, None),
    ],
)
def test_slot_of(raw: Json, slot: str | None) -> None:
    assert slot_of(raw, KINDS) == slot


def test_input_choices_hold_each_slot_once_in_workflow_order() -> None:
    flow = workflow(
        node("end", "Speak"),
        node("b", output_name="line", default_exit="end"),
        node("a", output_name="line", default_exit="b"),
        node("c", output_name="user_message", default_exit="end"),
        node("later"),
    )
    assert input_choices(flow, "end", KINDS) == [RESERVED, "line"]
    assert input_choices(flow, "a", KINDS) == [RESERVED]


def test_every_field_ending_in_exit_leads_on() -> None:
    flow = workflow(node("a", "Custom", output_name="", rare_exit="b", exit="c", bad_exit=3), node("b"), node("c"))
    assert input_choices(flow, "b", KINDS) == [RESERVED, "a"]
    assert input_choices(flow, "c", KINDS) == [RESERVED]


# Renaming a node


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{{slot.a}}", "{{slot.b}}"),
        ("{{{slot.a}}}", "{{{slot.b}}}"),
        ("{{{  slot.a\t}}}", "{{{  slot.b\t}}}"),
        ("{{&slot.a}}{{& slot.a }}", "{{&slot.b}}{{& slot.b }}"),
        ("{{# slot.a}}x{{/slot.a }}", "{{# slot.b}}x{{/slot.b }}"),
        ("{{^\n slot.a}}x{{ / slot.a}}", "{{^\n slot.b}}x{{ / slot.b}}"),
        ("{{slot.a}}{{slot.a}}", "{{slot.b}}{{slot.b}}"),
        ("{ {{slot.a}} } {{ {{slot.a}}", "{ {{slot.b}} } {{ {{slot.b}}"),
    ],
)
def test_tags_that_follow(before: str, after: str) -> None:
    flow = workflow(node("a"), node("t", "Transform", template=before), node("i", "Custom", instruction=before))
    result = rename_node(flow, "a", "b", KINDS)
    assert [n.get("template") or n.get("instruction") for n in result["nodes"][1:]] == [after, after]


@pytest.mark.parametrize(
    "template",
    [
        "slot.a a instruction_a { {slot.a} } {slot.a}",
        "{{slot.aa}} {{slotxa}} {{slot.a.a}} {{slot.a_a}} {{xslot.a}} {{slot.A}} {{slot. a}} {{slot.a}",
        "{{! slot.a }} {{!{{slot.a}} }} {{ !\n {{{slot.a}}} {{! {{#slot.a}}",
        "{{> slot.a}} {{a}} {{var.a}} {{attribute.a}} {{instruction_a}} {{knowledge_a}} {{chunks.slot.a}}",
        "<user> <bot> %s $1 \\1 \\g<key> {0} {a} <a>",
        "{{=<% %>=}}<% slot.a %>",
    ],
)
def test_text_that_stays(template: str) -> None:
    flow = workflow(node("a"), node("t", template=template, system_prompt="{{slot.a}}", examples=["{{slot.a}}"]))
    result = rename_node(flow, "a", "b", KINDS)
    assert result["nodes"][1] == flow["nodes"][1]


def test_a_template_of_hostile_length_takes_linear_time() -> None:
    count = 100_000
    template = "{{" + " " * count + "{" * count + "{{!" * count
    flow = workflow(node("a"), node("t", template=template + "{{slot.a" + " " * count))
    assert rename_node(flow, "a", "b", KINDS)["nodes"][1] == flow["nodes"][1]


def test_a_known_type_says_where_its_templates_and_inputs_are() -> None:
    kinds = {
        **KINDS,
        "Mixer": NodeKind(produces=True, template_fields=frozenset({"mix"}), input_fields=frozenset({"left", "right"})),
    }
    mixer = node("m", "Mixer", mix="{{slot.a}}", template="{{slot.a}}", left="a", right="x", input="a")
    flow = workflow(node("a"), mixer)
    changed = rename_node(flow, "a", "b", kinds)["nodes"][1]
    assert changed == {**mixer, "mix": "{{slot.b}}", "left": "b"}
    assert delete_node(flow, "a", kinds)[1] == ["m"]


def test_slot_references_stay_while_another_node_writes_the_slot() -> None:
    flow = workflow(node("a"), node("c", output_name="a"), node("s", "Speak", input="a", default_exit="a"))
    result = rename_node(flow, "a", "b", KINDS)
    assert result["nodes"][2] == node("s", "Speak", input="a", default_exit="b")


def test_slot_references_stay_when_the_slot_has_a_name_of_its_own() -> None:
    for slot in ("line", "a"):
        flow = workflow(node("a", output_name=slot), node("s", "Speak", input=slot, default_exit="a"))
        result = rename_node(flow, "a", "b", KINDS)
        assert result["nodes"] == [
            node("b", output_name=slot),
            node("s", "Speak", input=slot, default_exit="b"),
        ]


def test_a_node_may_take_the_name_of_its_own_slot() -> None:
    flow = workflow(node("a", output_name="b"), node("s", "Speak", input="b", default_exit="a"), start="a")
    result = rename_node(flow, "a", "b", KINDS)
    nodes = [node("b", output_name=""), node("s", "Speak", input="b", default_exit="b")]
    assert result == workflow(*nodes, start="b")


def test_a_node_may_not_take_a_slot_that_another_writes_too() -> None:
    flow = workflow(node("a", output_name="b"), node("c", output_name="b"))
    assert rename_node(flow, "a", "b", KINDS)["nodes"][0] == node("b_2", output_name="b")


def test_committing_the_same_name_does_nothing_even_when_it_is_shared() -> None:
    flow = workflow(node("a"), node("c", output_name="a"), node("Guard"), node("Guard"))
    assert rename_node(flow, "a", " a ", KINDS) == flow
    assert rename_node(flow, "Guard", "Guard", KINDS) == flow
    assert rename_slot(flow, "c", "a", KINDS) == flow


def tagged(*nodes: Json) -> Json:
    return workflow(*nodes, node("t", template="{{instruction_a}}{{knowledge_a}}"))


@pytest.mark.parametrize(
    ("nodes", "template"),
    [
        ([node("a", "Instruction")], "{{instruction_b}}{{knowledge_a}}"),
        ([node("a", "Instruction", instruction_name="")], "{{instruction_b}}{{knowledge_a}}"),
        ([node("a", "Instruction", instruction_name="a")], "{{instruction_a}}{{knowledge_a}}"),
        ([node("a", "Instruction", instruction_name=7)], "{{instruction_a}}{{knowledge_a}}"),
        (
            [node("a", "Instruction"), node("c", "Instruction", instruction_name="a")],
            "{{instruction_a}}{{knowledge_a}}",
        ),
        ([node("a", "Retrieve", source=None)], "{{instruction_a}}{{knowledge_b}}"),
        ([node("a", "Retrieve", source="lore")], "{{instruction_a}}{{knowledge_a}}"),
        ([node("a", "Generate")], "{{instruction_a}}{{knowledge_a}}"),
        ([node("a", "Custom")], "{{instruction_b}}{{knowledge_b}}"),
        ([node("a", "Custom", source="lore")], "{{instruction_b}}{{knowledge_a}}"),
        ([node("a", "Custom", instruction_name="x")], "{{instruction_a}}{{knowledge_b}}"),
        ([node("a", "Custom"), node("c", "Retrieve", source="a")], "{{instruction_b}}{{knowledge_a}}"),
        ([node("a", "Custom"), node("c", "Other", instruction_name="a")], "{{instruction_a}}{{knowledge_b}}"),
    ],
)
def test_instruction_and_knowledge_tags_follow_a_name_by_default(nodes: list[Json], template: str) -> None:
    result = rename_node(tagged(*nodes), "a", "b", KINDS)
    assert result["nodes"][-1]["template"] == template


def test_of_two_namesakes_the_first_is_renamed_and_references_stay_with_the_other() -> None:
    user = node("t", template="{{slot.Guard}}", input="Guard", default_exit="Guard")
    flow = workflow(node("Guard", default_exit="Guard"), node("Guard"), user, start="Guard")
    result = rename_node(flow, "Guard", "Gate", KINDS)
    assert result == workflow(node("Gate", default_exit="Guard"), node("Guard"), user, start="Guard")


def test_of_two_namesakes_a_slot_that_only_the_first_writes_follows_it() -> None:
    user = node("t", template="{{slot.Guard}}", input="Guard", default_exit="Guard")
    flow = workflow(node("Guard"), node("Guard", "HumanMessageGuardrail"), user, start="Guard")
    result = rename_node(flow, "Guard", "Gate", KINDS)
    assert result["nodes"][2] == node("t", template="{{slot.Gate}}", input="Gate", default_exit="Guard")
    assert result["start_node"] == "Guard"


def test_a_node_called_user_message_can_be_given_a_name_and_the_players_line_stays() -> None:
    user = node("s", "Speak", input=RESERVED, template="{{user_message}}{{slot.user_message}}", default_exit=RESERVED)
    result = rename_node(workflow(node(RESERVED), user, start=RESERVED), RESERVED, "a", KINDS)
    assert result == workflow(node("a"), {**user, "default_exit": "a"}, start="a")


def test_a_node_with_an_empty_name_has_no_references() -> None:
    user = node("s", "Speak", input="", default_exit="", template="{{slot.}}")
    for more in ([], [{"type": "Generate"}]):
        flow = workflow(node(""), user, *more)
        assert rename_node(flow, "", "a", KINDS) == workflow(node("a"), user, *more)
        assert rename_slot(flow, "", "a", KINDS) == workflow(node("", output_name="a"), user, *more)
        assert delete_node(flow, "", KINDS) == (workflow(user, *more), [])


def test_a_name_outside_the_grammar_can_be_repaired() -> None:
    for broken in ("the cook", "a.(b", "x}}y", "ö"):
        flow = workflow(node(broken, template=f"{{{{ slot.{broken} }}}}", default_exit=broken), start=broken)
        repaired = node("cook", template="{{ slot.cook }}", default_exit="cook")
        assert rename_node(flow, broken, "cook", KINDS) == workflow(repaired, start="cook")


# Renaming a slot


def test_a_cleared_slot_goes_back_to_the_name_even_if_another_writes_that() -> None:
    flow = workflow(node("a", output_name="x"), node("c", output_name="a"), node("s", "Speak", input="x"))
    for to in ("", "  ", "a"):
        result = rename_slot(flow, "a", to, KINDS)
        assert result["nodes"][0] == node("a", output_name="")
        assert result["nodes"][2]["input"] == "a"


def test_a_slot_stored_under_the_nodes_own_name_is_stored_as_empty() -> None:
    flow = workflow(node("a", output_name="a"), node("s", "Speak", input="a"))
    assert rename_slot(flow, "a", "a", KINDS) == workflow(node("a", output_name=""), node("s", "Speak", input="a"))


def test_clearing_adds_no_field() -> None:
    flow = workflow(node("a"))
    assert rename_slot(flow, "a", "", KINDS) == flow


def test_renaming_the_slot_of_an_unknown_type_says_that_it_writes_one() -> None:
    flow = workflow(node("a", "Custom"), node("s", "Speak", input="a", default_exit="a"))
    result = rename_slot(flow, "a", "line", NO_KINDS)
    assert result["nodes"] == [
        node("a", "Custom", output_name="line"),
        node("s", "Speak", input="line", default_exit="a"),
    ]


def test_a_slot_is_not_renamed_where_none_is_written() -> None:
    flow = workflow(node("a", "HumanMessageGuardrail"))
    assert refusal(lambda: rename_slot(flow, "a", "b", KINDS)) == (
        "unknown_node",
        "Node 'a' is a HumanMessageGuardrail, which writes no slot; choose a node that does.",
    )


def test_no_slot_becomes_the_players_line() -> None:
    flow = workflow(node(RESERVED, output_name="x"), node("s", "Speak", input="x"))
    for to in ("", RESERVED):
        assert refusal(lambda to=to: rename_slot(flow, RESERVED, to, KINDS))[0] == "reserved"  # type: ignore[misc]


# Deleting a node


def test_deleting_flags_inputs_that_lost_their_only_writer_and_no_others() -> None:
    flow = workflow(
        node("a", output_name="line"),
        node("s", "Speak", input="line", default_exit="a"),
        {"type": "Speak", "input": "line"},
        node("never", "Speak", input="nowhere"),
        node("empty", "Speak", input=""),
    )
    result, flagged = delete_node(flow, "a", KINDS)
    assert result == workflow({**flow["nodes"][1], "default_exit": ""}, *flow["nodes"][2:])
    assert flagged == ["s", "nodes[1]"]
    flow["nodes"].append(node("b", output_name="line"))
    assert delete_node(flow, "a", KINDS)[1] == []


def test_deleting_one_of_two_namesakes_leaves_references_to_the_other() -> None:
    user = node("s", "Speak", input="Guard", default_exit="Guard")
    flow = workflow(node("Guard", mark=1), node("Guard", mark=2), user, start="Guard")
    assert delete_node(flow, "Guard", KINDS) == (workflow(node("Guard", mark=2), user, start="Guard"), [])


# Raw JSON that is no workflow


OPERATIONS: dict[str, Callable[[Any, str, dict[str, NodeKind]], object]] = {
    "input_choices": input_choices,
    "rename_node": lambda flow, name, kinds: rename_node(flow, name, "fresh", kinds),
    "rename_slot": lambda flow, name, kinds: rename_slot(flow, name, "fresh", kinds),
    "clear_slot": lambda flow, name, kinds: rename_slot(flow, name, "", kinds),
    "delete_node": delete_node,
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (["nodes"], "The workflow is a list, not an object; put it in { }."),
        ({}, "The workflow has no 'nodes'; give it a list of nodes."),
        ({"nodes": {"a": {}}}, "nodes is an object, not a list; put the nodes in [ ]."),
        (
            {"nodes": [node("a"), "b"]},
            "nodes[1] is a text, not an object; give it a name and a type, or remove it.",
        ),
        ({"nodes": [node("a"), {"name": 7}]}, "nodes[1].name is a number, not a text; put a name in quotes."),
        ({"nodes": [node("a"), {"name": None}]}, "nodes[1].name is null, not a text; put a name in quotes."),
        (
            {"nodes": [node("a", output_name=False)]},
            "nodes[0].output_name is true or false, not a text; put a name in quotes.",
        ),
        (
            {"nodes": [node("a", output_name=0)]},
            "nodes[0].output_name is a number, not a text; put a name in quotes.",
        ),
    ],
)
def test_what_is_no_workflow_is_refused_with_its_place(operation: str, raw: object, message: str) -> None:
    assert refusal(lambda: OPERATIONS[operation](raw, "a", KINDS)) == ("not_a_workflow", message)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_unknown_node_is_refused_with_the_known_ones(operation: str) -> None:
    flow = workflow(node("mira"), node("bram"))
    assert refusal(lambda: OPERATIONS[operation](flow, "Mira", KINDS)) == (
        "unknown_node",
        "The workflow has no node called 'Mira'; choose one of 'mira', 'bram'.",
    )
    assert refusal(lambda: OPERATIONS[operation](workflow(), "a", KINDS)) == (
        "unknown_node",
        "The workflow has no node called 'a'; add it first.",
    )


@pytest.mark.parametrize("operation", OPERATIONS)
def test_nesting_of_any_depth_is_carried_along(operation: str) -> None:
    deep: list[Any] = []
    for _ in range(50_000):
        deep = [deep]
    flow = workflow(node("a", note=deep, input=deep, some_exit=deep), start="a")
    OPERATIONS[operation](flow, "a", KINDS)
    assert refusal(lambda: OPERATIONS[operation](workflow({"name": deep}), "a", KINDS))[0] == "not_a_workflow"


# Properties

NAMES = ["a", "aa", "b", "a_2", "slot", "instruction_a", "X", "Mira", "mira", "line", "x" * MAX_NAME]
names = st.sampled_from(NAMES)
spaces = st.sampled_from(["", " ", "\n", " \t "])
TAGS = [
    "{{%s%s%s}}",
    "{{{%s%s%s}}}",
    "{{&%s%s%s}}",
    "{{#%s%s%s}}{{.}}{{/%s%s%s}}",
    "{{^%s%s%s}}no{{/%s%s%s}}",
]


@st.composite
def templates(draw: st.DrawFn, keys: st.SearchStrategy[str]) -> str:
    parts = []
    for _ in range(draw(st.integers(0, 4))):
        tag, key = draw(st.sampled_from(TAGS)), draw(keys)
        spaced = [draw(spaces), key, draw(spaces)]
        parts.append(tag % tuple(spaced * (tag.count("%s") // 3)))
        parts.append(draw(st.sampled_from(["", "slot.a", "{{! {{slot.a}} }}", "<a> %s $1 \\1\n", "{{user_message}}"])))
    return "".join(parts)


@st.composite
def workflows(draw: st.DrawFn, types: st.SearchStrategy[str] = st.sampled_from(sorted(KINDS))) -> Json:  # noqa: B008
    chosen = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    targets = st.sampled_from(["", *chosen])
    nodes = [node(name, draw(types)) for name in chosen]
    for raw in nodes:
        kind = KINDS.get(raw["type"])
        if (kind is None or kind.produces) and draw(st.booleans()):
            raw["output_name"] = draw(st.sampled_from(["", "line", *NAMES]))
        if kind is not None and kind.tag_name_field and draw(st.booleans()):
            raw[kind.tag_name_field] = draw(st.sampled_from(["", *NAMES]))
    slots = sorted({slot for raw in nodes if (slot := slot_of(raw, KINDS))})
    keys = [f"slot.{slot}" for slot in slots]
    keys += [f"{family}{name}" for family in ("instruction_", "knowledge_") for name in chosen]
    for raw in nodes:
        raw["input"] = draw(st.sampled_from(["", RESERVED, *slots]))
        raw["template"] = draw(templates(st.sampled_from(keys)))
        raw["default_exit"] = draw(targets)
        raw["other_exit"] = draw(targets)
        raw["unknown"] = {"kept": [raw["name"]]}
    return workflow(*nodes, start=draw(targets))


def others_take(flow: Json, name: str, wanted: str) -> bool:
    return any(wanted in (n["name"], slot_of(n, KINDS)) for n in flow["nodes"] if n["name"] != name)


@given(workflows(), st.data())
def test_renaming_a_node_there_and_back_is_the_identity(flow: Json, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([n["name"] for n in flow["nodes"]]))
    assume(not others_take(flow, name, name))
    before = copy.deepcopy(flow)
    there = rename_node(flow, name, "fresh", KINDS)
    back = rename_node(there, "fresh", name, KINDS)
    assert text(flow) == text(before)
    for raw in before["nodes"]:
        if raw["name"] == name and raw.get("output_name") == name:
            raw["output_name"] = ""  # the way back stores a slot of the node's own name as empty
    assert text(back) == text(before)


@given(workflows(), st.data())
def test_renaming_a_slot_there_and_back_is_the_identity(flow: Json, data: st.DataObject) -> None:
    producers = {n["name"]: slot for n in flow["nodes"] if (slot := slot_of(n, KINDS)) and slot != n["name"]}
    assume(producers)
    name = data.draw(st.sampled_from(sorted(producers)))
    assume(not others_take(flow, name, producers[name]))
    before = copy.deepcopy(flow)
    there = rename_slot(flow, name, "fresh", KINDS)
    assert text(rename_slot(there, name, producers[name], KINDS)) == text(before)
    assert text(flow) == text(before)


def references(flow: Json) -> Iterator[tuple[str, object]]:
    """Every reference as its place and the nodes it means by index, read with a real Mustache parser."""
    nodes = flow["nodes"]

    def writers(slot: str) -> list[int]:
        return [at for at, n in enumerate(nodes) if slot_of(n, KINDS) == slot]

    def named(name: str) -> list[int]:
        return [at for at, n in enumerate(nodes) if n["name"] == name]

    def providers(family: str, name: str) -> list[int]:
        kinds = [KINDS.get(n["type"]) for n in nodes]
        return [
            at
            for at, (n, kind) in enumerate(zip(nodes, kinds, strict=True))
            if kind and kind.tag_family == family and (n.get(kind.tag_name_field) or n["name"]) == name
        ]

    yield "start", named(flow["start_node"])
    for at, raw in enumerate(nodes):
        for field in ("default_exit", "other_exit"):
            yield f"{at}.{field}", named(raw[field])
        yield f"{at}.input", writers(raw["input"]) if raw["input"] not in ("", RESERVED) else raw["input"]
        for position, (kind, key) in enumerate(tokenize(raw["template"])):
            meant: object = key
            if kind not in ("literal", "comment") and (match := re.match(r"slot\.|instruction_|knowledge_", key)):
                family, name = match[0], key[match.end() :]
                meant = (writers(name) if family == "slot." else providers(family, name)) or key
            yield f"{at}.template.{position}.{kind}", meant


@given(workflows(), st.data())
def test_a_rename_changes_no_reference(flow: Json, data: st.DataObject) -> None:
    raw = data.draw(st.sampled_from(flow["nodes"]))
    name, slot = raw["name"], slot_of(raw, KINDS)
    shared = [n for n in flow["nodes"] if n is not raw and slot is not None and slot_of(n, KINDS) == slot]
    assume(not shared)  # where two write one slot, the renamed one leaves it, and references stay with the other
    kind = KINDS[raw["type"]]
    assume(not kind.tag_family or not any(n.get(kind.tag_name_field) == name for n in flow["nodes"]))
    before = list(references(flow))
    assert list(references(rename_node(flow, name, "fresh", KINDS))) == before
    if slot is not None:
        assert list(references(rename_slot(flow, name, "fresh", KINDS))) == before


@given(workflows(), st.data(), names)
def test_a_new_name_is_never_another_nodes_name_or_slot(flow: Json, data: st.DataObject, to: str) -> None:
    at = data.draw(st.integers(0, len(flow["nodes"]) - 1))
    name = flow["nodes"][at]["name"]
    assume(to != name)
    renamed = rename_node(flow, name, to, KINDS)
    new = renamed["nodes"][at]["name"]
    assert check_name(new) == new
    assert not others_take(renamed, new, new)


@given(workflows(), st.data())
def test_deleting_leaves_no_exit_to_the_node_and_flags_what_it_leaves_dangling(flow: Json, data: st.DataObject) -> None:
    raw = data.draw(st.sampled_from(flow["nodes"]))
    before = copy.deepcopy(flow)
    result, flagged = delete_node(flow, raw["name"], KINDS)
    assert text(flow) == text(before)
    left = result["nodes"]
    assert raw["name"] not in [
        result["start_node"],
        *(n[f] for n in left for f in ("default_exit", "other_exit")),
    ]
    written = {slot_of(n, KINDS) for n in left} | {"", RESERVED}
    assert flagged == [n["name"] for n in left if n["input"] not in written]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | names,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "type", "nodes", "input", "output_name", "a_exit", "x"]), inner)
    ),
    max_leaves=10,
)


@st.composite
def hostile(draw: st.DrawFn) -> Any:
    """A workflow with values of any kind in places of any depth, names repeated, or no workflow at all."""
    if draw(st.integers(0, 9)) == 0:
        return draw(json_values)
    flow: Json = draw(workflows(st.sampled_from([*sorted(KINDS), "Custom"])))
    flow["nodes"] += draw(st.lists(st.sampled_from(flow["nodes"]).map(copy.deepcopy), max_size=1))
    for _ in range(draw(st.integers(0, 3))):
        place: Any = draw(st.sampled_from([flow, flow["nodes"], *flow["nodes"]])) if "nodes" in flow else flow
        if isinstance(place, dict) and place:
            field = draw(st.sampled_from(sorted(place)))
            place[field] = draw(json_values)
        elif isinstance(place, list) and place:
            place[draw(st.integers(0, len(place) - 1))] = draw(json_values)
        if not isinstance(flow["nodes"], list):
            break
    return flow


@given(hostile(), names | st.text(max_size=4), names | st.text(max_size=4), st.sampled_from([KINDS, NO_KINDS]))
def test_raw_json_raises_nothing_but_authoring_errors(raw: Any, name: str, to: str, kinds: dict[str, NodeKind]) -> None:
    before = text(raw)
    edits: list[Callable[[], object]] = [
        lambda: input_choices(raw, name, kinds),
        lambda: rename_node(raw, name, to, kinds),
        lambda: rename_slot(raw, name, to, kinds),
        lambda: delete_node(raw, name, kinds),
    ]
    for edit in edits:
        try:
            edit()
        except AuthoringError as error:
            assert str(error).endswith(".")
    assert text(raw) == before
