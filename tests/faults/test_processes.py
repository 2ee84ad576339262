"""Processes that stand still, die and come back, and clients that do not read: what the sidecar keeps for them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pickle
import random
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from bridge.client import ParleyClient
from bridge.codec import Envelope
from bridge.config import Settings
from bridge.errors import SessionExpired, SessionNotReady
from bridge.outbox import Outbox
from bridge.peer import Peer
from bridge.protocol import (
    PROTOCOL_VERSION,
    AgentCreated,
    Agents,
    AnswerText,
    CreateAgent,
    Error,
    ExportDialog,
    Gap,
    Goodbye,
    Hello,
    ListAgents,
    Ping,
    Pong,
    SendMessage,
    SessionReady,
    TurnComplete,
    TurnStarted,
)
from bridge.protocol import Dialog as DialogReply
from bridge.server import Server
from bridge.transport import run_on_selector_loop
from tests.fakes import FakeSession
from tests.faults import scenario
from tests.faults.proxy import FaultyProxy
from tests.faults.scenario import TOKEN, Outcome, Play, Sidecar, conversation, sidecar, violations
from tests.faults.wire import Wire
from tests.sidecar import ROOT, environment

PATIENCE_S = 30.0
LOOK_EVERY_S = 0.01
QUICK_STOPS = 2
FULL_STOPS = 20
QUICK_RELOADS = 2
FULL_RELOADS = 30

SETTINGS = Settings(heartbeat_s=0.1, detach_after_s=0.4, resume_window_s=60, resident_sequences=64)
PATIENT = SETTINGS.model_copy(update={"detach_after_s": PATIENCE_S})
"""For a bare client: it sends no heartbeat, and is not lost because the machine is busy for a moment."""


async def until(condition: Callable[[], bool], what: str) -> None:
    """Waits for a state that nobody tells of."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"still not so: {what}"
        await asyncio.sleep(LOOK_EVERY_S)


def peer_of(serving: Sidecar, session_id: str) -> Peer:
    """The server's side of a session."""
    return next(peer for peer in serving.server._sessions.values() if peer.session_id == session_id)


