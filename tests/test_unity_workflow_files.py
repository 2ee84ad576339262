"""That the C# editors lose nothing of a workflow file, and say what is wrong with what is none."""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path
from typing import Any

import orjson
import pytest

from bridge.authoring import rename_node
from tests.authoring_cases import KIND_SETS, SAMPLE, a_case, text
from tests.csharp_authoring import ask
from tests.csharp_build import needs_mono
from tests.test_authoring import CASES

pytestmark = needs_mono

# Files

SPELLED = """{
  "version": 1,
  "start_node": "a",
  "numbers": [1.0, 1e5, 1E+05, -0, 0.1000000000000000055511151231257827, 123456789012345678901234567890,
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


def test_a_file_comes_back_to_the_byte() -> None:
    texts = [
        SPELLED,
        SPELLED.replace("\n", "\r\n"),
        "\ufeff" + SPELLED,
        SPELLED.replace("  ", "\t"),
        SPELLED.replace("  ", "    ").rstrip("\n"),
        " \n{ } \n\n",
        '{"a" : 1 ,"b":[1 , 2,\n3] , "c":{}\t}',
        '{"nodes":[],"b":{"c":[{}]}}',
        "{\n}",
        SAMPLE.read_text(encoding="utf-8"),
        (SAMPLE.parent.parent / "tavern" / "tavern.workflow.json").read_text(encoding="utf-8").replace("\n", ""),
    ]
    assert ask([{"op": "trip", "text": text} for text in texts]) == texts


def test_what_parley_writes_comes_back_to_the_byte() -> None:
    rng = random.Random("files")
    flows = [case["workflow"] for case in CASES] + [a_case(rng)["workflow"] for _ in range(300)]
    texts = []
    for flow in flows:
        if isinstance(flow, dict):
            small = json.loads(text(flow).replace(str(-(2**70)), "-5"))
            data = orjson.dumps(small, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
            texts.append(data.decode())
    found = ask([{"op": "trip", "text": text} for text in texts])
    assert found == texts


def test_a_renamed_file_is_the_one_that_parley_rename_writes() -> None:
    renames = [case for case in CASES if case["op"] == "rename_node" and "error" not in case]
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    cases = [
        {
            "op": "edit_text",
            "text": orjson.dumps(case["workflow"], option=options).decode(),
            "node": case["node"],
            "to": case["to"],
            "kinds": "packaged",
        }
        for case in renames
    ]
    kinds = KIND_SETS["packaged"]
    written = [rename_node(case["workflow"], case["node"], case["to"], kinds) for case in renames]
    assert ask(cases) == [orjson.dumps(flow, option=options).decode() for flow in written]


def test_what_is_made_by_code_is_written_as_parley_writes(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    (got,) = ask([{"op": "files", "folder": str(folder)}])
    first = '{\n  "version": 1,\n  "nodes": []\n}\n'
    second = '{\n  "version": 1,\n  "nodes": [],\n  "start_node": "é"\n}\n'
    unwritable = " is read-only; check it out or allow writing to it"
    broken = "a.workflow.json: line 1, column 2: the text ends in the middle of the JSON"
    assert got == [True, False, first, True, second, 1, unwritable, broken]


def test_an_edit_leaves_its_neighbours_as_they_stood() -> None:
    for before in (SPELLED, SPELLED.replace("\n", "\r\n"), SPELLED.replace("  ", "\t")):
        renamed, deleted = ask(
            [
                {"op": "edit_text", "text": before, "node": "a", "to": "mira", "kinds": "all"},
                {"op": "edit_text", "text": before, "node": "b", "kinds": "all"},
            ]
        )
        after = before.replace('"start_node": "a"', '"start_node": "mira"').replace('"name": "a"', '"name": "mira"')
        assert renamed == after.replace("{{slot.a}}", "{{slot.mira}}").replace('"input" : "a"', '"input" : "mira"')
        lines = before.splitlines(keepends=True)
        without = "".join(line for line in lines if '"name": "b"' not in line)
        assert deleted == without.replace('"default_exit": "b"', '"default_exit": ""')


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '{"nodes": [{"name": "a"}]}',
            '{"nodes": [{"name": "a", "max_tokens": 12, "stop": ["a", "b"], '
            '"sampling": {"temperature": 0.5, "top_p": 1.0}}, {"name": "new", "type": "Generate"}]}',
        ),
        (
            '{\n    "nodes": [\n        {"name": "a", "max_tokens": 256}\n    ]\n}\n',
            '{\n    "nodes": [\n        {"name": "a", "max_tokens": 12, "stop": ["a", "b"], '
            '"sampling": {"temperature": 0.5, "top_p": 1.0}},\n        {\n            "name": "new",\n'
            '            "type": "Generate"\n        }\n    ]\n}\n',
        ),
        (
            '{\r\n\t"nodes" : [\r\n\t\t{\r\n\t\t\t"name" : "a"\r\n\t\t}\r\n\t]\r\n}',
            '{\r\n\t"nodes" : [\r\n\t\t{\r\n\t\t\t"name" : "a",\r\n\t\t\t"max_tokens" : 12,\r\n\t\t\t"stop" : [\r\n'
            '\t\t\t\t"a",\r\n\t\t\t\t"b"\r\n\t\t\t],\r\n\t\t\t"sampling" : {\r\n\t\t\t\t"temperature" : 0.5,\r\n'
            '\t\t\t\t"top_p" : 1.0\r\n\t\t\t}\r\n\t\t},\r\n\t\t{\r\n\t\t\t"name" : "new",\r\n\t\t\t"type" : "Generate"'
            "\r\n\t\t}\r\n\t]\r\n}",
        ),
    ],
)
def test_what_is_new_is_laid_out_like_its_neighbours(before: str, after: str) -> None:
    assert ask([{"op": "change", "text": before}]) == [after]


def test_newtonsofts_own_writer_keeps_the_spelling_too() -> None:
    before = '{"a":[1.0,1e5,123456789012345678901234567890,"\\u00e9"],"b":{"c":0.10}}'
    assert ask([{"op": "newtonsoft", "text": before}]) == [before]


FAULTS = [
    ("", "line 1, column 1: there is nothing in it"),
    (" \n ", "line 2, column 2: there is nothing in it"),
    ("[]", "a workflow is a JSON object, in { }; this is a list"),
    ('"a"', "a workflow is a JSON object, in { }; this is a"),
    ("null", "a workflow is a JSON object, in { }; this is null"),
    ('{"a": 1,\n "b": 2,\n "a": 3}', "line 3, column 2: the field 'a' is there twice; remove one"),
    ('{"a": 1, "\\u0061": 3}', "line 1, column 10: the field 'a' is there twice; remove one"),
    ('{"a": 1,}', "line 1, column 8: there is a comma too many before the }"),
    ('{"a": [1,\n]}', "line 1, column 9: there is a comma too many before the ]"),
    ('{"a": [,1]}', "line 1, column 8: ',' begins no value"),
    ('{"a": }', "line 1, column 7: a value is missing before the bracket; is there a comma too many?"),
    ('{"a" 1}', "line 1, column 6: a colon must follow the field's name"),
    ('{"a": 1 "b": 2}', "line 1, column 9: a comma or } must stand here"),
    ("{a: 1}", "line 1, column 2: the name of a field, in double quotes, must stand here"),
    ("{'a': 1}", "line 1, column 2: the name of a field, in double quotes, must stand here"),
    ("{\"a\": 'b'}", 'line 1, column 7: texts stand between straight double quotes (")'),
    ('{"a": 1} x', "line 1, column 10: there is more behind the end of the JSON; remove it"),
    ('{"a": // why\n1}', "line 1, column 7: JSON has no comments; remove it"),
    ('{"a": [1\n', "line 2, column 1: the [ of line 1 is never closed"),
    ('{"a": "b', "line 1, column 7: the text that begins here is never closed"),
    ('{"a": "b\nc"}', "line 1, column 9: a text cannot go over several lines; write \\n for a line break"),
    ('{"a": "b\tc"}', "line 1, column 9: a control character in a text must be written as an escape, such as \\t"),
    ('{"a": "\\x"}', "line 1, column 8: this is no escape; a backslash itself is written \\\\"),
    ('{"a": "\\u12"}', "line 1, column 8: \\u needs four hexadecimal digits"),
    ('{"a": "\\ud800"}', "line 1, column 7: half of a character (a lone surrogate) is in this text; write it whole"),
    ('{"a": 01}', "line 1, column 7: a number cannot begin with 0 and another digit"),
    ('{"a": 1.}', "line 1, column 7: this is no number"),
    ('{"a": -}', "line 1, column 7: this is no number"),
    ('{"a": 1e}', "line 1, column 7: this is no number"),
    ('{"a": 1e999}', "line 1, column 7: the number is too large"),
    ('{"a": .5}', "line 1, column 7: '.' begins no value"),
    ('{"a": NaN}', "line 1, column 7: 'N' begins no value"),
    ('{"a": tru}', "line 1, column 7: this is none of true, false and null"),
    ('{"a": +1}', "line 1, column 7: '+' begins no value"),
]


def test_what_is_no_workflow_file_is_refused_with_its_place() -> None:
    found = ask([{"op": "trip", "text": broken} for broken, _ in FAULTS])
    assert [(broken, got.get("fault")) for (broken, _), got in zip(FAULTS, found, strict=True)] == FAULTS


def test_bytes_that_are_no_workflow_file() -> None:
    good = '{"a": "é"}'.encode()
    files = [
        good,
        b"\xef\xbb\xbf" + good,
        b'{\n"a": "\xe9"}',
        '{"a": 1}'.encode("utf-16"),
        b'{"a": "\xed\xa0\x80"}',
        b'{"a": "\0"}',
        b'{"a": "' + b"x" * (8 * 2**20) + b'"}',
    ]
    found = ask([{"op": "read", "data": base64.b64encode(data).decode()} for data in files])
    assert found[:2] == [base64.b64encode(data).decode() for data in files[:2]]
    assert [got["fault"] for got in found[2:]] == [
        "line 2, column 1: the bytes of this line are not UTF-8; save the file as UTF-8",
        "it is UTF-16; save it as UTF-8",
        "line 1, column 1: the bytes of this line are not UTF-8; save the file as UTF-8",
        "line 1, column 8: a control character in a text must be written as an escape, such as \\t",
        f"it has {8 * 2**20 + 9} bytes; a workflow has at most {8 * 2**20}, is this the right file?",
    ]


def test_it_reads_what_the_sidecar_reads_and_refuses_what_it_refuses() -> None:
    rng = random.Random("json")
    pieces = [
        '"', "\\", "{", "}", "[", "]", ",", ":", "1", "0", "-", ".", "e", "E5", "+", "true", "null", " ", "\n", "\t",
        "a", '"a"', '"b":', "\\u00e9", "\\ud83d\\udc09", "é", "😀", "\x7f", "\u2028", "/", "'", "NaN", "\0",
    ]  # fmt: skip
    texts = []
    for _ in range(3000):
        base = rng.choice([SPELLED, '{"a":[1,-2.5e3,{"b":null}],"c":"x\\n"}', "[1,2]", '"x"', "-0.0", "{}"])
        cut = list(base)
        for _ in range(rng.randrange(3)):
            at = rng.randrange(len(cut) + 1)
            cut[at : at + rng.randrange(2)] = rng.choice(pieces)
        texts.append("".join(cut))
    found = ask([{"op": "parse", "text": text} for text in texts])
    refused = 0
    for given_text, got in zip(texts, found, strict=True):
        try:
            wanted: Any = orjson.loads(given_text.encode())
        except orjson.JSONDecodeError:
            assert isinstance(got, dict) and "fault" in got, given_text
            refused += 1
            continue
        if isinstance(got, dict):
            assert "is there twice" in got["fault"], given_text
        else:
            assert text(orjson.loads(got.encode())) == text(wanted), given_text
    assert 500 < refused < 2500
