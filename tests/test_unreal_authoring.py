"""That the C++ which Unreal's editors are made of edits workflows exactly as the sidecar's own rules do.

One program with AddressSanitizer and that for undefined behaviour does it all. Here are also its typewriter, its lines
of a talk and its voices, which need no other side.
"""

from __future__ import annotations

import functools
import json
import os
import re
import sys
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from bridge.authoring import rename_node
from tests import findings_cases
from tests.authoring_cases import (
    KIND_SETS,
    SAMPLE,
    Json,
    check_a_template_of_hostile_length,
    check_edits,
    check_names_and_slots,
    check_tags_in_all_their_forms,
    check_the_shared_vectors,
    check_what_dropdowns_offer,
    check_what_hypothesis_thinks_of,
)
from tests.cpp_authoring import ask, program
from tests.cpp_build import needs_cpp, run_program
from tests.test_authoring import CASES, node, workflow
from tests.unicode_table import TABLE, is_conjunct_letter, is_mark, table

pytestmark = [needs_cpp, pytest.mark.timeout(600)]

# The rules


def test_the_shared_vectors() -> None:
    check_the_shared_vectors(ask)


@pytest.mark.parametrize("locale", ["", "tr_TR.UTF-8"])
def test_it_edits_as_the_sidecar_does(locale: str, full: bool) -> None:
    check_edits(functools.partial(ask, locale=locale), f"in C++ {locale}", 2_000 if full else 400)


def test_tags_in_all_their_forms() -> None:
    check_tags_in_all_their_forms(ask)


def test_a_tag_of_another_family_holds_nothing_back() -> None:
    kinds = KIND_SETS["packaged"]
    (knows,) = [name for name, kind in kinds.items() if kind.tag_family == "knowledge_"][:1]
    flow = workflow(
        node("a", "Instruction"), node("k", knows, **{kinds[knows].tag_name_field: "a"}),
        node("t", "Transform", template="{{instruction_a}}{{knowledge_a}}"),
    )  # fmt: skip
    (got,) = ask([{"op": "rename_node", "workflow": flow, "node": "a", "to": "b", "kinds": "packaged"}])
    assert got["workflow"] == rename_node(flow, "a", "b", kinds)
    assert got["workflow"]["nodes"][2]["template"] == "{{instruction_b}}{{knowledge_a}}"


def test_it_edits_what_hypothesis_thinks_of_as_the_sidecar_does() -> None:
    check_what_hypothesis_thinks_of(ask)


def test_names_and_slots() -> None:
    check_names_and_slots(ask)


def test_a_template_of_hostile_length_takes_linear_time() -> None:
    check_a_template_of_hostile_length(ask)


def test_what_dropdowns_offer() -> None:
    check_what_dropdowns_offer(ask)


# Findings


def test_what_is_an_error_at_once_is_one_for_the_sidecar(full: bool) -> None:
    findings_cases.check_errors_are_errors_for_the_sidecar(ask, 3_000 if full else 200)


def test_a_sound_workflow_has_no_quick_findings() -> None:
    findings_cases.check_a_sound_workflow_has_none(ask)


def test_what_quick_findings_say() -> None:
    findings_cases.check_what_they_say(ask)


@pytest.mark.thorough
def test_a_workflow_of_nothing_but_faults_is_looked_at_soon() -> None:
    """Each finding is put with its field, of which a hostile file has as many as fit."""
    count = 250_000
    flow = workflow(node("a", "Transform", **{f"k{index}": 1 for index in range(count)}), start="a")
    began = time.monotonic()
    (found,) = ask([{"op": "validate", "workflow": flow}])
    assert len(found) == count
    assert time.monotonic() - began < 40.0


