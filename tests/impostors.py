"""Peers that say what no sidecar says, for the tests of what the plugins make of it."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import zmq

from bridge.codec import HEADER
from bridge.protocol import PROTOCOL_VERSION

Json = dict[str, Any]

Says = Callable[[int], Iterable[Sequence[bytes]]]
"""What to say behind the nth SessionReady, or behind a Ping with this last_seq."""

Answer = Callable[[str, Json, int], Sequence[tuple[str, int, Json]]]
"""What to say to a request of this type with this body, of this number among those of its type: type, request_id
(−1: that of the request) and body of each message."""


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        port: int = made.getsockname()[1]
        return port


def session_ready(
    session_id: str = "s", session_key: str = "k", heartbeat_s: float = 5.0, protocol: int = PROTOCOL_VERSION
) -> Json:
    """What a SessionReady says."""
    return {
        "protocol": protocol,
        "session_id": session_id,
        "session_key": session_key,
        "resumed": False,
        "last_request_id": 0,
        "server_version": "0",
        "schema_fingerprint": "0",
        "heartbeat_s": heartbeat_s,
    }


@contextlib.contextmanager
def talking_back(said: bytes) -> Iterator[str]:
    """Somebody who takes connections, says something and never listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken: list[socket.socket] = []

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    taken.append(client)
                    client.sendall(said)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        for client in taken:
            client.close()


@contextlib.contextmanager
def impostor(
    says: Says, says_to_ping: Says = lambda _: [], hellos: list[Json] | None = None, ready: Json | None = None
) -> Iterator[str]:
    """Answers the nth Hello of anybody with SessionReady, and says behind it what `says(n)` has. Its endpoint."""
    welcome = json.dumps(session_ready() if ready is None else ready).encode()
    numbers = itertools.count(1)

    def hear(parts: list[bytes]) -> Iterator[Sequence[bytes]]:
        _, kind, header, body, *_ = parts
        if kind == b"Ping":
            yield from says_to_ping(json.loads(body)["last_seq"])
        if kind == b"Hello":
            number = next(numbers)
            if hellos is not None:
                hellos.append(json.loads(body))
            request_id, _ = HEADER.unpack(header)
            yield [b"SessionReady", HEADER.pack(request_id, 0), welcome]
            yield from says(number)

    with _hearing(hear) as endpoint:
        yield endpoint


@contextlib.contextmanager
def puppet(answer: Answer) -> Iterator[tuple[str, list[str]]]:
    """A sidecar that says what a test wants. Its endpoint, and the types of all that it was asked."""
    asked: list[str] = []
    seqs: dict[bytes, int] = {}  # a session that ends may still say its Bye when the next one has begun

    def hear(parts: list[bytes]) -> Iterator[Sequence[bytes]]:
        identity, kind, header, body, *_ = parts
        request_id, _ = HEADER.unpack(header)
        name = kind.decode()
        asked.append(name)
        if name == "Hello":
            seqs[identity] = 0
        for said, answers, what in answer(name, json.loads(body), asked.count(name)):
            numbered = said not in ("SessionReady", "Pong", "Goodbye")
            seqs[identity] += numbered
            head = HEADER.pack(request_id if answers < 0 else answers, seqs[identity] if numbered else 0)
            yield [said.encode(), head, json.dumps(what).encode()]

    with _hearing(hear) as endpoint:
        yield endpoint, asked


@contextlib.contextmanager
def _hearing(hear: Callable[[list[bytes]], Iterable[Sequence[bytes]]]) -> Iterator[str]:
    """Gives `hear` the parts of each message, its sender first, and sends that one each thing as soon as it is said."""
    context = zmq.Context()
    router = context.socket(zmq.ROUTER)
    router.setsockopt(zmq.LINGER, 0)
    port = router.bind_to_random_port("tcp://127.0.0.1")
    over = threading.Event()

    def serve() -> None:
        while not over.is_set():
            if router.poll(20):
                identity, *rest = router.recv_multipart()
                for said in hear([identity, *rest]):
                    router.send_multipart([identity, *said])

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"tcp://127.0.0.1:{port}"
    finally:
        over.set()
        thread.join()
        context.destroy(linger=0)
