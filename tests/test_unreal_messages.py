"""The generated C++ messages: what Python wrote, the core reads and writes back; what Python refuses, it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from pydantic import BaseModel
from pydantic_core import from_json

from bridge import __version__, authoring, client, codec, protocol
from bridge.codec import encode
from bridge.codegen.constants import error_texts
from bridge.codegen.shapes import records
from bridge.config import Settings
from bridge.errors import BY_CODE
from tests.cpp_build import build, needs_cpp
from tests.cpp_mirror import running_program
from tests.mirror import Mirror, Refused, Thrown
from tests.wire_checks import JUNK, READY, WRONG, check_spoiled, exact, least, sample, spoiled, without_nulls
from tests.wire_values import anything_for

pytestmark = needs_cpp

RECORDS: dict[str, type[BaseModel]] = {record.__name__: record for record in records()}


@pytest.fixture(scope="module")
def mirror(full: bool) -> Iterator[Mirror]:
    with running_program(build("messages", sanitizer="asan" if full else "")) as found:
        yield found


@pytest.fixture(scope="module")
def engine() -> Iterator[Mirror]:
    """The same messages as Blueprints have them."""
    with running_program(build("unreal_messages")) as found:
        yield found


@pytest.mark.parametrize("name", sorted(protocol.MESSAGES))
def test_what_python_wrote_comes_back_equal(mirror: Mirror, name: str) -> None:
    model = protocol.MESSAGES[name]

    @given(anything_for(model))
    def there_and_back(fields: dict[str, Any]) -> None:
        message = model.model_validate(fields)
        written = encode(message)[2].decode()
        back = mirror.answer("message", name, written)
        assert model.model_validate_json(back) == message
        assert exact(from_json(back)) == exact(without_nulls(model, json.loads(written)))

    there_and_back()


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_a_record_comes_back_equal(mirror: Mirror, name: str) -> None:
    model = RECORDS[name]
    for value in (sample(model), json.loads(least(model))):
        back = mirror.json("record", name, json.dumps(value))
        assert model.model_validate(back) == model.model_validate(value)
        assert exact(back) == exact(without_nulls(model, model.model_validate(value).model_dump(by_alias=True)))


@pytest.mark.parametrize("name", sorted(protocol.MESSAGES))
def test_what_is_left_out_has_pythons_default(mirror: Mirror, name: str) -> None:
    model = protocol.MESSAGES[name]
    written = least(model)
    assert model.model_validate_json(mirror.answer("message", name, written)) == model.model_validate_json(written)


def test_every_message_and_record_has_its_struct(mirror: Mirror) -> None:
    assert set(mirror.json("records")) == set(RECORDS)
    casts = {"Hello", "Ok", "Goodbye"}
    for base, models in (
        ("Request", protocol.REQUESTS), ("Reply", protocol.REPLIES), ("Push", protocol.PUSHES),
    ):  # fmt: skip
        for name, model in models.items():
            told = mirror.answer("class", name, json.dumps(sample(model, 0))).decode()
            assert told == f"{base} {name} {int(name in casts)}"


def test_a_type_of_a_newer_sidecar_is_nothing(mirror: Mirror) -> None:
    assert mirror.answer("message", "Applause", '{"loudness": 11}') == b"null"


# ---- what is refused -----------------------------------------------------------------------------------------


def test_one_wrong_value_is_refused_where_python_refuses_it(mirror: Mirror, full: bool) -> None:
    junk = (*JUNK, "-9223372036854775809", "9007199254740993", "-0", "0.0", "1e-5")
    cases = list(spoiled(protocol.MESSAGES, junk if full else junk[::2]))
    assert len(cases) > 4_000
    assert check_spoiled(mirror, "message", protocol.MESSAGES, cases) > 1_000
    assert check_spoiled(mirror, "record", RECORDS, spoiled(RECORDS, junk)) > 500


@pytest.mark.parametrize(("name", "written", "path", "reason"), WRONG)
def test_what_is_wrong_is_named(mirror: Mirror, name: str, written: str, path: str, reason: str) -> None:
    if any(word in written for word in ("NaN", "Infinity", "0" * 300)):
        # The codec refuses what is no JSON, and this one also what no double holds.
        with pytest.raises(Thrown, match=r"parse error|number overflow"):
            mirror.answer("message", name, written)
        return
    with pytest.raises(Refused) as refused:
        mirror.answer("message", name, written)
    assert refused.value.path == path
    assert reason in refused.value.reason


@pytest.mark.parametrize(
    ("name", "written", "reason"),
    [
        ("Ok", "[]", "must be an object, not a list"),
        ("Ok", "null", "must be an object, not null"),
        (
            "SetVariables",
            '{"agent_id": "a", "values": {"x": null}}',
            "must be true or false, a number, a text or a list",
        ),
        ("SetVariables", '{"agent_id": "a", "values": {"x": {}}}', "must be true or false, a number, a text or a list"),
        ("SetVariables", '{"agent_id": "a", "values": {"x": ["y", 1]}}', "must be a text, not a whole number"),
        ("SeedDialog", '{"agent_id": "a", "dialog": "d"}', "must be an object or a list, not a text"),
        ("ChangeParams", '{"agent_id": "a", "node_name": "n", "params": []}', "must be an object, not a list"),
    ],
)
def test_free_json_has_its_form(mirror: Mirror, name: str, written: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        mirror.answer("message", name, written)


def test_what_a_newer_sidecar_adds_is_left_out(mirror: Mirror) -> None:
    back = mirror.json("message", "TurnStarted", '{"new": {"a": [1]}, "turn_id": 7, "agent_id": "a", "Turn_id": 8}')
    assert back == {"agent_id": "a", "turn_id": 7}


def test_a_number_of_64_bits_without_a_sign_is_kept(mirror: Mirror) -> None:
    back = mirror.json("message", "Gap", '{"from_seq": 9223372036854775808, "to_seq": 18446744073709551615}')
    assert (back["from_seq"], back["to_seq"]) == (2**63, 2**64 - 1)


@pytest.mark.parametrize("number", [2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)])
def test_a_whole_number_is_no_double_on_its_way(mirror: Mirror, number: int) -> None:
    back = mirror.json("message", "TurnStarted", f'{{"agent_id": "a", "turn_id": {number}}}')
    assert back["turn_id"] == number
    values = mirror.json("message", "SetVariables", f'{{"agent_id": "a", "values": {{"x": {number}}}}}')
    assert values["values"] == {"x": number}


def test_a_whole_number_may_stand_for_a_number(mirror: Mirror) -> None:
    back = mirror.answer("message", "SessionReady", READY % ("1", "5"))
    assert from_json(back)["heartbeat_s"] == 5.0


def test_free_json_keeps_its_order_and_its_spelling(mirror: Mirror) -> None:
    free = '{"z":1.50,"a":{"Gold":1e2,"gold":[]},"":-0.0,"long":123456789012345678901234567890}'
    back = mirror.answer("message", "ValidateWorkflow", f'{{"workflow":{free}}}')
    assert back.decode() == f'{{"workflow":{free}}}'


def test_names_that_differ_in_their_case_are_two(mirror: Mirror) -> None:
    record = {"turn_id": 1, "user": "", "attributes": {"Mood": "1", "mood": "2"}}
    assert mirror.json("record", "Interaction", json.dumps(record))["attributes"] == {"Mood": "1", "mood": "2"}


def test_the_last_of_two_fields_with_one_name_counts(mirror: Mirror) -> None:
    back = mirror.json("message", "TurnStarted", '{"agent_id": "a", "turn_id": 1, "turn_id": 2}')
    assert back["turn_id"] == 2


@pytest.mark.parametrize("written", ['"\\ud800"', '"a\\udc00b"', '"\\ud83d\\ud83d\\ude00"'])
def test_half_a_character_is_no_text(mirror: Mirror, written: str) -> None:
    body = f'{{"agent_id": "a", "text": {written}}}'
    try:
        text = mirror.json("message", "SendMessage", body)["text"]
    except Thrown as refused:
        assert "surrogate" in str(refused)
    else:
        assert "\ufffd" in text
        assert text.encode()  # what is left is whole


def test_a_number_that_is_no_word_of_an_enum_is_written_as_none(mirror: Mirror) -> None:
    assert mirror.answer("none of the words") == b""


def nested(levels: int) -> str:
    return '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)


def test_nesting_without_end_is_refused(mirror: Mirror) -> None:
    assert mirror.json("message", "ValidateWorkflow", f'{{"workflow": {nested(60)}}}') == {
        "workflow": json.loads(nested(60))
    }
    for levels in (200, 100_000):
        with pytest.raises(Thrown, match=r"nested deeper|deep"):
            mirror.answer("message", "ValidateWorkflow", f'{{"workflow": {nested(levels)}}}')


# ---- as Blueprints have them ---------------------------------------------------------------------------------


@pytest.mark.thorough
def test_every_message_and_record_has_its_ustruct(engine: Mirror) -> None:
    assert set(engine.json("pairs")) == {*RECORDS, *protocol.MESSAGES}


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(protocol.MESSAGES))
def test_what_the_core_read_comes_back_from_a_ustruct(engine: Mirror, name: str) -> None:
    model = protocol.MESSAGES[name]

    @given(anything_for(model))
    def there_and_back(fields: dict[str, Any]) -> None:
        # The engine's texts end at the first zero: nobody writes one.
        written = encode(model.model_validate(fields))[2].decode().replace("\\u0000", "0")
        back = engine.answer("message", name, written)
        assert model.model_validate_json(back) == model.model_validate_json(written)
        assert exact(from_json(back)) == exact(without_nulls(model, json.loads(written)))

    there_and_back()


@pytest.mark.thorough
@pytest.mark.parametrize("job", ["message", "engine"])
def test_a_ustruct_comes_back_equal(engine: Mirror, job: str) -> None:
    models: dict[str, type[BaseModel]] = {**RECORDS, **protocol.MESSAGES}
    for name, model in models.items():
        for value in (sample(model), json.loads(least(model))):
            back = engine.json(job, name, json.dumps(value))
            assert model.model_validate(back) == model.model_validate(value)
            assert exact(back) == exact(without_nulls(model, model.model_validate(value).model_dump(by_alias=True)))


@pytest.mark.thorough
def test_a_ustruct_refuses_what_python_refuses(engine: Mirror, full: bool) -> None:
    names = protocol.MESSAGES if full else ("TurnComplete", "SetVariables", "SessionReady")
    models: dict[str, type[BaseModel]] = {name: protocol.MESSAGES[name] for name in names}
    assert check_spoiled(engine, "engine", models, spoiled(models, JUNK if full else JUNK[::3])) > 100


@pytest.mark.thorough
def test_whole_numbers_are_no_doubles_in_a_ustruct(engine: Mirror) -> None:
    for job in ("message", "engine"):
        back = engine.json(job, "Gap", '{"from_seq": 9223372036854775808, "to_seq": 18446744073709551615}')
        assert (back["from_seq"], back["to_seq"]) == (2**63, 2**64 - 1)
        back = engine.json(job, "TurnStarted", '{"agent_id": "a", "turn_id": 9007199254740993}')
        assert back["turn_id"] == 2**53 + 1


@pytest.mark.thorough
def test_an_empty_object_is_not_an_absent_one_in_a_ustruct(engine: Mirror) -> None:
    for written in ('{"workflow":{},"seed_dialog":{}}', '{"workflow":{},"seed_dialog":[]}', '{"workflow":{}}'):
        back = engine.json("message", "CreateAgent", written)
        assert {key: back[key] for key in json.loads(written)} == json.loads(written)
        assert ("seed_dialog" in back) is ("seed_dialog" in written)


@pytest.mark.thorough
def test_names_that_differ_in_their_case_are_two_in_a_ustruct(engine: Mirror) -> None:
    record = {"turn_id": 1, "user": "", "attributes": {"Mood": "1", "mood": "2"}}
    assert engine.json("message", "Interaction", json.dumps(record))["attributes"] == {"Mood": "1", "mood": "2"}


@pytest.mark.thorough
def test_codes_as_blueprints_have_them(engine: Mirror) -> None:
    codes = engine.json("codes")
    assert codes == {"None": 0, **{cls.__name__: code for code, cls in BY_CODE.items()}, "Other": -1}


# ---- constants -----------------------------------------------------------------------------------------------


def test_error_codes(mirror: Mirror) -> None:
    for error in error_texts():
        assert mirror.json("error", str(error.code)) == [error.name, error.text, error.remedy]
    assert {error.code for error in error_texts()} == {0, *BY_CODE}
    assert mirror.json("error", "9999") == ["9999", "", ""]


def test_the_numbers_of_the_protocol(mirror: Mirror) -> None:
    written = mirror.json("protocol")
    defaults = Settings()
    assert written["ParleyVersion"] == __version__
    assert written["ProtocolVersion"] == protocol.PROTOCOL_VERSION
    assert written["SchemaFingerprint"] == protocol.schema_fingerprint()
    assert (written["MaxJsonDepth"], written["IdsBytes"]) == (codec.MAX_DEPTH, codec.HEADER.size)
    assert (written["AckFrames"], written["AckBytes"]) == (client.ACK_FRAMES, client.ACK_BYTES)
    assert (written["MaxJsonBytes"], written["HeartbeatS"]) == (defaults.max_json_bytes, defaults.heartbeat_s)
    assert written["NamePattern"] == authoring.NAME_PATTERN.pattern