class Player:
    """The process of a game, and what it has told so far."""

    def __init__(self, endpoint: str, file: Path | None = None) -> None:
        command = [sys.executable, "-m", "tests.faults.player", endpoint, *([str(file)] if file else [])]
        self.popen = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment())
        self.process = psutil.Process(self.popen.pid)
        self.told: list[dict[str, Any]] = []

    async def tells(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Waits for a line."""
        assert self.popen.stdout is not None
        while True:
            line = await asyncio.wait_for(asyncio.to_thread(self.popen.stdout.readline), PATIENCE_S)
            assert line, f"the player ended with {self.popen.wait()} after {self.told[-3:]}"
            self.told.append(json.loads(line))
            if wanted(self.told[-1]):
                return self.told[-1]

    async def rest(self) -> int:
        """Reads what it still says, and its exit code."""
        assert self.popen.stdout is not None
        rest = await asyncio.wait_for(asyncio.to_thread(self.popen.stdout.read), PATIENCE_S)
        self.told += [json.loads(line) for line in rest.splitlines() if line.endswith("}")]
        return await asyncio.to_thread(self.popen.wait, PATIENCE_S)


@contextlib.contextmanager
def player(endpoint: str, file: Path | None = None) -> Iterator[Player]:
    """A game; gone afterwards, whatever happens."""
    made = Player(endpoint, file)
    with made.popen:
        try:
            yield made
        finally:
            made.popen.kill()


def seeds(quick: int, full_count: int, full: bool, fault_seed: int | None) -> range:
    """The seeds to run."""
    if fault_seed is not None:
        return range(fault_seed, fault_seed + 1)
    return range(full_count if full else quick)


async def reference(serving: Sidecar) -> Outcome:
    """The conversation without faults."""
    outcome = Outcome()
    client = await ParleyClient.connect(serving.endpoint, TOKEN, on_envelope=outcome.envelopes.append)
    async with client:
        await Play(client, outcome).run()
    return outcome


# ---- the client's process ------------------------------------------------------------------------------------


def test_a_client_that_stands_still_misses_nothing(tmp_path: Path, full: bool, fault_seed: int | None) -> None:
    async def stopped(serving: Sidecar, plain: Outcome, seed: int) -> None:
        dice = random.Random(seed)
        file = tmp_path / f"{seed}.pickle"
        with player(serving.endpoint, file) as game:
            session_id = str((await game.tells(lambda line: "key" in line))["session_id"])
            peer = peer_of(serving, session_id)
            moment = dice.randint(3, 100)
            await game.tells(lambda line: line.get("seq", 0) >= moment)
            game.process.suspend()
            try:
                await until(lambda: peer.is_detached, "the session is detached")
                handler = peer.handler
                assert isinstance(handler, scenario.RecordingSession)
                # Its turns run on while nobody listens.
                await until(lambda: not any(agent.busy for agent in handler._agents.values()), "all turns are over")
            finally:
                game.process.resume()
            assert await game.rest() == 0
        outcome: Outcome = pickle.loads(file.read_bytes())
        assert violations(outcome, serving.sessions[session_id], plain) == [], f"--fault-seed {seed}"

    async def main() -> None:
        async with sidecar(SETTINGS) as serving:
            plain = await reference(serving)
            places = asyncio.Semaphore(2)

            async def one(seed: int) -> None:
                async with places:
                    await stopped(serving, plain, seed)

            await asyncio.gather(*map(one, seeds(QUICK_STOPS, FULL_STOPS, full, fault_seed)))

    run_on_selector_loop(main())


def test_a_new_process_takes_up_what_a_killed_one_left(full: bool, fault_seed: int | None) -> None:
    async def reloaded(serving: Sidecar, seed: int) -> None:
        dice = random.Random(seed)
        with player(serving.endpoint) as game:
            hello = await game.tells(lambda line: "key" in line)
            moment = dice.randint(2, 60)
            await game.tells(lambda line: line.get("seq", 0) >= moment)
            game.process.kill()
            await game.rest()
        last_seq = max(line.get("seq", 0) for line in game.told)
        session = serving.sessions[hello["session_id"]]
        async with Wire(serving.endpoint) as wire:
            ready = await wire.hello(hello["key"], last_seq)
            assert (ready.resumed, ready.session_id) == (True, hello["session_id"])
            agents = await wire.ask(ListAgents(), Agents)
            (agent,) = agents.agents
            while session.pushed and not isinstance(session.pushed[-1], TurnComplete):
                await wire.until(TurnComplete)
            dialog = await wire.ask(ExportDialog(agent_id=agent.agent_id), DialogReply)
            # It can go on where the old one was.
            started = await wire.ask(SendMessage(agent_id=agent.agent_id, text="after"), TurnStarted)
            complete = await wire.until(TurnComplete)
            assert (complete.turn_id, complete.status) == (started.turn_id, "Success")
        told = [line["seq"] for line in game.told if line.get("seq")]
        came = [envelope.seq for envelope in wire.heard if envelope.seq]
        assert told + came == list(range(1, len(told) + len(came) + 1)), f"--fault-seed {seed}"
        lines = [request.text for request in session.handled if isinstance(request, SendMessage)]
        assert [turn.user for turn in dialog.dialog.interactions] == lines[:-1], f"--fault-seed {seed}"
        assert len(set(lines)) == len(lines), f"--fault-seed {seed}: {lines}"

    async def main() -> None:
        async with sidecar(PATIENT) as serving:
            places = asyncio.Semaphore(2)

            async def one(seed: int) -> None:
                async with places:
                    await reloaded(serving, seed)

            await asyncio.gather(*map(one, seeds(QUICK_RELOADS, FULL_RELOADS, full, fault_seed)))

    run_on_selector_loop(main())


# ---- keys and windows ----------------------------------------------------------------------------------------


def test_a_session_is_gone_after_its_window() -> None:
    async def main() -> None:
        settings = SETTINGS.model_copy(update={"detach_after_s": 0.1, "resume_window_s": 0.1})
        async with sidecar(settings) as serving:
            async with Wire(serving.endpoint) as wire:
                ready = await wire.hello()
            await until(lambda: serving.server.session_count == 0, "the session has ended")
            async with Wire(serving.endpoint) as wire:
                error = await wire.ask(_hello(ready.session_key), Error)
                assert (error.code, error.name) == (SessionExpired.code, "SessionExpired")
                fresh = await wire.hello()
                assert not fresh.resumed and fresh.session_id != ready.session_id

    run_on_selector_loop(main())


def test_a_key_that_nobody_gave_out_is_refused() -> None:
    async def main() -> None:
        async with sidecar(PATIENT) as serving, Wire(serving.endpoint) as wire:
            error = await wire.ask(_hello("A" * 43), Error)
            assert (error.code, error.name) == (SessionExpired.code, "SessionExpired")

    run_on_selector_loop(main())


def test_a_client_that_comes_back_too_late_hears_so() -> None:
    async def main() -> None:
        settings = SETTINGS.model_copy(update={"detach_after_s": 0.1, "resume_window_s": 0.1})
        async with sidecar(settings) as serving, FaultyProxy(serving.endpoint) as proxy:
            client = await ParleyClient.connect(proxy.endpoint, TOKEN, reconnect_s=PATIENCE_S)
            agent = await client.create_agent(conversation("innkeeper"))
            turn = client.turn(agent.agent_id, "a1")
            first = await turn.__anext__()
            assert isinstance(first.message, AnswerText)
            proxy.pause("up", "down")
            proxy.cut_all()
            await until(lambda: serving.server.session_count == 0, "the session has ended")
            proxy.go_on()
            with pytest.raises(SessionExpired):
                async for _ in turn:
                    pass
            with pytest.raises(SessionExpired):
                await client.request(ListAgents())
            await client.close()

    run_on_selector_loop(main())


def test_the_second_hello_with_a_key_wins() -> None:
    async def main() -> None:
        async with sidecar(PATIENT) as serving, Wire(serving.endpoint) as first, Wire(serving.endpoint) as second:
            ready = await first.hello()
            created = await first.ask(CreateAgent(workflow=conversation("innkeeper")), AgentCreated)
            await first.ask(SendMessage(agent_id=created.agent_id, text="a1"), TurnStarted)
            assert isinstance((await first.read()).message, AnswerText)
            again = await second.hello(ready.session_key, first.last_seq)
            assert again.resumed and again.session_id == ready.session_id
            goodbye = await first.until(Goodbye)
            assert goodbye.reason == "replaced"
            error = await first.ask(ListAgents(), Error)
            assert (error.code, error.name) == (SessionNotReady.code, "SessionNotReady")
            await second.until(TurnComplete)
            agents = await second.ask(ListAgents(), Agents)
            assert [(agent.agent_id, agent.turns) for agent in agents.agents] == [(created.agent_id, 1)]

    run_on_selector_loop(main())


def test_a_client_that_was_replaced_does_not_fight_for_its_session() -> None:
    async def main() -> None:
        links: list[str] = []
        async with sidecar(PATIENT) as serving, Wire(serving.endpoint) as second:
            client = await ParleyClient.connect(serving.endpoint, TOKEN, on_link=links.append)
            waiting = client.subscribe()
            again = await second.hello(client.ready.session_key, client.last_seq)
            with pytest.raises(SessionExpired, match="replaced"):
                async for _ in waiting:
                    pass
            with pytest.raises(SessionExpired, match="replaced"):
                await client.request(ListAgents())
            await client.close()
            await second.ask(ListAgents(), Agents)
            assert again.resumed and not any(isinstance(envelope.message, Goodbye) for envelope in second.heard)

    run_on_selector_loop(main())


def test_a_repeated_request_is_not_done_twice() -> None:
    async def main() -> None:
        async with sidecar(PATIENT) as serving, Wire(serving.endpoint) as first, Wire(serving.endpoint) as second:
            ready = await first.hello()
            created = await first.ask(CreateAgent(workflow=conversation("innkeeper")), AgentCreated)
            line = SendMessage(agent_id=created.agent_id, text="a1")
            number = await first.send(line)
            reply = await first.until(TurnStarted)
            again = await second.hello(ready.session_key, first.last_seq)
            assert again.last_request_id == number
            await second.send(line, number)
            assert await second.until(TurnStarted) == reply
            await second.until(TurnComplete)
            # Also long after its end.
            await second.send(line, number)
            assert await second.until(TurnStarted) == reply
            handled = serving.sessions[ready.session_id].handled
            assert sum(isinstance(request, SendMessage) for request in handled) == 1

    run_on_selector_loop(main())


def _hello(key: str) -> Hello:
    return Hello(protocol=PROTOCOL_VERSION, client="test", token=TOKEN, resume=key)


# ---- clients that do not read --------------------------------------------------------------------------------

LIMIT_BYTES = 65_536
TALKERS = 20
FRAMES = 400
"""Of each talker: far more than what lies between the sidecar and its client holds."""
PADDING = 0


@dataclass
class Flood:
    """A client that has not read while far more was said to it than is kept."""

    server: Server
    proxy: FaultyProxy
    wire: Wire
    ready: SessionReady
    kept: list[int]
    """Bytes that were kept, after each message."""

    def check(self, heard: list[Envelope]) -> None:
        """What holds in any case."""
        expected = 1
        for envelope in heard:
            if envelope.seq == 0:
                continue
            first = envelope.message.from_seq if isinstance(envelope.message, Gap) else envelope.seq
            # Of a Gap, a part may have come before.
            assert first == expected or (isinstance(envelope.message, Gap) and first < expected <= envelope.seq)
            expected = envelope.seq + 1
        ended = [envelope.message.agent_id for envelope in heard if isinstance(envelope.message, TurnComplete)]
        assert sorted(ended) == sorted(f"talker {number}" for number in range(TALKERS))
        assert max(self.kept) <= LIMIT_BYTES + 1_000


@contextlib.asynccontextmanager
async def flooded(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Flood]:
    """Many turns at once, all over before their client reads the first frame of them."""
    kept: list[int] = []
    ended: list[TurnComplete] = []
    put = Outbox.put

    def watch(self: Outbox, message: Any, *, request_id: int = 0, payload: bytes | None = None) -> None:
        put(self, message, request_id=request_id, payload=payload)
        kept.append(self.kept_bytes)
        if isinstance(message, TurnComplete):
            ended.append(message)

    monkeypatch.setattr(Outbox, "put", watch)
    settings = SETTINGS.model_copy(update={"resume_buffer_bytes": LIMIT_BYTES, "detach_after_s": 60.0})
    server = Server(settings, TOKEN, FakeSession)
    endpoint = server.bind()
    running = asyncio.get_running_loop().create_task(server.run())
    try:
        async with FaultyProxy(endpoint) as proxy, Wire(proxy.endpoint, receive_queue=1) as wire:
            ready = await wire.hello()
            proxy.pause("down")
            for number in range(TALKERS):
                await wire.send(SendMessage(agent_id=f"talker {number}", text=f"say {FRAMES} {PADDING}"))
            await until(lambda: len(ended) == TALKERS, "all turns are over")
            yield Flood(server, proxy, wire, ready, kept)
    finally:
        server.request_shutdown()
        await running


def test_a_client_that_reads_late_gets_all_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with flooded(monkeypatch) as flood:
            flood.proxy.go_on()
            while sum(isinstance(envelope.message, TurnComplete) for envelope in flood.wire.heard) < TALKERS:
                await flood.wire.read()
            flood.check(flood.wire.heard)
            said: dict[str, str] = {}
            for envelope in flood.wire.heard:
                if isinstance(envelope.message, AnswerText):
                    agent_id = envelope.message.agent_id
                    said[agent_id] = said.get(agent_id, "") + envelope.message.text
            whole = "".join(f"{number} {' ' * PADDING}" for number in range(FRAMES))
            assert said == {f"talker {number}": whole for number in range(TALKERS)}
            gaps = [envelope.message for envelope in flood.wire.heard if isinstance(envelope.message, Gap)]
            assert gaps and all(gap.reason == "merged" for gap in gaps)

    run_on_selector_loop(main())


def test_a_client_that_comes_back_to_too_much_is_told_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with flooded(monkeypatch) as flood:
            flood.wire.close()
            async with Wire(flood.server.endpoint) as again:
                resumed = await again.hello(flood.ready.session_key, flood.wire.last_seq)
                assert resumed.resumed
                heard = list(flood.wire.heard)
                while sum(isinstance(envelope.message, TurnComplete) for envelope in heard) < TALKERS:
                    heard.append(await again.read())
                flood.check(heard)
                assert any(isinstance(envelope.message, Gap) for envelope in again.heard)
                await again.send(Ping(last_seq=again.last_seq))
                await again.until(Pong)
                (peer,) = flood.server._sessions.values()
                assert peer.outbox.kept_bytes == 0

    run_on_selector_loop(main())
