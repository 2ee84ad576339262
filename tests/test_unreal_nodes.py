"""The node types of the Unreal plugin: workflow files come back as they were, and editors are told what Python says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, given

from bridge.codegen.shapes import fields_of
from bridge.codegen.unreal_nodes import node_names
from bridge.codegen.unreal_types import Property, properties_of
from bridge.node import Kind, field_kind, is_structural
from tests.cpp_build import build, needs_cpp
from tests.cpp_mirror import lamp_program, running_program
from tests.mirror import Mirror, Refused
from tests.node_checks import REGISTRY, check_types, default, nodes_of

pytestmark = [needs_cpp, pytest.mark.thorough]

EMPTY: dict[str, Any] = {"bool": False, "int32": 0, "int64": 0, "double": 0.0, "FString": ""}


@pytest.fixture(scope="module")
def core() -> Iterator[Mirror]:
    with running_program(build("messages")) as found:
        yield found


@pytest.fixture(scope="module")
def engine() -> Iterator[Mirror]:
    with running_program(build("unreal_messages")) as found:
        yield found


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def properties(name: str) -> dict[str, Property]:
    """The properties of a node type by the field they stand for."""
    names = node_names()
    fields = [field for field in fields_of(REGISTRY[name], names) if field.wire != "name"]
    return {each.field.wire: each for each in properties_of(name, fields, names)}


# ---- files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_a_node_comes_back_as_it_was(engine: Mirror, name: str) -> None:
    cls = REGISTRY[name]

    @given(nodes_of(cls))
    def there_and_back(fields: list[tuple[str, Any]]) -> None:
        written = compact(dict([*fields, ("name", "n")]))
        assume("\\u0000" not in written)  # the engine's texts end at the first zero: nobody writes one
        assert engine.answer("node", written).decode() == written
        assert engine.answer("copied", written).decode() == written

    there_and_back()


SPELLED = (
    '{"threshold":0.50,"vendor":{"x":[1.0,1e5,0.1000000000000000055],"Y":{},"y":[]},"type":"Retrieve","top_k":3,'
    '"filter":{"all":[{"age":{">":1.0}}]},"name":"café","input":"","found_exit":"a"}'
)


def test_the_spelling_of_a_file_is_kept(engine: Mirror) -> None:
    assert engine.answer("node", SPELLED).decode() == SPELLED


def test_the_engines_objects_keep_order_and_spelling(engine: Mirror) -> None:
    written = SPELLED.replace(',"Y":{}', "")  # to the engine y and Y are one
    assert engine.answer("engine node", written).decode() == written


@pytest.mark.parametrize("spelling", ["1", "1.0", "1e0", "0.10e1", "1.000000000000000000001"])
def test_the_spelling_of_a_number_is_kept(engine: Mirror, spelling: str) -> None:
    written = f'{{"type":"Retrieve","name":"n","threshold":{spelling}}}'
    assert engine.answer("node", written).decode() == written


@pytest.mark.parametrize(
    ("changed", "before", "after"),
    [
        ({"TopK": 5}, '"top_k":3', '"top_k":5'),
        ({"Threshold": 0.25}, '"threshold":0.50', '"threshold":0.25'),
        ({"Threshold": 0.5}, "", ""),
        ({"FoundExit": "b"}, '"found_exit":"a"', '"found_exit":"b"'),
        ({"FoundExit": "A"}, '"found_exit":"a"', '"found_exit":"A"'),
        ({"FoundExit": ""}, '"found_exit":"a"', '"found_exit":""'),
        ({"NotFoundExit": ""}, "", ""),
        ({"Filter": '{ "all": [{"age": {">": 1}}] }'}, "", ""),
        ({"Filter": ""}, '{"all":[{"age":{">":1.0}}]}', "{}"),
        ({"Filter": '{"age":2}'}, '{"all":[{"age":{">":1.0}}]}', '{"age":2}'),
        ({"Filter": "no JSON"}, '{"all":[{"age":{">":1.0}}]}', '"no JSON"'),
        ({"NodeName": "n"}, '"name":"café"', '"name":"n"'),
    ],
)
def test_only_what_changed_is_changed(engine: Mirror, changed: dict[str, Any], before: str, after: str) -> None:
    assert before in SPELLED
    assert engine.answer("edited", SPELLED, json.dumps(changed)).decode() == SPELLED.replace(before, after)


def test_what_was_not_there_comes_last_and_only_where_it_is_no_default(engine: Mirror) -> None:
    short = '{"type":"Generate","name":"mira"}'

    def edited(**changed: Any) -> str:
        return engine.answer("edited", short, json.dumps(changed)).decode()

    assert edited(Send="Whole") == '{"type":"Generate","name":"mira","send":"Whole"}'
    assert edited(Send="Streamed") == short
    assert edited(Stop=["###"]) == '{"type":"Generate","name":"mira","stop":["###"]}'
    assert edited(Stop=[]) == short
    assert edited(bStripReasoning=False) == '{"type":"Generate","name":"mira","strip_reasoning":false}'
    assert edited(Sampling={"bHasTopP": True, "TopP": 0.5}) == (
        '{"type":"Generate","name":"mira","sampling":{"top_p":0.5}}'
    )
    assert edited(Sampling={"bHasTopP": False, "TopP": 0.5}) == short
    assert edited(Examples=[{"Speaker": "Mira", "Text": ""}, {"Speaker": "Bo", "Text": "Hm."}]) == (
        '{"type":"Generate","name":"mira","examples":[{"speaker":"Mira","text":""},{"speaker":"Bo","text":"Hm."}]}'
    )


def test_a_sampling_value_that_is_unset_goes(engine: Mirror) -> None:
    node = '{"type":"Generate","name":"m","sampling":{"seed":4294967295,"temperature":null,"min_q":1}}'
    assert engine.answer("node", node).decode() == node
    unset = engine.json("edited", node, '{"Sampling": {"bHasSeed": false}}')
    assert unset["sampling"] == {"temperature": None, "min_q": 1}
    set_now = engine.json("edited", node, '{"Sampling": {"bHasTemperature": true, "Temperature": 1.5}}')
    assert set_now["sampling"] == {"seed": 4294967295, "temperature": 1.5, "min_q": 1}


def test_a_node_becomes_another_in_place(engine: Mirror) -> None:
    first = '{"type":"Generate","name":"m","max_tokens":7,"vendor":1,"sampling":{"seed":1},"stop":["a"],"send":"None"}'
    then = '{"name":"b","type":"Generate","history_name":"Bo"}'
    assert engine.answer("again", first, then).decode() == then
    assert engine.answer("again", then, first).decode() == first
    with pytest.raises(Refused) as refused:
        engine.answer("again", first, '{"name":"b","type":"Generate","stop":["x"],"template":5}')
    assert refused.value.path == "$.template"
    with pytest.raises(Refused) as refused:
        engine.answer("again", first, '{"name":"b","type":"Retrieve"}')
    assert (refused.value.path, "only 'Generate'" in refused.value.reason) == ("$.type", True)


@pytest.mark.parametrize(
    ("written", "path", "reason"),
    [
        ("[]", "$", "must be an object"),
        ('{"name": "n"}', "$.type", "is missing"),
        ('{"type": 5}', "$.type", "must be a text"),
        ('{"type": "Generate", "name": 5}', "$.name", "must be a text"),
        ('{"type": "Generate", "name": "n", "send": "Loud"}', "$.send", "only 'None', 'Whole', 'Streamed'"),
        ('{"type": "Generate", "name": "n", "max_tokens": 0}', "$.max_tokens", "from 1 to 1048576"),
        ('{"type": "Generate", "name": "n", "max_tokens": 9007199254740993}', "$.max_tokens", "from 1 to 1048576"),
        ('{"type": "Generate", "name": "n", "max_tokens": 1.0}', "$.max_tokens", "must be a whole number"),
        ('{"type": "Generate", "name": "n", "stop": ["a", null]}', "$.stop[1]", "must be a text"),
        ('{"type": "Generate", "name": "n", "examples": [{"text": ""}]}', "$.examples[0].speaker", "is missing"),
        ('{"type": "Generate", "name": "n", "sampling": {"top_k": 1.5}}', "$.sampling.top_k", "must be a whole number"),
        ('{"type": "Generate", "name": "n", "sampling": []}', "$.sampling", "must be an object, not a list"),
        ('{"type": "ToolCall", "name": "n", "tools": [{"name": "t", "parameters": 1}]}', "$.tools[0].parameters", "an"),
        ('{"type": "Retrieve", "name": "n", "filter": "x"}', "$.filter", "must be an object, not a text"),
    ],
)
def test_what_is_wrong_in_a_node_is_named(engine: Mirror, written: str, path: str, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        engine.answer("node", written)
    assert refused.value.path == path
    assert reason in refused.value.reason


def test_a_type_that_is_not_known_is_nothing(engine: Mirror) -> None:
    assert engine.answer("node", '{"type": "Lantern", "name": "n"}') == b"null"
    assert engine.answer("node", '{"type": "generate", "name": "n"}') == b"null"


def test_every_type_has_its_class(engine: Mirror) -> None:
    assert engine.json("classes") == list(REGISTRY)


def test_a_type_of_others_is_as_good_as_our_own() -> None:
    with running_program(lamp_program()) as engine:
        check_lamp(engine)


def check_lamp(engine: Mirror) -> None:
    plain = '{"name":"l","type":"Lamp"}'
    assert engine.answer("node", plain).decode() == plain
    changed = {
        "Lamp": {"Colour": "blue"}, "Wick": "LongIsh", "Places": [{"bHasDim": True, "Dim": 0.5}], "Big": 2**50,
        "Shades": [], "Levels": [2**53 + 1], "Extra": '{"oil": 1.0}',
    }  # fmt: skip
    assert engine.json("edited", plain, json.dumps(changed)) == {
        "name": "l", "type": "Lamp", "lamp": {"colour": "blue"}, "wick": "long-ish",
        "places": [{"colour": "", "dim": 0.5}], "levels": [2**53 + 1], "shades": [],
        "extra": {"oil": 1.0}, "big": 2**50,
    }  # fmt: skip
    begun = engine.json("values", plain)
    assert (begun["Lamp"]["Colour"], begun["Lamp"]["bHasDim"], begun["Wick"]) == ("red", False, "Empty")
    assert (begun["Shades"], begun["Big"], begun["Ratio"]) == (["paper"], 2**40, 0.125)
    assert engine.json("told", "Lamp") == [
        'Gives <light>, "as if" by magic \\ & more.', 'how "bright" it is', {"colour": "red"}, "colour", True,
    ]  # fmt: skip


# ---- what editors are told -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_properties_begin_with_pythons_defaults(engine: Mirror, name: str) -> None:
    begun = engine.json("values", json.dumps({"name": "", "type": name}))
    assert begun.pop("NodeName") == ""
    assert json.loads(begun.pop("AsRead")) == {"name": "", "type": name}
    for field, each in properties(name).items():
        value = default(REGISTRY[name].model_fields[field])
        found = begun.pop(each.name)
        if each.type.startswith("EParley"):
            value = value[:1].upper() + value[1:] if value else "Empty"
        elif each.type == "FString" and isinstance(value, dict):
            value = json.dumps(value) if value else ""
        elif each.type == "FParleySamplingParams":
            assert not any(inner for key, inner in found.items() if key.startswith("bHas")), "nothing is set"
            continue
        assert (field, found) == (field, value)
    assert begun == {}


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_properties_say_which_picker_they_want(engine: Mirror, name: str) -> None:
    told = engine.json("meta", name)
    assert told["NodeName"]["ParleyKind"] == "name"
    assert "ParleyFixed" in told["NodeName"]
    assert told["AsRead"]["is_edited"] is False
    for field, each in properties(name).items():
        about, info = told[each.name], REGISTRY[name].model_fields[field]
        kind = field_kind(info)
        assert about.get("ParleyKind") == (None if kind is Kind.PLAIN else kind.value)
        assert about["ToolTip"].startswith((info.description or "").replace("…", "...").replace("`", ""))
        assert about["is_edited"] is True
        assert ("ParleyFixed" in about) is is_structural(info)
        for bound, keys in (("ge", ("ClampMin", "UIMin")), ("le", ("ClampMax", "UIMax"))):
            there = [getattr(item, bound) for item in info.metadata if hasattr(item, bound)]
            assert [float(about[key]) for key in keys if key in about] == [float(value) for value in there * 2]
        assert ("MultiLine" in about) is (kind in (Kind.TEXT, Kind.TEMPLATE, Kind.FILTER))


def test_every_type_is_described(core: Mirror) -> None:
    check_types(core.json("types"), lambda kind: kind.value)
    assert core.answer("kind", "99") == b""
