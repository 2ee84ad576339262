"""Dialog documents read and written bit by bit: a long one takes seconds, and the event loop must go on meanwhile.

Threading: pure; made for worker threads, which rest after every few turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from bridge.errors import InvalidDialog, LimitExceeded
from bridge.protocol import DialogDocument, Interaction, Output, ShortInteraction, ShortReply, Summary
from bridge.wording import json_path, without_surrogates

T = TypeVar("T")

DIALOG_VERSION: Literal[1] = 1
TURNS_AT_A_TIME = 32
REST_S = 50e-6
"""How long a thread leaves the interpreter to the event loop."""
SENT_AT_A_TIME = 4 * 2**20
"""Bytes of a document that a client sends in one message."""

_SHORT_FIELDS = {"turn_id", "user", "outputs"}
_NOTHING: dict[str, Any] = {"tool_calls": [], "attributes": {}, "instructions": [], "knowledge": []}
"""Shared by all turns in the short form, which nobody changes: the fewer objects, the shorter the collector's halts."""
_SHORT_FORM = TypeAdapter(list[ShortInteraction])
_TURNS = TypeAdapter(list[Interaction])


@dataclass(frozen=True, slots=True)
class Room:
    """How many bytes of JSON a message has for a dialog."""

    max_json_bytes: int = 8 * 2**20

    @property
    def piece(self) -> int:
        """A piece of a dialog: the rest is for what stands around it."""
        return self.max_json_bytes - min(4096, self.max_json_bytes // 4)

    @property
    def turn(self) -> int:
        """One turn, so that a piece has room for it and the summary."""
        return self.piece * 3 // 4

    @property
    def summary(self) -> int:
        return self.piece // 4


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a dialog, and the JSON of its document."""

    document: DialogDocument
    json: bytes = field(repr=False)


def read_dialog(
    raw: object, outputs_of: Callable[[Sequence[ShortReply]], list[Output]], *, max_turns: int, room: Room
) -> DialogDocument:
    """What a client wants a dialog to be, in the full or the short form.

    Raises InvalidDialog with the JSON path, LimitExceeded where one turn or the summary is too large to be exported.
    """
    try:
        if isinstance(raw, list):
            _check_length(raw, max_turns)
            turns: list[Interaction] = []
            for some_short in _validated(_SHORT_FORM, raw, ()):
                turns += [
                    Interaction.model_construct(
                        _SHORT_FIELDS, turn_id=0, user=line.user, outputs=outputs_of(line.replies), **_NOTHING
                    )
                    for line in some_short
                ]
            document = DialogDocument(interactions=[])
        else:
            turns, document = _read_full(raw, max_turns)
    except RecursionError:
        raise InvalidDialog("the dialog is nested too deeply", path="$") from None
    for start in range(0, len(turns), TURNS_AT_A_TIME):
        time.sleep(REST_S)
        some = turns[start : start + TURNS_AT_A_TIME]
        if len(_json_of_turns(some)) > room.turn:
            for index, turn in enumerate(some, start):
                check_turn(turn, index, room)
    if document.summary is not None and len(document.summary.text) > room.summary // 6:
        size = len(_json_of(document.summary))
        if size > room.summary:
            raise LimitExceeded(
                f"the summary is {size} bytes of JSON; {room.summary} are allowed, a quarter of max_json_bytes",
                path="$.summary",
            )
    return document.model_copy(update={"interactions": turns})


def check_turn(turn: Interaction, index: int, room: Room) -> None:
    """Raise LimitExceeded for a turn that no export could hold beside a summary."""
    size = len(_json_of_turns([turn])) - 2
    if size > room.turn:
        raise LimitExceeded(
            f"turn {index} is {size} bytes of JSON; {room.turn} are allowed, three quarters of max_json_bytes",
            path=json_path(("interactions", index)),
        )


def write_piece(turns: Sequence[Interaction], summary: Summary | None, *, is_end: bool, room: Room) -> Piece:
    """As many of the turns, from the first on, as fit into a message, but one at least; the last piece has the summary.

    `is_end`: these turns are the last of the dialog.
    """
    tail = _json_of(summary) if summary is not None and is_end else b"null"
    parts: list[bytes] = []
    counts: list[int] = []
    used = 0

    def add(some: Sequence[Interaction], left: int) -> bool:
        nonlocal used
        data = _json_of_turns(some)[1:-1]
        if used + len(data) + 1 > left and (parts or len(some) > 1):
            return False
        parts.append(data)
        counts.append(len(some))
        used += len(data) + 1
        return True

    def add_each(some: Sequence[Interaction], left: int) -> None:
        for turn in some:
            if not add([turn], left):
                return

    for start in range(0, len(turns), TURNS_AT_A_TIME):
        time.sleep(REST_S)
        some = turns[start : start + TURNS_AT_A_TIME]
        if not add(some, room.piece):
            add_each(some, room.piece)
            break
    if sum(counts) == len(turns) and used + len(tail) > room.piece and len(turns) > 1:
        used -= len(parts.pop()) + 1
        start = len(turns) - counts.pop()
        add_each(turns[start:-1], room.piece - len(tail))
    count = sum(counts)
    is_last = is_end and count == len(turns)
    if not is_last:
        tail, summary = b"null", None
    joined = b",".join(parts)
    return Piece(
        DialogDocument.model_construct(
            version=DIALOG_VERSION, interactions=list(turns[:count]), summary=summary if is_last else None
        ),
        b'{"version":%d,"interactions":[%b],"summary":%b}' % (DIALOG_VERSION, joined, tail),
    )


def split(raw: dict[str, Any] | list[Any]) -> Iterator[dict[str, Any] | list[Any]]:
    """A document, or its short form, in pieces that can be sent one after the other; at least one."""
    turns = raw if isinstance(raw, list) else raw.get("interactions")
    if not isinstance(turns, list):
        yield raw
        return
    begin, used = 0, 0
    ends = []
    for index, turn in enumerate(turns):
        size = len(orjson.dumps(turn, default=str)) + 1
        if used + size > SENT_AT_A_TIME and index > begin:
            ends.append(index)
            begin, used = index, 0
        used += size
    ends.append(len(turns))
    begin = 0
    for end in ends:
        if isinstance(raw, list):
            yield turns[begin:end]
        else:
            last = {} if end == len(turns) else {"summary": None}
            yield {**raw, "interactions": turns[begin:end], **last}
        begin = end


def _read_full(raw: object, max_turns: int) -> tuple[list[Interaction], DialogDocument]:
    version = raw.get("version", DIALOG_VERSION) if isinstance(raw, dict) else None
    if isinstance(version, int) and not isinstance(version, bool) and version > DIALOG_VERSION:
        raise InvalidDialog(
            f"this dialog is of version {version}; this sidecar reads version {DIALOG_VERSION}: update Parley",
            path="$.version",
        )
    turns: list[Interaction] = []
    given = raw.get("interactions") if isinstance(raw, dict) else None
    if isinstance(raw, dict) and isinstance(given, list):
        _check_length(given, max_turns)
        turns = [turn for some in _validated(_TURNS, given, ("interactions",)) for turn in some]
        raw = {**raw, "interactions": []}
    try:
        return turns, DialogDocument.model_validate(raw)
    except ValidationError as fault:
        raise _invalid(fault, ()) from None


def _check_length(turns: Sequence[Any], max_turns: int) -> None:
    if len(turns) > max_turns:
        raise LimitExceeded(f"the dialog would have {len(turns)} turns; {max_turns} are allowed (max_dialog_turns)")


def _validated(adapter: TypeAdapter[list[T]], raw: list[Any], where: tuple[str, ...]) -> Iterator[list[T]]:
    for start in range(0, len(raw), TURNS_AT_A_TIME):
        time.sleep(REST_S)
        try:
            found = adapter.validate_python(raw[start : start + TURNS_AT_A_TIME])
        except ValidationError as fault:
            raise _invalid(fault, where, start) from None
        yield found


def _invalid(fault: ValidationError, where: tuple[str, ...], start: int = 0) -> InvalidDialog:
    first = fault.errors(include_url=False)[0]
    place = list(first["loc"])
    if start and place and isinstance(place[0], int):
        place[0] += start
    path = json_path((*where, *place))
    return InvalidDialog(f"{path}: {first['msg']}", path=path)


def _json_of_turns(turns: Sequence[Interaction]) -> bytes:
    try:
        return _TURNS.dump_json(list(turns))
    except (PydanticSerializationError, UnicodeEncodeError):
        return to_json([without_surrogates(turn.model_dump()) for turn in turns])


def _json_of(summary: Summary) -> bytes:
    try:
        return to_json(summary)
    except (PydanticSerializationError, UnicodeEncodeError):
        return to_json(without_surrogates(summary.model_dump()))
