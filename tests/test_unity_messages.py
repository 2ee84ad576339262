"""The generated C# messages: what Python wrote, C# reads and writes back; what Python refuses, C# refuses."""

from __future__ import annotations

import copy
import json
import types
import typing
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from hypothesis import given
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from bridge import __version__, client, codec, protocol
from bridge.codec import encode
from bridge.config import Settings
from bridge.errors import BY_CODE
from tests.csharp_build import needs_mono
from tests.mirror import Mirror, Refused, Thrown, running
from tests.wire_values import anything_for

pytestmark = needs_mono


@pytest.fixture(scope="module", params=["", "tr-TR"], ids=["invariant", "tr-TR"])
def mirror(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirror]:
    folder = tmp_path_factory.getbasetemp() / "mirror"
    folder.mkdir(exist_ok=True)
    with running(folder, request.param) as found:
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


def exact(value: Any) -> Any:
    """A value whose equality tells 1 from 1.0 and True. The sign of a zero is no matter."""
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [exact(item) for item in value]
    return (type(value).__name__, repr(value + 0.0 if isinstance(value, float) else value))


def without_nulls(annotation: Any, value: Any) -> Any:
    """The JSON of a model without the optional fields that are null."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        models = [argument for argument in arguments if argument is not types.NoneType]
        return without_nulls(models[0], value) if len(models) == 1 else value
    if origin is list and isinstance(value, list):
        return [without_nulls(arguments[0], item) for item in value]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        kinds = {info.alias or name: info for name, info in annotation.model_fields.items()}
        return {
            key: without_nulls(kinds[key].annotation, float(item) if kinds[key].annotation is float else item)
            for key, item in value.items()
            if item is not None
        }
    return value


@pytest.mark.parametrize("name", sorted(protocol.MESSAGES))
def test_what_is_left_out_has_pythons_default(mirror: Mirror, name: str) -> None:
    model = protocol.MESSAGES[name]
    least = json.dumps({key: value for key, value in sample(model, 0).items() if key in required(model)})
    assert model.model_validate_json(mirror.answer("message", name, least)) == model.model_validate_json(least)


def test_every_message_has_its_class(mirror: Mirror) -> None:
    for base, models in (
        ("Request", protocol.REQUESTS), ("Reply", protocol.REPLIES), ("Push", protocol.PUSHES),
    ):  # fmt: skip
        for name, model in models.items():
            assert mirror.answer("class", name, json.dumps(sample(model, 0))) == f"{base} {name}".encode()


def test_a_type_of_a_newer_sidecar_is_nothing(mirror: Mirror) -> None:
    assert mirror.answer("message", "Applause", '{"loudness": 11}') == b"null"


def test_what_is_null_is_written_as_empty(mirror: Mirror) -> None:
    written = mirror.json("nulls")
    assert set(written) >= set(protocol.MESSAGES)
    must_be_set = {"SeedDialog"}  # an object or a list: nothing stands for it
    for name in set(protocol.MESSAGES) - must_be_set:
        protocol.MESSAGES[name].model_validate_json(json.dumps(written[name]))


# ---- what is refused -----------------------------------------------------------------------------------------

# Mono reads numbers below -2**63 by the minus sign of the culture, so there are none here.
JUNK: tuple[str, ...] = (
    "null", "true", "0", "-1", "1.0", "1.5", "1E2", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "18446744073709551615", "18446744073709551616", "1" + "0" * 60,
    "1e300", '"x"', '""', '"2026-11-30T17:36:01Z"', '"1"', "[]", "{}", "[null]", '["x"]', '{"x": "y"}', '{"x": 1}',
)  # fmt: skip


def sample(annotation: Any, depth: int = 3) -> Any:
    """A value with everything in it that there can be, `depth` records deep."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return sample(arguments[0], depth)
    if origin is Literal:
        return arguments[0]
    if origin is list:
        return [sample(arguments[0], depth)] if arguments else []
    if origin is dict:
        return {"k": sample(arguments[1], depth)}
    if annotation is Any:
        return "v"
    if annotation in (bool, int, float, str):
        return {bool: True, int: 1, float: 0.5, str: "s"}[annotation]
    fields = {info.alias or name: info for name, info in annotation.model_fields.items()}
    return {
        name: sample(info.annotation, depth - 1) for name, info in fields.items() if depth > 0 or info.is_required()
    }


