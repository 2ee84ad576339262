"""What is kept for a client until it has it, and what becomes of it when it is too much."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.outbox import Outbox
from bridge.protocol import (
    AnswerText,
    AudioChunk,
    AudioFormat,
    Dialog,
    DialogDocument,
    Interaction,
    NodeEvent,
    Ok,
    Push,
    TurnComplete,
)
from bridge.transport import Sent


class Wire:
    """Takes frames while it is told to, and reads what came."""

    def __init__(self) -> None:
        self.state = Sent.YES
        self.frames: list[tuple[str, int, int, dict[str, Any]]] = []

    def send(self, frames: Sequence[bytes]) -> Sent:
        if self.state is Sent.YES:
            request_id, seq = struct.unpack("<QQ", frames[1])
            self.frames.append((frames[0].decode(), request_id, seq, orjson.loads(frames[2])))
        return self.state

    @property
    def seqs(self) -> list[int]:
        return [seq for _, _, seq, _ in self.frames]

    def text(self, step: int = 1) -> str:
        return "".join(
            body["text"] for kind, _, _, body in self.frames if kind == "AnswerText" and body["step"] == step
        )


def text(words: str = "hi", step: int = 1, *, is_final: bool = False) -> AnswerText:
    return AnswerText(agent_id="a", turn_id=1, node_name="m", step=step, text=words, is_delta=True, is_final=is_final)


def event(words: str) -> NodeEvent:
    return NodeEvent(agent_id="a", turn_id=1, node_name="m", step=1, event="tool_call", data={"words": words})


def read(wire: Wire) -> list[str]:
    """The kinds in order; fails where a number is missing or comes twice."""
    kinds, expected = [], 1
    for kind, _, seq, body in wire.frames:
        if kind == "Gap":
            assert (body["from_seq"], body["to_seq"]) == (expected, seq)
            expected = seq
            kind = f"Gap {body['reason']}"
        assert seq == expected
        expected += 1
        kinds.append(kind)
    return kinds


@pytest.mark.parametrize("state", [Sent.FULL, Sent.GONE])
def test_what_cannot_be_sent_waits_in_order(state: Sent) -> None:
    wire = Wire()
    asked: list[Sent] = []

    def send(frames: Sequence[bytes]) -> Sent:
        asked.append(wire.state)
        return wire.send(frames)

    full: list[bool] = []
    outbox = Outbox(send, 10_000, lambda: full.append(True))
    outbox.put(text())
    wire.state = state
    outbox.put(text())
    outbox.put(Ok(), request_id=3)
    assert asked == [Sent.YES, state]  # and not once more with every frame
    assert len(full) == (state is Sent.FULL)
    assert outbox.is_full is (state is Sent.FULL)
    assert not outbox.flush()
    assert outbox.is_waiting
    assert outbox.attached is (state is Sent.FULL)
    wire.state = Sent.YES
    if state is Sent.GONE:
        outbox.flush()
        assert wire.seqs == [1]
        outbox.attach()
        assert wire.seqs == [1, 1, 2, 3]
    else:
        outbox.put(text())
        assert outbox.flush()
        assert wire.seqs == [1, 2, 3, 4]
    assert (outbox.is_waiting, outbox.is_full) == (False, False)


def test_only_what_is_not_acknowledged_is_kept_and_sent_again() -> None:
    wire = Wire()
    outbox = Outbox(wire.send, 10_000)
    for _ in range(5):
        outbox.put(text())
    outbox.acknowledge(2)
    outbox.detach()
    outbox.put(text())
    assert wire.seqs == [1, 2, 3, 4, 5]
    again = Wire()
    outbox.attach(again.send, last_seq=4)
    assert again.seqs == [5, 6]
    outbox.acknowledge(2**64 - 1)
    assert (outbox.acknowledged, outbox.kept_bytes) == (6, 0)
    outbox.attach()
    assert again.seqs == [5, 6]


def test_text_that_nobody_was_sent_is_merged_and_nothing_is_lost() -> None:
    wire = Wire()
    outbox = Outbox(wire.send, 6_000)
    wire.state = Sent.FULL
    words = [f"word{index} " for index in range(200)]
    outbox.put(Ok(), request_id=7)
    for index, word in enumerate(words):
        outbox.put(text(word, step=1 + index // 100, is_final=index % 100 == 99))
    outbox.put(TurnComplete(agent_id="a", turn_id=1, status="Success"))
    assert outbox.kept_bytes <= 6_000
    wire.state = Sent.YES
    outbox.flush()
    kinds = read(wire)
    assert wire.text(1) + wire.text(2) == "".join(words)
    assert set(kinds) == {"Ok", "Gap merged", "AnswerText", "TurnComplete"}
    assert [body["is_final"] for kind, _, _, body in wire.frames if kind == "AnswerText"].count(True) == 2


def test_text_that_was_sent_is_not_merged_again() -> None:
    """How much of it has come is not known: merged, some of it would come twice."""
    wire = Wire()
    outbox = Outbox(wire.send, 3_000)
    for index in range(10):
        outbox.put(text(f"a{index} "))
    outbox.detach()
    for index in range(60):
        outbox.put(text(f"b{index} "))
    again = Wire()
    outbox.attach(again.send, last_seq=10)
    assert again.text() == "".join(f"b{index} " for index in range(60))


def test_there_is_room_while_the_peer_takes_what_comes_and_while_there_is_none() -> None:
    wire = Wire()
    outbox = Outbox(wire.send, 100_000)
    outbox.put(text())
    assert outbox.room.is_set()
    wire.state = Sent.FULL
    outbox.put(text())
    assert not outbox.room.is_set()
    outbox.flush()
    assert not outbox.room.is_set()
    wire.state = Sent.YES
    outbox.flush()
    assert outbox.room.is_set()
    wire.state = Sent.FULL
    outbox.put(text())
    outbox.detach()
    assert outbox.room.is_set()
    outbox.attach()
    assert not outbox.room.is_set()
    wire.state = Sent.GONE
    outbox.flush()
    assert outbox.room.is_set()
    wire.state = Sent.FULL
    outbox.attach()
    assert not outbox.room.is_set()
    wire.state = Sent.YES
    outbox.acknowledge(outbox.seq)  # it came another way
    assert outbox.room.is_set()
    wire.state = Sent.FULL
    outbox.flush()
    outbox.put(text())
    assert not outbox.room.is_set()
    outbox.drop()
    assert outbox.room.is_set()


def test_sound_goes_before_text_and_how_it_is_written_stays() -> None:
    wire = Wire()
    outbox = Outbox(wire.send, 20_000)
    outbox.detach()
    where: dict[str, Any] = {"agent_id": "a", "turn_id": 1, "node_name": "m", "step": 1}
    pushes: list[tuple[Push, bytes | None]] = [(AudioFormat(**where, sample_rate=1000), None)]
    for index in range(30):
        pushes.append((AudioChunk(**where, sentence=0, index=index, is_final=index == 29), bytes(1000)))
        pushes.append((text(f"{index} "), None))
    for push, payload in pushes:
        outbox.put(push, payload=payload)
    outbox.put(TurnComplete(agent_id="a", turn_id=1, status="Success"))
    assert outbox.kept_bytes <= 20_000
    outbox.attach(wire.send, 0)
    kinds = read(wire)
    assert wire.text() == "".join(f"{index} " for index in range(30))
    assert kinds[:2] == ["AudioFormat", "Gap sound"] and kinds[-1] == "TurnComplete"
    assert kinds.count("AnswerText") == 30 and 0 < kinds.count("AudioChunk") < 30
    assert {kind for kind in kinds if kind.startswith("Gap")} == {"Gap sound"}
    last = [body for kind, _, _, body in wire.frames if kind == "AudioChunk"][-1]
    assert last["is_final"]


def test_pushes_go_before_turns_and_replies() -> None:
    wire = Wire()
    wire.state = Sent.FULL
    outbox = Outbox(wire.send, 4_000)
    outbox.put(Ok(), request_id=1)
    for index in range(50):
        outbox.put(event(f"{index} " * 50))
    outbox.put(TurnComplete(agent_id="a", turn_id=1, status="Success", debug={"slots": {"m": "x" * 3_000}}))
    assert outbox.kept_bytes <= 4_000
    wire.state = Sent.YES
    outbox.flush()
    kinds = read(wire)
    assert kinds[0] == "Ok"
    assert "Gap dropped" in kinds
    assert kinds[-1] == "TurnComplete"


def test_a_reply_too_large_to_keep_becomes_an_error_with_its_request_id() -> None:
    wire = Wire()
    wire.state = Sent.FULL
    outbox = Outbox(wire.send, 4_000)
    dialog = DialogDocument(interactions=[Interaction(turn_id=1, user="x" * 8_000)])
    outbox.put(Dialog(dialog=dialog, total=1), request_id=5)
    wire.state = Sent.YES
    outbox.flush()
    (frame,) = wire.frames
    assert frame[:3] == ("Error", 5, 1)
    assert frame[3]["code"] == 3014
    assert "ask again" in frame[3]["message"]


PUTS = st.lists(
    st.tuples(
        st.sampled_from(["text", "event", "reply", "turn"]),
        st.integers(0, 600),
        st.sampled_from(["", "full", "gone", "yes", "detach", "attach", "acknowledge"]),
    ),
    max_size=80,
)


@given(PUTS)
def test_numbers_have_no_hole_and_what_counts_comes_once(puts: list[tuple[str, int, str]]) -> None:
    """However the connection behaves, a client that keeps what is new sees every number once."""
    wire = Wire()
    outbox = Outbox(wire.send, 5_000)
    put: list[tuple[str, int]] = []
    for kind, size, then in puts:
        if kind == "text":
            outbox.put(text("x" * size))
        elif kind == "event":
            outbox.put(event("x" * size))
        elif kind == "reply":
            outbox.put(Ok(), request_id=outbox.seq + 1)
        else:
            outbox.put(TurnComplete(agent_id="a", turn_id=outbox.seq, status="Success"))
        put.append((kind, outbox.seq))
        if then in ("full", "gone", "yes"):
            wire.state = {"full": Sent.FULL, "gone": Sent.GONE, "yes": Sent.YES}[then]
        elif then == "detach":
            outbox.detach()
        elif then == "attach":
            outbox.attach(last_seq=max(wire.seqs, default=0))
        elif then == "acknowledge":
            outbox.acknowledge(max(wire.seqs, default=0))
    wire.state = Sent.YES
    outbox.attach(last_seq=max(wire.seqs, default=0))
    seen = 0
    came = []
    for kind, _, seq, body in wire.frames:
        if seq <= seen:
            continue
        first = body["from_seq"] if kind == "Gap" else seq
        assert first <= seen + 1
        came.append((kind, seq))
        seen = seq
    assert seen == outbox.seq
    replies = [seq for kind, seq in put if kind == "reply"]
    assert [seq for kind, seq in came if kind in ("Ok", "Error")] == replies
