"""The generated C# node types: workflow files come back as they were, and editors are told what Python declares."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from annotated_types import Ge, Le
from hypothesis import given
from hypothesis import strategies as st

from bridge.codegen import TARGETS, emit, write
from bridge.codegen.source_text import pascal
from bridge.node import Kind, field_kind, is_structural
from tests.csharp_build import CORE, compile_csharp, needs_mono, run_mono
from tests.mirror import Mirror, Refused, running
from tests.node_checks import REGISTRY, Lamp, check_types, default, nodes_of

pytestmark = needs_mono

UNITY = TARGETS["unity"]


@pytest.fixture(scope="module", params=["", "tr-TR"], ids=["invariant", "tr-TR"])
def mirror(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirror]:
    folder = tmp_path_factory.getbasetemp() / "mirror"
    folder.mkdir(exist_ok=True)
    with running(folder, request.param) as found:
        yield found


# ---- files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_a_node_comes_back_as_it_was(mirror: Mirror, name: str) -> None:
    cls = REGISTRY[name]

    @given(nodes_of(cls), st.sampled_from([None, 2, 4]))
    def there_and_back(fields: list[tuple[str, Any]], indent: int | None) -> None:
        written = json.dumps(dict([*fields, ("name", "n")]), indent=indent, ensure_ascii=indent == 2)
        assert mirror.answer("node", written).decode() == written

    there_and_back()


SPELLED = (
    '{ "threshold":0.50, "vendor" : {"x":[1.0,1e5,0.1000000000000000055]}, "type":"Retrieve",\n\t"top_k": 3,'
    ' "filter": {"all":[{"age":{">":1.0}}]}, "name":"caf\\u00e9", "input":"", "found_exit":"a" }'
)


def test_the_spelling_of_a_file_is_kept(mirror: Mirror) -> None:
    written = SPELLED.replace("caf\\u00e9", "cafe\\u005f1")
    assert mirror.answer("node", written).decode() == written


@pytest.mark.parametrize("spelling", ["1", "1.0", "1e0", "0.10e1", "1.000000000000000000001"])
def test_the_spelling_of_a_number_is_kept(mirror: Mirror, spelling: str) -> None:
    written = f'{{"type": "Retrieve", "name": "n", "threshold": {spelling}}}'
    assert mirror.answer("node", written).decode() == written


@pytest.mark.parametrize(
    ("field", "value", "before", "after"),
    [
        ("TopK", "5", '"top_k": 3', '"top_k": 5'),
        ("Threshold", "0.25", '"threshold":0.50', '"threshold":0.25'),
        ("Threshold", "0.5", "", ""),
        ("FoundExit", '"b"', '"found_exit":"a"', '"found_exit":"b"'),
        ("FoundExit", '""', '"found_exit":"a"', '"found_exit":""'),
        ("Input", "null", "", ""),
        ("NotFoundExit", '""', "", ""),
        ("Name", '"n"', '"name":"caf\\u00e9"', '"name":"n"'),
    ],
)
def test_only_what_changed_is_changed(mirror: Mirror, field: str, value: str, before: str, after: str) -> None:
    assert before in SPELLED
    assert mirror.answer("edited", SPELLED, field, value).decode() == SPELLED.replace(before, after)


def test_what_was_not_there_comes_last_and_only_where_it_is_no_default(mirror: Mirror) -> None:
    short = '{"type": "Generate", "name": "mira"}'
    assert mirror.json("edited", short, "Send", '"Whole"') == {"type": "Generate", "name": "mira", "send": "Whole"}
    assert mirror.answer("edited", short, "Send", '"Streamed"').decode() == short
    assert mirror.json("edited", short, "Stop", '["###"]')["stop"] == ["###"]
    assert mirror.answer("edited", short, "Stop", "[]").decode() == short
    assert mirror.json("edited", short, "Sampling", '{"top_p": 0.5}')["sampling"] == {"top_p": 0.5}
    assert mirror.answer("edited", short, "Sampling", "{}").decode() == short


def test_a_sampling_value_that_is_unset_goes(mirror: Mirror) -> None:
    node = '{"type": "Generate", "name": "m", "sampling": {"seed": 4294967295, "temperature": null, "min_q": 1}}'
    assert mirror.answer("node", node).decode() == node
    assert mirror.json("edited", node, "Sampling", '{"top_k": 1}')["sampling"] == {"top_k": 1}
    assert mirror.json("edited", node, "Sampling.Seed", "null")["sampling"] == {"temperature": None, "min_q": 1}
    assert mirror.json("edited", node, "Sampling.Temperature", "1.5")["sampling"]["temperature"] == 1.5


@pytest.mark.parametrize(
    ("written", "path", "reason"),
    [
        ('{"name": "n"}', "$.type", "is missing"),
        ('{"type": "Generate", "name": 5}', "$.name", "must be a text"),
        ('{"type": "Generate", "name": "n", "send": "Loud"}', "$.send", "only 'None', 'Whole', 'Streamed'"),
        ('{"type": "Generate", "name": "n", "max_tokens": 0}', "$.max_tokens", "from 1 to 1048576"),
        ('{"type": "Generate", "name": "n", "examples": [{"text": ""}]}', "$.examples[0].speaker", "is missing"),
        ('{"type": "Generate", "name": "n", "sampling": {"top_k": 1.5}}', "$.sampling.top_k", "must be a whole number"),
        ('{"type": "ToolCall", "name": "n", "tools": [{"name": "t", "parameters": 1}]}', "$.tools[0].parameters", "an"),
    ],
)
def test_what_is_wrong_in_a_node_is_named(mirror: Mirror, written: str, path: str, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        mirror.answer("node", written)
    assert refused.value.path == path
    assert reason in refused.value.reason


def test_a_type_that_is_not_known_is_nothing(mirror: Mirror) -> None:
    assert mirror.answer("node", '{"type": "Lamp", "name": "n"}') == b"null"


# ---- types of others -----------------------------------------------------------------------------------------


def test_types_of_others_compile(tmp_path: Path) -> None:
    generated = tmp_path / "Generated"
    write(UNITY, emit(UNITY, {**REGISTRY, "Lamp": Lamp}), generated)
    program = tmp_path / "Program.cs"
    program.write_text(LAMP_PROGRAM, encoding="utf-8")
    others = [path for path in CORE.rglob("*.cs") if path.parent.name != "Generated"]
    done = run_mono(compile_csharp([*others, generated, program], tmp_path / "Program.exe"))
    plain, changed, told = done.stdout.splitlines()
    assert json.loads(plain) == {"name": "l", "type": "Lamp"}
    assert json.loads(changed) == {
        "name": "l", "type": "Lamp", "lamp": {"colour": "blue"}, "wick": "long-ish",
        "places": [{"colour": "", "dim": 0.5}], "big": 2**50, "shades": [],
    }  # fmt: skip
    assert json.loads(told) == ['Gives <light>, "as if" by magic \\ & more.', 'how "bright" it is', {"colour": "red"}]


LAMP_PROGRAM = """
using System;
using System.Collections.Generic;
using Newtonsoft.Json.Linq;
using Parley;
using Parley.Nodes;

