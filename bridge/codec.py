"""Turns messages into frames and frames into messages: the only JSON on the wire.

A message is three or four parts: its type in ASCII; sixteen bytes with `request_id` and `seq`, both u64
little-endian; a JSON object in UTF-8; and, for some, a binary payload. Everything here is pure, and may be done in any
thread.

What a peer sends is judged once, here: past this module there are only typed values.
"""

from __future__ import annotations

import contextlib
import gc
import struct
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, to_json

from bridge.errors import MalformedMessage, MessageTooLarge, ParleyError, UnknownMessageType
from bridge.protocol import MESSAGES, REQUESTS, Dialog, Message, Request, TurnComplete
from bridge.wording import without_surrogates

HEADER = struct.Struct("<QQ")
MIN_PARTS = 3
MAX_PARTS = 4
MAX_TYPE_BYTES = 64
MAX_DEPTH = 100
"""Levels of nesting in the JSON of a request; deeper is 5001, so that nobody downstream runs out of stack."""

COLLECTED_BYTES = 2**20

_FAULTS_SHOWN = 5
_parsing = 0
_was_enabled = threading.Event()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Envelope:
    """A message with what its frames say about it."""

    message: Message
    request_id: int
    seq: int
    payload: bytes | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest parts of a request, in bytes."""

    json_bytes: int
    payload_bytes: int


@dataclass(frozen=True, slots=True)
class Header:
    """What can be read of a message without its JSON."""

    type_name: str
    request_id: int
    seq: int


def encode(message: Message, *, request_id: int = 0, seq: int = 0, payload: bytes | None = None) -> list[bytes]:
    """The frames of a message. Lone surrogates in its texts become U+FFFD: UTF-8 has no form for them."""
    parts = [message.type_name.encode("ascii"), HEADER.pack(request_id, seq), _dump(message)]
    if payload is not None:
        parts.append(payload)
    return parts


def _dump(message: Message) -> bytes:
    if isinstance(message, Dialog):
        prepared = message.take_prepared()
        if prepared is not None:
            return prepared
    try:
        return message.__pydantic_serializer__.to_json(message)
    except (PydanticSerializationError, UnicodeEncodeError):
        return to_json(without_surrogates(message.model_dump()), inf_nan_mode="null")


def fit_debug(message: TurnComplete, limit: int) -> TurnComplete:
    """The message with as much `debug` as `limit` bytes of JSON allow; a warning names what is left out."""
    if message.debug is None or len(_dump(message)) <= limit:
        return message
    kept = dict(message.debug)
    left_out: list[str] = []
    for key in sorted(kept, key=lambda key: len(to_json(kept[key], fallback=str)), reverse=True):
        del kept[key]
        left_out.append(key)
        kept["warning"] = f"left out, because the message would pass {limit} bytes: {', '.join(left_out)}"
        shorter = message.model_copy(update={"debug": dict(kept)})
        if len(_dump(shorter)) <= limit:
            return shorter
    warning = f"left out: the message would pass {limit} bytes"
    return message.model_copy(update={"debug": {"warning": warning}})


def read_header(frames: Sequence[bytes]) -> Header:
    """Type and ids of a message; raises MalformedMessage where the parts themselves are wrong."""
    ids = HEADER.unpack(frames[1]) if len(frames) >= MIN_PARTS and len(frames[1]) == HEADER.size else (0, 0)
    if not MIN_PARTS <= len(frames) <= MAX_PARTS:
        few_or_many = f"{len(frames)} parts" if len(frames) <= MAX_PARTS else f"more than {MAX_PARTS} parts"
        raise _blame(
            MalformedMessage(f"a message has 3 or 4 parts (type, ids, JSON, payload), not {few_or_many}"),
            ids[0],
        )
    if len(frames[1]) != HEADER.size:
        raise MalformedMessage(
            f"part 2 must be {HEADER.size} bytes (request_id, seq: u64 little-endian), not {len(frames[1])}"
        )
    type_name = frames[0]
    if not type_name or len(type_name) > MAX_TYPE_BYTES or not type_name.isascii():
        raise _blame(MalformedMessage(f"part 1 must be a message type: 1 to {MAX_TYPE_BYTES} ASCII characters"), ids[0])
    return Header(type_name.decode("ascii"), *ids)


def decode_request(frames: Sequence[bytes], limits: Limits) -> Envelope:
    """Reads what a client sent.

    Raises MalformedMessage, UnknownMessageType or MessageTooLarge, with `request_id` where it could be read.
    """
    header = read_header(frames)
    try:
        _check_sizes(header.type_name, frames, limits)
        model = REQUESTS.get(header.type_name)
        if model is None:
            raise UnknownMessageType(f"this sidecar knows no request of the type {header.type_name!r}")
        if header.request_id == 0 and header.type_name != "Ping":
            raise MalformedMessage(f"{header.type_name}: request_id must not be 0; replies could not be told apart")
        message = _validated(model, _parse(header.type_name, frames[2]))
    except ParleyError as fault:
        raise _blame(fault, header.request_id) from None
    return Envelope(message, header.request_id, header.seq, frames[3] if len(frames) > MIN_PARTS else None)


def decode_message(frames: Sequence[bytes]) -> Envelope | None:
    """Reads what a sidecar sent; None for a type that only newer sidecars know. Raises MalformedMessage."""
    header = read_header(frames)
    model = MESSAGES.get(header.type_name)
    if model is None:
        return None
    try:
        message = model.model_validate_json(frames[2])
    except ValidationError as fault:
        raise _blame(_explain(header.type_name, fault), header.request_id) from None
    return Envelope(message, header.request_id, header.seq, frames[3] if len(frames) > MIN_PARTS else None)


def _check_sizes(type_name: str, frames: Sequence[bytes], limits: Limits) -> None:
    if len(frames[2]) > limits.json_bytes:
        raise MessageTooLarge(
            f"{type_name}: its JSON is {len(frames[2])} bytes; at most {limits.json_bytes} are taken (`max_json_bytes`)"
        )
    if len(frames) > MIN_PARTS and len(frames[3]) > limits.payload_bytes:
        raise MessageTooLarge(
            f"{type_name}: its payload is {len(frames[3])} bytes; "
            f"at most {limits.payload_bytes} are taken (`max_payload_bytes`)"
        )


def _parse(type_name: str, data: bytes) -> dict[str, Any]:
    try:
        with uncollected(len(data)):
            value = orjson.loads(data)
    except orjson.JSONDecodeError as fault:
        raise MalformedMessage(
            f"{type_name}: part 3 is not valid JSON in UTF-8: {fault.msg} at byte {fault.pos}"
        ) from None
    if not isinstance(value, dict):
        raise MalformedMessage(f"{type_name}: part 3 must be a JSON object")
    keys = _count_keys(type_name, value)
    # The parser keeps the last of two equal keys; only a lost one makes the counts differ.
    if data.count(b":") != keys and _count_members(data) != keys:
        raise MalformedMessage(f"{type_name}: part 3 has an object with the same key twice")
    return value


@contextlib.contextmanager
def uncollected(size: int) -> Iterator[None]:
    """Keep Python's collector away while a large text is parsed: it would look at all that is new again and again."""
    global _parsing
    if size < COLLECTED_BYTES:
        yield
        return
    with _lock:
        _parsing += 1
        if gc.isenabled():
            gc.disable()
            _was_enabled.set()
    try:
        yield
    finally:
        with _lock:
            _parsing -= 1
            if not _parsing and _was_enabled.is_set():
                _was_enabled.clear()
                gc.enable()