def required(model: type[BaseModel]) -> set[str]:
    return {info.alias or name for name, info in model.model_fields.items() if info.is_required()}


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where every value inside a value stands."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in inside:
        yield (*path, step)
        yield from places(inner, (*path, step))


def put(root: Any, path: tuple[str | int, ...], mark: str | None) -> Any:
    """A copy with another value at a place, or with none."""
    changed = copy.deepcopy(root)
    at = changed
    for step in path[:-1]:
        at = at[step]
    if mark is None:
        del at[path[-1]]
    else:
        at[path[-1]] = mark
    return changed


def takes(model: type[protocol.Message], written: str) -> bool:
    try:
        model.model_validate_json(written)
    except ValidationError:
        return False
    return True


def test_one_wrong_value_is_refused_where_python_refuses_it(mirror: Mirror) -> None:
    jobs: list[tuple[str, ...]] = []
    cases: list[tuple[str, str, tuple[str | int, ...], bool, bool]] = []
    for name, model in protocol.MESSAGES.items():
        whole = sample(model)
        assert takes(model, json.dumps(whole)), name
        for path in places(whole):
            for junk in (*JUNK, None):
                if path[-1] == "version" and junk in ("true", "1.0"):
                    continue  # to Python they equal the only version there is
                written = json.dumps(put(whole, path, None if junk is None else "\ue000junk"))
                written = written.replace('"\\ue000junk"', junk or "")
                jobs.append(("message", name, written))
                # Whole numbers without bounds have none in Python, and 64 bits here.
                beyond = junk is not None and junk.lstrip("-").isdecimal() and not -(2**63) <= int(junk) < 2**63
                cases.append((name, written, path, takes(model, written), beyond))
    answers = mirror.answers(jobs)
    wrong = []
    for (name, written, path, taken, beyond), answer in zip(cases, answers, strict=True):
        if isinstance(answer, bytes):
            good = taken and takes(protocol.MESSAGES[name], answer.decode())
        else:
            good = (
                isinstance(answer, Refused)
                and answer.path.startswith(shown(path))
                and (not taken or (beyond and "9223372036854775807" in answer.reason))
            )
        if not good:
            wrong.append((name, shown(path), written, answer))
    assert wrong[:3] == []
    assert len(cases) > 5_000
    assert sum(isinstance(answer, Refused) for answer in answers) > 1_000


def shown(path: tuple[str | int, ...]) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


DONE = '{"agent_id": "a", "turn_id": 1, "status": "Success"'
READY = (
    '{"protocol": 1, "session_id": "s", "session_key": "k", "resumed": false, "last_request_id": %s, '
    '"server_version": "1", "schema_fingerprint": "f", "heartbeat_s": %s}'
)


