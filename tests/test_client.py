"""The Python client against real servers, and against a sidecar that sends exactly what a test wants."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import psutil
import pytest
import zmq
import zmq.asyncio

from bridge.client import ParleyClient, error_from
from bridge.client_link import Link
from bridge.codec import Envelope, decode_message, encode
from bridge.config import Settings
from bridge.errors import (
    BY_CODE,
    AgentBusy,
    MalformedMessage,
    ParleyError,
    SessionExpired,
    Unauthorized,
    WorkflowInvalid,
)
from bridge.launch import Sidecar, SidecarFailed
from bridge.peer import error_of
from bridge.protocol import (
    Agents,
    AnswerText,
    Error,
    Goodbye,
    Hello,
    ListAgents,
    Message,
    Ping,
    Problem,
    SendMessage,
    SessionReady,
    TurnComplete,
    TurnStarted,
)
from bridge.server import Server
from bridge.transport import run_on_selector_loop
from tests.fakes import FakeSession
from tests.sidecar import COMMAND

TOKEN = "the owner's token"
PATIENCE_S = 20.0


def on_the_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """Runs a test on the loop that ZeroMQ needs."""

    def run() -> None:
        run_on_selector_loop(test())

    run.__name__ = test.__name__
    run.__doc__ = test.__doc__
    return run


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    server = Server(Settings(), TOKEN, FakeSession)
    server.bind()
    task = asyncio.ensure_future(server.run())
    try:
        yield server
    finally:
        server.request_shutdown()
        await asyncio.wait_for(task, PATIENCE_S)


@contextlib.asynccontextmanager
async def connected(
    on_envelope: Callable[[Envelope], None] | None = None,
) -> AsyncIterator[ParleyClient]:
    async with (
        serving() as server,
        await ParleyClient.connect(server.endpoint, TOKEN, on_envelope=on_envelope) as client,
    ):
        yield client


class ScriptedSidecar:
    """A ROUTER that answers Hello and else says only what the test makes it say."""

    def __init__(self, heartbeat_s: float, endpoint: str = "tcp://127.0.0.1:*") -> None:
        self.heartbeat_s = heartbeat_s
        self.context = zmq.asyncio.Context()
        self.socket = self.context.socket(zmq.ROUTER)
        self.socket.bind(endpoint)
        bound = self.socket.getsockopt(zmq.LAST_ENDPOINT)
        assert isinstance(bound, bytes)
        self.endpoint = bound.rstrip(b"\0").decode("ascii")
        self.identity = b""

    async def say(self, message: Message, request_id: int = 0, seq: int = 0, payload: bytes | None = None) -> None:
        await self.say_frames(encode(message, request_id=request_id, seq=seq, payload=payload))

    async def say_frames(self, frames: list[bytes]) -> None:
        await self.socket.send_multipart([self.identity, *frames])

    async def hear(self) -> Envelope:
        self.identity, *frames = await asyncio.wait_for(self.socket.recv_multipart(), PATIENCE_S)
        envelope = decode_message(frames)
        assert envelope is not None
        return envelope

    async def greet(self) -> ParleyClient:
        """A client that has said Hello to this."""
        connecting = asyncio.ensure_future(ParleyClient.connect(self.endpoint, "t"))
        hello = await self.hear()
        assert hello.message == Hello(protocol=1, client="python", token="t")
        await self.welcome(hello.request_id)
        return await connecting

    async def welcome(self, request_id: int, *, resumed: bool = False) -> None:
        await self.say(
            SessionReady(
                protocol=1,
                session_id="s",
                session_key="k",
                resumed=resumed,
                last_request_id=0,
                server_version="9",
                schema_fingerprint="f",
                heartbeat_s=self.heartbeat_s,
            ),
            request_id,
        )


@contextlib.asynccontextmanager
async def scripted(heartbeat_s: float = 3600.0) -> AsyncIterator[tuple[ScriptedSidecar, ParleyClient]]:
    sidecar = ScriptedSidecar(heartbeat_s)
    client = await sidecar.greet()
    try:
        yield sidecar, client
    finally:
        await client.close()
        sidecar.context.destroy(linger=0)


def text(words: str = "hi") -> AnswerText:
    return AnswerText(agent_id="a", turn_id=1, node_name="m", step=1, text=words, is_delta=True, is_final=False)


# ---- requests ----


@on_the_loop
async def test_replies_come_as_values_and_errors_as_their_classes() -> None:
    async with connected() as client:
        assert client.ready.protocol == 1
        assert await client.request(ListAgents()) == Agents(agents=[])
        assert (await client.create_agent({"name": "tavern"}, variables={"gold": 3})).agent_id == "agent1"
        assert await client.validate({}) == []
        with pytest.raises(WorkflowInvalid, match="1 error") as caught:
            await client.create_agent({})
        assert [problem.path for problem in caught.value.problems] == ["$.name"]
        with pytest.raises(ParleyError, match=r"InternalError \(0\): a fault inside the sidecar"):
            await client.request(SendMessage(agent_id="a", text="raise now"))


@pytest.mark.parametrize("code", sorted(BY_CODE))
def test_every_error_survives_the_wire(code: int) -> None:
    problem = Problem(severity="error", code=code, message="wrong")
    fault = BY_CODE[code]("said", agent_id="a", node_name="n", path="$.p", problems=[problem])
    again = error_from(error_of(fault))
    assert type(again) is BY_CODE[code]
    assert (again.message, again.agent_id, again.node_name, again.path, again.problems) == (
        ("said", "a", "n", "$.p", (problem,))
    )


def test_an_error_of_a_newer_sidecar_keeps_its_name_and_code() -> None:
    fault = error_from(Error(code=9999, name="TooTired", message="not today"))
    assert type(fault) is ParleyError
    assert fault.message == "TooTired (9999): not today"


@on_the_loop
async def test_a_wrong_token_raises() -> None:
    async with serving() as server:
        with pytest.raises(Unauthorized, match="token"):
            await ParleyClient.connect(server.endpoint, "wrong")


@on_the_loop
async def test_nobody_there_is_a_timeout() -> None:
    with pytest.raises(TimeoutError, match=r"did not answer within 0.05 s"):
        await ParleyClient.connect("tcp://127.0.0.1:9", timeout=0.05)


@on_the_loop
async def test_after_bye_and_after_close_nothing_can_be_asked() -> None:
    async with connected() as client:
        await client.bye()
        with pytest.raises(ConnectionError, match="said Bye"):
            await client.request(ListAgents())
        await client.close()
        await client.close()


# ---- turns ----


@on_the_loop
async def test_a_turn_yields_all_its_frames_in_order_and_nothing_of_others() -> None:
    async with connected() as client:

        async def play(agent_id: str, count: int) -> list[Envelope]:
            return [envelope async for envelope in client.turn(agent_id, f"say {count}")]

        turns = await asyncio.gather(*(play(f"agent{number}", 100 + number) for number in range(8)))
        for number, envelopes in enumerate(turns):
            messages = [envelope.message for envelope in envelopes]
            assert isinstance(messages[-1], TurnComplete)
            said = [message for message in messages if isinstance(message, AnswerText)]
            assert [message.text for message in said] == [f"{n} " for n in range(100 + number)]
            assert {message.agent_id for message in said} == {f"agent{number}"}
            seqs = [envelope.seq for envelope in envelopes]
            assert seqs == sorted(seqs)


@on_the_loop
async def test_frames_right_behind_turn_started_are_not_missed() -> None:
    async with scripted() as (sidecar, client):
        turn = client.turn("a", "hi")
        first = asyncio.ensure_future(anext(turn))
        request = await sidecar.hear()
        assert request.message == SendMessage(agent_id="a", text="hi")
        await sidecar.say(TurnStarted(agent_id="a", turn_id=1), request.request_id, 1)
        await sidecar.say(text("one"), 0, 2, b"sound")
        await sidecar.say(text("other turn").model_copy(update={"turn_id": 2}), 0, 3)
        await sidecar.say(TurnComplete(agent_id="a", turn_id=1, status="Success"), 0, 4)
        assert await first == Envelope(text("one"), 0, 2, b"sound")
        rest = [envelope.seq async for envelope in turn]
        assert rest == [4]


@on_the_loop
async def test_a_turn_can_be_refused_cancelled_and_left() -> None:
    async with connected() as client:
        with pytest.raises(AgentBusy):
            await anext(client.turn("a", "busy"))
        turn = client.turn("a", "hold")
        assert isinstance((await anext(turn)).message, AnswerText)
        await client.cancel_turn("a")
        last = [envelope.message async for envelope in turn]
        assert len(last) == 1
        assert isinstance(last[0], TurnComplete) and last[0].status == "Cancelled"
        left = client.turn("b", "say 30")
        await anext(left)
        await left.aclose()
        assert len([envelope async for envelope in client.turn("b", "say 3")]) == 4


@on_the_loop
async def test_subscribers_get_every_push_and_the_observer_replies_too() -> None:
    seen: list[Envelope] = []
    async with connected(seen.append) as client:
        everything = client.subscribe()
        async for _ in client.turn("a", "say 2"):
            pass
        pushes = [await anext(everything) for _ in range(3)]
        await client.request(Ping())
        everything.close()
        assert [envelope async for envelope in everything] == []
    names = [envelope.message.type_name for envelope in seen]
    assert names == ["SessionReady", "TurnStarted", "AnswerText", "AnswerText", "TurnComplete", "Ok"]
    assert pushes == seen[2:5]
    assert [envelope.seq for envelope in seen] == [0, 1, 2, 3, 4, 5]


# ---- acknowledging ----


@on_the_loop
async def test_a_thousand_frames_are_acknowledged() -> None:
    async with scripted() as (sidecar, client):
        for seq in range(1, 1001):
            await sidecar.say(text(), 0, seq)
        assert (await sidecar.hear()).message == Ping(last_seq=1000)
        assert client.last_seq == 1000


@on_the_loop
async def test_a_mebibyte_is_acknowledged() -> None:
    async with scripted() as (sidecar, _):
        for seq in range(1, 5):
            await sidecar.say(text("x" * 2**18), 0, seq)
        assert (await sidecar.hear()).message == Ping(last_seq=4)


@on_the_loop
async def test_the_heartbeat_acknowledges_also_what_only_newer_clients_understand() -> None:
    async with scripted(heartbeat_s=0.05) as (sidecar, _):
        unknown = encode(text(), seq=1)
        unknown[0] = b"SomethingNew"
        await sidecar.say_frames(unknown)
        ping = await sidecar.hear()
        while ping.message != Ping(last_seq=1):
            assert ping.message == Ping(last_seq=0)
            ping = await sidecar.hear()


# ---- the end of a connection ----


@on_the_loop
async def test_goodbye_ends_what_waits() -> None:
    async with scripted() as (sidecar, client):
        everything = client.subscribe()
        asked = asyncio.ensure_future(client.request(ListAgents()))
        await sidecar.hear()
        await sidecar.say(Goodbye(reason="expired"), 0, 1)
        with pytest.raises(SessionExpired, match="Goodbye: expired"):
            await asked
        assert (await anext(everything)).message == Goodbye(reason="expired")
        for later in (everything, client.subscribe()):
            with pytest.raises(SessionExpired):
                await anext(later)
        with pytest.raises(SessionExpired):
            await anext(client.turn("a", "hi"))


@on_the_loop
async def test_a_hello_that_nobody_heard_is_no_excuse_to_take_a_session_back() -> None:
    """Another client has the session now. Only an own Hello that came late would be a reason to say it once more."""
    async with scripted() as (first, client):
        everything = client.subscribe()
        refused = asyncio.Event()
        real = ParleyClient._say_hello

        async def say_hello(self: ParleyClient, resume: str | None, timeout: float) -> SessionReady:
            try:
                return await real(self, resume, timeout)
            except OSError:
                refused.set()
                raise

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ParleyClient, "_say_hello", say_hello)
            first.socket.close(linger=0)
            await asyncio.wait_for(refused.wait(), PATIENCE_S)
        second = ScriptedSidecar(3600.0, first.endpoint)
        try:
            hello = await second.hear()
            assert isinstance(hello.message, Hello) and hello.message.resume == "k"
            await second.welcome(hello.request_id, resumed=True)
            await second.say(Goodbye(reason="replaced"))
            with pytest.raises(SessionExpired, match="replaced"):
                async for _ in everything:
                    pass
        finally:
            second.context.destroy(linger=0)


@on_the_loop
async def test_what_came_before_the_connection_broke_is_still_read() -> None:
    """Also where this process has not looked for a while, and finds the last messages and the end at once."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    sidecar = context.socket(zmq.ROUTER)
    sidecar.setsockopt(zmq.LINGER, int(PATIENCE_S * 1000))
    port = sidecar.bind_to_random_port("tcp://127.0.0.1")
    heard: list[bytes] = []
    broken = asyncio.Event()

    def breaks(_: Link) -> None:
        heard.append(b"the end")
        broken.set()

    link = Link(f"tcp://127.0.0.1:{port}", lambda _, frames: heard.extend(frames), breaks)
    try:
        assert link.send([b"hello"])
        identity, _ = await asyncio.get_running_loop().run_in_executor(None, sidecar.recv_multipart)
        for number in range(5):
            sidecar.send_multipart([identity, b"%d" % number])
        sidecar.close()
        context.term()
        # The loop stands still as behind a garbage collection: all of it and the end are there when it looks again.
        time.sleep(0.2)  # noqa: ASYNC251
        assert not heard
        await asyncio.wait_for(broken.wait(), PATIENCE_S)
    finally:
        link.close()
    assert heard == [b"0", b"1", b"2", b"3", b"4", b"the end"]