def test_what_made_up_workflows_seldom_have() -> None:
    flow = workflow(
        {"type": "Transform"},
        {"type": "Transform", "name": ""},
        node("a", "Generate", max_tokens=2**64, stop=[1] * 65, context_size=2**63),
        start="a",
    )
    flow["default_model"] = "starter-chat"
    (found,) = ask([{"op": "validate", "workflow": flow}])
    told = [f"{finding['path']}: {finding['message']}" for finding in found if finding["severity"] == "error"]
    assert told == [
        "$.nodes[0].name: A name cannot be empty; give at least one letter.",
        "$.nodes[1].name: A name cannot be empty; give at least one letter.",
        f"$.nodes[2].context_size: it must be at most 1048576, not {2**63}",
        f"$.nodes[2].max_tokens: it must be a whole number, not {2**64}",
        "$.nodes[2].stop: it has 65 entries; 64 are allowed",
    ]


def test_the_sidecars_findings_are_grouped_by_node_and_field() -> None:
    findings_cases.check_the_sidecars_are_grouped_by_node_and_field(ask)


def test_the_rules_know_the_packaged_types() -> None:
    findings_cases.check_the_rules_know_the_packaged_types(ask)


# Editing with undo

NODES: list[Json] = [
    {"name": "a", "type": "Generate", "max_tokens": 1e2, "default_exit": "b"},
    {"name": "b", "type": "Generate", "template": "{{slot.a}}", "default_exit": "a"},
]
TWO: Json = {"start_node": "a", "nodes": NODES}
CAST = ["b", "a", "old"]


def edited(*steps: list[Any], flow: Json = TWO) -> list[Any]:
    """What each step told, and the workflow and the cast after it."""
    (told,) = ask([{"op": "editing", "workflow": flow, "cast": CAST, "steps": steps, "kinds": "all"}])
    return told  # type: ignore[no-any-return]


def renamed(old: str, new: str, flow: Json = TWO) -> Json:
    """Where only whole names change."""
    return json.loads(json.dumps(flow).replace(f'"{old}"', f'"{new}"').replace(f"slot.{old}", f"slot.{new}"))  # type: ignore[no-any-return]


def test_a_rename_is_one_group_and_undoing_it_restores_everything() -> None:
    first, undone, again = edited(["rename_node", "a", "mira"], ["undo"], ["rename_node", "b", "bram"])
    assert first == [
        ["begin Rename a", "keep workflow", "keep cast", "end"],
        renamed("a", "mira"),
        ["b", "mira", "old"],
    ]
    assert undone == [[], TWO, CAST]
    assert again == [
        ["begin Rename b", "keep workflow", "keep cast", "end"],
        renamed("b", "bram"),
        ["bram", "a", "old"],
    ]


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
    assert told[:5] == [[[], TWO, CAST]] * 5
    assert told[5][0] == ["begin Tidy up", "keep workflow", "keep cast", "end", "changed"]
    assert told[5][2] == ["b", "d", "old"]
    assert told[5][1]["nodes"] == [
        {"name": "d", "type": "Generate", "max_tokens": 1e2, "default_exit": "", "output_name": "line"}
    ]
    assert told[6] == [[], TWO, CAST]


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
    assert [step[1:] for step in told] == [[TWO, CAST]] * len(steps)
    assert [step[0] for step in told] == [
        [],
        ["grammar: '1' is not a name; use only the letters A to Z, digits and _, and no digit first."],
        ["unknown_node: The workflow has no node called 'gone'; choose one of 'a', 'b'."],
        ["as it was"],
        ["as it was"],
        ["not_a_workflow: There is no node at this place any more; look at the workflow again."],
        ["not_a_workflow: the JSON is nested deeper than 99 levels"],
        ["not_now: nothing was begun"],
        [],
        ["not_now: 'x' is still open: commit or cancel it"],
        ["as it was"],
        [],
        [],
        [],
        [],
    ]


