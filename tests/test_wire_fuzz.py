"""That no client can crash, stop, slow down or fill up a sidecar, whatever it sends."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
import zmq

from bridge.protocol import REQUESTS, Bye, Ping, ValidateWorkflow
from tests.real_sidecar import game, serving, until, weight
from tests.sidecar import Process
from tests.talk import ECHO, EMBED
from tests.wire_attacker import JSON_LIMIT, LIMITS, PAYLOAD_LIMIT, Attacker, Neighbour, attack, bodies

pytestmark = pytest.mark.timeout(1800)

COUNT, FULL_COUNT = 3_000, 100_000
SLOWEST_TURN_S = 10.0
GROWTH_BYTES = 24 * 2**20
FEW = 12
"""Threads and handles that may come and go: worker threads, sessions that have not ended yet."""


@contextlib.contextmanager
def sidecar(folder: Path, **settings: object) -> Iterator[Process]:
    """A sidecar with small limits, and what its log must not hold once it is gone."""
    limits = {"max_json_bytes": LIMITS.json_bytes, "max_payload_bytes": LIMITS.payload_bytes, "no_auth": True}
    arguments = game(folder, ECHO, EMBED, **{**limits, "max_agents_per_session": 8, "log_level": "warning", **settings})
    log = folder / "sidecar.log"
    with serving(log, *arguments) as process:
        yield process
        assert process.popen.poll() is None, "the sidecar has ended"
    text = log.read_text(encoding="utf-8", errors="replace")
    assert "Traceback" not in text, text[-4000:]


def test_every_request_type_is_attacked() -> None:
    assert set(bodies("a")) == set(REQUESTS)


def test_mutated_messages(tmp_path: Path, full: bool) -> None:
    seed = int(os.environ.get("PARLEY_FUZZ_SEED") or (random.SystemRandom().getrandbits(32) if full else 1))
    print(f"PARLEY_FUZZ_SEED={seed}")  # shown where the test fails
    count = FULL_COUNT if full else COUNT
    rng = random.Random(seed)
    # The variable would be an unknown setting to the sidecar.
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PARLEY_FUZZ_SEED", raising=False)
        with sidecar(tmp_path) as process, Neighbour(process) as neighbour:
            attack(process.endpoint, rng, count // 4)
            warm = weight(process.popen.pid)
            codes = attack(process.endpoint, rng, count - count // 4, lambda _: neighbour.check())
            turns = neighbour.turns
            until(lambda: neighbour.turns > turns + 3, 30, "a turn of the neighbour after the attack")
            cold = weight(process.popen.pid)
    assert neighbour.slowest_s < SLOWEST_TURN_S
    assert cold.rss - warm.rss < GROWTH_BYTES, (warm, cold)
    assert cold.threads <= warm.threads + FEW and cold.handles <= warm.handles + FEW, (warm, cold)
    assert {1001, 3001, 3003, 3007, 5001, 5002, 5003, 5004} <= set(codes), codes
    assert 0 not in codes, "a request found a bug in the sidecar; its log has the traceback"


def test_messages_beyond_twice_the_limit_only_cost_their_sender_the_connection(tmp_path: Path) -> None:
    ids = struct.pack("<QQ", 7, 0)
    too_large = 2 * max(JSON_LIMIT, PAYLOAD_LIMIT) + 1
    with sidecar(tmp_path) as process, Neighbour(process) as neighbour:
        before = weight(process.popen.pid)
        for frames in (
            [b"ListAgents", ids, b" " * too_large],
            [b"ListAgents", ids, b"{}", b" " * too_large],
            [b"x" * too_large, ids, b"{}"],
            [b"ListAgents", b"y" * too_large, b"{}"],
            [b"ListAgents", ids, b"{}", b"", b" " * 8 * too_large],
        ):
            with contextlib.closing(Attacker(process.endpoint)) as attacker:
                attacker.hello()
                monitor = attacker.socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
                attacker.socket.send_multipart(frames)
                assert monitor.poll(30_000), "the connection was not cut"
        turns = neighbour.turns
        until(lambda: neighbour.turns > turns, 30, "a turn of the neighbour")
        after = weight(process.popen.pid)
        assert after.rss - before.rss < GROWTH_BYTES
        assert neighbour.slowest_s < SLOWEST_TURN_S


def test_a_storm_of_hellos_makes_one_session_for_each_socket_and_no_more_than_allowed(tmp_path: Path) -> None:
    with sidecar(tmp_path, max_sessions=5) as process, Neighbour(process) as neighbour:
        until(lambda: neighbour.turns > 0, 30, "a turn of the neighbour")
        with contextlib.closing(Attacker(process.endpoint)) as storm:
            for number in range(300):
                storm.send([b"Hello", struct.pack("<QQ", 10 + number, 0), b'{"protocol":1}'])
            storm.settle()
            assert not storm.codes
            warm = weight(process.popen.pid)
            for _ in range(3):
                with contextlib.ExitStack() as open_ones:
                    crowd = [open_ones.enter_context(contextlib.closing(Attacker(process.endpoint))) for _ in range(30)]
                    answers = [attacker.hello() for attacker in crowd]
                    assert sum("session_id" in answer for answer in answers) == 3
                    assert {answer.get("code", 1003) for answer in answers} == {1003}
                    for attacker, answer in zip(crowd, answers, strict=True):
                        if "session_id" in answer:
                            attacker.ask(Bye())
        until(lambda: weight(process.popen.pid).handles <= warm.handles + FEW, 30, "closed connections are let go")
        after = weight(process.popen.pid)
        assert after.rss - warm.rss < GROWTH_BYTES
        assert neighbour.slowest_s < SLOWEST_TURN_S


def noise(rng: random.Random) -> list[bytes]:
    """What somebody who does not speak ZeroMQ may send to a port, and what a liar does who does."""
    greeting = b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(16 + 32)
    ready = b"\x04\x1a\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER"
    return [
        b"",
        rng.randbytes(5000),
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01" + rng.randbytes(200),
        greeting,
        greeting[:11],
        greeting + rng.randbytes(2000),
        greeting + ready + rng.randbytes(2000),
        greeting + ready + b"\x02" + b"\x7f" + b"\xff" * 7,  # a frame of more bytes than there are
        greeting + ready + b"\x02\x00\x00\x00\x00\x00\x01\x00\x00" + b"x" * 1000,  # a frame that never ends
        greeting + ready + b"\x01\x00" * 3000,  # a message of many empty parts that never ends
    ]


def test_garbage_on_the_port(tmp_path: Path) -> None:
    rng = random.Random(1)
    with sidecar(tmp_path) as process, Neighbour(process) as neighbour:
        until(lambda: neighbour.turns > 0, 30, "a turn of the neighbour")
        port = int(process.endpoint.rpartition(":")[2])
        before = weight(process.popen.pid)
        for _ in range(6):
            opened = []
            for data in noise(rng):
                raw = socket.create_connection(("127.0.0.1", port), timeout=30)
                opened.append(raw)
                with contextlib.suppress(OSError):  # it may hang up while we talk
                    raw.sendall(data)
            turns = neighbour.turns
            until(lambda turns=turns: neighbour.turns > turns, 30, "a turn beside the noise")  # type: ignore[misc]
            for number, raw in enumerate(opened):
                if number % 2:
                    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # ends with a reset
                raw.close()
        took = until(lambda: weight(process.popen.pid).handles <= before.handles + 2, 60, "connections are let go")
        after = weight(process.popen.pid)
        assert after.rss - before.rss < GROWTH_BYTES
        assert after.threads <= before.threads + FEW
        assert neighbour.slowest_s < SLOWEST_TURN_S, took


def test_a_client_that_reads_nothing_does_not_fill_the_memory_of_anybody(tmp_path: Path) -> None:
    with sidecar(tmp_path) as process, Neighbour(process) as neighbour:
        with contextlib.closing(Attacker(process.endpoint)) as deaf:
            deaf.hello()
            before = weight(process.popen.pid)
            for number in range(2_000):
                deaf.socket.send_multipart([b"ListModels", struct.pack("<QQ", 100 + number, 0), b"{}"])
            turns = neighbour.turns
            until(lambda: neighbour.turns > turns + 2, 60, "turns beside a client that does not read")
            after = weight(process.popen.pid)
        assert after.rss - before.rss < 64 * 2**20
        assert neighbour.slowest_s < SLOWEST_TURN_S


@pytest.mark.thorough
def test_replies_that_the_client_has_take_no_memory(tmp_path: Path) -> None:
    node = {"name": "a", "type": "Transform", **{f"{'x' * 100}{number}": 1 for number in range(1100)}}
    many_findings = {"start_node": "a", "nodes": [node]}
    with sidecar(tmp_path, max_json_bytes=2**20) as process, contextlib.closing(Attacker(process.endpoint)) as client:
        client.hello()
        for number in range(60):
            client.ask(ValidateWorkflow(workflow=many_findings))
            client.ask(Ping(last_seq=client.seq))
            if number == 10:
                warm = weight(process.popen.pid)
        after = weight(process.popen.pid)
    assert after.rss - warm.rss < GROWTH_BYTES
