"""What the tests of both plugins ask of a session whose sidecar says what none says."""

from __future__ import annotations

import itertools
import json
import statistics
import time
from collections.abc import Iterator
from typing import Any

import pytest

from bridge.codec import HEADER
from tests.impostors import impostor, session_ready
from tests.session_cases import Program


def frame(seq: int, body: object = None, kind: bytes = b"AnswerText") -> list[bytes]:
    """A frame that a sidecar could send."""
    if body is None:
        body = {
            "agent_id": "a",
            "turn_id": 1,
            "node_name": "n",
            "step": 1,
            "text": str(seq),
            "is_delta": True,
            "is_final": False,
        }
    return [kind, HEADER.pack(0, seq), json.dumps(body).encode()]


GOODBYE = [b"Goodbye", HEADER.pack(0, 0), b'{"reason": "expired"}']
DEEP = b'{"a":' + b"[" * 5_000 + b"]" * 5_000 + b"}"
_WRONG: list[tuple[str, list[bytes], str, str]] = [
    ("one part", [b"AnswerText"], "MalformedMessage", "1 parts"),
    ("nine parts", [*frame(1), *[b"x"] * 6], "MalformedMessage", "9 parts"),
    ("short header", [b"AnswerText", b"123", b"{}"], "MalformedMessage", "part 2 has 3 bytes"),
    ("long header", [b"AnswerText", bytes(17), b"{}"], "MalformedMessage", "part 2 has 17 bytes"),
    ("no type", [b"", HEADER.pack(0, 1), b"{}"], "MalformedMessage", "part 1"),
    ("long type", [b"x" * 65, HEADER.pack(0, 1), b"{}"], "MalformedMessage", "part 1"),
    ("type of bytes", [b"\xff\x00", HEADER.pack(0, 1), b"{}"], "MalformedMessage", "part 1"),
    ("no JSON", [b"Warning", HEADER.pack(0, 1), b""], "MalformedMessage", "Warning: part 3"),
    ("garbage", [b"Warning", HEADER.pack(0, 1), bytes(range(256))], "MalformedMessage", "Warning: part 3"),
    ("no UTF-8", [b"Warning", HEADER.pack(0, 1), b'{"a": "\xff"}'], "MalformedMessage", "not UTF-8"),
    ("half of it", [b"Warning", HEADER.pack(0, 1), b'{"a": '], "MalformedMessage", "Warning: part 3"),
    ("a list", [b"Warning", HEADER.pack(0, 1), b"[]"], "MalformedMessage", "must be a JSON object"),
    ("two objects", [b"Warning", HEADER.pack(0, 1), b"{} {}"], "MalformedMessage", "Warning: part 3"),
    ("deep", [b"Warning", HEADER.pack(0, 1), DEEP], "MalformedMessage", "Warning: part 3"),
    ("a field is missing", frame(1, {"agent_id": "a"}), "MalformedMessage", "AnswerText: $."),
    (
        "a field of another type",
        frame(1, {**json.loads(frame(1)[2]), "turn_id": "one"}),
        "MalformedMessage",
        "$.turn_id",
    ),
    (
        "a huge number",
        frame(1, {**json.loads(frame(1)[2]), "turn_id": 10**400}),
        "MalformedMessage",
        "AnswerText",
    ),
    ("large JSON", [b"Warning", HEADER.pack(0, 1), b" " * (8 * 2**20 + 1)], "MessageTooLarge", "MaxJsonBytes"),
    ("large payload", [*frame(1), bytes(4 * 2**20 + 1)], "MessageTooLarge", "MaxPayloadBytes"),
]
_QUICK = {"one part", "short header", "no type", "no JSON", "deep", "a field is missing", "large payload"}
WRONG = [pytest.param(*row, id=name, marks=[] if name in _QUICK else [pytest.mark.thorough]) for name, *row in _WRONG]
"""parts, code_name, words: a message that cannot be read, the end of the session over it, and what its reason says."""
HAD = [pytest.param(2_500, 0, 2_000, id="frames"), pytest.param(6, 600_000, 2, id="bytes")]
"""count, padding, least: so many frames of so many characters, and the number that is acknowledged at the least."""


def check_what_cannot_be_read_ends_the_session_with_the_reason(
    program: Program, parts: list[bytes], code_name: str, words: str
) -> None:
    with impostor(lambda _: [parts, frame(2)]) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}")
    assert (report["end"], report["code_name"]) == ("Malformed", code_name)
    assert words in report["message"], report["message"]
    assert report["heard"] == []


def check_a_part_that_libzmq_refuses_is_a_lost_connection_and_no_endless_one(program: Program) -> None:
    huge = [b"Warning", HEADER.pack(0, 1), bytes(17 * 2**20)]
    with impostor(lambda _: [huge]) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}", "reconnect=1")
    assert (report["end"], report["code_name"]) == ("Lost", "ConnectionLost")
    assert "has not come back within 1 s" in report["message"]