def test_what_was_changed_elsewhere_is_not_overwritten() -> None:
    other = json.loads(json.dumps(TWO).replace("100.0", "7"))
    told = edited(
        ["elsewhere", other],
        ["rename_node", "b", "c"],
        ["begin", "x"],
        ["delete_node", "c"],
        ["elsewhere", other],
        ["commit"],
        ["rename_node", "b", "d"],
    )
    assert told[1][1] == renamed("b", "c", other)
    assert told[5] == [
        ["not_now: the workflow was changed elsewhere meanwhile; do this again"],
        other,
        ["c", "a", "old"],
    ]
    assert told[6][1] == renamed("b", "d", other)


def test_nodes_and_fields() -> None:
    told = edited(
        ["add_node", "CannedResponse"],
        ["add_node", "CannedResponse"],
        ["add_node", "ClassifyIntentLLM"],
        ["add_node", "my type"],
        ["add_node", "X" * 80],
        ["set", 0, "max_tokens", 5],
        ["set", 0, "max_tokens", 5.0],
        ["set", 0, "max_tokens"],
        ["set", -1, "player_name", "Guest"],
        flow={"nodes": []},
    )
    kept = ["keep workflow", "end"]
    assert [step[0] for step in told] == [
        ["begin Add CannedResponse", *kept, "canned_response"],
        ["begin Add CannedResponse", *kept, "canned_response_2"],
        ["begin Add ClassifyIntentLLM", *kept, "classify_intent_llm"],
        ["begin Add my type", *kept, "node"],
        [f"begin Add {'X' * 80}", *kept, "x" * 64],
        ["begin Set max_tokens", *kept, "changed"],
        ["begin Set max_tokens", *kept, "changed"],
        ["begin Set max_tokens", *kept, "changed"],
        ["begin Set player_name", *kept, "changed"],
    ]
    flow = told[-1][1]
    assert flow["start_node"] == "canned_response" and flow["player_name"] == "Guest"
    assert flow["nodes"][0] == {"name": "canned_response", "type": "CannedResponse"}
    ((refused, _, _),) = edited(["add_node", "Speak"], flow={"nodes": 3})
    assert refused == ["", "not_a_workflow: nodes is no list; put the nodes in [ ]."]


# Files

SPELLED = """{
  "version": 1,
  "start_node": "a",
  "numbers": [1.0, 1e5, 1E+05, -0.0, 0.1000000000000000055511151231257827, 123456789012345678901234567890,
    18446744073709551615],
  "texts": ["\\u00e9\\/", "é", "\\ud83d\\udc09", "\u007f\u2028"],
  "empty": [[], {}, [ ], { }],
  "nodes": [
    {
      "name": "a",
      "type": "Generate",
      "sampling": { "temperature": 0.70, "top_p":1.0 },
      "stop": ["\\n", "x"],
      "default_exit": "b"
    },
    {"name": "b", "type": "Generate", "template": "{{slot.a}} 😀", "n": 1.50},
    {
      "name": "c", "type": "Generate",
      "input" : "a", "default_exit": "b"}
  ]
}
"""


def test_a_file_that_is_not_edited_comes_back_to_the_byte() -> None:
    texts = [
        SPELLED,
        SPELLED.replace("\n", "\r\n"),
        "\ufeff" + SPELLED,
        SPELLED.replace("  ", "\t"),
        " \n{ } \n\n",
        '{"a" : 1 ,"b":[1 , 2,\n3] , "c":{}\t}',
        '{"nodes":[],"b":{"c":[{}]}}',
        "{\n}",
        SAMPLE.read_text(encoding="utf-8"),
    ]
    assert ask([{"op": "trip", "text": text} for text in texts]) == texts


def pretty(flow: Any, step: str = "  ", end: str = "\n") -> str:
    """As parley writes it, or with another indentation and other line ends."""
    return json.dumps(flow, ensure_ascii=False, indent=step).replace("\n", end)