@on_the_loop
async def test_what_cannot_be_read_ends_the_connection_with_the_reason() -> None:
    async with scripted() as (sidecar, client):
        asked = asyncio.ensure_future(client.request(ListAgents()))
        await sidecar.hear()
        await sidecar.say_frames([b"Agents", bytes(16), b"{"])
        with pytest.raises(MalformedMessage, match="Agents"):
            await asked


@on_the_loop
async def test_a_sidecar_that_dies_is_noticed_at_once() -> None:
    async with Sidecar(command=COMMAND) as sidecar:
        client = await ParleyClient.connect(sidecar.endpoint, sidecar.token, reconnect_s=0)
        turn = client.turn("a", "hold")
        await anext(turn)
        waiting = asyncio.ensure_future(client.request(SendMessage(agent_id="b", text="never")))
        await client.request(ListAgents())
        begun = time.monotonic()
        psutil.Process(sidecar.pid).kill()
        for pending in (waiting, anext(turn)):
            with pytest.raises(ConnectionError, match="broke"):
                await pending
        assert time.monotonic() - begun < 2.0
        await client.close()


# ---- starting one ----


@on_the_loop
async def test_a_sidecar_starts_and_is_gone_in_under_a_second() -> None:
    lines: list[str] = []
    async with Sidecar("--log-level", "info", command=COMMAND, on_stderr=lines.append) as sidecar:
        assert sidecar.pid != os.getpid()
        async with await ParleyClient.connect(sidecar.endpoint, sidecar.token, reconnect_s=0) as client:
            await client.request(ListAgents())
        begun = time.monotonic()
    assert time.monotonic() - begun < 1.0
    assert await sidecar.stop() == 0
    assert not psutil.pid_exists(sidecar.pid)
    assert any("ready at" in line for line in lines)


