"""The outbox against a model of its client: whatever breaks and is full in between, all comes once and in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from hypothesis import event, example, given
from hypothesis import strategies as st

from bridge.codec import Envelope, decode_message
from bridge.outbox import Outbox
from bridge.protocol import AnswerText, Gap, Message, NodeEvent, Ok, TurnComplete
from bridge.transport import Sent

LIMIT_BYTES = 4_000
STEPS = 2


class Client:
    """Takes frames from a connection whose room is limited; drops what it has, wants no hole."""

    def __init__(self) -> None:
        self.last_seq = 0
        self.text: dict[int, str] = {}
        self.turns: list[int] = []
        self.replies: list[int] = []
        self.lost = False
        self.merged = False
        self.sockets = 0
        self.room = 0
        self.line: deque[list[bytes]] = deque()

    def connect(self) -> None:
        """A new socket; what was on its way to the old one is lost."""
        self.sockets += 1
        self.line.clear()

    def send(self, socket: int, frames: Sequence[bytes]) -> Sent:
        if socket != self.sockets:
            return Sent.GONE
        if len(self.line) >= self.room:
            return Sent.FULL
        self.line.append(list(frames))
        return Sent.YES

    def read(self, count: int) -> None:
        for _ in range(min(count, len(self.line))):
            envelope = decode_message(self.line.popleft())
            assert envelope is not None
            self._take(envelope)

    def _take(self, envelope: Envelope) -> None:
        if envelope.seq <= self.last_seq:
            return
        message = envelope.message
        first = message.from_seq if isinstance(message, Gap) else envelope.seq
        assert first <= self.last_seq + 1, f"{first} came where {self.last_seq + 1} was due"
        self.last_seq = envelope.seq
        if isinstance(message, AnswerText):
            self.text[message.step] = self.text.get(message.step, "") + message.text
        elif isinstance(message, TurnComplete):
            self.turns.append(message.turn_id)
        elif isinstance(message, Ok):
            self.replies.append(envelope.request_id)
        elif isinstance(message, Gap):
            self.merged = True
            self.lost = self.lost or message.reason != "merged"


class Both:
    """An outbox and its client, and what was said in all."""

    def __init__(self) -> None:
        self.client = Client()
        self.client.connect()
        self.outbox = Outbox(self._sender(), LIMIT_BYTES)
        self.text: dict[int, str] = {}
        self.turns: list[int] = []
        self.replies: list[int] = []
        self._number = 0

    def _sender(self) -> Callable[[Sequence[bytes]], Sent]:
        socket = self.client.sockets
        return lambda frames: self.client.send(socket, frames)

    def do(self, what: str, count: int) -> None:
        getattr(self, f"do_{what}")(count)

    def do_text(self, count: int) -> None:
        step = count % STEPS + 1
        for _ in range(count):
            self._number += 1
            self.text[step] = self.text.get(step, "") + f"{self._number} "
            self.outbox.put(self._answer(step))

    def _answer(self, step: int) -> Message:
        return AnswerText(
            agent_id="a", turn_id=1, node_name="m", step=step, text=f"{self._number} ", is_delta=True, is_final=False
        )

    def do_turn(self, count: int) -> None:
        if len(self.turns) < 5:
            self.turns.append(len(self.turns) + 1)
            self.outbox.put(TurnComplete(agent_id="a", turn_id=self.turns[-1], status="Success"))

    def do_reply(self, count: int) -> None:
        if len(self.replies) < 20:
            self.replies.append(len(self.replies) + 1)
            self.outbox.put(Ok(), request_id=self.replies[-1])

    def do_event(self, count: int) -> None:
        data = {"words": "x" * 10 * count}
        self.outbox.put(NodeEvent(agent_id="a", turn_id=1, node_name="m", step=1, event="tool_call", data=data))

    def do_room(self, count: int) -> None:
        self.client.room = count * 3
        self.outbox.flush()

    def do_read(self, count: int) -> None:
        self.client.read(count)
        self.outbox.flush()

    def do_acknowledge(self, count: int) -> None:
        self.outbox.acknowledge(self.client.last_seq)

    def do_detach(self, count: int) -> None:
        self.outbox.detach()

    def do_attach(self, count: int) -> None:
        """Something came from the same socket."""
        self.outbox.attach()

    def do_connect(self, count: int) -> None:
        self.client.connect()
        if count % 2:
            self.outbox.flush()  # the old socket is found to be gone
        self.outbox.attach(self._sender(), self.client.last_seq)

    def finish(self) -> None:
        self.client.room = 10_000
        if self.outbox.attached:
            self.outbox.flush()
        else:
            self.outbox.attach()
        self.client.read(10_000)
        self.outbox.acknowledge(self.client.last_seq)


ACTIONS = ("text", "text", "turn", "reply", "event", "room", "read", "acknowledge", "detach", "attach", "connect")


AGAIN_IN_PART = [("room", 5), ("text", 10), ("room", 1), ("connect", 0), ("text", 30), ("text", 30)]
AGAIN_ON_THE_SAME_SOCKET = [("room", 5), ("text", 10), ("detach", 0), ("attach", 0), ("text", 30), ("text", 30)]
NEVER_ACKNOWLEDGED = [("room", 30), ("text", 30), ("turn", 0), ("text", 30), ("text", 30)]
HARDLY_TOO_MUCH = [("text", 20), ("turn", 0), ("reply", 0), ("room", 6), ("text", 29), ("turn", 0)]


@example(AGAIN_IN_PART)
@example(AGAIN_ON_THE_SAME_SOCKET)
@example(NEVER_ACKNOWLEDGED)
@example(HARDLY_TOO_MUCH)
@given(st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 30)), max_size=60))
def test_all_comes_once_and_in_order(actions: list[tuple[str, int]]) -> None:
    both = Both()
    for what, count in actions:
        both.do(what, count)
        assert both.outbox.kept_bytes <= LIMIT_BYTES + 500
    both.finish()
    client, outbox = both.client, both.outbox
    assert client.last_seq == outbox.seq
    assert (outbox.kept_bytes, outbox.is_waiting) == (0, False)
    assert client.turns == both.turns
    assert client.replies == both.replies
    event("lost" if client.lost else "merged" if client.merged else "whole")
    if not client.lost:
        assert client.text == both.text
    for step, text in client.text.items():
        # What is missing is missing in whole frames, and nothing comes twice.
        words, all_words = text.split(), both.text[step].split()
        assert len(set(words)) == len(words) and sorted(words, key=int) == words and set(words) <= set(all_words)