def test_an_edited_file_is_the_one_that_parley_rename_writes() -> None:
    renames = [case for case in CASES if case["op"] == "rename_node" and "error" not in case]
    kinds = KIND_SETS["packaged"]
    for step, end, suffix, mark in (("  ", "\n", "\n", ""), ("\t", "\r\n", "\r\n", "\ufeff"), ("    ", "\n", "", "")):
        cases = [
            {
                "op": "edit_text",
                "text": mark + pretty(case["workflow"], step, end) + suffix,
                "node": case["node"],
                "to": case["to"],
                "kinds": "packaged",
            }
            for case in renames
        ]
        written = [rename_node(case["workflow"], case["node"], case["to"], kinds) for case in renames]
        assert ask(cases) == [mark + pretty(flow, step, end) + suffix for flow in written]


def test_an_edit_keeps_fields_and_spellings() -> None:
    (after,) = ask([{"op": "edit_text", "text": SPELLED, "node": "a", "to": "mira", "kinds": "all"}])
    before = SPELLED.replace('"start_node": "a"', '"start_node": "mira"').replace('"name": "a"', '"name": "mira"')
    before = before.replace("{{slot.a}}", "{{slot.mira}}").replace('"input" : "a"', '"input" : "mira"')
    as_text = json.loads(before, parse_float=str, parse_int=str)
    assert json.loads(after, parse_float=str, parse_int=str) == as_text
    assert list(json.loads(after)["nodes"][0]) == ["name", "type", "sampling", "stop", "default_exit"]
    (deleted,) = ask([{"op": "edit_text", "text": SPELLED, "node": "b", "kinds": "all"}])
    assert [raw["default_exit"] for raw in json.loads(deleted)["nodes"]] == ["", ""]


def test_what_is_no_workflow_file_is_refused() -> None:
    texts = [
        "", " \n", "[]", '"a"', "null", "7", '{"a": 1,}', "{a: 1}", '{"a": 1} x', '{"a": // why\n1}', '{"a": NaN}',
        '{"a": 01}', '{"a": "\\ud800"}', '{"a": "b\nc"}', "[" * 100_000, '{"a":' * 99 + "{}" + "}" * 99,
    ]  # fmt: skip
    found = ask([{"op": "trip", "text": text} for text in texts])
    assert all(isinstance(got, dict) and got["fault"] for got in found), found
    assert [got["fault"] for got in found[2:6]] == [
        f"a workflow is a JSON object, in {{ }}; this is {what}" for what in ("a list", "a", "null", "7")
    ]
    assert found[-1]["fault"] == "the JSON is nested deeper than 99 levels"
    (deepest,) = ask([{"op": "trip", "text": '{"a":' * 98 + "{}" + "}" * 98}])
    assert isinstance(deepest, str)


def test_bytes_that_are_no_workflow_file() -> None:
    good = '{"a": "é"}'.encode()
    files = [
        good,
        b"\xef\xbb\xbf" + good,
        b'{\n"a": "\xe9"}',
        '{"a": 1}'.encode("utf-16"),
        b'{"a": "\xed\xa0\x80"}',
        b'{"a": "\0"}',
    ]
    cases: list[Json] = [{"op": "read", "data": list(data)} for data in files]
    *found, large = ask([*cases, {"op": "read", "data": list(good), "more": 8 * 2**20}])
    assert found[:2] == [True, True]
    assert [got["fault"] for got in found[2:5]] == [
        "line 2, column 1: the bytes of this line are not UTF-8; save the file as UTF-8",
        "it is UTF-16; save it as UTF-8",
        "line 1, column 1: the bytes of this line are not UTF-8; save the file as UTF-8",
    ]
    assert found[5]["fault"]
    assert large["fault"] == (
        f"it has {len(good) + 8 * 2**20} bytes; a workflow has at most {8 * 2**20}, is this the right file?"
    )


