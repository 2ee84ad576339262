"""Sessions over a real ROUTER socket: every frame is looked at as it is on the wire."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import struct
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
import zmq
import zmq.asyncio

from bridge import __version__
from bridge.codec import encode
from bridge.config import Settings
from bridge.errors import InvalidValue
from bridge.outbox import Outbox
from bridge.protocol import (
    AnswerText,
    Bye,
    CancelTurn,
    CreateAgent,
    DestroyAgent,
    Goodbye,
    Hello,
    ListAgents,
    Ping,
    Request,
    SendMessage,
    Shutdown,
    TurnComplete,
    ValidateWorkflow,
    schema_fingerprint,
)
from bridge.server import PARTED_S, RETRY_S, PushTo, Server
from bridge.transport import EndpointTaken, Sent, loopback_endpoint, run_on_selector_loop
from tests.fakes import FakeSession

TOKEN = "the owner's token"
PATIENCE_S = 20.0


@dataclass
class Frame:
    """What came, taken apart."""

    type_name: str
    request_id: int
    seq: int
    body: dict[str, Any]


class RawClient:
    """A bare DEALER socket: it sends what it is told and shows what comes."""

    def __init__(self, endpoint: str, **options: int) -> None:
        self.context = zmq.asyncio.Context()
        self.socket = self.context.socket(zmq.DEALER)
        self.socket.setsockopt(zmq.LINGER, 0)
        for name, value in options.items():
            self.socket.setsockopt(getattr(zmq, name), value)
        self.socket.connect(endpoint)
        self.request_id = 0

    async def send_frames(self, frames: Sequence[bytes]) -> None:
        await self.socket.send_multipart(frames)

    async def send(self, message: Request, request_id: int = 0) -> None:
        if request_id or not isinstance(message, Ping):
            self.request_id = request_id or self.request_id + 1
        await self.send_frames(
            encode(message, request_id=self.request_id if not isinstance(message, Ping) else request_id)
        )

    async def receive(self) -> Frame:
        parts = await asyncio.wait_for(self.socket.recv_multipart(), PATIENCE_S)
        assert len(parts) == 3
        request_id, seq = struct.unpack("<QQ", parts[1])
        return Frame(parts[0].decode("ascii"), request_id, seq, orjson.loads(parts[2]))

    async def ask(self, message: Request, request_id: int = 0) -> Frame:
        await self.send(message, request_id)
        return await self.receive()

    async def hello(self, token: str = TOKEN) -> Frame:
        frame = await self.ask(Hello(protocol=1, client="test", token=token), 1)
        assert frame.type_name == "SessionReady", frame
        return frame

    async def until(self, type_name: str) -> list[Frame]:
        """Everything up to the first of this type."""
        frames = [await self.receive()]
        while frames[-1].type_name != type_name:
            frames.append(await self.receive())
        return frames

    def close(self) -> None:
        self.context.destroy(linger=0)


class Clock:
    """A clock that stands still until it is set on."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Serving:
    """A running server and its ins and outs."""

    server: Server
    task: asyncio.Task[None]
    clock: Clock
    sessions: list[FakeSession] = field(default_factory=list)
    clients: list[RawClient] = field(default_factory=list)

    def client(self, **options: int) -> RawClient:
        self.clients.append(RawClient(self.server.endpoint, **options))
        return self.clients[-1]

    async def session(self, **options: int) -> RawClient:
        client = self.client(**options)
        await client.hello()
        return client

    async def someone_is_full(self) -> None:
        """Lets the server send until a client takes no more."""
        peers = self.server._sessions
        while not any(peer.outbox.is_full for peer in peers.values()):  # noqa: ASYNC110 - no event says so
            await asyncio.sleep(0)

    async def pass_time(self, seconds: float) -> None:
        """Lets time pass as it does for a server that is awake."""
        until = self.clock.now + seconds
        while self.clock.now < until:
            self.clock.now = min(until, self.clock.now + 5.0)
            self.server.look_after_sessions()
        await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def serving(token: str = TOKEN, **settings: Any) -> AsyncIterator[Serving]:
    clock = Clock()
    made: list[FakeSession] = []

    def make_session(session_id: str, push: PushTo) -> FakeSession:
        made.append(FakeSession(session_id, push))
        return made[-1]

    server = Server(Settings(**settings), token, make_session, clock=clock)
    server.bind()
    running = Serving(server, asyncio.ensure_future(server.run()), clock, made)
    try:
        yield running
        assert not running.task.done() or running.task.exception() is None
    finally:
        for client in running.clients:
            client.close()
        server.request_shutdown()
        await asyncio.wait_for(running.task, PATIENCE_S)


