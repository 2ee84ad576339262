"""What the tests of all languages ask of messages: values in JSON, what is wrong with them, and what must be said."""

from __future__ import annotations

import copy
import json
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from tests.mirror import Mirror, Refused, Thrown


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


def least(model: type[BaseModel]) -> str:
    """JSON with what must be there and nothing else."""
    required = {info.alias or name for name, info in model.model_fields.items() if info.is_required()}
    return json.dumps({key: value for key, value in sample(model, 0).items() if key in required})


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


def takes(model: type[BaseModel], written: str) -> bool:
    try:
        model.model_validate_json(written)
    except ValidationError:
        return False
    return True


def shown(path: tuple[str | int, ...]) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


@dataclass(frozen=True, slots=True)
class Spoiled:
    """JSON of a message in which one value is another, or not there."""

    name: str
    written: str
    path: tuple[str | int, ...]
    taken: bool
    """Python takes it."""
    beyond: bool
    """It is a whole number that 64 bits do not hold: only Python has such numbers."""

    def is_well_judged(self, model: type[BaseModel], answer: bytes | Refused | Thrown) -> bool:
        """Whether another language says of it what Python says."""
        if isinstance(answer, bytes):
            return self.taken and takes(model, answer.decode())
        return (
            isinstance(answer, Refused)
            and answer.path.startswith(shown(self.path))
            and (not self.taken or (self.beyond and "9223372036854775807" in answer.reason))
        )


def spoiled(models: Mapping[str, type[BaseModel]], junk: Sequence[str]) -> Iterator[Spoiled]:
    """Every message with each of its values replaced by each piece of junk in turn, and left out."""
    for name, model in models.items():
        whole = sample(model)
        assert takes(model, json.dumps(whole)), name
        for path in places(whole):
            for piece in (*junk, None):
                if path[-1] == "version" and piece in ("true", "1.0"):
                    continue  # to Python they equal the only version there is
                written = json.dumps(put(whole, path, None if piece is None else "\ue000junk"))
                written = written.replace('"\\ue000junk"', piece or "")
                beyond = piece is not None and piece.lstrip("-").isdecimal() and not -(2**63) <= int(piece) < 2**63
                yield Spoiled(name, written, path, takes(model, written), beyond)


def check_spoiled(mirror: Mirror, job: str, models: Mapping[str, type[BaseModel]], cases: Iterable[Spoiled]) -> int:
    """Fails where Python and the other language disagree; returns how many were refused."""
    asked = list(cases)
    answers = mirror.answers([(job, case.name, case.written) for case in asked])
    wrong = [
        (case.name, shown(case.path), case.written, answer)
        for case, answer in zip(asked, answers, strict=True)
        if not case.is_well_judged(models[case.name], answer)
    ]
    assert wrong[:3] == []
    return sum(isinstance(answer, Refused) for answer in answers)


DONE = '{"agent_id": "a", "turn_id": 1, "status": "Success"'
READY = (
    '{"protocol": 1, "session_id": "s", "session_key": "k", "resumed": false, "last_request_id": %s, '
    '"server_version": "1", "schema_fingerprint": "f", "heartbeat_s": %s}'
)

WRONG: list[tuple[str, str, str, str]] = [
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
]
"""(type, JSON, path of what is wrong, words of what is said of it)."""
