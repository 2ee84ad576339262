"""Frames as the wire has them: every message there and back, and every way to be wrong."""

from __future__ import annotations

import json
import math
import struct
import types
import typing
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.codec import (
    MAX_DEPTH,
    Limits,
    decode_message,
    decode_request,
    encode,
    fit_debug,
    read_header,
)
from bridge.errors import MalformedMessage, MessageTooLarge, ParleyError, UnknownMessageType
from bridge.protocol import (
    MESSAGES,
    REQUESTS,
    AnswerText,
    Message,
    Ping,
    Record,
    SendMessage,
    SetVariables,
    TurnComplete,
)

LIMITS = Limits(json_bytes=4096, payload_bytes=64)
IDS = struct.pack("<QQ", 7, 0)
JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def values_of(annotation: Any, bounds: tuple[Any, ...] = ()) -> st.SearchStrategy[Any]:
    """Values that a field of this annotation takes."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return st.one_of([values_of(argument, bounds) for argument in arguments])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is list:
        return st.lists(values_of(arguments[0]), max_size=3)
    if origin is dict:
        return st.dictionaries(values_of(arguments[0]), values_of(arguments[1]), max_size=3)
    if annotation is int:
        low = max((rule.ge for rule in bounds if hasattr(rule, "ge")), default=-(2**63))
        high = min((rule.le for rule in bounds if hasattr(rule, "le")), default=2**63)
        return st.integers(low, high)
    if annotation is str:
        return st.text(max_size=20)
    if annotation is float:
        return st.floats(allow_nan=False, allow_infinity=False)
    if annotation is bool:
        return st.booleans()
    if annotation is type(None):
        return st.none()
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return instances_of(annotation)
    return JSON_VALUES


def instances_of(model: type[Record]) -> st.SearchStrategy[Any]:
    fields = {name: values_of(info.annotation, tuple(info.metadata)) for name, info in model.model_fields.items()}
    return st.fixed_dictionaries(fields).map(lambda values: model(**values))


@pytest.mark.parametrize("type_name", sorted(MESSAGES))
@given(data=st.data(), request_id=st.integers(1, 2**64 - 1), seq=st.integers(0, 2**64 - 1))
def test_every_message_goes_there_and_back(type_name: str, data: st.DataObject, request_id: int, seq: int) -> None:
    message: Message = data.draw(instances_of(MESSAGES[type_name]))
    payload = data.draw(st.none() | st.binary(max_size=64))
    frames = encode(message, request_id=request_id, seq=seq, payload=payload)
    envelope = decode_message(frames)
    assert envelope is not None
    assert (envelope.message, envelope.request_id, envelope.seq) == (message, request_id, seq)
    assert envelope.payload == payload
    if type_name in REQUESTS:
        assert decode_request(frames, Limits(2**20, 64)) == envelope


def test_the_parts_are_as_the_wire_says() -> None:
    frames = encode(SendMessage(agent_id="a", text="龙"), request_id=0x0102030405060708, seq=9, payload=b"\0\1")
    assert frames == [
        b"SendMessage",
        b"\x08\x07\x06\x05\x04\x03\x02\x01\x09\0\0\0\0\0\0\0",
        '{"agent_id":"a","text":"龙"}'.encode(),
        b"\0\1",
    ]
    assert len(encode(Ping())) == 3


def test_lone_surrogates_become_replacement_characters_on_the_way_out() -> None:
    frames = encode(
        TurnComplete(agent_id="a\ud800b", turn_id=1, status="Success", debug={"\udc80": ["x\udfff", math.nan]})
    )
    body = json.loads(frames[2].decode("utf-8"))
    assert body["agent_id"] == "a\ufffdb"
    assert body["debug"] == {"\ufffd": ["x\ufffd", None]}


def test_unknown_fields_are_ignored_and_unknown_types_are_for_newer_clients() -> None:
    envelope = decode_request([b"Ping", IDS, b'{"last_seq": 3, "mood": "calm"}'], LIMITS)
    assert envelope.message == Ping(last_seq=3)
    assert decode_message([b"SomethingNew", IDS, b"{}"]) is None


def test_a_ping_may_have_the_request_id_0() -> None:
    assert decode_request([b"Ping", bytes(16), b"{}"], LIMITS).request_id == 0


def nested(levels: int) -> bytes:
    return b'{"agent_id":"a","values":' + b'{"x":' * (levels - 1) + b"1" + b"}" * levels


TEXT = b'{"agent_id":"a","text":"%s"}'
BAD: dict[str, tuple[list[bytes], type[ParleyError], int, str]] = {
    "no parts": ([], MalformedMessage, 0, "not 0 parts"),
    "two parts": ([b"Ping", IDS], MalformedMessage, 0, "not 2 parts"),
    "five parts": ([b"Ping", IDS, b"{}", b"", b""], MalformedMessage, 7, "not more than 4 parts"),
    "short ids": ([b"Ping", IDS[:15], b"{}"], MalformedMessage, 0, "part 2 must be 16 bytes"),
    "long ids": ([b"Ping", IDS + b"\0", b"{}"], MalformedMessage, 0, "not 17"),
    "empty type": ([b"", IDS, b"{}"], MalformedMessage, 7, "part 1 must be a message type"),
    "long type": ([b"x" * 65, IDS, b"{}"], MalformedMessage, 7, "1 to 64 ASCII characters"),
    "type not ASCII": (["Pïng".encode(), IDS, b"{}"], MalformedMessage, 7, "ASCII"),
    "unknown type": ([b"Dance", IDS, b"{}"], UnknownMessageType, 7, "'Dance'"),
    "a reply's type": ([b"Pong", IDS, b"{}"], UnknownMessageType, 7, "'Pong'"),
    "request_id 0": ([b"Bye", bytes(16), b"{}"], MalformedMessage, 0, "request_id must not be 0"),
    "JSON too large": ([b"Ping", IDS, b" " * 4097], MessageTooLarge, 7, "4097 bytes; at most 4096"),
    "payload too large": ([b"Ping", IDS, b"{}", bytes(65)], MessageTooLarge, 7, "65 bytes; at most 64"),
    "empty JSON": ([b"Ping", IDS, b""], MalformedMessage, 7, "not valid JSON"),
    "broken JSON": ([b"Ping", IDS, b'{"last_seq": 1'], MalformedMessage, 7, "not valid JSON"),
    "two documents": ([b"Ping", IDS, b"{} {}"], MalformedMessage, 7, "not valid JSON"),
    "a BOM": ([b"Ping", IDS, b"\xef\xbb\xbf{}"], MalformedMessage, 7, "not valid JSON"),
    "invalid UTF-8": ([b"SendMessage", IDS, TEXT % b"\xff"], MalformedMessage, 7, "not valid JSON"),
    "UTF-16": ([b"Ping", IDS, "{}".encode("utf-16")], MalformedMessage, 7, "not valid JSON"),
    "a lone surrogate": ([b"SendMessage", IDS, TEXT % b"\\ud800"], MalformedMessage, 7, "not valid JSON"),
    "an encoded surrogate": ([b"SendMessage", IDS, TEXT % b"\xed\xa0\x80"], MalformedMessage, 7, "not valid JSON"),
    "NaN": ([b"SetVariables", IDS, b'{"agent_id":"a","values":{"x":NaN}}'], MalformedMessage, 7, "not valid JSON"),
    "Infinity": (
        [b"SetVariables", IDS, b'{"agent_id":"a","values":{"x":1e999}}'],
        MalformedMessage,
        7,
        "not valid JSON",
    ),
    "an array": ([b"Ping", IDS, b"[]"], MalformedMessage, 7, "must be a JSON object"),
    "null": ([b"Ping", IDS, b"null"], MalformedMessage, 7, "must be a JSON object"),
    "a bomb of brackets": ([b"Ping", IDS, b"[" * 4000], MalformedMessage, 7, "not valid JSON"),
    "too deep": ([b"SetVariables", IDS, nested(MAX_DEPTH + 1)], MalformedMessage, 7, f"deeper than {MAX_DEPTH}"),
    "the same key twice": ([b"Ping", IDS, b'{"last_seq":1,"last_seq":2}'], MalformedMessage, 7, "same key twice"),
    "the same key twice, escaped": (
        [b"Ping", IDS, b'{"last_seq":1,"\\u006cast_seq":2}'],
        MalformedMessage,
        7,
        "same key twice",
    ),
    "the same key twice, far down": (
        [b"CreateAgent", IDS, b'{"workflow":{"nodes":[{"name":"a: \\"b\\\\","name" : "c"}]}}'],
        MalformedMessage,
        7,
        "same key twice",
    ),
    "a huge integer": ([b"Ping", IDS, b'{"last_seq":' + b"9" * 40 + b"}"], MalformedMessage, 7, "last_seq"),
    "an integer of 4000 digits": ([b"Ping", IDS, b'{"last_seq":' + b"9" * 4000 + b"}"], MalformedMessage, 7, "JSON"),
    "a negative u64": ([b"Ping", IDS, b'{"last_seq":-1}'], MalformedMessage, 7, "last_seq"),
    "a number as text": ([b"Ping", IDS, b'{"last_seq":"1"}'], MalformedMessage, 7, "valid integer"),
    "a boolean as number": ([b"Ping", IDS, b'{"last_seq":true}'], MalformedMessage, 7, "valid integer"),
    "a missing field": ([b"SendMessage", IDS, b'{"text":"hi"}'], MalformedMessage, 7, "agent_id: Field required"),
    "every fault named": ([b"SendMessage", IDS, b"{}"], MalformedMessage, 7, "agent_id: Field required; text: Field"),
}


@pytest.mark.parametrize("kind", sorted(BAD))
def test_what_is_wrong_is_named_with_its_request(kind: str) -> None:
    frames, error, request_id, words = BAD[kind]
    with pytest.raises(ParleyError) as caught:
        decode_request(frames, LIMITS)
    assert type(caught.value) is error
    assert caught.value.request_id == request_id
    assert words in caught.value.message


def test_nesting_is_fine_up_to_the_limit() -> None:
    with pytest.raises(MalformedMessage) as caught:
        decode_request([b"SetVariables", IDS, nested(MAX_DEPTH)], LIMITS)
    # The depth passes; only the variable's type does not.
    assert "values.x" in caught.value.message


def test_a_message_never_tells_the_values_that_were_wrong() -> None:
    with pytest.raises(MalformedMessage) as caught:
        decode_request([b"Hello", IDS, b'{"protocol":"hunter2","token":["hunter2"]}'], LIMITS)
    assert "protocol" in caught.value.message and "token" in caught.value.message
    assert "hunter2" not in caught.value.message


@given(st.lists(st.binary(max_size=40), max_size=6))
def test_any_bytes_are_read_or_refused(frames: list[bytes]) -> None:
    with pytest.raises(ParleyError) as caught:
        decode_request(frames, LIMITS)
    assert caught.value.code in (5001, 5002)


@given(data=st.data())
def test_any_json_under_a_known_type_is_read_or_refused(data: st.DataObject) -> None:
    type_name = data.draw(st.sampled_from(sorted(REQUESTS)))
    body = json.dumps(data.draw(JSON_VALUES)).encode()
    faults: list[ParleyError] = []
    try:
        assert decode_request([type_name.encode(), IDS, body], LIMITS).message.type_name == type_name
    except ParleyError as fault:
        faults.append(fault)
    assert all((fault.code, fault.request_id) in ((5001, 7), (5003, 7)) for fault in faults)


@given(
    values=st.dictionaries(st.text(), st.text() | st.lists(st.text(), max_size=2), max_size=4),
    ascii_only=st.booleans(),
    indent=st.none() | st.just(1),
)
def test_only_a_repeated_key_is_taken_for_one(values: dict[str, Any], ascii_only: bool, indent: int | None) -> None:
    body = json.dumps({"agent_id": "a", "values": values}, ensure_ascii=ascii_only, indent=indent)
    read = decode_request([b"SetVariables", IDS, body.encode()], Limits(2**20, 0)).message
    assert read == SetVariables(agent_id="a", values=values)
    twice = body.replace('"agent_id"', '"agent_id": "b", "agent_id"', 1)
    with pytest.raises(MalformedMessage, match="same key twice"):
        decode_request([b"SetVariables", IDS, twice.encode()], Limits(2**20, 0))


def test_the_ids_are_read_without_the_json() -> None:
    header = read_header([b"SendMessage", struct.pack("<QQ", 5, 6), b"not json"])
    assert (header.type_name, header.request_id, header.seq) == ("SendMessage", 5, 6)


def test_a_client_says_what_it_cannot_read() -> None:
    with pytest.raises(MalformedMessage, match="AnswerText: agent_id: Field required"):
        decode_message([b"AnswerText", IDS, b"{}"])


def test_debug_that_is_too_large_is_left_out_by_size_and_named() -> None:
    debug = {"prompt": "x" * 5000, "times": [1, 2, 3], "notes": "y" * 3000}
    message = TurnComplete(agent_id="a", turn_id=1, status="Success", debug=debug)
    assert fit_debug(message, 10_000) is message
    shorter = fit_debug(message, 4000)
    assert shorter.debug is not None
    assert set(shorter.debug) == {"times", "notes", "warning"}
    assert "4000 bytes: prompt" in shorter.debug["warning"]
    least = fit_debug(message, 1000)
    assert least.debug is not None
    assert set(least.debug) == {"times", "warning"}
    assert len(encode(least)[2]) <= 1000


def test_an_answer_text_costs_little() -> None:
    message = AnswerText(
        agent_id="a" * 16, turn_id=1, node_name="mira", step=1, text="Yes, ", is_delta=True, is_final=False
    )
    assert sum(map(len, encode(message))) < 200