def over_the_wire(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """Runs a test on the loop that ZeroMQ needs."""

    def run() -> None:
        run_on_selector_loop(test())

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    return run


def assert_error(frame: Frame, code: int, name: str, words: str, request_id: int) -> None:
    assert (frame.type_name, frame.request_id) == ("Error", request_id)
    assert (frame.body["code"], frame.body["name"]) == (code, name)
    assert words in frame.body["message"]


# ---- Hello ----


@over_the_wire
async def test_hello_makes_a_session() -> None:
    async with serving(heartbeat_s=2.5) as running:
        frame = await running.client().hello()
        assert (frame.request_id, frame.seq) == (1, 0)
        key = frame.body.pop("session_key")
        assert len(key) == 43 and key.replace("-", "a").replace("_", "a").isalnum()
        assert frame.body == {
            "protocol": 1,
            "session_id": running.sessions[0].session_id,
            "resumed": False,
            "last_request_id": 0,
            "server_version": __version__,
            "schema_fingerprint": schema_fingerprint(),
            "heartbeat_s": 2.5,
        }
        other = await running.client().hello()
        assert other.body["session_key"] != key
        assert other.body["session_id"] != frame.body["session_id"]


@over_the_wire
async def test_a_wrong_token_is_refused_and_makes_nothing() -> None:
    async with serving() as running:
        client = running.client()
        for token in ("", "wrong", TOKEN + "x", TOKEN[:-1], "龙"):
            frame = await client.ask(Hello(protocol=9, token=token), 4)
            assert_error(frame, 1001, "Unauthorized", "token", 4)
            assert frame.seq == 0
        assert_error(await client.ask(ListAgents(), 5), 2002, "SessionNotReady", "Hello", 5)
        assert running.sessions == []
        await client.hello()


@over_the_wire
async def test_an_empty_token_of_the_server_lets_nobody_in() -> None:
    async with serving(token="") as running:
        frame = await running.client().ask(Hello(protocol=1, token=""), 1)
        assert_error(frame, 1001, "Unauthorized", "token", 1)


@over_the_wire
async def test_without_authentication_everybody_is_let_in_but_only_the_owner_shuts_down() -> None:
    async with serving(no_auth=True) as running:
        guest = running.client()
        await guest.hello(token="")
        assert_error(await guest.ask(Shutdown(), 2), 1001, "Unauthorized", "own token", 2)
        assert (await guest.ask(ListAgents(), 3)).type_name == "Agents"
        owner = running.client()
        await owner.hello()
        assert (await owner.ask(Shutdown(), 2)).type_name == "Ok"
        await asyncio.wait_for(running.task, PATIENCE_S)
        assert [frame.type_name for frame in await guest.until("Goodbye")] == ["Goodbye"]


@over_the_wire
async def test_with_neither_token_nor_authentication_nobody_shuts_down() -> None:
    async with serving(token="", no_auth=True) as running:
        client = running.client()
        await client.hello(token="")
        assert_error(await client.ask(Shutdown(), 2), 1001, "Unauthorized", "own token", 2)


@over_the_wire
async def test_hello_says_what_does_not_fit() -> None:
    async with serving(max_sessions=1) as running:
        client = running.client()
        frame = await client.ask(Hello(protocol=2, token=TOKEN), 1)
        assert_error(frame, 5004, "ProtocolMismatch", "speaks protocol 1, not 2", 1)
        frame = await client.ask(Hello(protocol=1, token=TOKEN, resume="a key", last_seq=3), 2)
        assert_error(frame, 1002, "SessionExpired", "without `resume`", 2)
        await client.hello()
        second = running.client()
        frame = await second.ask(Hello(protocol=1, token=TOKEN), 1)
        assert_error(frame, 1003, "TooManySessions", "max_sessions", 1)
        assert (await client.ask(Bye(), 3)).type_name == "Ok"
        await second.hello()


@over_the_wire
async def test_a_second_hello_on_a_socket_begins_a_fresh_session() -> None:
    async with serving(max_sessions=1) as running:
        client = running.client()
        first = await client.hello()
        assert (await client.ask(SendMessage(agent_id="a", text="hold"), 2)).type_name == "TurnStarted"
        assert (await client.receive()).type_name == "AnswerText"
        second = await client.hello()
        assert second.body["session_id"] != first.body["session_id"]
        frame = await client.ask(ListAgents(), 2)
        assert (frame.type_name, frame.seq) == ("Agents", 1)
        assert [session.is_closed for session in running.sessions] == [True, False]


@over_the_wire
async def test_before_hello_everything_is_answered_with_2002_without_a_seq() -> None:
    async with serving() as running:
        client = running.client()
        for request_id, message in enumerate((Ping(), Bye(), Shutdown(), ListAgents()), start=1):
            frame = await client.ask(message, request_id)
            assert_error(frame, 2002, "SessionNotReady", "say Hello first", request_id)
            assert frame.seq == 0
        for type_name, body in ((b"Dance", b"{}"), (b"SendMessage", b"[[[")):
            await client.send_frames([type_name, struct.pack("<QQ", 9, 0), body])
            assert_error(await client.receive(), 2002, "SessionNotReady", "say Hello first", 9)
        await client.send_frames([b"Hello", struct.pack("<QQ", 10, 0), b"{}"])
        assert_error(await client.receive(), 5001, "MalformedMessage", "protocol: Field required", 10)
        await client.send_frames([b"x"])
        assert_error(await client.receive(), 5001, "MalformedMessage", "3 or 4 parts", 0)


# ---- messages that are wrong ----


@over_the_wire
async def test_what_cannot_be_read_is_answered_and_touches_nothing() -> None:
    ids = struct.pack("<QQ", 7, 0)
    wrong: list[tuple[list[bytes], int, int]] = [
        ([b""], 5001, 0),
        ([b"Ping"], 5001, 0),
        ([b"Ping", ids], 5001, 0),
        ([b"Ping", b"short", b"{}"], 5001, 0),
        ([b"Ping", ids, b"{}", b"", b""], 5001, 7),
        ([b"Ping", ids, b"{}", *[b"x"] * 2000], 5001, 7),
        (["Pïng".encode(), ids, b"{}"], 5001, 7),
        ([b"x" * 3000, ids, b"{}"], 5001, 7),
        ([b"Dance", ids, b"{}"], 5002, 7),
        ([b"Pong", ids, b"{}"], 5002, 7),
        ([b"ListAgents", bytes(16), b"{}"], 5001, 0),
        ([b"ListAgents", ids, b"{"], 5001, 7),
        ([b"ListAgents", ids, b"\xff"], 5001, 7),
        ([b"ListAgents", ids, b'{"x":NaN}'], 5001, 7),
        ([b"ListAgents", ids, b'{"x":1,"x":2}'], 5001, 7),
        ([b"ListAgents", ids, b'{"x":"\\ud800"}'], 5001, 7),
        ([b"ListAgents", ids, b"[1]"], 5001, 7),
        ([b"ListAgents", ids, b'{"x":' + b"[" * 4000], 5001, 7),
        ([b"ListAgents", ids, b'{"x":' * 200 + b"1" + b"}" * 200], 5001, 7),
        ([b"SendMessage", ids, b'{"agent_id":' + b"9" * 400 + b',"text":""}'], 5001, 7),
        ([b"ListAgents", ids, b"{" + b" " * 4096 + b"}"], 5003, 7),
        ([b"ListAgents", ids, b"{}", bytes(2049)], 5003, 7),
    ]
    async with serving(max_json_bytes=4096, max_payload_bytes=2048) as running:
        client = await running.session()
        for number, (frames, code, request_id) in enumerate(wrong, start=1):
            await client.send_frames(frames)
            frame = await client.receive()
            assert (frame.type_name, frame.body["code"], frame.request_id) == ("Error", code, request_id), frames
            assert frame.seq == number
        assert running.sessions[0].seen == []
        frame = await client.ask(ListAgents(), 8)
        assert (frame.type_name, frame.seq) == ("Agents", len(wrong) + 1)


@over_the_wire
async def test_a_message_beyond_twice_the_limit_costs_its_sender_the_connection_and_nobody_else() -> None:
    async with serving(max_json_bytes=4096, max_payload_bytes=2048) as running:
        other = await running.session()
        client = running.client()
        monitor = client.socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        await client.hello()
        await client.send_frames([b"ListAgents", struct.pack("<QQ", 7, 0), b" " * 8193])
        await asyncio.wait_for(monitor.recv_multipart(), PATIENCE_S)
        client.socket.disable_monitor()
        monitor.close(0)
        assert (await other.ask(ListAgents(), 2)).type_name == "Agents"
        assert running.server.session_count == 2


# ---- requests ----


@over_the_wire
async def test_two_hundred_requests_get_one_reply_each() -> None:
    """Among them slow ones, wrong ones, ones that fail and turns that stream in between."""
    async with serving() as running:
        client = await running.session()
        running.sessions[0].late_turns = 50
        asked: list[Request] = [
            (ListAgents(), ValidateWorkflow(workflow={}), SendMessage(agent_id=f"a{n}", text="say 3"),
             SendMessage(agent_id="a", text="raise now"), SendMessage(agent_id="a", text="busy"),
             CreateAgent(workflow={}), CancelTurn(agent_id="b"), SendMessage(agent_id="x", text="nonsense"))[n % 8]
            for n in range(200)
        ]  # fmt: skip
        for request_id, message in enumerate(asked, start=10):
            await client.send(message, request_id)
        replies: dict[int, Frame] = {}
        completes = 0
        seqs = []
        while len(replies) < 200 or completes < 25:
            frame = await client.receive()
            seqs.append(frame.seq)
            completes += frame.type_name == "TurnComplete"
            if frame.request_id:
                assert frame.request_id not in replies
                replies[frame.request_id] = frame
        await client.send(Ping(), 999)
        assert (await client.receive()).type_name == "Pong"
        assert sorted(replies) == list(range(10, 210))
        assert seqs == list(range(1, len(seqs) + 1))
        expected = ["Agents", "Validation", "TurnStarted", 0, 3004, 3003, "Ok", 0]
        for request_id, frame in replies.items():
            got = frame.body["code"] if frame.type_name == "Error" else frame.type_name
            assert got == expected[(request_id - 10) % 8]


@over_the_wire
async def test_errors_carry_all_they_know() -> None:
    async with serving() as running:
        client = await running.session()
        frame = await client.ask(SendMessage(agent_id="龙", text="unknown"), 2)
        assert_error(frame, 3001, "InvalidAgentId", "龙", 2)
        assert frame.body["agent_id"] == "龙"
        frame = await client.ask(CreateAgent(workflow={}), 3)
        assert_error(frame, 3003, "WorkflowInvalid", "1 error", 3)
        assert frame.body["problems"][0]["path"] == "$.name"


@pytest.mark.parametrize("text", ["raise now", "nonsense", "cancelled"])
def test_a_fault_of_the_sidecar_is_answered_without_its_insides(text: str, caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        async with serving() as running:
            client = await running.session()
            frame = await client.ask(SendMessage(agent_id="a", text=text), 2)
            assert_error(frame, 0, "InternalError", "stopped SendMessage; the sidecar's log", 2)
            assert "secret" not in str(frame.body) and "Traceback" not in str(frame.body)
            assert (await client.ask(ListAgents(), 3)).type_name == "Agents"

    with caplog.at_level(logging.ERROR):
        run_on_selector_loop(scene())
    assert "SendMessage failed" in caplog.text
    assert "Traceback" in caplog.text


@over_the_wire
async def test_a_request_is_begun_before_the_next_is_read_and_later_ones_do_not_wait_for_it() -> None:
    async with serving() as running:
        client = await running.session()
        assert (await client.ask(SendMessage(agent_id="a", text="hold"), 2)).type_name == "TurnStarted"
        await client.receive()
        # Were the coroutine of DestroyAgent overtaken, it would cancel the turn that begins after it.
        for message, request_id in (
            (DestroyAgent(agent_id="a"), 3),
            (SendMessage(agent_id="a", text="say 1"), 4),
            (SendMessage(agent_id="b", text="never"), 5),
            (ValidateWorkflow(workflow={}), 6),
        ):
            await client.send(message, request_id)
        frames = [await client.receive() for _ in range(6)]
        turns = [(frame.body["turn_id"], frame.body["status"]) for frame in frames if frame.type_name == "TurnComplete"]
        assert turns == [(1, "Cancelled"), (2, "Success")]
        assert {frame.request_id for frame in frames} == {0, 3, 4, 6}


@over_the_wire
async def test_turn_started_comes_before_the_turns_frames_and_turn_complete_last() -> None:
    async with serving() as running:
        client = await running.session()
        await client.send(SendMessage(agent_id="a", text="say 25"), 2)
        frames = await client.until("TurnComplete")
        assert [frame.type_name for frame in frames] == ["TurnStarted", *["AnswerText"] * 25, "TurnComplete"]
        assert [frame.body["text"] for frame in frames[1:-1]] == [f"{n} " for n in range(25)]
        assert [frame.seq for frame in frames] == list(range(1, 28))


@over_the_wire
async def test_two_clients_at_once_hear_only_of_their_own() -> None:
    async with serving() as running:
        clients = [await running.session() for _ in range(2)]
        for number, client in enumerate(clients):
            await client.send(SendMessage(agent_id=f"agent{number}", text="say 300"), 2)
        for number, client in enumerate(clients):
            frames = await client.until("TurnComplete")
            assert len(frames) == 302
            assert {frame.body["agent_id"] for frame in frames} == {f"agent{number}"}
            assert [frame.seq for frame in frames] == list(range(1, 303))


@over_the_wire
async def test_pings_are_answered_with_any_id_and_without_a_seq() -> None:
    async with serving() as running:
        client = await running.session()
        for request_id in (0, 5, 2**64 - 1):
            frame = await client.ask(Ping(last_seq=2**64 - 1), request_id)
            assert (frame.type_name, frame.request_id, frame.seq) == ("Pong", request_id, 0)


# ---- clients that do not read ----

SMALL = {"RCVHWM": 1, "RCVBUF": 4096}


def test_a_client_that_does_not_read_holds_up_nobody_and_misses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Frames that wait must go on when the client reads, not with the next tick.
    monkeypatch.setattr("bridge.server.TICK_S", 3600.0)

    async def scene() -> None:
        async with serving(resume_buffer_bytes=2**26) as running:
            deaf = await running.session(**SMALL)
            await deaf.send(SendMessage(agent_id="a", text="say 6000 2000"), 2)
            other = await running.session()
            for request_id in range(2, 22):
                await other.send(SendMessage(agent_id="b", text="say 100"), request_id)
                assert len(await other.until("TurnComplete")) == 102
            # Now it reads after all.
            frames = await deaf.until("TurnComplete")
            assert [frame.seq for frame in frames] == list(range(1, 6003))
            said = [frame.body["text"].split()[0] for frame in frames[1:-1]]
            assert said == [str(number) for number in range(6000)]

    run_on_selector_loop(scene())


def test_a_client_that_does_not_read_costs_no_more_than_its_buffer() -> None:
    async def scene() -> None:
        async with serving(resume_buffer_bytes=200_000) as running:
            deaf = await running.session(**SMALL)
            await deaf.send(SendMessage(agent_id="a", text="say 6000 2000"), 2)
            other = await running.session()
            for request_id in range(2, 70):
                await other.send(SendMessage(agent_id="b", text="say 100"), request_id)
                assert len(await other.until("TurnComplete")) == 102
            assert running.server.session_count == 2
            # Now it reads after all: numbers without a hole, and the end of its turn.
            expected = 1
            frames = await deaf.until("TurnComplete")
            for frame in frames:
                if frame.type_name == "Gap":
                    assert frame.body["from_seq"] == expected
                    assert frame.body["to_seq"] == frame.seq
                    expected = frame.seq
                assert frame.seq == expected
                expected += 1
            assert any(frame.type_name == "Gap" for frame in frames)
            assert (await deaf.ask(ListAgents(), 3)).type_name == "Agents"

    run_on_selector_loop(scene())


# ---- how sessions end ----


@over_the_wire
async def test_bye_cancels_turns_answers_what_is_open_and_comes_last() -> None:
    async with serving() as running:
        client = await running.session()
        assert (await client.ask(SendMessage(agent_id="a", text="hold"), 2)).type_name == "TurnStarted"
        assert (await client.receive()).type_name == "AnswerText"
        await client.send(SendMessage(agent_id="b", text="never"), 3)
        await client.send(Bye(), 4)
        await client.send(ListAgents(), 5)
        frames = [await client.receive() for _ in range(4)]
        refused = [frame for frame in frames if frame.request_id == 5]
        assert_error(refused[0], 2002, "SessionNotReady", "Hello", 5)
        frames.remove(refused[0])
        assert (frames[0].type_name, frames[0].body["status"]) == ("TurnComplete", "Cancelled")
        assert_error(frames[1], 1002, "SessionExpired", "before SendMessage was done", 3)
        assert (frames[2].type_name, frames[2].request_id) == ("Ok", 4)
        assert running.sessions[0].is_closed
        assert running.server.session_count == 0
        # What a session says after its end is not sent.
        running.sessions[0].push(Goodbye(reason="bye"), None)
        assert_error(await client.ask(ListAgents(), 6), 2002, "SessionNotReady", "Hello", 6)
        await client.hello()


def test_what_was_kept_for_a_client_goes_with_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[Outbox] = []

    def close(outbox: Outbox) -> None:
        ended.append(outbox)
        close_it(outbox)

    close_it = Outbox.close
    monkeypatch.setattr(Outbox, "close", close)

    async def scene() -> None:
        async with serving(resume_buffer_bytes=2**26) as running:
            reader, deaf = await running.session(), await running.session(**SMALL)
            await deaf.send(SendMessage(agent_id="a", text="say 6000 2000"), 2)
            await running.someone_is_full()
            await reader.send(SendMessage(agent_id="b", text="say 200"), 2)
            await reader.until("TurnComplete")
            await deaf.send(Bye(), 3)
            await reader.send(Bye(), 3)
            await reader.until("Ok")
            while running.server.session_count:  # noqa: ASYNC110 - the deaf one is not told
                await asyncio.sleep(0)
            assert sorted(outbox.kept_bytes > 0 for outbox in ended) == [False, True]  # the deaf one may read yet
            await running.pass_time(PARTED_S + 1)
            assert [outbox.kept_bytes for outbox in ended] == [0, 0]

    run_on_selector_loop(scene())


@over_the_wire
async def test_a_silent_session_ends_after_its_window_and_one_that_pings_does_not() -> None:
    async with serving() as running:
        silent, lively = await running.session(), await running.session()
        assert (await silent.ask(SendMessage(agent_id="a", text="hold"), 2)).type_name == "TurnStarted"
        assert (await silent.receive()).type_name == "AnswerText"
        await running.pass_time(315 - 1)
        assert (await lively.ask(Ping(), 2)).type_name == "Pong"
        assert running.server.session_count == 2
        await running.pass_time(1)
        # It was detached: what it did not acknowledge comes again.
        frames = [await silent.receive() for _ in range(4)]
        assert [frame.seq for frame in frames] == [1, 2, 3, 4]
        assert (frames[2].type_name, frames[2].body["status"]) == ("TurnComplete", "Cancelled")
        assert (frames[3].type_name, frames[3].body["reason"]) == ("Goodbye", "expired")
        assert running.sessions[0].is_closed
        assert running.server.session_count == 1
        assert (await lively.ask(ListAgents(), 3)).type_name == "Agents"


@over_the_wire
async def test_a_machine_that_slept_does_not_lose_its_sessions() -> None:
    async with serving() as running:
        client = await running.session()
        running.clock.now += 8 * 3600
        running.server.look_after_sessions()
        assert running.server.session_count == 1
        assert (await client.ask(ListAgents(), 2)).type_name == "Agents"


@over_the_wire
async def test_shutdown_ends_turns_then_says_goodbye_to_everyone() -> None:
    async with serving() as running:
        owner, other = await running.session(), await running.session()
        assert (await other.ask(SendMessage(agent_id="a", text="hold"), 2)).type_name == "TurnStarted"
        assert (await other.receive()).type_name == "AnswerText"
        await other.send(SendMessage(agent_id="b", text="never"), 3)
        assert (await other.ask(Ping(), 4)).type_name == "Pong"
        await owner.send(Shutdown(), 2)
        assert [frame.type_name for frame in await owner.until("Goodbye")] == ["Ok", "Goodbye"]
        frames = await other.until("Goodbye")
        assert (frames[0].type_name, frames[0].body["status"]) == ("TurnComplete", "Cancelled")
        assert_error(frames[1], 2001, "ShuttingDown", "before SendMessage was done", 3)
        assert frames[2].body == {"reason": "shutdown"}
        assert len(frames) == 3
        await asyncio.wait_for(running.task, PATIENCE_S)


def test_a_client_that_does_not_read_leaves_nothing_behind_that_runs_after_the_shutdown() -> None:
    faults: list[dict[str, Any]] = []

    async def scene() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: faults.append(context))
        async with serving(resume_buffer_bytes=2**26) as running:
            deaf = await running.session(**SMALL)
            await deaf.send(SendMessage(agent_id="a", text="say 6000 2000"), 2)
            await running.someone_is_full()
            running.server.request_shutdown()
            await asyncio.wait_for(running.task, PATIENCE_S)
            over = asyncio.Event()
            loop.call_later(2 * RETRY_S[1], over.set)  # behind whatever the server may have left to the loop
            await over.wait()

    run_on_selector_loop(scene())
    assert not faults


def test_a_session_that_does_not_close_cannot_stop_the_shutdown(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("bridge.server.SHUTDOWN_TIMEOUT_S", 0.05)

    async def scene() -> None:
        async with serving() as running:
            client = await running.session()
            assert (await client.ask(SendMessage(agent_id="a", text="hang"), 2)).type_name == "Ok"
            running.server.request_shutdown()
            assert (await client.receive()).body == {"reason": "shutdown"}
            await asyncio.wait_for(running.task, PATIENCE_S)

    run_on_selector_loop(scene())
    assert "not closed after" in caplog.text


@over_the_wire
async def test_an_idle_sidecar_stops_when_it_should() -> None:
    async with serving(idle_exit_s=60) as running:
        client = await running.session()
        await running.pass_time(120)
        assert not running.task.done()
        assert (await client.ask(Bye(), 2)).type_name == "Ok"
        await running.pass_time(59)
        assert not running.task.done()
        await running.pass_time(2)
        await asyncio.wait_for(running.task, PATIENCE_S)


@over_the_wire
async def test_a_shutdown_asked_for_before_the_start_counts() -> None:
    server = Server(Settings(), TOKEN, FakeSession)
    server.request_shutdown()
    await asyncio.wait_for(server.run(), PATIENCE_S)


@over_the_wire
async def test_debug_that_passes_the_limit_is_cut_down() -> None:
    async with serving(max_json_bytes=4096) as running:
        client = await running.session()
        running.sessions[0].push(
            TurnComplete(agent_id="a", turn_id=1, status="Success", debug={"prompt": "x" * 9000}), None
        )
        frame = await client.receive()
        assert "prompt" in frame.body["debug"]["warning"]


@over_the_wire
async def test_no_token_or_key_is_logged() -> None:
    records: list[str] = []
    handler = logging.Handler(logging.DEBUG)
    handler.emit = lambda record: records.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("bridge")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        async with serving() as running:
            client = running.client()
            await client.ask(Hello(protocol=1, token="hunter2", client="evil\nclient"), 1)
            key = (await client.hello()).body["session_key"]
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    said = "\n".join(records)
    assert "wrong token" in said
    assert TOKEN not in said and key not in said and "hunter2" not in said
    assert "evil\nclient" not in said


# ---- the outbox ----


class Wire:
    """Takes frames while it is told to."""

    def __init__(self) -> None:
        self.state = Sent.YES
        self.seqs: list[int] = []

    def send(self, frames: Sequence[bytes]) -> Sent:
        if self.state is Sent.YES:
            self.seqs.append(struct.unpack("<QQ", frames[1])[1])
        return self.state


def text(words: str = "hi") -> AnswerText:
    return AnswerText(agent_id="a", turn_id=1, node_name="m", step=1, text=words, is_delta=True, is_final=False)


def test_only_what_was_sent_can_be_acknowledged() -> None:
    outbox = Outbox(Wire().send, 1000)
    for _ in range(3):
        outbox.put(text())
    for said, known in ((2, 2), (1, 2), (2**64 - 1, 3)):
        outbox.acknowledge(said)
        assert outbox.acknowledged == known


# ---- where it may listen ----


@pytest.mark.parametrize(
    ("endpoint", "bound"),
    [
        ("tcp://127.0.0.1:*", "tcp://127.0.0.1:*"),
        ("tcp://127.3.2.1:5600", "tcp://127.3.2.1:5600"),
        ("tcp://localhost:0", "tcp://127.0.0.1:0"),
        ("tcp://[::1]:*", "tcp://[::1]:*"),
    ],
)
def test_loopback_is_bound(endpoint: str, bound: str) -> None:
    assert loopback_endpoint(endpoint) == bound


@pytest.mark.parametrize(
    "endpoint",
    [
        "tcp://0.0.0.0:5600",
        "tcp://*:5600",
        "tcp://192.168.1.4:5600",
        "tcp://[::]:5600",
        "tcp://eth0:5600",
        "tcp://127.0.0.1.example.com:5600",
        "tcp://localhost.example.com:5600",
        "tcp://[::ffff:10.0.0.1]:5600",
    ],
)
def test_other_interfaces_are_refused(endpoint: str) -> None:
    with pytest.raises(InvalidValue, match="not on loopback"):
        loopback_endpoint(endpoint)


@pytest.mark.parametrize(
    "endpoint",
    ["", "ipc:///tmp/x", "inproc://x", "tcp://127.0.0.1", "tcp://127.0.0.1:", "tcp://127.0.0.1:x", "127.0.0.1:1",
     "tcp://127.0.0.1:1;tcp://0.0.0.0:2", "tcp://127.0.0.1:1\n"],
)  # fmt: skip
def test_endpoints_of_another_form_are_refused(endpoint: str) -> None:
    with pytest.raises(InvalidValue, match="must look like tcp://127"):
        loopback_endpoint(endpoint)


def test_a_port_too_high_is_refused() -> None:
    with pytest.raises(InvalidValue, match="above 65535"):
        loopback_endpoint("tcp://127.0.0.1:65536")


@over_the_wire
async def test_a_taken_port_is_named() -> None:
    async with serving() as running:
        port = running.server.endpoint.rpartition(":")[2]
        second = Server(Settings(endpoint=running.server.endpoint), TOKEN, FakeSession)
        with pytest.raises(EndpointTaken, match=f"port {port} is taken"):
            second.bind()
        second.close()