def _count_keys(type_name: str, root: dict[str, Any]) -> int:
    keys = 0
    level: list[Any] = [root]
    for _ in range(MAX_DEPTH):
        deeper: list[Any] = []
        for container in level:
            items = container
            if type(container) is dict:
                keys += len(container)
                items = container.values()
            deeper += [item for item in items if type(item) is dict or type(item) is list]
        if not deeper:
            return keys
        level = deeper
    raise MalformedMessage(f"{type_name}: part 3 is nested deeper than {MAX_DEPTH} levels")


def _count_members(data: bytes) -> int:
    """How many `key: value` a valid JSON text writes: the colons outside its strings."""
    pieces = data.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
    return sum(piece.count(b":") for piece in pieces[::2])


def _validated(model: type[Request], value: dict[str, Any]) -> Request:
    try:
        return model.model_validate(value)
    except ValidationError as fault:
        raise _explain(model.type_name, fault) from None


def _explain(type_name: str, fault: ValidationError) -> MalformedMessage:
    """Names the faulty fields, never their values: they may be secret."""
    faults = fault.errors(include_url=False, include_context=False, include_input=False)
    shown = [f"{'.'.join(str(step) for step in item['loc'])}: {item['msg']}".lstrip(": ") for item in faults]
    if len(shown) > _FAULTS_SHOWN:
        shown[_FAULTS_SHOWN:] = [f"and {len(shown) - _FAULTS_SHOWN} more"]
    return MalformedMessage(f"{type_name}: {'; '.join(shown)}"[:2000])


def _blame(fault: ParleyError, request_id: int) -> ParleyError:
    fault.request_id = request_id
    return fault