@pytest.mark.parametrize(
    ("name", "written", "path", "reason"),
    [
        ("TurnStarted", '{"agent_id": "a"}', "$.turn_id", "is missing"),
        ("TurnStarted", '{"agent_id": "a", "turn_id": "1"}', "$.turn_id", "must be a whole number, not a text"),
        ("TurnStarted", '{"agent_id": "a", "turn_id": 1.0}', "$.turn_id", "must be a whole number, not a number with"),
        ("TurnStarted", '{"agent_id": null, "turn_id": 1}', "$.agent_id", "must be a text, not null"),
        ("Models", '{"models": [{"name": "m"}]}', "$.models[0].type", "is missing"),
        ("Models", '{"models": {}}', "$.models", "must be a list, not an object"),
        (
            "TurnComplete",
            DONE + ', "interaction": {"turn_id": 1, "user": "", "outputs": [{"step": 1, "node_name": "n", "slot": "s", '
            '"text": 5}]}}',
            "$.interaction.outputs[0].text",
            "must be a text, not a whole number",
        ),
        (
            "TurnComplete",
            DONE.replace("Success", "Postponed") + "}",
            "$.status",
            "'Postponed' is not known here, only 'Success', 'Error', 'Cancelled'; is the other side newer?",
        ),
        ("TurnComplete", DONE.replace("Success", "success") + "}", "$.status", "'success' is not known here"),
        (
            "TurnComplete",
            DONE + ', "dropped_turns": 9223372036854775808}',
            "$.dropped_turns",
            "from -92233720368547758",
        ),
        ("SessionReady", READY % ("18446744073709551616", "5"), "$.last_request_id", "from 0 to 18446744073709551615"),
        ("SessionReady", READY % ("-1", "5"), "$.last_request_id", "must be a whole number from 0"),
        ("SessionReady", READY % ("1", "NaN"), "$.heartbeat_s", "must be a finite number"),
        ("SessionReady", READY % ("1", "Infinity"), "$.heartbeat_s", "must be a finite number"),
        ("SessionReady", READY % ("1", '"5"'), "$.heartbeat_s", "must be a number, not a text"),
        ("SessionReady", READY % ("1", "1" + "0" * 350), "$.heartbeat_s", "must be a finite number"),
        ("Goodbye", '{"reason": ""}', "$.reason", "'' is not known here"),
        ("Goodbye", '{"reason": "%s"}' % ("é" * 500), "$.reason", "é…' is not known here"),
    ],
)
def test_what_is_wrong_is_named(mirror: Mirror, name: str, written: str, path: str, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        mirror.answer("message", name, written)
    assert refused.value.path == path
    assert reason in refused.value.reason


def test_what_a_newer_sidecar_adds_is_left_out(mirror: Mirror) -> None:
    back = mirror.json("message", "TurnStarted", '{"new": {"a": [1]}, "turn_id": 7, "agent_id": "a", "Turn_id": 8}')
    assert back == {"agent_id": "a", "turn_id": 7}


def test_a_number_of_64_bits_without_a_sign_is_kept(mirror: Mirror) -> None:
    back = mirror.json("message", "Gap", '{"from_seq": 9223372036854775808, "to_seq": 18446744073709551615}')
    assert (back["from_seq"], back["to_seq"]) == (2**63, 2**64 - 1)


def test_a_whole_number_may_stand_for_a_number(mirror: Mirror) -> None:
    assert mirror.json("message", "SessionReady", READY % ("1", "5"))["heartbeat_s"] == 5.0


@pytest.mark.parametrize("written", ['"\\ud800"', '"a\\udc00b"', '"\\ud83d\\ud83d\\ude00"'])
def test_half_a_character_is_replaced(mirror: Mirror, written: str) -> None:
    text = mirror.json("message", "SendMessage", f'{{"agent_id": "a", "text": {written}}}')["text"]
    assert "\ufffd" in text
    assert text.encode()  # what is left is whole


def nested(levels: int) -> str:
    return '{"a":' * (levels - 1) + "{}" + "}" * (levels - 1)


def test_what_the_sidecar_takes_is_not_too_deep(mirror: Mirror) -> None:
    written = f'{{"workflow": {nested(codec.MAX_DEPTH - 1)}}}'
    assert mirror.json("message", "ValidateWorkflow", written) == json.loads(written)


def test_nesting_without_end_is_refused(mirror: Mirror) -> None:
    for levels in (200, 100_000):
        with pytest.raises(Thrown, match=r"ParleyException: ValidateWorkflow: part 3 .*(?i:depth)"):
            mirror.answer("message", "ValidateWorkflow", f'{{"workflow": {nested(levels)}}}')


def test_another_culture_is_another_culture(mirror: Mirror) -> None:
    assert mirror.answer("culture").decode() in ("-1.5 i", "−1,5 ı")


# ---- constants -----------------------------------------------------------------------------------------------


def test_error_codes(mirror: Mirror) -> None:
    written = mirror.json("errors")
    assert written.pop("9999") == ["", "9999", "", ""]
    assert written.pop("0")[:2] == ["InternalError", "InternalError"]
    assert written == {str(code): [cls.__name__, cls.__name__, cls.text, cls.remedy] for code, cls in BY_CODE.items()}


def test_the_numbers_of_the_protocol(mirror: Mirror) -> None:
    written = mirror.json("protocol")
    defaults = Settings()
    assert written["ParleyVersion"] == __version__
    assert written["ProtocolVersion"] == protocol.PROTOCOL_VERSION
    assert written["SchemaFingerprint"] == protocol.schema_fingerprint()
    assert (written["MaxJsonDepth"], written["IdsBytes"]) == (codec.MAX_DEPTH, codec.HEADER.size)
    assert (written["AckFrames"], written["AckBytes"]) == (client.ACK_FRAMES, client.ACK_BYTES)
    assert (written["MaxJsonBytes"], written["HeartbeatS"]) == (defaults.max_json_bytes, defaults.heartbeat_s)
