"""The generated C# messages: what Python wrote, C# reads and writes back; what Python refuses, C# refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from pydantic_core import from_json

from bridge import __version__, client, codec, protocol
from bridge.codec import encode
from bridge.config import Settings
from bridge.errors import BY_CODE
from tests.csharp_build import needs_mono
from tests.mirror import Mirror, Refused, Thrown, running
from tests.wire_checks import JUNK, READY, WRONG, check_spoiled, exact, least, sample, spoiled, without_nulls
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


@pytest.mark.parametrize("name", sorted(protocol.MESSAGES))
def test_what_is_left_out_has_pythons_default(mirror: Mirror, name: str) -> None:
    model = protocol.MESSAGES[name]
    written = least(model)
    assert model.model_validate_json(mirror.answer("message", name, written)) == model.model_validate_json(written)


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


def test_one_wrong_value_is_refused_where_python_refuses_it(mirror: Mirror) -> None:
    cases = list(spoiled(protocol.MESSAGES, JUNK))
    assert len(cases) > 5_000
    assert check_spoiled(mirror, "message", protocol.MESSAGES, cases) > 1_000


@pytest.mark.parametrize(("name", "written", "path", "reason"), WRONG)
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