@on_the_loop
async def test_a_sidecar_that_does_not_start_says_why() -> None:
    sidecar = Sidecar("--endpoint", "tcp://0.0.0.0:*", command=COMMAND)
    with pytest.raises(SidecarFailed, match=r"exit code 1 before it was ready\n.*not on loopback") as caught:
        await sidecar.start()
    assert caught.value.exit_code == 1
    assert await sidecar.stop() == 1


@on_the_loop
async def test_a_sidecar_that_never_gets_ready_is_not_waited_for() -> None:
    sidecar = Sidecar(command=[sys.executable, "-c", "import time; time.sleep(60)"], ready_timeout_s=0.05)
    with pytest.raises(TimeoutError, match=r"not ready within 0.05 s"):
        async with sidecar:
            pass
    assert await sidecar.stop() not in (None, 0)


@on_the_loop
async def test_a_sidecar_that_hangs_is_ended_all_the_same() -> None:
    async with Sidecar(command=COMMAND) as sidecar:
        client = await ParleyClient.connect(sidecar.endpoint, sidecar.token, reconnect_s=0)
        blocked = asyncio.ensure_future(client.request(SendMessage(agent_id="a", text="block 60")))
        await asyncio.sleep(0)
        await client.close()
        with pytest.raises(ConnectionError):
            await blocked
    assert await sidecar.stop() is not None
    assert not psutil.pid_exists(sidecar.pid)