def test_files_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "Ж 田中 é 🐉"
    folder.mkdir()
    path = folder / "Ünï.workflow.json"

    def save(flow: Json, to: Path = path) -> Any:
        return ask([{"op": "save", "workflow": flow, "path": str(to)}])[0]

    assert save({"version": 1, "nodes": []}) is True
    assert path.read_bytes() == b'{\n  "version": 1,\n  "nodes": []\n}\n'
    path.chmod(0o640)
    assert save({"version": 1, "nodes": []}) is False
    assert save({"version": 1, "nodes": [], "start_node": "é"}) is True
    assert path.read_text(encoding="utf-8") == '{\n  "version": 1,\n  "nodes": [],\n  "start_node": "é"\n}\n'
    assert path.stat().st_mode & 0o777 == 0o640
    link = tmp_path / "link.workflow.json"
    link.symlink_to(path)
    assert save({"nodes": []}, link) is True
    assert link.is_symlink() and json.loads(path.read_bytes()) == {"nodes": []}
    path.write_bytes(b'{\r\n\t"nodes": []\r\n}')
    assert save({"nodes": [], "start_node": ""}) is True
    assert path.read_bytes() == b'{\r\n\t"nodes": [],\r\n\t"start_node": ""\r\n}'
    path.chmod(0o440)
    before = path.read_bytes()
    assert save({}) == {"fault": f"{path} is read-only; check it out or allow writing to it"}
    assert path.read_bytes() == before
    nowhere = folder / "none" / "a.json"
    assert save({}, nowhere) == {"fault": f"{nowhere} cannot be written: No such file or directory"}
    assert save({}, folder) == {"fault": f"{folder} cannot be written: Is a directory"}
    assert os.listdir(folder) == [path.name]


def test_files_are_read_with_their_name_in_what_is_wrong(tmp_path: Path) -> None:
    broken, large = tmp_path / "a é.workflow.json", tmp_path / "large.json"
    broken.write_text("{")
    large.write_bytes(b" " * (8 * 2**20 + 1))
    paths = [broken, large, tmp_path / "none.json", tmp_path, SAMPLE]
    if os.name == "posix":
        os.mkfifo(tmp_path / "pipe.json")
        paths.insert(0, tmp_path / "pipe.json")  # reading it would never end
    *found, sample = ask([{"op": "load", "path": str(path)} for path in paths])
    assert sample == SAMPLE.read_text(encoding="utf-8")
    told = [got["fault"] for got in found][-4:]
    assert told[0].startswith("a é.workflow.json: ") and len(told[0]) > 25
    assert told[1:] == [
        f"large.json: it has {8 * 2**20 + 1} bytes; a workflow has at most {8 * 2**20}, is this the right file?",
        "none.json: there is no such file",
        f"{tmp_path.name}: it is no file",
    ]


# What needs no other side


def test_text_appears_and_voices_sound_as_they_should() -> None:
    done = run_program(program(), "tests")
    assert int(re.findall(r"(\d+) tests, 0 wrong", done.stdout)[0]) >= 30, done.stdout


@pytest.mark.thorough
def test_voices_of_two_threads_have_no_races() -> None:
    done = run_program(program("tsan"), "tests", "TwoThreads")
    assert "1 tests, 0 wrong" in done.stdout


def test_the_table_of_letters_is_what_unicode_says() -> None:
    written = TABLE.read_text(encoding="ascii")
    (version,) = re.findall(r"from Unicode ([\d.]+);", written)
    if version == unicodedata.unidata_version:
        assert written == table()
        return
    found = re.findall(r"\{0x(\w+), 0x(\w+)\}", written)
    there = {point for first, last in found for point in range(int(first, 16), int(last, 16) + 1)}
    here = {point for point in range(sys.maxunicode + 1) if is_mark(point) or is_conjunct_letter(point)}
    is_older = [int(part) for part in version.split(".")] < [
        int(part) for part in unicodedata.unidata_version.split(".")
    ]
    assert there <= here if is_older else here <= there