def check_a_part_that_should_not_be_there_is_let_go(program: Program) -> None:
    """Unknown types, unknown fields and doubled numbers are no faults."""
    says = [
        frame(1),
        frame(1),
        frame(2, {"of": "a newer sidecar"}, b"Telepathy"),
        frame(3, {**json.loads(frame(3)[2]), "mood": {"deep": [1, 2]}}),
        frame(2),
        [b"Pong", HEADER.pack(0, 0), b"{}"],
        [b"Ok", HEADER.pack(77, 4), b"{}"],
        [b"ListAgents", HEADER.pack(78, 0), b"{}"],
        frame(7, {"from_seq": 5, "to_seq": 7, "reason": "merged"}, b"Gap"),
        frame(8),
        GOODBYE,
    ]
    with impostor(lambda _: says) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}")
    assert report["heard"] == ["1 AnswerText 1", "3 AnswerText 3", "7 Gap 5-7", "8 AnswerText 8", "8 Goodbye "]
    assert report["orphans"] == ["77 Ok"]
    assert (report["end"], report["states"]) == ("Expired", ["Ready", "Closed"])


def check_a_hole_has_the_session_taken_up_again(program: Program) -> None:
    def says(hello: int) -> list[list[bytes]]:
        return [frame(1), frame(3), frame(4)] if hello == 1 else [frame(2), frame(3), frame(4), GOODBYE]

    hellos: list[dict[str, Any]] = []
    with impostor(says, hellos=hellos) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}")
    assert [(hello.get("resume"), hello.get("last_seq")) for hello in hellos] == [(None, None), ("k", 1)]
    assert report["heard"][:-1] == [f"{seq} AnswerText {seq}" for seq in range(1, 5)]
    assert report["states"] == ["Ready", "Lost", "Back", "Closed"]


def check_a_hole_that_stays_is_told_as_a_gap(program: Program) -> None:
    with impostor(lambda hello: [frame(1), frame(4), GOODBYE]) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}")
    assert report["heard"] == ["1 AnswerText 1", "3 Gap 2-3", "4 AnswerText 4", "4 Goodbye "]
    assert report["states"].count("Lost") == 3


def check_what_the_game_had_is_acknowledged_soon(program: Program, count: int, padding: int, least: int) -> None:
    """After so many frames or bytes, though no heartbeat is due."""
    acknowledged: list[int] = []

    def says_to_ping(last_seq: int) -> list[list[bytes]]:
        acknowledged.append(last_seq)
        return [GOODBYE] if last_seq >= least else []

    said = [frame(seq, {**json.loads(frame(seq)[2]), "text": "x" * padding}) for seq in range(1, count + 1)]
    with impostor(lambda _: said, says_to_ping) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}", "quiet=yes")
    assert report["end"] == "Expired"
    assert acknowledged == sorted(set(acknowledged))
    assert least <= acknowledged[-1] <= count


def check_a_game_to_which_nothing_comes_says_ping_with_every_heartbeat(program: Program) -> None:
    """Of its session's own length, with the number of the last frame that it had."""
    pings: list[tuple[float, int]] = []

    def says_to_ping(last_seq: int) -> list[list[bytes]]:
        pings.append((time.monotonic(), last_seq))
        return [GOODBYE] if len(pings) == 6 else []

    with impostor(lambda _: [frame(1), frame(2)], says_to_ping, ready=session_ready(heartbeat_s=0.1)) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}")
    assert (report["end"], report["states"]) == ("Expired", ["Ready", "Closed"])
    assert [seq for _, seq in pings] == [2] * 6
    between = statistics.median(after - before for (before, _), (after, _) in itertools.pairwise(pings))
    assert 0.08 < between < 0.2, pings


def check_a_heartbeat_that_is_none_is_the_usual_one(program: Program) -> None:
    pings: list[int] = []

    def says(_: int) -> Iterator[list[bytes]]:
        yield frame(1)
        time.sleep(0.4)
        yield GOODBYE

    def says_to_ping(last_seq: int) -> list[list[bytes]]:
        pings.append(last_seq)
        return []

    with impostor(says, says_to_ping, ready=session_ready(heartbeat_s=0.0)) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}")
    assert report["heard"] == ["1 AnswerText 1", "1 Goodbye "]
    assert pings == []


def check_a_heartbeat_without_sense_is_not_kept_up(program: Program) -> None:
    times: list[float] = []

    def says_to_ping(_: int) -> list[list[bytes]]:
        times.append(time.monotonic())
        return [GOODBYE] if len(times) == 20 else []

    with impostor(lambda _: [], says_to_ping, ready=session_ready(heartbeat_s=1e-12)) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}")
    assert report["end"] == "Expired"
    assert times[19] - times[0] > 0.2


def check_another_protocol_is_refused(program: Program) -> None:
    with impostor(lambda _: [], ready=session_ready(protocol=99)) as endpoint:
        report = program.run("hear", f"endpoint={endpoint}")
    assert (report["end"], report["code_name"]) == ("Refused", "ProtocolMismatch")
    assert "protocol 99" in report["message"]