internal static class Program
{
    private static void Main()
    {
        Lamp lamp = new Lamp { Name = "l" };
        Console.WriteLine(JsonText.Compact(lamp.ToJson()));
        lamp = (Lamp)NodeReader.Read(lamp.ToJson());
        lamp.Content.Colour = "blue";
        lamp.Wick = LampWick.LongIsh;
        lamp.Places.Add(new LampSetting { Dim = 0.5 });
        lamp.Big = 1L << 50;
        lamp.Shades = new List<string>();
        Console.WriteLine(JsonText.Compact(lamp.ToJson()));
        NodeType type = NodeTypes.Find("Lamp");
        JArray told = new JArray(type.Meaning, type.Offers[0].Meaning, type.Param("lamp").Default());
        Console.WriteLine(JsonText.Compact(told));
    }
}
"""


# ---- what editors are told -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_fields_begin_with_pythons_defaults(mirror: Mirror, name: str) -> None:
    begun = mirror.json("values", json.dumps({"name": "", "type": name}))
    assert begun == {pascal_of(name, field): default(info) for field, info in REGISTRY[name].model_fields.items()}


def pascal_of(owner: str, field: str) -> str:
    return "Text" if pascal(field) == owner else pascal(field)


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_fields_say_which_picker_they_want(mirror: Mirror, name: str) -> None:
    told = mirror.json("pickers", name)
    for field, info in REGISTRY[name].model_fields.items():
        if field == "name":
            assert told["Name"] == {"kind": "Name", "fixed": True}
            continue
        about = told[pascal_of(name, field)]
        kind = field_kind(info)
        assert about.get("kind", "Plain") == ("StringStorage" if kind is Kind.FILE else pascal(kind.value))
        assert about["meaning"] == info.description
        assert about.get("fixed", False) == is_structural(info)
        bounds = [float(str(item.ge if isinstance(item, Ge) else item.le)) for item in info.metadata
                  if isinstance(item, (Ge, Le))]  # fmt: skip
        assert about.get("bounds", []) == (bounds if len(bounds) == 2 else [])


def test_every_type_is_described(mirror: Mirror) -> None:
    check_types(mirror.json("types"), lambda kind: pascal(kind.value))
